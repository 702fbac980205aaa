/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages over libfabric: send, completion queue, receive buffers.
 *
 * A send takes its number in the stream when it is accepted for good: injected, handed to the
 * provider, or put into the queue of committed rooms that the provider refused (`waiting`). While
 * that queue is not empty, nothing else is accepted.
 *
 * Providers may queue injected messages without bound when the peer does not receive (tcp does). So
 * after INJECTS_MAX of them one message, the mark, is sent with a completion; while it is in flight
 * at most as many again are injected, then sends are refused. Every send with a completion serves
 * as a mark.
 */
#include <stdlib.h>
#include <string.h>

#include "transport/ofi/ofi.h"
#include "util/sync.h"

#define INJECTS_MAX 512

/* How long a flush may be refused at close while nothing else moves; see fm_ofi_drain(). */
#define QUIET_NS UINT64_C(20000000)

static struct fm_ofi *ofi_of(struct fm_transport *tp)
{
    return fm_container_of(tp, struct fm_ofi, tp);
}

static size_t wire_len(size_t len)
{
    return ((len + 7) & ~(size_t)7) + sizeof(struct fm_ofi_tail);
}

/* Put padding and tail behind len bytes at `wire`; returns the length on the wire. */
static size_t seal(const struct fm_ofi_ep *e, char *wire, size_t len)
{
    static const char zeros[8];
    size_t pad = -len & 7;
    struct fm_ofi_tail tail = {
        .stream = e->stream, .seq = e->seq, .sender_pad = e->sender | (uint32_t)pad};

    memcpy(wire + len, zeros, sizeof(zeros)); /* what is not padding the tail covers */
    memcpy(wire + len + pad, &tail, sizeof(tail));
    return len + pad + sizeof(tail);
}

FM_COLD static void connected(struct fm_ofi_ep *e)
{
    struct fm_ofi *ofi = ofi_of(e->ep.tp);
    uint64_t peer = (uint64_t)e->ep.peer;

    e->is_up = true;
    FM_STAT(ofi->w->n_connections++);
    if (ofi->w->on_connected) {
        fathom_mpit_emit(&fm_ofi_events[FM_OFI_CONNECTED], ofi->w, NULL, &peer);
    }
}

/* A message of len bytes was accepted for good. */
static inline void accepted(struct fm_ofi_ep *e, size_t len)
{
    struct fm_ofi *ofi = ofi_of(e->ep.tp);

    e->seq++;
    e->needs_flush = ofi->has_flush;
    FM_STAT(ofi->w->n_sends++);
    FM_STAT(ofi->w->bytes_sent += len);
    if (FM_UNLIKELY(!e->is_up)) {
        connected(e);
    }
}

void fm_ofi_fail_peer(struct fm_ofi_ep *e, const char *why)
{
    struct fm_sink *sink = &e->ep.tp->sink;

    if (e->is_dead) {
        return;
    }
    e->is_dead = true;
    /* While we close, that a peer has closed before us is no news. */
    if (!ofi_of(e->ep.tp)->is_closing) {
        sink->failed(sink->ctx, e->ep.peer, why);
    }
}

/* The provider did not take it: FM_AGAIN, or the end of the peer. */
FM_COLD static int refused(struct fm_ofi_ep *e, ssize_t rc)
{
    struct fm_ofi *ofi = ofi_of(e->ep.tp);
    int peer = e->ep.peer;
    const char *why;

    if (rc == -FI_EAGAIN) {
        FM_STAT(ofi->w->n_again++);
        ofi->was_refused = true;
        return FM_AGAIN;
    }
    why = ofi->lib->strerror((int)-rc);
    fm_ofi_fail_peer(e, why); /* may disconnect: `e` can be gone after it */
    return fm_fail(-FM_E_PEER, "cannot send to process %d: %s", peer, why);
}

/* send() may not go ahead: dead peer, others wait already, or too much is under way. */
FM_COLD static int held_back(struct fm_ofi_ep *e)
{
    if (e->is_dead) {
        return fm_fail(-FM_E_PEER, "process %d cannot be reached any more", e->ep.peer);
    }
    FM_STAT(ofi_of(e->ep.tp)->w->n_again++);
    return FM_AGAIN;
}

FM_COLD static void exhausted(struct fm_ofi *ofi)
{
    uint64_t n = ofi->n_bounces;

    FM_STAT(ofi->w->n_exhausted++);
    if (ofi->w->on_exhausted) {
        fathom_mpit_emit(&fm_ofi_events[FM_OFI_EXHAUSTED], ofi->w, NULL, &n);
    }
}

static struct fm_ofi_bounce *bounce_get(struct fm_ofi *ofi)
{
    struct fm_ofi_bounce *b = ofi->bounce_free;

    if (FM_UNLIKELY(!b)) {
        exhausted(ofi);
        return NULL;
    }
    ofi->bounce_free = b->next;
    b->is_mark = false;
    FM_STAT(fathom_level_add(&ofi->w->bounce_used, 1));
    return b;
}

static void bounce_put(struct fm_ofi *ofi, struct fm_ofi_bounce *b)
{
    b->next = ofi->bounce_free;
    ofi->bounce_free = b;
    FM_STAT(fathom_level_add(&ofi->w->bounce_used, -1));
}

/* Hand a sealed buffer to the provider. 0 or libfabric's refusal. */
static ssize_t bounce_post(struct fm_ofi *ofi, struct fm_ofi_bounce *b)
{
    void *desc = ofi->send_mr ? fi_mr_desc(ofi->send_mr) : NULL;
    ssize_t rc = fi_send(ofi->fi_ep, b->buf, b->wire_len, desc, b->ep->addr, &b->op.ctx);

    if (FM_LIKELY(rc == 0)) {
        b->ep->n_flying++;
    }
    return rc;
}

/* A send with a completion was accepted: let it be the mark if there is none. */
static inline void mark(struct fm_ofi_ep *e, struct fm_ofi_bounce *b)
{
    if (!e->has_mark) {
        b->is_mark = true;
        e->has_mark = true;
        e->n_injected = 0;
    }
}

static int send_inject(struct fm_ofi_ep *e, const void *head, size_t head_len, const void *body,
                       size_t body_len)
{
    struct fm_ofi *ofi = ofi_of(e->ep.tp);
    char *wire = ofi->scratch;
    ssize_t rc;

    memcpy(wire, head, head_len);
    if (body_len) {
        memcpy(wire + head_len, body, body_len);
    }
    rc = fi_inject(ofi->fi_ep, wire, seal(e, wire, head_len + body_len), e->addr);
    if (FM_UNLIKELY(rc)) {
        return refused(e, rc);
    }
    e->n_injected++;
    FM_STAT(ofi->w->n_injects++);
    accepted(e, head_len + body_len);
    return 0;
}

int fm_ofi_send(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                size_t body_len)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);
    struct fm_ofi *ofi = ofi_of(ep->tp);
    size_t len = head_len + body_len;
    struct fm_ofi_bounce *b;
    ssize_t rc;

    if (FM_UNLIKELY(e->is_dead || ofi->waiting)) {
        return held_back(e);
    }
    if (wire_len(len) <= ofi->inject_len) {
        if (FM_LIKELY(e->n_injected < INJECTS_MAX)) {
            return send_inject(e, head, head_len, body, body_len);
        }
        if (e->has_mark) {
            return held_back(e);
        }
    }
    fm_assert(len <= ep->tp->max_send);
    b = bounce_get(ofi);
    if (!b) {
        return FM_AGAIN;
    }
    memcpy(b->buf, head, head_len);
    if (body_len) {
        memcpy(b->buf + head_len, body, body_len);
    }
    b->wire_len = seal(e, b->buf, len);
    b->ep = e;
    rc = bounce_post(ofi, b);
    if (FM_UNLIKELY(rc)) {
        bounce_put(ofi, b);
        return refused(e, rc);
    }
    mark(e, b);
    accepted(e, len);
    return 0;
}

int fm_ofi_reserve(struct fm_ep *ep, size_t len, void **out_room)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);
    struct fm_ofi *ofi = ofi_of(ep->tp);
    struct fm_ofi_bounce *b;

    fm_assert(len <= ep->tp->max_send);
    if (FM_UNLIKELY(e->is_dead || ofi->waiting)) {
        return held_back(e);
    }
    b = bounce_get(ofi);
    if (!b) {
        return FM_AGAIN;
    }
    ofi->reserved = b;
    *out_room = b->buf;
    return 0;
}

/* The provider has no room for what must be taken: keep it until it has. */
FM_COLD static void wait_for_provider(struct fm_ofi *ofi, struct fm_ofi_bounce *b)
{
    FM_STAT(ofi->w->n_again++);
    b->ep->n_flying++; /* the queue names the endpoint */
    b->next = NULL;
    *ofi->waiting_end = b;
    ofi->waiting_end = &b->next;
}

int fm_ofi_commit(struct fm_ep *ep, void *room, size_t len)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);
    struct fm_ofi *ofi = ofi_of(ep->tp);
    struct fm_ofi_bounce *b = ofi->reserved;
    ssize_t rc;

    fm_assert(b && room == b->buf);
    (void)room;
    ofi->reserved = NULL;
    if (len == 0) {
        bounce_put(ofi, b);
        return 0;
    }
    b->ep = e;
    b->wire_len = seal(e, b->buf, len);
    rc = bounce_post(ofi, b);
    if (FM_UNLIKELY(rc == -FI_EAGAIN)) {
        wait_for_provider(ofi, b);
    } else if (FM_UNLIKELY(rc)) {
        bounce_put(ofi, b);
        return refused(e, rc);
    }
    mark(e, b);
    accepted(e, len);
    return 0;
}

/* Hand over what waits, oldest first, until the provider refuses again. */
FM_COLD static void resume_waiting(struct fm_ofi *ofi)
{
    while (ofi->waiting) {
        struct fm_ofi_bounce *b = ofi->waiting;
        struct fm_ofi_ep *e = b->ep;
        ssize_t rc = e->is_dead ? -FI_ECONNABORTED : bounce_post(ofi, b);

        if (rc == -FI_EAGAIN) {
            return;
        }
        ofi->waiting = b->next;
        if (!ofi->waiting) {
            ofi->waiting_end = &ofi->waiting;
        }
        if (rc) {
            bounce_put(ofi, b);
            fm_ofi_fail_peer(e, ofi->lib->strerror((int)-rc));
        }
        fm_ofi_ep_landed(e);
    }
}

FM_COLD static void malformed(struct fm_ofi *ofi)
{
    FM_STAT(ofi->w->n_malformed++);
}

FM_COLD static void foreign(struct fm_ofi *ofi)
{
    FM_STAT(ofi->w->n_foreign++);
}

static void hand_up(struct fm_ofi *ofi, const void *data, size_t len)
{
    FM_STAT(ofi->w->n_recvs++);
    FM_STAT(ofi->w->bytes_received += len);
    ofi->tp.sink.deliver(ofi->tp.sink.ctx, data, len);
}

/* Not the message whose turn it is: keep it, or drop what no correct peer sends. */
FM_COLD static void out_of_turn(struct fm_ofi *ofi, struct fm_ofi_stream *s, uint32_t seq,
                                const void *data, size_t len)
{
    if (fm_ofi_order_keep(&ofi->order, s, seq, data, len)) {
        malformed(ofi);
        return;
    }
    FM_STAT(ofi->w->n_early++);
    FM_STAT(fathom_level_set(&ofi->w->early_bytes, ofi->order.early_len));
}

FM_COLD static void hand_up_early(struct fm_ofi *ofi, uint64_t stream)
{
    struct fm_ofi_early *early;

    while ((early = fm_ofi_order_take(&ofi->order, stream))) {
        hand_up(ofi, early->data, early->len);
        free(early);
    }
    FM_STAT(fathom_level_set(&ofi->w->early_bytes, ofi->order.early_len));
}

/* `wire` bytes have arrived at `data` (8-byte aligned). Nothing about them can be trusted. */
static void arrived(struct fm_ofi *ofi, const char *data, size_t wire)
{
    struct fm_ofi_tail tail;
    struct fm_ofi_stream *s;
    size_t len;

    if (FM_UNLIKELY(wire == 0 || ofi->is_closing)) {
        return; /* a peer's flush, or the transport is closing */
    }
    if (FM_UNLIKELY(wire % 8 || wire < sizeof(tail) + 8 || wire > ofi->slot_len)) {
        malformed(ofi);
        return;
    }
    memcpy(&tail, data + wire - sizeof(tail), sizeof(tail));
    s = fm_ofi_order_find(&ofi->order, tail.stream, tail.sender_pad >> 3);
    if (FM_UNLIKELY(!s)) {
        foreign(ofi);
        return;
    }
    len = wire - sizeof(tail) - (tail.sender_pad & 7);
    if (FM_UNLIKELY(tail.seq != s->next)) {
        out_of_turn(ofi, s, tail.seq, data, len);
        return;
    }
    s->next++;
    if (FM_UNLIKELY(s->early != NULL)) {
        hand_up(ofi, data, len);
        hand_up_early(ofi, tail.stream);
        return;
    }
    hand_up(ofi, data, len);
}

static ssize_t slot_post(struct fm_ofi *ofi, struct fm_ofi_slot *slot)
{
    void *desc = ofi->recv_mr ? fi_mr_desc(ofi->recv_mr) : NULL;

    return fi_recv(ofi->fi_ep, slot->buf, ofi->slot_len, desc, FI_ADDR_UNSPEC, &slot->op.ctx);
}

static void count_posted(struct fm_ofi *ofi)
{
    fathom_level_set(&ofi->w->recv_posted, ofi->n_slots - ofi->n_unposted);
}

static int post_all(struct fm_ofi *ofi)
{
    for (size_t k = 0; k < ofi->n_slots && ofi->n_unposted; k++) {
        struct fm_ofi_slot *slot = &ofi->slots[k];
        ssize_t rc;

        if (slot->is_posted) {
            continue;
        }
        rc = slot_post(ofi, slot);
        if (rc == -FI_EAGAIN) {
            return 0;
        }
        if (rc) {
            return fm_fail(-FM_E_SYSTEM, "libfabric provider %s takes no receive buffer: %s",
                           ofi->info->fabric_attr->prov_name, ofi->lib->strerror((int)-rc));
        }
        slot->is_posted = true;
        ofi->n_unposted--;
    }
    return 0;
}

int fm_ofi_post(struct fm_ofi *ofi)
{
    int rc = post_all(ofi);

    FM_STAT(count_posted(ofi));
    return rc;
}

/* The buffer is empty again. A refusal is no harm: poll() tries again. */
static void slot_repost(struct fm_ofi *ofi, struct fm_ofi_slot *slot)
{
    if (FM_UNLIKELY(slot_post(ofi, slot) != 0)) {
        slot->is_posted = false;
        ofi->n_unposted++;
        FM_STAT(count_posted(ofi));
    }
}

/* An operation is complete; `len` is that of a received message. */
static void landed(struct fm_ofi *ofi, struct fm_ofi_op *op, size_t len)
{
    switch (op->kind) {
    case FM_OFI_RECV: {
        struct fm_ofi_slot *slot = fm_container_of(op, struct fm_ofi_slot, op);

        arrived(ofi, slot->buf, len);
        slot_repost(ofi, slot);
        break;
    }
    case FM_OFI_SEND: {
        struct fm_ofi_bounce *b = fm_container_of(op, struct fm_ofi_bounce, op);
        struct fm_ofi_ep *e = b->ep;

        e->has_mark &= !b->is_mark;
        bounce_put(ofi, b);
        fm_ofi_ep_landed(e);
        break;
    }
    case FM_OFI_FLUSH:
        fm_ofi_ep_landed(fm_container_of(op, struct fm_ofi_ep, flush));
        break;
    case FM_OFI_RMA:
        fm_ofi_rma_landed(ofi, fm_container_of(op, struct fm_ofi_transfer, op), 0);
        break;
    }
}

/* An operation has ended badly. Returns the endpoint that it names, NULL for none. */
static struct fm_ofi_ep *crashed(struct fm_ofi *ofi, struct fm_ofi_op *op, int err)
{
    struct fm_ofi_ep *e = NULL;

    switch (op->kind) {
    case FM_OFI_RECV:
        if (err != FI_ECANCELED) {
            malformed(ofi); /* FI_ETRUNC: longer than any message of ours */
            slot_repost(ofi, fm_container_of(op, struct fm_ofi_slot, op));
        }
        return NULL;
    case FM_OFI_SEND: {
        struct fm_ofi_bounce *b = fm_container_of(op, struct fm_ofi_bounce, op);

        e = b->ep;
        bounce_put(ofi, b);
        break;
    }
    case FM_OFI_FLUSH:
        e = fm_container_of(op, struct fm_ofi_ep, flush);
        break;
    case FM_OFI_RMA:
        fm_ofi_rma_landed(ofi, fm_container_of(op, struct fm_ofi_transfer, op), err);
        return NULL;
    }
    if (err != FI_ECANCELED) {
        fm_ofi_fail_peer(e, ofi->lib->strerror(err));
    }
    return e;
}

/* Reading the queue gave `rc`: an entry of the error queue, or the end of all. */
FM_COLD static int cq_error(struct fm_ofi *ofi, ssize_t rc)
{
    struct fi_cq_err_entry err = {0};
    struct fm_ofi_ep *e = NULL;
    uint64_t values[3] = {UINT64_MAX, 0, 0};

    if (rc == -FI_EAVAIL) {
        rc = fi_cq_readerr(ofi->cq, &err, 0);
    }
    if (rc == -FI_EAGAIN) {
        return 0;
    }
    if (rc < 0) {
        return fm_fail(-FM_E_SYSTEM, "libfabric provider %s cannot read its completions: %s",
                       ofi->info->fabric_attr->prov_name, ofi->lib->strerror((int)-rc));
    }
    FM_STAT(ofi->w->n_cq_errors++);
    if (err.op_context) { /* an injected message has none, so its peer is not known */
        e = crashed(ofi, err.op_context, err.err);
    }
    if (ofi->w->on_cq_error) {
        values[0] = e ? (uint64_t)e->ep.peer : UINT64_MAX;
        values[1] = (uint64_t)err.err;
        values[2] = (uint64_t)err.prov_errno;
        fathom_mpit_emit(&fm_ofi_events[FM_OFI_CQ_ERROR], ofi->w, NULL, values);
    }
    if (e) {
        fm_ofi_ep_landed(e);
    }
    return 1;
}

/* What the provider refused earlier. */
FM_COLD static int retry(struct fm_ofi *ofi)
{
    resume_waiting(ofi);
    if (!fm_list_is_empty(&ofi->transfers_waiting)) {
        fm_ofi_rma_resume(ofi);
    }
    return ofi->n_unposted ? fm_ofi_post(ofi) : 0;
}

int fm_ofi_poll(struct fm_transport *tp)
{
    struct fm_ofi *ofi = ofi_of(tp);
    struct fi_cq_msg_entry entries[FM_OFI_CQ_MAX];
    ssize_t n = fi_cq_read(ofi->cq, entries, ofi->cq_batch);
    int rc;

    FM_STAT(ofi->w->n_cq_reads++);
    if (FM_LIKELY(n > 0)) {
        FM_STAT(ofi->w->n_cq_entries += (uint64_t)n);
        for (ssize_t k = 0; k < n; k++) {
            landed(ofi, entries[k].op_context, entries[k].len);
        }
    } else if (FM_LIKELY(n == -FI_EAGAIN)) {
        n = 0;
    } else {
        n = cq_error(ofi, n);
    }
    if (FM_UNLIKELY(ofi->waiting || ofi->n_unposted ||
                    !fm_list_is_empty(&ofi->transfers_waiting))) {
        rc = retry(ofi);
        n = rc < 0 && n >= 0 ? rc : n;
    }
    return (int)n;
}

/*
 * What has a completion is waited for. An injected message has none, so a flush goes behind the
 * last message, whose completion says that all before it has left. (Not FI_TRANSMIT_COMPLETE:
 * providers over TCP make an answer of the peer out of that, and the peer may not be listening.)
 * Where the peer is closed already, some providers refuse the flush for ever (they try to connect
 * anew); so it is given up when only refused ones are left and nothing has happened for a while.
 */
void fm_ofi_drain(struct fm_ofi *ofi, uint64_t ms)
{
    uint64_t now = fm_now_ns();
    uint64_t until = now + ms * 1000000, quiet = now + QUIET_NS;

    for (int n = 0; now < until && n >= 0; now = fm_now_ns()) {
        bool is_refused = false;
        bool is_busy = ofi->waiting || !fm_list_is_empty(&ofi->transfers_flying) ||
                       !fm_list_is_empty(&ofi->transfers_waiting);

        fm_list_each(l, next, &ofi->eps)
        {
            struct fm_ofi_ep *e = fm_container_of(l, struct fm_ofi_ep, link);

            is_refused |= !fm_ofi_flush(e);
            is_busy |= e->n_flying > 0;
        }
        quiet = n > 0 || is_busy ? now + QUIET_NS : quiet;
        if (!is_busy && !(is_refused && now < quiet)) {
            return;
        }
        n = fm_ofi_poll(&ofi->tp);
    }
}
