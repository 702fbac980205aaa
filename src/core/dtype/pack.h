/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From typed buffers to bytes and back, any part at any time.
 *
 * A cursor stands at a byte position of the packed form of `count` elements at `buf`. Cursors are
 * values: no memory is held, they may be copied and dropped. A call finds its place by walking down
 * the type's program (a division per level), never over its elements, so pieces may come in any
 * size and, after fm_pack_seek(), in any order. Types of zero bytes have no pieces.
 *
 * Types must be committed. count * size must fit into MPI_Count (fm_dtype_bytes() says).
 */
#pragma once

#include "core/dtype/dtype.h"
#include "core/dtype/dtype_prog.h"

struct fm_pack {
    char *buf; /* address of the first element, where displacement 0 is */
    MPI_Count count;
    const struct fm_dtype *dtype; /* not referenced: the caller keeps it alive */
    MPI_Count at;                 /* bytes packed so far */
    MPI_Count len;                /* bytes in all */
    /* pack.c only. The program of all elements, and the leaf that fm_pack_piece() is in. */
    struct fm_dtype_prog top;
    const struct fm_dtype_prog *leaf; /* NULL: none */
    bool is_leaf_top;
    char *leaf_base;
    MPI_Count leaf_at; /* where in the packed form the leaf begins */
};

/* Stand at byte 0. buf is not const, since the same cursor unpacks. */
void fm_pack_begin(struct fm_pack *p, const void *buf, MPI_Count count, const struct fm_dtype *t);

static FM_INLINE void fm_pack_seek(struct fm_pack *p, MPI_Count at)
{
    p->at = at;
}

/* Copy up to `len` further bytes out of the typed buffer to dst, or from src into it; returns how
 * many. */
size_t fm_pack_out(struct fm_pack *p, void *dst, size_t len);
size_t fm_pack_in(struct fm_pack *p, const void *src, size_t len);

/*
 * The address of the next contiguous piece and its length (at most `len`), and step over it, for
 * transfers that go straight from or to the user's buffer. 0 at the end.
 */
size_t fm_pack_piece(struct fm_pack *p, size_t len, void **out_addr);

/* Whole buffers in one call (contiguous ones by memcpy). Unpacking stops at the buffer's end. */
void fm_pack_all(void *dst, const void *buf, MPI_Count count, const struct fm_dtype *t);
void fm_unpack_all(void *buf, MPI_Count count, const struct fm_dtype *t, const void *src,
                   MPI_Count len);

/* From one typed buffer to another, for self messages and local parts of collectives: as many bytes
   as both have. Buffers must not overlap. */
void fm_copy_typed(void *dst, MPI_Count dst_count, const struct fm_dtype *dst_type, const void *src,
                   MPI_Count src_count, const struct fm_dtype *src_type);
