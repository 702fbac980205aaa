/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two counters that always grow together, how many and how much, in one store: a message's counts
 * are dear in stores, since what it publishes leaves the processor behind all of them.
 */
#pragma once

#include <stdint.h>

#include "util/compiler.h"

struct fm_traffic {
    uint64_t len; /* how much in all */
    uint64_t n;   /* how many */
} FM_ALIGNED(16);

typedef uint64_t fm_traffic_pair __attribute__((vector_size(16), may_alias));

/* One more. Each of the two words is written whole. */
static FM_INLINE void fm_traffic_add(struct fm_traffic *t, uint64_t len)
{
    *(fm_traffic_pair *)t += (fm_traffic_pair){len, 1};
}
