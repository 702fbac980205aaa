/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of mpiexec that cleans up when mpiexec is killed by SIGKILL. The kernel then kills the
 * ranks (PR_SET_PDEATHSIG), but neither the processes that they have started nor their files in
 * /dev/shm.
 */
#pragma once

#include "launch/local_state.h"

/* Start it, before the ranks. Without it, as where no process can be made, the job runs all the
   same. */
void fm_watchdog_start(struct fm_local *l);
/* The job has ended, and mpiexec has cleaned up itself. */
void fm_watchdog_stop(struct fm_local *l);
