/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables of on-node shared-memory collectives; for the files of coll_shm only. */
#pragma once

#include <fathom/mpit.h>

#include "core/coll/coll_shm.h"

struct fm_coll_shm_counters {
    uint64_t after, max, memory, max_comms, spread, flat; /* control variables */
    uint64_t n_made, n_refused;
    uint64_t n_wakeups; /* sent to sleeping ranks */
    uint64_t n_sleeps;
    struct fathom_level n_live, bytes;
};

/* In the page, or private ones. Guarded by the library lock. */
extern struct fm_coll_shm_counters *fm_coll_shm_counters;
