/* SPDX-License-Identifier: BSD-3-Clause */
/* external32: the bytes that MPI-5.0 14.5.2 asks for, and back again. */
#include "../check.h"

#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <wchar.h>

/* n values of a type become exactly these bytes, and these bytes the values. */
static void expect(const void *values, size_t len, int n, MPI_Datatype t, const void *bytes,
                   MPI_Aint n_bytes)
{
    char out[256], back[256];
    MPI_Aint at = 3, size;
    MPI_Count at_c = 1, size_c;

    OK(MPI_Pack_external_size("external32", n, t, &size));
    CHECK_EQ(size, n_bytes);
    OK(MPI_Pack_external_size_c("external32", n, t, &size_c));
    CHECK_EQ(size_c, n_bytes);
    memset(out, 0x77, sizeof(out));
    OK(MPI_Pack_external("external32", values, n, t, out, sizeof(out), &at));
    CHECK_EQ(at, 3 + n_bytes);
    CHECK(memcmp(out + 3, bytes, (size_t)n_bytes) == 0);
    CHECK(out[2] == 0x77 && out[at] == 0x77);
    memset(back, 0, sizeof(back));
    at = 3;
    OK(MPI_Unpack_external("external32", out, 3 + n_bytes, &at, back, n, t));
    CHECK_EQ(at, 3 + n_bytes);
    CHECK(memcmp(back, values, len) == 0);
    OK(MPI_Pack_external_c("external32", values, n, t, out, sizeof(out), &at_c));
    CHECK_EQ(at_c, 1 + n_bytes);
    at_c = 1;
    memset(back, 0, sizeof(back));
    OK(MPI_Unpack_external_c("external32", out, sizeof(out), &at_c, back, n, t));
    CHECK(memcmp(back, values, len) == 0);
}

#define EXPECT(ctype, type, value, ...)                                                            \
    do {                                                                                           \
        ctype expect_v = (value);                                                                  \
        const unsigned char expect_b[] = {__VA_ARGS__};                                            \
                                                                                                   \
        expect(&expect_v, sizeof(expect_v), 1, type, expect_b, (MPI_Aint)sizeof(expect_b));        \
    } while (0)

static void numbers(void)
{
    EXPECT(char, MPI_CHAR, 'x', 'x');
    EXPECT(signed char, MPI_SIGNED_CHAR, -2, 0xfe);
    EXPECT(unsigned char, MPI_BYTE, 200, 200);
    EXPECT(short, MPI_SHORT, 0x1234, 0x12, 0x34);
    EXPECT(unsigned short, MPI_UNSIGNED_SHORT, 0xfedc, 0xfe, 0xdc);
    EXPECT(int, MPI_INT, -2, 0xff, 0xff, 0xff, 0xfe);
    EXPECT(unsigned, MPI_UNSIGNED, 0x01020304, 1, 2, 3, 4);
    EXPECT(long, MPI_LONG, -3, 0xff, 0xff, 0xff, 0xfd); /* 4 bytes, whatever it is here */
    EXPECT(long, MPI_LONG, 0x7fffffff, 0x7f, 0xff, 0xff, 0xff);
    EXPECT(unsigned long, MPI_UNSIGNED_LONG, 0xfffffffeul, 0xff, 0xff, 0xff, 0xfe);
    EXPECT(long long, MPI_LONG_LONG, 0x0102030405060708ll, 1, 2, 3, 4, 5, 6, 7, 8);
    EXPECT(int64_t, MPI_INT64_T, -1, 255, 255, 255, 255, 255, 255, 255, 255);
    EXPECT(uint16_t, MPI_UINT16_T, 258, 1, 2);
    EXPECT(MPI_Aint, MPI_AINT, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    EXPECT(MPI_Count, MPI_COUNT, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    EXPECT(MPI_Offset, MPI_OFFSET, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    EXPECT(wchar_t, MPI_WCHAR, 0x20ac, 0x20, 0xac);
    EXPECT(_Bool, MPI_C_BOOL, 1, 1);
    EXPECT(int32_t, MPI_INTEGER, 7, 0, 0, 0, 7);
    EXPECT(int32_t, MPI_LOGICAL, 1, 0, 0, 0, 1);
    EXPECT(float, MPI_FLOAT, 1.5f, 0x3f, 0xc0, 0, 0);
    EXPECT(double, MPI_DOUBLE, -2.0, 0xc0, 0, 0, 0, 0, 0, 0, 0);
    EXPECT(float _Complex, MPI_C_FLOAT_COMPLEX, 1.5f + 2.0f * I, 0x3f, 0xc0, 0, 0, 0x40, 0, 0, 0);
}

/* A long double goes out as an IEEE binary128. */
static void long_doubles(void)
{
    const unsigned char one_half[16] = {0x3f, 0xfe};
    const unsigned char third[16] = {0xbf, 0xfd, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                                     0x55, 0x56, 0,    0,    0,    0,    0,    0};
    const long double some[] = {0.0L,      -0.0L,     1.0L,         3.14159265358979323846L,
                                LDBL_MAX,  -LDBL_MIN, LDBL_MIN / 4, 1e-4940L,
                                HUGE_VALL, -HUGE_VALL};
    long double v = 0.5L, back;
    unsigned char out[16 * 10];
    MPI_Aint at = 0;

    OK(MPI_Pack_external("external32", &v, 1, MPI_LONG_DOUBLE, out, 16, &at));
    CHECK(at == 16 && memcmp(out, one_half, 16) == 0);
    if (LDBL_MANT_DIG == 64) {
        v = -1.0L / 3.0L;
        at = 0;
        OK(MPI_Pack_external("external32", &v, 1, MPI_LONG_DOUBLE, out, 16, &at));
        CHECK(memcmp(out, third, 16) == 0);
    }
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        at = 0;
        OK(MPI_Pack_external("external32", &some[i], 1, MPI_LONG_DOUBLE, out, 16, &at));
        at = 0;
        back = 77;
        OK(MPI_Unpack_external("external32", out, 16, &at, &back, 1, MPI_LONG_DOUBLE));
        CHECK(back == some[i] && signbit(back) == signbit(some[i]));
    }
    v = NAN;
    at = 0;
    OK(MPI_Pack_external("external32", &v, 1, MPI_LONG_DOUBLE, out, 16, &at));
    at = 0;
    OK(MPI_Unpack_external("external32", out, 16, &at, &back, 1, MPI_LONG_DOUBLE));
    CHECK(isnan(back));
    /* More bits than there are here: rounded to nearest. */
    if (LDBL_MANT_DIG == 64) {
        unsigned char up[16] = {0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                0xff, 0xff, 0xff, 0,    0,    0,    0,    0};

        at = 0;
        OK(MPI_Unpack_external("external32", up, 16, &at, &back, 1, MPI_LONG_DOUBLE));
        CHECK(back == 2.0L);
    }
}

/* Every predefined type: its length in tables 13 and 14, and its numbers, most significant byte
   first. A number of 4 bytes there and 8 here is an integer below 2^31. */
static const struct row {
    MPI_Datatype type;
    int n_numbers, here, there, is_logical;
} rows[] = {
    {MPI_PACKED, 1, 1, 1},
    {MPI_BYTE, 1, 1, 1},
    {MPI_CHAR, 1, 1, 1},
    {MPI_UNSIGNED_CHAR, 1, 1, 1},
    {MPI_SIGNED_CHAR, 1, 1, 1},
    {MPI_WCHAR, 1, sizeof(wchar_t), 2},
    {MPI_SHORT, 1, 2, 2},
    {MPI_UNSIGNED_SHORT, 1, 2, 2},
    {MPI_INT, 1, 4, 4},
    {MPI_LONG, 1, sizeof(long), 4},
    {MPI_UNSIGNED, 1, 4, 4},
    {MPI_UNSIGNED_LONG, 1, sizeof(long), 4},
    {MPI_LONG_LONG_INT, 1, 8, 8},
    {MPI_UNSIGNED_LONG_LONG, 1, 8, 8},
    {MPI_FLOAT, 1, 4, 4},
    {MPI_DOUBLE, 1, 8, 8},
    {MPI_C_BOOL, 1, 1, 1, 1},
    {MPI_INT8_T, 1, 1, 1},
    {MPI_INT16_T, 1, 2, 2},
    {MPI_INT32_T, 1, 4, 4},
    {MPI_INT64_T, 1, 8, 8},
    {MPI_UINT8_T, 1, 1, 1},
    {MPI_UINT16_T, 1, 2, 2},
    {MPI_UINT32_T, 1, 4, 4},
    {MPI_UINT64_T, 1, 8, 8},
    {MPI_AINT, 1, sizeof(MPI_Aint), 8},
    {MPI_COUNT, 1, 8, 8},
    {MPI_OFFSET, 1, 8, 8},
    {MPI_C_COMPLEX, 2, 4, 4},
    {MPI_C_DOUBLE_COMPLEX, 2, 8, 8},
    {MPI_CHARACTER, 1, 1, 1},
    {MPI_LOGICAL, 1, 4, 4, 1},
    {MPI_INTEGER, 1, 4, 4},
    {MPI_REAL, 1, 4, 4},
    {MPI_DOUBLE_PRECISION, 1, 8, 8},
    {MPI_COMPLEX, 2, 4, 4},
    {MPI_DOUBLE_COMPLEX, 2, 8, 8},
    {MPI_CXX_BOOL, 1, 1, 1, 1},
    {MPI_CXX_FLOAT_COMPLEX, 2, 4, 4},
    {MPI_CXX_DOUBLE_COMPLEX, 2, 8, 8},
    {MPI_INTEGER1, 1, 1, 1},
    {MPI_INTEGER2, 1, 2, 2},
    {MPI_INTEGER4, 1, 4, 4},
    {MPI_INTEGER8, 1, 8, 8},
    {MPI_INTEGER16, 1, 16, 16},
    {MPI_LOGICAL1, 1, 1, 1, 1},
    {MPI_LOGICAL2, 1, 2, 2, 1},
    {MPI_LOGICAL4, 1, 4, 4, 1},
    {MPI_LOGICAL8, 1, 8, 8, 1},
    {MPI_LOGICAL16, 1, 16, 16, 1},
    {MPI_REAL2, 1, 2, 2},
    {MPI_REAL4, 1, 4, 4},
    {MPI_REAL8, 1, 8, 8},
    {MPI_REAL16, 1, 16, 16},
    {MPI_COMPLEX4, 2, 2, 2},
    {MPI_COMPLEX8, 2, 4, 4},
    {MPI_COMPLEX16, 2, 8, 8},
    {MPI_COMPLEX32, 2, 16, 16},
};

/* The numbers of a type, as they are here and in external32: b counts bytes by significance. */
static void write_numbers(const struct row *r, unsigned char *here, unsigned char *there)
{
    const int is_big = *(const char *)(const int[]){1} == 0;
    int h = r->here, t = r->there, n_given = h < t ? h : t;

    for (int k = 0; k < r->n_numbers; k++) {
        for (int b = 0; b < n_given; b++) {
            int is_top = b == n_given - 1;
            unsigned char v = (unsigned char)(is_top ? 1 : 0x11 * (b + 1) + k);

            v = r->is_logical ? b == 0 : v;
            here[k * h + (is_big ? h - 1 - b : b)] = v;
            there[k * t + t - 1 - b] = v;
        }
    }
}

static void lengths(void)
{
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char here[64] = {0}, there[64] = {0};
        int n = rows[i].n_numbers, size;

        if (MPI_Type_size(rows[i].type, &size) != MPI_SUCCESS) {
            continue; /* an optional type that this library has not */
        }
        CHECK_EQ(size, n * rows[i].here);
        write_numbers(&rows[i], here, there);
        expect(here, (size_t)size, 1, rows[i].type, there, n * rows[i].there);
    }
}

/* What is not zero is true, in whichever byte; true is 1 here. */
static void logicals(void)
{
    const unsigned char odd[4] = {0x80, 0, 0, 0}, many[3] = {0, 2, 0x80}, zero[4] = {0};
    unsigned char bools[3];
    int32_t l;
    MPI_Aint at = 0;

    OK(MPI_Unpack_external("external32", odd, 4, &at, &l, 1, MPI_LOGICAL));
    CHECK_EQ(l, 1);
    at = 0;
    OK(MPI_Unpack_external("external32", zero, 4, &at, &l, 1, MPI_LOGICAL));
    CHECK_EQ(l, 0);
    at = 0;
    OK(MPI_Unpack_external("external32", many, 3, &at, bools, 3, MPI_C_BOOL));
    CHECK(bools[0] == 0 && bools[1] == 1 && bools[2] == 1);
}

/* Pairs whose value or index is narrower there, and types that are chosen by their range. */
static void chosen(void)
{
    struct {
        double v;
        long at;
    } a;
    struct {
        long v;
        unsigned long at;
    } b;
    struct {
        uint8_t v;
        int64_t at;
    } c;
    const unsigned char a_bytes[12] = {0xbf, 0xf8, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xfb};
    const unsigned char b_bytes[8] = {0xff, 0xff, 0xff, 0xfe, 0, 1, 0, 2};
    const unsigned char c_bytes[9] = {7, 0, 0, 0, 0, 0, 0, 1, 2};
    static const struct {
        int r, len;
    } ints[] = {{2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}, {19, 16}};
    MPI_Datatype t;
    MPI_Aint size;

    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    memset(&c, 0, sizeof(c));
    a.v = -1.5;
    a.at = -5;
    b.v = -2;
    b.at = 0x10002;
    c.v = 7;
    c.at = 0x102;
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &t));
    expect(&a, sizeof(a), 1, t, a_bytes, 12);
    OK(MPI_Type_get_value_index(MPI_LONG, MPI_UNSIGNED_LONG, &t));
    expect(&b, sizeof(b), 1, t, b_bytes, 8);
    OK(MPI_Type_get_value_index(MPI_UINT8_T, MPI_INT64_T, &t));
    expect(&c, sizeof(c), 1, t, c_bytes, 9);
    /* 19.1.9.1 */
    for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
        OK(MPI_Type_create_f90_integer(ints[i].r, &t));
        OK(MPI_Pack_external_size("external32", 1, t, &size));
        CHECK_EQ(size, ints[i].len);
    }
    for (int p = 1; p <= 33; p++) {
        int len = p > 15 ? 16 : p > 6 ? 8 : 4;

        OK(MPI_Type_create_f90_real(p, MPI_UNDEFINED, &t));
        OK(MPI_Pack_external_size("external32", 1, t, &size));
        CHECK_EQ(size, len);
        OK(MPI_Type_create_f90_complex(p, 1, &t));
        OK(MPI_Pack_external_size("external32", 1, t, &size));
        CHECK_EQ(size, 2 * len);
    }
    OK(MPI_Type_create_f90_real(MPI_UNDEFINED, 38, &t));
    OK(MPI_Pack_external_size("external32", 1, t, &size));
    CHECK_EQ(size, 8);
    OK(MPI_Type_create_f90_real(MPI_UNDEFINED, 308, &t));
    OK(MPI_Pack_external_size("external32", 1, t, &size));
    CHECK_EQ(size, 16);
}

struct record {
    char c;
    long l[2];
    struct {
        short v;
        int i;
    } pair;
    double d;
};

/* Mixed types keep the order of the type map; values that do not fit are refused. */
static void derived(void)
{
    int lens[4] = {1, 2, 1, 1};
    MPI_Aint at[4] = {offsetof(struct record, c), offsetof(struct record, l),
                      offsetof(struct record, pair), offsetof(struct record, d)};
    MPI_Datatype types[4] = {MPI_CHAR, MPI_LONG, MPI_SHORT_INT, MPI_DOUBLE}, one, t, v;
    struct record r[3], back[3];
    const unsigned char bytes[] = {'q', 0, 0, 0,    1,    0xff, 0xff, 0xff, 0xff, 0, 5, 0,
                                   0,   1, 0, 0x3f, 0xf0, 0,    0,    0,    0,    0, 0};
    unsigned char out[2 * sizeof(bytes)];
    MPI_Aint size, position = 0;

    memset(r, 0, sizeof(r));
    memset(back, 0, sizeof(back));
    for (int i = 0; i < 3; i++) {
        r[i].c = 'q';
        r[i].l[0] = 1;
        r[i].l[1] = -1;
        r[i].pair.v = 5;
        r[i].pair.i = 256;
        r[i].d = 1.0;
    }
    OK(MPI_Type_create_struct(4, lens, at, types, &one));
    OK(MPI_Type_create_resized(one, 0, sizeof(struct record), &t));
    OK(MPI_Type_vector(2, 1, 2, t, &v));
    OK(MPI_Type_commit(&v));
    OK(MPI_Pack_external_size("external32", 1, v, &size));
    CHECK_EQ(size, 2 * sizeof(bytes));
    OK(MPI_Pack_external("external32", r, 1, v, out, size, &position));
    CHECK_EQ(position, size);
    CHECK(memcmp(out, bytes, sizeof(bytes)) == 0);
    CHECK(memcmp(out + sizeof(bytes), bytes, sizeof(bytes)) == 0);
    position = 0;
    OK(MPI_Unpack_external("external32", out, size, &position, back, 1, v));
    memset(&r[1], 0, sizeof(r[1]));
    CHECK(memcmp(back, r, sizeof(r)) == 0);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    r[2].l[1] = LONG_MAX;
    position = 0;
    if (sizeof(long) > 4) {
        FAILS(MPI_Pack_external("external32", r, 1, v, out, size, &position), MPI_ERR_CONVERSION);
        CHECK_EQ(position, 0);
    }
    OK(MPI_Type_free(&one));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&v));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    numbers();
    long_doubles();
    lengths();
    logicals();
    chosen();
    derived();
    OK(MPI_Finalize());
    return 0;
}
