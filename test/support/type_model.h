/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes as the standard defines them: a type map, kept as a plain list of basic elements.
 *
 * The model knows nothing of loops or runs, so it is slow and simple: every element has its own
 * entry. Random models come with the arguments of the constructor that makes them, so that a test
 * can make the same type by the code that it tests. Needs nothing but mpi.h.
 */
#pragma once

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_rng {
    uint64_t state;
};

uint64_t tm_next(struct tm_rng *r);
/* From lo to hi, both included. */
int64_t tm_range(struct tm_rng *r, int64_t lo, int64_t hi);

struct tm_entry {
    int64_t disp;
    int len, align;
    MPI_Datatype basic;
};

struct tm_type {
    int combiner; /* MPI_COMBINER_NAMED: kids is empty, basic is it */
    MPI_Datatype basic;
    int64_t *values; /* arguments in the order of the C prototype, without the types */
    int n_values;
    struct tm_type **kids;
    int n_kids;
    struct tm_entry *map;
    int n;
    bool has_markers;
    bool has_reach;
    int64_t reach; /* largest upper bound of a kid with data */
    int64_t lb, ub, true_lb, true_ub, size;
};

/* A random type of at most this nesting and about this many elements. */
struct tm_type *tm_random(struct tm_rng *r, int depth, int max_elements);
/* Any type: what a constructor with these arguments makes of the kids, which it then owns. Values
   are copied. */
struct tm_type *tm_make(int combiner, const int64_t *values, int n_values, struct tm_type **kids,
                        int n_kids);
struct tm_type *tm_basic(MPI_Datatype basic);
void tm_free(struct tm_type *t);

/* Do elements of `count` of them share bytes? Then they are for sending only. */
bool tm_overlaps(const struct tm_type *t, int count);

/* Pack count elements byte by byte; buf is where displacement 0 is. Returns bytes. */
size_t tm_pack(const struct tm_type *t, int count, const char *buf, char *packed);
void tm_unpack(const struct tm_type *t, int count, char *buf, const char *packed, size_t len);

/* Lowest and highest byte + 1 that count elements touch. */
void tm_span(const struct tm_type *t, int count, int64_t *out_lo, int64_t *out_hi);
