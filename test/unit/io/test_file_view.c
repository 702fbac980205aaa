/* SPDX-License-Identifier: BSD-3-Clause */
/* Views against a list of their bytes, and what may not be a view. */
#include "core/io/file_view.h"

#include <check.h>
#include <stdint.h>

#include "core/dtype/dtype_make.h"
#include "support/suite.h"

enum { N_BYTES = 4000 };

/* vector(count, blocklen, stride) of bytes, resized to `extent`. */
static struct fm_dtype *vector_of(MPI_Count count, MPI_Count len, MPI_Count stride,
                                  MPI_Count extent)
{
    struct fm_dtype *v = fm_dtype_begin(MPI_COMBINER_VECTOR, false, 3, 1), *t;

    v->env->values[0] = count;
    v->env->values[1] = len;
    v->env->values[2] = stride;
    fm_dtype_take(v, 0, fm_dtype_byte());
    ck_assert_int_eq(fm_dtype_end(v), 0);
    t = fm_dtype_begin(MPI_COMBINER_RESIZED, false, 2, 1);
    t->env->values[0] = 0;
    t->env->values[1] = extent;
    fm_dtype_take(t, 0, v);
    ck_assert_int_eq(fm_dtype_end(t), 0);
    ck_assert_int_eq(fm_dtype_commit(t), 0);
    fm_dtype_unref(v);
    return t;
}

static struct fm_file_view view_of(MPI_Offset disp, struct fm_dtype *t)
{
    struct fm_file_view v;

    ck_assert_int_eq(fm_file_view_make(disp, fm_dtype_byte(), t, "native", true, &v), 0);
    return v;
}

/* Byte `at` of a view of vectors, worked out by hand. */
static MPI_Offset byte_at(MPI_Count at, MPI_Offset disp, MPI_Count count, MPI_Count len,
                          MPI_Count stride, MPI_Count extent)
{
    MPI_Count size = count * len, in = at % size;

    return disp + at / size * extent + in / len * stride + in % len;
}

START_TEST(every_byte_is_where_it_should_be)
{
    struct fm_dtype *t = vector_of(3, 5, 9, 40);
    struct fm_file_view v = view_of(17, t);
    struct fm_file_cursor c;
    MPI_Count at = 0;

    ck_assert(!v.is_contig && v.is_ascending);
    for (MPI_Count k = 0; k < N_BYTES; k++) {
        ck_assert_int_eq(fm_file_view_offset(&v, k), byte_at(k, 17, 3, 5, 9, 40));
    }
    fm_file_cursor_begin(&c, &v, 0);
    while (at < N_BYTES) {
        struct fm_file_run run = fm_file_cursor_next(&c, N_BYTES - at);

        ck_assert_int_eq(run.off, byte_at(at, 17, 3, 5, 9, 40));
        ck_assert(run.len > 0 && run.len <= 5);
        at += run.len;
        ck_assert_int_eq(c.at, at);
    }
    fm_file_view_finish(&v);
    fm_dtype_unref(t);
}
END_TEST

START_TEST(bytes_below_any_offset)
{
    struct fm_dtype *t = vector_of(3, 5, 9, 40);
    struct fm_file_view v = view_of(17, t);
    MPI_Count k = 0;

    for (MPI_Offset off = 0; off < 1000; off++) {
        while (byte_at(k, 17, 3, 5, 9, 40) < off) {
            k++;
        }
        ck_assert_int_eq(fm_file_view_below(&v, off), k);
    }
    fm_file_view_finish(&v);
    fm_dtype_unref(t);
}
END_TEST

/* Offsets beyond what any file has, without unrolling. */
START_TEST(far_places_are_found_at_once)
{
    struct fm_dtype *t = vector_of(2, 1, INT64_C(1) << 30, INT64_C(1) << 31);
    struct fm_file_view v = view_of(0, t);
    MPI_Count at = INT64_C(1) << 28;

    ck_assert_int_eq(fm_file_view_offset(&v, at), INT64_C(1) << 58);
    ck_assert_int_eq(fm_file_view_below(&v, INT64_C(1) << 58), at);
    fm_file_view_finish(&v);
    fm_dtype_unref(t);
}
END_TEST

START_TEST(the_default_view_is_bytes)
{
    struct fm_file_view v;

    fm_file_view_default(&v);
    ck_assert(v.is_contig);
    ck_assert_int_eq(fm_file_view_offset(&v, 12345), 12345);
    ck_assert_int_eq(fm_file_view_below(&v, 12345), 12345);
    fm_file_view_finish(&v);
}
END_TEST

START_TEST(what_is_no_view)
{
    struct fm_dtype *back = vector_of(2, 4, -8, 16), *over = vector_of(2, 4, 2, 16);
    struct fm_file_view v;

    ck_assert_int_eq(fm_file_view_make(0, fm_dtype_byte(), back, "native", true, &v), MPI_ERR_TYPE);
    ck_assert_int_eq(fm_file_view_make(0, fm_dtype_byte(), over, "native", true, &v), MPI_ERR_TYPE);
    /* Overlap does no harm to readers (14.3), which then see bytes twice. */
    ck_assert_int_eq(fm_file_view_make(0, fm_dtype_byte(), over, "native", false, &v), 0);
    ck_assert(!v.is_ascending);
    fm_file_view_finish(&v);
    ck_assert_int_eq(fm_file_view_make(0, over, fm_dtype_byte(), "native", true, &v), MPI_ERR_TYPE);
    ck_assert_int_eq(fm_file_view_make(0, fm_dtype_byte(), fm_dtype_byte(), "x", true, &v),
                     MPI_ERR_UNSUPPORTED_DATAREP);
    fm_dtype_unref(back);
    fm_dtype_unref(over);
}
END_TEST

static void set_up(void)
{
    ck_assert_int_eq(fm_dtype_init(), 0);
}

int main(void)
{
    Suite *suite = suite_create("file_view");
    TCase *cases = tcase_create("views");

    tcase_add_checked_fixture(cases, set_up, fm_dtype_finish);
    tcase_add_test(cases, every_byte_is_where_it_should_be);
    tcase_add_test(cases, bytes_below_any_offset);
    tcase_add_test(cases, far_places_are_found_at_once);
    tcase_add_test(cases, the_default_view_is_bytes);
    tcase_add_test(cases, what_is_no_view);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
