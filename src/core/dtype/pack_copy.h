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

/* half <= len <= 2 * half bytes by two moves that may overlap. */
FM_INLINE void copy_halves(char *packed, char *typed, size_t len, size_t half, bool is_out)
{
    copy_const(packed, typed, half, is_out);
    copy_const(packed + len - half, typed + len - half, half, is_out);
}

FM_INLINE void copy_small(char *packed, char *typed, size_t len, bool is_out)
{
    if (len > 32) {
        copy_const(packed, typed, len, is_out);
    } else if (len >= 16) {
        copy_halves(packed, typed, len, 16, is_out);
    } else if (len >= 8) {
        copy_halves(packed, typed, len, 8, is_out);
    } else if (len >= 4) {
        copy_halves(packed, typed, len, 4, is_out);
    } else if (len >= 2) {
        copy_halves(packed, typed, len, 2, is_out);
    } else {
        copy_const(packed, typed, len, is_out);
    }
}

typedef uint64_t fm_words8 __attribute__((vector_size(16)));
typedef uint32_t fm_words4 __attribute__((vector_size(16)));

/*
 * Four words at four places, one behind the other when packed: joined in vector registers, so that
 * the packed side sees 16 bytes at a time.
 */
FM_INLINE void copy_four_8(char *packed, char *a, char *b, char *c, char *d, bool is_out)
{
    uint64_t w[4];
    fm_words8 v[2];

    if (is_out) {
        memcpy(&w[0], a, 8);
        memcpy(&w[1], b, 8);
        memcpy(&w[2], c, 8);
        memcpy(&w[3], d, 8);
        v[0] = (fm_words8){w[0], w[1]};
        v[1] = (fm_words8){w[2], w[3]};
        memcpy(packed, &v[0], 16);
        memcpy(packed + 16, &v[1], 16);
    } else {
        memcpy(&v[0], packed, 16);
        memcpy(&v[1], packed + 16, 16);
        memcpy(a, &v[0], 8);
        memcpy(b, (char *)&v[0] + 8, 8);
        memcpy(c, &v[1], 8);
        memcpy(d, (char *)&v[1] + 8, 8);
    }
}

FM_INLINE void copy_four_4(char *packed, char *a, char *b, char *c, char *d, bool is_out)
{
    uint32_t w[4];
    fm_words4 v;

    if (is_out) {
        memcpy(&w[0], a, 4);
        memcpy(&w[1], b, 4);
        memcpy(&w[2], c, 4);
        memcpy(&w[3], d, 4);
        v = (fm_words4){w[0], w[1], w[2], w[3]};
        memcpy(packed, &v, 16);
    } else {
        memcpy(a, packed, 4);
        memcpy(b, packed + 4, 4);
        memcpy(c, packed + 8, 4);
        memcpy(d, packed + 12, 4);
    }
}

/* Four blocks of `len` bytes that are one behind the other when packed. */
FM_INLINE void copy_four(char *packed, char *a, char *b, char *c, char *d, size_t len, bool is_out)
{
    if (len == 8) {
        copy_four_8(packed, a, b, c, d, is_out);
    } else if (len == 4) {
        copy_four_4(packed, a, b, c, d, is_out);
    } else {
        copy_const(packed, a, len, is_out);
        copy_const(packed + len, b, len, is_out);
        copy_const(packed + 2 * len, c, len, is_out);
        copy_const(packed + 3 * len, d, len, is_out);
    }
}

/*
 * n blocks of `len` bytes, constant where inlined: packed without gaps, ts apart typed. Four at a
 * time, but for wide strides: there one load instruction in the loop lets the processor foresee the
 * next address, while four would each leap beyond a page.
 */
FM_INLINE void copy_dense(char *packed, char *typed, ptrdiff_t ts, size_t n, size_t len,
                          bool is_out)
{
    for (; n >= 4 && ts < 1024 && ts > -1024; n -= 4) {
        copy_four(packed, typed, typed + ts, typed + 2 * ts, typed + 3 * ts, len, is_out);
        packed += 4 * len;
        typed += 4 * ts;
    }
    for (; n > 0; n--) {
        copy_const(packed, typed, len, is_out);
        packed += len;
        typed += ts;
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

/* The same for lengths from half to 2 * half, half being constant where inlined; 0: any length. */
FM_INLINE void copy_rows_odd(char *packed, ptrdiff_t ps, char *typed, ptrdiff_t ts, size_t n,
                             size_t len, size_t half, bool is_out)
{
    for (; n > 0; n--) {
        if (half) {
            copy_halves(packed, typed, len, half, is_out);
        } else {
            copy_const(packed, typed, len, is_out);
        }
        packed += ps;
        typed += ts;
    }
}

/* n blocks of any length: ps apart packed, ts apart typed. */
FM_INLINE void copy_rows(char *packed, ptrdiff_t ps, char *typed, ptrdiff_t ts, size_t n,
                         size_t len, bool is_out)
{
    bool is_dense = ps == (ptrdiff_t)len;

    if (len == 8 && is_dense) {
        copy_dense(packed, typed, ts, n, 8, is_out);
    } else if (len == 8) {
        copy_rows_const(packed, ps, typed, ts, n, 8, is_out);
    } else if (len == 4 && is_dense) {
        copy_dense(packed, typed, ts, n, 4, is_out);
    } else if (len == 4) {
        copy_rows_const(packed, ps, typed, ts, n, 4, is_out);
    } else if (len == 16) {
        copy_rows_const(packed, ps, typed, ts, n, 16, is_out);
    } else if (len > 32) {
        copy_rows_odd(packed, ps, typed, ts, n, len, 0, is_out);
    } else if (len > 16) {
        copy_rows_odd(packed, ps, typed, ts, n, len, 16, is_out);
    } else if (len > 8) {
        copy_rows_odd(packed, ps, typed, ts, n, len, 8, is_out);
    } else if (len > 4) {
        copy_rows_odd(packed, ps, typed, ts, n, len, 4, is_out);
    } else if (len > 1) {
        copy_rows_odd(packed, ps, typed, ts, n, len, 2, is_out);
    } else {
        copy_rows_const(packed, ps, typed, ts, n, 1, is_out);
    }
}

/* n blocks of `len` bytes, constant where inlined, at offsets; without gaps when packed. */
FM_INLINE void copy_blocks_const(char *packed, char *typed, const int64_t *offs, size_t n,
                                 size_t len, bool is_out)
{
    size_t i = 0;

    for (; is_out && i + 4 <= n; i += 4) {
        copy_four(packed, fm_shift(typed, offs[i]), fm_shift(typed, offs[i + 1]),
                  fm_shift(typed, offs[i + 2]), fm_shift(typed, offs[i + 3]), len, is_out);
        packed += 4 * len;
    }
    for (; i < n; i++) {
        copy_const(packed, fm_shift(typed, offs[i]), len, is_out);
        packed += len;
    }
}

/* n blocks of any length, the same for all, at offsets. */
FM_INLINE void copy_blocks(char *packed, char *typed, const int64_t *offs, size_t n, size_t len,
                           bool is_out)
{
    if (len == 8) {
        copy_blocks_const(packed, typed, offs, n, 8, is_out);
    } else if (len == 4) {
        copy_blocks_const(packed, typed, offs, n, 4, is_out);
    } else if (len == 16) {
        copy_blocks_const(packed, typed, offs, n, 16, is_out);
    } else if (len == 24) {
        copy_blocks_const(packed, typed, offs, n, 24, is_out);
    } else if (len == 32) {
        copy_blocks_const(packed, typed, offs, n, 32, is_out);
    } else {
        for (size_t i = 0; i < n; i++) {
            copy_small(packed, fm_shift(typed, offs[i]), len, is_out);
            packed += len;
        }
    }
}
