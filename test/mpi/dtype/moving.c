/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing by hand: units behind each other, absolute addresses, types in use after they were freed,
   and what statuses say of elements (MPI-5.0 5.1.8 - 5.1.12, 5.2, 3.2.5). */
#include "../check.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The standard's example: a header says how much of the rest is there. */
static void units(void)
{
    char buf[200];
    int n = 5, position = 0, size, got_n = 0, at = 0;
    MPI_Count position_c, size_c;
    double a[10], got[10] = {0};
    MPI_Datatype every_second;

    for (int i = 0; i < 10; i++) {
        a[i] = i + 0.5;
    }
    OK(MPI_Type_vector(n, 1, 2, MPI_DOUBLE, &every_second));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Pack_size(1, every_second, MPI_COMM_WORLD, &size));
    CHECK(size >= 40);
    OK(MPI_Pack_size_c(3, every_second, MPI_COMM_WORLD, &size_c));
    CHECK(size_c >= 120);
    OK(MPI_Pack(&n, 1, MPI_INT, buf, 200, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(a, 1, every_second, buf, 200, &position, MPI_COMM_WORLD));
    position_c = position;
    OK(MPI_Pack_c(a + 1, 1, every_second, buf, 200, &position_c, MPI_COMM_WORLD));
    CHECK_EQ(position_c, 4 + 40 + 40);
    OK(MPI_Unpack(buf, (int)position_c, &at, &got_n, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_EQ(got_n, 5);
    OK(MPI_Unpack(buf, (int)position_c, &at, got, 5, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int i = 0; i < 5; i++) {
        CHECK(got[i] == a[2 * i] && got[5 + i] == 0);
    }
    position_c = at;
    memset(got, 0, sizeof(got));
    OK(MPI_Unpack_c(buf, 84, &position_c, got, 1, every_second, MPI_COMM_WORLD));
    CHECK_EQ(position_c, 84);
    for (int i = 0; i < 5; i++) {
        CHECK(got[2 * i] == a[2 * i + 1] && got[2 * i + 1] == 0);
    }
    OK(MPI_Type_free(&every_second));
}

/* Displacements that are addresses, from MPI_BOTTOM on. */
static void absolute(void)
{
    int i = 42, got_i = 0, lens[2] = {1, 3}, position = 0;
    short s[3] = {1, 2, 3}, got_s[3] = {0};
    MPI_Aint at[2];
    MPI_Datatype types[2] = {MPI_INT, MPI_SHORT}, t;
    char buf[10];

    OK(MPI_Get_address(&i, &at[0]));
    OK(MPI_Get_address(s, &at[1]));
    OK(MPI_Type_create_struct(2, lens, at, types, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack(MPI_BOTTOM, 1, t, buf, 10, &position, MPI_COMM_WORLD));
    CHECK_EQ(position, 10);
    OK(MPI_Type_free(&t));
    OK(MPI_Get_address(&got_i, &at[0]));
    OK(MPI_Get_address(got_s, &at[1]));
    OK(MPI_Type_create_struct(2, lens, at, types, &t));
    OK(MPI_Type_commit(&t));
    position = 0;
    OK(MPI_Unpack(buf, 10, &position, MPI_BOTTOM, 1, t, MPI_COMM_WORLD));
    CHECK(got_i == 42 && memcmp(got_s, s, sizeof(s)) == 0);
    OK(MPI_Type_free(&t));
}

/* A receive and a send that are under way keep their types. */
static void pending(void)
{
    MPI_Request r[2];
    MPI_Datatype t, u;
    int in[8] = {0}, out[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    MPI_Status s[2];
    int n;

    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_dup(t, &u)); /* committed like its model */
    OK(MPI_Irecv(in, 1, u, 0, 5, MPI_COMM_SELF, &r[0]));
    OK(MPI_Type_free(&u));
    OK(MPI_Isend(out, 1, t, 0, 5, MPI_COMM_SELF, &r[1]));
    OK(MPI_Type_free(&t));
    OK(MPI_Waitall(2, r, s));
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(in[i], i % 2 == 0 ? out[i] : 0);
    }
    OK(MPI_Get_count(&s[0], MPI_INT, &n));
    CHECK_EQ(n, 4);
}

struct mixed {
    int i;
    double d[2];
};

static MPI_Datatype make_mixed(void)
{
    int lens[2] = {1, 2};
    MPI_Aint at[2] = {offsetof(struct mixed, i), offsetof(struct mixed, d)};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, t;

    OK(MPI_Type_create_struct(2, lens, at, types, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

/* Less came than there was room for: whole elements, and basic ones (5.1.11). */
static void partial(void)
{
    int n, from[8] = {0};
    MPI_Datatype t = make_mixed();
    struct mixed buf[4];
    MPI_Status s;
    MPI_Count c;
    static const struct {
        int bytes, count, elements;
    } rows[] = {
        {0, 0, 0},
        {4, MPI_UNDEFINED, 1},
        {12, MPI_UNDEFINED, 2},
        {20, 1, 3},
        {24, MPI_UNDEFINED, 4},
        {16, MPI_UNDEFINED, MPI_UNDEFINED}, /* ends within a double */
    };

    for (int i = 0; i < 6; i++) {
        MPI_Request r;

        OK(MPI_Irecv(buf, 4, t, 0, 1, MPI_COMM_SELF, &r));
        OK(MPI_Send(from, rows[i].bytes, MPI_BYTE, 0, 1, MPI_COMM_SELF));
        OK(MPI_Wait(&r, &s));
        OK(MPI_Get_count(&s, t, &n));
        CHECK_EQ(n, rows[i].count);
        OK(MPI_Get_count_c(&s, t, &c));
        CHECK_EQ(c, rows[i].count);
        OK(MPI_Get_elements(&s, t, &n));
        CHECK_EQ(n, rows[i].elements);
        OK(MPI_Get_elements_c(&s, t, &c));
        CHECK_EQ(c, rows[i].elements);
        OK(MPI_Get_elements_x(&s, t, &c));
        CHECK_EQ(c, rows[i].elements);
    }
    OK(MPI_Type_free(&t));
}

/* What the user sets in a status is what comes back. */
static void set_by_user(void)
{
    MPI_Datatype t = make_mixed(), two, none;
    MPI_Status s;
    MPI_Count c;
    int n;

    OK(MPI_Type_contiguous(2, t, &two));
    for (int k = 0; k < 20; k++) {
        OK(MPI_Status_set_elements(&s, two, k));
        OK(MPI_Get_elements(&s, two, &n));
        CHECK_EQ(n, k);
        OK(MPI_Get_count(&s, two, &n));
        CHECK_EQ(n, k % 6 == 0 ? k / 6 : MPI_UNDEFINED);
        OK(MPI_Status_set_elements_c(&s, MPI_FLOAT_INT, k));
        OK(MPI_Get_elements_c(&s, MPI_FLOAT_INT, &c));
        CHECK_EQ(c, k);
    }
    OK(MPI_Status_set_elements_x(&s, MPI_INT, (MPI_Count)INT_MAX + 10));
    OK(MPI_Get_elements_x(&s, MPI_INT, &c));
    CHECK_EQ(c, (MPI_Count)INT_MAX + 10);
    OK(MPI_Get_count(&s, MPI_INT, &n));
    CHECK_EQ(n, MPI_UNDEFINED); /* an int cannot say it */
    OK(MPI_Get_elements(&s, MPI_INT, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_Type_contiguous(0, MPI_INT, &none));
    OK(MPI_Status_set_elements(&s, MPI_INT, 0));
    OK(MPI_Get_count(&s, none, &n));
    CHECK_EQ(n, 0);
    OK(MPI_Type_free(&none));
    OK(MPI_Type_free(&two));
    OK(MPI_Type_free(&t));
}

/* A struct of several copies of mixed parts: every place where a message may end. */
static void partial_nested(void)
{
    int lens[2] = {1, 1}, outer_lens[3] = {3, 2, 4}, n;
    MPI_Aint at[2] = {0, 8}, outer_at[3] = {0, 64, 128};
    MPI_Datatype inner_types[2] = {MPI_SHORT, MPI_DOUBLE}, inner, outer, outer_types[3];
    /* Lengths of the basic elements of one outer: short and double three times, two ints, four
       chars. */
    static const int parts[] = {2, 8, 2, 8, 2, 8, 4, 4, 1, 1, 1, 1};
    enum { N = sizeof(parts) / sizeof(parts[0]), SIZE = 42 };
    bool is_end[2 * SIZE + 1] = {false};
    int n_before[2 * SIZE + 1] = {0};
    MPI_Status s;

    OK(MPI_Type_create_struct(2, lens, at, inner_types, &inner));
    outer_types[0] = inner;
    outer_types[1] = MPI_INT;
    outer_types[2] = MPI_CHAR;
    OK(MPI_Type_create_struct(3, outer_lens, outer_at, outer_types, &outer));
    for (int k = 0, end = 0; k < 2 * N; k++) {
        end += parts[k % N];
        is_end[end] = true;
        n_before[end] = k + 1;
    }
    is_end[0] = true;
    for (int len = 0; len <= 2 * SIZE; len++) {
        OK(MPI_Status_set_elements(&s, MPI_BYTE, len));
        OK(MPI_Get_elements(&s, outer, &n));
        CHECK_EQ(n, is_end[len] ? n_before[len] : MPI_UNDEFINED);
        OK(MPI_Get_count(&s, outer, &n));
        CHECK_EQ(n, len % SIZE == 0 ? len / SIZE : MPI_UNDEFINED);
        if (is_end[len]) {
            OK(MPI_Status_set_elements(&s, outer, n_before[len]));
            OK(MPI_Get_count(&s, MPI_BYTE, &n));
            CHECK_EQ(n, len);
        }
    }
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_free(&outer));
}

/* Beyond what an int says, with hardly any memory: the same bytes again and again. */
static void large(void)
{
    MPI_Datatype t;
    int size;
    MPI_Count size_c;
    MPI_Aint size_a;

    OK(MPI_Type_create_hvector(1 << 20, 4096, 0, MPI_CHAR, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack_size(1, t, MPI_COMM_WORLD, &size));
    CHECK_EQ(size, MPI_UNDEFINED);
    OK(MPI_Pack_size_c(1, t, MPI_COMM_WORLD, &size_c));
    CHECK_EQ(size_c, (MPI_Count)1 << 32);
    OK(MPI_Pack_external_size("external32", 2, t, &size_a));
    CHECK_EQ(size_a, (MPI_Aint)1 << 33);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    units();
    absolute();
    pending();
    partial();
    set_by_user();
    partial_nested();
    large();
    OK(MPI_Finalize());
    return 0;
}
