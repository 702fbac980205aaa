/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How datatypes are made of others (MPI-5.0 5.1); for the dtype room and api/mpi_dtype*.c.
 *
 * A constructor's arguments are kept as an environment: all integers, addresses and counts as
 * MPI_Count in the order of the C prototype, and references on the types. It is all that
 * MPI_Type_get_contents returns, and what size, extents and program are calculated from:
 *
 *     t = fm_dtype_begin(combiner, ...);  fill t->env->values, fm_dtype_take(t, i, type) for each
 *     rc = fm_dtype_end(t);               size and extents; t is gone when it fails
 *     rc = fm_dtype_commit(t);            its program
 *
 * Whatever is used as a part has a program already (fm_dtype_end() sees to it), so nothing here
 * recurses over the nesting of types.
 */
#pragma once

#include "core/dtype/dtype.h"
#include "core/dtype/dtype_prog.h"

struct fm_dtype_env {
    int combiner;
    bool is_large; /* made by a _c function */
    MPI_Count n_values;
    MPI_Count n_types;
    MPI_Count *values;
    struct fm_dtype **types;
};

/* Memory that is freed with the type; NULL (and fm_why) when out of memory. */
void *fm_dtype_alloc(struct fm_dtype *t, size_t len);
void fm_dtype_free_mem(struct fm_dtype *t);

/* Predefined types of one basic element, and of two (a pair); committed, without handle and name.
   NULL when out of memory. */
struct fm_dtype *fm_dtype_new_basic(uint8_t basic, MPI_Count size, MPI_Count align);
struct fm_dtype *fm_dtype_new_pair(const struct fm_dtype_pair *pair, MPI_Count value_len,
                                   MPI_Count align);

/* Room for an environment; NULL when out of memory. */
struct fm_dtype_env *fm_dtype_env_add(struct fm_dtype *t, int combiner, MPI_Count n_values,
                                      MPI_Count n_types);
/* A new type with one reference and an environment to be filled. NULL when out of memory. */
struct fm_dtype *fm_dtype_begin(int combiner, bool is_large, MPI_Count n_values, MPI_Count n_types);
/* Part i of its types; takes a reference of its own. */
void fm_dtype_take(struct fm_dtype *t, MPI_Count i, struct fm_dtype *part);
/* Arguments are complete and in their ranges: work out size and extents. Frees t on failure:
   -FM_E_NOMEM, or -FM_E_INVAL when something leaves the range of MPI_Count. */
int fm_dtype_end(struct fm_dtype *t);

/* A copy in all but attributes and name; commits like its model. */
int fm_dtype_dup(struct fm_dtype *old, struct fm_dtype **out);

/* Make the program, unless there is one; MPI_Type_commit also marks the type. */
int fm_dtype_flatten(struct fm_dtype *t);

/* The named type of a class (MPI_TYPECLASS_REAL and so on) and size, NULL: none (19.1.5.5). */
struct fm_dtype *fm_dtype_match_size(int typeclass, int size);

/*
 * Fortran's parameterized types (MPI-5.0 19.1.5.1) and pairs (6.9.4): predefined but unnamed, the
 * same object for the same arguments. *out is NULL when there is none such.
 */
int fm_dtype_f90(int combiner, int p, int r, struct fm_dtype **out); /* MPI_UNDEFINED: any */
int fm_dtype_value_index(struct fm_dtype *value, struct fm_dtype *index, struct fm_dtype **out);

/* ---------------------------------------------------------------- blocks, for dtype_*.c only */

/* One of the pieces that an environment stands for: n elements of a type at a displacement. */
struct fm_dtype_block {
    MPI_Count disp;
    MPI_Count n;
    const struct fm_dtype *type;
};

/* All combiners but vectors and arrays are lists of blocks. False: overflow. */
MPI_Count fm_dtype_n_blocks(const struct fm_dtype_env *e);
bool fm_dtype_block_get(const struct fm_dtype_env *e, MPI_Count i, struct fm_dtype_block *out);

/* A dimension of a subarray or darray: n blocks of k, `step` apart, then one of `rem`, all from
   `start` on; in elements that are `stride` bytes apart. */
struct fm_dtype_dim {
    MPI_Count start, n, k, step, rem;
    MPI_Count stride;
};

/* The dimensions, fastest first, malloc'ed: the caller frees. *out_extent: bytes of the whole
   array. -FM_E_INVAL on overflow. */
int fm_dtype_dims_get(const struct fm_dtype_env *e, struct fm_dtype_dim **out_dims,
                      MPI_Count *out_n_dims, MPI_Count *out_extent);
