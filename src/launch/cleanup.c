/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing what ranks that were killed leave behind. */
#include "launch/cleanup.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is the name "PID:DOMAIN:ENDPOINT", as in "4711:0:2"? */
static bool is_of_provider(const char *name, pid_t *out_pid)
{
    int pid, domain, endpoint, len = -1;

    if (sscanf(name, "%d:%d:%d%n", &pid, &domain, &endpoint, &len) != 3 || len < 0 || name[len] ||
        pid <= 0) {
        return false;
    }
    *out_pid = pid;
    return true;
}

void fm_cleanup_files(const struct fm_local *l)
{
    DIR *dir = opendir("/dev/shm");
    struct dirent *entry;
    pid_t pid;

    if (!dir) {
        return;
    }
    while ((entry = readdir(dir))) {
        for (int r = 0; is_of_provider(entry->d_name, &pid) && r < l->n_ranks; r++) {
            if (l->ranks[r].pid == pid && l->ranks[r].is_ended) {
                unlinkat(dirfd(dir), entry->d_name, 0);
                break;
            }
        }
    }
    closedir(dir);
}

/* Does the environment of a process name this job? Processes inherit it from their rank. */
static bool is_of_job(const struct fm_local *l, pid_t pid)
{
    static const char name[] = FM_KEYTABLE_ENV "=";
    struct fm_keytable_place place;
    char path[32], *entry = NULL;
    size_t room = 0;
    bool is_found = false;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
    f = fopen(path, "re");
    while (f && !is_found && getdelim(&entry, &room, '\0', f) > 0) {
        is_found = strncmp(entry, name, sizeof(name) - 1) == 0 &&
                   fm_keytable_place_parse(entry + sizeof(name) - 1, &place) == 0 &&
                   place.launcher == getpid() && place.token == l->table->head.token;
    }
    if (f) {
        fclose(f);
    }
    free(entry);
    return is_found;
}

void fm_cleanup_processes(const struct fm_local *l)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        pid_t pid = atoi(entry->d_name);

        if (pid > 0 && getpgid(pid) == getpgrp() && is_of_job(l, pid)) {
            kill(pid, SIGKILL);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
