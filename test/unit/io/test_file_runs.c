/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of strided runs: what is added comes back, few items, and what no process may send. */
#include "core/io/file_runs.h"

#include <check.h>
#include <string.h>

#include "support/suite.h"

static void add_regular(struct fm_file_runs *l, MPI_Offset at, MPI_Count len, MPI_Count stride,
                        int n)
{
    for (int k = 0; k < n; k++) {
        ck_assert_int_eq(fm_file_runs_add(l, (struct fm_file_run){at + k * stride, len}), 0);
    }
}

START_TEST(regular_runs_are_one_item)
{
    struct fm_file_runs l = {0};

    add_regular(&l, 100, 8, 64, 1000);
    ck_assert_int_eq(l.head.n, 1);
    ck_assert_int_eq(l.head.n_bytes, 8000);
    ck_assert_ptr_null(l.items);
    fm_file_runs_clear(&l);
}
END_TEST

START_TEST(adjacent_runs_are_one_run)
{
    struct fm_file_runs l = {0};
    struct fm_file_run out[2];

    add_regular(&l, 0, 16, 16, 2);
    ck_assert_int_eq(fm_file_runs_expand(&l, NULL), 1);
    ck_assert_int_eq(fm_file_runs_expand(&l, out), 1);
    ck_assert(out[0].off == 0 && out[0].len == 32);
    fm_file_runs_clear(&l);
}
END_TEST

/* Lengths that all differ: as many items as runs, beyond those that lie in the head. */
START_TEST(irregular_runs_come_back)
{
    enum { N = 500 };
    struct fm_file_runs l = {0};
    struct fm_file_run out[N];
    MPI_Offset at = 7;

    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(fm_file_runs_add(&l, (struct fm_file_run){at, 1 + k}), 0);
        at += 2 * (1 + k);
    }
    ck_assert_int_eq(l.head.n, N);
    ck_assert_int_eq(fm_file_runs_expand(&l, out), N);
    at = 7;
    for (int k = 0; k < N; k++) {
        ck_assert(out[k].off == at && out[k].len == 1 + k);
        at += 2 * (1 + k);
    }
    ck_assert(fm_file_runs_is_within(&l, 7, at));
    fm_file_runs_clear(&l);
    ck_assert_int_eq(l.head.n, 0);
}
END_TEST

START_TEST(bytes_below_an_offset)
{
    struct fm_file_runs l = {0};

    add_regular(&l, 10, 4, 10, 3); /* 10-14, 20-24, 30-34 */
    ck_assert_int_eq(fm_file_runs_below(&l, 10), 0);
    ck_assert_int_eq(fm_file_runs_below(&l, 12), 2);
    ck_assert_int_eq(fm_file_runs_below(&l, 20), 4);
    ck_assert_int_eq(fm_file_runs_below(&l, 23), 7);
    ck_assert_int_eq(fm_file_runs_below(&l, 1000), 12);
    fm_file_runs_clear(&l);
}
END_TEST

START_TEST(copies_both_ways_up_to_a_limit)
{
    struct fm_file_runs l = {0};
    char window[32], block[8];

    add_regular(&l, 102, 2, 4, 3);
    memset(window, '.', sizeof(window));
    fm_file_runs_copy(&l, window, 100, (char[]){"abcdef"}, 5, true);
    ck_assert_mem_eq(window, "..ab..cd..e.", 12);
    memset(block, '-', sizeof(block));
    fm_file_runs_copy(&l, window, 100, block, 6, false);
    ck_assert_mem_eq(block, "abcde.--", 8);
    fm_file_runs_clear(&l);
}
END_TEST

static bool is_taken(struct fm_file_strided s, MPI_Count n_bytes)
{
    struct fm_file_runs l = {.head = {.n_bytes = n_bytes, .n = 1, .first = {s}}};

    return fm_file_runs_is_within(&l, 1000, 2000);
}

START_TEST(foreign_lists_are_checked)
{
    struct fm_file_runs l = {.head = {.n = -1}};

    ck_assert(is_taken((struct fm_file_strided){1000, 10, 100, 10}, 100));
    ck_assert(!is_taken((struct fm_file_strided){1000, 10, 100, 10}, 99));
    ck_assert(!is_taken((struct fm_file_strided){999, 10, 0, 1}, 10));
    ck_assert(!is_taken((struct fm_file_strided){1995, 10, 0, 1}, 10));
    ck_assert(!is_taken((struct fm_file_strided){1000, 10, 100, 11}, 110));
    ck_assert(!is_taken((struct fm_file_strided){1000, 0, 0, 1}, 0));
    ck_assert(!is_taken((struct fm_file_strided){1000, 10, -5, 3}, 30));
    ck_assert(!is_taken((struct fm_file_strided){1000, 10, INT64_MAX, INT64_MAX}, 10));
    ck_assert(!is_taken((struct fm_file_strided){1000, INT64_MAX, 1, 2}, -2));
    ck_assert(!fm_file_runs_is_within(&l, 1000, 2000));
    l.head.n = FM_FILE_RUNS_INLINE + 1;
    ck_assert(!fm_file_runs_is_within(&l, 1000, 2000));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file_runs");
    TCase *cases = tcase_create("runs");

    tcase_add_test(cases, regular_runs_are_one_item);
    tcase_add_test(cases, adjacent_runs_are_one_run);
    tcase_add_test(cases, irregular_runs_come_back);
    tcase_add_test(cases, bytes_below_an_offset);
    tcase_add_test(cases, copies_both_ways_up_to_a_limit);
    tcase_add_test(cases, foreign_lists_are_checked);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
