/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of flow control. */
#include "core/p2p/credit.h"

#include "core/object/comm.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/packet.h"

void fm_credit_advertise(struct fm_channel *ch, struct fm_peer *peer)
{
    struct fm_wire_reply h = {.head.kind = FM_WIRE_CREDIT, .more = peer->q->more};
    struct fm_peer *same;

    if (fm_peer_resolve(ch, peer->proc, &same) != 0) {
        return; /* a peer that cannot be reached sends nothing either */
    }
    peer->advertised = peer->released;
    if (fm_packet_answer(ch, peer, &h) == 0) {
        FM_STAT(ch->counters->n_credits_sent++);
    }
}

void fm_credit_allow_rts(struct fm_channel *ch, struct fm_peer *peer)
{
    if (!peer->has_stalled) {
        return;
    }
    peer->has_stalled = false;
    ch->n_stalled--;
    peer->q->more += (uint32_t)ch->counters->rts_window;
    FM_STAT(ch->counters->n_more_sent++);
    fm_credit_advertise(ch, peer);
}

void fm_credit_resume(struct fm_channel *ch, const struct fm_comm *comm, int source)
{
    int proc = source == MPI_ANY_SOURCE ? -1 : fm_comm_proc(comm, source);

    for (int k = 0; k < ch->n_peers; k++) {
        if (fm_peer_of(ch, k)->has_stalled && (proc < 0 || proc == k)) {
            fm_credit_allow_rts(ch, fm_peer_of(ch, k));
        }
    }
}

void fm_peer_wake(struct fm_channel *ch, int proc)
{
    fm_credit_advertise(ch, fm_peer_of(ch, proc));
}
