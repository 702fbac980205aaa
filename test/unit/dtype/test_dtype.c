/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of what programs types become, what they cost, and when they go away. */
#include "core/dtype/dtype_make.h"
#include "core/dtype/op.h"
#include "core/dtype/pack.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/suite.h"
#include "util/status.h"
#include "util/sync.h"

static uint64_t n_live(void)
{
    return *fm_root.pools[FM_KIND_DTYPE].n_live;
}

static void setup(void)
{
    ck_assert_int_eq(fm_dtype_init(), 0);
    ck_assert_int_eq(fm_op_init(NULL), 0);
}

static void teardown(void)
{
    fm_op_finish();
    fm_dtype_finish();
    ck_assert_uint_eq(n_live(), 0);
    fm_handle_finish();
}

/* A committed type of one kind of part. */
static struct fm_dtype *make(int combiner, const MPI_Count *values, MPI_Count n,
                             struct fm_dtype *old)
{
    struct fm_dtype *t = fm_dtype_begin(combiner, true, n, 1);

    ck_assert_ptr_nonnull(t);
    memcpy(t->env->values, values, (size_t)n * sizeof(*values));
    fm_dtype_take(t, 0, old);
    ck_assert_int_eq(fm_dtype_end(t), 0);
    ck_assert_int_eq(fm_dtype_commit(t), 0);
    return t;
}

#define VALUES(...)                                                                                \
    (const MPI_Count[]){__VA_ARGS__}, (MPI_Count)FM_ARRAY_LEN(((MPI_Count[]){__VA_ARGS__}))

START_TEST(knows_the_predefined_types)
{
    struct fm_dtype *byte = fm_dtype_get(MPI_BYTE);

    ck_assert_ptr_eq(fm_dtype_byte(), byte);
    ck_assert(byte->is_predefined && byte->is_committed && byte->is_contig);
    ck_assert_ptr_eq(byte->elem, byte);
    ck_assert_ptr_null(fm_dtype_get(MPI_DATATYPE_NULL));
    ck_assert_int_eq(fm_dtype_get(MPI_SHORT_INT)->size, sizeof(short) + sizeof(int));
    ck_assert_int_eq(fm_dtype_get(MPI_LONG_DOUBLE_INT)->size, sizeof(long double) + sizeof(int));
    ck_assert(!fm_dtype_get(MPI_SHORT_INT)->is_contig);
    ck_assert_int_eq(fm_dtype_init(), 0); /* again: nothing changes */
    ck_assert_ptr_eq(fm_dtype_byte(), byte);
}
END_TEST

START_TEST(makes_loops_not_lists)
{
    struct fm_dtype *d = fm_dtype_get(MPI_DOUBLE);
    struct fm_dtype *t = make(MPI_COMBINER_VECTOR, VALUES(1000000, 1, 2), d);

    ck_assert_int_eq(t->prog->kind, FM_PROG_VEC);
    ck_assert_int_eq(t->prog->u.vec.n0, 1000000);
    fm_dtype_unref(t);
    /* A box inside of a 3-D array: rows, columns, one block each. */
    t = make(MPI_COMBINER_SUBARRAY, VALUES(3, 100, 200, 300, 50, 60, 70, 1, 2, 3, MPI_ORDER_C), d);
    ck_assert_int_eq(t->prog->kind, FM_PROG_VEC);
    ck_assert_int_eq(t->prog->u.vec.blk, 70 * 8);
    ck_assert_int_eq(t->prog->u.vec.n0, 60);
    ck_assert_int_eq(t->prog->u.vec.n1, 50);
    fm_dtype_unref(t);
    /* A whole plane is one run. */
    t = make(MPI_COMBINER_SUBARRAY, VALUES(3, 9, 8, 7, 1, 8, 7, 4, 0, 0, MPI_ORDER_C), d);
    ck_assert_int_eq(t->prog->n_runs, 1);
    fm_dtype_unref(t);
}
END_TEST

START_TEST(sees_what_is_contiguous)
{
    struct fm_dtype *i = fm_dtype_get(MPI_INT);
    struct fm_dtype *t = make(MPI_COMBINER_INDEXED, VALUES(3, 2, 1, 3, 0, 2, 3), i);
    struct fm_dtype *u;

    ck_assert(t->is_contig);
    u = make(MPI_COMBINER_CONTIGUOUS, VALUES(1000), t);
    ck_assert(u->is_contig);
    ck_assert_ptr_eq(u->elem, i);
    fm_dtype_unref(u);
    u = make(MPI_COMBINER_RESIZED, VALUES(0, 32), t);
    ck_assert(!u->is_contig);
    ck_assert_int_eq(u->prog->n_runs, 1);
    fm_dtype_unref(u);
    fm_dtype_unref(t);
    /* The same bytes in another order are not. */
    t = make(MPI_COMBINER_INDEXED, VALUES(2, 1, 1, 1, 0), i);
    ck_assert(!t->is_contig);
    fm_dtype_unref(t);
    t = make(MPI_COMBINER_CONTIGUOUS, VALUES(0), i);
    ck_assert(t->is_contig && t->size == 0);
    fm_dtype_unref(t);
}
END_TEST

/* Of this thread, so that it does not count when others have the processor. */
static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

START_TEST(commits_a_million_blocks_at_once)
{
    MPI_Count n = 1000000;
    MPI_Count *v = malloc((size_t)(1 + 2 * n) * sizeof(*v));
    struct fm_dtype *t;
    double began;

    v[0] = n;
    for (MPI_Count i = 0; i < n; i++) {
        v[1 + i] = 1 + i % 3;
        v[1 + n + i] = (i * 7919) % n * 5;
    }
    t = fm_dtype_begin(MPI_COMBINER_INDEXED, true, 1 + 2 * n, 1);
    memcpy(t->env->values, v, (size_t)(1 + 2 * n) * sizeof(*v));
    fm_dtype_take(t, 0, fm_dtype_get(MPI_DOUBLE));
    ck_assert_int_eq(fm_dtype_end(t), 0);
    began = processor_time();
    ck_assert_int_eq(fm_dtype_commit(t), 0);
    /* 20 ms; what is no longer linear takes hours. */
    ck_assert_double_lt(processor_time() - began, 10);
    ck_assert_int_eq(t->prog->kind, FM_PROG_TAB);
    ck_assert_int_eq(t->size, t->prog->size);
    fm_dtype_unref(t);
    free(v);
}
END_TEST

/* The same 4 KiB a million times: positions beyond 2^32 without the memory. */
START_TEST(packs_beyond_four_gigabytes)
{
    static char page[4096];
    struct fm_dtype *t =
        make(MPI_COMBINER_HVECTOR, VALUES(1 << 20, sizeof(page), 0), fm_dtype_byte());
    struct fm_dtype *u = make(MPI_COMBINER_HVECTOR, VALUES(3, 1, 0), t);
    struct fm_pack p;
    char out[10000];
    MPI_Count at = ((MPI_Count)5 << 31) + 4000;

    for (size_t i = 0; i < sizeof(page); i++) {
        page[i] = (char)(i * 31 >> 3);
    }
    ck_assert_int_eq(u->size, (MPI_Count)3 << 32);
    fm_pack_begin(&p, page, 1, u);
    fm_pack_seek(&p, at);
    ck_assert_uint_eq(fm_pack_out(&p, out, sizeof(out)), sizeof(out));
    for (size_t i = 0; i < sizeof(out); i++) {
        ck_assert_int_eq(out[i], page[(size_t)(at + (MPI_Count)i) % sizeof(page)]);
    }
    ck_assert_int_eq(p.at, at + (MPI_Count)sizeof(out));
    fm_pack_seek(&p, u->size - 5);
    ck_assert_uint_eq(fm_pack_out(&p, out, sizeof(out)), 5);
    fm_dtype_unref(t);
    fm_dtype_unref(u);
}
END_TEST

START_TEST(keeps_parts_alive_and_lets_them_go)
{
    uint64_t before = n_live();
    struct fm_dtype *t = make(MPI_COMBINER_VECTOR, VALUES(2, 1, 2), fm_dtype_get(MPI_INT));
    struct fm_dtype *next;
    int buf[4] = {1, 2, 3, 4};
    int out[2];

    for (int i = 0; i < 1000; i++) {
        next = make(MPI_COMBINER_CONTIGUOUS, VALUES(1), t);
        fm_dtype_unref(t);
        t = next;
    }
    ck_assert_uint_eq(n_live(), before + 1001);
    fm_pack_all(out, buf, 1, t);
    ck_assert(out[0] == 1 && out[1] == 3);
    fm_dtype_unref(t);
    ck_assert_uint_eq(n_live(), before);
    fm_dtype_unref(NULL);
}
END_TEST

START_TEST(refuses_what_does_not_fit)
{
    uint64_t before = n_live();
    struct fm_dtype *t = fm_dtype_begin(MPI_COMBINER_CONTIGUOUS, true, 1, 1);

    t->env->values[0] = INT64_MAX / 4;
    fm_dtype_take(t, 0, fm_dtype_get(MPI_DOUBLE));
    ck_assert_int_eq(fm_dtype_end(t), -FM_E_INVAL);
    ck_assert_uint_eq(n_live(), before);
    t = fm_dtype_begin(MPI_COMBINER_INDEXED, true, INT64_MAX / 2, 1);
    ck_assert_ptr_null(t);
    ck_assert_uint_eq(n_live(), before);
}
END_TEST

START_TEST(tells_operations_on_windows)
{
    struct fm_dtype *t = make(MPI_COMBINER_VECTOR, VALUES(2, 1, 2), fm_dtype_get(MPI_INT));
    struct fm_dtype *mixed = fm_dtype_begin(MPI_COMBINER_STRUCT, true, 5, 2);

    memcpy(mixed->env->values, (MPI_Count[]){2, 1, 1, 0, 8}, 5 * sizeof(MPI_Count));
    fm_dtype_take(mixed, 0, fm_dtype_get(MPI_INT));
    fm_dtype_take(mixed, 1, fm_dtype_get(MPI_DOUBLE));
    ck_assert_int_eq(fm_dtype_end(mixed), 0);
    ck_assert_int_eq(fm_op_check_rma(fm_op_get(MPI_SUM), t), 0);
    ck_assert_int_eq(fm_op_check_rma(fm_op_get(MPI_REPLACE), t), 0);
    ck_assert_int_ne(fm_op_check(fm_op_get(MPI_SUM), t), 0);
    ck_assert_int_ne(fm_op_check_rma(fm_op_get(MPI_MAXLOC), t), 0);
    ck_assert_ptr_null(mixed->elem);
    ck_assert_int_ne(fm_op_check_rma(fm_op_get(MPI_SUM), mixed), 0);
    fm_dtype_unref(mixed);
    fm_dtype_unref(t);
}
END_TEST

START_TEST(forgets_what_the_user_left)
{
    struct fm_dtype *t = make(MPI_COMBINER_VECTOR, VALUES(2, 1, 2), fm_dtype_get(MPI_INT));
    struct fm_dtype *u = make(MPI_COMBINER_CONTIGUOUS, VALUES(2), t);

    fm_dtype_unref(t);
    ck_assert_ptr_nonnull(u); /* teardown counts what lives, the leak checker what is lost */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dtype");
    TCase *t = tcase_create("dtype");

    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, knows_the_predefined_types);
    tcase_add_test(t, makes_loops_not_lists);
    tcase_add_test(t, sees_what_is_contiguous);
    tcase_add_test(t, commits_a_million_blocks_at_once);
    tcase_add_test(t, packs_beyond_four_gigabytes);
    tcase_add_test(t, keeps_parts_alive_and_lets_them_go);
    tcase_add_test(t, refuses_what_does_not_fit);
    tcase_add_test(t, tells_operations_on_windows);
    tcase_add_test(t, forgets_what_the_user_left);
    suite_add_tcase(s, t);
    return suite_run(s);
}
