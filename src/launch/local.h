/* SPDX-License-Identifier: BSD-3-Clause */
/* Running the part of a job that belongs to this host. */
#pragma once

#include "launch/local_state.h"

/*
 * Make what the ranks share: job table, a page per rank, sets of processors. Starts nothing. 0, or
 * a failure with a text for the user. The caller finishes it in both cases.
 */
int fm_local_init(struct fm_local *l, const struct fm_job *job);
void fm_local_finish(struct fm_local *l);

/* Start the ranks and wait for their end. Returns the exit status of mpiexec. */
int fm_local_run(struct fm_local *l);
