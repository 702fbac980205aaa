/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel: all that a thread needs to talk: match table, transports, peers, counters (D13). One
 * per process today; the seam for one per thread.
 */
#pragma once

#include <fathom/page.h>

#include "core/p2p/contexts.h"
#include "core/p2p/hook.h"
#include "core/p2p/ids.h"
#include "core/p2p/match.h"
#include "core/p2p/packet.h"
#include "core/p2p/peer.h"
#include "core/p2p/wait_cost.h"
#include "transport/transport.h"
#include "util/pool.h"
#include "util/sync.h"

#define FM_MAX_TRANSPORTS 2

struct fm_p2p_counters;
struct fm_progress_counters;

struct fm_channel {
    struct fm_match *match;
    struct fm_peer *peers; /* by process index: fm_peer_of(). The first of peer_pool, never moves */
    int n_peers;           /* only grows: fm_peer_add() */
    int self;              /* process index of this process */
    int n_transports;
    struct fm_transport *transports[FM_MAX_TRANSPORTS];
    struct fm_p2p_counters *counters;
    struct fm_match_counters *match_counters;
    struct fm_progress_counters *progress_counters;
    struct fathom_page *page; /* never NULL */
    struct fm_lock *lock;     /* the library lock, dropped while waiting */
    /* First message to a peer: make its endpoint. Installed by the runtime. 0 or a failure. */
    int (*resolve)(void *ctx, int proc, struct fm_ep **out_ep);
    void *resolve_ctx;
    /* A process of the job is known to be gone: wait no longer for it. Asked for while waiting. */
    bool (*is_gone)(void *ctx, int proc);
    /* Is a process on this host, and may memory be shared with it? NULL: with none. */
    bool (*is_near)(void *ctx, int proc);
    /* Processes of the job on this host, for the runtime to set (1 at first): when they are more
       than the processors, waiting gives the processor away early. */
    int n_local;

    /* The engine's own. */
    struct fm_pool peer_pool;
    struct fm_pool peer_queues; /* struct fm_peer_queues, in the same order */
    struct fm_packet_handler handlers[FM_WIRE_KIND_MAX]; /* by kind: packet.h */
    const bool *enough;     /* is_done of the one request that is waited for, or &never */
    bool never;             /* false */
    struct fm_list waiting; /* peers with something in their queues (fm_peer_queues.link) */
    int n_waiting;
    uint32_t n_untimed;     /* progress.c: rounds until the next one that may be timed */
    int n_processors;       /* wait.c: processors that the processes of this host may use */
    uint32_t n_empty_tests; /* ... calls of fm_wait_test() in a row that found nothing */
    struct fm_wait_cost wait_cost;
    const void *poller;          /* ... the thread that polls for all that wait; NULL: none */
    struct fm_sleeper *sleepers; /* sleeper.c: threads that sleep */
    uint64_t loss_check_at;      /* loss.c: when to ask next which processes have ended */
    struct fm_list hooks;        /* struct fm_hook */
    int n_hooks;
    bool is_hook_due;             /* one was added since they were called last */
    struct fm_list lost;          /* loss.c: peers that were marked as failed */
    struct fm_hook loss_hook;     /* ... added while there are some */
    struct fm_list loss_watches;  /* struct fm_loss_watch */
    struct fm_ids ids;            /* requests that have names on the wire */
    struct fm_pool blocks;        /* unexpected messages */
    struct fm_pool fetches;       /* rndv.c: transfers under way */
    struct fm_contexts contexts;  /* live communicators */
    struct fm_buffer *buffers;    /* bsend.c: what the user has attached */
    struct fm_recv_req *blocking; /* recv.c: for the thread that waits for its receive; NULL: in use
                                   */
    void *blocking_memory;
    struct fm_request *sent; /* send.c: stands for sends that were over at once; may be NULL */
    uint32_t window;         /* blocks that one sender may have in use here */
    uint32_t far_window;     /* ... over a transport that hoards */
    uint32_t next_part_tag;  /* partition.c */
    int n_stalled;           /* peers that may send no further RTS */
    bool has_reported_stall; /* on stderr, once */
    uint64_t n_sending;      /* sends to other processes that are not complete */
    bool has_failed;         /* nothing works any more; `why` says it */
    char why[256];
    void *own_counters[3];       /* without a registry: memory of the words, else NULL */
    struct fathom_page own_page; /* until the runtime names the real one */
};

/* The peer with this process index, which must exist. Its address holds until the channel ends. */
static FM_INLINE struct fm_peer *fm_peer_of(const struct fm_channel *ch, int proc)
{
    return &ch->peers[proc];
}

/* The channel of the process, NULL if there is none: for operations that belong to no communicator,
   and for limits that a tool changes. */
struct fm_channel *fm_channel_main(void);
void fm_channel_set_main(struct fm_channel *ch);

/* The channel as a whole cannot go on; waits end with this failure. Returns `status`. */
FM_COLD int fm_channel_fail(struct fm_channel *ch, int status, const char *fmt, ...)
    FM_PRINTF(3, 4);
