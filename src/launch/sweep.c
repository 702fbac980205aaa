/* SPDX-License-Identifier: BSD-3-Clause */
/* Tidying up after ranks that were killed. */
#include "launch/sweep.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "4711:0:2", and whose it is. */
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

void fm_sweep(const struct fm_job *job)
{
    DIR *dir = opendir("/dev/shm");
    struct dirent *entry;
    pid_t pid;

    if (!dir) {
        return;
    }
    while ((entry = readdir(dir))) {
        for (int r = 0; is_of_provider(entry->d_name, &pid) && r < job->n_ranks; r++) {
            if (job->ranks[r].pid == pid && job->ranks[r].is_ended) {
                unlinkat(dirfd(dir), entry->d_name, 0);
                break;
            }
        }
    }
    closedir(dir);
}

/* By the place in the job, which a rank hands on to what it starts. */
static bool is_of_job(const struct fm_job *job, pid_t pid)
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
                   place.launcher == getpid() && place.token == job->table->token;
    }
    if (f) {
        fclose(f);
    }
    free(entry);
    return is_found;
}

void fm_sweep_processes(const struct fm_job *job)
{
    DIR *dir = opendir("/proc");
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        pid_t pid = atoi(entry->d_name);

        if (pid > 0 && getpgid(pid) == getpgrp() && is_of_job(job, pid)) {
            kill(pid, SIGKILL);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
