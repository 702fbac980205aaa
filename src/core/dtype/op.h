/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations, built in and the user's (MPI-5.0 6.9). */
#pragma once

#include "core/dtype/dtype.h"

/* inout[i] = in[i] op inout[i] for count elements of one basic type, of any alignment. */
typedef void (*fm_op_kernel_fn)(const void *in, void *inout, size_t count);

struct fm_op {
    struct fm_object head;
    uint64_t pool_link;
    bool is_commutative;
    bool is_predefined;
    bool is_large; /* the user's function takes MPI_Count (MPI_Op_create_c) */
    union {
        MPI_User_function *small;
        MPI_User_function_c *large;
    } fn;
    uint8_t id; /* predefined: enum fm_op_id (op_kernels.h) */
    MPI_Op handle;
    const char *name;
};

extern const struct fathom_table fm_op_vars;

/* Make the predefined operations known, and take the block of fm_op_vars (NULL: no registry). Twice
   is fine. */
int fm_op_init(void *block);
void fm_op_finish(void);

/* An operation of the user, with one reference. NULL (and fm_why) when out of memory. */
struct fm_op *fm_op_create(MPI_User_function *fn, bool is_commutative);
struct fm_op *fm_op_create_large(MPI_User_function_c *fn, bool is_commutative);
void fm_op_unref(struct fm_op *op);

/* May this operation be used with this type in a reduction? 0, or -FM_E_INVAL with the reason: the
   class is MPI_ERR_OP (MPI-5.0 6.9.2). */
int fm_op_check(const struct fm_op *op, const struct fm_dtype *t);

/* inout = in op inout for count elements of t, which may have any alignment and must not overlap.
   fm_op_check() has been made. */
void fm_op_apply(const struct fm_op *op, const void *in, void *inout, MPI_Count count,
                 struct fm_dtype *t);

/*
 * The same for MPI_Accumulate and the like (MPI-5.0 12.3.4), where MPI_REPLACE and MPI_NO_OP count
 * and where the type may be derived as long as all its elements are of one predefined type.
 */
int fm_op_check_rma(const struct fm_op *op, const struct fm_dtype *t);
