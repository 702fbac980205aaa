/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The innermost copy loops of the pack engine; for pack.c only.
 *
 * One side is packed, the other typed; is_out says which way the bytes go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/compiler.h"

/* n1 rows of n0 blocks of `len` bytes: how far apart blocks and rows are, packed and typed. */
struct fm_copy_grid {
    size_t len, n0, n1;
    ptrdiff_t ps0, ps1;
    ptrdiff_t ts0, ts1;
};

/* An address at a displacement; on MPI_BOTTOM (NULL) pointers have no arithmetic. */
static FM_INLINE char *fm_shift(char *base, int64_t disp)
{
    return (char *)((uintptr_t)base + (uintptr_t)disp);
}

/* One run of any length. */
static FM_INLINE void fm_copy_run(char *packed, char *typed, size_t len, bool is_out)
{
    if (is_out) {
        memcpy(packed, typed, len);
    } else {
        memcpy(typed, packed, len);
    }
}

void fm_copy_grid(const struct fm_copy_grid *g, char *packed, char *typed, bool is_out);

/* n blocks of `len` bytes each, at offsets; packed without gaps. */
void fm_copy_blocks(char *packed, char *typed, const int64_t *offs, size_t n, size_t len,
                    bool is_out);

/* n blocks at offsets, block i of pos[i + 1] - pos[i] bytes; packed without gaps. */
void fm_copy_pieces(char *packed, char *typed, const int64_t *offs, const int64_t *pos, size_t n,
                    bool is_out);
