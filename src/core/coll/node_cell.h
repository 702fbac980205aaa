/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of a communicator share on one host, and who may touch which part of it when.
 *
 *     head               cell 0                                        cell 1 ...
 *     +-----------------+---------+--------+--------+-- --+----------+---------+--
 *     | who dozes, ...  | arrived | result | rank 0 | ... | rank p-1 | arrived | ...
 *     +-----------------+---------+--------+--------+-- --+----------+---------+--
 *                                   line     line           line
 *
 * Calls are numbered from 1, the same in all ranks; call n has cell n mod FM_NODE_CELLS. A rank
 * writes its contribution into its line and arrives; the last one to arrive combines all lines
 * and publishes the result under the number of the call, for which the others look. In a broadcast
 * the root publishes, and nobody arrives.
 *
 * Reuse. Call n takes the cell of call n - FM_NODE_CELLS, which all ranks must have left. Whoever
 * completes a call that waits for all knows that all have begun it, and so left those before it.
 * `last_all` is the last such call. Each rank that makes a call that does not wait for all first
 * sees to it (fm_node_is_full) that n - last_all stays below FM_NODE_CELLS - 1; all ranks come to
 * the same answer. So a call that waits for all always finds a free cell as well.
 *
 * Atomics, and with what each pairs:
 *   A  arrive's acq_rel add of `arrived` -> those of the ranks that arrive later: the last one sees
 *      all lines, and has nobody beside it who writes to the cell.
 *   P  publish's release store of result->word -> is_done's acquire load: the result is there, and
 *      `arrived` is 0 again for the call that takes the cell next.
 *   D  doze's flag and add, a full barrier, then the dozer's last look at result->word  <->
 *      publish's store to result->word, a full barrier, then its look at n_dozing. Of two who each
 *      write and then read what the other writes at least one sees it: the dozer the result, or the
 *      publisher the dozer, whom it nudges. The flag is written before n_dozing is added to
 *      (release), which the publisher reads first (acquire). Whoever takes the flag back by
 *      exchange has to nudge; a second publisher that finds it taken needs not, since the dozer
 *      will look again after that nudge, and set its flag before it sleeps once more.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/sync.h"

#ifndef FM_NODE_CELLS
#define FM_NODE_CELLS 8 /* a power of two, at least 4 */
#endif

/* A contribution or a result; `stride` bytes, a multiple of a cache line. */
struct fm_node_line {
    _Atomic uint32_t word; /* result: number of the call that it belongs to */
    int32_t error;         /* result: 0 or -FM_E... */
    uint64_t stamp;        /* which collective its writer thinks that this is */
    char data[];           /* 16-byte aligned */
};

struct fm_node_cell {
    _Atomic uint32_t arrived FM_ALIGNED(FM_CACHE_LINE);
};

struct fm_node_head {
    _Atomic uint32_t n_dozing FM_ALIGNED(FM_CACHE_LINE);
    /* A rank is lost, or made a call that the others did not: no further call works. Release store
       -> acquire load: a hint that ends waits, no data. */
    _Atomic uint32_t broken FM_ALIGNED(FM_CACHE_LINE);
    _Atomic uint8_t is_sleeping[] FM_ALIGNED(FM_CACHE_LINE);
};

/* A rank's own view of it. */
struct fm_node_view {
    struct fm_node_head *head;
    char *cells;
    size_t stride, cell_len;
    uint32_t size;     /* ranks */
    uint32_t n;        /* number of the last call begun here */
    uint32_t last_all; /* ... of the last one completed that waited for all */
};

static FM_INLINE size_t fm_node_head_len(uint32_t size)
{
    return sizeof(struct fm_node_head) + (size + FM_CACHE_LINE - 1) / FM_CACHE_LINE * FM_CACHE_LINE;
}

static FM_INLINE size_t fm_node_cell_len(uint32_t size, size_t stride)
{
    return sizeof(struct fm_node_cell) + (size + 1) * stride;
}

static FM_INLINE size_t fm_node_len(uint32_t size, size_t stride)
{
    return fm_node_head_len(size) + FM_NODE_CELLS * fm_node_cell_len(size, stride);
}

/* Begin to use fm_node_len() bytes that were zero before the first rank did. */
static FM_INLINE struct fm_node_view fm_node_view(void *memory, uint32_t size, size_t stride)
{
    return (struct fm_node_view){.head = memory,
                                 .cells = (char *)memory + fm_node_head_len(size),
                                 .stride = stride,
                                 .cell_len = fm_node_cell_len(size, stride),
                                 .size = size};
}

static FM_INLINE struct fm_node_cell *fm_node_cell_of(const struct fm_node_view *v, uint32_t n)
{
    return (struct fm_node_cell *)(v->cells + n % FM_NODE_CELLS * v->cell_len);
}

static FM_INLINE struct fm_node_line *fm_node_result(const struct fm_node_view *v, uint32_t n)
{
    return (struct fm_node_line *)(fm_node_cell_of(v, n) + 1);
}

static FM_INLINE struct fm_node_line *fm_node_line_of(const struct fm_node_view *v, uint32_t n,
                                                      uint32_t rank)
{
    return (struct fm_node_line *)((char *)fm_node_result(v, n) + (rank + 1) * v->stride);
}

/* The next call may not be one that does not wait for all. */
static FM_INLINE bool fm_node_is_full(const struct fm_node_view *v)
{
    return v->n + 1 - v->last_all >= FM_NODE_CELLS - 1;
}

/* Our line of call n is written. True: we are the last one and have to publish. */
static FM_INLINE bool fm_node_arrive(const struct fm_node_view *v, uint32_t n)
{
    struct fm_node_cell *cell = fm_node_cell_of(v, n);

    if (atomic_fetch_add_explicit(&cell->arrived, 1, memory_order_acq_rel) + 1 < v->size) { /* A */
        return false;
    }
    atomic_store_explicit(&cell->arrived, 0, memory_order_relaxed); /* with P */
    return true;
}

/* The result of call n is written. True: somebody dozes. */
static FM_INLINE bool fm_node_publish(const struct fm_node_view *v, uint32_t n)
{
    atomic_store_explicit(&fm_node_result(v, n)->word, n, memory_order_release); /* P */
    fm_sync_fence();                                                             /* D */
    return atomic_load_explicit(&v->head->n_dozing, memory_order_acquire) != 0;
}

/* After publish: has this rank to be nudged, by us? */
static FM_INLINE bool fm_node_take_dozer(const struct fm_node_view *v, uint32_t rank)
{
    _Atomic uint8_t *flag = &v->head->is_sleeping[rank];

    return atomic_load_explicit(flag, memory_order_relaxed) &&
           atomic_exchange_explicit(flag, 0, memory_order_acq_rel);
}

/* Equal, not `>=`: numbers wrap. */
static FM_INLINE bool fm_node_is_done(const struct fm_node_view *v, uint32_t n)
{
    return atomic_load_explicit(&fm_node_result(v, n)->word, memory_order_acquire) == n; /* P */
}

static FM_INLINE void fm_node_doze(const struct fm_node_view *v, uint32_t rank, bool is_sleeping)
{
    _Atomic uint8_t *flag = &v->head->is_sleeping[rank];

    if (is_sleeping) {
        atomic_store_explicit(flag, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&v->head->n_dozing, 1, memory_order_acq_rel);
        fm_sync_fence(); /* D */
    } else {
        atomic_store_explicit(flag, 0, memory_order_relaxed);
        atomic_fetch_sub_explicit(&v->head->n_dozing, 1, memory_order_relaxed);
    }
}
