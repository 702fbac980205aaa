/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes off the wire: check it, and hand it to the receive or the send that it is for. Nothing
 * in a message is trusted; one that breaks the rules of wire.h ends its sender's peer.
 */
#include "core/p2p/deliver.h"

#include <string.h>

#include "core/p2p/credit.h"
#include "core/p2p/packet.h"
#include "core/p2p/recv_req.h"
#include "core/p2p/rndv.h"
#include "core/p2p/send_req.h"
#include "core/p2p/unexpected.h"
#include "util/log.h"

/* All return 0, or a failure that ends the peer. */

static int check_base(const struct fm_wire_base *b)
{
    if (FM_UNLIKELY(b->source < 0 || b->tag < 0)) {
        return fm_fail(-FM_E_PROTO, "it sent a message with source %d and tag %d", b->source,
                       b->tag);
    }
    return 0;
}

FM_COLD static int bad_length(int kind, size_t len)
{
    return fm_fail(-FM_E_PROTO, "it sent a message of kind %d and %zu bytes", kind, len);
}

/* The receive that waits for this message, if there is one and the sender is who he says. */
static FM_INLINE int match(struct fm_channel *ch, const struct fm_wire_base *b,
                           struct fm_recv_req **out_req)
{
    struct fm_match_key key = {.context = b->context, .source = b->source, .tag = b->tag};
    struct fm_posted *p = fm_match_arrival(ch->match, &key);
    struct fm_recv_req *r;
    int rc;

    if (!p) {
        *out_req = NULL;
        return 0;
    }
    r = fm_container_of(p, struct fm_recv_req, posted);
    rc = fm_recv_req_check(ch, &r->msg, b->head.proc, b->source);
    if (FM_UNLIKELY(rc != 0)) {
        fm_match_post(ch->match, p);
        return rc;
    }
    *out_req = r;
    return 0;
}

FM_COLD static int no_memory(struct fm_channel *ch)
{
    return fm_channel_fail(ch, -FM_E_NOMEM, "no memory for an unexpected message");
}

static __attribute__((noinline)) int keep_eager(struct fm_channel *ch, const struct fm_wire_base *b,
                                                uint64_t sreq, const void *data, size_t len)
{
    struct fm_unexp *u = fm_unexp_new(ch, len);

    if (FM_UNLIKELY(!u)) {
        return no_memory(ch);
    }
    u->u.key = (struct fm_match_key){.context = b->context, .source = b->source, .tag = b->tag};
    u->len = len;
    u->proc = b->head.proc;
    u->kind = b->head.kind;
    u->sreq = sreq;
    fm_unexp_fill(u, data, len);
    if (FM_UNLIKELY(fm_unexp_keep(ch, u) != 0)) {
        fm_unexp_free(ch, u);
        return no_memory(ch);
    }
    return 0;
}

/* What is long, or longer than the buffer: counted by its parts. */
static __attribute__((noinline)) void take_long(struct fm_channel *ch, struct fm_recv_req *r,
                                                const char *data)
{
    FM_STAT(fm_counting_posted(&r->msg, -1));
    FM_STAT(fm_traffic_add(&ch->counters->eager_recvd, (uint64_t)r->want));
    fm_recv_req_place(ch, r, data, (size_t)r->want);
    fm_recv_req_end(ch, r);
}

static FM_INLINE int got_eager(struct fm_channel *ch, struct fm_peer *peer,
                               const struct fm_wire_base *b, uint64_t sreq, const char *data,
                               size_t len)
{
    struct fm_recv_req *r;
    int rc = check_base(b);

    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    rc = match(ch, b, &r);
    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    if (!r) {
        return keep_eager(ch, b, sreq, data, len);
    }
    if (sreq) {
        fm_recv_req_synced(ch, peer->proc, sreq);
    }
    fm_credit_release(ch, peer, fm_unexp_blocks(len));
    fm_recv_req_matched(r, b->source, b->tag, (MPI_Count)len);
    if (FM_UNLIKELY(len >= FM_TINY_LEN || (MPI_Count)len > r->cap)) {
        take_long(ch, r, data);
        return 0;
    }
    FM_STAT(fm_counting_met(ch, &r->msg, b->source, len));
    fm_recv_req_place(ch, r, data, len);
    if (FM_UNLIKELY(ch->counters->req.on_done)) {
        fm_recv_req_emit_done(ch, r);
    }
    fm_request_end(&r->req);
    return 0;
}

static int handle_eager(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                        size_t len)
{
    const struct fm_wire_base *b = (const struct fm_wire_base *)head;

    return got_eager(ctx, peer, b, 0, (const char *)(b + 1), len - sizeof(*b));
}

static int handle_sync(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len)
{
    const struct fm_wire_sync *h = (const struct fm_wire_sync *)head;
    struct fm_channel *ch = ctx;

    if (FM_UNLIKELY(h->sreq == 0)) {
        return bad_length(FM_WIRE_EAGER_SYNC, len);
    }
    return got_eager(ch, peer, &h->base, h->sreq, (const char *)(h + 1), len - sizeof(*h));
}

/* ---- RTS ---- */

struct waiting {
    const struct fm_peer *peer;
    bool is_wanted;
};

static void is_for(struct fm_posted *p, void *ctx)
{
    struct waiting *w = ctx;
    const struct fm_recv_req *r = fm_container_of(p, struct fm_recv_req, posted);

    if (p->key.source == FM_ANY_SOURCE ||
        fm_comm_proc(r->msg.comm, p->key.source) == w->peer->proc) {
        w->is_wanted = true;
    }
}

/* The peer may send no further RTS. If a receive waits for something of it, that may be held back
   behind this one, so allow more at once; else the next receive will. */
FM_COLD static void note_stalled(struct fm_channel *ch, struct fm_peer *peer)
{
    struct waiting w = {.peer = peer};

    if (peer->has_stalled) {
        return;
    }
    peer->has_stalled = true;
    ch->n_stalled++;
    fm_match_each_posted(ch->match, is_for, &w);
    if (w.is_wanted) {
        fm_credit_allow_rts(ch, peer);
    }
}

static int keep_rts(struct fm_channel *ch, const struct fm_wire_rts *h, int n_runs)
{
    const struct fm_wire_base *b = &h->base;
    size_t layout_len = (size_t)n_runs * sizeof(struct fm_pack_run);
    struct fm_unexp *u = fm_unexp_new(ch, layout_len);

    if (FM_UNLIKELY(!u)) {
        return no_memory(ch);
    }
    u->u.key = (struct fm_match_key){.context = b->context, .source = b->source, .tag = b->tag};
    u->len = h->len;
    u->proc = b->head.proc;
    u->kind = FM_WIRE_RTS;
    u->sreq = h->sreq;
    u->key = h->key;
    u->has_key = b->head.flags & FM_WIRE_HAS_KEY;
    u->can_push = b->head.flags & FM_WIRE_PUSH;
    u->n_runs = (uint16_t)n_runs;
    fm_unexp_fill(u, h + 1, layout_len);
    if (FM_UNLIKELY(fm_unexp_keep(ch, u) != 0)) {
        fm_unexp_free(ch, u);
        return no_memory(ch);
    }
    return 0;
}

static int handle_rts(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len)
{
    const struct fm_wire_rts *h = (const struct fm_wire_rts *)head;
    struct fm_channel *ch = ctx;
    size_t layout_len = len - sizeof(*h);
    struct fm_recv_req *r;
    int n_runs, rc;

    if (FM_UNLIKELY(layout_len % sizeof(struct fm_pack_run) ||
                    layout_len > FM_PACK_RUNS_MAX * sizeof(struct fm_pack_run) || h->sreq == 0 ||
                    h->len > INT64_MAX)) {
        return bad_length(FM_WIRE_RTS, len);
    }
    n_runs = (int)(layout_len / sizeof(struct fm_pack_run));
    rc = check_base(&h->base);
    if (rc == 0) {
        rc = match(ch, &h->base, &r);
    }
    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    FM_STAT(ch->counters->n_rts_recvd++);
    if (!r) {
        rc = keep_rts(ch, h, n_runs);
    } else {
        struct fm_rts rts = {h->len,
                             h->sreq,
                             h->key,
                             h->base.head.flags & FM_WIRE_HAS_KEY,
                             h->base.head.flags & FM_WIRE_PUSH,
                             n_runs,
                             (const struct fm_pack_run *)(h + 1)};

        FM_STAT(fm_counting_posted(&r->msg, -1));
        fm_recv_req_matched(r, h->base.source, h->base.tag, (MPI_Count)h->len);
        r->peer = peer;
        fm_rndv_receive(ch, r, &rts);
    }
    if (FM_UNLIKELY(h->base.head.flags & FM_WIRE_LAST) && !peer->is_gone) {
        note_stalled(ch, peer);
    }
    return rc;
}

/* ---- answers ---- */

FM_COLD static int unknown(const char *what, uint64_t id)
{
    return fm_fail(-FM_E_PROTO, "it named a %s that does not exist (%llx)", what,
                   (unsigned long long)id);
}

static int handle_reply(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                        size_t len)
{
    const struct fm_wire_reply *h = (const struct fm_wire_reply *)head;
    struct fm_channel *ch = ctx;
    struct fm_send_req *s = fm_ids_get(&ch->ids, FM_ID_SEND, h->sreq);

    if (FM_UNLIKELY(!s || s->peer != peer)) {
        return unknown("send", h->sreq);
    }
    if (h->head.kind == FM_WIRE_FIN) {
        FM_STAT(ch->counters->n_fin_recvd++);
    } else {
        FM_STAT(ch->counters->n_cts_recvd++);
    }
    return s->proto->on_reply(ch, s, h);
}

static int handle_data(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len)
{
    const struct fm_wire_reply *h = (const struct fm_wire_reply *)head;
    struct fm_channel *ch = ctx;
    struct fm_recv_req *r = fm_ids_get(&ch->ids, FM_ID_RECV, h->rreq);

    if (FM_UNLIKELY(!r) && fm_ids_was_used(&ch->ids, h->rreq)) {
        FM_STAT(ch->counters->n_data_late++);
        return 0; /* asked for, and fetched in the meantime */
    }
    if (FM_UNLIKELY(!r || r->peer != peer)) {
        return unknown("receive", h->rreq);
    }
    FM_STAT(ch->counters->n_data_recvd++);
    return fm_rndv_data(ch, r, h, h + 1, len - sizeof(*h));
}

static int handle_credit(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                         size_t len)
{
    const struct fm_wire_reply *h = (const struct fm_wire_reply *)head;
    struct fm_channel *ch = ctx;
    uint32_t more = h->more - peer->q->rts_more;

    FM_STAT(ch->counters->n_credits_recvd++);
    FM_STAT(ch->counters->n_more_recvd += more != 0);
    peer->q->rts_more = h->more;
    peer->rts_extra = more > UINT32_MAX - peer->rts_extra ? UINT32_MAX : peer->rts_extra + more;
    return 0;
}

/* ---- cancelling ---- */

struct search {
    int proc;
    uint64_t sreq;
    struct fm_unexp *found;
};

static void look_for(struct fm_unexpected *x, void *ctx)
{
    struct search *s = ctx;
    struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

    if (u->proc == s->proc && u->sreq == s->sreq) {
        s->found = u;
    }
}

/* Not finding it is no fault: it was matched while the question was on its way. */
static int handle_cancel(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                         size_t len)
{
    const struct fm_wire_reply *h = (const struct fm_wire_reply *)head;
    struct fm_channel *ch = ctx;
    struct search search = {.proc = peer->proc, .sreq = h->sreq};
    struct fm_wire_reply answer = {.head.kind = FM_WIRE_CANCELLED, .sreq = h->sreq};
    struct fm_peer *same;
    int rc = fm_peer_resolve(ch, peer->proc, &same);

    if (rc != 0) {
        return rc;
    }
    if (h->sreq) {
        fm_match_each_unexpected(ch->match, look_for, &search);
    }
    if (search.found) {
        struct fm_unexp *u = search.found;

        fm_match_drop(ch->match, &u->u);
        fm_unexp_taken(ch, u);
        if (u->kind != FM_WIRE_RTS) {
            peer->released += u->n_blocks;
        }
        fm_unexp_free(ch, u);
        answer.head.flags = FM_WIRE_YES;
    }
    fm_packet_answer(ch, peer, &answer);
    return 0;
}

static int handle_cancelled(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                            size_t len)
{
    const struct fm_wire_reply *h = (const struct fm_wire_reply *)head;
    struct fm_channel *ch = ctx;
    struct fm_send_req *s = fm_ids_get(&ch->ids, FM_ID_SEND, h->sreq);

    if (!s || s->peer != peer || !s->is_cancelling) {
        return 0; /* it was complete before this answer came */
    }
    if (h->head.flags & FM_WIRE_YES) {
        fm_send_req_cancelled(ch, s);
    }
    return 0;
}

/* ---- the sink ---- */

/* Nobody can be blamed: say it once, and count. */
FM_COLD static void bad_message(struct fm_channel *ch, size_t len)
{
    if (ch->counters->n_bad_messages++ == 0) {
        fm_log_warn("a message of %zu bytes that no process of this job can have sent was dropped",
                    len);
    }
}

FM_COLD static void bad_peer(struct fm_channel *ch, int proc)
{
    ch->counters->n_bad_messages++;
    fm_peer_fail(ch, proc, fm_why());
}

static int dispatch(struct fm_channel *ch, struct fm_peer *peer, const struct fm_wire_head *h,
                    size_t len)
{
    const struct fm_packet_handler *handler = &ch->handlers[h->kind % FM_WIRE_KIND_MAX];

    if (FM_UNLIKELY(h->kind >= FM_WIRE_KIND_MAX || !handler->handle)) {
        return fm_fail(-FM_E_PROTO, "it sent a message of the unknown kind %u", h->kind);
    }
    if (FM_UNLIKELY(len < handler->min_len || (handler->max_len && len > handler->max_len))) {
        return bad_length(h->kind, len);
    }
    return handler->handle(handler->ctx, peer, h, len);
}

/* All but the plain eager message of a known, living peer. */
static __attribute__((noinline)) void deliver_other(struct fm_channel *ch, const void *data,
                                                    size_t len)
{
    const struct fm_wire_head *h = data;
    struct fm_peer *peer;
    int rc;

    if (FM_UNLIKELY(len < sizeof(*h) || h->version != FM_WIRE_VERSION || h->proc < 0 ||
                    h->proc >= ch->n_peers || h->proc == ch->self)) {
        bad_message(ch, len);
        return;
    }
    peer = fm_peer_of(ch, h->proc);
    if (FM_UNLIKELY(peer->is_gone)) {
        return;
    }
    peer->acknowledged = h->released;
    rc = dispatch(ch, peer, h, len);
    if (FM_UNLIKELY(rc != 0)) {
        bad_peer(ch, peer->proc);
    }
}

void fm_deliver(void *ctx, const void *data, size_t len)
{
    static const struct fm_wire_head plain = {.kind = FM_WIRE_EAGER, .version = FM_WIRE_VERSION};
    struct fm_channel *ch = ctx;
    const struct fm_wire_base *b = data;
    uint32_t proc;
    struct fm_peer *peer;

    /* Kind, version and flags in one look. */
    if (FM_UNLIKELY(len < sizeof(*b) || memcmp(b, &plain, offsetof(struct fm_wire_head, proc)))) {
        deliver_other(ch, data, len);
        return;
    }
    proc = (uint32_t)b->head.proc;
    peer = fm_peer_of(ch, proc);
    if (FM_UNLIKELY(proc >= (uint32_t)ch->n_peers || proc == (uint32_t)ch->self || peer->is_gone)) {
        deliver_other(ch, data, len);
        return;
    }
    peer->acknowledged = b->head.released;
    if (FM_UNLIKELY(got_eager(ch, peer, b, 0, (const char *)(b + 1), len - sizeof(*b)) != 0)) {
        bad_peer(ch, peer->proc);
    }
}

void fm_deliver_install(struct fm_channel *ch)
{
    static const size_t reply_len = sizeof(struct fm_wire_reply);
    const struct {
        int kind;
        struct fm_packet_handler handler;
    } kinds[] = {
        {FM_WIRE_EAGER, {handle_eager, ch, sizeof(struct fm_wire_base), 0}},
        {FM_WIRE_EAGER_SYNC, {handle_sync, ch, sizeof(struct fm_wire_sync), 0}},
        {FM_WIRE_RTS, {handle_rts, ch, sizeof(struct fm_wire_rts), 0}},
        {FM_WIRE_CTS, {handle_reply, ch, reply_len, reply_len}},
        {FM_WIRE_DATA, {handle_data, ch, reply_len, 0}},
        {FM_WIRE_FIN, {handle_reply, ch, reply_len, reply_len}},
        {FM_WIRE_CREDIT, {handle_credit, ch, reply_len, reply_len}},
        {FM_WIRE_CANCEL, {handle_cancel, ch, reply_len, reply_len}},
        {FM_WIRE_CANCELLED, {handle_cancelled, ch, reply_len, reply_len}},
    };

    for (size_t k = 0; k < FM_ARRAY_LEN(kinds); k++) {
        fm_packet_install(ch, kinds[k].kind, &kinds[k].handler);
    }
}
