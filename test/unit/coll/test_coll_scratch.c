/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary memory that collectives keep: what is given back is taken again, up to the limit. */
#include <stdint.h>
#include <string.h>

#include "core/coll/coll_scratch.h"
#include "core/coll/coll_vars.h"
#include "support/oracle_row.h"
#include "support/suite.h"

/* A variable, by its name, against what the test has counted. */
#define IS(name, should) ORACLE_ROW(&fm_coll_vars, fm_coll_counters, name, 0, ==, should)

static void setup(void)
{
    fm_coll_scratch_finish();
    fm_coll_counters->scratch_max = FM_COLL_SCRATCH_MAX;
    fm_coll_counters->n_scratch_misses = 0;
    ck_assert_uint_eq(fm_coll_counters->scratch.now, 0);
}

START_TEST(blocks_are_taken_again)
{
    struct fm_coll_scratch *a = fm_coll_scratch_take(100000), *b = fm_coll_scratch_take(100000);

    ck_assert_ptr_ne(a, b);
    ck_assert_uint_eq((uintptr_t)a->bytes % FM_CACHE_LINE, 0);
    memset(a->bytes, 1, 100000);
    memset(b->bytes, 2, 100000);
    ck_assert_int_eq(a->bytes[99999], 1);
    fm_coll_scratch_give(a);
    fm_coll_scratch_give(NULL);
    ck_assert_uint_eq(fm_coll_counters->scratch.now, 128 << 10);
    ck_assert_ptr_eq(fm_coll_scratch_take(70000), a); /* of the same order */
    ck_assert_uint_eq(fm_coll_counters->scratch.now, 0);
    IS("coll_scratch_misses", FM_STATS ? 2 : 0);
    fm_coll_scratch_give(a);
    fm_coll_scratch_give(b);
    IS("coll_scratch_bytes", 256 << 10);
    fm_coll_scratch_finish();
    ck_assert_uint_eq(fm_coll_counters->scratch.now, 0);
}
END_TEST

START_TEST(no_more_is_kept_than_the_limit)
{
    struct fm_coll_scratch *blocks[4];

    fm_coll_counters->scratch_max = 3 << 20;
    for (int i = 0; i < 4; i++) {
        blocks[i] = fm_coll_scratch_take(1 << 20);
        ck_assert_ptr_nonnull(blocks[i]);
    }
    for (int i = 0; i < 4; i++) {
        fm_coll_scratch_give(blocks[i]);
    }
    ck_assert_uint_eq(fm_coll_counters->scratch.now, 3 << 20);
    fm_coll_counters->scratch_max = 0;
    fm_coll_scratch_give(fm_coll_scratch_take(1 << 20)); /* of those that were kept */
    ck_assert_uint_eq(fm_coll_counters->scratch.now, 2 << 20);
}
END_TEST

START_TEST(lengths_beyond_all_memory_fail)
{
    ck_assert_ptr_null(fm_coll_scratch_take(SIZE_MAX));
    ck_assert_ptr_null(fm_coll_scratch_take(SIZE_MAX / 2 + 2));
    ck_assert_uint_eq(fm_coll_counters->n_scratch_misses, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coll_scratch");
    TCase *tc = tcase_create("scratch");

    tcase_add_checked_fixture(tc, setup, fm_coll_scratch_finish);
    tcase_add_test(tc, blocks_are_taken_again);
    tcase_add_test(tc, no_more_is_kept_than_the_limit);
    tcase_add_test(tc, lengths_beyond_all_memory_fail);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
