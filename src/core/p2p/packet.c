/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of any room. */
#include "core/p2p/packet.h"

#include <string.h>

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/unexpected.h"

void fm_packet_install(struct fm_channel *ch, int kind, const struct fm_packet_handler *handler)
{
    fm_assert(kind > 0 && kind < FM_WIRE_KIND_MAX && !ch->handlers[kind].handle);
    ch->handlers[kind] = *handler;
}

void fm_packet_uninstall(struct fm_channel *ch, int kind)
{
    ch->handlers[kind] = (struct fm_packet_handler){0};
}

/* ---- sending ---- */

int fm_packet_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_head *head,
                   size_t head_len, const void *body, size_t body_len)
{
    int rc;

    fm_wire_head_fill(head, peer);
    rc = fm_ep_send(peer->ep, head, head_len, body, body_len);
    if (rc == 0) {
        peer->advertised = head->released;
    }
    FM_STAT(ch->counters->n_refused += rc == FM_AGAIN);
    return rc;
}

/* Behind what waits in the queue already, or now. */
static int send_in(struct fm_channel *ch, struct fm_peer *peer, enum fm_queue queue,
                   struct fm_wire_head *head, size_t head_len, const void *body, size_t body_len)
{
    int rc;

    if (FM_UNLIKELY(peer->is_gone)) {
        return fm_peer_refuse(peer);
    }
    if (FM_UNLIKELY(!fm_list_is_empty(&peer->q->lists[queue]))) {
        return FM_AGAIN;
    }
    rc = fm_packet_emit(ch, peer, head, head_len, body, body_len);
    if (FM_UNLIKELY(rc < 0)) {
        fm_peer_fail(ch, peer->proc, fm_why());
    }
    return rc;
}

int fm_packet_send(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_head *head,
                   size_t head_len, const void *body, size_t body_len)
{
    return send_in(ch, peer, FM_QUEUE_PACKETS, head, head_len, body, body_len);
}

void fm_packet_queue(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    fm_peer_wait(ch, peer, out, FM_QUEUE_PACKETS);
}

/* ---- copies that wait for room ---- */

/* Lies in a block of unexpected memory. */
struct copy {
    struct fm_out out;
    size_t len;
    char data[FM_PACKET_POST_MAX];
};

_Static_assert(sizeof(struct copy) <= FM_BLOCK_LEN, "lies in a block");

static void end_copy(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    fm_peer_unwait(ch, peer, out);
    fm_pool_put(&ch->blocks, fm_container_of(out, struct copy, out));
}

static int copy_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct copy *c = fm_container_of(out, struct copy, out);
    int rc = fm_packet_emit(ch, peer, (struct fm_wire_head *)c->data, c->len, NULL, 0);

    if (rc == 0) {
        end_copy(ch, peer, out);
    }
    return rc;
}

FM_COLD static int post_later(struct fm_channel *ch, struct fm_peer *peer, enum fm_queue queue,
                              const void *data, size_t len)
{
    struct copy *c = fm_pool_get(&ch->blocks);

    if (!c) {
        return fm_channel_fail(ch, -FM_E_NOMEM, "no memory to send a packet to process %d",
                               peer->proc);
    }
    c->out = (struct fm_out){.emit = copy_emit, .abort = end_copy};
    c->len = len;
    memcpy(c->data, data, len);
    fm_peer_wait(ch, peer, &c->out, queue);
    return 0;
}

static int post_in(struct fm_channel *ch, struct fm_peer *peer, enum fm_queue queue,
                   struct fm_wire_head *head, size_t len)
{
    int rc = send_in(ch, peer, queue, head, len, NULL, 0);

    return FM_UNLIKELY(rc == FM_AGAIN) ? post_later(ch, peer, queue, head, len) : rc;
}

int fm_packet_post(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_head *head,
                   size_t len)
{
    fm_assert(len <= FM_PACKET_POST_MAX);
    return post_in(ch, peer, FM_QUEUE_PACKETS, head, len);
}

int fm_packet_answer(struct fm_channel *ch, struct fm_peer *peer, struct fm_wire_reply *reply)
{
    return post_in(ch, peer, FM_QUEUE_ANSWERS, &reply->head, sizeof(*reply));
}
