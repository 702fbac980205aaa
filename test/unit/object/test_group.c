/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of any processes: ranks, sets, order. */
#include "core/object/group.h"

#include <check.h>

#include "support/suite.h"
#include "util/status.h"

#define SELF 5

static struct fm_group *of(int n, const int *procs)
{
    struct fm_group *g;

    ck_assert_int_eq(fm_group_create(n, procs, SELF, &g), 0);
    return g;
}

static void same(struct fm_group *g, int n, const int *procs)
{
    ck_assert_int_eq(g->size, n);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(fm_group_proc(g, i), procs[i]);
    }
    fm_group_unref(g);
}

START_TEST(identity_needs_no_table)
{
    const int up[] = {0, 1, 2, 3, 4, 5}, down[] = {5, 4, 3};
    struct fm_group *a = of(6, up), *b = of(3, down), *c = of(6, NULL);

    ck_assert_ptr_null(a->procs);
    ck_assert_ptr_nonnull(b->procs);
    ck_assert_int_eq(a->rank, 5);
    ck_assert_int_eq(b->rank, 0);
    ck_assert_int_eq(fm_group_rank_of(a, 6), MPI_UNDEFINED);
    ck_assert_int_eq(fm_group_rank_of(b, 3), 2);
    ck_assert_int_eq(fm_group_rank_of(b, 0), MPI_UNDEFINED);
    fm_group_unref(a);
    fm_group_unref(b);
    fm_group_unref(c);
}
END_TEST

START_TEST(sets_keep_the_order_of_the_standard)
{
    const int pa[] = {9, 5, 2, 700}, pb[] = {2, 3, 9};
    struct fm_group *a = of(4, pa), *b = of(3, pb), *g;

    ck_assert_int_eq(fm_group_union(a, b, &g), 0);
    ck_assert_int_eq(g->rank, 1);
    same(g, 5, (const int[]){9, 5, 2, 700, 3});
    ck_assert_int_eq(fm_group_intersection(a, b, &g), 0);
    ck_assert_int_eq(g->rank, MPI_UNDEFINED);
    same(g, 2, (const int[]){9, 2});
    ck_assert_int_eq(fm_group_difference(b, a, &g), 0);
    same(g, 1, (const int[]){3});
    ck_assert_int_eq(fm_group_incl(a, 2, (const int[]){3, 1}, &g), 0);
    same(g, 2, (const int[]){700, 5});
    ck_assert_int_eq(fm_group_excl(a, 2, (const int[]){3, 1}, &g), 0);
    same(g, 2, (const int[]){9, 2});
    fm_group_unref(a);
    fm_group_unref(b);
}
END_TEST

START_TEST(comparison_and_translation)
{
    const int pa[] = {9, 5, 2}, pb[] = {2, 9, 5}, pc[] = {2, 9, 6}, ranks[] = {0, MPI_PROC_NULL, 2};
    struct fm_group *a = of(3, pa), *b = of(3, pb), *c = of(3, pc);
    int result, out[3];

    ck_assert_int_eq(fm_group_compare(a, a, &result), 0);
    ck_assert_int_eq(result, MPI_IDENT);
    ck_assert_int_eq(fm_group_compare(a, b, &result), 0);
    ck_assert_int_eq(result, MPI_SIMILAR);
    ck_assert_int_eq(fm_group_compare(a, c, &result), 0);
    ck_assert_int_eq(result, MPI_UNEQUAL);
    ck_assert_int_eq(fm_group_translate(a, 3, ranks, b, out), 0);
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(out[1], MPI_PROC_NULL);
    ck_assert_int_eq(out[2], 0);
    ck_assert_int_eq(fm_group_translate(a, 2, (const int[]){1, 0}, c, out), 0);
    ck_assert_int_eq(out[0], MPI_UNDEFINED);
    ck_assert_int_eq(out[1], 1);
    fm_group_unref(a);
    fm_group_unref(b);
    fm_group_unref(c);
}
END_TEST

START_TEST(the_empty_group_stays)
{
    struct fm_group *empty;

    ck_assert_int_eq(fm_group_init(), 0);
    empty = fm_group_get(MPI_GROUP_EMPTY);
    ck_assert_ptr_nonnull(empty);
    ck_assert_ptr_eq(fm_handle_of(empty), MPI_GROUP_EMPTY);
    fm_handle_finish();
    ck_assert_ptr_null(fm_group_get(MPI_GROUP_EMPTY));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("group");
    TCase *t = tcase_create("all");

    tcase_add_test(t, identity_needs_no_table);
    tcase_add_test(t, sets_keep_the_order_of_the_standard);
    tcase_add_test(t, comparison_and_translation);
    tcase_add_test(t, the_empty_group_stays);
    suite_add_tcase(s, t);
    return suite_run(s);
}
