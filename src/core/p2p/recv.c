/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives: posting, and placing what arrives. What comes off the wire is sorted in deliver.c.
 */
#include "core/p2p/recv.h"

#include <stdlib.h>
#include <string.h>

#include "core/p2p/credit.h"
#include "core/p2p/recv_req.h"
#include "core/p2p/rndv.h"
#include "core/p2p/self.h"
#include "core/p2p/unexpected.h"
#include "core/p2p/wait.h"

/* ---- the request ---- */

static FM_INLINE int start(struct fm_channel *ch, struct fm_recv_req *r);

static int recv_start(struct fm_request *req)
{
    struct fm_recv_req *r = (struct fm_recv_req *)req;

    if (r->msg.peer == MPI_PROC_NULL) {
        req->status = FM_STATUS_NULL;
        fm_request_complete(req);
        return 0;
    }
    return start(r->msg.comm->ch, r);
}

/* Of a predefined datatype, which needs no reference. */
static const struct fm_request_ops simple_ops = {
    .name = "recv",
    .start = recv_start,
    .cancel = fm_recv_req_cancel,
    .about = fm_recv_req_describe,
};

static const struct fm_request_ops recv_ops = {
    .name = "recv",
    .start = recv_start,
    .cancel = fm_recv_req_cancel,
    .release = fm_recv_req_release,
    .about = fm_recv_req_describe,
};

/* What a message that comes with its header needs; rndv.c sets what it adds. The message member by
   member, as the caller wrote it a moment ago: loads that span two of his stores would wait until
   both have reached the cache (util/copy.h). */
static FM_INLINE void fill(struct fm_recv_req *r, const struct fm_msg *m)
{
    r->msg.buf = m->buf;
    r->msg.count = m->count;
    r->msg.dtype = m->dtype;
    r->msg.peer = m->peer;
    r->msg.tag = m->tag;
    r->msg.comm = m->comm;
    r->msg.space = m->space;
    r->cap = fm_dtype_bytes(m->dtype, m->count);
    if (FM_UNLIKELY(r->cap < 0)) {
        r->cap = INT64_MAX; /* longer than any message */
    }
    r->peer = NULL;
    r->id = 0;
    r->fetch = NULL;
}

static FM_INLINE struct fm_recv_req *new_request(const struct fm_msg *m, int n_refs)
{
    bool is_simple = FM_LIKELY(m->dtype->is_predefined);
    const struct fm_request_ops *ops = is_simple ? &simple_ops : &recv_ops;
    struct fm_recv_req *r = (struct fm_recv_req *)fm_request_new_bare(ops, m->comm, n_refs);

    if (FM_UNLIKELY(!r)) {
        return NULL;
    }
    fill(r, m);
    r->posted.queue = NULL;
    if (!is_simple) {
        fm_object_ref(m->dtype);
    }
    return r;
}

struct fm_recv_req *fm_recv_new(const struct fm_msg *m)
{
    return new_request(m, 1);
}

/* ---- posting ---- */

static FM_INLINE struct fm_match_key key_of(const struct fm_msg *m)
{
    return (struct fm_match_key){.context = fm_msg_context(m), .source = m->peer, .tag = m->tag};
}

/* From a process that is known to be gone. */
static FM_INLINE bool is_lost(const struct fm_channel *ch, const struct fm_msg *m)
{
    return m->peer != MPI_ANY_SOURCE && fm_peer_of(ch, fm_comm_proc(m->comm, m->peer))->is_gone;
}

/* What came from it before may still be received. */
FM_COLD static int start_lost(struct fm_channel *ch, struct fm_recv_req *r)
{
    struct fm_unexpected *x = fm_match_receive(ch->match, &r->posted.key);
    struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

    if (!x) {
        fm_recv_req_lost(ch, r, fm_peer_of(ch, fm_comm_proc(r->msg.comm, r->msg.peer)));
        return 0;
    }
    fm_unexp_taken(ch, u);
    return fm_recv_unexpected(ch, r, u);
}

/* It is queued. */
static FM_INLINE void note_posted(struct fm_channel *ch, const struct fm_recv_req *r)
{
    FM_STAT(fm_counting_posted(&r->msg, 1));
    if (FM_UNLIKELY(ch->n_stalled)) {
        fm_credit_resume(ch, r->msg.comm, r->msg.peer);
    }
}

static FM_INLINE int start(struct fm_channel *ch, struct fm_recv_req *r)
{
    struct fm_unexpected *x;
    int rc;

    r->posted.key = key_of(&r->msg);
    if (FM_UNLIKELY(is_lost(ch, &r->msg))) {
        return start_lost(ch, r);
    }
    rc = fm_match_take_or_post(ch->match, &r->posted, &x);
    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    if (x) {
        struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

        fm_unexp_taken(ch, u);
        return fm_recv_unexpected(ch, r, u);
    }
    note_posted(ch, r);
    return 0;
}

/* ---- unexpected messages ---- */

static void count_eager(struct fm_channel *ch, int proc, MPI_Count len)
{
    if (proc == ch->self) {
        FM_STAT(ch->counters->n_self_recvd++);
        FM_STAT(ch->counters->self_recvd_bytes += (uint64_t)len);
        return;
    }
    FM_STAT(fm_traffic_add(&ch->counters->eager_recvd, (uint64_t)len));
}

/* The bytes lie here: copy them out, `len` at most. */
static void read_out(struct fm_channel *ch, const struct fm_msg *m, const struct fm_unexp *u,
                     size_t len)
{
    struct fm_pack pack;

    FM_STAT(ch->counters->n_copied_recvd++);
    FM_STAT(ch->counters->copied_recvd_bytes += len);
    if (m->dtype->is_contig) {
        fm_unexp_read(u, (char *)m->buf + m->dtype->true_lb, len);
        return;
    }
    FM_STAT(ch->counters->n_unpacked_recvd++);
    FM_STAT(ch->counters->unpacked_recvd_bytes += len);
    fm_pack_begin(&pack, m->buf, m->count, m->dtype);
    fm_unexp_read_typed(u, &pack, len);
}

/* The message is in the user's buffer: give back its room, and tell who waits for that. */
static void settle(struct fm_channel *ch, struct fm_unexp *u)
{
    int proc = u->proc;
    uint32_t n_blocks = u->n_blocks;
    uint64_t sreq = u->sreq;

    fm_unexp_free(ch, u);
    if (proc == ch->self) {
        return;
    }
    if (sreq) {
        fm_recv_req_synced(ch, proc, sreq);
    }
    fm_credit_release(ch, fm_peer_of(ch, proc), n_blocks);
}

int fm_recv_unexpected(struct fm_channel *ch, struct fm_recv_req *r, struct fm_unexp *u)
{
    int source = u->u.key.source;
    int rc;

    if (u->self) {
        struct fm_send_req *s = u->self;

        fm_unexp_free(ch, u);
        fm_self_receive(ch, r, s);
        return 0;
    }
    rc = fm_recv_req_check(ch, &r->msg, u->proc, source);
    if (rc != 0) {
        fm_unexp_free(ch, u);
        return rc;
    }
    fm_recv_req_matched(r, source, u->u.key.tag, (MPI_Count)u->len);
    if (u->kind == FM_WIRE_RTS) {
        struct fm_pack_run runs[FM_PACK_RUNS_MAX];
        struct fm_rts rts = {u->len, u->sreq, u->key, u->has_key, u->can_push, u->n_runs, runs};

        r->peer = fm_peer_of(ch, u->proc);
        fm_unexp_read(u, runs, u->n_runs * sizeof(runs[0]));
        fm_unexp_free(ch, u);
        fm_rndv_receive(ch, r, &rts);
        return 0;
    }
    count_eager(ch, u->proc, r->want);
    read_out(ch, &r->msg, u, (size_t)r->want);
    settle(ch, u);
    fm_recv_req_done(ch, r);
    return 0;
}

/* ---- entry ---- */

/* An early message whose bytes are here and that fits: no request is needed. False: not so. */
static bool recv_early(struct fm_channel *ch, const struct fm_msg *m, struct fm_unexp *u,
                       struct fm_status *out_status)
{
    MPI_Count cap = fm_dtype_bytes(m->dtype, m->count);
    int source = u->u.key.source;

    if (u->kind == FM_WIRE_RTS || u->self || (MPI_Count)u->len > cap ||
        source >= m->comm->n_remote || fm_comm_proc(m->comm, source) != u->proc) {
        return false;
    }
    count_eager(ch, u->proc, (MPI_Count)u->len);
    read_out(ch, m, u, u->len);
    FM_STAT(fm_counting_recvd(ch, m, source, (MPI_Count)u->len));
    if (out_status) {
        *out_status =
            (struct fm_status){.source = source, .tag = u->u.key.tag, .n_bytes = (MPI_Count)u->len};
    }
    settle(ch, u);
    return true;
}

int fm_recv_wait(struct fm_request *r, struct fm_status *out_status)
{
    struct fm_status st;
    int rc = fm_wait(r, &st);

    if (out_status) {
        *out_status = st;
    }
    if (rc != 0) {
        return rc;
    }
    switch (st.error) {
    case MPI_SUCCESS:
        return 0;
    case MPI_ERR_TRUNCATE:
        return -FM_E_TRUNCATE;
    default:
        return -FM_E_PEER;
    }
}

/* By a request from the pool, which has met `u` already where that is not NULL. */
static int recv_pooled(struct fm_channel *ch, const struct fm_msg *m, struct fm_unexp *u,
                       struct fm_status *out_status)
{
    struct fm_recv_req *r = new_request(m, 2); /* the handle's, the engine's */
    int rc;

    if (FM_UNLIKELY(!r)) {
        return -FM_E_NOMEM;
    }
    rc = u ? fm_recv_unexpected(ch, r, u) : start(ch, r);
    if (FM_UNLIKELY(rc != 0)) {
        fm_request_unref(&r->req);
        fm_request_unref(&r->req);
        return rc;
    }
    return fm_recv_wait(&r->req, out_status);
}

/*
 * The receive of a thread that waits for it needs no request of its own: there is one for all of
 * them, which nobody but the engine sees and which outlives every call. The references are its
 * own, the one of the wait, and the engine's.
 */
int fm_recv_blocking_create(struct fm_channel *ch)
{
    struct fm_recv_req *r = aligned_alloc(FM_CACHE_LINE, FM_REQUEST_LEN);

    if (!r) {
        return fm_fail(-FM_E_NOMEM, "no memory for a receive");
    }
    memset(r, 0, FM_REQUEST_LEN);
    r->req.head.kind = FM_KIND_REQUEST;
    r->req.ops = &recv_ops;
    r->req.is_active = true;
    ch->blocking = ch->blocking_memory = r;
    return 0;
}

static FM_INLINE void begin_blocking(struct fm_recv_req *r, const struct fm_msg *m)
{
    fill(r, m);
    r->req.head.refs = 3;
    r->req.is_done = false;
    r->req.status.error = MPI_SUCCESS;
    r->req.comm = m->comm;
}

/* Other threads may free what it names while it waits (MPI-5.0 5.1.9, 7.4.3). */
static void hold(struct fm_recv_req *r)
{
    fm_object_ref(r->req.comm);
    fm_object_ref(r->msg.dtype);
}

static void let_go(struct fm_recv_req *r)
{
    fm_comm_unref(r->req.comm);
    fm_dtype_unref(r->msg.dtype);
}

/* It did not end well; it is held. Where it did not end at all, the engine may still know it: leave
   it so. */
FM_COLD static int end_blocking(struct fm_channel *ch, struct fm_recv_req *r,
                                struct fm_status *out_status)
{
    int rc = fm_recv_wait(&r->req, out_status);

    if (r->req.is_done) {
        let_go(r);
        free(r->req.why);
        r->req.why = NULL;
        ch->blocking = r;
    }
    return rc;
}

int fm_recv(const struct fm_msg *m, struct fm_status *out_status)
{
    struct fm_channel *ch = m->comm->ch;
    struct fm_recv_req *r = ch->blocking;
    bool is_held = ch->lock->is_on;
    struct fm_unexpected *x;
    int rc;

    if (FM_UNLIKELY(m->peer == MPI_PROC_NULL)) {
        if (out_status) {
            *out_status = FM_STATUS_NULL;
        }
        return 0;
    }
    if (FM_UNLIKELY(!r || is_lost(ch, m))) {
        return recv_pooled(ch, m, NULL, out_status);
    }
    r->posted.key = key_of(m);
    rc = fm_match_take_or_post(ch->match, &r->posted, &x);
    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    if (x) {
        struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

        fm_unexp_taken(ch, u);
        return recv_early(ch, m, u, out_status) ? 0 : recv_pooled(ch, m, u, out_status);
    }
    ch->blocking = NULL;
    begin_blocking(r, m);
    note_posted(ch, r);
    if (FM_UNLIKELY(is_held)) {
        hold(r);
    }
    rc = fm_wait_done(ch, &r->req);
    if (FM_LIKELY(rc == 0 && r->req.status.error == MPI_SUCCESS)) {
        if (out_status) {
            *out_status = r->req.status;
        }
        if (FM_UNLIKELY(is_held)) {
            let_go(r);
        }
        ch->blocking = r;
        return 0;
    }
    if (!is_held) {
        hold(r);
    }
    return end_blocking(ch, r, out_status);
}

FM_COLD static int null_request(const struct fm_msg *m, struct fm_request **out_req)
{
    struct fm_recv_req *r = fm_recv_new(m);

    if (!r) {
        return -FM_E_NOMEM;
    }
    r->req.status = FM_STATUS_NULL;
    fm_object_ref(&r->req);
    fm_request_complete(&r->req);
    *out_req = &r->req;
    return 0;
}

int fm_recv_init(const struct fm_msg *m, struct fm_request **out_req)
{
    struct fm_recv_req *r = fm_recv_new(m);

    if (!r) {
        return -FM_E_NOMEM;
    }
    fm_request_persist(&r->req);
    *out_req = &r->req;
    return 0;
}

int fm_irecv(const struct fm_msg *m, struct fm_request **out_req)
{
    struct fm_recv_req *r;
    int rc;

    if (FM_UNLIKELY(m->peer == MPI_PROC_NULL)) {
        return null_request(m, out_req);
    }
    r = new_request(m, 2); /* the handle's, the engine's */
    if (FM_UNLIKELY(!r)) {
        return -FM_E_NOMEM;
    }
    rc = start(m->comm->ch, r);
    if (FM_UNLIKELY(rc != 0)) {
        fm_request_unref(&r->req);
        fm_request_unref(&r->req);
        return rc;
    }
    *out_req = &r->req;
    return 0;
}

int fm_sendrecv(const struct fm_msg *send, const struct fm_msg *recv, struct fm_status *out_status)
{
    struct fm_request *r;
    int rc = fm_irecv(recv, &r);
    int rc_send;

    if (rc != 0) {
        return rc;
    }
    rc_send = fm_send(send, FM_SEND_STANDARD);
    if (rc_send != 0) {
        fm_request_cancel(r);
        fm_request_unref(r);
        return rc_send;
    }
    return fm_recv_wait(r, out_status);
}
