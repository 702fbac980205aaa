/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of flow control; peer.h has the rules. */
#pragma once

#include "core/p2p/channel.h"

struct fm_comm;

/* Send the peer a CREDIT packet with what it may not know yet. */
FM_COLD void fm_credit_advertise(struct fm_channel *ch, struct fm_peer *peer);

/* n blocks of the peer's messages are free again. Every packet to the peer advertises that; a
   packet of its own does once a quarter of the smallest window has gathered. */
static FM_INLINE void fm_credit_release(struct fm_channel *ch, struct fm_peer *peer,
                                        uint32_t n_blocks)
{
    peer->released += n_blocks;
    if (FM_UNLIKELY(peer->released - peer->advertised > ch->far_window / 4)) {
        fm_credit_advertise(ch, peer);
    }
}

/* Let a peer that has used up its RTS window send further RTS. */
void fm_credit_allow_rts(struct fm_channel *ch, struct fm_peer *peer);
/* The same for all such peers from which a receive or probe of `source` may be waiting for a
   message that is held back. */
FM_COLD void fm_credit_resume(struct fm_channel *ch, const struct fm_comm *comm, int source);

/* Wake the process, should it sleep in fm_wait_shared(): a CREDIT packet without news. */
void fm_peer_wake(struct fm_channel *ch, int proc);
