/* SPDX-License-Identifier: BSD-3-Clause */
/* The live words of the engine in the shared page, and its events; rows are in p2p_vars.c. */
#pragma once

#include <fathom/mpit.h>

#include "core/object/request.h"
#include "util/compiler.h"
#include "util/traffic.h"

struct fm_channel;

/* Why a message takes the way it takes; items of the enumeration p2p_reason. */
enum fm_reason {
    FM_REASON_SHORT,     /* eager: fits the short limit, no request was needed */
    FM_REASON_EAGER,     /* eager: fits the eager limit */
    FM_REASON_COMM,      /* eager or rendezvous: by the communicator's own limit */
    FM_REASON_SELF,      /* to the process itself */
    FM_REASON_LONG,      /* rendezvous: longer than the eager limit */
    FM_REASON_NO_CREDIT, /* rendezvous: the receiver's unexpected memory is used up */
    FM_REASON_COUNT
};

/* Default of p2p_eager_limit, which leaves the limit to the transport. */
#define FM_EAGER_DEFAULT 16384

#define FM_HIST_BINS 64

/* Tiny messages: of fewer bytes than this, which fall into so many bins. */
#define FM_TINY_LEN  (UINT64_C(1) << 8)
#define FM_TINY_BINS 9

struct fm_p2p_counters {
    struct fm_request_counters req;
    /* Messages sent, by protocol. Eager are also the short ones, which were sent without a request.
       Those of them that are tiny count here only, by length: the rows add them to what else they
       are, and the bins from FM_TINY_BINS on stay empty. */
    struct fm_traffic tiny_sent[FM_HIST_BINS];
    struct fm_traffic short_sent;                /* others without a request */
    uint64_t n_request_sent, request_sent_bytes; /* eager with a request */
    uint64_t n_rndv_sent, rndv_sent_bytes;
    uint64_t n_self_sent, self_sent_bytes;
    uint64_t n_sync_sent, n_ready_sent, n_buffered_sent;
    uint64_t n_packed_sent, packed_sent_bytes; /* not contiguous in memory */
    uint64_t n_null_sent;                      /* to MPI_PROC_NULL */
    /* Messages received. The usual one counts in the first array only, like those above: it is
       eager and tiny, has found its receive and completes it. */
    struct fm_traffic met_recvd[FM_HIST_BINS];
    struct fm_traffic eager_recvd; /* other eager ones */
    uint64_t n_rndv_recvd, rndv_recvd_bytes;
    uint64_t n_self_recvd, self_recvd_bytes;
    uint64_t n_unpacked_recvd, unpacked_recvd_bytes;
    uint64_t n_copied_recvd, copied_recvd_bytes; /* had to lie in unexpected memory */
    uint64_t n_truncated;
    /* Of those that are not in tiny_sent and met_recvd; bin k: bytes in [2^(k-1), 2^k), bin 0:
       empty messages. */
    uint64_t sizes_sent[FM_HIST_BINS], sizes_recvd[FM_HIST_BINS];
    uint64_t reasons[FM_REASON_COUNT]; /* but FM_REASON_SHORT, which is tiny_sent and short_sent */
    uint64_t last_reason;
    /* Rendezvous. */
    struct fathom_level rts_waiting; /* RTS that were sent and not answered */
    uint64_t n_rts_sent, n_rts_recvd, n_cts_sent, n_cts_recvd, n_fin_sent, n_fin_recvd;
    uint64_t n_data_sent, n_data_recvd;         /* fragments */
    uint64_t n_rma, rma_bytes, n_rma_fallbacks; /* fetches by this process */
    uint64_t n_piecewise, n_pieces;             /* ... of messages that are not one run */
    uint64_t n_pushes, n_impatient;             /* asked to be pushed; of them, fetched after all */
    uint64_t n_data_late;                       /* fragments that came after that */
    struct fathom_level exposed_bytes;
    uint64_t rndv_ns, n_rndv_done; /* RTS to completion, at the sender */
    uint64_t rndv_latency[FM_HIST_BINS];
    /* Flow control and room in the transport. */
    struct fathom_level unexpected_bytes; /* memory held by unexpected messages */
    struct fathom_level out_len;          /* sends and answers that wait for room */
    struct fathom_level bulk_len;         /* long messages that are on their way */
    uint64_t n_refused;                   /* the transport had no room */
    uint64_t n_queued;                    /* messages that had to wait for room */
    uint64_t n_stalls, n_rts_stalls;      /* sends without credit; without room for an RTS */
    uint64_t n_credits_sent, n_credits_recvd, n_more_sent, n_more_recvd;
    uint64_t window_bytes; /* unexpected bytes that one sender may have here */
    uint64_t n_peers, n_peers_failed, n_bad_messages;
    uint64_t n_cancels, n_cancelled;
    /* Buffered mode. */
    struct fathom_level bsend_bytes; /* attached memory in use */
    uint64_t n_bsend_waits;
    /* Control variables. */
    uint64_t eager_limit, short_limit, unexpected_limit, sender_limit, rts_window, fragment_len,
        pipeline_depth;
    uint64_t rma_min, rma_chunk, rma_depth, piece_min, piece_rma_min, push_us, push_max;
    /* Events. */
    uint64_t on_eager, on_rts, on_data_start, on_data_recvd, on_data_done, on_flow, on_peer,
        on_peer_failed;
    /* What is left, or used, of what is finite; moved where messages are slow anyway. */
    struct fathom_level rts_room;         /* RTS that the receiver of the last one still takes */
    uint64_t bsend_attached, bsend_taken; /* memory that the user gave; of it, in use */
};

/* Kinds of calls that wait. */
enum fm_wait_kind {
    FM_WAIT_SEND,
    FM_WAIT_RECV,
    FM_WAIT_SENDRECV,
    FM_WAIT_PROBE,
    FM_WAIT_WAIT, /* MPI_Wait and its kin */
    FM_WAIT_COLL,
    FM_WAIT_COMM, /* making communicators */
    FM_WAIT_OTHER,
    FM_WAIT_KINDS
};

/* Two looks at the clock for each round cost more than most rounds. A prime, so that what comes in
   windows of messages does not fall in with it. */
#define FM_TIMED_ROUNDS 521

struct fm_progress_counters {
    uint64_t n_polls;               /* rounds over the transports; counted when they begin */
    uint64_t n_empty_polls;         /* ... in which nothing happened */
    uint64_t n_events;              /* things that happened in the others */
    uint64_t n_timers;              /* who wants round_ns to be counted */
    uint64_t n_waits, n_slow_waits; /* calls that waited; that had to leave the spin */
    uint64_t n_yields, n_sleeps, n_wakes;
    uint64_t round_ns;                 /* in rounds: of each FM_TIMED_ROUNDSth, times that many */
    uint64_t slept_ns, blocked_ns;     /* of the slow waits only */
    uint64_t delayed_ns;               /* of the sleeps: runnable, but not running */
    uint64_t sleep_cost_ns;            /* estimate, wait_cost.h; steers waits, so always kept */
    uint64_t yield_cost_ns;            /* mean of the last yields, weighted */
    uint64_t kind_ns[FM_WAIT_KINDS];   /* blocked_ns by kind of call */
    uint64_t wait_times[FM_HIST_BINS]; /* of the slow waits, ns */
    struct fathom_level hooks;
    uint64_t n_hook_calls, n_hook_events;
    uint64_t n_gone_checks;
    uint64_t n_stalls; /* waits longer than stall_ms */
    uint64_t state;    /* enum fm_progress_state */
    /* Control variables. */
    uint64_t spin_us, spin_max_us, short_sleep_us, yield, sleep_us, gone_ms, stall_ms;
    /* Events. */
    uint64_t on_slept, on_woke, on_stalled;
};

/* What the process is doing; items of the enumeration progress_state. */
enum fm_progress_state {
    FM_PROGRESS_OUTSIDE, /* not waiting */
    FM_PROGRESS_SPIN,
    FM_PROGRESS_YIELD,
    FM_PROGRESS_SLEEP,
};

/* Bin of a histogram in powers of two. */
static FM_INLINE unsigned fm_hist_bin(uint64_t x)
{
    return FM_LIKELY((int64_t)x >= 0) ? 63u - (unsigned)__builtin_clzll(x << 1 | 1) : 63;
}

/* The events of messages; rows in p2p_vars.c. */
enum fm_p2p_event {
    FM_EV_EAGER,
    FM_EV_RTS,
    FM_EV_DATA_START,
    FM_EV_DATA_RECVD,
    FM_EV_DATA_DONE,
    FM_EV_COMPLETED,
    FM_EV_FLOW,
    FM_EV_PEER,
    FM_EV_PEER_FAILED,
    FM_EV_COUNT
};
extern const struct fathom_event fm_p2p_events[FM_EV_COUNT];

/* Raise an event about a message: peer's process index, context, tag, bytes. */
FM_COLD void fm_p2p_emit(const struct fm_channel *ch, enum fm_p2p_event ev, int proc,
                         uint32_t context, int tag, uint64_t bytes);
