/* SPDX-License-Identifier: BSD-3-Clause */
/* A job as it will be started. */
#include "launch/job.h"

#include <errno.h>
#include <fathom/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/option_strings.h"
#include "launch/verdict.h"
#include "util/pagepost.h"
#include "util/segment.h"

/* What we set for each rank ourselves, and so never pass on. */
static const char *const ours[] = {
    FM_KEYTABLE_ENV,
    FM_PAGEPOST_ENV,
    "FATHOM_MPIEXEC_SET",
    "FATHOM_RANK",
    "FATHOM_SIZE",
    "FATHOM_LOCAL_RANK",
    "FATHOM_LOCAL_SIZE",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
};

static bool is_named(const char *entry, const char *name)
{
    size_t len = strlen(name);

    return strncmp(entry, name, len) == 0 && (entry[len] == '=' || entry[len] == '\0');
}

static bool is_ours(const char *entry)
{
    for (size_t i = 0; i < FM_ARRAY_LEN(ours); i++) {
        if (is_named(entry, ours[i])) {
            return true;
        }
    }
    return false;
}

static bool is_listed(const struct fm_strings *names, const char *entry)
{
    for (int i = 0; i < names->n; i++) {
        if (is_named(entry, names->items[i])) {
            return true;
        }
    }
    return false;
}

/* Add "NAME=value" in place of an older value. */
static int env_replace(struct fm_strings *env, char *entry)
{
    size_t len = strcspn(entry, "=") + 1;

    for (int i = 0; i < env->n; i++) {
        if (strncmp(env->items[i], entry, len) == 0) {
            env->items[i] = entry;
            return 0;
        }
    }
    return fm_strings_add(env, entry);
}

/* Program's environment: what is passed, then what is set for all, then what is set for it. */
static int make_env(struct fm_job *job, const struct fm_app *app, char **from,
                    struct fm_strings *env)
{
    const struct fm_env_spec *genv = &job->opts->genv;
    int rc = 0;

    for (char **e = from; *e && !rc; e++) {
        bool is_passed = app->env.mode == FM_ENV_ALL || is_listed(&app->env.pass, *e) ||
                         is_listed(&genv->pass, *e);

        if (is_passed && !is_ours(*e)) {
            rc = fm_strings_add(env, *e);
        }
    }
    for (int i = 0; i < genv->set.n && !rc; i++) {
        rc = env_replace(env, genv->set.items[i]);
    }
    for (int i = 0; i < app->env.set.n && !rc; i++) {
        rc = env_replace(env, app->env.set.items[i]);
    }
    return rc;
}

/* Control variables of --set, for the registry of each rank. */
static int add_settings(struct fm_job *job, struct fm_strings *env)
{
    const struct fm_strings *set = &job->opts->set;
    char *text = NULL;

    for (int i = 0; i < set->n; i++) {
        text = fm_strings_own(&job->texts, "%s%s%s",
                              text ? text : "FATHOM_MPIEXEC_SET=", i > 0 ? ";" : "", set->items[i]);
        if (!text) {
            return -FM_E_NOMEM;
        }
    }
    return text ? fm_strings_add(env, text) : 0;
}

/* 0 when the file can be executed, else an errno. */
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

static int find_by_path(struct fm_job *job, const char *name, char **out_path, int *out_exit)
{
    const char *path = getenv("PATH");
    int err = ENOENT;

    for (const char *p = path ? path : "/usr/bin:/bin"; p; p = strchr(p, ':')) {
        size_t len;
        char *full;
        int e;

        p += *p == ':';
        len = strcspn(p, ":");
        full =
            fm_strings_own(&job->texts, "%.*s/%s", len > 0 ? (int)len : 1, len > 0 ? p : ".", name);
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

static int find_program(struct fm_job *job, const struct fm_app *app, char **out_path,
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
        return find_by_path(job, name, out_path, out_exit);
    }
    full =
        app->wdir && name[0] != '/' ? fm_strings_own(&job->texts, "%s/%s", app->wdir, name) : name;
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

static int find_programs(struct fm_job *job, char **from, int *out_exit)
{
    int rc = 0;

    job->programs = calloc((size_t)job->opts->n_apps, sizeof(*job->programs));
    if (!job->programs) {
        return fm_fail(-FM_E_NOMEM, "no memory for the job");
    }
    for (int i = 0; i < job->opts->n_apps && !rc; i++) {
        const struct fm_app *app = &job->opts->apps[i];

        rc = find_program(job, app, &job->programs[i].path, out_exit);
        if (!rc) {
            rc = make_env(job, app, from, &job->programs[i].env);
        }
        if (!rc) {
            rc = add_settings(job, &job->programs[i].env);
        }
    }
    return rc;
}

/* Everything runs here: other hosts are not ours to reach. */
static int check_hosts(struct fm_job *job)
{
    for (int i = 0; i < job->opts->hosts.n; i++) {
        const char *h = job->opts->hosts.items[i];
        size_t len = strcspn(h, ":");
        size_t short_len = strcspn(job->host, ".");

        if ((len == 9 && (strncmp(h, "localhost", 9) == 0 || strncmp(h, "127.0.0.1", 9) == 0)) ||
            (len == strlen(job->host) && strncmp(h, job->host, len) == 0) ||
            (len == short_len && strncmp(h, job->host, len) == 0)) {
            continue;
        }
        return fm_fail(-FM_E_UNSUPPORTED,
                       "host %.*s is not the local host (%s); this mpiexec starts ranks on the "
                       "local host only",
                       (int)len, h, job->host);
    }
    return 0;
}

static int make_page(int rank, int *out_fd)
{
    char name[32];
    int fd;

    snprintf(name, sizeof(name), "fathom-page-%d", rank);
    fd = fm_segment_sealed(name, FATHOM_PAGE_LEN);
    if (fd < 0) {
        return fm_fail(-FM_E_SYSTEM, "the shared page of rank %d: %s%s", rank, strerror(errno),
                       errno == EFBIG ? " (see ulimit -f)" : "");
    }
    *out_fd = fd;
    return 0;
}

static int make_ranks(struct fm_job *job)
{
    int rank = 0;

    job->ranks = calloc((size_t)job->n_ranks, sizeof(*job->ranks));
    if (!job->ranks) {
        return fm_fail(-FM_E_NOMEM, "no memory for %d ranks", job->n_ranks);
    }
    for (int r = 0; r < job->n_ranks; r++) {
        job->ranks[r].page_fd = -1;
    }
    for (int a = 0; a < job->opts->n_apps; a++) {
        for (int k = 0; k < job->opts->apps[a].n_ranks; k++, rank++) {
            struct fm_keytable_slot *slot = fm_keytable_slot(job->table, rank);
            struct stat st;
            int rc = make_page(rank, &job->ranks[rank].page_fd);

            if (rc || fstat(job->ranks[rank].page_fd, &st) != 0) {
                return rc ? rc : -FM_E_SYSTEM;
            }
            job->ranks[rank].app = a;
            slot->appnum = a;
            slot->page_ino = st.st_ino;
        }
    }
    return 0;
}

int fm_job_init(struct fm_job *job, const struct fm_options *opts, char **environ_of_ours,
                int *out_exit)
{
    int rc;

    *job = (struct fm_job){.opts = opts, .n_ranks = opts->n_ranks, .table_fd = -1};
    if (gethostname(job->host, sizeof(job->host) - 1) != 0) {
        snprintf(job->host, sizeof(job->host), "localhost");
    }
    *out_exit = 1;
    rc = check_hosts(job);
    if (!rc) {
        rc = find_programs(job, environ_of_ours, out_exit);
    }
    if (rc) {
        return rc;
    }
    *out_exit = 1;
    rc = fm_keytable_create(job->n_ranks, &job->table, &job->table_fd);
    if (!rc) {
        rc = make_ranks(job);
    }
    if (!rc) {
        rc = fm_bind_init(opts->bind, job->n_ranks, &job->bind);
    }
    if (rc == FM_AGAIN) {
        fprintf(stderr,
                "mpiexec: more ranks (%d) than processors for --bind-to: no rank is bound\n",
                job->n_ranks);
        rc = 0;
    }
    return rc;
}

void fm_job_finish(struct fm_job *job)
{
    for (int i = 0; job->programs && i < job->opts->n_apps; i++) {
        fm_strings_finish(&job->programs[i].env);
    }
    for (int r = 0; job->ranks && r < job->n_ranks; r++) {
        if (job->ranks[r].page_fd >= 0) {
            close(job->ranks[r].page_fd);
        }
    }
    free(job->programs);
    free(job->ranks);
    fm_keytable_unmap(job->table);
    if (job->table_fd >= 0) {
        close(job->table_fd);
    }
    fm_bind_finish(&job->bind);
    fm_strings_free_all(&job->texts);
    *job = (struct fm_job){.table_fd = -1};
}

int fm_job_env(struct fm_job *job, int rank, struct fm_strings *texts, struct fm_strings *out_env)
{
    const struct fm_program *program = &job->programs[job->ranks[rank].app];
    struct fm_keytable_place place = {.launcher = job->table->launcher,
                                      .table_fd = job->table_fd,
                                      .page_fd = job->ranks[rank].page_fd,
                                      .rank = rank,
                                      .token = job->table->token};
    char where[96];
    int rc = 0;

    for (int i = 0; i < program->env.n && !rc; i++) {
        rc = fm_strings_add(out_env, program->env.items[i]);
    }
    fm_keytable_place_print(&place, where, sizeof(where));
    for (size_t i = 0; i < FM_ARRAY_LEN(ours) && !rc; i++) {
        const char *name = ours[i];
        size_t len = strlen(name);
        bool is_size = strcmp(name + len - 4, "SIZE") == 0 || strcmp(name + len - 6, "NRANKS") == 0;
        char *text;

        if (i == 0) {
            text = fm_strings_own(texts, "%s=%s", name, where);
        } else if (i <= 2) {
            continue; /* not for each rank */
        } else {
            text = fm_strings_own(texts, "%s=%d", name, is_size ? job->n_ranks : rank);
        }
        rc = text ? fm_strings_add(out_env, text) : -FM_E_NOMEM;
    }
    return rc;
}

void fm_job_expand(const struct fm_job *job, const char *pattern, int rank, char *out_text,
                   size_t len)
{
    size_t at = 0;

    for (const char *p = pattern; *p != '\0' && at + 1 < len; p++) {
        size_t room = len - at;
        int n = 1;

        if (p[0] != '%' || !strchr("rhp%", p[1]) || p[1] == '\0') {
            out_text[at] = *p;
        } else if (*++p == 'r') {
            n = snprintf(out_text + at, room, "%d", rank);
        } else if (*p == 'h') {
            n = snprintf(out_text + at, room, "%s", job->host);
        } else if (*p == 'p') {
            n = snprintf(out_text + at, room, "%d", (int)job->ranks[rank].pid);
        } else {
            out_text[at] = '%';
        }
        at += (size_t)n < room ? (size_t)n : room - 1;
    }
    out_text[at] = '\0';
}
