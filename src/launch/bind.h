/* SPDX-License-Identifier: BSD-3-Clause */
/* Tying ranks to processors, by what hwloc tells of this host. */
#pragma once

#include <sched.h>

#include "launch/options.h"

/* Sets of processors: one for each core, socket and so on that we may use. */
struct fm_bind {
    cpu_set_t *sets;
    int n_sets;
};

/*
 * The sets for a policy; none for FM_BIND_NONE, and none, with FM_AGAIN, when there are more ranks
 * than cores or hardware threads to tie them to. A failure: hwloc is not there.
 */
int fm_bind_init(enum fm_bind_to policy, int n_ranks, struct fm_bind *out_bind);
void fm_bind_finish(struct fm_bind *b);

/* The processors of a rank, NULL: any. */
const cpu_set_t *fm_bind_of(const struct fm_bind *b, int rank);
/* "0-3,8" */
void fm_bind_print(const cpu_set_t *set, char *out_text, size_t len);
