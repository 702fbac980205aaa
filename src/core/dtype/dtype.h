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
    FM_BASIC_NONE = 0, /* mixed, or a pair type */
    FM_BASIC_BYTE,     /* MPI_BYTE: bitwise operations only */
    FM_BASIC_CHAR,     /* characters, and what is packed: no operations at all */
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
    FM_BASIC_EXT, /* from here on: only where the compiler has them (op_kernels_ext.c) */
    FM_BASIC_INT128 = FM_BASIC_EXT,
    FM_BASIC_LOGICAL16,
    FM_BASIC_FLOAT16,
    FM_BASIC_FLOAT128,
    FM_BASIC_FLOAT16_COMPLEX,
    FM_BASIC_FLOAT128_COMPLEX,
    FM_BASIC_COUNT
};

/* How a pair of a value and an index lies in memory, the value at 0 (MPI-5.0 6.9.4). */
struct fm_dtype_pair {
    uint8_t value; /* enum fm_basic */
    uint8_t index; /* enum fm_basic */
    uint8_t index_len;
    uint8_t index_at; /* bytes from the value */
    uint8_t extent;
    uint8_t index_ext; /* bytes of the index in external32 */
};

struct fm_dtype {
    struct fm_object head;
    struct fm_dtype *link; /* next one that is being freed, or next unnamed predefined type */
    MPI_Count size;        /* bytes of data in one element */
    MPI_Count extent;      /* distance of elements */
    MPI_Count lb;
    MPI_Count true_lb;
    MPI_Count true_extent;
    MPI_Count align;    /* the strictest of its basic elements */
    MPI_Count ext_size; /* bytes of one element in external32 (MPI-5.0 14.5.2) */
    /* count elements are one run of count * size bytes that begins at true_lb: memcpy does. */
    bool is_contig;
    bool is_committed;
    bool is_predefined;
    bool has_markers;  /* lb and extent were given, not calculated from the data */
    uint8_t basic;     /* enum fm_basic: of elem */
    uint32_t depth;    /* levels of mixed types, this one included */
    int32_t n_handles; /* the user's: MPI_Type_get_contents gives further ones */
    /* The predefined type that all its data is made of (itself, if predefined); NULL: mixed. */
    const struct fm_dtype *elem;
    const struct fm_dtype_prog *prog;
    struct fm_dtype_env *env;
    struct fm_attrs *attrs;
    const struct fm_dtype_pair *pair; /* pair types only */
    MPI_Count n_basic;                /* basic elements in one element (for MPI_Get_elements) */
    void *mem;                        /* environment, program and tables: freed with the type */
    MPI_Datatype handle;              /* predefined: its constant, else its address */
    char name[MPI_MAX_OBJECT_NAME];
};

/* Make the predefined types known. Twice is fine. */
int fm_dtype_init(void);
void fm_dtype_finish(void);

/* The last reference is gone. Parts live as long as the types made of them. */
FM_COLD void fm_dtype_release(struct fm_dtype *t);
/* Does the user have a handle of it? One that was freed may live on as a part of another. */
static FM_INLINE bool fm_dtype_has_handle(const struct fm_dtype *t)
{
    return t->is_predefined || t->n_handles > 0;
}
/* Drop a reference. NULL is fine. */
static FM_INLINE void fm_dtype_unref(struct fm_dtype *t)
{
    if (t && FM_UNLIKELY(--t->head.refs == 0)) {
        fm_dtype_release(t);
    }
}

/* Make it ready for communication. 0, or -FM_E_NOMEM. Twice is fine. */
int fm_dtype_commit(struct fm_dtype *t);

/* MPI_BYTE and MPI_PACKED, for what the library sends itself. */
struct fm_dtype *fm_dtype_byte(void);

/* Bytes of `count` elements, or -1 when that is more than MPI_Count holds. */
static FM_INLINE MPI_Count fm_dtype_bytes(const struct fm_dtype *t, MPI_Count count)
{
    MPI_Count n;

    return FM_UNLIKELY(__builtin_mul_overflow(t->size, count, &n)) ? -1 : n;
}

/*
 * How many basic elements lie in the first `len` bytes of packed elements of t (MPI-5.0 5.1.11);
 * -1: the end is inside one. And back: the bytes of the first n basic elements, -1 on overflow.
 */
MPI_Count fm_dtype_elements(const struct fm_dtype *t, MPI_Count len);
MPI_Count fm_dtype_elements_bytes(const struct fm_dtype *t, MPI_Count n);
