/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of any room: who handles those that arrive, and how a room sends its own.
 *
 * Arrival. A packet begins with struct fm_wire_head, whose `kind` is an index into the channel's
 * table of handlers. Each room installs those of its kinds (wire.h has the ranges); the engine's
 * own are installed by deliver.c. A packet of a kind without a handler, or of a length that the
 * handler does not allow, is a violation of the protocol and fails the peer that sent it.
 *
 * Sending. A room fills in `kind`, `flags` and what follows the head. Packets to one peer that are
 * sent by these functions arrive in order. They take no unexpected memory at the receiver, whose
 * handler has to consume each one, so they need no credit; and they overtake messages that wait for
 * credit or for room in the RTS window, so one-sided operations progress while the target receives
 * nothing. Where the transport has no room, a packet waits:
 *
 *     rc = fm_packet_send(ch, peer, &h.head, sizeof(h), data, len);
 *     if (rc == FM_AGAIN) {
 *         op->out = (struct fm_out){.emit = op_emit, .abort = op_abort};
 *         fm_packet_queue(ch, peer, &op->out);
 *     }
 *
 *     static int op_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
 *     {
 *         struct op *op = fm_container_of(out, struct op, out);
 *         int rc = fm_packet_emit(ch, peer, &op->h.head, ...);
 *
 *         if (rc == 0) {
 *             fm_peer_unwait(ch, peer, out);
 *         }
 *         return rc;
 *     }
 *
 * A short packet goes by fm_packet_post(), which copies it where there is no room and never has to
 * be tried again.
 *
 * Everything here is guarded by the library lock.
 */
#pragma once

#include "core/p2p/peer.h"
#include "core/p2p/wire.h"

/* What happens with an arriving packet of one kind. */
struct fm_packet_handler {
    /*
     * The packet is `len` bytes at `head`, 8-byte aligned, valid during the call only; its length
     * is within the bounds below, nothing else was checked. `peer` is the process that sent it. May
     * send, must not call fm_progress(). 0, or a failure (-FM_E_PROTO and why) that fails the peer.
     */
    int (*handle)(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len);
    void *ctx;
    size_t min_len; /* bytes of a packet, the head included */
    size_t max_len; /* 0: no bound but the transport's */
};

/* What the engine adds to the kind and the flags of a packet. */
static FM_INLINE void fm_wire_head_fill(struct fm_wire_head *h, const struct fm_peer *peer)
{
    h->version = FM_WIRE_VERSION;
    h->proc = peer->remote_id;
    h->released = peer->released;
}

/* Install the handler of a kind that has none, and take it back. */
void fm_packet_install(struct fm_channel *ch, int kind, const struct fm_packet_handler *handler);
void fm_packet_uninstall(struct fm_channel *ch, int kind);

/* Send header and body, together at most peer->ep->tp->max_send bytes; `peer` comes from
   fm_peer_resolve(). 0: both may be reused. FM_AGAIN: nothing was sent, since the transport has no
   room or earlier packets wait. A failure: the peer has failed. */
int fm_packet_send(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_head *head,
                   size_t head_len, const void *body, size_t body_len);
/* Put a refused packet behind those that wait. out->emit() sends it later by fm_packet_emit() and
   takes it out of the queue; out->abort() is called instead when the peer fails. */
void fm_packet_queue(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out);
/* The same as fm_packet_send(), for the packet that is first in the queue. */
int fm_packet_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_head *head,
                   size_t head_len, const void *body, size_t body_len);

/* Longest packet of fm_packet_post(), bytes. */
#define FM_PACKET_POST_MAX 448
/* Send a packet of at most so many bytes, now or as soon as there is room. 0 or a failure of the
   peer or, without memory, of the channel. */
int fm_packet_post(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_head *head,
                   size_t len);

/* The engine's own: an answer about a message, in a queue before all others. 0 or a failure. */
int fm_packet_answer(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_reply *reply);
