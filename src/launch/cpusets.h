/* SPDX-License-Identifier: BSD-3-Clause */
/* The processors of each core, socket and NUMA node of this host, by hwloc. */
#pragma once

#include <sched.h>

#include "launch/options.h"

/*
 * For FM_BIND_CORE, _SOCKET or _NUMA one set for each object of that type with an allowed
 * processor. Sets do not overlap. `sets` has an entry, zeroed, for each allowed processor. 0, or a
 * failure: hwloc is not installed, or cannot read this host.
 */
int fm_cpusets_of(enum fm_bind_to policy, const cpu_set_t *allowed, cpu_set_t *sets, int *out_n);
