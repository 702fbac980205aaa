/* SPDX-License-Identifier: BSD-3-Clause */
/* Binding ranks to processors; hwloc describes this host. */
#pragma once

#include <sched.h>

#include "launch/options.h"

/* Sets of processors: one for each core, socket or NUMA node that mpiexec may use. */
struct fm_bind {
    cpu_set_t *sets;
    int n_sets;
};

/*
 * The sets for a policy; none for FM_BIND_NONE. FM_AGAIN, and no sets: there are more ranks than
 * cores or hardware threads to bind them to. A failure: hwloc is missing.
 */
int fm_bind_init(enum fm_bind_to policy, int n_ranks, struct fm_bind *out_bind);
void fm_bind_finish(struct fm_bind *b);

/* The processors of local rank `rank`; NULL: any. */
const cpu_set_t *fm_bind_of(const struct fm_bind *b, int rank);
/* "0-3,8" */
void fm_bind_print(const cpu_set_t *set, char *out_text, size_t len);
