/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine knows of another process; hot: one cache line. Set at first contact. */
#pragma once

#include "transport/transport.h"

struct fm_channel;

struct fm_peer {
    struct fm_ep *ep;     /* NULL: not yet talked to */
    uint32_t short_limit; /* payload bytes up to which a send needs no request */
    uint32_t eager_limit; /* payload bytes up to which data travels with the header */
    int proc;             /* process index */
    bool is_gone;
    void *priv; /* peer.c: flow control and what waits for room */
};

/* The peer, with its endpoint made. 0 or a failure (-FM_E_PEER). */
int fm_peer_resolve(struct fm_channel *ch, int proc, struct fm_peer **out_peer);
