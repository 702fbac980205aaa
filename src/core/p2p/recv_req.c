/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive under way: its request, from the match with a message to completion. */
#include "core/p2p/recv_req.h"

#include "core/p2p/p2p_counters.h"
#include "core/p2p/packet.h"

/* ---- ops of the request ---- */

void fm_recv_req_release(struct fm_request *req)
{
    struct fm_recv_req *r = (struct fm_recv_req *)req;

    fm_dtype_unref(r->msg.dtype);
}

void fm_recv_req_describe(const struct fm_request *req, struct fm_request_about *out_about)
{
    const struct fm_recv_req *r = (const struct fm_recv_req *)req;

    *out_about = (struct fm_request_about){r->msg.peer, r->msg.tag, (uint64_t)r->cap};
}

/* MPI-5.0 3.8.4: a receive that was matched completes normally. */
int fm_recv_req_cancel(struct fm_request *req)
{
    struct fm_recv_req *r = (struct fm_recv_req *)req;
    struct fm_channel *ch = r->msg.comm->ch;

    FM_STAT(ch->counters->n_cancels++);
    if (!req->is_done && fm_match_unpost(ch->match, &r->posted)) {
        FM_STAT(fm_counting_posted(&r->msg, -1));
        req->status.is_cancelled = true;
        fm_request_complete(req);
    }
    return 0;
}

/* ---- data ---- */

void fm_recv_req_synced(struct fm_channel *ch, int proc, uint64_t sreq)
{
    struct fm_wire_reply h = {.head.kind = FM_WIRE_FIN, .sreq = sreq};
    struct fm_peer *peer;

    if (fm_peer_resolve(ch, proc, &peer) != 0) {
        return; /* a process that is gone waits for nothing */
    }
    if (fm_packet_answer(ch, peer, &h) == 0) {
        FM_STAT(ch->counters->n_fin_sent++);
    }
}

int fm_recv_req_refuse(struct fm_channel *ch, int proc, int source)
{
    fm_peer_fail(ch, proc, "it sent a message in the name of another rank");
    return fm_fail(-FM_E_PROTO, "process %d sent a message in the name of rank %d", proc, source);
}

void fm_recv_req_unpack(struct fm_channel *ch, struct fm_recv_req *r, const void *data, size_t len)
{
    struct fm_pack pack;

    FM_STAT(ch->counters->n_unpacked_recvd++);
    FM_STAT(ch->counters->unpacked_recvd_bytes += len);
    fm_pack_begin(&pack, r->msg.buf, r->msg.count, r->msg.dtype);
    fm_pack_in(&pack, data, len);
}

/* ---- completion ---- */

static void leave(struct fm_channel *ch, struct fm_recv_req *r)
{
    if (FM_UNLIKELY(r->id)) {
        fm_ids_drop(&ch->ids, r->id);
        r->id = 0;
    }
    r->peer = NULL;
}

void fm_recv_req_truncated(struct fm_channel *ch, struct fm_recv_req *r)
{
    FM_STAT(ch->counters->n_truncated++);
    fm_request_fail(&r->req, MPI_ERR_TRUNCATE,
                    "the message of %lld bytes from rank %d with tag %d is longer than the receive "
                    "buffer of %lld bytes: post a larger one, or ask MPI_Probe for the size",
                    (long long)r->len, r->req.status.source, r->req.status.tag, (long long)r->cap);
}

void fm_recv_req_emit_done(struct fm_channel *ch, const struct fm_recv_req *r)
{
    fm_p2p_emit(ch, FM_EV_COMPLETED, fm_comm_proc(r->msg.comm, r->req.status.source),
                fm_msg_context(&r->msg), r->req.status.tag, (uint64_t)r->want);
}

void fm_recv_req_done(struct fm_channel *ch, struct fm_recv_req *r)
{
    leave(ch, r);
    fm_recv_req_end(ch, r);
}

void fm_recv_req_fail(struct fm_channel *ch, struct fm_recv_req *r, int klass, const char *why)
{
    if (r->fetch && r->abort_fetch(ch, r)) {
        return;
    }
    leave(ch, r);
    fm_request_fail(&r->req, klass, "%s", why);
}

void fm_recv_req_lost(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_peer *peer)
{
    char why[FM_PEER_WHY];

    fm_recv_req_fail(ch, r, MPI_ERR_PROC_ABORTED, fm_peer_describe(peer, why));
}
