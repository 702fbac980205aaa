/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the contributions of all ranks are combined, for algorithms in which one
 * process has all of them before it. It is the order of the algorithms by messages
 * (fm_algo_allreduce_doubling, fm_algo_scan_doubling), so that the same arguments give the same
 * bits by any way (MPI-5.0 6.9.1):
 *   - the first 2 (p - q) ranks are combined in pairs, q being the largest power of two up to p;
 *   - the q operands that are left form a complete binary tree.
 */
#pragma once

#include "core/coll/coll_call.h"

/* Contributions by rank, each of `count` elements of a type. Operands that stand on the right of
   another are overwritten. */
struct fm_coll_operands {
    char **at; /* `size` of them; where they lie, packed or in the layout of the type */
    int size;
    const struct fm_op *op;
    MPI_Count count;
    struct fm_dtype *dtype;
    /* Room for two operands in the layout of the type, where they lie packed; else .buf is NULL. */
    struct fm_buf left, right;
    MPI_Count packed_len;
};

/* Operand size - 1 becomes the result over all. */
void fm_coll_combine_all(const struct fm_coll_operands *o);

/* Is the operand of this rank only read by fm_coll_combine_all()? */
bool fm_coll_combine_reads(int size, int rank);

/* Operand i becomes the result over ranks 0 to i, for all i; operand 0 is only read. */
void fm_coll_combine_prefixes(const struct fm_coll_operands *o);
