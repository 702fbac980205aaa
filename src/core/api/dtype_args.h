/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that many functions of chapter 5 have; for mpi_dtype*.c, mpi_pack.c and mpi_op.c. */
#pragma once

#include "core/api/api.h"
#include "core/dtype/dtype.h"

/* A datatype that the user may name, or NULL. One that was freed, but is a part of another, is
   alive and yet no handle any more. */
static inline struct fm_dtype *dtype_find(MPI_Datatype handle)
{
    struct fm_dtype *t = fm_dtype_get(handle);

    return t && (t->is_predefined || t->n_handles > 0) ? t : NULL;
}

/* The same as an argument. 0, or the error that was raised. */
static inline int dtype_arg(MPI_Datatype handle, const char *argument, struct fm_dtype **out)
{
    *out = dtype_find(handle);
    return FM_UNLIKELY(!*out) ? fm_raise_handle(FM_KIND_DTYPE, fm_root.call, handle, argument) : 0;
}

/* The same for one that data is moved with. */
static inline int dtype_arg_committed(MPI_Datatype handle, const char *argument,
                                      struct fm_dtype **out)
{
    int rc = dtype_arg(handle, argument, out);

    if (rc == 0 && !(*out)->is_committed) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_TYPE,
                        "%s is not committed: call MPI_Type_commit first", argument);
    }
    return rc;
}

/* An address for a result. */
static inline int out_arg(const void *p, const char *argument)
{
    if (FM_UNLIKELY(!p)) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "%s is NULL: pass the address of a "
                        "variable for the result",
                        argument);
    }
    return 0;
}

static inline int count_arg(MPI_Count count, const char *argument)
{
    if (FM_UNLIKELY(count < 0)) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_COUNT, "%s is %lld, but must not be negative",
                        argument, (long long)count);
    }
    return 0;
}
