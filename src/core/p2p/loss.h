/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What follows from the failure of a peer. fm_peer_fail() only marks the peer; a progress hook then
 * ends every operation that waits for it, at a point where the engine holds no reference to any of
 * them. Completing an operation may start and cancel others.
 */
#pragma once

#include <stdint.h>

#include "util/list.h"

struct fm_channel;
struct fm_peer;

/* A room that has operations of its own under way with peers; a member of the room's state. */
struct fm_loss_watch {
    struct fm_list link;
    /* The peer has failed (fm_peer_why() has the reason): end what waits for it. Called once for
       each peer, from progress, after the packets that waited for it were aborted. */
    void (*lost)(struct fm_loss_watch *watch, struct fm_peer *peer);
};

void fm_loss_watch_add(struct fm_channel *ch, struct fm_loss_watch *watch);
/* Not from inside lost(). */
void fm_loss_watch_remove(struct fm_channel *ch, struct fm_loss_watch *watch);

/* For waits: ask the process manager, once in progress_gone_interval, which processes have ended,
   and mark those whose last packets have had time to arrive. */
void fm_loss_check(struct fm_channel *ch, uint64_t now_ns);

/* Part of opening a channel. */
void fm_loss_init(struct fm_channel *ch);
