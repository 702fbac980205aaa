/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a kernel is made for a type; for op_kernels.c and op_kernels_ext.c only.
 *
 * User's buffers and packets have no alignment to rely on and any declared type, so elements are
 * reached through types of alignment 1 that may alias. Integers are added and multiplied as
 * unsigned numbers, where overflow is defined. Each loop reads both operands before it writes.
 */
#pragma once

#include "util/compiler.h"

#define FM_UA(name, type) typedef type ua_##name __attribute__((aligned(1), may_alias));

#define FM_KERNEL(op, name, expr)                                                                  \
    static FM_FAST_LOOPS void op##_##name(const void *in, void *inout, size_t count)               \
    {                                                                                              \
        const ua_##name *restrict x = in;                                                          \
        ua_##name *restrict y = inout;                                                             \
                                                                                                   \
        for (size_t i = 0; i < count; i++) {                                                       \
            y[i] = (expr);                                                                         \
        }                                                                                          \
    }

#define FM_KERNELS_ORDER(name)                                                                     \
    FM_KERNEL(max, name, x[i] > y[i] ? x[i] : y[i])                                                \
    FM_KERNEL(min, name, x[i] < y[i] ? x[i] : y[i])

/* `wide` is an unsigned type at least as wide as the element and as unsigned int. */
#define FM_KERNELS_INT(name, type, wide)                                                           \
    FM_UA(name, type)                                                                              \
    FM_KERNELS_ORDER(name)                                                                         \
    FM_KERNEL(sum, name, (type)((wide)x[i] + (wide)y[i]))                                          \
    FM_KERNEL(prod, name, (type)((wide)x[i] * (wide)y[i]))                                         \
    FM_KERNELS_LOGICAL(name)                                                                       \
    FM_KERNELS_BITS(name, type)

#define FM_KERNELS_LOGICAL(name)                                                                   \
    FM_KERNEL(land, name, x[i] && y[i])                                                            \
    FM_KERNEL(lor, name, x[i] || y[i])                                                             \
    FM_KERNEL(lxor, name, !x[i] != !y[i])

#define FM_KERNELS_BITS(name, type)                                                                \
    FM_KERNEL(band, name, (type)(x[i] & y[i]))                                                     \
    FM_KERNEL(bor, name, (type)(x[i] | y[i]))                                                      \
    FM_KERNEL(bxor, name, (type)(x[i] ^ y[i]))

#define FM_KERNELS_REAL(name, type)                                                                \
    FM_UA(name, type)                                                                              \
    FM_KERNELS_ORDER(name)                                                                         \
    FM_KERNEL(sum, name, x[i] + y[i])                                                              \
    FM_KERNEL(prod, name, x[i] * y[i])

/* A complex number is two reals (C11 6.2.5). */
#define FM_KERNELS_COMPLEX(name, real)                                                             \
    static FM_FAST_LOOPS void sum_##name(const void *in, void *inout, size_t count)                \
    {                                                                                              \
        sum_##real(in, inout, 2 * count);                                                          \
    }                                                                                              \
    static FM_FAST_LOOPS void prod_##name(const void *in, void *inout, size_t count)               \
    {                                                                                              \
        const ua_##real *restrict x = in;                                                          \
        ua_##real *restrict y = inout;                                                             \
                                                                                                   \
        for (size_t i = 0; i < 2 * count; i += 2) {                                                \
            ua_##real re = x[i] * y[i] - x[i + 1] * y[i + 1];                                      \
            ua_##real im = x[i] * y[i + 1] + x[i + 1] * y[i];                                      \
                                                                                                   \
            y[i] = re;                                                                             \
            y[i + 1] = im;                                                                         \
        }                                                                                          \
    }

/* Pairs: the better value wins, between equals the smaller index (6.9.4). */
#define FM_KERNEL_LOC(op, name, better)                                                            \
    static void op##_##name(const void *in, void *inout, size_t count,                             \
                            const struct fm_dtype_pair *p)                                         \
    {                                                                                              \
        const char *a = in;                                                                        \
        char *b = inout;                                                                           \
                                                                                                   \
        for (size_t i = 0; i < count; i++, a += p->extent, b += p->extent) {                       \
            ua_##name x = *(const ua_##name *)a;                                                   \
            ua_##name y = *(const ua_##name *)b;                                                   \
                                                                                                   \
            if (x better y) {                                                                      \
                *(ua_##name *)b = x;                                                               \
                memcpy(b + p->index_at, a + p->index_at, p->index_len);                            \
            } else if (x == y) {                                                                   \
                fm_op_index_min(a + p->index_at, b + p->index_at, p->index);                       \
            }                                                                                      \
        }                                                                                          \
    }

#define FM_KERNELS_LOC(name)                                                                       \
    FM_KERNEL_LOC(maxloc, name, >)                                                                 \
    FM_KERNEL_LOC(minloc, name, <)
