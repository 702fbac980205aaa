/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder share: messages under way, and the steps that they call in one
 * another. See "How a message goes" in ARCHITECTURE.md.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "core/dtype/pack.h"
#include "core/p2p/channel.h"
#include "core/p2p/counting.h"
#include "core/p2p/fetch.h"
#include "core/p2p/hook.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/progress.h"
#include "core/p2p/recv.h"
#include "core/p2p/send.h"
#include "core/p2p/unexpected.h"
#include "core/p2p/wire.h"
#include "util/copy.h"

/* Default of p2p_eager_limit: holds where the transport has no opinion. */
#define FM_EAGER_DEFAULT 16384

enum { FM_ID_SEND = 1, FM_ID_RECV = 2 }; /* kinds of objects that have names on the wire */

/* A message that is being sent. */
struct fm_send_req {
    struct fm_request req;
    struct fm_msg msg; /* its dtype is referenced while the request lives */
    const struct fm_proto *proto;
    struct fm_peer *peer;
    struct fm_out out;
    MPI_Count len;
    uint64_t id; /* on the wire; 0: none */
    uint8_t mode;
    uint8_t reason;
    bool is_cancelling; /* asked the receiver to forget it */
    bool is_exposed;
    bool is_counted; /* in peer->n_rts */
    bool is_held;    /* found too many RTS unanswered */
    bool is_pushing; /* complete with FIN */
    uint64_t start_ns;
    struct fm_mem mem;
    /* Fragments, after CTS. */
    uint64_t rreq;
    MPI_Count want;
    struct fm_pack pack;
};

struct fm_fetch;          /* fetch.c: the transfers of a message that is fetched */
#define FM_FETCH_LEN 2048 /* bytes of one, for its pool */

/* A message that is being received. */
struct fm_recv_req {
    struct fm_request req;
    struct fm_msg msg;
    struct fm_posted posted;
    struct fm_peer *peer; /* of the sender, once known */
    MPI_Count cap;        /* bytes that the buffer takes */
    MPI_Count want;       /* bytes that will come */
    MPI_Count got;
    MPI_Count len;  /* bytes that were sent */
    uint64_t id;    /* on the wire; 0: none */
    uint64_t sreq;  /* the sender's name of it */
    bool is_pushed; /* asked for, and the sender waits for FIN */
    struct fm_fetch *fetch;
    struct fm_pack pack;
};

_Static_assert(sizeof(struct fm_send_req) <= FM_REQUEST_LEN, "fits the pool");
_Static_assert(sizeof(struct fm_recv_req) <= FM_REQUEST_LEN, "fits the pool");

/* A protocol: how a message to another process travels. Each is a file that ends in its table. */
struct fm_proto {
    const char *name;
    /* May this message go this way now? */
    bool (*fits)(const struct fm_peer *peer, const struct fm_send_req *s);
    /* Send the first packet. 0, FM_AGAIN (nothing happened), or a failure of the peer. */
    int (*start)(struct fm_channel *ch, struct fm_send_req *s);
    /* The receiver has answered. 0 or -FM_E_PROTO with the reason. */
    int (*on_reply)(struct fm_channel *ch, struct fm_send_req *s, const struct fm_wire_reply *h);
    /* It will not be completed: let go of what start() took. The request is not completed here. */
    void (*abort)(struct fm_channel *ch, struct fm_send_req *s);
};

extern const struct fm_proto fm_eager;
extern const struct fm_proto fm_rndv;

static FM_INLINE uint32_t fm_msg_context(const struct fm_msg *m)
{
    return m->comm->context + (uint32_t)m->space;
}

/* What the engine adds to the kind and the flags of a packet. */
static FM_INLINE void fm_wire_head_fill(struct fm_wire_head *h, const struct fm_peer *peer)
{
    h->version = FM_WIRE_VERSION;
    h->proc = peer->remote_id;
    h->freed = peer->freed;
}

/* Two halves as they lie in memory, one behind the other. */
static FM_INLINE uint64_t fm_wire_pair(uint32_t first, uint32_t second)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? first | (uint64_t)second << 32
                                                     : (uint64_t)first << 32 | second;
}

/* In whole words, as util/copy.h copies them. */
static FM_INLINE void fm_wire_base_set(struct fm_wire_base *b, int kind, const struct fm_peer *peer,
                                       const struct fm_msg *m)
{
    struct fm_wire_head h = {.kind = (uint8_t)kind, .version = FM_WIRE_VERSION};
    uint32_t first;

    memcpy(&first, &h, sizeof(first));
    memcpy(b,
           (uint64_t[]){fm_wire_pair(first, (uint32_t)peer->remote_id),
                        fm_wire_pair(peer->freed, fm_msg_context(m)),
                        fm_wire_pair((uint32_t)m->comm->rank, (uint32_t)m->tag)},
           sizeof(*b));
}

/* peer.c ------------------------------------------------------------------------------------- */

/* The peer's message does not need its n blocks here (any more). Tells it when a quarter of what
   the narrowest window takes has gathered. */
static FM_INLINE void fm_peer_freed(struct fm_channel *ch, struct fm_peer *peer, uint32_t n_blocks)
{
    peer->freed += n_blocks;
    if (FM_UNLIKELY(peer->freed - peer->told > ch->far_window / 4)) {
        fm_peer_tell_freed(ch, peer);
    }
}

/* send.c */
/* Send a short message without a request, if that is possible now. */
bool fm_send_at_once(const struct fm_msg *m, MPI_Count len);
/* All bytes of the message may be reused: complete the request. */
void fm_send_done(struct fm_channel *ch, struct fm_send_req *s);
/* It ends with an error. */
FM_COLD void fm_send_fail(struct fm_channel *ch, struct fm_send_req *s, int klass, const char *why);
/* It was cancelled before anybody matched it: complete the request so. */
void fm_send_taken_back(struct fm_channel *ch, struct fm_send_req *s);
/* A request for a message, with one reference, the handle's. NULL when out of room. */
struct fm_send_req *fm_send_req_new(const struct fm_msg *m, enum fm_send_mode mode, MPI_Count len);
/* Begin with a request that is not under way (a new one, or a persistent one); the engine's
   reference has been taken. 0 or a failure; failures of the peer are in the request. */
int fm_send_start(struct fm_send_req *s);

/* recv.c ------------------------------------------------------------------------------------- */

/* Make ch->blocking. 0 or a failure. */
int fm_recv_blocking_create(struct fm_channel *ch);

/* A request for a receive, with one reference, the handle's. NULL when out of room. */
struct fm_recv_req *fm_recv_req_new(const struct fm_msg *m);
/* Match or post it; the engine's reference has been taken. 0 or a failure. */
int fm_recv_start(struct fm_recv_req *r);
/* Take the data out of an unexpected message (no longer in the queues) into r; u is freed. */
int fm_recv_unexpected(struct fm_channel *ch, struct fm_recv_req *r, struct fm_unexp *u);
/* Somebody may send no further RTS, and a receive or probe waits for what he may hold back. */
FM_COLD void fm_recv_ask_stalled(struct fm_channel *ch, const struct fm_comm *comm, int source);
/* Wait for a receive and take it over; its error becomes a failure. */
int fm_recv_wait(struct fm_request *r, struct fm_status *out_status);
/* A message from `source` with `tag`, `len` bytes long, has met this receive: note it. */
static FM_INLINE void fm_recv_matched(struct fm_recv_req *r, int source, int tag, MPI_Count len)
{
    r->len = len;
    r->want = len < r->cap ? len : r->cap;
    r->got = 0;
    r->req.status.source = source;
    r->req.status.tag = tag;
    r->req.status.n_bytes = r->want;
}
/* It was longer than the buffer: end with that error. */
FM_COLD void fm_recv_truncated(struct fm_channel *ch, struct fm_recv_req *r);
FM_COLD void fm_recv_emit_done(struct fm_channel *ch, const struct fm_recv_req *r);
/* All that is wanted is in the buffer, and nothing names the request any more. */
static FM_INLINE void fm_recv_end(struct fm_channel *ch, struct fm_recv_req *r)
{
    FM_STAT(fm_counting_recvd(ch, &r->msg, r->req.status.source, r->want));
    if (FM_UNLIKELY(ch->counters->req.on_done)) {
        fm_recv_emit_done(ch, r);
    }
    if (FM_UNLIKELY(r->len > r->cap)) {
        fm_recv_truncated(ch, r);
        return;
    }
    fm_request_complete(&r->req);
}
/* The same for one that had names, or a peer. */
void fm_recv_done(struct fm_channel *ch, struct fm_recv_req *r);
FM_COLD void fm_recv_fail(struct fm_channel *ch, struct fm_recv_req *r, int klass, const char *why);
/* A message came in another's name: its peer has failed. */
FM_COLD int fm_recv_refuse(struct fm_channel *ch, int proc, int source);
/* Is the process the one that has this rank in the communicator? 0; else the peer has failed. */
static FM_INLINE int fm_recv_check(struct fm_channel *ch, const struct fm_msg *m, int proc,
                                   int source)
{
    if (FM_LIKELY(source < m->comm->n_remote && fm_comm_proc(m->comm, source) == proc)) {
        return 0;
    }
    return fm_recv_refuse(ch, proc, source);
}
/* Tell a synchronous sender that its message was matched. */
void fm_recv_synced(struct fm_channel *ch, int proc, uint64_t sreq);
/* Put payload into the buffer of a receive from the beginning on: not one run of bytes there. */
void fm_recv_unpack(struct fm_channel *ch, struct fm_recv_req *r, const void *data, size_t len);
/* The same, of any kind. */
static FM_INLINE void fm_recv_place(struct fm_channel *ch, struct fm_recv_req *r, const void *data,
                                    size_t len)
{
    if (FM_LIKELY(r->msg.dtype->is_contig)) {
        fm_copy((char *)r->msg.buf + r->msg.dtype->true_lb, data, len);
    } else {
        fm_recv_unpack(ch, r, data, len);
    }
}

/* deliver.c ---------------------------------------------------------------------------------- */

/* Install the handlers of the engine's kinds. */
void fm_deliver_install(struct fm_channel *ch);
/* The sink of all transports. */
void fm_deliver(void *ctx, const void *data, size_t len);

/* rndv.c ------------------------------------------------------------------------------------- */

/* Fetch what the RTS offers, or ask for it. 0 or a failure of the peer, which is dealt with. */
int fm_rndv_receive(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_rts *rts);
/* A fragment has come. 0 or -FM_E_PROTO. */
int fm_rndv_data(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_wire_reply *h,
                 const void *data, size_t len);
/* Ask for fragments, or for as many as come soon (is_pushed); or, when all is here, give the sender
   its buffer back. */
void fm_rndv_ask(struct fm_channel *ch, struct fm_recv_req *r, bool is_pushed);
void fm_rndv_fetched(struct fm_channel *ch, struct fm_recv_req *r);

/* self.c ------------------------------------------------------------------------------------- */

/* A message to the process itself. 0 or a failure. */
int fm_self_send(struct fm_channel *ch, struct fm_send_req *s);
/* Take it back if it was not matched. */
int fm_self_cancel(struct fm_channel *ch, struct fm_send_req *s);
/* Receive an unexpected message of the process itself whose data is still at the sender. */
void fm_self_receive(struct fm_channel *ch, struct fm_recv_req *r, struct fm_send_req *s);
