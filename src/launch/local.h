/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running a job on this host: start the ranks, pass on signals and output, watch, end it when it
 * cannot go on.
 *
 * One thread, one poll() loop over a signalfd and the output pipes; nothing else may hold us up,
 * for signals are taken there. We wait for the ranks only, never for what they started, and at the
 * end for the readers of our output. Ranks die with us (PR_SET_PDEATHSIG), and everything that the
 * job shares is memory files, so nothing is left however it ends.
 */
#pragma once

#include "launch/job.h"

/* Run the job to its end. Returns the exit status of mpiexec. */
int fm_local_run(struct fm_job *job);
