/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fast box: a lock-free queue of messages with one writer and one reader, in memory that both
 * have mapped.
 *
 *     line 0                   cells, one cache line each            data
 *     +-----------------------+------+------+------+-- --+-----------------------------+
 *     | cells_done, data_done |  m0  |  m1  |  m2  | ... |     bodies of long messages |
 *     +-----------------------+------+------+------+-- --+-----------------------------+
 *      written by the reader    written by the writer
 *
 *     cell: | word: length, number | 56 bytes of message, or where it lies in `data` |
 *
 * A message of up to 56 bytes is one cell and so moves in one transfer of a cache line. The reader
 * waits on the cell itself: `number` is the count of the cell in the whole stream plus one, hence
 * never what a lap before has left there (a cell's word is only ever a word; payload never lies in
 * its place). Longer messages lie whole in `data`, at the position that the cell tells.
 *
 * Atomics, and with what each pairs:
 *   W  writer's release store of cell.word          -> R  reader's acquire load of it:
 *      the payload is there when the word is.
 *   R' reader's release store of cells_done, data_done -> W' writer's acquire load of them:
 *      the reader has done with the place before the writer uses it again.
 * The writer looks at line 0 only when its own count says full, so that line seldom moves.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

#define FM_SHM_INLINE   56                  /* bytes of a message that lie in its cell */
#define FM_SHM_INTERNAL (UINT32_C(1) << 31) /* in a length: for the transport itself */

struct fm_shm_cell {
    unsigned char data[FM_SHM_INLINE];
    _Atomic uint64_t word; /* length << 32 | number */
} FM_ALIGNED(FM_CACHE_LINE);

struct fm_shm_box {
    _Atomic uint32_t cells_done; /* numbers of cells that the reader has left behind */
    _Atomic uint64_t data_done;  /* position in the stream of data up to which it has */
    struct fm_shm_cell cells[] FM_ALIGNED(FM_CACHE_LINE);
};

/* One end of a box; private to its process. */
struct fm_shm_end {
    struct fm_shm_box *box; /* NULL: no box */
    char *data;
    uint32_t mask;      /* number of cells, a power of two, less one */
    uint32_t at;        /* number of the next cell */
    uint32_t done;      /* writer: cells_done as last seen */
    uint64_t data_len;  /* bytes, a power of two */
    uint64_t data_at;   /* writer: position where the next body begins; reader: data_done */
    uint64_t data_done; /* writer: as last seen */
};

/* Bytes of memory of a box. */
FM_INLINE size_t fm_shm_box_size(uint32_t n_cells, uint64_t data_len)
{
    return sizeof(struct fm_shm_box) + n_cells * sizeof(struct fm_shm_cell) + data_len;
}

/* Begin to use zeroed memory as a box. */
FM_INLINE void fm_shm_box_attach(struct fm_shm_end *e, void *memory, uint32_t n_cells,
                                 uint64_t data_len)
{
    *e = (struct fm_shm_end){.box = memory, .mask = n_cells - 1, .data_len = data_len};
    e->data = (char *)&e->box->cells[n_cells];
}

/* The next cell to write, or NULL when the box is full. */
FM_INLINE struct fm_shm_cell *fm_shm_box_cell(struct fm_shm_end *e)
{
    if (FM_UNLIKELY(e->at - e->done > e->mask)) {
        e->done = atomic_load_explicit(&e->box->cells_done, memory_order_acquire); /* W' */
        if (e->at - e->done > e->mask) {
            return NULL;
        }
    }
    return &e->box->cells[e->at & e->mask];
}

/* Room in the data part for a body of len bytes, at most half of it; NULL when there is none. Its
 * position, to be given to publish_data, comes in *out_at. */
FM_INLINE char *fm_shm_box_room(struct fm_shm_end *e, size_t len, uint64_t *out_at)
{
    uint64_t at = e->data_at, left = e->data_len - (at & (e->data_len - 1));

    at += left < len ? left : 0; /* a body does not wrap */
    if (at + len - e->data_done > e->data_len) {
        e->data_done = atomic_load_explicit(&e->box->data_done, memory_order_acquire); /* W' */
        if (at + len - e->data_done > e->data_len) {
            return NULL;
        }
    }
    *out_at = at;
    return e->data + (at & (e->data_len - 1));
}

/* The message in the cell that box_cell() gave is complete. len may carry FM_SHM_INTERNAL. */
FM_INLINE void fm_shm_box_publish(struct fm_shm_end *e, struct fm_shm_cell *cell, uint32_t len)
{
    e->at++;
    atomic_store_explicit(&cell->word, (uint64_t)len << 32 | e->at, memory_order_release); /* W */
}

/* The same for a body in the room that box_room() gave. */
FM_INLINE void fm_shm_box_publish_data(struct fm_shm_end *e, struct fm_shm_cell *cell, uint64_t at,
                                       uint32_t len)
{
    *(uint64_t *)cell->data = at;
    e->data_at = (at + len + FM_CACHE_LINE - 1) & ~(uint64_t)(FM_CACHE_LINE - 1);
    fm_shm_box_publish(e, cell, len);
}

/* Reader: has the next message come? Its cell and length, or NULL. */
FM_INLINE struct fm_shm_cell *fm_shm_box_peek(const struct fm_shm_end *e, uint32_t *out_len)
{
    struct fm_shm_cell *cell = &e->box->cells[e->at & e->mask];
    uint64_t word = atomic_load_explicit(&cell->word, memory_order_acquire); /* R */

    if ((uint32_t)word != e->at + 1) {
        return NULL;
    }
    *out_len = (uint32_t)(word >> 32);
    return cell;
}

/* Reader: where the body of a long message lies, or NULL when the cell lies outside the box. */
FM_INLINE const char *fm_shm_box_data(struct fm_shm_end *e, const struct fm_shm_cell *cell,
                                      uint32_t len)
{
    uint64_t at = *(const uint64_t *)cell->data;
    uint64_t in = at & (e->data_len - 1);

    if (len > e->data_len - in) {
        return NULL;
    }
    e->data_at = (at + len + FM_CACHE_LINE - 1) & ~(uint64_t)(FM_CACHE_LINE - 1);
    return e->data + in;
}

/* Reader: the message that peek() gave is done with. Seen by the writer after box_release(). */
FM_INLINE void fm_shm_box_advance(struct fm_shm_end *e)
{
    e->at++;
}

/* Reader: give the places of all messages so far back to the writer. */
FM_INLINE void fm_shm_box_release(struct fm_shm_end *e)
{
    atomic_store_explicit(&e->box->data_done, e->data_at, memory_order_release); /* R' */
    atomic_store_explicit(&e->box->cells_done, e->at, memory_order_release);     /* R' */
}
