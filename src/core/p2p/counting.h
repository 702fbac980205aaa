/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each message that goes or comes adds to the words, in the fewest stores. How many and how
 * long they are is one store, and totals are sums that are made when somebody reads them.
 */
#pragma once

#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/msg.h"

/* A message of a user left for good. */
static FM_INLINE void fm_counting_sent_to(const struct fm_msg *m, uint64_t len)
{
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        fm_traffic_add(&m->comm->peer_counters[m->peer].sent, len);
    }
}

/* With a request, counted by protocol by the caller. */
static FM_INLINE void fm_counting_sent(struct fm_channel *ch, const struct fm_msg *m, MPI_Count len)
{
    ch->counters->sizes_sent[fm_hist_bin((uint64_t)len)]++;
    fm_counting_sent_to(m, (uint64_t)len);
}

/* Without one. */
static FM_INLINE void fm_counting_short(struct fm_channel *ch, const struct fm_msg *m, uint64_t len)
{
    if (FM_LIKELY(len < FM_TINY_LEN)) {
        fm_traffic_add(&ch->counters->tiny_sent[fm_hist_bin(len)], len);
    } else {
        fm_traffic_add(&ch->counters->short_sent, len);
        ch->counters->sizes_sent[fm_hist_bin(len)]++;
    }
    fm_counting_sent_to(m, len);
}

/* A message was delivered. */
static FM_INLINE void fm_counting_recvd(struct fm_channel *ch, const struct fm_msg *m, int source,
                                        MPI_Count len)
{
    ch->counters->sizes_recvd[fm_hist_bin((uint64_t)len)]++;
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        fm_traffic_add(&m->comm->peer_counters[source].recvd, (uint64_t)len);
    }
}

/* A receive came into the queue of posted ones (1) or left it (-1). */
static FM_INLINE void fm_counting_posted(const struct fm_msg *m, int64_t by)
{
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        m->comm->counters->prq_len += (uint64_t)by;
    }
}

/* The usual message: eager and tiny; it met its receive in the queue and completes it. */
static FM_INLINE void fm_counting_met(struct fm_channel *ch, const struct fm_msg *m, int source,
                                      uint64_t len)
{
    fm_traffic_add(&ch->counters->met_recvd[fm_hist_bin(len)], len);
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        m->comm->counters->prq_len--;
        fm_traffic_add(&m->comm->peer_counters[source].recvd, len);
    }
}
