/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the memory that the ranks of a communicator share on one host, and which rank may touch
 * which part of it when.
 *
 *     head               slot 0                                        slot 1 ...
 *     +-----------------+---------+--------+--------+-- --+----------+---------+--
 *     | sleepers, ...   | arrived | result | rank 0 | ... | rank p-1 | arrived | ...
 *     +-----------------+---------+--------+--------+-- --+----------+---------+--
 *                                   entry    entry          entry
 *
 * Calls are numbered from 1, the same in all ranks; call n has slot n mod FM_COLL_SLOTS. A rank
 * writes its contribution into its entry and arrives; the last one to arrive combines the entries
 * and publishes the result under the number of the call, which the others poll. In a broadcast or
 * scatter the root publishes, and no rank arrives.
 *
 * Few ranks with a processor each meet flat: a rank marks its own entry with the number of the
 * call, the others poll all entries, and each rank that wants the result combines them itself. This
 * saves the way of a cache line to the last rank and back.
 *
 * Reuse. Call n takes the slot of call n - FM_COLL_SLOTS, which all ranks must have left. A rank
 * that completes a call that waits for all knows that all have begun it, and so have left those
 * before it; `last_all` is the last such call. Before a call that does not wait for all, each rank
 * makes sure (fm_coll_slots_are_full) that n - last_all stays below FM_COLL_SLOTS - 1; all ranks
 * come to the same answer. So a call that waits for all always finds a free slot as well.
 *
 * Atomics, and with what each pairs:
 *   A  arrive's acq_rel add of `arrived` -> those of the ranks that arrive later: the last one sees
 *      all entries, and no other rank writes to the slot then.
 *   P  publish's release store of result->word -> is_done's acquire load: the result is there, and
 *      `arrived` is 0 again for the call that takes the slot next.
 *   M  mark's release store of an entry's word -> all_marked's acquire load: the entry is there.
 *   S  announce's flag and add, a full barrier, then the sleeper's last read of the word that it
 *      waits for  <->  publish's or mark's store to it, a full barrier, then its read of
 * n_sleeping.
 *      Of two that
 *      each write and then read what the other writes, at least one sees it: the sleeper the
 *      result, or the publisher the sleeper, to which it sends a wake-up. The flag is written
 * before
 *      n_sleeping is added to (release), which the publisher reads first (acquire). The rank that
 *      takes the flag back by exchange sends the wake-up; a second publisher that finds it taken
 *      need not, since the sleeper polls again after that wake-up, and sets its flag before it
 *      sleeps once more.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/sync.h"

#ifndef FM_COLL_SLOTS
#define FM_COLL_SLOTS 8 /* a power of two, at least 4 */
#endif

/* A contribution or a result; `stride` bytes, a multiple of a cache line. */
struct fm_coll_entry {
    _Atomic uint32_t word; /* result, or entry of a flat call: number of the call */
    int32_t error;         /* 0 or -FM_E...: of the writer, or of all */
    uint64_t stamp;        /* names the call that its writer makes */
    char data[];           /* 16-byte aligned */
};

struct fm_coll_slot {
    _Atomic uint32_t arrived FM_ALIGNED(FM_CACHE_LINE);
};

struct fm_coll_slots_head {
    _Atomic uint32_t n_sleeping FM_ALIGNED(FM_CACHE_LINE);
    /* A rank is lost, or made a call that the others did not: no further call works. Release store
       -> acquire load: a hint that ends waits, no data. */
    _Atomic uint32_t broken FM_ALIGNED(FM_CACHE_LINE);
    _Atomic uint8_t is_sleeping[] FM_ALIGNED(FM_CACHE_LINE);
};

/* A rank's own view of it. */
struct fm_coll_slots {
    struct fm_coll_slots_head *head;
    char *slots;
    size_t stride, slot_len;
    uint32_t size;     /* ranks */
    uint32_t n;        /* number of the last call begun here */
    uint32_t last_all; /* ... of the last one completed that waited for all */
    bool is_flat;
};

static FM_INLINE size_t fm_coll_slots_head_len(uint32_t size)
{
    return sizeof(struct fm_coll_slots_head) +
           (size + FM_CACHE_LINE - 1) / FM_CACHE_LINE * FM_CACHE_LINE;
}

static FM_INLINE size_t fm_coll_slot_len(uint32_t size, size_t stride)
{
    return sizeof(struct fm_coll_slot) + (size + 1) * stride;
}

static FM_INLINE size_t fm_coll_slots_len(uint32_t size, size_t stride)
{
    return fm_coll_slots_head_len(size) + FM_COLL_SLOTS * fm_coll_slot_len(size, stride);
}

/* Begin to use fm_coll_slots_len() bytes that were zero before the first rank did. */
static FM_INLINE struct fm_coll_slots fm_coll_slots(void *memory, uint32_t size, size_t stride)
{
    return (struct fm_coll_slots){.head = memory,
                                  .slots = (char *)memory + fm_coll_slots_head_len(size),
                                  .stride = stride,
                                  .slot_len = fm_coll_slot_len(size, stride),
                                  .size = size};
}

static FM_INLINE struct fm_coll_slot *fm_coll_slot_of(const struct fm_coll_slots *v, uint32_t n)
{
    return (struct fm_coll_slot *)(v->slots + n % FM_COLL_SLOTS * v->slot_len);
}

static FM_INLINE struct fm_coll_entry *fm_coll_slot_result(const struct fm_coll_slots *v,
                                                           uint32_t n)
{
    return (struct fm_coll_entry *)(fm_coll_slot_of(v, n) + 1);
}

static FM_INLINE struct fm_coll_entry *fm_coll_slot_entry(const struct fm_coll_slots *v, uint32_t n,
                                                          uint32_t rank)
{
    return (struct fm_coll_entry *)((char *)fm_coll_slot_result(v, n) + (rank + 1) * v->stride);
}

/* The next call may not be one that does not wait for all. */
static FM_INLINE bool fm_coll_slots_are_full(const struct fm_coll_slots *v)
{
    return v->n + 1 - v->last_all >= FM_COLL_SLOTS - 1;
}

/* This rank's entry of call n is written. True: it is the last one and has to publish. */
static FM_INLINE bool fm_coll_slot_arrive(const struct fm_coll_slots *v, uint32_t n)
{
    struct fm_coll_slot *slot = fm_coll_slot_of(v, n);

    if (atomic_fetch_add_explicit(&slot->arrived, 1, memory_order_acq_rel) + 1 < v->size) { /* A */
        return false;
    }
    atomic_store_explicit(&slot->arrived, 0, memory_order_relaxed); /* with P */
    return true;
}

/* The result of call n is written. True: a rank sleeps. */
static FM_INLINE bool fm_coll_slot_publish(const struct fm_coll_slots *v, uint32_t n)
{
    atomic_store_explicit(&fm_coll_slot_result(v, n)->word, n, memory_order_release); /* P */
    fm_sync_fence();                                                                  /* S */
    return atomic_load_explicit(&v->head->n_sleeping, memory_order_acquire) != 0;
}

/* The same for an entry of a flat call. */
static FM_INLINE bool fm_coll_slot_mark(const struct fm_coll_slots *v, uint32_t n, uint32_t rank)
{
    atomic_store_explicit(&fm_coll_slot_entry(v, n, rank)->word, n, memory_order_release); /* M */
    fm_sync_fence();                                                                       /* S */
    return atomic_load_explicit(&v->head->n_sleeping, memory_order_acquire) != 0;
}

/* After publish or mark: has this process to wake that rank? */
static FM_INLINE bool fm_coll_slots_take_sleeper(const struct fm_coll_slots *v, uint32_t rank)
{
    _Atomic uint8_t *flag = &v->head->is_sleeping[rank];

    return atomic_load_explicit(flag, memory_order_relaxed) &&
           atomic_exchange_explicit(flag, 0, memory_order_acq_rel);
}

/* Equal, not `>=`: numbers wrap. */
static FM_INLINE bool fm_coll_slot_is_done(const struct fm_coll_slots *v, uint32_t n)
{
    return atomic_load_explicit(&fm_coll_slot_result(v, n)->word, memory_order_acquire) ==
           n; /* P */
}

/* Have all ranks marked their entries of call n? */
static FM_INLINE bool fm_coll_slot_all_marked(const struct fm_coll_slots *v, uint32_t n)
{
    for (uint32_t r = 0; r < v->size; r++) {
        if (atomic_load_explicit(&fm_coll_slot_entry(v, n, r)->word, memory_order_acquire) !=
            n) { /* M */
            return false;
        }
    }
    return true;
}

static FM_INLINE void fm_coll_slots_announce(const struct fm_coll_slots *v, uint32_t rank,
                                             bool is_sleeping)
{
    _Atomic uint8_t *flag = &v->head->is_sleeping[rank];

    if (is_sleeping) {
        atomic_store_explicit(flag, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&v->head->n_sleeping, 1, memory_order_acq_rel);
        fm_sync_fence(); /* S */
    } else {
        atomic_store_explicit(flag, 0, memory_order_relaxed);
        atomic_fetch_sub_explicit(&v->head->n_sleeping, 1, memory_order_relaxed);
    }
}
