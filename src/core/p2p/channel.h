/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel: all that a thread needs to talk: match table, transports, peers, counters (D13). One
 * per process today; the seam for one per thread.
 */
#pragma once

#include <fathom/page.h>

#include "core/p2p/match.h"
#include "core/p2p/peer.h"
#include "transport/transport.h"
#include "util/sync.h"

#define FM_MAX_TRANSPORTS 2

struct fm_progress; /* progress.c: hooks and the state of waiting */
struct fm_p2p_words;
struct fm_progress_words;

struct fm_channel {
    struct fm_match *match;
    struct fm_peer *peers; /* by process index */
    int n_peers;
    int self; /* process index of this process */
    int n_transports;
    struct fm_transport *transports[FM_MAX_TRANSPORTS];
    struct fm_p2p_words *words;
    struct fm_progress *progress;
    struct fathom_page *page; /* never NULL */
    struct fm_lock *lock;     /* the library lock, dropped while waiting */
    /* First message to a peer: make its endpoint. Installed by the runtime. 0 or a failure. */
    int (*resolve)(void *ctx, int proc, struct fm_ep **out_ep);
    void *resolve_ctx;
    /* A process of the job is known to be gone: wait no longer for it. Asked for while waiting. */
    bool (*is_gone)(void *ctx, int proc);
};

/* Blocks of words that the runtime got from fathom_mpit_add(), one per table of the room. */
struct fm_channel_words {
    void *match;    /* fm_match_vars */
    void *p2p;      /* fm_p2p_vars (send, recv, eager, rndv, request) */
    void *progress; /* fm_progress_vars */
};

extern const struct fathom_table fm_p2p_vars;
extern const struct fathom_table fm_progress_vars;

/*
 * A channel without transports yet: self messages work. n_peers processes, this one being `self`.
 */
int fm_channel_create(int n_peers, int self, const struct fm_channel_words *words,
                      struct fm_channel **out_ch);
/* The sink to open a transport with, and the transport, once open. */
void fm_channel_sink(struct fm_channel *ch, struct fm_sink *out_sink);
int fm_channel_attach(struct fm_channel *ch, struct fm_transport *tp);
/* Closes the transports. What is still queued is dropped. NULL is fine. */
void fm_channel_destroy(struct fm_channel *ch);

/* Wait until everything that was accepted from the user has left (before finalize). */
int fm_channel_drain(struct fm_channel *ch);
