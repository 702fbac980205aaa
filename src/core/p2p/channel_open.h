/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a channel. */
#pragma once

#include "core/p2p/channel.h"

/* Blocks of counters that the runtime got from fathom_mpit_add(), one per table of the room. NULL
   (all or one): private memory. */
struct fm_channel_counters {
    void *match;    /* fm_match_vars */
    void *p2p;      /* fm_p2p_vars (send, recv, eager, rndv, request) */
    void *progress; /* fm_progress_vars */
};

extern const struct fathom_table fm_p2p_vars;
extern const struct fathom_table fm_progress_vars;

/*
 * A channel without transports yet: self messages work. n_peers processes, this one being `self`.
 * Makes the pool of requests, and watches communicators (fm_root.comm_changed).
 */
int fm_channel_create(int n_peers, int self, const struct fm_channel_counters *counters,
                      struct fm_channel **out_ch);
/* The sink to open a transport with, and the transport, once open. */
void fm_channel_sink(struct fm_channel *ch, struct fm_sink *out_sink);
int fm_channel_attach(struct fm_channel *ch, struct fm_transport *tp);
/* Closes the transports. What is still queued is dropped. NULL is fine. */
void fm_channel_destroy(struct fm_channel *ch);

/* Wait until everything that was accepted from the user has left (before finalize). */
int fm_channel_drain(struct fm_channel *ch);
