/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting one process with vfork(2), which copies no page tables. */
#pragma once

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct fm_spawn {
    const char *path;
    char *const *argv;
    char *const *env;
    const char *wdir;           /* NULL: that of mpiexec */
    int fds[3];                 /* become 0, 1 and 2; -1: those of mpiexec */
    int keep[2];                /* descriptors that stay open across exec */
    const cpu_set_t *cpus;      /* NULL: any */
    const sigset_t *mask;       /* signals blocked in the child */
    const struct rlimit *files; /* RLIMIT_NOFILE; NULL: that of mpiexec */
    bool resets_sigpipe;        /* SIGPIPE is ignored by mpiexec only */
};

/*
 * Start a process, which is killed when mpiexec ends. 0, or a failure with its reason: -FM_E_NOENT
 * or -FM_E_INVAL when the program cannot be found or executed, -FM_E_SYSTEM for all else.
 */
int fm_spawn(const struct fm_spawn *s, pid_t *out_pid);
