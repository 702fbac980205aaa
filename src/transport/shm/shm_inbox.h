/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inbox: a lock-free queue of messages with many producers and one consumer (MPSC). Every
 * process has one, for all senders that have no fast ring with it, so its memory does not depend on
 * their number.
 *
 *           head (consumer)               tail (producers)
 *            v                             v
 *     +-----+------+-----------+----------+-----------+
 *     |  0  | span | span      | (span)   |  0        |    units of one cache line
 *     +-----+------+-----------+----------+-----------+
 *
 *     span: | word: length of the span, kind | length of the message | message, 16-byte aligned |
 *
 * A producer reserves a span by moving tail (compare and swap), fills it, and publishes it by its
 * word. The consumer goes from span to span while words are not 0. Any unit may be the first of a
 * span in the next lap, so the consumer sets the word of every unit back to 0 before it releases a
 * span: all units between tail and head + length are 0.
 *
 * Atomics, and with what each pairs:
 *   W  producer's release store of word -> R  consumer's acquire load of it: the message is
 *      complete.
 *   R' consumer's release store of head -> W' producer's acquire load of it: the units are 0, free.
 *   T  compare and swap of tail, relaxed: reserves the span and orders nothing; what a producer may
 *      touch in it follows from W'. Its load of tail comes before that of head, so a tail that
 *      seems far behind head is only an old one, and the swap fails.
 *
 * A producer that dies between T and W blocks those behind it. The process manager reports its
 * death, and the job ends.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

enum fm_shm_kind {
    FM_SHM_MESSAGE = 1,
    FM_SHM_SKIP,      /* nothing: the end of the ring, or a reservation that was cancelled */
    FM_SHM_FAST_RING, /* the sender continues in a fast ring, whose number is the length */
    FM_SHM_PRIVATE,   /* for the transport itself */
};

struct fm_shm_unit {
    _Atomic uint64_t word; /* length of the span << 32 | kind; 0: not there yet */
    uint64_t len;          /* of the message, bytes */
    unsigned char data[FM_CACHE_LINE - 16];
} FM_ALIGNED(FM_CACHE_LINE);

struct fm_shm_inbox {
    _Atomic uint64_t tail FM_ALIGNED(FM_CACHE_LINE);
    _Atomic uint64_t head FM_ALIGNED(FM_CACHE_LINE);
    struct fm_shm_unit units[] FM_ALIGNED(FM_CACHE_LINE);
};

/* Bytes of a span for a message of len bytes. */
static FM_INLINE uint64_t fm_shm_inbox_span(size_t len)
{
    return (16 + (uint64_t)len + FM_CACHE_LINE - 1) & ~(uint64_t)(FM_CACHE_LINE - 1);
}

static FM_INLINE struct fm_shm_unit *fm_shm_inbox_unit(struct fm_shm_inbox *r, uint64_t inbox_len,
                                                       uint64_t at)
{
    return (struct fm_shm_unit *)((char *)r->units + (at & (inbox_len - 1)));
}

static FM_INLINE void fm_shm_inbox_publish(struct fm_shm_unit *u, uint64_t span,
                                           enum fm_shm_kind kind)
{
    atomic_store_explicit(&u->word, span << 32 | (uint32_t)kind, memory_order_release); /* W */
}

/* Producer: reserve a span for a message of len bytes (at most half of the ring); NULL: full. */
static inline struct fm_shm_unit *fm_shm_inbox_reserve(struct fm_shm_inbox *r, uint64_t inbox_len,
                                                       size_t len)
{
    uint64_t span = fm_shm_inbox_span(len), skip;
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire); /* before head */

    do {
        uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire); /* W' */
        uint64_t left = inbox_len - (tail & (inbox_len - 1));

        skip = left < span ? left : 0;
        if ((int64_t)(tail + skip + span - head) > (int64_t)inbox_len) {
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &r->tail, &tail, tail + skip + span, memory_order_acquire, memory_order_acquire)); /* T */
    if (skip) {
        fm_shm_inbox_publish(fm_shm_inbox_unit(r, inbox_len, tail), skip, FM_SHM_SKIP);
    }
    return fm_shm_inbox_unit(r, inbox_len, tail + skip);
}

/* Consumer: the next span, or NULL. Its length and kind are as the producer wrote them. */
static FM_INLINE struct fm_shm_unit *fm_shm_inbox_peek(struct fm_shm_inbox *r, uint64_t inbox_len,
                                                       uint64_t head, uint64_t *out_span,
                                                       uint32_t *out_kind)
{
    struct fm_shm_unit *u = fm_shm_inbox_unit(r, inbox_len, head);
    uint64_t word = atomic_load_explicit(&u->word, memory_order_acquire); /* R */

    if (word == 0) {
        return NULL;
    }
    *out_span = word >> 32;
    *out_kind = (uint32_t)word;
    return u;
}

/* Consumer: release a span; returns the new head. */
static inline uint64_t fm_shm_inbox_advance(struct fm_shm_inbox *r, uint64_t inbox_len,
                                            uint64_t head, uint64_t span)
{
    for (uint64_t at = head; at != head + span; at += FM_CACHE_LINE) {
        atomic_store_explicit(&fm_shm_inbox_unit(r, inbox_len, at)->word, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&r->head, head + span, memory_order_release); /* R' */
    return head + span;
}
