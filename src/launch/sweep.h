/* SPDX-License-Identifier: BSD-3-Clause */
/* What libraries below us leave behind for a rank that was killed. */
#pragma once

#include "launch/job.h"

/*
 * Remove the shared memory files that libfabric's shm provider made for ranks of this job, which
 * have all ended. It names them PID:DOMAIN:ENDPOINT in /dev/shm, and removes them itself in a
 * process that ends in order.
 */
void fm_sweep(const struct fm_job *job);
