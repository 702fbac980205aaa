/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A send under way: its request, from the pool to completion. The entries (send.c, bsend.c) make
 * it, a protocol (proto.h) moves it, and it ends in exactly one of fm_send_req_done(), _fail() and
 * _cancelled(), which drop the engine's reference.
 */
#pragma once

#include "core/dtype/pack.h"
#include "core/object/request.h"
#include "core/p2p/proto.h"

/* Kind of object in the channel's table of ids (ids.h). */
#define FM_ID_SEND 1

struct fm_send_req {
    struct fm_request req;
    struct fm_msg msg;            /* its dtype is referenced while the request lives */
    const struct fm_proto *proto; /* NULL: not started */
    struct fm_peer *peer;         /* NULL: to the process itself */
    struct fm_out out;
    MPI_Count len;
    uint64_t id;        /* on the wire; 0: none */
    uint8_t mode;       /* enum fm_send_mode */
    uint8_t reason;     /* enum fm_reason */
    bool is_cancelling; /* the receiver was asked to drop it */
    bool is_exposed;    /* `mem` is registered */
    bool is_counted;    /* in peer->n_rts */
    bool is_held;       /* was held back by the RTS window */
    bool is_pushing;    /* sends DATA, completes with FIN */
    uint64_t start_ns;
    struct fm_mem mem;
    /* Fragments, after CTS. */
    uint64_t rreq;
    MPI_Count want;
    struct fm_pack pack;
};

_Static_assert(sizeof(struct fm_send_req) <= FM_REQUEST_LEN, "fits the pool");

/* A request for a message, with one reference, the handle's; `ops` are those of the entry, which
   use the functions below. NULL when out of memory. */
struct fm_send_req *fm_send_req_new(const struct fm_request_ops *ops, const struct fm_msg *m,
                                    enum fm_send_mode mode, MPI_Count len);

/* Members of the request's ops. */
int fm_send_req_cancel(struct fm_request *r);
void fm_send_req_release(struct fm_request *r);
void fm_send_req_describe(const struct fm_request *r, struct fm_request_about *out_about);

/* The protocols' way to cancel: ask the receiver, which answers CANCELLED. */
void fm_send_req_ask_cancel(struct fm_channel *ch, struct fm_send_req *s);

/* The buffer may be reused. */
void fm_send_req_done(struct fm_channel *ch, struct fm_send_req *s);
/* It ends with an error (MPI class). */
FM_COLD void fm_send_req_fail(struct fm_channel *ch, struct fm_send_req *s, int klass,
                              const char *why);
/* It ends with the error of its peer, which has failed. */
FM_COLD void fm_send_req_lost(struct fm_channel *ch, struct fm_send_req *s);
/* It was cancelled before a receive matched it. */
void fm_send_req_cancelled(struct fm_channel *ch, struct fm_send_req *s);
