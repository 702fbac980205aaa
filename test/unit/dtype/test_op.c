/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the predefined operations: which types they take, and what they calculate. */
#include "core/dtype/op.h"

#include <check.h>
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "util/status.h"

/* The classes of MPI-5.0 6.9.2 by letters: i integer, r real, c complex, l logical, b byte, p pair,
   - none. */
static const struct {
    MPI_Datatype type;
    char class;
} types[] = {
    {MPI_INT, 'i'},
    {MPI_LONG, 'i'},
    {MPI_SHORT, 'i'},
    {MPI_UNSIGNED_SHORT, 'i'},
    {MPI_UNSIGNED, 'i'},
    {MPI_UNSIGNED_LONG, 'i'},
    {MPI_LONG_LONG, 'i'},
    {MPI_UNSIGNED_LONG_LONG, 'i'},
    {MPI_SIGNED_CHAR, 'i'},
    {MPI_UNSIGNED_CHAR, 'i'},
    {MPI_INT8_T, 'i'},
    {MPI_INT16_T, 'i'},
    {MPI_INT32_T, 'i'},
    {MPI_INT64_T, 'i'},
    {MPI_UINT8_T, 'i'},
    {MPI_UINT16_T, 'i'},
    {MPI_UINT32_T, 'i'},
    {MPI_UINT64_T, 'i'},
    {MPI_AINT, 'i'},
    {MPI_OFFSET, 'i'},
    {MPI_COUNT, 'i'},
    {MPI_INTEGER, 'i'},
    {MPI_INTEGER1, 'i'},
    {MPI_INTEGER2, 'i'},
    {MPI_INTEGER4, 'i'},
    {MPI_INTEGER8, 'i'},
    {MPI_INTEGER16, 'i'},
    {MPI_FLOAT, 'r'},
    {MPI_DOUBLE, 'r'},
    {MPI_LONG_DOUBLE, 'r'},
    {MPI_REAL, 'r'},
    {MPI_DOUBLE_PRECISION, 'r'},
    {MPI_REAL2, 'r'},
    {MPI_REAL4, 'r'},
    {MPI_REAL8, 'r'},
    {MPI_REAL16, 'r'},
    {MPI_COMPLEX, 'c'},
    {MPI_DOUBLE_COMPLEX, 'c'},
    {MPI_C_COMPLEX, 'c'},
    {MPI_C_DOUBLE_COMPLEX, 'c'},
    {MPI_C_LONG_DOUBLE_COMPLEX, 'c'},
    {MPI_CXX_FLOAT_COMPLEX, 'c'},
    {MPI_CXX_DOUBLE_COMPLEX, 'c'},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, 'c'},
    {MPI_COMPLEX4, 'c'},
    {MPI_COMPLEX8, 'c'},
    {MPI_COMPLEX16, 'c'},
    {MPI_COMPLEX32, 'c'},
    {MPI_C_BOOL, 'l'},
    {MPI_CXX_BOOL, 'l'},
    {MPI_LOGICAL, 'l'},
    {MPI_LOGICAL1, 'l'},
    {MPI_LOGICAL2, 'l'},
    {MPI_LOGICAL4, 'l'},
    {MPI_LOGICAL8, 'l'},
    {MPI_LOGICAL16, 'l'},
    {MPI_BYTE, 'b'},
    {MPI_FLOAT_INT, 'p'},
    {MPI_DOUBLE_INT, 'p'},
    {MPI_LONG_INT, 'p'},
    {MPI_2INT, 'p'},
    {MPI_SHORT_INT, 'p'},
    {MPI_LONG_DOUBLE_INT, 'p'},
    {MPI_2REAL, 'p'},
    {MPI_2DOUBLE_PRECISION, 'p'},
    {MPI_2INTEGER, 'p'},
    {MPI_CHAR, 'i'}, /* unless op_strict is set */
    {MPI_CHARACTER, '-'},
    {MPI_WCHAR, '-'},
    {MPI_PACKED, '-'},
};

static const struct {
    MPI_Op op;
    const char *classes;
} ops[] = {
    {MPI_MAX, "ir"},   {MPI_MIN, "ir"},   {MPI_SUM, "irc"},  {MPI_PROD, "irc"}, {MPI_LAND, "il"},
    {MPI_LOR, "il"},   {MPI_LXOR, "il"},  {MPI_BAND, "ib"},  {MPI_BOR, "ib"},   {MPI_BXOR, "ib"},
    {MPI_MAXLOC, "p"}, {MPI_MINLOC, "p"}, {MPI_REPLACE, ""}, {MPI_NO_OP, ""},
};

static void setup(void)
{
    ck_assert_int_eq(fm_dtype_init(), 0);
    ck_assert_int_eq(fm_op_init(NULL), 0);
    ck_assert_int_eq(fm_op_init(NULL), 0);
}

static void teardown(void)
{
    fm_op_finish();
    fm_dtype_finish();
    fm_handle_finish();
}

/* 0, or the refusal; the operation is applied when it is allowed. */
static int try_op(MPI_Op op, MPI_Datatype type, const void *in, void *inout, MPI_Count count)
{
    int rc = fm_op_check(fm_op_get(op), fm_dtype_get(type));

    if (rc == 0) {
        fm_op_apply(fm_op_get(op), in, inout, count, fm_dtype_get(type));
    }
    return rc;
}

START_TEST(takes_what_the_standard_lists)
{
    for (size_t o = 0; o < FM_ARRAY_LEN(ops); o++) {
        for (size_t t = 0; t < FM_ARRAY_LEN(types); t++) {
            bool is_allowed = strchr(ops[o].classes, types[t].class) != NULL;
            int rc = fm_op_check(fm_op_get(ops[o].op), fm_dtype_get(types[t].type));

            ck_assert_msg((rc == 0) == is_allowed, "operation %zu with type %zu: %d (%s)", o, t, rc,
                          fm_why());
        }
    }
    ck_assert_ptr_null(fm_op_get(MPI_OP_NULL));
}
END_TEST

/* The same numbers through each integer and real type: values that no type overflows on. */
#define CHECK_ARITH(mpitype, ctype)                                                                \
    do {                                                                                           \
        ctype a[11], b[11], c[11];                                                                 \
                                                                                                   \
        for (int i = 0; i < 11; i++) {                                                             \
            a[i] = (ctype)(i % 5 + 1);                                                             \
            c[i] = (ctype)(11 - i);                                                                \
        }                                                                                          \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_SUM, mpitype, a, b, 11), 0);                                   \
        for (int i = 0; i < 11; i++) {                                                             \
            ck_assert(b[i] == (ctype)(a[i] + c[i]));                                               \
        }                                                                                          \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_PROD, mpitype, a, b, 11), 0);                                  \
        for (int i = 0; i < 11; i++) {                                                             \
            ck_assert(b[i] == (ctype)(a[i] * c[i]));                                               \
        }                                                                                          \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_MAX, mpitype, a, b, 11), 0);                                   \
        for (int i = 0; i < 11; i++) {                                                             \
            ck_assert(b[i] == (a[i] > c[i] ? a[i] : c[i]));                                        \
        }                                                                                          \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_MIN, mpitype, a, b, 11), 0);                                   \
        for (int i = 0; i < 11; i++) {                                                             \
            ck_assert(b[i] == (a[i] < c[i] ? a[i] : c[i]));                                        \
        }                                                                                          \
    } while (0)

#define CHECK_LOGICAL(mpitype, ctype)                                                              \
    do {                                                                                           \
        ctype a[4] = {0, 0, 2, 2};                                                                 \
        ctype b[4];                                                                                \
                                                                                                   \
        memcpy(b, (ctype[]){0, 1, 0, 4}, sizeof(b));                                               \
        ck_assert_int_eq(try_op(MPI_LAND, mpitype, a, b, 4), 0);                                   \
        ck_assert(!b[0] && !b[1] && !b[2] && b[3] == 1);                                           \
        memcpy(b, (ctype[]){0, 1, 0, 4}, sizeof(b));                                               \
        ck_assert_int_eq(try_op(MPI_LOR, mpitype, a, b, 4), 0);                                    \
        ck_assert(!b[0] && b[1] == 1 && b[2] == 1 && b[3] == 1);                                   \
        memcpy(b, (ctype[]){0, 1, 0, 4}, sizeof(b));                                               \
        ck_assert_int_eq(try_op(MPI_LXOR, mpitype, a, b, 4), 0);                                   \
        ck_assert(!b[0] && b[1] == 1 && b[2] == 1 && !b[3]);                                       \
    } while (0)

#define CHECK_BITS(mpitype, ctype)                                                                 \
    do {                                                                                           \
        ctype a = (ctype)0x5c, b = (ctype)0x3a;                                                    \
                                                                                                   \
        ck_assert_int_eq(try_op(MPI_BAND, mpitype, &a, &b, 1), 0);                                 \
        ck_assert(b == (ctype)(0x5c & 0x3a));                                                      \
        b = (ctype)0x3a;                                                                           \
        ck_assert_int_eq(try_op(MPI_BOR, mpitype, &a, &b, 1), 0);                                  \
        ck_assert(b == (ctype)(0x5c | 0x3a));                                                      \
        b = (ctype)0x3a;                                                                           \
        ck_assert_int_eq(try_op(MPI_BXOR, mpitype, &a, &b, 1), 0);                                 \
        ck_assert(b == (ctype)(0x5c ^ 0x3a));                                                      \
    } while (0)

#define CHECK_INT(mpitype, ctype)                                                                  \
    do {                                                                                           \
        CHECK_ARITH(mpitype, ctype);                                                               \
        CHECK_LOGICAL(mpitype, ctype);                                                             \
        CHECK_BITS(mpitype, ctype);                                                                \
    } while (0)

START_TEST(calculates_integers)
{
    CHECK_INT(MPI_SIGNED_CHAR, signed char);
    CHECK_INT(MPI_UNSIGNED_CHAR, unsigned char);
    CHECK_INT(MPI_SHORT, short);
    CHECK_INT(MPI_UNSIGNED_SHORT, unsigned short);
    CHECK_INT(MPI_INT, int);
    CHECK_INT(MPI_UNSIGNED, unsigned);
    CHECK_INT(MPI_LONG, long);
    CHECK_INT(MPI_UNSIGNED_LONG, unsigned long);
    CHECK_INT(MPI_LONG_LONG, long long);
    CHECK_INT(MPI_UNSIGNED_LONG_LONG, unsigned long long);
    CHECK_INT(MPI_INT8_T, int8_t);
    CHECK_INT(MPI_UINT8_T, uint8_t);
    CHECK_INT(MPI_INT16_T, int16_t);
    CHECK_INT(MPI_UINT16_T, uint16_t);
    CHECK_INT(MPI_INT32_T, int32_t);
    CHECK_INT(MPI_UINT32_T, uint32_t);
    CHECK_INT(MPI_INT64_T, int64_t);
    CHECK_INT(MPI_UINT64_T, uint64_t);
    CHECK_INT(MPI_AINT, MPI_Aint);
    CHECK_INT(MPI_OFFSET, MPI_Offset);
    CHECK_INT(MPI_COUNT, MPI_Count);
    CHECK_INT(MPI_INTEGER, int32_t);
    CHECK_INT(MPI_INTEGER1, int8_t);
    CHECK_INT(MPI_INTEGER2, int16_t);
    CHECK_INT(MPI_INTEGER4, int32_t);
    CHECK_INT(MPI_INTEGER8, int64_t);
    CHECK_INT(MPI_INTEGER16, __int128);
    CHECK_BITS(MPI_BYTE, unsigned char);
}
END_TEST

START_TEST(wraps_around_without_undefined_behaviour)
{
    int a[2] = {INT32_MAX, 65536};
    int b[2] = {1, 65536};
    int16_t s = INT16_MIN;
    int16_t t = INT16_MIN;
    uint16_t u = 65535;
    uint16_t v = 65535;

    ck_assert_int_eq(try_op(MPI_SUM, MPI_INT, a, b, 2), 0);
    ck_assert_int_eq(b[0], INT32_MIN);
    ck_assert_int_eq(try_op(MPI_PROD, MPI_INT, &a[1], &a[1] - 1, 1), 0);
    ck_assert_int_eq(a[0], (int)(0x7fffffffu * 65536u));
    ck_assert_int_eq(try_op(MPI_SUM, MPI_SHORT, &s, &t, 1), 0);
    ck_assert_int_eq(t, 0);
    ck_assert_int_eq(try_op(MPI_PROD, MPI_UNSIGNED_SHORT, &u, &v, 1), 0);
    ck_assert_int_eq(v, 1);
}
END_TEST

START_TEST(calculates_reals_and_logicals)
{
    CHECK_ARITH(MPI_FLOAT, float);
    CHECK_ARITH(MPI_DOUBLE, double);
    CHECK_ARITH(MPI_LONG_DOUBLE, long double);
    CHECK_ARITH(MPI_REAL, float);
    CHECK_ARITH(MPI_DOUBLE_PRECISION, double);
    CHECK_ARITH(MPI_REAL2, _Float16);
    CHECK_ARITH(MPI_REAL4, float);
    CHECK_ARITH(MPI_REAL8, double);
    CHECK_ARITH(MPI_REAL16, _Float128);
    CHECK_LOGICAL(MPI_C_BOOL, _Bool);
    CHECK_LOGICAL(MPI_CXX_BOOL, _Bool);
    CHECK_LOGICAL(MPI_LOGICAL, int32_t);
    CHECK_LOGICAL(MPI_LOGICAL1, int8_t);
    CHECK_LOGICAL(MPI_LOGICAL2, int16_t);
    CHECK_LOGICAL(MPI_LOGICAL4, int32_t);
    CHECK_LOGICAL(MPI_LOGICAL8, int64_t);
    CHECK_LOGICAL(MPI_LOGICAL16, __int128);
}
END_TEST

#define CHECK_COMPLEX(mpitype, ctype)                                                              \
    do {                                                                                           \
        ctype a[3] = {(ctype)(1 + 2 * I), (ctype)(-3 + I), (ctype)4};                              \
        ctype c[3] = {(ctype)(5 - I), (ctype)(2 + 2 * I), (ctype)(I)};                             \
        ctype b[3];                                                                                \
                                                                                                   \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_SUM, mpitype, a, b, 3), 0);                                    \
        for (int i = 0; i < 3; i++) {                                                              \
            ck_assert(b[i] == a[i] + c[i]);                                                        \
        }                                                                                          \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_PROD, mpitype, a, b, 3), 0);                                   \
        for (int i = 0; i < 3; i++) {                                                              \
            ck_assert(b[i] == a[i] * c[i]);                                                        \
        }                                                                                          \
    } while (0)

START_TEST(calculates_complex_numbers)
{
    CHECK_COMPLEX(MPI_C_COMPLEX, float _Complex);
    CHECK_COMPLEX(MPI_C_DOUBLE_COMPLEX, double _Complex);
    CHECK_COMPLEX(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex);
    CHECK_COMPLEX(MPI_CXX_FLOAT_COMPLEX, float _Complex);
    CHECK_COMPLEX(MPI_CXX_DOUBLE_COMPLEX, double _Complex);
    CHECK_COMPLEX(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex);
    CHECK_COMPLEX(MPI_COMPLEX, float _Complex);
    CHECK_COMPLEX(MPI_DOUBLE_COMPLEX, double _Complex);
    CHECK_COMPLEX(MPI_COMPLEX8, float _Complex);
    CHECK_COMPLEX(MPI_COMPLEX16, double _Complex);
    CHECK_COMPLEX(MPI_COMPLEX4, _Float16 _Complex);
    CHECK_COMPLEX(MPI_COMPLEX32, _Float128 _Complex);
}
END_TEST

#define CHECK_PAIR(mpitype, vtype, itype)                                                          \
    do {                                                                                           \
        struct pair {                                                                              \
            vtype v;                                                                               \
            itype i;                                                                               \
        } a[4] = {{1, 7}, {5, 2}, {3, 3}, {3, 9}}, b[4];                                           \
        const struct pair c[4] = {{2, 1}, {4, 8}, {3, 5}, {3, 4}};                                 \
                                                                                                   \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_MAXLOC, mpitype, a, b, 4), 0);                                 \
        ck_assert(b[0].v == 2 && b[0].i == 1 && b[1].v == 5 && b[1].i == 2);                       \
        ck_assert(b[2].v == 3 && b[2].i == 3 && b[3].v == 3 && b[3].i == 4);                       \
        memcpy(b, c, sizeof(b));                                                                   \
        ck_assert_int_eq(try_op(MPI_MINLOC, mpitype, a, b, 4), 0);                                 \
        ck_assert(b[0].v == 1 && b[0].i == 7 && b[1].v == 4 && b[1].i == 8);                       \
        ck_assert(b[2].v == 3 && b[2].i == 3 && b[3].v == 3 && b[3].i == 4);                       \
    } while (0)

START_TEST(finds_where_the_extreme_is)
{
    CHECK_PAIR(MPI_FLOAT_INT, float, int);
    CHECK_PAIR(MPI_DOUBLE_INT, double, int);
    CHECK_PAIR(MPI_LONG_INT, long, int);
    CHECK_PAIR(MPI_2INT, int, int);
    CHECK_PAIR(MPI_SHORT_INT, short, int);
    CHECK_PAIR(MPI_LONG_DOUBLE_INT, long double, int);
    CHECK_PAIR(MPI_2REAL, float, float);
    CHECK_PAIR(MPI_2DOUBLE_PRECISION, double, double);
    CHECK_PAIR(MPI_2INTEGER, int32_t, int32_t);
}
END_TEST

START_TEST(works_at_any_alignment)
{
    char in[3 * 8 + 1], inout[3 * 8 + 3];
    double a[3] = {1, 2, 3}, b[3] = {10, 20, 30};

    memcpy(in + 1, a, sizeof(a));
    memcpy(inout + 3, b, sizeof(b));
    ck_assert_int_eq(try_op(MPI_SUM, MPI_DOUBLE, in + 1, inout + 3, 3), 0);
    memcpy(b, inout + 3, sizeof(b));
    ck_assert(b[0] == 11 && b[1] == 22 && b[2] == 33);
}
END_TEST

static int seen_count;
static MPI_Datatype seen_type;

static void twice_plus(void *in, void *inout, int *len, MPI_Datatype *type)
{
    seen_count = *len;
    seen_type = *type;
    for (int i = 0; i < *len; i++) {
        ((int *)inout)[i] += 2 * ((int *)in)[i];
    }
}

static void twice_plus_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int n = (int)*len;

    twice_plus(in, inout, &n, type);
}

START_TEST(calls_the_functions_of_the_user)
{
    struct fm_op *op = fm_op_create(twice_plus, false);
    struct fm_op *op_c = fm_op_create_large(twice_plus_c, true);
    int a[3] = {1, 2, 3};
    int b[3] = {10, 20, 30};

    ck_assert(!op->is_commutative && op_c->is_commutative);
    ck_assert_ptr_eq(fm_op_get(op->handle), op);
    ck_assert_int_eq(try_op(op->handle, MPI_INT, a, b, 3), 0);
    ck_assert_int_eq(b[2], 36);
    ck_assert_int_eq(seen_count, 3);
    ck_assert_ptr_eq(seen_type, MPI_INT);
    ck_assert_int_eq(try_op(op_c->handle, MPI_INT, a, b, 3), 0);
    ck_assert_int_eq(b[2], 42);
    fm_op_unref(op);
    fm_op_unref(op_c);
    ck_assert_ptr_null(fm_op_get((MPI_Op)op));
}
END_TEST

START_TEST(says_why_it_refuses)
{
    uint64_t strict = 1; /* a block of fm_op_vars */

    ck_assert_int_eq(fm_op_init(&strict), 0);
    ck_assert_int_ne(try_op(MPI_SUM, MPI_CHAR, NULL, NULL, 0), 0);
    ck_assert_int_eq(fm_op_init(NULL), 0);
    ck_assert_ptr_nonnull(strstr(fm_why(), "MPI_SIGNED_CHAR"));
    ck_assert_int_ne(try_op(MPI_MAXLOC, MPI_INT, NULL, NULL, 0), 0);
    ck_assert_ptr_nonnull(strstr(fm_why(), "MPI_DOUBLE_INT"));
    ck_assert_int_ne(try_op(MPI_REPLACE, MPI_INT, NULL, NULL, 0), 0);
    ck_assert_ptr_nonnull(strstr(fm_why(), "MPI_Accumulate"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("op");
    TCase *t = tcase_create("op");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, takes_what_the_standard_lists);
    tcase_add_test(t, calculates_integers);
    tcase_add_test(t, wraps_around_without_undefined_behaviour);
    tcase_add_test(t, calculates_reals_and_logicals);
    tcase_add_test(t, calculates_complex_numbers);
    tcase_add_test(t, finds_where_the_extreme_is);
    tcase_add_test(t, works_at_any_alignment);
    tcase_add_test(t, calls_the_functions_of_the_user);
    tcase_add_test(t, says_why_it_refuses);
    suite_add_tcase(s, t);
    return suite_run(s);
}
