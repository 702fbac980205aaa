/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the object pool. */
#include "util/pool.h"

#include <check.h>
#include <string.h>

#include "support/suite.h"

START_TEST(returns_what_was_put_back)
{
    struct fm_pool p;
    void *a, *b;

    ck_assert_int_eq(fm_pool_init(&p, 100, 4), 0);
    ck_assert_uint_eq(p.stride, 128);
    a = fm_pool_get(&p);
    b = fm_pool_get(&p);
    ck_assert_ptr_ne(a, b);
    ck_assert_uint_eq(*p.n_live, 2);
    memset(a, 0x5a, 100);
    fm_pool_put(&p, a);
    ck_assert_int_eq(*(unsigned char *)a, 0x5a); /* the first 8 bytes stay */
    ck_assert_ptr_eq(fm_pool_get(&p), a);
    fm_pool_finish(&p);
}
END_TEST

START_TEST(counts_where_it_is_told)
{
    struct fm_pool p;
    uint64_t word = 77;
    void *a, *b;

    ck_assert_int_eq(fm_pool_init(&p, 64, 4), 0);
    a = fm_pool_get(&p);
    fm_pool_count_in(&p, &word);
    ck_assert_uint_eq(word, 1);
    b = fm_pool_get(&p);
    ck_assert_uint_eq(word, 2);
    fm_pool_put(&p, a);
    ck_assert_uint_eq(word, 1);
    a = fm_pool_get(&p); /* a used one */
    ck_assert_uint_eq(word, 2);
    fm_pool_put(&p, b);
    fm_pool_finish(&p);
    ck_assert_uint_eq(word, 0);
}
END_TEST

START_TEST(says_when_it_is_full)
{
    struct fm_pool p;

    ck_assert_int_eq(fm_pool_init(&p, 64, 3), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_nonnull(fm_pool_get(&p));
    }
    ck_assert_ptr_null(fm_pool_get(&p));
    ck_assert_uint_eq(*p.n_live, 3);
    fm_pool_finish(&p);
}
END_TEST

START_TEST(knows_its_own)
{
    struct fm_pool p;
    char *a;
    char other[64];

    ck_assert_int_eq(fm_pool_init(&p, 64, 8), 0);
    a = fm_pool_get(&p);
    ck_assert(fm_pool_owns(&p, a));
    ck_assert(!fm_pool_owns(&p, a + 8));
    ck_assert(!fm_pool_owns(&p, a + 64)); /* never handed out */
    ck_assert(!fm_pool_owns(&p, other));
    ck_assert(!fm_pool_owns(&p, NULL));
    ck_assert(!fm_pool_owns(&p, (void *)-64));
    fm_pool_finish(&p);
    ck_assert(!fm_pool_owns(&p, a));
}
END_TEST

START_TEST(refuses_what_cannot_be)
{
    struct fm_pool p;

    ck_assert_int_eq(fm_pool_init(&p, 64, SIZE_MAX / 2), -1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pool");
    TCase *t = tcase_create("pool");

    tcase_set_timeout(t, 15);
    tcase_add_test(t, counts_where_it_is_told);
    tcase_add_test(t, returns_what_was_put_back);
    tcase_add_test(t, says_when_it_is_full);
    tcase_add_test(t, knows_its_own);
    tcase_add_test(t, refuses_what_cannot_be);
    suite_add_tcase(s, t);
    return suite_run(s);
}
