/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast box: a lock-free queue of messages with one writer and one reader, in memory that both
 * have mapped.
 *
 *     line 0    cells, one cache line each                      overhang
 *     +------+------+------+-------------+------+-- --+------+----------------+
 *     | done |  m0  |  m1  |  m2 ........|  m3  | ... |  mk .|................|
 *     +------+------+------+-------------+------+-- --+------+----------------+
 *     reader    written by the writer
 *
 *     first cell of a message: | word: length, number | message ...     further cells: ... message
 *
 * A message takes as many neighbouring cells as it needs: one of up to 56 bytes moves in one
 * transfer of a cache line, a longer one in transfers that a processor makes at the same time. It
 * does not wrap: what reaches beyond the last cell lies in the overhang, and the cells at the
 * beginning that are counted for it stay unused. The reader waits on the word where the next
 * message begins: `number` is the count of that cell in the whole stream plus one, hence never what
 * a lap before has left there. That holds for words only, so no word that the reader waits on may
 * have been payload: before a message is published, the word of the cell behind it is set to a
 * number that is not waited for there (not to 0: numbers wrap), unless no payload was put into the
 * place of a word for a whole lap. That cell must be free for this, so one is always kept free.
 *
 * Atomics, and with what each pairs:
 *   W  writer's release store of word -> R  reader's acquire load of it: the message is there when
 *      the word is, and the word behind it is no payload.
 *   R' reader's release store of done -> W' writer's acquire load of it: the reader has left the
 *      cells before the writer uses them again. It is always the end of a message.
 * The reader gives cells back in large portions, and the writer looks only when its own count says
 * full, so line 0 seldom moves.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

#define FM_SHM_INLINE   56                  /* bytes of a message of one cell */
#define FM_SHM_INTERNAL (UINT32_C(1) << 31) /* in a length: for the transport itself */

struct fm_shm_cell {
    _Atomic uint64_t word; /* length << 32 | number */
    unsigned char data[FM_SHM_INLINE];
} FM_ALIGNED(FM_CACHE_LINE);

struct fm_shm_box {
    _Atomic uint32_t done;      /* number of cells that the reader has left behind */
    _Atomic uint32_t lane_done; /* ... and of lines of the lane (shm_lane.h) */
    struct fm_shm_cell cells[] FM_ALIGNED(FM_CACHE_LINE);
};

/* One end of a box; private to its process. */
struct fm_shm_end {
    struct fm_shm_box *box; /* NULL: no box */
    uint32_t mask;          /* number of cells, a power of two, less one */
    uint32_t at;            /* number of the next cell */
    uint32_t done;          /* writer: as last seen; reader: as last told */
    uint32_t long_end;      /* writer: where the last payload in place of words ended */
    uint32_t taken;         /* writer: up to this cell it has taken lines ahead, or did without */
    bool takes;             /* writer: it does */
};

/* Cells of a message. */
static FM_INLINE uint32_t fm_shm_box_span(size_t len)
{
    return (uint32_t)((sizeof(uint64_t) + len + FM_CACHE_LINE - 1) / FM_CACHE_LINE);
}

/* Bytes of memory of a box. */
static FM_INLINE size_t fm_shm_box_size(uint32_t n_cells, size_t max_len)
{
    return sizeof(struct fm_shm_box) +
           (n_cells + fm_shm_box_span(max_len) - 1) * sizeof(struct fm_shm_cell);
}

/* Begin to use zeroed memory as a box. */
static FM_INLINE void fm_shm_box_attach(struct fm_shm_end *e, void *memory, uint32_t n_cells)
{
    *e = (struct fm_shm_end){.box = memory, .mask = n_cells - 1, .long_end = 0 - n_cells};
}

/* The cell in which a message of at most len bytes may begin, or NULL when there is no room. */
static FM_INLINE struct fm_shm_cell *fm_shm_box_room(struct fm_shm_end *e, size_t len)
{
    uint32_t span = fm_shm_box_span(len), end = e->at + span;

    if (FM_UNLIKELY(end - e->done > e->mask)) {
        e->done = atomic_load_explicit(&e->box->done, memory_order_acquire); /* W' */
        if (end - e->done > e->mask) {
            return NULL;
        }
    }
    if (span > 1) {
        e->long_end = end;
    }
    return &e->box->cells[e->at & e->mask];
}

/* Writer: lines that it takes ahead, at least. A test with a small box takes fewer. */
#ifndef FM_SHM_TAKEN
#define FM_SHM_TAKEN 8
#endif

/*
 * Writer: write into the lines of the next cells, but for the one that the reader waits on, so that
 * the next messages find them in this processor's own cache. A processor asks for a line that both
 * have read only when the store to it is the oldest in its store buffer, which has room for the
 * stores of a message or two: line after line, each the whole way. Stores to many lines in a row
 * are on their way at once. As many lines as this message took, as the next one may be as long.
 */
static __attribute__((noinline, unused)) void fm_shm_box_take_lines(struct fm_shm_end *e,
                                                                    uint32_t span)
{
    uint32_t n = span < FM_SHM_TAKEN ? FM_SHM_TAKEN : span;

    if (e->takes && e->at + n - e->done <= e->mask) { /* free, as far as is known */
        for (uint32_t k = 1; k <= n; k++) {
            e->box->cells[(e->at + k) & e->mask].data[FM_SHM_INLINE - 1] = 0;
        }
    }
    e->taken = e->at + n;
}

/* The message in the cell that box_room() gave is complete; it takes so many. len may carry
   FM_SHM_INTERNAL. */
static FM_INLINE void fm_shm_box_publish_span(struct fm_shm_end *e, struct fm_shm_cell *cell,
                                              uint32_t len, uint32_t span)
{
    uint32_t number = e->at + 1;
    uint32_t end = e->at + span;

    if ((int32_t)(end - e->long_end) <= (int32_t)e->mask) { /* may be payload; ordered by W */
        atomic_store_explicit(&e->box->cells[end & e->mask].word, end, memory_order_relaxed);
    }
    e->at = end;
    atomic_store_explicit(&cell->word, (uint64_t)len << 32 | number, memory_order_release); /* W */
    if (FM_UNLIKELY((int32_t)(e->taken - end) < (int32_t)span)) {
        fm_shm_box_take_lines(e, span);
    }
}

static FM_INLINE void fm_shm_box_publish(struct fm_shm_end *e, struct fm_shm_cell *cell,
                                         uint32_t len)
{
    fm_shm_box_publish_span(e, cell, len, fm_shm_box_span(len & ~FM_SHM_INTERNAL));
}

/* Reader: has the next message come? Its first cell and its length, or NULL. */
static FM_INLINE struct fm_shm_cell *fm_shm_box_peek(const struct fm_shm_end *e, uint32_t *out_len)
{
    struct fm_shm_cell *cell = &e->box->cells[e->at & e->mask];
    uint64_t word = atomic_load_explicit(&cell->word, memory_order_acquire); /* R */

    if ((uint32_t)word != e->at + 1) {
        return NULL;
    }
    *out_len = (uint32_t)(word >> 32);
    return cell;
}

/* Reader: cells that are fetched ahead of the one that is read, while messages come in a row. */
#define FM_SHM_AHEAD 8

/* Reader: messages come in a row, so have a later cell on its way. */
static FM_INLINE void fm_shm_box_fetch_ahead(const struct fm_shm_end *e)
{
    __builtin_prefetch(&e->box->cells[(e->at + FM_SHM_AHEAD) & e->mask]);
}

/* Reader: the message of len bytes that peek() gave is done with. A branch for the usual length: it
   is foretold, so that the next cell is fetched while the length of this one is still on its way
   from the writer's cache. */
static FM_INLINE void fm_shm_box_advance(struct fm_shm_end *e, uint32_t len)
{
    e->at += FM_LIKELY(len <= FM_SHM_INLINE) ? 1 : fm_shm_box_span(len);
    if (e->at - e->done > e->mask / 8) {
        e->done = e->at;
        atomic_store_explicit(&e->box->done, e->at, memory_order_release); /* R' */
    }
}
