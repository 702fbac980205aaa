/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processors of this host belong together, by hwloc. */
#pragma once

#include <sched.h>

#include "launch/options.h"

/*
 * For FM_BIND_CORE, _SOCKET or _NUMA one set for each of them that has a processor among those
 * allowed; no two overlap. `sets` has room for as many, zeroed, as processors are allowed. 0, or a
 * failure: hwloc is not installed, or cannot read this host.
 */
int fm_cpusets_of(enum fm_bind_to policy, const cpu_set_t *allowed, cpu_set_t *sets, int *out_n);
