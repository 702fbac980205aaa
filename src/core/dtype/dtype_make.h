/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How datatypes are made of others (MPI-5.0 5.1); for the dtype room and api/mpi_dtype.c.
 *
 * A constructor's arguments are kept as an environment: all integers, addresses and counts as
 * MPI_Count in the order of the C prototype, and references on the types. It is all that
 * MPI_Type_get_contents tells, and what size, extents and program are calculated from.
 */
#pragma once

#include "core/dtype/dtype.h"
#include "core/dtype/dtype_prog.h"

/* Memory that is freed with the type; NULL (and fm_why) when out of memory. */
void *fm_dtype_alloc(struct fm_dtype *t, size_t len);
void fm_dtype_free_mem(struct fm_dtype *t);

/* Predefined types of one basic element, and of two (a pair); committed, without handle and name.
   NULL when out of memory. */
struct fm_dtype *fm_dtype_new_basic(uint8_t basic, MPI_Count size, MPI_Count align);
struct fm_dtype *fm_dtype_new_pair(const struct fm_dtype_pair *pair, MPI_Count value_len,
                                   MPI_Count align);

struct fm_dtype_env {
    int combiner;
    bool is_large; /* made by a _c function */
    MPI_Count n_values;
    MPI_Count n_types;
    MPI_Count *values;
    struct fm_dtype **types;
};
