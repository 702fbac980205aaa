/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine knows of another process, and what waits for room on the way to it.
 *
 * Order. All messages to a peer leave in the order in which they were started: when the transport
 * has no room, or the peer may take no further RTS, a message waits in a queue of the peer, and all
 * later ones behind it (`is_open` is false meanwhile). Answers wait in a queue of their own, so
 * that a held-back RTS holds up nobody else's progress; so do the fragments of long messages.
 *
 * Flow control (D12). Unexpected messages lie at the receiver in blocks of FM_BLOCK_LEN bytes. Each
 * sender may have `window` blocks in use at a receiver (fewer where the transport itself piles up
 * what nobody took yet): it charges each eager message with the blocks that the message takes if
 * nobody waits for it, and the receiver tells in every header how many blocks it has freed so far
 * (a message that was matched at once frees them at once). A sender without credit sends RTS
 * instead. An RTS takes one block as well, and a sender may have `rts_window` of them unanswered;
 * the last one says so (FM_WIRE_LAST), and a receiver that is still waiting for something from this
 * sender then allows as many again. So a process that does not receive is never filled, and one
 * that looks for a message deep in the queue always finds it.
 */
#pragma once

#include "transport/transport.h"
#include "util/list.h"

struct fm_channel;
struct fm_peer;

/* Something that waits for room to a peer; part of whatever it is that waits. */
struct fm_out {
    struct fm_list link; /* self-linked or NULL: not waiting */
    uint8_t queue;       /* enum fm_queue: where it waits */
    /* Try again. 0: it is off (and out of the queue); FM_AGAIN; a failure of the peer. */
    int (*emit)(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out);
    /* The peer has failed, or the channel ends: it will never be sent. */
    void (*abort)(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out);
};

/* In the order in which they are served. */
enum fm_queue {
    FM_QUEUE_ANSWERS,
    FM_QUEUE_PACKETS, /* of other rooms */
    FM_QUEUE_SENDS,
    FM_QUEUE_BULK,
    FM_QUEUE_PATIENT, /* waits for what the peer was asked for, and is looked after */
    FM_QUEUES
};

/* What is rarely looked at. */
struct fm_peer_queues {
    struct fm_peer *peer;
    struct fm_list lists[FM_QUEUES];
    struct fm_list link; /* in the channel's list of peers that have something waiting */
    struct fm_list lost; /* in the channel's list of peers whose loss has no consequences yet */
    uint32_t rts_more;   /* RTS beyond the window that it allowed since start, mod 2^32 */
    uint32_t more;       /* ... that we allowed to it */
    char *why;           /* reason of the failure, owned */
    uint32_t n_unpushed; /* messages that could have been pushed, while that is no use */
    uint64_t n_data;     /* fragments of long messages that came from it */
    uint32_t max_window; /* blocks that we may have in use there whatever the transport */
    uint64_t gone_ns;    /* when the process manager first said that it has ended; 0: it lives */
};

/* Hot: one cache line. Set at first contact. */
struct FM_ALIGNED(FM_CACHE_LINE) fm_peer {
    struct fm_ep *ep;     /* NULL: not yet talked to */
    uint32_t short_limit; /* payload bytes up to which a send needs no request */
    uint32_t eager_limit; /* payload bytes up to which data travels with the header */
    int proc;             /* process index */
    bool is_open;         /* connected, alive, and no message waits for room */
    bool is_gone;
    bool has_stalled; /* it told that it may send no further RTS */
    bool no_rma;      /* fetching from it was tried in vain */
    uint32_t window;  /* blocks that we may have in use there */
    /* Credit, in blocks since start, mod 2^32: what our messages consumed there, and what of that
       the peer has acknowledged; what we released of its messages, and advertised of that. */
    uint32_t consumed, acknowledged;
    uint32_t released, advertised;
    uint32_t n_rts;     /* RTS that it has not answered */
    uint32_t rts_extra; /* ... and further ones that may be sent beyond the window */
    int32_t remote_id;  /* process index that this process has at the peer: goes into each header */
    struct fm_peer_queues *q;
};

/* Blocks that a sender may have in use at a receiver at least, however many senders there are. */
#define FM_WINDOW_MIN 32

/* Peers 0 to n - 1, the processes of one job: all have the same numbers everywhere. 0 or a failure.
   The end of all peers; for a channel that is half made, too. */
int fm_peer_create_all(struct fm_channel *ch, int n);
void fm_peer_destroy_all(struct fm_channel *ch);
/*
 * One more peer, a process of another job: `remote_id` is the number that this process has there.
 * *out_proc is the process index of the peer here, the next one that is free. It has the smallest
 * window, since the other job has shared out its unexpected memory already. 0 or a failure.
 */
int fm_peer_add(struct fm_channel *ch, int remote_id, int *out_proc);

/* The peer, with its endpoint made. 0 or a failure (-FM_E_PEER). */
int fm_peer_resolve(struct fm_channel *ch, int proc, struct fm_peer **out_peer);

/* Take over the limits from the control variables. */
void fm_peer_limits(struct fm_channel *ch, struct fm_peer *peer);

/* Put at the end of a queue. */
void fm_peer_wait(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out,
                  enum fm_queue queue);
/* Out of the queue, if it is in one. */
void fm_peer_unwait(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out);
/* Send what can be sent. How many things left. */
int fm_peer_flush(struct fm_channel *ch, struct fm_peer *peer);

/* Mark the peer as failed: it is sent nothing more, and nothing that comes from it is taken. The
   consequences for what waits for it run from the next round of progress (loss.h), so this may be
   called anywhere. */
FM_COLD void fm_peer_fail(struct fm_channel *ch, int proc, const char *why);

/* -FM_E_PEER, and why: for a call that needs a peer which has failed. */
FM_COLD int fm_peer_refuse(const struct fm_peer *peer);
/* The reason of a failed peer, never NULL. */
const char *fm_peer_why(const struct fm_peer *peer);
/* The error text of operations with a failed peer, in `buf` of so many bytes. Returns buf. */
#define FM_PEER_WHY 320
const char *fm_peer_describe(const struct fm_peer *peer, char *buf);

/* Is there room for an eager message of n blocks? */
static FM_INLINE bool fm_peer_has_credit(const struct fm_peer *peer, uint32_t n_blocks)
{
    return peer->consumed - peer->acknowledged + n_blocks <= peer->window;
}
