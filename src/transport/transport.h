/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transport moves messages and memory between processes and knows no tags.
 *
 * Model. A process opens a transport once (struct fm_transport). Its address, a few hundred bytes
 * at most, is published through the process manager; given a peer's address, connect() makes an
 * endpoint (struct fm_ep). Messages between two processes over one transport arrive whole, once,
 * and in the order in which send() and commit() accepted them. They come up through the sink that
 * was given at open, only from inside poll(). There are no threads inside.
 *
 * Memory: expose() and rma(), transport_rma.h.
 *
 * Refusing. FM_AGAIN means: no room now, nothing was taken, poll() and come back.
 *
 * Who calls: one thread at a time (the library lock). Transports are opened through the table of
 * transports.h; every slot of the operations must be filled (fm_transport_check).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport_rma.h"
#include "util/compiler.h"
#include "util/status.h"

struct fm_transport;
struct fm_ep;

/* Longest address of any transport, bytes. */
#define FM_ADDRESS_MAX 512

/* Up-calls, made from inside poll() only, except `failed`, which send-side calls may make too. */
struct fm_sink {
    void *ctx;
    /*
     * A message has arrived: len >= 1 bytes at data, 8-byte aligned, valid during the call only.
     * It comes from a process of the job; which one is what the message says, and not verified.
     * May call send(), not poll().
     */
    void (*deliver)(void *ctx, const void *data, size_t len);
    /* The peer with this index is gone or cannot be reached: every later call on its endpoint
     * fails. */
    void (*failed)(void *ctx, int peer, const char *why);
    /* poll() should return after a message that makes **enough true: the request that the caller
       waits for is complete, and the receive for the next message may only be posted after that.
       NULL: never. */
    const bool *const *enough;
};

/* How a process may sleep until this transport has something to do. */
struct fm_sleep {
    int fd;                 /* poll(2) for reading; -1: none */
    _Atomic uint32_t *word; /* or a futex: sleep while *word == seen; NULL: none. Only from the sole
                               transport: no thread can sleep on both kinds */
    uint32_t seen;
    uint32_t max_us; /* longest sleep before arm() and poll() again; 0: any event is a wake-up */
};

struct fm_transport_ops {
    const char *name; /* "ofi", "shm" */

    /* End the transport and every endpoint of it. Waits until what was accepted has left; delivers
     * nothing any more. Transfers that did not end are ended with -FM_E_CANCELLED. NULL is fine. */
    void (*close)(struct fm_transport *tp);

    /* Write this process's address (at most FM_ADDRESS_MAX bytes) and its length. */
    int (*address)(struct fm_transport *tp, void *out_addr, size_t *out_len);

    /* Endpoint for the peer with process index `peer`, whose address is given. Does not talk yet.
     */
    int (*connect)(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                   struct fm_ep **out_ep);
    void (*disconnect)(struct fm_ep *ep);

    /*
     * Send one message made of a header and a body (body_len may be 0), together at most
     * tp->max_send bytes. Both are free for reuse on return. 0, FM_AGAIN or a failure.
     */
    int (*send)(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                size_t body_len);

    /*
     * The same in two steps, for bodies that are made in place (packing): reserve() gives room for
     * a message of at most len bytes, 8-byte aligned; commit() sends the first len bytes of it. No
     * other call on this transport in between. A reserved room is always committed; len 0 gives it
     * back unsent. commit() never answers FM_AGAIN.
     */
    int (*reserve)(struct fm_ep *ep, size_t len, void **out_room);
    int (*commit)(struct fm_ep *ep, void *room, size_t len);

    /* Start a transfer. 0: done() will be or has been called; FM_AGAIN or a failure: it will not.
       -FM_E_UNSUPPORTED: the peer's memory cannot be reached, or tp->atomics lacks the operation.
     */
    int (*rma)(struct fm_ep *ep, struct fm_rma *rma);

    /* Make memory reachable by peers with these rights (enum fm_mem_right), and take that back.
       has_rma only; else -FM_E_UNSUPPORTED. */
    int (*expose)(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                  enum fm_mem_life life, struct fm_mem *out_mem);
    void (*unexpose)(struct fm_transport *tp, struct fm_mem *mem);

    /* Make progress. Returns how many things happened (messages delivered, transfers done), 0 for
       none, or a failure of the transport as a whole. Never blocks. */
    int (*poll)(struct fm_transport *tp);

    /* Before sleeping: 0 and *out_sleep filled, when nothing is pending and whatever comes later
       will wake the sleeper, or is found when max_us have passed; FM_AGAIN when poll() has work. */
    int (*arm)(struct fm_transport *tp, struct fm_sleep *out_sleep);
};

/* What every transport begins with. Set at open, constant after. */
struct fm_transport {
    const struct fm_transport_ops *ops;
    struct fm_sink sink;
    size_t max_send;      /* bytes of head and body of one message, at least 4096 */
    size_t best_inline;   /* bytes up to which send() is cheapest (inject, one cache line), head
                             included */
    size_t piece_len;     /* preferred fragment size for pipelining, bytes without header; 0: no
                             preference */
    size_t eager_len;     /* preferred eager limit, bytes of payload; 0: no preference */
    bool has_rma;         /* rma() and expose() work */
    bool needs_expose;    /* a GET's target must be exposed (false: its plain address is enough, see
                             shm) */
    bool wants_local_mem; /* `local` of a transfer should be registered too (FI_MR_LOCAL) */
    uint32_t max_pieces;  /* of one transfer; 0: it takes no lists */
    uint32_t atomics[FM_RMA_N_OPS]; /* types (1 << enum fm_rma_type) of elements that rma() updates
                                       by each operation, with and without `result` */
    bool
        is_unbounded; /* it buffers messages that were not received yet without bound (false: send()
                          answers FM_AGAIN) */
};

/* Is a sender-driven pipeline of messages faster for long data than the peer's GETs, while both
   processes are awake? */
enum fm_push {
    FM_PUSH_NEVER,
    FM_PUSH_SELDOM, /* not now; a rare one lets the transport measure when that changes */
    FM_PUSH_ALWAYS,
};

/* What every endpoint begins with. */
struct fm_ep {
    struct fm_transport *tp;
    const struct fm_transport_ops *ops; /* == tp->ops, saves a load on the hot path */
    int peer;                           /* process index */
    uint8_t pushes; /* enum fm_push: preferred way of long data; may change at any time */
    bool no_rma;    /* set by connect(): this peer's memory cannot be reached although tp->has_rma;
                    rma() answers -FM_E_UNSUPPORTED and the engine sends fragments */
};

/* Arguments of open functions. */
struct fm_transport_args {
    struct fm_sink sink;
    int self;         /* process index of this process */
    int n_procs;      /* processes of the job at start */
    int n_local;      /* of them on this host; 0: not known, n_procs is taken */
    const char *tag;  /* name of the job, unique on this host */
    bool is_one_host; /* every process of the job is on this host */
    bool has_company; /* another transport is open beside it: arm() is to give a descriptor */
};

/* 0 if every slot is filled and the limits make sense, else -FM_E_INTERNAL and the reason. */
int fm_transport_check(const struct fm_transport *tp);

static FM_INLINE int fm_ep_send(struct fm_ep *ep, const void *head, size_t head_len,
                                const void *body, size_t body_len)
{
    return ep->ops->send(ep, head, head_len, body, body_len);
}

/* Does rma() do this atomic operation on such elements? */
static FM_INLINE bool fm_transport_has_atomic(const struct fm_transport *tp, enum fm_rma_op op,
                                              enum fm_rma_type type)
{
    return tp->has_rma && (tp->atomics[op] >> type & 1);
}

static FM_INLINE int fm_transport_poll(struct fm_transport *tp)
{
    return tp->ops->poll(tp);
}
