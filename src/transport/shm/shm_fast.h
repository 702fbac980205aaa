/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast ring: a lock-free queue of messages with one producer and one consumer (SPSC), in memory
 * that both have mapped. Each pair of processes that talks often has one per direction.
 *
 *     line 0    slots, one cache line each                      overhang
 *     +------+------+------+-------------+------+-- --+------+----------------+
 *     | done |  m0  |  m1  |  m2 ........|  m3  | ... |  mk .|................|
 *     +------+------+------+-------------+------+-- --+------+----------------+
 *     consumer  written by the producer
 *
 *     first slot of a message: | word: length, number | message ...     further slots: ... message
 *
 * A message takes as many adjacent slots as it needs: one of up to 56 bytes moves in one transfer
 * of a cache line, a longer one in transfers that overlap. A message does not wrap: what reaches
 * beyond the last slot lies in the overhang, and the slots at the beginning that are counted for it
 * stay unused.
 *
 * The consumer polls the word where the next message begins. `number` is the count of that slot in
 * the whole stream plus one, so a word of the previous lap never matches. That holds for words
 * only: no word that the consumer polls may have been payload. So before a message is published,
 * the word of the slot behind it is set to a number that does not match there (0 would match when
 * numbers wrap). The store is left out while no payload has covered a word for a whole lap. The
 * slot must be free for this store, so one slot is always kept free.
 *
 * Atomics, and with what each pairs:
 *   W  producer's release store of word -> R  consumer's acquire load of it: the message is there
 *      when the word is, and the word behind it is no payload.
 *   R' consumer's release store of done -> W' producer's acquire load of it: the consumer has left
 *      the slots before the producer uses them again. It is always the end of a message.
 * The consumer releases slots in large portions, and the producer reads `done` only when its own
 * count says full, so line 0 seldom moves between the caches.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

#define FM_SHM_INLINE   56                  /* bytes of a message of one slot */
#define FM_SHM_INTERNAL (UINT32_C(1) << 31) /* in a length: for the transport itself */

struct fm_shm_slot {
    _Atomic uint64_t word; /* length << 32 | number */
    unsigned char data[FM_SHM_INLINE];
} FM_ALIGNED(FM_CACHE_LINE);

struct fm_shm_fast {
    _Atomic uint32_t done;      /* slots that the consumer has released */
    _Atomic uint32_t bulk_done; /* lines of the bulk ring that it has released (shm_bulk.h) */
    struct fm_shm_slot slots[] FM_ALIGNED(FM_CACHE_LINE);
};

/* One end of a fast ring; private to its process. */
struct fm_shm_fast_end {
    struct fm_shm_fast *ring; /* NULL: none yet */
    uint32_t mask;            /* number of slots, a power of two, minus one */
    uint32_t at;              /* number of the next slot */
    uint32_t done;            /* producer: as last read; consumer: as last released */
    uint32_t long_end;        /* producer: where the last payload that covered words ended */
    uint32_t prefetched;      /* producer: slot up to which lines were prefetched, or need not be */
    bool prefetches;          /* producer: it does so */
};

/* Cells of a message. */
static FM_INLINE uint32_t fm_shm_fast_span(size_t len)
{
    return (uint32_t)((sizeof(uint64_t) + len + FM_CACHE_LINE - 1) / FM_CACHE_LINE);
}

/* Bytes of memory of a fast ring. */
static FM_INLINE size_t fm_shm_fast_size(uint32_t n_slots, size_t max_len)
{
    return sizeof(struct fm_shm_fast) +
           (n_slots + fm_shm_fast_span(max_len) - 1) * sizeof(struct fm_shm_slot);
}

/* Begin to use zeroed memory as a fast ring. */
static FM_INLINE void fm_shm_fast_attach(struct fm_shm_fast_end *e, void *memory, uint32_t n_slots)
{
    *e = (struct fm_shm_fast_end){.ring = memory, .mask = n_slots - 1, .long_end = 0 - n_slots};
}

/* Producer: the slot in which a message of at most len bytes may begin; NULL: the ring is full. */
static FM_INLINE struct fm_shm_slot *fm_shm_fast_room(struct fm_shm_fast_end *e, size_t len)
{
    uint32_t span = fm_shm_fast_span(len), end = e->at + span;

    if (FM_UNLIKELY(end - e->done > e->mask)) {
        e->done = atomic_load_explicit(&e->ring->done, memory_order_acquire); /* W' */
        if (end - e->done > e->mask) {
            return NULL;
        }
    }
    if (span > 1) {
        e->long_end = end;
    }
    return &e->ring->slots[e->at & e->mask];
}

/* Least number of lines that the producer prefetches. A test with a small ring takes fewer. */
#ifndef FM_SHM_PREFETCH
#define FM_SHM_PREFETCH 8
#endif

/*
 * Producer: prefetch the lines of the next slots for write, apart from the one that the consumer
 * polls, by a store to each. Without that each store of a message waits for ownership of its line
 * (RFO): a processor asks for ownership when the store is the oldest in its store buffer, which
 * holds the stores of a message or two. Stores to many lines in a row overlap these requests. As
 * many lines as this message took, as the next one may be as long.
 */
static __attribute__((noinline, unused)) void fm_shm_fast_prefetch(struct fm_shm_fast_end *e,
                                                                   uint32_t span)
{
    uint32_t n = span < FM_SHM_PREFETCH ? FM_SHM_PREFETCH : span;

    if (e->prefetches && e->at + n - e->done <= e->mask) { /* known to be free */
        for (uint32_t k = 1; k <= n; k++) {
            e->ring->slots[(e->at + k) & e->mask].data[FM_SHM_INLINE - 1] = 0;
        }
    }
    e->prefetched = e->at + n;
}

/* Producer: publish the message in the slot that fm_shm_fast_room() gave, which takes `span` slots.
   len may carry FM_SHM_INTERNAL. */
static FM_INLINE void fm_shm_fast_publish_span(struct fm_shm_fast_end *e, struct fm_shm_slot *slot,
                                               uint32_t len, uint32_t span)
{
    uint32_t number = e->at + 1;
    uint32_t end = e->at + span;

    if ((int32_t)(end - e->long_end) <= (int32_t)e->mask) { /* may be payload; ordered by W */
        atomic_store_explicit(&e->ring->slots[end & e->mask].word, end, memory_order_relaxed);
    }
    e->at = end;
    atomic_store_explicit(&slot->word, (uint64_t)len << 32 | number, memory_order_release); /* W */
    if (FM_UNLIKELY((int32_t)(e->prefetched - end) < (int32_t)span)) {
        fm_shm_fast_prefetch(e, span);
    }
}

static FM_INLINE void fm_shm_fast_publish(struct fm_shm_fast_end *e, struct fm_shm_slot *slot,
                                          uint32_t len)
{
    fm_shm_fast_publish_span(e, slot, len, fm_shm_fast_span(len & ~FM_SHM_INTERNAL));
}

/* Consumer: the first slot of the next message and its length, or NULL. */
static FM_INLINE struct fm_shm_slot *fm_shm_fast_peek(const struct fm_shm_fast_end *e,
                                                      uint32_t *out_len)
{
    struct fm_shm_slot *slot = &e->ring->slots[e->at & e->mask];
    uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire); /* R */

    if ((uint32_t)word != e->at + 1) {
        return NULL;
    }
    *out_len = (uint32_t)(word >> 32);
    return slot;
}

/* Consumer: distance of its prefetch while messages come in a row, slots. */
#define FM_SHM_AHEAD 8

/* Consumer: prefetch a later slot for read, while messages come in a row. */
static FM_INLINE void fm_shm_fast_read_ahead(const struct fm_shm_fast_end *e)
{
    __builtin_prefetch(&e->ring->slots[(e->at + FM_SHM_AHEAD) & e->mask]);
}

/* Consumer: release the message of len bytes that peek() gave. The branch for the usual length is
   predicted, so the load of the next slot need not wait for this one's length to arrive. */
static FM_INLINE void fm_shm_fast_advance(struct fm_shm_fast_end *e, uint32_t len)
{
    e->at += FM_LIKELY(len <= FM_SHM_INLINE) ? 1 : fm_shm_fast_span(len);
    if (e->at - e->done > e->mask / 8) {
        e->done = e->at;
        atomic_store_explicit(&e->ring->done, e->at, memory_order_release); /* R' */
    }
}
