/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left behind for ranks that have ended. */
#pragma once

#include "launch/job.h"

/*
 * Remove the shared memory files that libfabric's shm provider made for ranks of this job, which
 * have all ended. It names them PID:DOMAIN:ENDPOINT in /dev/shm, and removes them itself in a
 * process that ends in order.
 */
void fm_sweep(const struct fm_job *job);

/*
 * The job was made to end: kill what ranks have started and left behind, as a shell that is killed
 * leaves its program. Whoever wants to outlive a job leaves our process group, as daemons do.
 */
void fm_sweep_processes(const struct fm_job *job);
