/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals to the ranks, and the termination of a job: SIGTERM, and SIGKILL after a grace period. */
#pragma once

#include "launch/local_state.h"

/* Remember the exit status of the first failure; 0 is none. */
void fm_terminate_status(struct fm_local *l, int exit_status);

/* Send a signal to every rank, and to the MPI process below it where that is another one. */
void fm_terminate_signal(struct fm_local *l, int sig);

/* The job cannot go on: SIGTERM to the ranks, SIGKILL after --grace. */
void fm_terminate_job(struct fm_local *l);

/*
 * mpiexec got a signal, which was forwarded. A request to end wakes stopped ranks; a second SIGINT
 * or SIGTERM kills all; ranks that do not end on SIGTERM are killed after --grace.
 */
void fm_terminate_request(struct fm_local *l, int sig);

/* When fm_terminate_check() has something to do; 0: no deadline. */
uint64_t fm_terminate_deadline(const struct fm_local *l);
/* Send SIGKILL and end the job where a deadline has passed. */
void fm_terminate_check(struct fm_local *l);
