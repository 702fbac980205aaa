/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching the data of a rendezvous message by transfers of memory; for the files of this room. */
#pragma once

#include "core/dtype/pack_runs.h"
#include "transport/transport.h"

#define FM_FETCH_LEN 2048 /* bytes of a fetch, for its pool */

struct fm_channel;
struct fm_recv_req;

/* An RTS as the receiver knows it. */
struct fm_rts {
    uint64_t len;
    uint64_t sreq;
    struct fm_rkey key;
    bool has_key;
    bool can_push; /* the sender would rather push */
    int n_runs;    /* of the data within what the key opens; 0: it is all of that */
    const struct fm_pack_run *runs;
};

/* What a fetch calls: the protocol that started it. */
struct fm_fetch_user {
    /* Ask the sender for DATA packets; is_pushed: while it is awake, the rest will be fetched. */
    void (*ask)(struct fm_channel *ch, struct fm_recv_req *r, bool is_pushed);
    /* All bytes have arrived and no transfer is in flight. */
    void (*done)(struct fm_channel *ch, struct fm_recv_req *r);
};

/* Are `len` bytes in so many pieces worth a transfer of their own each? */
bool fm_fetch_pays(const struct fm_channel *ch, const struct fm_transport *tp, MPI_Count len,
                   MPI_Count n_pieces);
/* Fetch what the RTS offers, or ask for it and fetch what does not come soon. False: that is not
   possible, ask for it. */
bool fm_fetch_start(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_rts *rts,
                    const struct fm_fetch_user *user);
/* All that was asked for has come without. True: a transfer is still in flight, the last one
   completes the request. */
bool fm_fetch_covered(struct fm_recv_req *r);
