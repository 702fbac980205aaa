/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry of all send modes. A short standard send is over here in one call of the transport, with
 * its header on the stack; everything else gets a request and the protocol that fits it now.
 */
#include "core/p2p/send.h"

#include "core/p2p/channel.h"
#include "core/p2p/counting.h"
#include "core/p2p/eager.h"
#include "core/p2p/send_req.h"
#include "core/p2p/unexpected.h"
#include "core/p2p/wait.h"

/* ---- the short way ---- */

static FM_INLINE bool is_short(const struct fm_peer *peer, const struct fm_msg *m, uint64_t len)
{
    uint64_t own = m->comm->counters->eager_limit; /* the communicator's limit + 1, 0: none */

    return peer->is_open && len <= peer->short_limit && m->dtype->is_contig &&
           (own == 0 || len < own) && fm_peer_has_credit(peer, fm_unexp_blocks(len));
}

/* 0, FM_AGAIN or a failure of the peer. */
static FM_INLINE int send_short(struct fm_channel *ch, struct fm_peer *peer, const struct fm_msg *m,
                                uint64_t len)
{
    struct fm_wire_base h;
    int rc;

    fm_wire_base_set(&h, FM_WIRE_EAGER, peer, m);
    rc = fm_ep_send(peer->ep, &h, sizeof(h), (char *)m->buf + m->dtype->true_lb, len);
    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    peer->advertised = peer->released;
    peer->consumed += fm_unexp_blocks(len);
    FM_STAT(fm_counting_short(ch, m, len));
    if (FM_UNLIKELY(ch->counters->on_eager)) {
        fm_p2p_emit(ch, FM_EV_EAGER, peer->proc, fm_msg_context(m), m->tag, len);
    }
    return 0;
}

/* 0: it is off. FM_AGAIN: not this way, or not now. A failure of the peer, which is not dealt with.
 */
static FM_INLINE int at_once(struct fm_channel *ch, const struct fm_msg *m, MPI_Count len)
{
    struct fm_peer *peer = fm_peer_of(ch, fm_comm_proc(m->comm, m->peer));
    int rc = FM_AGAIN;

    if (FM_LIKELY(is_short(peer, m, (uint64_t)len))) {
        rc = send_short(ch, peer, m, (uint64_t)len);
        if (FM_UNLIKELY(rc == FM_AGAIN)) {
            FM_STAT(ch->counters->n_refused++);
        }
    }
    return rc;
}

bool fm_send_short(const struct fm_msg *m, MPI_Count len)
{
    return at_once(m->comm->ch, m, len) == 0;
}

/* ---- requests ---- */

static int send_start(struct fm_request *r);

static const struct fm_request_ops send_ops = {
    .name = "send",
    .start = send_start,
    .cancel = fm_send_req_cancel,
    .release = fm_send_req_release,
    .about = fm_send_req_describe,
};

/* ---- the general way ---- */

static FM_INLINE enum fm_reason reason_of(const struct fm_send_req *s)
{
    uint64_t own = s->msg.comm->counters->eager_limit;
    uint64_t len = (uint64_t)s->len;

    if (own != 0 && own - 1 < s->peer->eager_limit && len >= own) {
        return FM_REASON_COMM;
    }
    if (len > s->peer->eager_limit) {
        return FM_REASON_LONG;
    }
    return fm_peer_has_credit(s->peer, fm_unexp_blocks(len)) ? FM_REASON_EAGER
                                                             : FM_REASON_NO_CREDIT;
}

/* Choose the protocol by what holds now, and send its first packet. */
static int try_start(struct fm_channel *ch, struct fm_send_req *s)
{
    int rc;

    s->reason = (uint8_t)reason_of(s);
    s->proto = fm_eager_fits(s->peer, s) ? &fm_eager : &fm_rndv;
    rc = s->proto->start(ch, s);
    if (rc != 0) {
        s->proto = NULL;
        return rc;
    }
    return 0;
}

static int send_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_send_req *s = fm_container_of(out, struct fm_send_req, out);
    int rc;

    fm_object_ref(&s->req); /* starting may complete it */
    rc = try_start(ch, s);
    if (rc == 0) {
        fm_peer_unwait(ch, peer, out);
    }
    fm_request_unref(&s->req);
    return rc;
}

static void send_abort(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_send_req *s = fm_container_of(out, struct fm_send_req, out);
    fm_send_req_lost(ch, s);
}

FM_COLD static void wait_for_room(struct fm_channel *ch, struct fm_send_req *s)
{
    s->out = (struct fm_out){.emit = send_emit, .abort = send_abort};
    fm_peer_wait(ch, s->peer, &s->out, FM_QUEUE_SENDS);
    FM_STAT(ch->counters->n_queued++);
}

/* The transport had no room, or the peer has failed. */
static void not_started(struct fm_channel *ch, struct fm_send_req *s, int rc)
{
    wait_for_room(ch, s);
    if (rc != FM_AGAIN) {
        fm_peer_fail(ch, s->peer->proc, fm_why());
    }
}

int fm_send_start(struct fm_send_req *s)
{
    struct fm_channel *ch = s->msg.comm->ch;
    int proc = fm_comm_proc(s->msg.comm, s->msg.peer);
    int rc;

    s->peer = NULL;
    s->proto = NULL;
    s->is_held = false;
    FM_STAT(ch->counters->n_sync_sent += s->mode == FM_SEND_SYNC);
    if (proc == ch->self) {
        FM_STAT(fm_counting_sent(ch, &s->msg, s->len));
        s->proto = &fm_self;
        return s->proto->start(ch, s);
    }
    rc = fm_peer_resolve(ch, proc, &s->peer);
    if (rc != 0) {
        return rc;
    }
    FM_STAT(fm_counting_sent(ch, &s->msg, s->len));
    ch->n_sending++;
    rc = s->peer->is_open ? try_start(ch, s) : FM_AGAIN;
    if (rc != 0) {
        not_started(ch, s, rc);
    }
    return 0;
}

/* A persistent request begins again. */
static int send_start(struct fm_request *r)
{
    struct fm_send_req *s = (struct fm_send_req *)r;

    if (s->msg.peer == MPI_PROC_NULL) {
        FM_STAT(s->msg.comm->ch->counters->n_null_sent++);
        fm_request_complete(r);
        return 0;
    }
    FM_STAT(s->msg.comm->ch->counters->n_ready_sent += s->mode == FM_SEND_READY);
    return fm_send_start(s);
}

/* ---- entry ---- */

FM_COLD static int too_long(const struct fm_msg *m)
{
    return fm_fail(-FM_E_INVAL,
                   "%lld elements of %lld bytes are more bytes than an MPI_Count can hold",
                   (long long)m->count, (long long)m->dtype->size);
}

static int isend(const struct fm_msg *m, enum fm_send_mode mode, MPI_Count len,
                 struct fm_request **out_req)
{
    struct fm_send_req *s;
    int rc;

    if (FM_UNLIKELY(len < 0)) {
        return too_long(m);
    }
    s = fm_send_req_new(&send_ops, m, mode, len);
    if (FM_UNLIKELY(!s)) {
        return -FM_E_NOMEM;
    }
    fm_object_ref(&s->req); /* the engine's; the first is the handle's */
    rc = fm_send_start(s);
    if (FM_UNLIKELY(rc != 0)) {
        fm_request_unref(&s->req);
        fm_request_unref(&s->req);
        return rc;
    }
    *out_req = &s->req;
    return 0;
}

FM_COLD static int null_request(const struct fm_msg *m, struct fm_request **out_req)
{
    struct fm_send_req *s = fm_send_req_new(&send_ops, m, FM_SEND_STANDARD, 0);

    if (!s) {
        return -FM_E_NOMEM;
    }
    FM_STAT(m->comm->ch->counters->n_null_sent++);
    fm_object_ref(&s->req);
    fm_request_complete(&s->req);
    *out_req = &s->req;
    return 0;
}

/*
 * The request of sends that were over when they were started: one object for all of them, since
 * nothing tells them apart. NULL when out of room.
 */
static int sent_cancel(struct fm_request *r)
{
    FM_STAT(fm_channel_main()->counters->n_cancels++);
    return 0;
}

FM_COLD static struct fm_request *make_sent(struct fm_channel *ch)
{
    static const struct fm_request_ops ops = {.name = "send", .cancel = sent_cancel};

    ch->sent = fm_request_new_done(&ops);
    return ch->sent;
}

static FM_INLINE struct fm_request *sent_request(struct fm_channel *ch, const struct fm_msg *m,
                                                 MPI_Count len)
{
    FM_STAT(ch->counters->req.n_completed++);
    if (FM_UNLIKELY(ch->counters->req.on_done)) {
        fm_p2p_emit(ch, FM_EV_COMPLETED, fm_comm_proc(m->comm, m->peer), fm_msg_context(m), m->tag,
                    (uint64_t)len);
    }
    return fm_object_ref(ch->sent);
}

/* The peer failed in the attempt to send at once: the request tells, as later ones will. */
FM_COLD static int lost_request(struct fm_channel *ch, const struct fm_msg *m, MPI_Count len,
                                int rc, struct fm_request **out_req)
{
    struct fm_send_req *s = fm_send_req_new(&send_ops, m, FM_SEND_STANDARD, len);

    if (!s) {
        return -FM_E_NOMEM;
    }
    fm_object_ref(&s->req);
    s->peer = fm_peer_of(ch, fm_comm_proc(m->comm, m->peer));
    FM_STAT(fm_counting_sent(ch, m, len));
    ch->n_sending++;
    not_started(ch, s, rc);
    *out_req = &s->req;
    return 0;
}

int fm_isend(const struct fm_msg *m, enum fm_send_mode mode, struct fm_request **out_req)
{
    struct fm_channel *ch = m->comm->ch;
    MPI_Count len;
    int rc = FM_AGAIN;

    if (FM_UNLIKELY(m->peer == MPI_PROC_NULL)) {
        return null_request(m, out_req);
    }
    if (mode == FM_SEND_READY) {
        FM_STAT(ch->counters->n_ready_sent++);
        mode = FM_SEND_STANDARD;
    }
    len = fm_dtype_bytes(m->dtype, m->count);
    if (FM_LIKELY(mode == FM_SEND_STANDARD && (ch->sent || make_sent(ch)))) {
        rc = at_once(ch, m, len);
    }
    if (FM_LIKELY(rc == 0)) {
        *out_req = sent_request(ch, m, len);
        return 0;
    }
    return rc == FM_AGAIN ? isend(m, mode, len, out_req) : lost_request(ch, m, len, rc, out_req);
}

int fm_send_init(const struct fm_msg *m, enum fm_send_mode mode, struct fm_request **out_req)
{
    MPI_Count len = fm_dtype_bytes(m->dtype, m->count);
    struct fm_send_req *s;

    if (FM_UNLIKELY(len < 0)) {
        return too_long(m);
    }
    s = fm_send_req_new(&send_ops, m, mode, len);
    if (!s) {
        return -FM_E_NOMEM;
    }
    fm_request_persist(&s->req);
    *out_req = &s->req;
    return 0;
}

FM_COLD static int send_slow(const struct fm_msg *m, enum fm_send_mode mode, MPI_Count len)
{
    struct fm_request *r;
    int rc = isend(m, mode, len, &r);

    if (rc != 0) {
        return rc;
    }
    rc = fm_wait(r, NULL);
    return rc <= 0 ? rc : -FM_E_PEER; /* a send fails with its peer only; fm_why() has it */
}

int fm_send(const struct fm_msg *m, enum fm_send_mode mode)
{
    struct fm_channel *ch = m->comm->ch;
    MPI_Count len;

    if (FM_UNLIKELY(m->peer == MPI_PROC_NULL)) {
        FM_STAT(ch->counters->n_null_sent++);
        return 0;
    }
    if (mode == FM_SEND_READY) {
        FM_STAT(ch->counters->n_ready_sent++);
        mode = FM_SEND_STANDARD;
    }
    len = fm_dtype_bytes(m->dtype, m->count);
    if (FM_LIKELY(mode == FM_SEND_STANDARD)) {
        int rc = at_once(ch, m, len);

        if (FM_LIKELY(rc == 0)) {
            return 0;
        }
        if (rc < 0) {
            fm_peer_fail(ch, fm_comm_proc(m->comm, m->peer), fm_why());
            return rc;
        }
    }
    return send_slow(m, mode, len);
}
