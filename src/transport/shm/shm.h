/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the shared-memory transport have in common. For this folder only. What lies in
 * shared memory is in shm_layout.h.
 *
 * Paths of a message. A pair begins to talk through the receiver's inbox. After shm_fast_ring_after
 * messages, or with the first long one, the sender claims a fast ring there (shm_pair.c), says so
 * in the inbox, and continues in the fast ring. The receiver polls a fast ring from that word on,
 * which keeps the order. When all rings are claimed, further pairs stay with the inbox. So a
 * process polls at most one inbox and n_fast rings, and its own settings bound its memory. Long
 * messages take the bulk ring behind the fast ring; what need not travel as messages is copied
 * once, by system call (shm_copy.c).
 *
 *     shm_open.c      open, close              shm_vars.c      variables and events
 *     shm_segment.c   own and peers' memory    shm_peer.c      endpoints
 *     shm_pair.c      fast and bulk rings      shm_gone.c      peers that have ended
 *     shm_send.c      send                     shm_poll.c      receive, progress
 *     shm_doorbell.c  wake-ups                 shm_sleep.c     arm
 *     shm_cma.c       system calls of copying  shm_copy.c      transfers that we start
 *     shm_assist.c    chunks copied for peers  shm_bulk.c      long messages
 */
#pragma once

#include <sys/types.h>

#include "transport/shm/shm_layout.h"
#include "transport/shm/shm_open.h"
#include "util/traffic.h"

#define FM_SHM_FAILED_ASSISTS 3  /* transfers in a row that a peer did not assist, */
#define FM_SHM_ASSIST_BACKOFF 16 /* ... after which so many go without a request */

/* See shm_sleep.c. */
#define FM_SHM_SETTLE_NS 1000
#define FM_SHM_SHORT_US  1000

/* Values of shm_wake. */
enum { FM_SHM_WAKE_AUTO, FM_SHM_WAKE_FENCE, FM_SHM_WAKE_SETTLE };

/* Counters and control variables; rows in shm_vars.c. */
struct fm_shm_counters {
    uint64_t inbox_bytes, fast_rings, fast_bytes, fast_after; /* control variables */
    uint64_t max_message, cma, cma_chunk, assist_min, wake, bulk_bytes, bulk_min;
    uint64_t high_latency_ns, no_shared_cache_ns, piece_len;
    struct fm_traffic fast_sent;  /* messages sent through a fast ring, bulk ones included */
    struct fm_traffic inbox_sent; /* ... through an inbox */
    struct fm_traffic received;   /* messages delivered */
    uint64_t n_bulk_sent;         /* of those through a fast ring, with the body in the bulk ring */
    uint64_t n_nontemporal;       /* of these, with non-temporal stores */
    uint64_t line_ns;             /* last latency of a line that a consumer had written */
    uint64_t n_bulk_rings;        /* that this process writes to */
    uint64_t n_full;              /* sends refused, no space at the receiver */
    uint64_t n_fast_claimed;      /* fast rings that this process got at others */
    uint64_t n_fast_refused;      /* ... did not get */
    uint64_t n_fast_polled;       /* fast rings of others here */
    uint64_t n_cma, n_cma_bytes;  /* system calls of single copy, bytes moved by them */
    uint64_t n_cma_transfers;     /* rma() calls that were done */
    uint64_t n_cma_refused;       /* peers with which single copy is forbidden */
    uint64_t n_chunks_assisted;   /* chunks of own transfers that the peer copied */
    uint64_t n_chunks_for_peers;  /* chunks of others' transfers copied here */
    uint64_t n_sleeps, n_wakeups; /* announced sleeps; system calls to wake a peer */
    uint64_t segment_bytes;       /* memory of the own segment */
    struct fathom_level n_peers;  /* endpoints */
    uint64_t on_connected, on_fast_claimed, on_cma_refused; /* events */
};

/* An endpoint. The first part is what a short send touches. */
struct fm_shm_ep {
    struct fm_ep ep; /* first */
    struct fm_shm_fast_end tx;
    struct fm_shm_header *header; /* of the peer's segment */
    size_t fast_max;              /* longest message for the slots of the fast ring, bytes */
    bool must_fence;
    bool is_dead; /* failed() was called; tx.ring is NULL */
    bool is_fast_tried;
    bool owns_map;             /* false: the peer is this very process */
    bool can_assist;           /* it may be asked to copy chunks */
    uint32_t n_failed_assists; /* transfers in a row that were requested and not assisted */
    uint32_t n_backoff;        /* transfers before the next request */
    uint32_t fast_after;       /* messages through the inbox before a fast ring is claimed */
    int32_t claimed;           /* fast ring that is ours but not yet in use, or -1 */
    uint32_t n_refused;
    struct fm_shm_inbox *inbox;
    struct fm_shm_geometry geometry; /* checked copy: the peer's memory is read once */
    struct fm_shm_address address;
    uint64_t room_span; /* between reserve and commit: of the inbox */
    int wakeup;         /* our descriptor of the peer's pipe; -1: it has none */
    struct fm_shm_bulk bulk;
    struct fm_shm_ep *next;
};

/* A transfer that this process started. */
struct fm_shm_job {
    struct fm_rma *rma; /* NULL: free */
    struct fm_shm_ep *ep;
    uint32_t n_own; /* chunks copied here */
    uint32_t generation;
    uint32_t n_idle; /* polls in which only the helper was waited for */
    uint64_t chunk;  /* bytes; what shared memory says of the transfer is for the helper alone */
    uint32_t n_chunks;
    int status;
    bool is_requested; /* the peer was asked to assist */
    bool has_lost;     /* the helper has given up */
};

/* A transfer of a peer that this process assists. */
struct fm_shm_assist {
    struct fm_shm_ep *ep; /* NULL: free */
    uint32_t slot, generation;
    bool has_pieces; /* they were read from the initiator */
    uint32_t n_pieces;
    struct fm_rma_piece pieces[FM_SHM_PIECES];
};

struct fm_shm_transport {
    struct fm_transport tp; /* first */
    struct fm_shm_counters *counters;
    struct fm_shm_header *header; /* of the own segment */
    struct fm_shm_inbox *inbox;
    uint64_t inbox_head, inbox_len;
    unsigned n_rx, hot;    /* fast rings in use, and the one that had the last message */
    bool fences;           /* senders do; see shm_sleep.c */
    uint64_t announced_ns; /* when the doorbell was set last */
    unsigned n_jobs, n_assists;
    uint32_t generation; /* of the last transfer */
    size_t chunk;        /* bytes that one system call of a shared transfer copies */
    size_t assist_min;   /* bytes of a transfer from which on the peer is asked to assist */
    bool is_crowded;     /* more processes than processors: no peer is asked */
    struct fm_shm_job jobs[FM_SHM_COPIES];
    struct fm_shm_assist assists[FM_SHM_COPIES];
    struct fm_shm_ep *eps;
    int self;
    int fd;        /* of the segment; -1: it is in the arena */
    uint64_t at;   /* its place there; 0: none */
    int wakeup[2]; /* the pipe, read and write end; -1: none */
    struct fm_shm_geometry geometry;
    char *staging; /* shm_bulk.c: for messages that are made before they are copied; or NULL */
    struct fm_shm_fast_end rx[FM_SHM_FAST_RINGS];
    struct fm_shm_bulk bulks[FM_SHM_FAST_RINGS]; /* of the fast rings in rx */
};

static inline struct fm_shm_transport *fm_shm_of(const struct fm_shm_ep *ep)
{
    return (struct fm_shm_transport *)ep->ep.tp;
}

static inline uint64_t fm_shm_round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

/* A request for assistance, as it travels. */
struct fm_shm_request {
    int32_t from;
    uint32_t slot;
    uint32_t generation;
};

/* shm_vars.c: the events of the room. */
void fm_shm_event_connected(struct fm_shm_ep *ep);
void fm_shm_event_fast(struct fm_shm_ep *ep);
void fm_shm_event_refused(struct fm_shm_ep *ep, int error);

/* shm_segment.c */

/* Make the own segment, for n_local processes of this host. 0 or a failure. */
int fm_shm_segment_make(struct fm_shm_transport *t, int n_local);
void fm_shm_segment_close(struct fm_shm_transport *t);
/* Map the peer's segment. 0 or a failure, after which the peer is left to another transport. */
int fm_shm_segment_attach(struct fm_shm_transport *t, struct fm_shm_ep *ep);
void fm_shm_segment_detach(struct fm_shm_ep *ep);
/* Reserve memory in the peer's segment. False: there is none. */
bool fm_shm_segment_reserve(struct fm_shm_ep *ep, uint64_t at, uint64_t len);

/* shm_peer.c */
int fm_shm_peer_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                        struct fm_ep **out_ep);
void fm_shm_peer_disconnect(struct fm_ep *fep);

/* shm_gone.c */

/* The peer has died or left, as far as can be found out. Slow. */
bool fm_shm_gone_is(struct fm_shm_ep *ep);
/* The peer is gone: report it to the sink, once. Returns -FM_E_PEER. */
int fm_shm_gone_report(struct fm_shm_ep *ep, const char *why);
/* A send found no space: FM_AGAIN, or from time to time the end of the peer. */
FM_COLD int fm_shm_gone_or_full(struct fm_shm_ep *ep);

/* shm_pair.c */

/* Set the pair up for a message of len bytes: claim a fast ring, open the bulk ring, where they are
   due. 0, or FM_AGAIN: no space to tell the receiver. */
int fm_shm_pair_prepare(struct fm_shm_ep *ep, size_t len);

/* shm_send.c */
int fm_shm_send(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                size_t body_len);
int fm_shm_send_reserve(struct fm_ep *ep, size_t len, void **out_room);
int fm_shm_send_commit(struct fm_ep *ep, void *room, size_t len);
/* Send a message for the transport itself, of at most FM_SHM_INLINE bytes. 0 or FM_AGAIN. */
int fm_shm_send_internal(struct fm_shm_ep *ep, const void *data, size_t len);

/* shm_poll.c */
int fm_shm_poll(struct fm_transport *tp);
/* Is a message waiting? */
bool fm_shm_poll_has_work(struct fm_shm_transport *t);

/* shm_sleep.c */
int fm_shm_sleep_arm(struct fm_transport *tp, struct fm_sleep *out_sleep);

/* shm_cma.c */

/* Both sides of a transfer, as the initiator names them. */
struct fm_shm_sides {
    uint64_t initiator, target;        /* addresses of the first byte of each */
    const struct fm_rma_piece *pieces; /* then `initiator` is 0 */
    uint32_t n_pieces;                 /* 0: one run */
    bool is_target;                    /* this process is the target */
};

/* May memory of the peer be read and written? Tried once, at connect. */
bool fm_shm_cma_probe(struct fm_shm_ep *ep);
/* Move the bytes [at, at + len) of a transfer with the process of the endpoint. 0 or a failure,
   with which part of the bytes may have moved. */
int fm_shm_cma_move(struct fm_shm_ep *ep, bool is_read, const struct fm_shm_sides *s, uint64_t at,
                    size_t len);
/* Bytes of chunk k of `len`; 0: there is no such chunk. */
size_t fm_shm_cma_chunk_len(uint64_t len, uint64_t chunk, uint64_t k);
/* The next chunk of this generation, or -1 when none is left. */
int64_t fm_shm_cma_claim(struct fm_shm_copy *c, uint32_t generation);

/* shm_copy.c */
int fm_shm_copy_rma(struct fm_ep *ep, struct fm_rma *rma);
int fm_shm_copy_expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                       enum fm_mem_life life, struct fm_mem *out_mem);
void fm_shm_copy_unexpose(struct fm_transport *tp, struct fm_mem *mem);
/* One chunk of each transfer in progress. How many things happened. */
int fm_shm_copy_poll(struct fm_shm_transport *t);
/* Bring all transfers with this endpoint to an end (NULL: all). */
void fm_shm_copy_finish(struct fm_shm_transport *t, struct fm_shm_ep *ep);

/* shm_assist.c */

/* A message for the transport came in: a peer asks for assistance. */
void fm_shm_assist_requested(struct fm_shm_transport *t, const void *data, size_t len);
/* One chunk of each transfer that is assisted. How many chunks were copied. */
int fm_shm_assist_poll(struct fm_shm_transport *t);
/* Bring assistance to this endpoint to an end (NULL: to all). */
void fm_shm_assist_finish(struct fm_shm_transport *t, struct fm_shm_ep *ep);
