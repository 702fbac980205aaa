/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control block of one rank of a window: its lock, its accumulate locks, and what others have
 * posted or completed. It lies in memory that all ranks of the window on that host share; where a
 * rank shares memory with no other, it is private, and the rank itself acts for the origins of
 * other hosts (rma_target.c).
 *
 *     line 0            line 1       lines 2 to 17    then
 *     +----------------+------------+----------------+-----------+-----------+--
 *     | window lock    | n_sleeping | stripes 0 - 15 | mark of 0 | mark of 1 | ...
 *     +----------------+------------+----------------+-----------+-----------+--
 *
 * Window lock (MPI-5.0 12.5.3). A FIFO ticket lock for readers (MPI_LOCK_SHARED) and writers
 * (MPI_LOCK_EXCLUSIVE): tickets are served in order, consecutive readers together. Neither kind
 * starves. A ticket cannot be given back, so a process that ends with one in its hand breaks the
 * lock for good; all others then get an error.
 *
 * Accumulate locks (12.7.1). A location belongs to the stripe of its first byte. Whoever
 * accumulates at it, by whatever way, holds that stripe meanwhile: so each element is updated
 * atomically. Holders never wait for anything else.
 *
 * Marks. marks[r] belongs to rank r of the window: what it holds of the lock, and how often it has
 * posted to and completed toward the rank of this block (12.5.2).
 *
 * Atomics, and their partners:
 *   L  unlock's seq_cst add of serving_* -> may_read/may_write's acquire load: what was done under
 *      the lock is seen by its next holder.
 *   S  stripe unlock's release store -> stripe lock's acquire exchange.
 *   M  release add of a mark -> acquire load of who waits for it.
 *   W  sleeping: the sleeper adds to n_waiting and n_sleeping, fences, then looks at the condition;
 *      whoever makes it true fences, then looks at n_waiting or n_sleeping. One of them sees the
 *      other. A needless wake-up costs a poll and nothing else.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/sync.h"

#define FM_WIN_STRIPES      16   /* a power of two */
#define FM_WIN_STRIPE_BYTES 4096 /* neighbouring bytes of one stripe, a power of two */

/* What a rank has of a lock; 0: nothing. */
enum fm_win_hold { FM_WIN_WAITS = 1, FM_WIN_SHARED, FM_WIN_EXCLUSIVE };

struct fm_win_stripe {
    _Atomic uint32_t owner FM_ALIGNED(FM_CACHE_LINE); /* rank + 1; 0: free */
};

struct fm_win_mark {
    _Atomic uint32_t hold;      /* enum fm_win_hold; a hint for reports and for lost processes */
    _Atomic uint32_t posted;    /* calls of MPI_Win_post that named the rank of this block */
    _Atomic uint32_t completed; /* ... of MPI_Win_complete */
    uint32_t unused;
};

struct fm_win_ctl {
    _Atomic uint32_t next FM_ALIGNED(FM_CACHE_LINE); /* ticket */
    _Atomic uint32_t serving_readers, serving_writers;
    _Atomic uint32_t n_waiting; /* who sleeps until the lock moves */
    _Atomic uint32_t broken;    /* a process ended while it held or wanted it */
    _Atomic uint32_t n_sleeping FM_ALIGNED(FM_CACHE_LINE); /* threads of this rank */
    struct fm_win_stripe stripes[FM_WIN_STRIPES];
    struct fm_win_mark marks[];
};

static FM_INLINE size_t fm_win_ctl_len(int n_ranks)
{
    size_t len = sizeof(struct fm_win_ctl) + (size_t)n_ranks * sizeof(struct fm_win_mark);

    return (len + FM_CACHE_LINE - 1) / FM_CACHE_LINE * FM_CACHE_LINE;
}

/* ---- window lock ---- */

static FM_INLINE uint32_t fm_win_ticket(struct fm_win_ctl *c)
{
    return atomic_fetch_add_explicit(&c->next, 1, memory_order_relaxed);
}

static FM_INLINE bool fm_win_may_write(const struct fm_win_ctl *c, uint32_t ticket)
{
    return atomic_load_explicit(&c->serving_writers, memory_order_acquire) == ticket; /* L */
}

static FM_INLINE bool fm_win_may_read(const struct fm_win_ctl *c, uint32_t ticket)
{
    return atomic_load_explicit(&c->serving_readers, memory_order_acquire) == ticket; /* L */
}

/* A reader whose turn it is lets the next reader in. True: there are sleepers to wake. */
static FM_INLINE bool fm_win_read_begin(struct fm_win_ctl *c)
{
    atomic_fetch_add_explicit(&c->serving_readers, 1, memory_order_seq_cst);
    return atomic_load_explicit(&c->n_waiting, memory_order_seq_cst) != 0; /* W */
}

/* The same at its end. */
static FM_INLINE bool fm_win_read_end(struct fm_win_ctl *c)
{
    atomic_fetch_add_explicit(&c->serving_writers, 1, memory_order_seq_cst); /* L */
    return atomic_load_explicit(&c->n_waiting, memory_order_seq_cst) != 0;   /* W */
}

static FM_INLINE bool fm_win_write_end(struct fm_win_ctl *c)
{
    /* Readers first: a writer that is served next expects its own ticket in both. */
    atomic_fetch_add_explicit(&c->serving_readers, 1, memory_order_seq_cst); /* L */
    atomic_fetch_add_explicit(&c->serving_writers, 1, memory_order_seq_cst); /* L */
    return atomic_load_explicit(&c->n_waiting, memory_order_seq_cst) != 0;   /* W */
}

static FM_INLINE bool fm_win_is_broken(const struct fm_win_ctl *c)
{
    return atomic_load_explicit(&c->broken, memory_order_relaxed) != 0; /* ends waits, no data */
}

static FM_INLINE void fm_win_hold_set(struct fm_win_ctl *c, int rank, uint32_t hold)
{
    atomic_store_explicit(&c->marks[rank].hold, hold, memory_order_relaxed);
}

/* ---- accumulate locks ---- */

static FM_INLINE struct fm_win_stripe *fm_win_stripe_of(struct fm_win_ctl *c, uint64_t at)
{
    return &c->stripes[at / FM_WIN_STRIPE_BYTES % FM_WIN_STRIPES];
}

static FM_INLINE bool fm_win_stripe_try(struct fm_win_stripe *s, int rank)
{
    uint32_t is_free = 0;

    return atomic_compare_exchange_strong_explicit(&s->owner, &is_free, (uint32_t)rank + 1,
                                                   memory_order_acquire,
                                                   memory_order_relaxed); /* S */
}

static FM_INLINE void fm_win_stripe_unlock(struct fm_win_stripe *s)
{
    atomic_store_explicit(&s->owner, 0, memory_order_release); /* S */
}

/* ---- marks ---- */

/* One more of `mark` in block c. True: its rank sleeps and has to be woken. */
static FM_INLINE bool fm_win_mark_add(struct fm_win_ctl *c, _Atomic uint32_t *mark)
{
    atomic_fetch_add_explicit(mark, 1, memory_order_seq_cst);               /* M */
    return atomic_load_explicit(&c->n_sleeping, memory_order_seq_cst) != 0; /* W */
}

static FM_INLINE uint32_t fm_win_mark_get(const _Atomic uint32_t *mark)
{
    return atomic_load_explicit(mark, memory_order_acquire); /* M */
}

/* ---- sleeping ---- */

/* A thread of rank `own` is about to sleep until a mark of its block changes; or has woken up. */
static FM_INLINE void fm_win_sleep(struct fm_win_ctl *own, bool is_sleeping)
{
    atomic_fetch_add_explicit(&own->n_sleeping, is_sleeping ? 1 : UINT32_MAX, memory_order_seq_cst);
    fm_sync_fence(); /* W */
}

/* The same for the lock of block c, before fm_win_sleep(). */
static FM_INLINE void fm_win_sleep_on(struct fm_win_ctl *c, bool is_sleeping)
{
    atomic_fetch_add_explicit(&c->n_waiting, is_sleeping ? 1 : UINT32_MAX, memory_order_seq_cst);
}
