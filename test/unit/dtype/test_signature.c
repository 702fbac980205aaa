/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of type signatures: equal for the same sequence of basic types, however it is made. */
#include "core/dtype/signature.h"

#include <check.h>

#include "core/dtype/dtype_make.h"
#include "support/suite.h"

static uint64_t digest(struct fm_dtype *a, MPI_Count n, struct fm_dtype *b, MPI_Count m)
{
    struct fm_signature s = FM_SIGNATURE_EMPTY;

    fm_signature_add(&s, a, n);
    if (b) {
        fm_signature_add(&s, b, m);
    }
    return fm_signature_digest(&s);
}

static struct fm_dtype *basic(MPI_Datatype handle)
{
    return fm_dtype_get(handle);
}

/* Types of the test, until it ends. */
static struct fm_dtype *made[1024];
static int n_made;

static struct fm_dtype *keep(struct fm_dtype *t)
{
    ck_assert_int_eq(fm_dtype_end(t), 0);
    ck_assert_uint_lt(n_made, FM_ARRAY_LEN(made));
    made[n_made++] = t;
    return t;
}

/* Two blocks of one element each. */
static struct fm_dtype *pair_of(struct fm_dtype *a, struct fm_dtype *b)
{
    struct fm_dtype *t = fm_dtype_begin(MPI_COMBINER_STRUCT, false, 5, 2);
    const MPI_Count values[] = {2, 1, 1, 0, 64};

    for (int i = 0; i < 5; i++) {
        t->env->values[i] = values[i];
    }
    fm_dtype_take(t, 0, a);
    fm_dtype_take(t, 1, b);
    return keep(t);
}

static struct fm_dtype *times(struct fm_dtype *part, MPI_Count n)
{
    struct fm_dtype *t = fm_dtype_begin(MPI_COMBINER_CONTIGUOUS, false, 1, 1);

    t->env->values[0] = n;
    fm_dtype_take(t, 0, part);
    return keep(t);
}

START_TEST(counts_and_order)
{
    struct fm_dtype *i = basic(MPI_INT), *d = basic(MPI_DOUBLE);

    ck_assert(digest(i, 2, NULL, 0) == digest(i, 1, i, 1));
    ck_assert(digest(i, 2, NULL, 0) == digest(basic(MPI_INTEGER), 2, NULL, 0));
    ck_assert(digest(i, 2, NULL, 0) != digest(i, 3, NULL, 0));
    ck_assert(digest(i, 2, NULL, 0) != digest(d, 1, NULL, 0));
    ck_assert(digest(i, 2, NULL, 0) != digest(basic(MPI_FLOAT), 2, NULL, 0));
    ck_assert(digest(i, 1, d, 1) != digest(d, 1, i, 1));
    ck_assert(digest(basic(MPI_CHAR), 4, NULL, 0) != digest(basic(MPI_WCHAR), 4, NULL, 0));
    ck_assert(digest(basic(MPI_DOUBLE_INT), 1, NULL, 0) !=
              digest(basic(MPI_FLOAT_INT), 1, NULL, 0));
    ck_assert(digest(i, (MPI_Count)1 << 60, NULL, 0) == digest(i, 1, i, ((MPI_Count)1 << 60) - 1));
    ck_assert(digest(i, 0, NULL, 0) != 0 && digest(i, 0, NULL, 0) == digest(d, 0, NULL, 0));
}
END_TEST

START_TEST(structure_does_not_matter)
{
    struct fm_dtype *i = basic(MPI_INT), *d = basic(MPI_DOUBLE);
    struct fm_dtype *id = pair_of(i, d), *ids = times(id, 3), *deep = pair_of(ids, i);

    ck_assert(digest(id, 1, NULL, 0) == digest(i, 1, d, 1));
    ck_assert(digest(ids, 2, NULL, 0) == digest(id, 6, NULL, 0));
    ck_assert(digest(deep, 1, NULL, 0) == digest(id, 3, i, 1));
    ck_assert(digest(times(times(i, 4), 5), 2, NULL, 0) == digest(i, 40, NULL, 0));
    ck_assert(digest(pair_of(i, i), 1, NULL, 0) == digest(i, 2, NULL, 0));
}
END_TEST

START_TEST(unknown)
{
    struct fm_dtype *i = basic(MPI_INT), *t = pair_of(i, basic(MPI_DOUBLE));

    ck_assert(digest(basic(MPI_PACKED), 8, NULL, 0) == 0);
    ck_assert(digest(i, 1, basic(MPI_PACKED), 1) == 0);
    for (int k = 0; k < 300; k++) { /* no recursion without end */
        t = k % 2 ? pair_of(t, i) : times(t, 1);
    }
    ck_assert(digest(t, 1, NULL, 0) == 0);
    for (t = pair_of(i, basic(MPI_DOUBLE)); t->n_basic < 1 << 17;) { /* nor time without end */
        t = pair_of(t, t);
    }
    ck_assert(digest(t, 1, NULL, 0) == 0);
}
END_TEST

static void setup(void)
{
    ck_assert_int_eq(fm_dtype_init(), 0);
}

static void teardown(void)
{
    while (n_made > 0) {
        fm_dtype_unref(made[--n_made]);
    }
    fm_dtype_finish();
}

int main(void)
{
    Suite *s = suite_create("signature");
    TCase *tc = tcase_create("signature");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, counts_and_order);
    tcase_add_test(tc, structure_does_not_matter);
    tcase_add_test(tc, unknown);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
