/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receive under way: its request, from the match with a message to completion. The entries
 * (recv.c) make and post it; it ends in exactly one of fm_recv_req_end(), _done(), _fail() and a
 * cancellation, which drop the engine's reference.
 */
#pragma once

#include "core/dtype/pack.h"
#include "core/object/request.h"
#include "core/p2p/channel.h"
#include "core/p2p/counting.h"
#include "core/p2p/match.h"
#include "core/p2p/msg.h"
#include "util/copy.h"

/* Kind of object in the channel's table of ids (ids.h). */
#define FM_ID_RECV 2

struct fm_fetch;
struct fm_peer;

struct fm_recv_req {
    struct fm_request req;
    struct fm_msg msg;
    struct fm_posted posted;
    struct fm_peer *peer;   /* of the sender of a rendezvous, once known; else NULL */
    MPI_Count cap;          /* bytes that the buffer holds */
    MPI_Count want;         /* bytes that will be received */
    MPI_Count got;          /* bytes that DATA packets have brought */
    MPI_Count len;          /* bytes that were sent */
    uint64_t id;            /* on the wire; 0: none */
    uint64_t sreq;          /* the sender's name of the message */
    bool is_pushed;         /* the sender sends DATA and waits for FIN */
    struct fm_fetch *fetch; /* fetch.c: transfers under way; NULL: none */
    /* Set while there is a fetch: release it. True: a transfer is in flight, and the last one
       ends the request. */
    bool (*abort_fetch)(struct fm_channel *ch, struct fm_recv_req *r);
    struct fm_pack pack;
};

_Static_assert(sizeof(struct fm_recv_req) <= FM_REQUEST_LEN, "fits the pool");

/* Members of the request's ops. */
int fm_recv_req_cancel(struct fm_request *req);
void fm_recv_req_release(struct fm_request *req);
void fm_recv_req_describe(const struct fm_request *req, struct fm_request_about *out_about);

/* A message of `len` bytes from `source` with `tag` was matched with this receive. */
static FM_INLINE void fm_recv_req_matched(struct fm_recv_req *r, int source, int tag, MPI_Count len)
{
    r->len = len;
    r->want = len < r->cap ? len : r->cap;
    r->got = 0;
    r->req.status.source = source;
    r->req.status.tag = tag;
    r->req.status.n_bytes = r->want;
}

/* Tell a synchronous sender that its message was matched. */
void fm_recv_req_synced(struct fm_channel *ch, int proc, uint64_t sreq);

/* A packet claims the rank of another process: its peer fails. Returns -FM_E_PROTO. */
FM_COLD int fm_recv_req_refuse(struct fm_channel *ch, int proc, int source);
/* Does the process have this rank in the communicator? 0, else the peer has failed. */
static FM_INLINE int fm_recv_req_check(struct fm_channel *ch, const struct fm_msg *m, int proc,
                                       int source)
{
    if (FM_LIKELY(source < m->comm->n_remote && fm_comm_proc(m->comm, source) == proc)) {
        return 0;
    }
    return fm_recv_req_refuse(ch, proc, source);
}

/* Unpack payload into the buffer of a receive from its beginning, for noncontiguous datatypes. */
void fm_recv_req_unpack(struct fm_channel *ch, struct fm_recv_req *r, const void *data, size_t len);
/* Put payload into the buffer of a receive from its beginning, for all datatypes. */
static FM_INLINE void fm_recv_req_place(struct fm_channel *ch, struct fm_recv_req *r,
                                        const void *data, size_t len)
{
    if (FM_LIKELY(r->msg.dtype->is_contig)) {
        fm_copy((char *)r->msg.buf + r->msg.dtype->true_lb, data, len);
    } else {
        fm_recv_req_unpack(ch, r, data, len);
    }
}

/* The message was longer than the buffer: complete with MPI_ERR_TRUNCATE. */
FM_COLD void fm_recv_req_truncated(struct fm_channel *ch, struct fm_recv_req *r);
FM_COLD void fm_recv_req_emit_done(struct fm_channel *ch, const struct fm_recv_req *r);
/* All wanted bytes are in the buffer, and neither an id nor a peer names the request. */
static FM_INLINE void fm_recv_req_end(struct fm_channel *ch, struct fm_recv_req *r)
{
    FM_STAT(fm_counting_recvd(ch, &r->msg, r->req.status.source, r->want));
    if (FM_UNLIKELY(ch->counters->req.on_done)) {
        fm_recv_req_emit_done(ch, r);
    }
    if (FM_UNLIKELY(r->len > r->cap)) {
        fm_recv_req_truncated(ch, r);
        return;
    }
    fm_request_complete(&r->req);
}
/* All wanted bytes are in the buffer; drops id and peer. */
void fm_recv_req_done(struct fm_channel *ch, struct fm_recv_req *r);
/* It ends with an error (MPI class), as soon as no transfer writes to its buffer any more. */
FM_COLD void fm_recv_req_fail(struct fm_channel *ch, struct fm_recv_req *r, int klass,
                              const char *why);
/* It ends with the error of a peer that has failed. */
FM_COLD void fm_recv_req_lost(struct fm_channel *ch, struct fm_recv_req *r,
                              const struct fm_peer *peer);
