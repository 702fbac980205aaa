/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations, built in and the user's (MPI-5.0 6.9). */
#pragma once

#include "core/dtype/dtype.h"

/* inout[i] = in[i] op inout[i] for count elements of one basic type. */
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
    const fm_op_kernel_fn *kernels; /* predefined: indexed by enum fm_basic, pairs behind */
    MPI_Op handle;
    const char *name;
};

int fm_op_init(void);
void fm_op_unref(struct fm_op *op);

/* May this operation be used with this type? 0, or -FM_E_INVAL with the reason (MPI-5.0 6.9.2). */
int fm_op_check(const struct fm_op *op, const struct fm_dtype *t);

/* inout = in op inout, elementwise; both in the layout of t. The check has been made. */
void fm_op_apply(const struct fm_op *op, const void *in, void *inout, MPI_Count count,
                 struct fm_dtype *t);
