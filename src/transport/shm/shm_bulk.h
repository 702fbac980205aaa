/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bulk ring: memory for the long messages of a pair, in the receiver's segment behind the
 * pair's fast ring, with the same producer and the same consumer.
 *
 *     block: | line 0: the consumer's | line 1: body ...            | next block
 *                        ^ header      ^ `from` = 64
 *
 * A long message takes adjacent cache lines of the bulk ring (a block). A slot of the fast ring,
 * which keeps the order, holds its descriptor (struct fm_shm_desc). A short header travels in that
 * slot: the consumer copies it in front of the body, into a line that the producer seldom touches,
 * and so has both in one run without waiting for one more line. Messages do not wrap; what is left
 * at the end of a lap stays unused.
 *
 * Long messages have a ring of their own since it is best four times as large as that for short
 * ones. Messages of 16 KiB move through it at 12 to 20 GB/s, through a fast ring of 128 KiB, of
 * which they leave little free, at 9 to 12. Short messages are as fast or faster in the fast ring.
 *
 * Which path is best depends on how long a modified line takes from one processor to the other:
 * - shared last-level cache: this ring, for messages of any length.
 * - high line latency (above shm_high_latency_ns): single copy (CMA) for what need not travel with
 *   its header; fm_ep.pushes is FM_PUSH_SELDOM then.
 * - no shared cache (above shm_no_shared_cache_ns): modified lines come many times slower from the
 *   other cache than from memory, so the producer uses non-temporal stores.
 * The producer measures that latency with each read of a word that the consumer has just written,
 * all the time, since schedulers and hypervisors move processes.
 *
 * Atomics, and with what each pairs:
 *   W, R   of the slot (shm_fast.h): the descriptor and all that it describes are there.
 *   L  consumer's release store of bulk_done -> L' producer's acquire load of it: the consumer has
 *      left the lines before the producer uses them again.
 */
#pragma once

#include "transport/shm/shm_fast.h"

#define FM_SHM_DESC_HEAD 44

/* Descriptor of a long message; fills a slot, as no other internal message does. */
struct fm_shm_desc {
    uint32_t at;       /* number of the block's first line in the stream of lines */
    uint32_t len;      /* of the message */
    uint16_t from;     /* offset in the block of the bytes that lie there */
    uint16_t head_len; /* bytes of the message that are here, and belong in front of these */
    unsigned char head[FM_SHM_DESC_HEAD];
};

_Static_assert(sizeof(struct fm_shm_desc) == FM_SHM_INLINE, "fills a slot");

/* One end of a bulk ring; private to its process. */
struct fm_shm_bulk {
    char *lines; /* NULL: not in use */
    uint32_t n_lines;
    uint32_t at;             /* number of the next line */
    uint32_t done;           /* producer: as last read; consumer: as last released */
    uint32_t read_at;        /* producer: `at` of the last read of bulk_done */
    uint32_t n_high_latency; /* producer: reads in a row above shm_high_latency_ns */
    uint32_t n_no_cache;     /* ... above shm_no_shared_cache_ns */
    bool is_nontemporal;     /* producer: the processors seem to share no cache */
    bool is_bypassed;        /* producer: the longest messages go by single copy */
    bool has_room;           /* producer: between reserve and commit */
    char *staging;           /* where that message is made; NULL: in the block */
};

struct fm_shm_ep;

/* shm_bulk.c, for the producer. */

/* Put a message into the ring, and describe it in `desc`. 0, or FM_AGAIN: the ring is full. */
int fm_shm_bulk_put(struct fm_shm_ep *ep, struct fm_shm_desc *desc, const void *head,
                    size_t head_len, const void *body, size_t body_len);
/* The same in two steps. */
int fm_shm_bulk_reserve(struct fm_shm_ep *ep, size_t len, void **out_room);
void fm_shm_bulk_commit(struct fm_shm_ep *ep, struct fm_shm_desc *desc, size_t len);
/* Prefetch for write the lines of the next message, after one of `len` bytes was published, as
   fm_shm_fast_prefetch() does. Not the first line, which may be the consumer's. */
void fm_shm_bulk_prefetch(struct fm_shm_bulk *bulk, size_t len);

/* ... for the consumer. */

/* The message that the descriptor in this slot describes, its header put in place. NULL: no correct
   producer writes such a descriptor. *out_end is for fm_shm_bulk_advance(). */
const void *fm_shm_bulk_find(const struct fm_shm_bulk *bulk, const void *slot, size_t max_len,
                             size_t *out_len, uint32_t *out_end);
/* Release all lines before `end`. */
void fm_shm_bulk_advance(struct fm_shm_bulk *bulk, struct fm_shm_fast *ring, uint32_t end);

/* shm_stream_*.c: copy with non-temporal stores, to the beginning of a cache line. The stores are
   ordered before later ones when it returns. */
void fm_shm_stream_copy(void *to, const void *from, size_t len);
