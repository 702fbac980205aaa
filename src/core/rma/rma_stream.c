/* SPDX-License-Identifier: BSD-3-Clause */
/* The origin's side of active messages. */
#include "core/rma/rma_stream.h"

#include <stdlib.h>
#include <string.h>

#include "core/dtype/dtype_make.h"
#include "core/object/errhandler.h"
#include "core/p2p/channel.h"
#include "core/p2p/hook.h"
#include "core/p2p/packet.h"
#include "core/p2p/progress.h"
#include "core/p2p/wait.h"
#include "core/rma/rma_acc.h"
#include "core/rma/rma_wire.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

/* Room that a packet must have for a further span with an element, and for a record with one. */
#define MIN_SPAN (sizeof(struct fm_rma_span) + 128)
#define MIN_ROOM (sizeof(struct fm_rma_rec) + MIN_SPAN)
/* What the answer to a record takes besides its data, and at least with it. */
#define ANSWER_LEN sizeof(struct fm_rma_rec)
#define MIN_ANSWER (ANSWER_LEN + 64)

/* A fetching operation whose data has not come yet. */
struct fetch {
    struct fm_list link;
    struct fm_rma_stream *stream;
    uint64_t id;
    struct fm_pack result;
    struct fm_dtype *dtype; /* a reference */
    MPI_Count left;
    struct fm_rma_req *req;
};

/* An operation, or a control record, that is being packed. */
struct job {
    struct fm_list link;
    struct fm_rma_call call;
    uint8_t kind; /* enum fm_rma_rec_kind */
    bool is_exclusive;
    bool is_sent; /* control records */
    bool is_kept; /* on the heap, with references on its datatypes */
    uint64_t id;
    struct fm_pack origin;
    struct fm_acc_walk target;
    struct fm_rma_req *req; /* put, accumulate: complete when packed */
};

struct fm_rma_stream {
    struct fm_win *win;
    struct fm_win_target *t;
    struct fm_peer *peer;
    struct fm_channel *ch;
    struct fm_out out; /* waits for room */
    bool is_queued;
    bool is_busy;        /* something was called since the last flush */
    bool is_lost;        /* the target has ended */
    struct fm_hook hook; /* while busy */
    struct fm_list jobs, fetches;
    size_t len, cap;   /* of the packet; len 0: it is empty */
    size_t answer_len; /* of the answer to it */
    size_t owed;       /* bytes of answers to fetching operations in packets that were sent */
    uint64_t n_asked, n_acked, n_granted;
    int grant_error;
    char packet[] FM_ALIGNED(8);
};

/* Names of fetching operations on the wire. Guarded by the library lock. */
static struct fm_ids names;
enum { ID_FETCH = 1 };

/* ---- ends ---- */

static void part_done(struct fm_rma_req *req, int error)
{
    if (req) {
        fm_rma_req_part_done(req, error);
    }
}

static void end_fetch(struct fetch *f, int error)
{
    fm_ids_drop(&names, f->id);
    fm_list_remove(&f->link);
    fm_dtype_unref(f->dtype);
    part_done(f->req, error);
    free(f);
}

static void end_job(struct job *j, int error)
{
    part_done(j->req, error);
    j->req = NULL;
    if (j->is_kept) {
        fm_list_remove(&j->link);
        fm_dtype_unref(j->call.origin.dtype);
        fm_dtype_unref(j->call.target_type);
        free(j);
    }
}

/* The target has ended: so does all that it should have done. */
static void lose(struct fm_rma_stream *s)
{
    struct fm_list *l;

    s->is_lost = true;
    while ((l = fm_list_first(&s->jobs))) {
        end_job(fm_container_of(l, struct job, link), MPI_ERR_PROC_ABORTED);
    }
    while ((l = fm_list_first(&s->fetches))) {
        end_fetch(fm_container_of(l, struct fetch, link), MPI_ERR_PROC_ABORTED);
    }
    s->len = s->answer_len = s->owed = 0;
}

static int lost(const struct fm_rma_stream *s)
{
    return fm_fail(-FM_E_PEER, "the process of rank %d of the window has ended: %s",
                   (int)(s->t - s->win->targets), fm_peer_why(s->peer));
}

/* ---- packets ---- */

static void begin_packet(struct fm_rma_stream *s)
{
    struct fm_rma_packet *p = (struct fm_rma_packet *)s->packet;

    *p = (struct fm_rma_packet){.head.kind = FM_RMA_PACKET_REQUEST,
                                .context = s->win->comm->context,
                                .source = s->win->comm->rank};
    s->len = sizeof(*p);
}

static void packet_left(struct fm_rma_stream *s)
{
    s->owed += ((struct fm_rma_packet *)s->packet)->owed;
    s->len = s->answer_len = 0;
    FM_STAT(fm_rma_counters->n_packets_sent++);
}

/* 0 (also when there is none), FM_AGAIN, or a failure. */
static int send_packet(struct fm_rma_stream *s)
{
    int rc;

    if (s->len == 0) {
        return 0;
    }
    if (s->is_queued) {
        return FM_AGAIN;
    }
    rc = fm_packet_send(s->ch, s->peer, (struct fm_wire_head *)s->packet, s->len, NULL, 0);
    if (rc == 0) {
        packet_left(s);
    } else if (rc == FM_AGAIN) {
        s->is_queued = true;
        fm_packet_queue(s->ch, s->peer, &s->out);
    }
    return rc;
}

/* ---- packing ---- */

static bool fetches(const struct job *j)
{
    return j->kind == FM_RMA_REC_GET || j->kind == FM_RMA_REC_GET_ACC || j->kind == FM_RMA_REC_CAS;
}

static bool is_control(const struct job *j)
{
    return j->kind > FM_RMA_REC_CAS;
}

static bool is_packed(const struct job *j)
{
    return is_control(j) ? j->is_sent : j->target.pack.at >= j->target.pack.len;
}

static bool has_data(const struct job *j)
{
    return j->kind != FM_RMA_REC_GET && j->call.origin.dtype;
}

/* The next bytes of the window, at most `max`, on a whole element where elements matter; 0: none
   fit. */
static size_t next_span(struct job *j, size_t max, struct fm_rma_span *out)
{
    size_t elem_len = j->call.kind >= FM_RMA_CALL_ACC ? (size_t)j->target.elem->size : 1;
    int64_t at;
    void *addr;

    if (max < elem_len || is_packed(j)) {
        return 0;
    }
    if (j->call.kind >= FM_RMA_CALL_ACC) {
        out->len = fm_acc_walk_next(&j->target, max / elem_len, &at) * elem_len;
    } else {
        out->len = fm_pack_piece(&j->target.pack, max, &addr);
        at = (int64_t)(intptr_t)addr;
    }
    out->at = j->call.at + (uint64_t)at;
    return (size_t)out->len;
}

/* Behind the span: the bytes to compare with, then those to put. */
static size_t add_data(struct job *j, char *to, size_t len)
{
    size_t n = 0;

    if (j->kind == FM_RMA_REC_CAS) {
        memcpy(to, j->call.compare, len);
        n = len;
    }
    if (has_data(j)) {
        n += fm_pack_out(&j->origin, to + n, len);
    }
    memset(to + n, 0, FM_RMA_PAD(n) - n);
    return FM_RMA_PAD(n);
}

/* Bytes that a span may have where so much of the packet, and of its answer, is left; `taken` of
   the packet are for something else. 0: none. */
static size_t span_limit(const struct fm_rma_stream *s, const struct job *j, size_t taken)
{
    size_t room = s->cap - s->len - taken;
    size_t answer = s->cap - sizeof(struct fm_rma_packet) - s->answer_len;

    if (s->cap - s->len < taken + MIN_SPAN) {
        return 0;
    }
    room = has_data(j) ? room - sizeof(struct fm_rma_span) - 8 : SIZE_MAX / 4;
    room = j->kind == FM_RMA_REC_CAS ? room / 2 : room;
    if (fetches(j)) {
        answer = answer < MIN_ANSWER ? 0 : answer - ANSWER_LEN - 8;
        room = room < answer ? room : answer;
    }
    return room;
}

static uint16_t handle_bits(const void *handle)
{
    return (uint16_t)(uintptr_t)handle; /* predefined ones are below FM_HANDLE_RESERVED */
}

/* The name of a predefined type, or of one like it: those of Fortran kinds have none. */
static uint16_t named_like(const struct fm_dtype *t)
{
    for (uintptr_t h = 1; h < FM_HANDLE_RESERVED && (uintptr_t)t->handle >= FM_HANDLE_RESERVED;
         h++) {
        const struct fm_dtype *other = fm_dtype_get((MPI_Datatype)h); // NOLINT

        if (other && !other->pair && other->basic == t->basic && other->size == t->size) {
            return (uint16_t)h;
        }
    }
    return handle_bits(t->handle);
}

static void name_element(struct fm_rma_rec *r, const struct fm_dtype *elem)
{
    if (elem->pair && (uintptr_t)elem->handle >= FM_HANDLE_RESERVED) {
        r->elem = named_like(elem->env->types[0]);
        r->index = named_like(elem->env->types[1]);
    } else {
        r->elem = named_like(elem);
    }
}

static struct fm_rma_rec *add_record(struct fm_rma_stream *s, const struct job *j)
{
    struct fm_rma_rec *r;

    if (s->len == 0) {
        begin_packet(s);
    }
    r = (struct fm_rma_rec *)(s->packet + s->len);
    *r = (struct fm_rma_rec){.kind = j->kind, .id = j->id};
    s->len += sizeof(*r);
    return r;
}

static void owe(struct fm_rma_stream *s, size_t len)
{
    s->answer_len += len;
    ((struct fm_rma_packet *)s->packet)->owed += (uint32_t)len;
}

/* What fits of an operation. */
static void add_operation(struct fm_rma_stream *s, struct job *j)
{
    size_t limit, n_bytes = 0;
    struct fm_rma_span span;
    struct fm_rma_rec *r;

    if (span_limit(s, j, s->len ? sizeof(*r) : sizeof(*r) + sizeof(struct fm_rma_packet)) == 0) {
        return;
    }
    r = add_record(s, j);
    r->at = (uint64_t)j->target.pack.at;
    r->op = j->call.op ? handle_bits(j->call.op->handle) : 0;
    if (j->call.kind >= FM_RMA_CALL_ACC) {
        name_element(r, j->target.elem);
    }
    while ((limit = span_limit(s, j, 0)) != 0 && limit > n_bytes &&
           next_span(j, fetches(j) ? limit - n_bytes : limit, &span)) {
        memcpy(s->packet + s->len, &span, sizeof(span));
        s->len += sizeof(span);
        s->len += add_data(j, s->packet + s->len, (size_t)span.len);
        n_bytes += fetches(j) ? (size_t)span.len : 0;
        r->n_spans++;
    }
    fm_assert(r->n_spans > 0);
    if (fetches(j)) {
        owe(s, ANSWER_LEN + FM_RMA_PAD(n_bytes));
    }
}

static void add_control(struct fm_rma_stream *s, struct job *j)
{
    if (s->cap - s->len >= MIN_ROOM &&
        s->cap - sizeof(struct fm_rma_packet) - s->answer_len >= MIN_ANSWER) {
        add_record(s, j)->op = j->is_exclusive;
        s->answer_len += ANSWER_LEN;
        j->is_sent = true;
    }
}

/* May more answers come? Where none is on its way, at least one may. */
static bool may_fetch(const struct fm_rma_stream *s)
{
    return s->owed == 0 || s->owed + s->answer_len < fm_rma_counters->reply_limit;
}

/* Pack all of it, sending packets that are full. 0, FM_AGAIN, or a failure. */
static int run(struct fm_rma_stream *s, struct job *j)
{
    int rc;

    for (;;) {
        if (fetches(j) && !may_fetch(s)) {
            rc = send_packet(s);
            return rc ? rc : FM_AGAIN; /* answers go on with it */
        }
        if (is_control(j)) {
            add_control(s, j);
        } else {
            add_operation(s, j);
        }
        if (is_packed(j)) {
            return 0;
        }
        rc = send_packet(s);
        if (rc != 0) {
            return rc;
        }
    }
}

static bool must_send(const struct fm_rma_stream *s)
{
    return s->n_asked != s->n_acked || !fm_list_is_empty(&s->fetches);
}

/* Go on with what waits. Failures have lost the stream. */
static void pump(struct fm_rma_stream *s)
{
    struct fm_list *l;

    while (!s->is_lost && (l = fm_list_first(&s->jobs))) {
        struct job *j = fm_container_of(l, struct job, link);
        int rc = run(s, j);

        if (rc == FM_AGAIN) {
            return;
        }
        if (rc < 0) {
            lose(s);
            return;
        }
        end_job(j, MPI_SUCCESS);
    }
    if (must_send(s)) {
        send_packet(s);
    }
}

/* ---- where it waits ---- */

static struct fm_rma_stream *of_out(struct fm_out *out)
{
    return fm_container_of(out, struct fm_rma_stream, out);
}

/* One packet has room now. */
static int emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_rma_stream *s = of_out(out);
    int rc = fm_packet_emit(ch, peer, (struct fm_wire_head *)s->packet, s->len, NULL, 0);

    if (rc != 0) {
        return rc;
    }
    packet_left(s);
    fm_peer_unwait(ch, peer, out);
    s->is_queued = false;
    pump(s);
    return 0;
}

static void abort_out(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_rma_stream *s = of_out(out);

    fm_peer_unwait(ch, peer, out);
    s->is_queued = false;
    lose(s);
}

/* Each round of progress: what was packed leaves, and a target that has ended is noticed. */
static int on_round(struct fm_hook *hook)
{
    struct fm_rma_stream *s = fm_container_of(hook, struct fm_rma_stream, hook);
    bool has_work = s->len != 0 && !s->is_queued;

    if (FM_UNLIKELY(s->peer->is_gone && !s->is_lost)) {
        lose(s);
        return 1;
    }
    return has_work && fm_list_is_empty(&s->jobs) && send_packet(s) == 0;
}

/* ---- making ---- */

static int make(struct fm_win *w, struct fm_win_target *t, struct fm_peer *peer)
{
    size_t cap = fm_rma_counters->packet_len;
    struct fm_rma_stream *s;

    cap = (cap < peer->ep->tp->max_send ? cap : peer->ep->tp->max_send) & ~(size_t)7;
    s = aligned_alloc(FM_CACHE_LINE, (sizeof(*s) + cap + FM_CACHE_LINE) & ~(size_t)63);
    if (!s) {
        return fm_fail(-FM_E_NOMEM, "no memory for active messages to process %d", t->proc);
    }
    memset(s, 0, sizeof(*s));
    s->win = w;
    s->t = t;
    s->peer = peer;
    s->ch = w->comm->ch;
    s->out = (struct fm_out){.emit = emit, .abort = abort_out};
    s->hook.fn = on_round;
    s->cap = cap;
    fm_list_init(&s->jobs);
    fm_list_init(&s->fetches);
    t->stream = s;
    return 0;
}

/* The stream to a target, busy from now on. */
static int begin(struct fm_win *w, struct fm_win_target *t)
{
    struct fm_peer *peer;
    int rc = 0;

    if (!t->stream) {
        rc = fm_peer_resolve(w->comm->ch, t->proc, &peer);
        rc = rc ? rc : make(w, t, peer);
    }
    if (rc != 0) {
        return rc;
    }
    if (t->stream->is_lost || t->stream->peer->is_gone) {
        return lost(t->stream);
    }
    if (!t->stream->is_busy) {
        t->stream->is_busy = true;
        w->n_streams++;
        fm_hook_add(w->comm->ch, &t->stream->hook);
    }
    return 0;
}

static void end(struct fm_rma_stream *s)
{
    if (s->is_busy) {
        s->is_busy = false;
        s->win->n_streams--;
        fm_hook_remove(s->ch, &s->hook);
    }
}

void fm_rma_stream_destroy(struct fm_rma_stream *s)
{
    if (!s) {
        return;
    }
    lose(s);
    end(s);
    if (s->is_queued) {
        fm_peer_unwait(s->ch, s->peer, &s->out);
    }
    free(s);
}

/* ---- operations ---- */

static int keep(struct fm_rma_stream *s, const struct job *j)
{
    struct job *kept = malloc(sizeof(*kept));

    if (!kept) {
        return fm_fail(-FM_E_NOMEM, "no memory for an operation that waits");
    }
    *kept = *j;
    kept->is_kept = true;
    if (kept->call.origin.dtype) {
        fm_object_ref(kept->call.origin.dtype);
    }
    if (kept->call.target_type) {
        fm_object_ref(kept->call.target_type);
    }
    fm_list_push(&s->jobs, &kept->link);
    FM_STAT(fm_rma_counters->n_queued += !is_control(j));
    return 0;
}

/* Pack it now, or keep it as a job. */
static int issue(struct fm_rma_stream *s, struct job *j)
{
    int rc = fm_list_is_empty(&s->jobs) ? run(s, j) : FM_AGAIN;

    if (rc == FM_AGAIN) {
        return keep(s, j);
    }
    if (rc < 0) {
        lose(s);
        return rc;
    }
    end_job(j, MPI_SUCCESS);
    return 0;
}

static int begin_fetch(struct fm_rma_stream *s, struct job *j, struct fm_rma_req *req)
{
    const struct fm_rma_side *to = &j->call.result;
    struct fetch *f = calloc(1, sizeof(*f));

    if (!f || (f->id = fm_ids_put(&names, ID_FETCH, f)) == 0) {
        free(f);
        return fm_fail(-FM_E_NOMEM, "no memory for an operation that fetches");
    }
    f->stream = s;
    f->dtype = fm_object_ref(to->dtype);
    f->left = fm_dtype_bytes(j->call.target_type, j->call.target_count);
    fm_pack_begin(&f->result, to->buf, to->count, to->dtype);
    f->req = req;
    if (req) {
        fm_rma_req_part(req);
    }
    fm_list_push(&s->fetches, &f->link);
    j->id = f->id;
    return 0;
}

static void begin_job(struct job *j, const struct fm_rma_call *call)
{
    static const uint8_t kinds[] = {
        [FM_RMA_CALL_PUT] = FM_RMA_REC_PUT, [FM_RMA_CALL_GET] = FM_RMA_REC_GET,
        [FM_RMA_CALL_ACC] = FM_RMA_REC_ACC, [FM_RMA_CALL_GET_ACC] = FM_RMA_REC_GET_ACC,
        [FM_RMA_CALL_CAS] = FM_RMA_REC_CAS,
    };

    *j = (struct job){.call = *call, .kind = kinds[call->kind]};
    if (call->origin.dtype) {
        fm_pack_begin(&j->origin, call->origin.buf, call->origin.count, call->origin.dtype);
    }
    fm_acc_walk_begin(&j->target, call->target_count, call->target_type);
}

int fm_rma_stream_call(struct fm_win *w, struct fm_win_target *t, const struct fm_rma_call *call,
                       struct fm_rma_req *req)
{
    struct job j;
    int rc = begin(w, t);

    if (rc != 0) {
        return rc;
    }
    begin_job(&j, call);
    if (fetches(&j)) {
        rc = begin_fetch(t->stream, &j, req);
    } else if (req) {
        fm_rma_req_part(req);
        j.req = req;
    }
    rc = rc ? rc : issue(t->stream, &j);
    if (rc == 0 && req && fm_list_is_empty(&t->stream->jobs)) {
        rc = send_packet(t->stream); /* MPI_Wait alone completes it */
    }
    return rc < 0 ? rc : 0;
}

/* ---- control ---- */

static int control(struct fm_rma_stream *s, enum fm_rma_rec_kind kind, bool is_exclusive)
{
    struct job j = {.kind = (uint8_t)kind, .is_exclusive = is_exclusive};
    int rc;

    if (kind == FM_RMA_REC_FLUSH || kind == FM_RMA_REC_UNLOCK || kind == FM_RMA_REC_LOCK) {
        j.id = ++s->n_asked;
    }
    rc = issue(s, &j);
    if (rc == 0 && fm_list_is_empty(&s->jobs)) {
        rc = send_packet(s);
    }
    return rc < 0 ? rc : 0;
}

static bool is_quiet(void *ctx)
{
    const struct fm_rma_stream *s = ctx;

    return s->is_lost || (s->n_acked == s->n_asked && fm_list_is_empty(&s->jobs) &&
                          fm_list_is_empty(&s->fetches));
}

static bool is_local(void *ctx)
{
    const struct fm_rma_stream *s = ctx;

    return s->is_lost || (fm_list_is_empty(&s->jobs) && fm_list_is_empty(&s->fetches));
}

/* What was asked last is confirmed, and nothing else is under way. */
static int settle(struct fm_rma_stream *s)
{
    int rc = fm_wait_until(s->ch, is_quiet, s);

    if (rc == 0 && s->is_lost) {
        rc = lost(s);
    }
    end(s);
    return rc;
}

int fm_rma_stream_flush(struct fm_rma_stream *s, bool is_only_local)
{
    int rc;

    if (!s->is_busy) {
        return 0;
    }
    if (is_only_local) {
        send_packet(s);
        rc = fm_wait_until(s->ch, is_local, s);
        return rc == 0 && s->is_lost ? lost(s) : rc;
    }
    rc = s->is_lost ? 0 : control(s, FM_RMA_REC_FLUSH, false);
    return rc ? rc : settle(s);
}

int fm_rma_stream_lock(struct fm_win *w, struct fm_win_target *t, bool is_exclusive)
{
    int rc = begin(w, t);
    uint64_t since;

    if (rc != 0) {
        return rc;
    }
    since = fm_now_ns();
    rc = control(t->stream, FM_RMA_REC_LOCK, is_exclusive);
    rc = rc ? rc : settle(t->stream);
    fm_rma_count_wait(w, FM_RMA_WAIT_LOCK, since);
    if (rc == 0 && t->stream->grant_error) {
        rc = fm_fail(t->stream->grant_error, "a process has ended while it held the lock, or "
                                             "waited for it");
    }
    return rc;
}

int fm_rma_stream_unlock(struct fm_win *w, struct fm_win_target *t)
{
    int rc = begin(w, t);

    rc = rc ? rc : control(t->stream, FM_RMA_REC_UNLOCK, false);
    return rc ? rc : settle(t->stream);
}

/* No answer is wanted: where the packet has left, nothing is under way. */
int fm_rma_stream_notify(struct fm_win *w, struct fm_win_target *t, bool is_post)
{
    bool was_busy = t->stream && t->stream->is_busy;
    int rc = begin(w, t);

    if (rc != 0) {
        return rc;
    }
    rc = control(t->stream, is_post ? FM_RMA_REC_POSTED : FM_RMA_REC_COMPLETED, false);
    if (!was_busy && t->stream->len == 0 && fm_list_is_empty(&t->stream->jobs)) {
        end(t->stream);
    }
    return rc;
}

/* ---- answers ---- */

static int bad_answer(const char *what)
{
    return fm_fail(-FM_E_PROTO, "it sent a wrong answer to a one-sided operation: %s", what);
}

/* 0 or -FM_E_PROTO. */
static int got_data(struct fm_rma_stream *s, const struct fm_rma_rec *r, const char *data)
{
    struct fetch *f = fm_ids_get(&names, ID_FETCH, r->id);

    if (!f || f->stream != s || r->at > (uint64_t)f->result.len ||
        r->len > (uint64_t)f->result.len - r->at || r->len > (uint64_t)f->left) {
        return bad_answer("data that was not asked for");
    }
    fm_pack_seek(&f->result, (MPI_Count)r->at);
    fm_pack_in(&f->result, data, r->len);
    f->left -= r->len;
    if (f->left == 0) {
        end_fetch(f, MPI_SUCCESS);
    }
    return 0;
}

static int got_error(struct fm_rma_stream *s, const struct fm_rma_rec *r)
{
    struct fetch *f = r->id ? fm_ids_get(&names, ID_FETCH, r->id) : NULL;
    int error = r->at > 0 && r->at < MPI_ERR_LASTCODE ? (int)r->at : MPI_ERR_OTHER;

    s->win->error = error;
    if (f && f->stream == s) {
        end_fetch(f, error);
    }
    return 0;
}

static int got_record(struct fm_rma_stream *s, const struct fm_rma_rec *r)
{
    switch (r->kind) {
    case FM_RMA_REC_DATA:
        return got_data(s, r, (const char *)(r + 1));
    case FM_RMA_REC_ERROR:
        return got_error(s, r);
    case FM_RMA_REC_GRANT:
        s->grant_error = r->at ? MPI_ERR_PROC_ABORTED : 0;
        /* fallthrough */
    case FM_RMA_REC_ACK:
        if (r->id == 0 || r->id > s->n_asked) {
            return bad_answer("a confirmation that was not asked for");
        }
        s->n_acked = r->id;
        return 0;
    default:
        return bad_answer("of an unknown kind");
    }
}

int fm_rma_stream_handle(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                         size_t len)
{
    const struct fm_rma_packet *p = (const struct fm_rma_packet *)head;
    struct fm_win *w = fm_win_of_context(p->context);
    const char *at = (const char *)(p + 1), *past = (const char *)head + len;
    struct fm_rma_stream *s;
    int rc = 0;

    (void)ctx;
    if (!w) {
        return 0; /* freed after an error */
    }
    if (p->source < 0 || p->source >= w->comm->size || w->targets[p->source].proc != peer->proc ||
        !(s = w->targets[p->source].stream)) {
        return bad_answer("nothing was asked");
    }
    s->owed -= p->owed < s->owed ? p->owed : s->owed;
    while (rc == 0 && past - at >= (ptrdiff_t)sizeof(struct fm_rma_rec)) {
        const struct fm_rma_rec *r = (const struct fm_rma_rec *)at;
        size_t data_len = r->kind == FM_RMA_REC_DATA ? FM_RMA_PAD(r->len) : 0;

        if (data_len > (size_t)(past - at) - sizeof(*r)) {
            return bad_answer("too short");
        }
        rc = got_record(s, r);
        at += sizeof(*r) + data_len;
    }
    if (rc == 0 && !s->is_lost) {
        pump(s);
    }
    return rc;
}

void fm_rma_stream_finish(void)
{
    fm_ids_finish(&names);
}
