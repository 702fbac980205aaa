/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The eager protocol: the bytes travel with the header, and lie in the receiver's unexpected memory
 * if nobody waits for them. A synchronous send is complete when the receiver answers FIN on
 * matching; any other when the transport has taken it.
 */
#include "core/p2p/eager.h"

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/unexpected.h"

bool fm_eager_fits(const struct fm_peer *peer, const struct fm_send_req *s)
{
    uint64_t own = s->msg.comm->counters->eager_limit;
    uint64_t len = (uint64_t)s->len;

    return len <= peer->eager_limit && (own == 0 || len < own) &&
           fm_peer_has_credit(peer, fm_unexp_blocks(len));
}

/* Data that is not one run goes straight into the transport's room. */
static int send_packed(struct fm_peer *peer, const void *head, size_t head_len,
                       const struct fm_send_req *s)
{
    size_t len = (size_t)s->len;
    struct fm_pack pack;
    char *room;
    int rc = peer->ep->ops->reserve(peer->ep, head_len + len, (void **)&room);

    if (rc != 0) {
        return rc;
    }
    memcpy(room, head, head_len);
    fm_pack_begin(&pack, s->msg.buf, s->msg.count, s->msg.dtype);
    fm_pack_out(&pack, room + head_len, len);
    return peer->ep->ops->commit(peer->ep, room, head_len + len);
}

static int send_whole(struct fm_peer *peer, const void *head, size_t head_len,
                      const struct fm_send_req *s)
{
    if (!s->msg.dtype->is_contig) {
        return send_packed(peer, head, head_len, s);
    }
    return fm_ep_send(peer->ep, head, head_len, (char *)s->msg.buf + s->msg.dtype->true_lb,
                      (size_t)s->len);
}

static void count(struct fm_channel *ch, const struct fm_send_req *s)
{
    struct fm_p2p_counters *w = ch->counters;

    FM_STAT(w->n_request_sent++);
    FM_STAT(w->request_sent_bytes += (uint64_t)s->len);
    FM_STAT(w->reasons[s->reason]++);
    FM_STAT(w->last_reason = s->reason);
    FM_STAT(w->n_packed_sent += !s->msg.dtype->is_contig);
    FM_STAT(w->packed_sent_bytes += s->msg.dtype->is_contig ? 0 : (uint64_t)s->len);
    if (FM_UNLIKELY(w->on_eager)) {
        fm_p2p_emit(ch, FM_EV_EAGER, s->peer->proc, fm_msg_context(&s->msg), s->msg.tag,
                    (uint64_t)s->len);
    }
}

static int eager_start(struct fm_channel *ch, struct fm_send_req *s)
{
    struct fm_peer *peer = s->peer;
    bool is_sync = s->mode == FM_SEND_SYNC;
    struct fm_wire_sync h;
    int rc;

    fm_wire_base_set(&h.base, is_sync ? FM_WIRE_EAGER_SYNC : FM_WIRE_EAGER, peer, &s->msg);
    if (is_sync) {
        h.sreq = s->id = fm_ids_put(&ch->ids, FM_ID_SEND, s);
        if (!s->id) {
            return fm_fail(-FM_E_NOMEM, "no memory to name a request");
        }
    }
    rc = send_whole(peer, &h, is_sync ? sizeof(h) : sizeof(h.base), s);
    if (rc != 0) {
        FM_STAT(ch->counters->n_refused += rc == FM_AGAIN);
        fm_ids_drop(&ch->ids, s->id);
        s->id = 0;
        return rc;
    }
    peer->advertised = h.base.head.released;
    peer->consumed += fm_unexp_blocks((uint64_t)s->len);
    count(ch, s);
    if (!is_sync) {
        fm_send_req_done(ch, s);
    }
    return 0;
}

static int eager_on_reply(struct fm_channel *ch, struct fm_send_req *s,
                          const struct fm_wire_reply *h)
{
    if (h->head.kind != FM_WIRE_FIN) {
        return fm_fail(-FM_E_PROTO, "it answered an eager message with kind %u", h->head.kind);
    }
    fm_send_req_done(ch, s);
    return 0;
}

const struct fm_proto fm_eager = {
    .name = "eager",
    .start = eager_start,
    .on_reply = eager_on_reply,
    .cancel = fm_send_req_ask_cancel,
};
