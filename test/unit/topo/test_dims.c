/* SPDX-License-Identifier: BSD-3-Clause */
/* Balanced grids against exhaustive search, and the entries that the user has set. */
#include "core/topo/dims.h"

#include <limits.h>
#include <string.h>

#include "support/suite.h"
#include "util/status.h"

#define MAX_NODES 10000
#define MAX_DIMS  4

/* Every non-increasing grid of n entries, by trial division and nothing else. */
struct trial {
    int n, gap;
    int now[MAX_DIMS], best[MAX_DIMS];
};

static void try_all(struct trial *t, int at, int rest, int max)
{
    if (at == t->n - 1) {
        t->now[at] = rest;
        if (rest <= max && t->now[0] - rest < t->gap) {
            t->gap = t->now[0] - rest;
            memcpy(t->best, t->now, sizeof(t->best));
        }
        return;
    }
    for (int d = 1; d <= rest && d <= max; d++) {
        if (rest % d == 0) {
            t->now[at] = d;
            try_all(t, at + 1, rest / d, d);
        }
    }
}

START_TEST(every_number)
{
    for (int nodes = 1; nodes <= MAX_NODES; nodes++) {
        for (int n = 1; n <= MAX_DIMS; n++) {
            struct trial t = {.n = n, .gap = INT_MAX};
            int dims[MAX_DIMS] = {0};

            try_all(&t, 0, nodes, nodes);
            ck_assert_int_eq(fm_dims_create(nodes, n, dims), 0);
            ck_assert_mem_eq(dims, t.best, (size_t)n * sizeof(int));
        }
    }
}
END_TEST

static void check_product(int nodes, int n, const int dims[])
{
    long long product = 1;

    for (int i = 0; i < n; i++) {
        ck_assert_int_ge(dims[i], 1);
        product *= dims[i];
    }
    ck_assert_int_eq(product, nodes);
}

START_TEST(large_numbers)
{
    /* Many divisors, a prime, powers, all but the largest int. */
    static const int nodes[] = {1745944200, 2095133040, INT_MAX, 1 << 30, 1162261467, 2147483646};

    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        for (int n = 1; n <= 40; n++) {
            int dims[40] = {0};

            ck_assert_int_eq(fm_dims_create(nodes[i], n, dims), 0);
            check_product(nodes[i], n, dims);
            for (int k = 1; k < n; k++) {
                ck_assert_int_le(dims[k], dims[k - 1]);
            }
        }
    }
}
END_TEST

START_TEST(set_entries_stay)
{
    int dims[4] = {0, 3, 0, 1};

    ck_assert_int_eq(fm_dims_create(36, 4, dims), 0);
    ck_assert_int_eq(dims[0], 4);
    ck_assert_int_eq(dims[1], 3);
    ck_assert_int_eq(dims[2], 3);
    ck_assert_int_eq(dims[3], 1);

    int full[2] = {2, 3};

    ck_assert_int_eq(fm_dims_create(6, 2, full), 0);
    ck_assert_int_eq(fm_dims_create(1, 0, NULL), 0);
}
END_TEST

START_TEST(bad_entries)
{
    int three[3] = {0, 3, 0}, negative[2] = {-1, 0}, full[2] = {2, 2};
    int huge[3] = {1 << 20, 1 << 20, 0};

    ck_assert_int_eq(fm_dims_create(7, 3, three), -FM_E_INVAL); /* the standard's example */
    ck_assert_int_eq(three[0], 0);
    ck_assert_int_eq(fm_dims_create(4, 2, negative), -FM_E_INVAL);
    ck_assert_int_eq(fm_dims_create(8, 2, full), -FM_E_INVAL);
    ck_assert_int_eq(fm_dims_create(8, 3, huge), -FM_E_INVAL);
    ck_assert_int_eq(fm_dims_create(2, 0, NULL), -FM_E_INVAL);
    ck_assert_int_eq(fm_dims_create(0, 1, (int[]){0}), -FM_E_INVAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dims");
    TCase *tc = tcase_create("dims");

    tcase_set_timeout(tc, 50);
    tcase_add_test(tc, every_number);
    tcase_add_test(tc, large_numbers);
    tcase_add_test(tc, set_entries_stay);
    tcase_add_test(tc, bad_entries);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
