/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of each type: sizes, extents, envelope and contents, both forms of each
   constructor (MPI-5.0 5.1). */
#include "../check.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

struct want {
    long long size, lb, extent, true_lb, true_extent;
};

static void expect(MPI_Datatype t, struct want w)
{
    int size;
    MPI_Aint lb, extent;
    MPI_Count n, from, len;

    OK(MPI_Type_size(t, &size));
    CHECK_EQ(size, w.size);
    OK(MPI_Type_size_c(t, &n));
    CHECK_EQ(n, w.size);
    OK(MPI_Type_size_x(t, &n));
    CHECK_EQ(n, w.size);
    OK(MPI_Type_get_extent(t, &lb, &extent));
    CHECK_EQ(lb, w.lb);
    CHECK_EQ(extent, w.extent);
    OK(MPI_Type_get_extent_c(t, &from, &len));
    CHECK(from == w.lb && len == w.extent);
    OK(MPI_Type_get_extent_x(t, &from, &len));
    CHECK(from == w.lb && len == w.extent);
    OK(MPI_Type_get_true_extent(t, &lb, &extent));
    CHECK_EQ(lb, w.true_lb);
    CHECK_EQ(extent, w.true_extent);
    OK(MPI_Type_get_true_extent_c(t, &from, &len));
    CHECK(from == w.true_lb && len == w.true_extent);
    OK(MPI_Type_get_true_extent_x(t, &from, &len));
    CHECK(from == w.true_lb && len == w.true_extent);
}

/* Values in the order of the prototype and what each is: i(nteger), a(ddress), c(ount). */
static void expect_contents(MPI_Datatype t, int combiner, const char *classes,
                            const long long *values, int n_types, const MPI_Datatype *types)
{
    int ints[32], got;
    MPI_Aint addrs[32];
    MPI_Count counts[32], ni, na, nc, nd;
    MPI_Datatype kids[8];
    int at[3] = {0, 0, 0};

    OK(MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nd, &got));
    CHECK_EQ(got, combiner);
    CHECK_EQ(nd, n_types);
    OK(MPI_Type_get_contents_c(t, ni, na, nc, nd, ints, addrs, counts, kids));
    for (int i = 0; classes[i]; i++) {
        int which = classes[i] == 'i' ? 0 : classes[i] == 'a' ? 1 : 2;
        long long v = which == 0   ? ints[at[0]]
                      : which == 1 ? (long long)addrs[at[1]]
                                   : (long long)counts[at[2]];

        CHECK_EQ(v, values[i]);
        at[which]++;
    }
    CHECK_EQ(ni, at[0]);
    CHECK_EQ(na, at[1]);
    CHECK_EQ(nc, at[2]);
    for (int i = 0; i < n_types; i++) {
        CHECK(kids[i] == types[i]);
    }
    if (nc == 0) { /* the forms without _c say the same */
        int n1, n2, n3, again[32];

        OK(MPI_Type_get_envelope(t, &n1, &n2, &n3, &got));
        CHECK(n1 == ni && n2 == na && n3 == nd && got == combiner);
        OK(MPI_Type_get_contents(t, n1, n2, n3, again, addrs, kids));
        CHECK(memcmp(again, ints, (size_t)n1 * sizeof(int)) == 0);
    }
}

#define VALUES(...) ((const long long[]){__VA_ARGS__})
#define TYPES(...)  ((const MPI_Datatype[]){__VA_ARGS__})

/* Both forms of a constructor: shape, and contents in their two ways. */
#define CONSTRUCTOR(small, large, shape, combiner, small_classes, large_classes, values, n, types) \
    do {                                                                                           \
        MPI_Datatype t;                                                                            \
                                                                                                   \
        OK(small);                                                                                 \
        expect(t, shape);                                                                          \
        expect_contents(t, combiner, small_classes, values, n, types);                             \
        OK(MPI_Type_commit(&t));                                                                   \
        expect(t, shape);                                                                          \
        OK(MPI_Type_free(&t));                                                                     \
        OK(large);                                                                                 \
        expect(t, shape);                                                                          \
        expect_contents(t, combiner, large_classes, values, n, types);                             \
        OK(MPI_Type_free(&t));                                                                     \
    } while (0)

static void constructors(void)
{
    int lens[2] = {2, 1}, at[2] = {4, 0};
    MPI_Aint bytes[2] = {40, 3};
    MPI_Count lens_c[2] = {2, 1}, at_c[2] = {4, 0}, bytes_c[2] = {40, 3};
    MPI_Datatype kinds[2] = {MPI_DOUBLE, MPI_CHAR};

    CONSTRUCTOR(MPI_Type_contiguous(3, MPI_INT, &t), MPI_Type_contiguous_c(3, MPI_INT, &t),
                ((struct want){12, 0, 12, 0, 12}), MPI_COMBINER_CONTIGUOUS, "i", "c", VALUES(3), 1,
                TYPES(MPI_INT));
    CONSTRUCTOR(MPI_Type_vector(3, 2, 5, MPI_INT, &t), MPI_Type_vector_c(3, 2, 5, MPI_INT, &t),
                ((struct want){24, 0, 48, 0, 48}), MPI_COMBINER_VECTOR, "iii", "ccc",
                VALUES(3, 2, 5), 1, TYPES(MPI_INT));
    CONSTRUCTOR(MPI_Type_vector(3, 1, -2, MPI_INT, &t), MPI_Type_vector_c(3, 1, -2, MPI_INT, &t),
                ((struct want){12, -16, 20, -16, 20}), MPI_COMBINER_VECTOR, "iii", "ccc",
                VALUES(3, 1, -2), 1, TYPES(MPI_INT));
    CONSTRUCTOR(MPI_Type_create_hvector(2, 1, 7, MPI_SHORT, &t),
                MPI_Type_create_hvector_c(2, 1, 7, MPI_SHORT, &t), ((struct want){4, 0, 10, 0, 9}),
                MPI_COMBINER_HVECTOR, "iia", "ccc", VALUES(2, 1, 7), 1, TYPES(MPI_SHORT));
    CONSTRUCTOR(MPI_Type_indexed(2, lens, at, MPI_INT, &t),
                MPI_Type_indexed_c(2, lens_c, at_c, MPI_INT, &t), ((struct want){12, 0, 24, 0, 24}),
                MPI_COMBINER_INDEXED, "iiiii", "ccccc", VALUES(2, 2, 1, 4, 0), 1, TYPES(MPI_INT));
    CONSTRUCTOR(MPI_Type_create_hindexed(2, lens, bytes, MPI_CHAR, &t),
                MPI_Type_create_hindexed_c(2, lens_c, bytes_c, MPI_CHAR, &t),
                ((struct want){3, 3, 39, 3, 39}), MPI_COMBINER_HINDEXED, "iiiaa", "ccccc",
                VALUES(2, 2, 1, 40, 3), 1, TYPES(MPI_CHAR));
    CONSTRUCTOR(MPI_Type_create_indexed_block(2, 3, at, MPI_INT, &t),
                MPI_Type_create_indexed_block_c(2, 3, at_c, MPI_INT, &t),
                ((struct want){24, 0, 28, 0, 28}), MPI_COMBINER_INDEXED_BLOCK, "iiii", "cccc",
                VALUES(2, 3, 4, 0), 1, TYPES(MPI_INT));
    CONSTRUCTOR(MPI_Type_create_hindexed_block(2, 1, bytes, MPI_CHAR, &t),
                MPI_Type_create_hindexed_block_c(2, 1, bytes_c, MPI_CHAR, &t),
                ((struct want){2, 3, 38, 3, 38}), MPI_COMBINER_HINDEXED_BLOCK, "iiaa", "cccc",
                VALUES(2, 1, 40, 3), 1, TYPES(MPI_CHAR));
    /* The standard's own example: two doubles at 40, a char at 3; rounded up to 8. */
    CONSTRUCTOR(MPI_Type_create_struct(2, lens, bytes, kinds, &t),
                MPI_Type_create_struct_c(2, lens_c, bytes_c, kinds, &t),
                ((struct want){17, 3, 56, 3, 53}), MPI_COMBINER_STRUCT, "iiiaa", "ccccc",
                VALUES(2, 2, 1, 40, 3), 2, kinds);
    CONSTRUCTOR(MPI_Type_create_resized(MPI_INT, -4, 20, &t),
                MPI_Type_create_resized_c(MPI_INT, -4, 20, &t), ((struct want){4, -4, 20, 0, 4}),
                MPI_COMBINER_RESIZED, "aa", "cc", VALUES(-4, 20), 1, TYPES(MPI_INT));
}

static void arrays(void)
{
    int sizes[2] = {4, 6}, subs[2] = {2, 3}, starts[2] = {1, 2};
    MPI_Count sizes_c[2] = {4, 6}, subs_c[2] = {2, 3}, starts_c[2] = {1, 2};
    int gsizes[2] = {5, 8}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 3}, grid[2] = {2, 2};
    MPI_Count gsizes_c[2] = {5, 8};

    CONSTRUCTOR(MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t),
                MPI_Type_create_subarray_c(2, sizes_c, subs_c, starts_c, MPI_ORDER_C, MPI_INT, &t),
                ((struct want){24, 0, 96, 32, 36}), MPI_COMBINER_SUBARRAY, "iiiiiiii", "icccccci",
                VALUES(2, 4, 6, 2, 3, 1, 2, MPI_ORDER_C), 1, TYPES(MPI_INT));
    CONSTRUCTOR(
        MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_INT, &t),
        MPI_Type_create_subarray_c(2, sizes_c, subs_c, starts_c, MPI_ORDER_FORTRAN, MPI_INT, &t),
        ((struct want){24, 0, 96, 36, 40}), MPI_COMBINER_SUBARRAY, "iiiiiiii", "icccccci",
        VALUES(2, 4, 6, 2, 3, 1, 2, MPI_ORDER_FORTRAN), 1, TYPES(MPI_INT));
    /* Process 3 of 2 x 2 has rows 3, 4 and columns 3, 4, 5. */
    CONSTRUCTOR(
        MPI_Type_create_darray(4, 3, 2, gsizes, distribs, dargs, grid, MPI_ORDER_C, MPI_SHORT, &t),
        MPI_Type_create_darray_c(4, 3, 2, gsizes_c, distribs, dargs, grid, MPI_ORDER_C, MPI_SHORT,
                                 &t),
        ((struct want){12, 0, 80, 54, 22}), MPI_COMBINER_DARRAY, "iiiiiiiiiiii", "iiicciiiiiii",
        VALUES(4, 3, 2, 5, 8, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG,
               3, 2, 2, MPI_ORDER_C),
        1, TYPES(MPI_SHORT));
}

/* A dimension that is not distributed is one block, of the first process in it (5.1.4). */
static void not_distributed(void)
{
    int gsizes[2] = {5, 8}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, -3}, grid[2] = {2, 3};
    MPI_Datatype t;

    for (int r = 0; r < 6; r++) {
        OK(MPI_Type_create_darray(6, r, 2, gsizes, distribs, dargs, grid, MPI_ORDER_C, MPI_SHORT,
                                  &t));
        expect(t, r == 0   ? (struct want){48, 0, 80, 0, 48}
                  : r == 3 ? (struct want){32, 0, 80, 48, 32}
                           : (struct want){0, 0, 80, 0, 0});
        OK(MPI_Type_free(&t));
    }
}

/* Numbers near the ends of their ranges where the type itself is small. */
static void extremes(void)
{
    const int most = INT_MAX, cyclic = MPI_DISTRIBUTE_CYCLIC, block = MPI_DISTRIBUTE_BLOCK;
    const int two = 2, none = MPI_DISTRIBUTE_DFLT_DARG;
    const MPI_Count half = INT64_MAX / 2 + 1, whole = INT64_MAX, lens[2] = {0, 1};
    const MPI_Count far[2] = {INT64_MAX, 2}, ones[3] = {1, 1, 1}, apart[3] = {-half, half - 8, 0};
    const int gsize = 100;
    MPI_Datatype t;
    MPI_Count n, from, len;

    /* "where n is an arbitrary integer value" (5.1.2) */
    OK(MPI_Type_vector_c(1, 3, INT64_MAX, MPI_DOUBLE, &t));
    expect(t, (struct want){24, 0, 24, 0, 24});
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_indexed_c(2, lens, far, MPI_DOUBLE, &t)); /* a block of nothing is nowhere */
    expect(t, (struct want){8, 16, 8, 16, 8});
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_free(&t));
    /* Blocks and grids much larger than the array. */
    for (int r = 0; r < 2; r++) {
        OK(MPI_Type_create_darray(most, r, 1, &gsize, &cyclic, &most, &most, MPI_ORDER_C,
                                  MPI_DOUBLE, &t));
        expect(t, r == 0 ? (struct want){800, 0, 800, 0, 800} : (struct want){0, 0, 800, 0, 0});
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_free(&t));
    }
    /* All that MPI_Count can say, in two halves. */
    for (int r = 0; r < 2; r++) {
        OK(MPI_Type_create_darray_c(2, r, 1, &whole, &block, &none, &two, MPI_ORDER_C, MPI_CHAR,
                                    &t));
        OK(MPI_Type_commit(&t));
        OK(MPI_Type_size_c(t, &n));
        CHECK_EQ(n, r == 0 ? half : whole - half);
        OK(MPI_Type_get_true_extent_c(t, &from, &len));
        CHECK(from == (r == 0 ? 0 : half) && len == n);
        OK(MPI_Type_free(&t));
    }
    /* As far apart as can be. */
    OK(MPI_Type_create_hindexed_c(3, ones, apart, MPI_CHAR, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_get_true_extent_c(t, &from, &len));
    CHECK(from == -half && len == INT64_MAX - 6);
    OK(MPI_Type_free(&t));
}

static void markers(void)
{
    MPI_Datatype wide, s, mixed[2] = {MPI_DATATYPE_NULL, MPI_INT};
    int ones[2] = {1, 1};
    MPI_Aint at[2] = {0, 100};
    MPI_Datatype empty, kids;
    int n1, n2, n3, combiner;

    /* Given bounds win over data that lies outside of them (5.1.6). */
    OK(MPI_Type_create_resized(MPI_CHAR, -8, 32, &wide));
    mixed[0] = wide;
    OK(MPI_Type_create_struct(2, ones, at, mixed, &s));
    expect(s, (struct want){5, -8, 32, 0, 104});
    OK(MPI_Type_free(&s));
    OK(MPI_Type_contiguous(3, wide, &s));
    expect(s, (struct want){3, -8, 96, 0, 65});
    OK(MPI_Type_free(&s));
    /* Nothing has no bounds. */
    OK(MPI_Type_contiguous(0, wide, &empty));
    expect(empty, (struct want){0, 0, 0, 0, 0});
    OK(MPI_Type_vector(5, 0, 3, MPI_INT, &s));
    expect(s, (struct want){0, 0, 0, 0, 0});
    OK(MPI_Type_free(&s));
    OK(MPI_Type_create_resized(empty, 5, 7, &s));
    expect(s, (struct want){0, 5, 7, 0, 0});
    /* Contents give further handles, which are to be freed. */
    OK(MPI_Type_get_contents(s, 0, 2, 1, NULL, at, &kids));
    CHECK(kids == empty && at[0] == 5 && at[1] == 7);
    OK(MPI_Type_free(&empty));
    OK(MPI_Type_get_envelope(kids, &n1, &n2, &n3, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_CONTIGUOUS);
    OK(MPI_Type_free(&kids));
    OK(MPI_Type_free(&s));
    OK(MPI_Type_free(&wide));
    OK(MPI_Type_get_envelope(MPI_DOUBLE, &n1, &n2, &n3, &combiner));
    CHECK(combiner == MPI_COMBINER_NAMED && n1 == 0 && n2 == 0 && n3 == 0);
}

/* No part reaches beyond the whole, its padding included, and the whole ends where its strictest
   element may begin (5.1.6). */
static void reach(void)
{
    MPI_Datatype kinds[2] = {MPI_DOUBLE, MPI_CHAR}, padded, t, rows;
    int ones[2] = {1, 1};
    MPI_Aint at[2] = {0, 8};

    OK(MPI_Type_create_struct(2, ones, at, kinds, &padded));
    expect(padded, (struct want){9, 0, 16, 0, 9});
    OK(MPI_Type_create_hvector(2, 2, 33, padded, &t));
    expect(t, (struct want){36, 0, 72, 0, 58});
    OK(MPI_Type_free(&t));
    kinds[0] = MPI_INT;
    kinds[1] = padded;
    at[1] = 4;
    OK(MPI_Type_create_struct(2, ones, at, kinds, &t));
    expect(t, (struct want){13, 0, 24, 0, 13});
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_hvector(3, 4, 25, MPI_INT, &rows));
    expect(rows, (struct want){48, 0, 68, 0, 66});
    OK(MPI_Type_create_hvector(2, 3, 273, rows, &t));
    expect(t, (struct want){288, 0, 480, 0, 475});
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&rows));
    OK(MPI_Type_free(&padded));
}

static void chosen(void)
{
    MPI_Datatype t, again, v, parts[2];
    MPI_Count nothing[2];

    OK(MPI_Type_create_f90_real(6, 30, &t));
    OK(MPI_Type_create_f90_real(6, 30, &again));
    CHECK(t == again);
    expect(t, (struct want){4, 0, 4, 0, 4});
    expect_contents(t, MPI_COMBINER_F90_REAL, "ii", VALUES(6, 30), 0, NULL);
    OK(MPI_Type_create_f90_real(MPI_UNDEFINED, 200, &t));
    CHECK(t != again);
    expect(t, (struct want){8, 0, 8, 0, 8});
    expect_contents(t, MPI_COMBINER_F90_REAL, "ii", VALUES(MPI_UNDEFINED, 200), 0, NULL);
    OK(MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &t));
    expect(t, (struct want){16, 0, 16, 0, 16});
    expect_contents(t, MPI_COMBINER_F90_COMPLEX, "ii", VALUES(15, MPI_UNDEFINED), 0, NULL);
    for (int r = 1, size = 1; r <= 18; r++) {
        size = r > 9 ? 8 : r > 4 ? 4 : r > 2 ? 2 : 1;
        OK(MPI_Type_create_f90_integer(r, &t));
        expect(t, (struct want){size, 0, size, 0, size});
        expect_contents(t, MPI_COMBINER_F90_INTEGER, "i", VALUES(r), 0, NULL);
    }
    OK(MPI_Type_vector(2, 1, 3, t, &v)); /* may be a part */
    expect(v, (struct want){16, 0, 32, 0, 32});
    OK(MPI_Type_get_contents_c(v, 3, 0, 0, 1, (int[3]){0}, NULL, nothing, &again));
    CHECK(again == t);
    OK(MPI_Type_free(&v));

    OK(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT, &t));
    CHECK(t == MPI_FLOAT_INT);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &t));
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &again));
    CHECK(t == again && t != MPI_DATATYPE_NULL);
    expect(t, (struct want){16, 0, 16, 0, 16});
    OK(MPI_Type_get_contents(t, 0, 0, 2, NULL, NULL, parts));
    CHECK(parts[0] == MPI_DOUBLE && parts[1] == MPI_INT64_T);
    OK(MPI_Type_get_value_index(MPI_INT16_T, MPI_UINT64_T, &t));
    expect(t, (struct want){10, 0, 16, 0, 16});
    OK(MPI_Type_get_value_index(MPI_C_COMPLEX, MPI_INT, &t));
    CHECK(t == MPI_DATATYPE_NULL);

    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t));
    expect(t, (struct want){8, 0, 8, 0, 8});
    OK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 2, &t));
    CHECK(t == MPI_INTEGER2);
    OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 8, &t));
    CHECK(t == MPI_COMPLEX8);
}

/* Sizes that an int cannot say. */
static void large(void)
{
    MPI_Datatype row, t;
    int size;
    MPI_Count n;
    MPI_Aint lb, extent;

    OK(MPI_Type_contiguous(1 << 30, MPI_INT, &row));
    OK(MPI_Type_size(row, &size));
    CHECK_EQ(size, MPI_UNDEFINED);
    OK(MPI_Type_size_c(row, &n));
    CHECK_EQ(n, (MPI_Count)1 << 32);
    OK(MPI_Type_vector(1000000, 1, 3, row, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_size_x(t, &n));
    CHECK_EQ(n, (MPI_Count)1000000 << 32);
    OK(MPI_Type_get_extent(t, &lb, &extent));
    CHECK_EQ(extent, (MPI_Aint)2999998 << 32);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&row));
    OK(MPI_Type_vector_c((MPI_Count)1 << 40, 1, 2, MPI_CHAR, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_size_c(t, &n));
    CHECK_EQ(n, (MPI_Count)1 << 40);
    OK(MPI_Type_free(&t));
}

/* A type nested so deeply that recursion over it would end badly. */
static void deep(void)
{
    MPI_Datatype t = MPI_INT, next;
    char in[64] = {1, 2, 3, 4}, out[64];
    int pos = 0;

    for (int i = 0; i < 100000; i++) {
        OK(i % 3 == 0   ? MPI_Type_dup(t, &next)
           : i % 3 == 1 ? MPI_Type_contiguous(1, t, &next)
                        : MPI_Type_create_resized(t, 0, 4 + i % 5, &next));
        if (t != MPI_INT) {
            OK(MPI_Type_free(&t));
        }
        t = next;
    }
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack(in, 1, t, out, 64, &pos, MPI_COMM_SELF));
    CHECK(pos == 4 && memcmp(in, out, 4) == 0);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    MPI_Aint a, b;
    int pair[2];

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Get_address(&pair[0], &a));
    OK(MPI_Get_address(&pair[1], &b));
    CHECK_EQ(MPI_Aint_diff(b, a), sizeof(int));
    constructors();
    arrays();
    not_distributed();
    extremes();
    markers();
    reach();
    chosen();
    large();
    deep();
    OK(MPI_Finalize());
    return 0;
}
