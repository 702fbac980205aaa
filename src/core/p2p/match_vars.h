/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of matching, and the defaults of its variables; for match.c. */
#pragma once

#include "core/p2p/match.h"

#define FM_MATCH_BUCKETS_FIRST 64
#define FM_MATCH_BUCKETS_MAX   (1 << 20)

enum fm_match_event {
    FM_MATCH_EV_UMQ_IN,
    FM_MATCH_EV_UMQ_OUT,
    FM_MATCH_EV_POSTED,
    FM_MATCH_EV_MATCHED
};

/* To be called when the event's word says that somebody listens. `length` is that of the set. */
FM_COLD void fm_match_emit(const struct fm_match_counters *counters, enum fm_match_event event,
                           const struct fm_match_key *key, uint64_t length);
