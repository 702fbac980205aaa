/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labelled output of the ranks: read from pipes, written in whole lines, so that lines of ranks do
 * not mix. Without labels the ranks write to the descriptors of mpiexec and this is not used.
 *
 * An unfinished line is written after 100 ms without output, and when its rank has ended.
 */
#pragma once

#include <poll.h>

#include "launch/local_state.h"

struct fm_output;

/* Lines go to l->writers. *out_output is NULL where no labels are requested. */
int fm_output_create(struct fm_local *l, struct fm_output **out_output);
void fm_output_destroy(struct fm_output *o);

/* Descriptors 1 and 2 of local rank i, to be closed by the caller once it has started. */
int fm_output_open(struct fm_output *o, int i, int out_fds[2]);

/* Fill fds for poll(); returns how many (at most fm_output_max()). */
int fm_output_max(const struct fm_output *o);
int fm_output_poll(const struct fm_output *o, struct pollfd *fds);
/* Milliseconds until fm_output_serve() has to write an unfinished line; -1: none. */
int fm_output_wait_ms(const struct fm_output *o);
/* Read from the pipes that poll() found ready, and write. */
void fm_output_serve(struct fm_output *o, const struct pollfd *fds);
/* All ranks have ended: write what is left. Other processes may hold the pipes: do not wait. */
void fm_output_drain(struct fm_output *o);
