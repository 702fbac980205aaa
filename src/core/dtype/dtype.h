/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes: what a buffer of `count` elements means in bytes (MPI-5.0 chapter 5).
 *
 * A datatype is a tree as the user built it (for envelope and contents) and, once committed, a
 * program of runs with loops that the pack engine walks (dtype_flatten.c). Everything the hot path
 * asks is in the first fields. Counts and displacements are MPI_Count throughout.
 */
#pragma once

#include "core/object/handle.h"

struct fm_attrs;
struct fm_dtype_env;  /* how it was made: combiner and arguments; NULL for named types */
struct fm_dtype_prog; /* runs with loops; NULL until committed */

/* Basic types, for operations and external32. What a predefined type is made of. */
enum fm_basic {
    FM_BASIC_NONE = 0, /* not predefined, or a pair type */
    FM_BASIC_BYTE,     /* MPI_BYTE, MPI_PACKED: no arithmetic */
    FM_BASIC_CHAR,     /* characters: no arithmetic */
    FM_BASIC_INT8,
    FM_BASIC_INT16,
    FM_BASIC_INT32,
    FM_BASIC_INT64,
    FM_BASIC_UINT8,
    FM_BASIC_UINT16,
    FM_BASIC_UINT32,
    FM_BASIC_UINT64,
    FM_BASIC_FLOAT,
    FM_BASIC_DOUBLE,
    FM_BASIC_LONG_DOUBLE,
    FM_BASIC_FLOAT_COMPLEX,
    FM_BASIC_DOUBLE_COMPLEX,
    FM_BASIC_LONG_DOUBLE_COMPLEX,
    FM_BASIC_BOOL, /* C _Bool and C++ bool */
    FM_BASIC_LOGICAL1,
    FM_BASIC_LOGICAL2,
    FM_BASIC_LOGICAL4,
    FM_BASIC_LOGICAL8,
    FM_BASIC_COUNT
};

struct fm_dtype {
    struct fm_object head;
    uint64_t pool_link;
    MPI_Count size;   /* bytes of data in one element */
    MPI_Count extent; /* distance of elements */
    MPI_Count lb;
    MPI_Count true_lb;
    MPI_Count true_extent;
    /* count elements are one run of count * size bytes that begins at true_lb: memcpy does. */
    bool is_contig;
    bool is_committed;
    bool is_predefined;
    uint8_t basic; /* enum fm_basic: of the element if all elements are of one basic type, also for
                      derived ones */
    const struct fm_dtype_prog *prog;
    struct fm_dtype_env *env;
    struct fm_attrs *attrs;
    uint64_t n_basic;    /* basic elements in one element (for MPI_Get_elements) */
    MPI_Datatype handle; /* predefined: its constant */
    char name[MPI_MAX_OBJECT_NAME];
};

/* Make the predefined types known. Twice is fine. */
int fm_dtype_init(void);
void fm_dtype_finish(void);

void fm_dtype_unref(struct fm_dtype *t);

/* MPI_BYTE and MPI_PACKED, for what the library sends itself. */
struct fm_dtype *fm_dtype_byte(void);

/* Bytes of `count` elements, or -1 when that is more than MPI_Count holds. */
FM_INLINE MPI_Count fm_dtype_bytes(const struct fm_dtype *t, MPI_Count count)
{
    MPI_Count n;

    return FM_UNLIKELY(__builtin_mul_overflow(t->size, count, &n)) ? -1 : n;
}
