/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rendezvous protocol: the sender asks (RTS), and the data moves when the receive is known.
 *
 *     sender                     receiver
 *     RTS with key  ------------> matched; gets the data by RMA (fetch.c)
 *     complete      <------------ FIN
 *
 *     RTS           ------------> matched
 *                   <------------ CTS
 *     DATA, DATA... ------------> placed (unpacked) as they come, straight from the transport
 *     complete when the last fragment has left
 *
 *     RTS with key, PUSH -------> matched
 *                   <------------ CTS with PUSH
 *     DATA, DATA... ------------> placed; what does not come soon is fetched
 *     complete      <------------ FIN
 *
 * The first way is for data that lies in one run or in few large pieces on both sides; the sender
 * then describes its own in the RTS. A fetch that the transport refuses falls back to the second
 * way, for this peer from then on. The third is for transports over which
 * two processes that write and read in step are faster than one that copies (fm_ep.pushes): a
 * sender that is awake pushes, and one that computes is not waited for.
 */
#include "core/p2p/rndv.h"

#include <stdio.h>

#include "core/p2p/p2p_counters.h"
#include "core/p2p/packet.h"
#include "core/p2p/recv_req.h"
#include "core/p2p/send_req.h"

/* Where pushing is no use now, one message in so many is pushed all the same. */
#define SELDOM 64

static size_t smaller(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

/* Unanswered RTS to one receiver up to which they may have a layout: those that nobody waits for
   stay small. */
#define LAYOUT_WINDOW 64

/* ---- the sender ---- */

/* What an RTS offers. */
struct offer {
    MPI_Count first; /* the memory, from the beginning of the buffer */
    MPI_Count len;
    int n_runs; /* of the layout; 0: the data is all of the memory */
    struct fm_pack_run runs[FM_PACK_RUNS_MAX];
};

/* Few large pieces, not too far apart where the gaps must be exposed with them. */
static bool describe(const struct fm_channel *ch, const struct fm_send_req *s, struct offer *o)
{
    const struct fm_transport *tp = s->peer->ep->tp;
    const struct fm_dtype *t = s->msg.dtype;
    MPI_Count end;

    if (s->peer->n_rts >= LAYOUT_WINDOW ||
        !fm_fetch_pays(ch, tp, s->len, fm_pack_n_pieces(s->msg.count, t))) {
        return false;
    }
    o->n_runs = fm_pack_describe(s->msg.count, t, FM_PACK_RUNS_MAX, o->runs, &o->first, &end);
    o->len = end - o->first;
    for (int k = 0; k < o->n_runs; k++) {
        o->runs[k].off -= o->first;
    }
    return o->n_runs > 0 && (!tp->needs_expose || o->len / 4 <= s->len);
}

static bool may_be_fetched(const struct fm_channel *ch, const struct fm_send_req *s,
                           struct offer *o)
{
    if (!s->peer->ep->tp->has_rma || (uint64_t)s->len < ch->counters->rma_min || s->len == 0) {
        return false;
    }
    if (!s->msg.dtype->is_contig) {
        return describe(ch, s, o);
    }
    o->first = s->msg.dtype->true_lb;
    o->len = s->len;
    o->n_runs = 0;
    return true;
}

/* May the receiver ask that it be pushed (fetch.c)? */
static bool may_be_pushed(const struct fm_peer *peer)
{
    switch (peer->ep->pushes) {
    case FM_PUSH_ALWAYS:
        return true;
    case FM_PUSH_SELDOM:
        return ++peer->q->n_unpushed % SELDOM == 0;
    default:
        return false;
    }
}

/* A key for the receiver to fetch the data with. Without one it will ask for fragments. Returns the
   bytes of o->runs that go with it. */
static size_t offer(struct fm_channel *ch, struct fm_send_req *s, struct fm_wire_rts *h,
                    struct offer *o)
{
    struct fm_transport *tp = s->peer->ep->tp;
    char *addr;

    if (!may_be_fetched(ch, s, o)) {
        return 0;
    }
    addr = (char *)((uintptr_t)s->msg.buf + (uintptr_t)o->first);
    if (tp->needs_expose) {
        if (tp->ops->expose(tp, addr, (size_t)o->len, FM_MEM_READ, FM_MEM_REQUEST, &s->mem) != 0) {
            return 0;
        }
        s->is_exposed = true;
        FM_STAT(fathom_level_add(&ch->counters->exposed_bytes, (int64_t)s->mem.len));
        h->key = s->mem.rkey;
    } else {
        h->key.addr = (uintptr_t)addr;
    }
    h->base.head.flags |= FM_WIRE_HAS_KEY | (may_be_pushed(s->peer) ? FM_WIRE_PUSH : 0);
    return (size_t)o->n_runs * sizeof(o->runs[0]);
}

/* What the receiver takes beyond those that it has not answered. */
static void note_room(struct fm_channel *ch, const struct fm_peer *peer)
{
    uint64_t window = ch->counters->rts_window;
    uint64_t left = peer->n_rts < window ? window - peer->n_rts : 0;

    fathom_level_set(&ch->counters->rts_room, left + peer->rts_extra);
}

static void close_window(struct fm_channel *ch, struct fm_send_req *s)
{
    if (s->is_counted) {
        s->is_counted = false;
        s->peer->n_rts--;
        FM_STAT(fathom_level_add(&ch->counters->rts_waiting, -1));
        FM_STAT(note_room(ch, s->peer));
    }
}

/* Let go of what start() took; the send may end after that. */
static void rndv_abort(struct fm_channel *ch, struct fm_send_req *s)
{
    if (s->is_exposed) {
        struct fm_transport *tp = s->peer->ep->tp;

        tp->ops->unexpose(tp, &s->mem);
        s->is_exposed = false;
        FM_STAT(fathom_level_add(&ch->counters->exposed_bytes, -(int64_t)s->mem.len));
    }
    close_window(ch, s);
}

FM_COLD static int hold_back(struct fm_channel *ch, struct fm_send_req *s)
{
    FM_STAT(ch->counters->n_rts_stalls += !s->is_held);
    s->is_held = true;
    return FM_AGAIN;
}

static void count_rts(struct fm_channel *ch, struct fm_send_req *s)
{
    struct fm_p2p_counters *w = ch->counters;
    struct fm_peer *peer = s->peer;

    peer->n_rts++;
    if (peer->n_rts > w->rts_window) {
        peer->rts_extra--;
    }
    s->is_counted = true;
    FM_STAT(fathom_level_add(&w->rts_waiting, 1));
    FM_STAT(note_room(ch, peer));
    FM_STAT(w->n_rts_sent++);
    FM_STAT(w->n_rndv_sent++);
    FM_STAT(w->rndv_sent_bytes += (uint64_t)s->len);
    FM_STAT(w->reasons[s->reason]++);
    FM_STAT(w->last_reason = s->reason);
    FM_STAT(w->n_stalls += s->reason == FM_REASON_NO_CREDIT);
    FM_STAT(s->start_ns = fm_now_ns());
    if (FM_UNLIKELY(w->on_rts)) {
        fm_p2p_emit(ch, FM_EV_RTS, peer->proc, fm_msg_context(&s->msg), s->msg.tag,
                    (uint64_t)s->len);
    }
    if (FM_UNLIKELY(w->on_flow && s->reason == FM_REASON_NO_CREDIT)) {
        fm_p2p_emit(ch, FM_EV_FLOW, peer->proc, fm_msg_context(&s->msg), s->msg.tag,
                    (uint64_t)s->len);
    }
}

static int rndv_start(struct fm_channel *ch, struct fm_send_req *s)
{
    struct fm_peer *peer = s->peer;
    uint64_t window = ch->counters->rts_window;
    struct fm_wire_rts h = {.len = (uint64_t)s->len};
    struct offer o;
    size_t layout_len;
    int rc;

    if (FM_UNLIKELY(peer->n_rts >= window && peer->rts_extra == 0)) {
        return hold_back(ch, s);
    }
    fm_wire_base_set(&h.base, FM_WIRE_RTS, peer, &s->msg);
    h.sreq = s->id = fm_ids_put(&ch->ids, FM_ID_SEND, s);
    if (FM_UNLIKELY(!s->id)) {
        return fm_fail(-FM_E_NOMEM, "no memory to name a request");
    }
    layout_len = offer(ch, s, &h, &o);
    if (peer->n_rts + 1 >= window && peer->rts_extra <= (peer->n_rts >= window ? 1u : 0u)) {
        h.base.head.flags |= FM_WIRE_LAST;
    }
    rc = fm_ep_send(peer->ep, &h, sizeof(h), o.runs, layout_len);
    if (FM_UNLIKELY(rc != 0)) {
        FM_STAT(ch->counters->n_refused += rc == FM_AGAIN);
        rndv_abort(ch, s);
        fm_ids_drop(&ch->ids, s->id);
        s->id = 0;
        return rc;
    }
    peer->advertised = h.base.head.released;
    s->rreq = 0;
    s->is_pushing = false;
    count_rts(ch, s);
    return 0;
}

/* The receiver has all that it wants, or all of it has left. */
static void finish_send(struct fm_channel *ch, struct fm_send_req *s)
{
#if FM_STATS
    uint64_t ns = fm_now_ns() - s->start_ns;

    ch->counters->rndv_ns += ns;
    ch->counters->n_rndv_done++;
    ch->counters->rndv_latency[fm_hist_bin(ns)]++;
#endif
    if (FM_UNLIKELY(ch->counters->on_data_done)) {
        fm_p2p_emit(ch, FM_EV_DATA_DONE, s->peer->proc, fm_msg_context(&s->msg), s->msg.tag,
                    (uint64_t)s->len);
    }
    rndv_abort(ch, s);
    fm_send_req_done(ch, s);
}

/* Pages of a quarter: with four pieces on the way both sides have something to do. */
static size_t quarter(size_t len)
{
    return (len / 4 + 4095) & ~(size_t)4095;
}

/* Bytes of the next fragment. */
static size_t fragment_len(const struct fm_channel *ch, const struct fm_send_req *s)
{
    const struct fm_transport *tp = s->peer->ep->tp;
    size_t len = tp->max_send - sizeof(struct fm_wire_reply);
    size_t left = (size_t)(s->want - s->pack.at);

    if (tp->piece_len) {
        len = smaller(len, smaller(tp->piece_len, quarter((size_t)s->want)));
    }
    return smaller(left, smaller(len, ch->counters->fragment_len));
}

/* What is not one run is packed right into the transport's room. */
static int send_fragment(struct fm_peer *peer, struct fm_send_req *s, const struct fm_wire_reply *h,
                         size_t len)
{
    struct fm_wire_reply *room;
    int rc;

    if (s->msg.dtype->is_contig) {
        const char *data = (char *)s->msg.buf + s->msg.dtype->true_lb;

        rc = fm_ep_send(peer->ep, h, sizeof(*h), data + h->at, len);
        if (rc == 0) {
            fm_pack_seek(&s->pack, (MPI_Count)(h->at + len));
        }
        return rc;
    }
    rc = peer->ep->ops->reserve(peer->ep, sizeof(*h) + len, (void **)&room);
    if (rc != 0) {
        return rc;
    }
    *room = *h;
    fm_pack_out(&s->pack, room + 1, len);
    return peer->ep->ops->commit(peer->ep, room, sizeof(*h) + len);
}

/* One fragment. */
static int data_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_send_req *s = fm_container_of(out, struct fm_send_req, out);
    struct fm_wire_reply h = {
        .head.kind = FM_WIRE_DATA, .rreq = s->rreq, .at = (uint64_t)s->pack.at};
    int rc;

    fm_wire_head_fill(&h.head, peer);
    rc = send_fragment(peer, s, &h, fragment_len(ch, s));
    if (rc != 0) {
        FM_STAT(ch->counters->n_refused += rc == FM_AGAIN);
        return rc;
    }
    peer->advertised = h.head.released;
    FM_STAT(ch->counters->n_data_sent++);
    if (s->pack.at >= s->want) {
        fm_peer_unwait(ch, peer, out);
        if (!s->is_pushing) {
            finish_send(ch, s);
        }
    }
    return 0;
}

static void data_abort(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_send_req *s = fm_container_of(out, struct fm_send_req, out);
    fm_send_req_lost(ch, s);
}

static int rndv_on_reply(struct fm_channel *ch, struct fm_send_req *s,
                         const struct fm_wire_reply *h)
{
    if (s->rreq != 0 && !(s->is_pushing && h->head.kind == FM_WIRE_FIN)) {
        return fm_fail(-FM_E_PROTO, "it answered an RTS twice");
    }
    if (h->head.kind == FM_WIRE_FIN) {
        finish_send(ch, s);
        return 0;
    }
    if (h->rreq == 0 || h->at == 0 || h->at > (uint64_t)s->len) {
        return fm_fail(-FM_E_PROTO, "it asked for %llu bytes of a message of %lld",
                       (unsigned long long)h->at, (long long)s->len);
    }
    s->rreq = h->rreq;
    s->is_pushing = h->head.flags & FM_WIRE_PUSH;
    if (s->is_pushing) {
        close_window(ch, s);
    } else {
        rndv_abort(ch, s); /* nor is the key needed any more */
    }
    s->want = (MPI_Count)h->at;
    FM_STAT(ch->counters->n_packed_sent += !s->msg.dtype->is_contig);
    FM_STAT(ch->counters->packed_sent_bytes += s->msg.dtype->is_contig ? 0 : h->at);
    fm_pack_begin(&s->pack, s->msg.buf, s->msg.count, s->msg.dtype);
    s->out = (struct fm_out){.emit = data_emit, .abort = data_abort};
    fm_peer_wait(ch, s->peer, &s->out, FM_QUEUE_BULK);
    /* Of what could have been fetched the receiver has told already. */
    if (FM_UNLIKELY(ch->counters->on_data_start) && !s->is_pushing) {
        fm_p2p_emit(ch, FM_EV_DATA_START, s->peer->proc, fm_msg_context(&s->msg), s->msg.tag,
                    h->at);
    }
    return 0;
}

/* ---- the receiver ---- */

/* All is here, and nobody was told. */
static void note_recvd(struct fm_channel *ch, struct fm_recv_req *r)
{
    if (FM_UNLIKELY(ch->counters->on_data_recvd)) {
        fm_p2p_emit(ch, FM_EV_DATA_RECVD, r->peer->proc, fm_msg_context(&r->msg), r->req.status.tag,
                    (uint64_t)r->want);
    }
}

static void finish_recv(struct fm_channel *ch, struct fm_recv_req *r)
{
    FM_STAT(ch->counters->n_rndv_recvd++);
    FM_STAT(ch->counters->rndv_recvd_bytes += (uint64_t)r->want);
    fm_recv_req_done(ch, r);
}

static void fetched(struct fm_channel *ch, struct fm_recv_req *r)
{
    note_recvd(ch, r);
    fm_recv_req_synced(ch, r->peer->proc, r->sreq);
    finish_recv(ch, r);
}

static void ask(struct fm_channel *ch, struct fm_recv_req *r, bool is_pushed)
{
    struct fm_wire_reply h = {.head.kind = FM_WIRE_CTS, .sreq = r->sreq, .at = (uint64_t)r->want};

    h.rreq = r->id = fm_ids_put(&ch->ids, FM_ID_RECV, r);
    if (!r->id) {
        fm_channel_fail(ch, -FM_E_NOMEM, "no memory to name a request");
        return;
    }
    r->got = 0;
    r->is_pushed = is_pushed;
    fm_pack_begin(&r->pack, r->msg.buf, r->msg.count, r->msg.dtype);
    FM_STAT(ch->counters->n_unpacked_recvd += !r->msg.dtype->is_contig);
    FM_STAT(ch->counters->unpacked_recvd_bytes += r->msg.dtype->is_contig ? 0 : (uint64_t)r->want);
    FM_STAT(ch->counters->n_cts_sent++);
    h.head.flags = is_pushed ? FM_WIRE_PUSH : 0;
    fm_packet_answer(ch, r->peer, &h);
}

int fm_rndv_data(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_wire_reply *h,
                 const void *data, size_t len)
{
    if (FM_UNLIKELY(len == 0 || h->at != (uint64_t)r->got || len > (size_t)(r->want - r->got))) {
        return fm_fail(-FM_E_PROTO, "it sent %zu bytes at %llu of a message of %lld", len,
                       (unsigned long long)h->at, (long long)r->want);
    }
    fm_pack_in(&r->pack, data, len);
    r->peer->q->n_data++;
    r->got += (MPI_Count)len;
    if (r->got == r->want && !fm_fetch_covered(r)) {
        if (r->is_pushed) {
            fetched(ch, r);
        } else {
            note_recvd(ch, r);
            finish_recv(ch, r);
        }
    }
    return 0;
}

static const struct fm_fetch_user fetch_user = {.ask = ask, .done = fetched};

int fm_rndv_receive(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_rts *rts)
{
    struct fm_peer *peer;
    int rc = fm_peer_resolve(ch, r->peer->proc, &peer);

    r->sreq = rts->sreq;
    if (rc != 0) {
        char why[320];

        snprintf(why, sizeof(why), "%s", fm_why());
        fm_recv_req_fail(ch, r, MPI_ERR_PROC_ABORTED, why);
        return rc;
    }
    if (r->want == 0) {
        fetched(ch, r);
    } else if (!fm_fetch_start(ch, r, rts, &fetch_user)) {
        ask(ch, r, false);
    }
    return 0;
}

const struct fm_proto fm_rndv = {
    .name = "rndv",
    .start = rndv_start,
    .on_reply = rndv_on_reply,
    .cancel = fm_send_req_ask_cancel,
    .abort = rndv_abort,
};
