/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing what ranks that were killed leave behind. */
#pragma once

#include "launch/local_state.h"

/*
 * Remove files of ranks that have ended: libfabric's shm provider names its shared memory
 * PID:DOMAIN:ENDPOINT in /dev/shm and removes it only where a process ends normally.
 */
void fm_cleanup_files(const struct fm_local *l);

/*
 * The job was terminated: kill processes that ranks have started and left, as a shell that is
 * killed leaves its program. A process that left the process group of mpiexec, as daemons do, may
 * outlive the job.
 */
void fm_cleanup_processes(const struct fm_local *l);
