/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing what ranks that were killed leave behind. */
#pragma once

#include <sys/types.h>

#include "util/keytable.h"

/* How processes of a job are recognised. */
struct fm_cleanup {
    uint64_t token; /* of the job table; processes inherit it in their environment */
    pid_t launcher;
    pid_t group; /* process group of mpiexec */
};

/* The job of this process, an mpiexec. */
struct fm_cleanup fm_cleanup_job(const struct fm_keytable *table);

/*
 * The job was terminated: kill processes that ranks have started and left, as a shell that is
 * killed leaves its program. A process that left the process group of mpiexec, as daemons do, may
 * outlive the job. Returns how many were found.
 */
int fm_cleanup_processes(const struct fm_cleanup *job);

/*
 * Remove files of ranks that have ended: libfabric's shm provider names its shared memory
 * PID:DOMAIN:ENDPOINT in /dev/shm and removes it only where a process ends normally. Returns the
 * number of files whose ranks have not ended yet.
 */
int fm_cleanup_files(struct fm_keytable *table);
