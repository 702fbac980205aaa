/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each message that goes or comes adds to the words, in the fewest stores. How many and how
 * long they are is one store, and totals are sums that are made when somebody reads them.
 */
#pragma once

#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/p2p/p2p_words.h"
#include "core/p2p/send.h"

/* A message of a user left for good. */
FM_INLINE void fm_counting_sent_to(const struct fm_msg *m, uint64_t len)
{
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        fm_tally_add(&m->comm->peer_words[m->peer].sent, len);
    }
}

/* With a request, counted by protocol by the caller. */
FM_INLINE void fm_counting_sent(struct fm_channel *ch, const struct fm_msg *m, MPI_Count len)
{
    ch->words->sizes_sent[fm_hist_bin((uint64_t)len)]++;
    fm_counting_sent_to(m, (uint64_t)len);
}

/* Without one. */
FM_INLINE void fm_counting_short(struct fm_channel *ch, const struct fm_msg *m, uint64_t len)
{
    if (FM_LIKELY(len < FM_TINY_LEN)) {
        fm_tally_add(&ch->words->tiny_sent[fm_hist_bin(len)], len);
    } else {
        fm_tally_add(&ch->words->short_sent, len);
        ch->words->sizes_sent[fm_hist_bin(len)]++;
    }
    fm_counting_sent_to(m, len);
}

/* A message was delivered. */
FM_INLINE void fm_counting_recvd(struct fm_channel *ch, const struct fm_msg *m, int source,
                                 MPI_Count len)
{
    ch->words->sizes_recvd[fm_hist_bin((uint64_t)len)]++;
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        fm_tally_add(&m->comm->peer_words[source].recvd, (uint64_t)len);
    }
}

/* A receive came into the queue of posted ones (1) or left it (-1). */
FM_INLINE void fm_counting_posted(const struct fm_msg *m, int64_t by)
{
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        m->comm->words->prq_len += (uint64_t)by;
    }
}

/* The usual message: eager and tiny; it met its receive in the queue and completes it. */
FM_INLINE void fm_counting_met(struct fm_channel *ch, const struct fm_msg *m, int source,
                               uint64_t len)
{
    fm_tally_add(&ch->words->met_recvd[fm_hist_bin(len)], len);
    if (FM_LIKELY(m->space == FM_SPACE_USER)) {
        m->comm->words->prq_len--;
        fm_tally_add(&m->comm->peer_words[source].recvd, len);
    }
}
