/* SPDX-License-Identifier: BSD-3-Clause */
/* Tidying up after ranks that were killed. */
#include "launch/sweep.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
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
