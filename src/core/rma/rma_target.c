/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target's side of active messages. Nothing that an origin sends is trusted: what is not in the
 * window is answered with an error, what no origin may send fails it.
 */
#include "core/rma/rma_target.h"

#include <stdlib.h>
#include <string.h>

#include "core/dtype/dtype_make.h"
#include "core/dtype/op_kernels.h"
#include "core/object/errhandler.h"
#include "core/p2p/channel.h"
#include "core/p2p/hook.h"
#include "core/rma/rma_acc.h"
#include "core/rma/rma_wire.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

/* The answer to a packet; at most one packet, as the origin has seen to. */
struct answer {
    struct fm_out out; /* waits for room */
    size_t len, cap;
    char data[] FM_ALIGNED(8);
};

/* A packet that is being carried out. */
struct serving {
    struct fm_channel *ch;
    struct fm_peer *peer;
    struct fm_win *w;
    struct fm_win_target *own;
    const struct fm_rma_packet *packet;
    const char *at, *past; /* what is left of it */
    struct answer *answer; /* NULL: none yet */
};

static int violation(const char *what)
{
    return fm_fail(-FM_E_PROTO, "it sent a one-sided operation that none may send: %s", what);
}

/* ---- answers ---- */

static int answer_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct answer *a = fm_container_of(out, struct answer, out);
    int rc = fm_packet_emit(ch, peer, (struct fm_wire_head *)a->data, a->len, NULL, 0);

    if (rc == 0) {
        fm_peer_unwait(ch, peer, out);
        free(a);
    }
    return rc;
}

static void answer_abort(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    fm_peer_unwait(ch, peer, out);
    free(fm_container_of(out, struct answer, out));
}

static int begin_answer(struct serving *s)
{
    size_t cap = s->peer->ep->tp->max_send & ~(size_t)7;
    size_t most = sizeof(struct fm_rma_packet) + 4096 + (size_t)(s->past - (const char *)s->packet);
    struct answer *a;

    most += s->packet->owed < cap ? s->packet->owed : cap;
    cap = FM_RMA_PAD(most) < cap ? FM_RMA_PAD(most) : cap;
    a = malloc(sizeof(*a) + cap);
    if (!a) {
        return fm_channel_fail(s->ch, -FM_E_NOMEM, "no memory to answer process %d", s->peer->proc);
    }
    a->out = (struct fm_out){.emit = answer_emit, .abort = answer_abort};
    a->cap = cap;
    a->len = sizeof(struct fm_rma_packet);
    *(struct fm_rma_packet *)a->data = (struct fm_rma_packet){.head.kind = FM_RMA_PACKET_REPLY,
                                                              .context = s->w->comm->context,
                                                              .source = s->w->comm->rank,
                                                              .owed = s->packet->owed};
    s->answer = a;
    return 0;
}

/* A record with room for `len` bytes behind it; NULL: there is none. */
static struct fm_rma_rec *add_answer(struct serving *s, int kind, uint64_t id, size_t len)
{
    size_t need = sizeof(struct fm_rma_rec) + FM_RMA_PAD(len);
    struct fm_rma_rec *r;

    if ((!s->answer && begin_answer(s) != 0) || s->answer->cap - s->answer->len < need) {
        return NULL;
    }
    r = (struct fm_rma_rec *)(s->answer->data + s->answer->len);
    *r = (struct fm_rma_rec){.kind = (uint8_t)kind, .id = id, .len = (uint32_t)len};
    s->answer->len += need;
    return r;
}

static int send_answer(struct serving *s)
{
    struct answer *a = s->answer;
    int rc = fm_packet_send(s->ch, s->peer, (struct fm_wire_head *)a->data, a->len, NULL, 0);

    FM_STAT(fm_rma_counters->n_replies_sent++);
    if (rc == FM_AGAIN) {
        fm_packet_queue(s->ch, s->peer, &a->out);
        return 0;
    }
    free(a);
    return 0; /* a failure has been dealt with: the peer is gone */
}

/* The operation is refused: its origin hears of it when it synchronizes. */
static int refuse(struct serving *s, const struct fm_rma_rec *rec, int error)
{
    struct fm_rma_rec *r = add_answer(s, FM_RMA_REC_ERROR, rec->id, 0);

    if (r) {
        r->at = (uint64_t)error;
    }
    return 0;
}

/* ---- spans ---- */

static bool is_in_window(const struct serving *s, uint64_t at, uint64_t len)
{
    if (s->w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        return fm_win_is_attached(s->w, at, len);
    }
    return at <= (uint64_t)s->own->size && len <= (uint64_t)s->own->size - at;
}

/* The next span, and its data of data_len bytes per byte of it. NULL: the packet is too short. */
static const struct fm_rma_span *next_span(struct serving *s, unsigned n_copies,
                                           const char **out_data)
{
    const struct fm_rma_span *span = (const struct fm_rma_span *)s->at;
    size_t left = (size_t)(s->past - s->at);

    if (left < sizeof(*span) || (n_copies && span->len > (left - sizeof(*span)) / n_copies)) {
        return NULL;
    }
    if (n_copies && FM_RMA_PAD(span->len * n_copies) > left - sizeof(*span)) {
        return NULL;
    }
    *out_data = (const char *)(span + 1);
    s->at = *out_data + (n_copies ? FM_RMA_PAD(span->len * n_copies) : 0);
    return span;
}

static int serve_put(struct serving *s, const struct fm_rma_rec *rec)
{
    bool is_bad = false;
    const char *data;

    for (uint32_t k = 0; k < rec->n_spans; k++) {
        const struct fm_rma_span *span = next_span(s, 1, &data);

        if (!span) {
            return violation("a put without its data");
        }
        if (is_in_window(s, span->at, span->len)) {
            memcpy(fm_win_at(s->own, span->at), data, (size_t)span->len);
        } else {
            is_bad = true;
        }
    }
    return is_bad ? refuse(s, rec, MPI_ERR_RMA_RANGE) : 0;
}

/* Bytes of all spans of a record without data. -1: more than a packet holds. */
static int64_t bytes_wanted(const struct serving *s, const struct fm_rma_rec *rec,
                            unsigned n_copies)
{
    struct serving ahead = *s;
    uint64_t sum = 0;
    const char *data;

    for (uint32_t k = 0; k < rec->n_spans; k++) {
        const struct fm_rma_span *span = next_span(&ahead, n_copies, &data);

        if (!span || span->len > INT32_MAX || (sum += span->len) > INT32_MAX) {
            return -1;
        }
    }
    return (int64_t)sum;
}

static int serve_get(struct serving *s, const struct fm_rma_rec *rec)
{
    int64_t len = bytes_wanted(s, rec, 0);
    struct fm_rma_rec *r;
    bool is_bad = false;
    const char *none;
    char *to;

    if (len < 0 || !(r = add_answer(s, FM_RMA_REC_DATA, rec->id, (size_t)len))) {
        return violation("a get of more than a message holds");
    }
    r->at = rec->at;
    to = (char *)(r + 1);
    for (uint32_t k = 0; k < rec->n_spans; k++) {
        const struct fm_rma_span *span = next_span(s, 0, &none);

        if (is_in_window(s, span->at, span->len)) {
            memcpy(to, fm_win_at(s->own, span->at), (size_t)span->len);
        } else {
            is_bad = true;
        }
        to += span->len;
    }
    if (is_bad) { /* in the place of the data */
        s->answer->len = (size_t)((char *)r - s->answer->data);
        return refuse(s, rec, MPI_ERR_RMA_RANGE);
    }
    return 0;
}

/* ---- accumulates ---- */

static struct fm_dtype *named(uint16_t handle)
{
    return handle < FM_HANDLE_RESERVED ? fm_dtype_get((MPI_Datatype)(uintptr_t)handle) : NULL;
}

/* NULL: none is named so. */
static const struct fm_dtype *find_element(const struct fm_rma_rec *rec)
{
    struct fm_dtype *t = named(rec->elem), *index = named(rec->index), *pair = NULL;

    if (!t || rec->index == 0) {
        return t;
    }
    return index && fm_dtype_value_index(t, index, &pair) == 0 ? pair : NULL;
}

/* 0 or -FM_E_PROTO. */
static int find_update(const struct fm_rma_rec *rec, struct fm_acc *out)
{
    const struct fm_dtype *elem = find_element(rec);

    *out = (struct fm_acc){.elem = elem};
    if (!elem || elem->size <= 0 || elem->elem != elem) {
        return violation("an accumulate of no predefined datatype");
    }
    if (rec->kind == FM_RMA_REC_CAS) {
        return elem->pair || elem->size > 16 ? violation("a swap of such elements") : 0;
    }
    out->op = fm_op_get((MPI_Op)(uintptr_t)rec->op);
    if (!out->op || !out->op->is_predefined || fm_op_check_rma(out->op, elem) != 0) {
        return violation("an accumulate by no predefined operation");
    }
    return 0;
}

/* One span of elements. `out`: where what was there goes; NULL: not wanted. 1: not in the
   window. */
static int update(struct serving *s, struct fm_acc *a, const struct fm_rma_span *span,
                  const char *data, char *out)
{
    size_t elem_len = (size_t)a->elem->size;
    struct fm_acc_run run = {span->at, (size_t)span->len / elem_len, data, out};
    uint64_t extent = a->elem->pair ? (uint64_t)a->elem->true_extent : span->len;

    if (span->len == 0 || span->len % elem_len || (a->elem->pair && run.n != 1)) {
        return violation("an accumulate of parts of elements");
    }
    if (!is_in_window(s, span->at, extent)) {
        return 1;
    }
    if (!a->op) {
        if (run.n != 1) {
            return violation("a swap of several elements");
        }
        a->compare = data;
        run.in = data + elem_len;
    }
    return fm_acc_apply(s->w, s->own, a, &run);
}

static unsigned copies_of(const struct fm_rma_rec *rec, const struct fm_acc *a)
{
    if (rec->kind == FM_RMA_REC_CAS) {
        return 2;
    }
    return rec->kind == FM_RMA_REC_GET_ACC && a->op->id == FM_OP_NO_OP ? 0 : 1;
}

static int serve_update(struct serving *s, const struct fm_rma_rec *rec)
{
    struct fm_rma_rec *r = NULL;
    struct fm_acc a;
    int rc = find_update(rec, &a);
    unsigned n_copies = rc ? 0 : copies_of(rec, &a);
    bool is_bad = false;
    char *out = NULL;

    if (rc == 0 && rec->kind != FM_RMA_REC_ACC) {
        int64_t len = bytes_wanted(s, rec, n_copies);

        r = len < 0 ? NULL : add_answer(s, FM_RMA_REC_DATA, rec->id, (size_t)len);
        if (!r) {
            return violation("an accumulate that fetches more than a message holds");
        }
        r->at = rec->at;
        out = (char *)(r + 1);
    }
    for (uint32_t k = 0; k < rec->n_spans && rc >= 0; k++) {
        const char *data;
        const struct fm_rma_span *span = next_span(s, n_copies, &data);

        rc = span ? update(s, &a, span, data, out) : violation("an accumulate without its data");
        is_bad |= rc > 0;
        out = out && span ? out + span->len : NULL;
    }
    if (rc >= 0 && is_bad) {
        s->answer->len = r ? (size_t)((char *)r - s->answer->data) : s->answer->len;
        return refuse(s, rec, MPI_ERR_RMA_RANGE);
    }
    return rc < 0 ? rc : 0;
}

/* ---- our lock, for origins of other hosts ---- */

struct wish {
    struct fm_list link; /* in w->lock_queue, in the order of tickets */
    int rank;
    uint32_t ticket;
    uint64_t id;
    bool is_exclusive;
};

static int send_grant(struct fm_win *w, const struct wish *x, int error)
{
    struct {
        struct fm_rma_packet packet;
        struct fm_rma_rec rec;
    } m = {{.head.kind = FM_RMA_PACKET_REPLY, .context = w->comm->context, .source = w->comm->rank},
           {.kind = FM_RMA_REC_GRANT, .id = x->id, .at = (uint64_t)error}};
    struct fm_peer *peer;
    int rc = fm_peer_resolve(w->comm->ch, w->targets[x->rank].proc, &peer);

    return rc ? rc : fm_packet_post(w->comm->ch, peer, &m.packet.head, sizeof(m));
}

static void end_wish(struct fm_win *w, struct wish *x, int error)
{
    fm_list_remove(&x->link);
    send_grant(w, x, error); /* who is gone needs none */
    free(x);
}

/* Whoever unlocks, on this host, must wake this process while others wait for its lock here. */
static void watch(struct fm_win *w, bool is_watching)
{
    if (is_watching == fm_hook_is_added(&w->lock_hook)) {
        return;
    }
    fm_win_sleep_on(w->own, is_watching);
    fm_win_sleep(w->own, is_watching);
    if (is_watching) {
        fm_hook_add(w->comm->ch, &w->lock_hook);
    } else {
        fm_hook_remove(w->comm->ch, &w->lock_hook);
    }
}

static bool is_served(const struct fm_win *w, const struct wish *x)
{
    return x->is_exclusive ? fm_win_may_write(w->own, x->ticket)
                           : fm_win_may_read(w->own, x->ticket);
}

/* A process that has ended holds the lock, or waits for it: all others get an error. */
static void look_for_lost(struct fm_win *w)
{
    for (int r = 0; r < w->comm->size; r++) {
        if (atomic_load_explicit(&w->own->marks[r].hold, memory_order_relaxed) &&
            fm_peer_of(w->comm->ch, w->targets[r].proc)->is_gone) {
            atomic_store_explicit(&w->own->broken, 1, memory_order_seq_cst);
            fm_win_wake_waiting(w);
        }
    }
}

void fm_target_grant(struct fm_win *w)
{
    fm_list_each(l, next, &w->lock_queue)
    {
        struct wish *x = fm_container_of(l, struct wish, link);

        if (is_served(w, x)) {
            fm_win_hold_set(w->own, x->rank, x->is_exclusive ? FM_WIN_EXCLUSIVE : FM_WIN_SHARED);
            if (!x->is_exclusive && fm_win_read_begin(w->own)) {
                fm_win_wake_waiting(w);
            }
            end_wish(w, x, 0);
        } else if (fm_win_is_broken(w->own)) {
            end_wish(w, x, MPI_ERR_PROC_ABORTED);
        }
    }
    watch(w, !fm_list_is_empty(&w->lock_queue));
}

int fm_target_round(struct fm_hook *hook)
{
    struct fm_win *w = fm_container_of(hook, struct fm_win, lock_hook);

    look_for_lost(w);
    fm_target_grant(w);
    return 0;
}

static int serve_lock(struct serving *s, const struct fm_rma_rec *rec)
{
    struct fm_win *w = s->w;
    int rank = s->packet->source;
    struct wish *x;

    if (atomic_load_explicit(&w->own->marks[rank].hold, memory_order_relaxed)) {
        return violation("a lock that it holds");
    }
    x = malloc(sizeof(*x));
    if (!x) {
        return fm_channel_fail(s->ch, -FM_E_NOMEM, "no memory for a lock that is waited for");
    }
    fm_win_hold_set(w->own, rank, FM_WIN_WAITS);
    *x = (struct wish){
        .rank = rank, .ticket = fm_win_ticket(w->own), .id = rec->id, .is_exclusive = rec->op != 0};
    fm_list_push(&w->lock_queue, &x->link);
    fm_target_grant(w);
    return 0;
}

static int serve_unlock(struct serving *s, const struct fm_rma_rec *rec)
{
    struct fm_win_ctl *own = s->w->own;
    int rank = s->packet->source;
    uint32_t hold = atomic_load_explicit(&own->marks[rank].hold, memory_order_relaxed);

    if (hold != FM_WIN_SHARED && hold != FM_WIN_EXCLUSIVE) {
        return violation("an unlock without a lock");
    }
    fm_win_hold_set(own, rank, 0);
    if (hold == FM_WIN_EXCLUSIVE ? fm_win_write_end(own) : fm_win_read_end(own)) {
        fm_win_wake_waiting(s->w);
    }
    add_answer(s, FM_RMA_REC_ACK, rec->id, 0);
    fm_target_grant(s->w);
    return 0;
}

void fm_target_drop_queue(struct fm_win *w)
{
    struct fm_list *l;

    while ((l = fm_list_pop(&w->lock_queue))) {
        free(fm_container_of(l, struct wish, link));
    }
    if (w->comm) {
        fm_hook_remove(w->comm->ch, &w->lock_hook);
    }
}

/* ---- a packet ---- */

static int serve(struct serving *s, const struct fm_rma_rec *rec)
{
    struct fm_win_mark *mark = &s->w->own->marks[s->packet->source];

    switch (rec->kind) {
    case FM_RMA_REC_PUT:
        return serve_put(s, rec);
    case FM_RMA_REC_GET:
        return serve_get(s, rec);
    case FM_RMA_REC_ACC:
    case FM_RMA_REC_GET_ACC:
    case FM_RMA_REC_CAS:
        return serve_update(s, rec);
    case FM_RMA_REC_LOCK:
        return serve_lock(s, rec);
    case FM_RMA_REC_UNLOCK:
        return serve_unlock(s, rec);
    case FM_RMA_REC_FLUSH:
        return add_answer(s, FM_RMA_REC_ACK, rec->id, 0) ? 0 : violation("too many flushes");
    case FM_RMA_REC_POSTED:
        fm_win_mark_add(s->w->own, &mark->posted);
        return 0;
    case FM_RMA_REC_COMPLETED:
        fm_win_mark_add(s->w->own, &mark->completed);
        return 0;
    default:
        return violation("of an unknown kind");
    }
}

static int serve_all(struct serving *s)
{
    int rc = 0;

    while (rc == 0 && s->past - s->at >= (ptrdiff_t)sizeof(struct fm_rma_rec)) {
        const struct fm_rma_rec *rec = (const struct fm_rma_rec *)s->at;

        s->at += sizeof(*rec);
        rc = serve(s, rec);
        FM_STAT(fm_rma_counters->n_ops_served += rec->kind <= FM_RMA_REC_CAS);
        FM_STAT(s->w->counters->n_ops_served += rec->kind <= FM_RMA_REC_CAS);
    }
    return rc;
}

int fm_target_handle(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len)
{
    struct serving s = {.ch = ctx, .packet = (const struct fm_rma_packet *)head};
    int rc;

    s.w = fm_win_of_context(s.packet->context);
    if (!s.w) {
        return 0; /* freed here, after an error */
    }
    if (s.packet->source < 0 || s.packet->source >= s.w->comm->size ||
        s.w->targets[s.packet->source].proc != peer->proc) {
        return violation("in the name of another rank");
    }
    rc = fm_peer_resolve(s.ch, peer->proc, &s.peer);
    if (rc != 0) {
        return rc;
    }
    s.own = &s.w->targets[s.w->comm->rank];
    s.at = (const char *)(s.packet + 1);
    s.past = (const char *)head + len;
    FM_STAT(fm_rma_counters->n_packets_served++);
    rc = serve_all(&s);
    if (s.answer && rc == 0) {
        rc = send_answer(&s);
    } else if (s.answer) {
        free(s.answer);
    }
    return rc;
}
