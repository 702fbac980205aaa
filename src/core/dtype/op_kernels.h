/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops behind the predefined operations; for op.c only (MPI-5.0 6.9.2, 6.9.4). */
#pragma once

#include "core/dtype/op.h"

enum fm_op_id {
    FM_OP_MAX,
    FM_OP_MIN,
    FM_OP_SUM,
    FM_OP_PROD,
    FM_OP_LAND,
    FM_OP_LOR,
    FM_OP_LXOR,
    FM_OP_BAND,
    FM_OP_BOR,
    FM_OP_BXOR,
    FM_OP_MAXLOC,
    FM_OP_MINLOC,
    FM_OP_REPLACE,
    FM_OP_NO_OP,
    FM_OP_COUNT
};

#define FM_OP_N_ARITH FM_OP_MAXLOC /* operations before this one have a row of kernels */
#define FM_OP_N_LOC   2            /* MAXLOC, MINLOC */

/* inout = in op inout for `count` pairs that lie as `pair` says. */
typedef void (*fm_op_pair_fn)(const void *in, void *inout, size_t count,
                              const struct fm_dtype_pair *pair);

/* NULL: the standard does not define this operation for this type. */
extern const fm_op_kernel_fn fm_op_kernels[FM_OP_N_ARITH][FM_BASIC_COUNT];
extern const fm_op_pair_fn fm_op_pair_kernels[FM_OP_N_LOC][FM_BASIC_COUNT];

/* The same for types that only some compilers have (16-byte integers, 2- and 16-byte reals): the
   rows from FM_BASIC_EXT on. All NULL where the compiler has none. */
extern const fm_op_kernel_fn fm_op_kernels_ext[FM_OP_N_ARITH][FM_BASIC_COUNT];
extern const fm_op_pair_fn fm_op_pair_kernels_ext[FM_OP_N_LOC][FM_BASIC_COUNT];
/* Whether the rows from FM_BASIC_EXT on are there. */
extern const bool fm_op_has_ext;

/*
 * Take the index of `in` (at a) into that of inout (at b) if it is the smaller one, for pairs with
 * equal values.
 */
void fm_op_index_min(const char *a, char *b, enum fm_basic index);
