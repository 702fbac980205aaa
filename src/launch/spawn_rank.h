/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting one process, fast: vfork, no copy of our memory, the exact reason when exec fails. */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct fm_spawn {
    const char *path;
    char *const *argv;
    char *const *env;
    const char *wdir;      /* NULL: ours */
    int fds[3];            /* what becomes 0, 1 and 2; -1: as ours */
    int keep[2];           /* descriptors that stay open across exec */
    const cpu_set_t *cpus; /* NULL: any */
    const sigset_t *mask;  /* signals blocked in the child */
    bool resets_sigpipe;   /* SIGPIPE is ignored by us only */
};

/* The new process, which is killed when we end. 0 or -FM_E_SYSTEM. */
int fm_spawn(const struct fm_spawn *s, pid_t *out_pid);
