/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of one-sided communication: of the process, and of each window; rows in win_vars.c. */
#pragma once

#include <fathom/mpit.h>

#include "core/rma/rma_op.h"
#include "util/traffic.h"

/* What a process waits for in a window. */
enum fm_rma_wait {
    FM_RMA_WAIT_FENCE,
    FM_RMA_WAIT_START, /* MPI_Win_start, for a post */
    FM_RMA_WAIT_POST,  /* MPI_Win_wait, for completes */
    FM_RMA_WAIT_LOCK,
    FM_RMA_WAIT_FLUSH, /* answers to active messages, and long copies */
    FM_RMA_WAITS
};

/* Epochs, counted at their begin. */
enum fm_rma_epoch {
    FM_RMA_EPOCH_FENCE,
    FM_RMA_EPOCH_START,
    FM_RMA_EPOCH_POST,
    FM_RMA_EPOCH_LOCK,
    FM_RMA_EPOCH_LOCK_ALL,
    FM_RMA_EPOCHS
};

struct fm_rma_counters {
    struct fm_traffic traffic[FM_RMA_CALL_KINDS][FM_WIN_WAYS]; /* started operations */
    uint64_t way, packet_len, reply_limit;                     /* control variables */
    struct fathom_level live;                                  /* windows */
    uint64_t n_windows;
    uint64_t n_epochs[FM_RMA_EPOCHS];
    uint64_t wait_ns[FM_RMA_WAITS];
    uint64_t n_fence_timers;   /* handles that want FM_RMA_WAIT_FENCE */
    uint64_t n_lock_conflicts; /* locks that were not free */
    uint64_t n_stripe_conflicts;
    uint64_t n_wakes; /* sleeping ranks woken */
    uint64_t n_packets_sent, n_packets_served, n_ops_served, n_replies_sent;
    uint64_t n_queued;               /* operations that found no room and were queued */
    uint64_t on_epoch, on_lock_wait; /* events */
};

/* Never NULL. */
extern struct fm_rma_counters *fm_rma_counters;
extern const struct fathom_table fm_rma_vars;

/* Of one window. */
struct fm_win_counters {
    struct fm_traffic traffic[FM_RMA_CALL_KINDS];
    uint64_t n_epochs;
    uint64_t wait_ns;
    uint64_t n_lock_conflicts;
    uint64_t n_ops_served;
    uint64_t id;
} FM_ALIGNED(16);

/* Items of the control variable rma_way: the best way that a window may use. */
enum fm_rma_way_limit { FM_RMA_WAY_AUTO, FM_RMA_WAY_COPY, FM_RMA_WAY_MESSAGE };

/* Take the block of fm_rma_vars (NULL: no registry). */
void fm_rma_counters_init(void *block);
/* The counters of a window. 0 or -FM_E_NOMEM. */
int fm_rma_counters_add(struct fm_win *w);
void fm_rma_counters_remove(struct fm_win *w);

static FM_INLINE void fm_rma_count(struct fm_win *w, int kind, int way, uint64_t len)
{
    fm_traffic_add(&fm_rma_counters->traffic[kind][way], len);
    fm_traffic_add(&w->counters->traffic[kind], len);
}

/* An epoch begins; a wait is over. */
void fm_rma_count_epoch(struct fm_win *w, enum fm_rma_epoch epoch);
void fm_rma_count_wait(struct fm_win *w, enum fm_rma_wait wait, uint64_t since_ns);
/* The lock of a rank was not free. */
void fm_rma_count_conflict(struct fm_win *w, int rank, bool is_exclusive);
