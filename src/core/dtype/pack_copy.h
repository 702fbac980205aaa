/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The innermost copy loops of the pack engine; for pack.c only.
 *
 * One side is packed, the other typed; is_out (constant where these are inlined) says which way the
 * bytes go. Blocks of a size that is a machine word are copied by loops of their own, since the
 * compiler makes one load and one store of a memcpy of a constant size.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/compiler.h"

/* An address at a displacement; on MPI_BOTTOM (NULL) pointers have no arithmetic. */
FM_INLINE char *fm_shift(char *base, int64_t disp)
{
    return (char *)((uintptr_t)base + (uintptr_t)disp);
}

FM_INLINE void copy_const(char *packed, char *typed, size_t len, bool is_out)
{
    if (is_out) {
        memcpy(packed, typed, len);
    } else {
        memcpy(typed, packed, len);
    }
}

/* Up to 32 bytes by two overlapping moves, more by memcpy. */
FM_INLINE void copy_small(char *packed, char *typed, size_t len, bool is_out)
{
    if (len > 32) {
        copy_const(packed, typed, len, is_out);
    } else if (len >= 16) {
        copy_const(packed, typed, 16, is_out);
        copy_const(packed + len - 16, typed + len - 16, 16, is_out);
    } else if (len >= 8) {
        copy_const(packed, typed, 8, is_out);
        copy_const(packed + len - 8, typed + len - 8, 8, is_out);
    } else if (len >= 4) {
        copy_const(packed, typed, 4, is_out);
        copy_const(packed + len - 4, typed + len - 4, 4, is_out);
    } else {
        for (size_t i = 0; i < len; i++) {
            copy_const(packed + i, typed + i, 1, is_out);
        }
    }
}

/* n blocks of `len` bytes, constant where inlined: ps apart packed, ts apart typed. */
FM_INLINE void copy_rows_const(char *packed, ptrdiff_t ps, char *typed, ptrdiff_t ts, size_t n,
                               size_t len, bool is_out)
{
    for (; n >= 4; n -= 4) {
        copy_const(packed, typed, len, is_out);
        copy_const(packed + ps, typed + ts, len, is_out);
        copy_const(packed + 2 * ps, typed + 2 * ts, len, is_out);
        copy_const(packed + 3 * ps, typed + 3 * ts, len, is_out);
        packed += 4 * ps;
        typed += 4 * ts;
    }
    for (; n > 0; n--) {
        copy_const(packed, typed, len, is_out);
        packed += ps;
        typed += ts;
    }
}

FM_INLINE void copy_rows(char *packed, ptrdiff_t ps, char *typed, ptrdiff_t ts, size_t n,
                         size_t len, bool is_out)
{
    switch (len) {
    case 1:
        copy_rows_const(packed, ps, typed, ts, n, 1, is_out);
        return;
    case 2:
        copy_rows_const(packed, ps, typed, ts, n, 2, is_out);
        return;
    case 4:
        copy_rows_const(packed, ps, typed, ts, n, 4, is_out);
        return;
    case 8:
        copy_rows_const(packed, ps, typed, ts, n, 8, is_out);
        return;
    case 12:
        copy_rows_const(packed, ps, typed, ts, n, 12, is_out);
        return;
    case 16:
        copy_rows_const(packed, ps, typed, ts, n, 16, is_out);
        return;
    case 24:
        copy_rows_const(packed, ps, typed, ts, n, 24, is_out);
        return;
    case 32:
        copy_rows_const(packed, ps, typed, ts, n, 32, is_out);
        return;
    default:
        for (size_t i = 0; i < n; i++) {
            copy_small(packed, typed, len, is_out);
            packed += ps;
            typed += ts;
        }
    }
}

/* n blocks of `len` bytes, constant where inlined, at offsets. */
FM_INLINE void copy_blocks_const(char *packed, char *typed, const int64_t *offs, size_t n,
                                 size_t len, bool is_out)
{
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        copy_const(packed, fm_shift(typed, offs[i]), len, is_out);
        copy_const(packed + len, fm_shift(typed, offs[i + 1]), len, is_out);
        copy_const(packed + 2 * len, fm_shift(typed, offs[i + 2]), len, is_out);
        copy_const(packed + 3 * len, fm_shift(typed, offs[i + 3]), len, is_out);
        packed += 4 * len;
    }
    for (; i < n; i++) {
        copy_const(packed, fm_shift(typed, offs[i]), len, is_out);
        packed += len;
    }
}

FM_INLINE void copy_blocks(char *packed, char *typed, const int64_t *offs, size_t n, size_t len,
                           bool is_out)
{
    switch (len) {
    case 4:
        copy_blocks_const(packed, typed, offs, n, 4, is_out);
        return;
    case 8:
        copy_blocks_const(packed, typed, offs, n, 8, is_out);
        return;
    case 16:
        copy_blocks_const(packed, typed, offs, n, 16, is_out);
        return;
    case 24:
        copy_blocks_const(packed, typed, offs, n, 24, is_out);
        return;
    case 32:
        copy_blocks_const(packed, typed, offs, n, 32, is_out);
        return;
    default:
        for (size_t i = 0; i < n; i++) {
            copy_small(packed, fm_shift(typed, offs[i]), len, is_out);
            packed += len;
        }
    }
}
