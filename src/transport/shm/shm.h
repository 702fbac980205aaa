/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the shared-memory transport have in common.
 *
 * Every process owns one segment, a memfd that others map through /proc. Into it the others write
 * what is for the owner:
 *
 *     0          ring_at               boxes_at   + box_stride
 *     +----------+---------------------+----------+----------+-- --+
 *     | header   | ring: many writers  | box 0    | box 1    | ... |
 *     +----------+---------------------+----------+----------+-- --+
 *      reserved at open                 each reserved when a sender claims it
 * Behind each box lies the lane of the same pair (shm_lane.h), for what is longer than lane_min.
 *
 * A pair begins to talk through the ring. After `box_after` messages the sender claims the next
 * fast box, says so in the ring, and goes on in the box; the reader looks into a box from that
 * word on, which keeps the order. When all boxes are taken, further pairs stay with the ring. So a
 * process polls at most one ring and `n_boxes` boxes, and its own settings bound its memory.
 *
 * Before it sleeps the owner sets header.bell, and senders ring it: shm_msg.c.
 */
#pragma once

#include "transport/shm/shm_box.h"
#include "transport/shm/shm_lane.h"
#include "transport/shm/shm_open.h"
#include "transport/shm/shm_ring.h"
#include "util/traffic.h"

#include <sys/types.h>

#define FM_SHM_MAGIC   UINT64_C(0x31474d534853464d)
#define FM_SHM_VERSION 5
#define FM_SHM_COPIES  8   /* transfers that a process may have in progress at one time */
#define FM_SHM_PIECES  128 /* of one transfer, at most */
#define FM_SHM_BOXES   256 /* most fast boxes of a process */
#define FM_SHM_MISSES  3   /* transfers in a row with which a peer did not help, */
#define FM_SHM_ALONE   16  /* ... after which it is not asked for so many */

/* See shm_msg.c. */
#define FM_SHM_SETTLE_NS 1000
#define FM_SHM_SHORT_US  1000

/* Words of the room; rows in shm_open.c. */
struct fm_shm_counters {
    uint64_t ring_bytes, boxes, box_bytes, box_after; /* cvars */
    uint64_t max_message, cma, cma_chunk, cma_help, wake, lane_bytes, lane_min;
    uint64_t apart_ns, far_ns, piece_len;
    struct fm_traffic box_sent;  /* messages handed to peers through a fast box */
    struct fm_traffic ring_sent; /* ... through the ring */
    struct fm_traffic received;  /* messages delivered */
    uint64_t n_lane_sent;        /* of those through a box, with the body in the lane */
    uint64_t n_past;             /* of these, stored past the caches */
    uint64_t line_ns;            /* time of the last look at a word of a reader */
    uint64_t n_lanes;            /* lanes that this process writes to */
    uint64_t n_full;             /* refused, no room at the receiver */
    uint64_t n_boxes_claimed;    /* fast boxes that this process got at others */
    uint64_t n_boxes_refused;    /* ... did not get */
    uint64_t n_boxes_polled;     /* fast boxes of others here */
    uint64_t n_cma, n_cma_bytes; /* system calls of single copy, bytes moved by them */
    uint64_t n_cma_transfers;    /* rma() calls that were done */
    uint64_t n_cma_refused;      /* peers with whom single copy is forbidden */
    uint64_t n_chunks_helped;    /* chunks of own transfers that the peer copied */
    uint64_t n_chunks_given;     /* chunks of others' transfers copied here */
    uint64_t n_sleeps, n_wakes;  /* bells announced; futex calls to wake a peer */
    uint64_t segment_bytes;      /* memory of the own segment */
    struct fathom_level n_peers; /* endpoints */
    uint64_t on_connected, on_box_claimed, on_cma_refused; /* events */
};

/* What the owner tells of its segment; constant after open. */
struct fm_shm_geometry {
    uint64_t segment_len;
    uint64_t ring_at, ring_len;
    uint64_t boxes_at, box_stride;
    uint64_t lane_at, lane_len; /* within the stride; a power of two, or 0: there are none */
    uint32_t n_boxes, box_cells;
    uint32_t max_send;
    uint32_t fences; /* senders must fence before they look at the bell */
};

/* A transfer whose chunks two processes may copy, in the segment of the one that started it. */
struct fm_shm_copy {
    /*
     * generation:24 | number of chunks:20 | next chunk:20. Chunks are claimed by compare and swap
     * (acq_rel) on both sides; the initiator's release store that starts a generation makes the
     * fields below visible to a claim of that generation, and they stay until all claimed chunks
     * are accounted for.
     */
    _Atomic uint64_t ticket;
    _Atomic uint32_t
        n_helped; /* helper's release add -> initiator's acquire load: bytes are there */
    _Atomic uint32_t
        n_lost; /* chunk + 1 that the helper claimed and could not copy; it then ends */
    uint64_t initiator_addr, target_addr, len, chunk;
    uint32_t op;          /* enum fm_rma_op, as the initiator sees it */
    int32_t target;       /* process index of the helper */
    uint64_t pieces_addr; /* of n_pieces entries in the initiator's memory; 0: one run */
    uint32_t n_pieces;
} FM_ALIGNED(FM_CACHE_LINE);

/* Values of the bell: nobody sleeps; the owner sleeps or is about to, on the word, in poll(2). */
enum { FM_SHM_AWAKE, FM_SHM_BELL, FM_SHM_DOOR };

/* The beginning of a segment. */
struct fm_shm_header {
    uint64_t magic;
    uint64_t nonce; /* random: says that this is the segment that the address meant */
    struct fm_shm_geometry geometry;
    void *base;   /* where the owner has it */
    int32_t door; /* its descriptor of the pipe; -1: it sleeps on the bell */
    _Atomic uint32_t
        closed; /* owner's release at close -> acquire of a sender that finds no room */
    _Atomic uint32_t bell FM_ALIGNED(FM_CACHE_LINE); /* see above */
    _Atomic
        uint32_t n_claimed FM_ALIGNED(FM_CACHE_LINE); /* boxes; relaxed add: a number, no data */
    struct fm_shm_copy copies[FM_SHM_COPIES];
};

/* What address() publishes. */
struct fm_shm_address {
    uint64_t magic;
    uint64_t nonce;
    uint64_t segment_len;
    uint64_t base;
    uint32_t version;
    int32_t pid;
    int32_t fd;
    uint32_t pid_space; /* in which pid is told: low bits of the namespace's inode */
};

/* An endpoint. The first part is what a short send touches. */
struct fm_shm_ep {
    struct fm_ep ep; /* first */
    struct fm_shm_end tx;
    struct fm_shm_header *header; /* of the peer's segment */
    size_t cells_len;             /* bytes up to which a message goes through the box's cells */
    bool must_fence;
    bool is_dead; /* failed() was called; tx.box is NULL */
    bool is_box_tried;
    bool owns_map;      /* false: the peer is this very process */
    bool can_help;      /* it may be asked to copy chunks */
    uint32_t n_misses;  /* shared transfers in a row with which it did not help */
    uint32_t n_alone;   /* transfers before it is asked again */
    uint32_t box_after; /* messages that go through the ring before a box is claimed */
    int32_t claimed;    /* box that is ours but not yet in use, or -1 */
    uint32_t n_refused;
    struct fm_shm_ring *ring;
    struct fm_shm_geometry geometry; /* checked copy: the peer's memory is not trusted twice */
    struct fm_shm_address address;
    uint64_t room_span; /* between reserve and commit: of the ring */
    int door;           /* our descriptor of the peer's pipe; -1: it has none */
    struct fm_shm_lane lane;
    struct fm_shm_ep *next;
};

/* A transfer that this process started. */
struct fm_shm_job {
    struct fm_rma *rma; /* NULL: free */
    struct fm_shm_ep *ep;
    uint32_t n_own; /* chunks copied here */
    uint32_t generation;
    uint32_t n_idle; /* polls in which only the helper was waited for */
    int status;
    bool is_asked; /* the peer was */
};

/* A transfer of a peer that this process helps with. */
struct fm_shm_help {
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
    struct fm_shm_ring *ring;
    uint64_t ring_head, ring_len;
    unsigned n_rx, hot;    /* boxes in use, and the one that had the last message */
    bool fences;           /* senders do; see shm_msg.c */
    uint64_t announced_ns; /* when the bell was set last */
    unsigned n_jobs, n_helps;
    uint32_t generation; /* of the last transfer */
    size_t chunk;        /* bytes that one system call of a shared transfer copies */
    size_t help_len;     /* bytes of a transfer from which on the peer is asked to help */
    bool is_crowded;     /* more processes than processors: nobody is asked */
    struct fm_shm_job jobs[FM_SHM_COPIES];
    struct fm_shm_help helps[FM_SHM_COPIES];
    struct fm_shm_ep *eps;
    int self, fd;
    int door[2]; /* the pipe, read and write end; -1: none */
    struct fm_shm_geometry geometry;
    char *staging; /* for messages that are made before they are copied; or NULL */
    struct fm_shm_end rx[FM_SHM_BOXES];
    struct fm_shm_lane lanes[FM_SHM_BOXES]; /* of the boxes in rx */
};

/* shm_open.c: the events of the room. */
void fm_shm_event_connected(struct fm_shm_ep *ep);
void fm_shm_event_box(struct fm_shm_ep *ep);
void fm_shm_event_refused(struct fm_shm_ep *ep, int error);

/* shm_open.c: reserve the memory of a box, or of the lane behind it. False: there is none. */
bool fm_shm_open_box(struct fm_shm_ep *ep, uint32_t box);
bool fm_shm_open_lane(struct fm_shm_ep *ep, uint32_t box);

/* shm_open.c: the peer has died or left, as far as can be told. Slow. */
bool fm_shm_open_is_gone(struct fm_shm_ep *ep);

/* shm_door.c: the pipe on which a process sleeps that has another transport, too. */
int fm_shm_door_make(struct fm_shm_transport *t, bool is_wanted);
void fm_shm_door_close(struct fm_shm_transport *t);
/* The peer's, by its header. 0, or -FM_E_UNSUPPORTED: it could not be woken. */
int fm_shm_door_find(struct fm_shm_ep *ep);
void fm_shm_door_leave(struct fm_shm_ep *ep);
/* The peer has announced that it sleeps there, and we took that back: wake it. */
void fm_shm_door_knock(const struct fm_shm_ep *ep);
/* Forget knocks that were heard; to be called before the bell is set anew. */
void fm_shm_door_clear(const struct fm_shm_transport *t);

/* shm_msg.c */
int fm_shm_msg_send(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                    size_t body_len);
int fm_shm_msg_reserve(struct fm_ep *ep, size_t len, void **out_room);
int fm_shm_msg_commit(struct fm_ep *ep, void *room, size_t len);
int fm_shm_msg_poll(struct fm_transport *tp);
int fm_shm_msg_arm(struct fm_transport *tp, struct fm_sleep *out_sleep);
/* Send a message for the transport itself, of at most FM_SHM_INLINE bytes. 0 or FM_AGAIN. */
int fm_shm_msg_send_private(struct fm_shm_ep *ep, const void *data, size_t len);
/* The peer is gone: tell the sink once. Returns -FM_E_PEER. */
int fm_shm_msg_fail(struct fm_shm_ep *ep, const char *why);

/* shm_copy.c */
int fm_shm_copy_rma(struct fm_ep *ep, struct fm_rma *rma);
int fm_shm_copy_expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                       enum fm_mem_life life, struct fm_mem *out_mem);
void fm_shm_copy_unexpose(struct fm_transport *tp, struct fm_mem *mem);
/* May memory of the peer be read and written? Tried once, at connect. */
bool fm_shm_copy_probe(struct fm_shm_ep *ep);
/* A private message came in: a peer asks for help. */
void fm_shm_copy_asked(struct fm_shm_transport *t, const void *data, size_t len);
/* One chunk of each transfer in progress. How many transfers ended or chunks were copied. */
int fm_shm_copy_poll(struct fm_shm_transport *t);
/* Bring all transfers with this endpoint to an end (NULL: all). */
void fm_shm_copy_finish(struct fm_shm_transport *t, struct fm_shm_ep *ep);
