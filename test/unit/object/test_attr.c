/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes follow MPI-5.0 7.7: order of callbacks, refusals, life of a keyval. */
#include "core/object/attr.h"

#include <check.h>

#include "support/suite.h"
#include "util/status.h"

static struct fm_object object = {.kind = FM_KIND_COMM, .refs = 1};
static long seen[8];
static int n_seen, refuse;

static int on_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    ck_assert_ptr_eq(comm, &object);
    *(void **)out = (char *)in + *(int *)extra;
    *flag = (long)in != 3;
    return refuse;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    seen[n_seen++] = (long)value;
    return refuse;
}

static int extra = 100;
static const struct fm_keyval_fns fns = {(void *)on_copy, (void *)on_delete, &extra};

static void setup(void)
{
    n_seen = 0;
    refuse = 0;
}

START_TEST(values_are_kept_by_keyval)
{
    struct fm_attrs *attrs = NULL;
    void *value;
    bool found;
    int a, b;

    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &fns, &a), 0);
    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &fns, &b), 0);
    ck_assert_int_ne(a, b);
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, attrs, a, &value, &found), 0);
    ck_assert(!found);
    ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, a, (void *)1), 0);
    ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, b, (void *)2), 0);
    ck_assert_int_eq(n_seen, 0);
    ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, a, (void *)7), 0);
    ck_assert_int_eq(n_seen, 1); /* the old value was deleted */
    ck_assert_int_eq(seen[0], 1);
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, attrs, a, &value, &found), 0);
    ck_assert(found && value == (void *)7);
    ck_assert_int_eq(fm_attr_delete_all(FM_KIND_COMM, &object, &attrs), 0);
    ck_assert_int_eq(n_seen, 3); /* in reverse order of setting */
    ck_assert_int_eq(seen[1], 2);
    ck_assert_int_eq(seen[2], 7);
    ck_assert_ptr_null(attrs);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, a), 0);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, b), 0);
}
END_TEST

START_TEST(copies_ask_the_user)
{
    struct fm_attrs *attrs = NULL, *copy = NULL;
    struct fm_keyval_fns dup = {(void *)MPI_COMM_DUP_FN, NULL, NULL};
    struct fm_keyval_fns none = {(void *)MPI_COMM_NULL_COPY_FN, NULL, NULL};
    int k[4];
    void *value;
    bool found;

    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &fns, &k[0]), 0);
    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &dup, &k[1]), 0);
    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &none, &k[2]), 0);
    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &fns, &k[3]), 0);
    for (long i = 0; i < 4; i++) {
        ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, k[i], (void *)i), 0);
    }
    ck_assert_int_eq(fm_attr_copy_all(FM_KIND_COMM, &object, attrs, &copy), 0);
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, copy, k[0], &value, &found), 0);
    ck_assert(found && value == (void *)100);
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, copy, k[1], &value, &found), 0);
    ck_assert(found && value == (void *)1);
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, copy, k[2], &value, &found), 0);
    ck_assert(!found);
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, copy, k[3], &value, &found), 0);
    ck_assert(!found); /* its copy function said no */
    refuse = MPI_ERR_OTHER;
    ck_assert_int_eq(fm_attr_delete_all(FM_KIND_COMM, &object, &copy), 0 + MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(copy); /* refused: it stays */
    refuse = 0;
    ck_assert_int_eq(fm_attr_delete_all(FM_KIND_COMM, &object, &copy), 0);
    ck_assert_int_eq(fm_attr_delete_all(FM_KIND_COMM, &object, &attrs), 0);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, k[i]), 0);
    }
}
END_TEST

START_TEST(a_freed_keyval_serves_what_is_set)
{
    struct fm_attrs *attrs = NULL;
    void *value;
    bool found;
    int a, b;

    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &fns, &a), 0);
    ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, a, (void *)5), 0);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, a), 0);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, a), 0); /* a copy of the number: no harm */
    ck_assert_int_eq(fm_attr_get(FM_KIND_COMM, attrs, a, &value, &found), 0);
    ck_assert(found && value == (void *)5);
    ck_assert_int_eq(fm_keyval_create(FM_KIND_COMM, &fns, &b), 0);
    ck_assert_int_ne(a, b); /* its number is still in use */
    ck_assert_int_eq(fm_attr_delete(FM_KIND_COMM, &object, &attrs, a), 0);
    ck_assert_int_eq(n_seen, 1);
    ck_assert_int_eq(seen[0], 5);
    ck_assert_ptr_null(attrs);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, a), -FM_E_NOENT); /* now it is gone */
    ck_assert_int_eq(fm_attr_delete(FM_KIND_COMM, &object, &attrs, a), -FM_E_NOENT);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, b), 0);
}
END_TEST

START_TEST(foreign_keyvals_are_refused)
{
    struct fm_attrs *attrs = NULL;
    const int bad[] = {0, -1, MPI_TAG_UB, 0x1000 + 100000, 2147483647};
    int a;

    ck_assert_int_eq(fm_keyval_create(FM_KIND_DTYPE, &fns, &a), 0);
    ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, a, NULL), -FM_E_NOENT);
    ck_assert_int_eq(fm_keyval_free(FM_KIND_COMM, a), -FM_E_NOENT);
    for (size_t i = 0; i < FM_ARRAY_LEN(bad); i++) {
        ck_assert_int_eq(fm_attr_set(FM_KIND_COMM, &object, &attrs, bad[i], NULL), -FM_E_NOENT);
        ck_assert_int_eq(fm_attr_delete(FM_KIND_COMM, &object, &attrs, bad[i]), -FM_E_NOENT);
    }
    ck_assert_int_eq(fm_keyval_free(FM_KIND_DTYPE, a), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("attr");
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, values_are_kept_by_keyval);
    tcase_add_test(t, copies_ask_the_user);
    tcase_add_test(t, a_freed_keyval_serves_what_is_set);
    tcase_add_test(t, foreign_keyvals_are_refused);
    suite_add_tcase(s, t);
    return suite_run(s);
}
