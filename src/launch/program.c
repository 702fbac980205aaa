/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the executable of a program. */
#include "launch/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/rank_exit.h"

/* 0: the file can be executed; else an errno. */
static int check_file(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0) {
        return errno;
    }
    if (S_ISDIR(st.st_mode)) {
        return EISDIR;
    }
    return access(path, X_OK) == 0 ? 0 : errno;
}

static int refuse(const char *name, int err, int *out_exit)
{
    if (err == ENOENT) {
        *out_exit = FM_EXIT_NOT_FOUND;
        return fm_fail(
            -FM_E_NOENT, "cannot find the program \"%s\"%s", name,
            strchr(name, '/') ? "" : " in PATH (a program in the current directory is ./NAME)");
    }
    *out_exit = FM_EXIT_NOT_EXECUTABLE;
    return fm_fail(-FM_E_INVAL, "cannot execute \"%s\": %s", name, strerror(err));
}

static int find_by_path(struct fm_strings *texts, const char *name, char **out_path, int *out_exit)
{
    const char *path = secure_getenv("PATH");
    int err = ENOENT;

    for (const char *p = path ? path : "/usr/bin:/bin"; p; p = strchr(p, ':')) {
        size_t len;
        char *full;
        int e;

        p += *p == ':';
        len = strcspn(p, ":");
        full = fm_strings_own(texts, "%.*s/%s", len > 0 ? (int)len : 1, len > 0 ? p : ".", name);
        if (!full) {
            return -FM_E_NOMEM;
        }
        e = check_file(full);
        if (e == 0) {
            *out_path = full;
            return 0;
        }
        err = e == ENOENT || e == ENOTDIR || e == EISDIR ? err : e;
    }
    return refuse(name, err, out_exit);
}

int fm_program_find(const struct fm_app *app, struct fm_strings *texts, char **out_path,
                    int *out_exit)
{
    char *name = app->argv.items[0];
    struct stat st;
    char *full;
    int err;

    *out_exit = FM_EXIT_NOT_FOUND;
    if (app->wdir && (stat(app->wdir, &st) != 0 || !S_ISDIR(st.st_mode))) {
        return fm_fail(-FM_E_NOENT, "--wdir %s: no such directory", app->wdir);
    }
    if (name[0] == '\0') {
        return fm_fail(-FM_E_NOENT, "the program name is empty");
    }
    if (!strchr(name, '/')) {
        return find_by_path(texts, name, out_path, out_exit);
    }
    full = app->wdir && name[0] != '/' ? fm_strings_own(texts, "%s/%s", app->wdir, name) : name;
    if (!full) {
        return -FM_E_NOMEM;
    }
    err = check_file(full);
    if (err) {
        return refuse(full, err == ENOTDIR ? ENOENT : err, out_exit);
    }
    *out_path = name;
    return 0;
}
