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

    return t && fm_dtype_has_handle(t) ? t : NULL;
}

/*
 * Checks of arguments: 0, or the error that was raised. Those with _on raise it on `object`, the
 * communicator of a call that has one (9.3); the others where calls without any object do.
 */
static inline int dtype_arg_on(void *object, MPI_Datatype handle, const char *argument,
                               struct fm_dtype **out)
{
    *out = dtype_find(handle);
    return FM_UNLIKELY(!*out)
               ? fm_raise_handle_on(object, FM_KIND_DTYPE, fm_root.call, handle, argument)
               : 0;
}

static inline int dtype_arg(MPI_Datatype handle, const char *argument, struct fm_dtype **out)
{
    return dtype_arg_on(NULL, handle, argument, out);
}

/* The same for one that data is moved with. */
static inline int dtype_arg_committed_on(void *object, MPI_Datatype handle, const char *argument,
                                         struct fm_dtype **out)
{
    int rc = dtype_arg_on(object, handle, argument, out);

    if (rc == 0 && !(*out)->is_committed) {
        return fm_raise(object, fm_root.call, MPI_ERR_TYPE,
                        "%s is not committed: call MPI_Type_commit first", argument);
    }
    return rc;
}

static inline int dtype_arg_committed(MPI_Datatype handle, const char *argument,
                                      struct fm_dtype **out)
{
    return dtype_arg_committed_on(NULL, handle, argument, out);
}

/* An address for a result. */
static inline int out_arg_on(void *object, const void *p, const char *argument)
{
    if (FM_UNLIKELY(!p)) {
        return fm_raise(object, fm_root.call, MPI_ERR_ARG,
                        "%s is NULL: pass the address of a variable for the result", argument);
    }
    return 0;
}

static inline int out_arg(const void *p, const char *argument)
{
    return out_arg_on(NULL, p, argument);
}

static inline int count_arg_on(void *object, MPI_Count count, const char *argument)
{
    if (FM_UNLIKELY(count < 0)) {
        return fm_raise(object, fm_root.call, MPI_ERR_COUNT, "%s is %lld, but must not be negative",
                        argument, (long long)count);
    }
    return 0;
}

static inline int count_arg(MPI_Count count, const char *argument)
{
    return count_arg_on(NULL, count, argument);
}
