/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Output of the ranks, when lines are to be labelled: it comes through pipes and goes on in whole
 * lines, so that ranks never mix within one. Without labels the ranks write to our own descriptors
 * and nothing of this is used.
 *
 * The beginning of a line that nobody ends is shown after a short quiet time, and when its rank has
 * ended.
 */
#pragma once

#include <poll.h>

#include "launch/job.h"
#include "launch/outlet.h"

struct fm_output;

/* `outlets` are where the lines go, 1 and 2. *out_output is NULL when no labels are wanted. */
int fm_output_create(const struct fm_job *job, struct fm_outlet *outlets,
                     struct fm_output **out_output);
void fm_output_destroy(struct fm_output *o);

/* The descriptors that a rank is to have as 1 and 2; ours to close after it started. */
int fm_output_open(struct fm_output *o, int rank, int out_fds[2]);

/* Fill fds for poll(); returns how many (at most fm_output_max()). */
int fm_output_max(const struct fm_output *o);
int fm_output_poll(const struct fm_output *o, struct pollfd *fds);
/* Milliseconds after which fm_output_serve() has something to do anyway, -1: nothing. */
int fm_output_wait_ms(const struct fm_output *o);
/* Take and pass on what there is; fds as poll() left them. */
void fm_output_serve(struct fm_output *o, const struct pollfd *fds);
/* All ranks have ended: pass on what is left, do not wait for others who hold the pipes. */
void fm_output_drain(struct fm_output *o);
