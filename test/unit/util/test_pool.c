/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the object pool. */
#include "util/pool.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

/* A line of /proc/self/status, in KiB; -1: there is none. */
static long status_kib(const char *name)
{
    char line[128];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "re");

    while (f && kib < 0 && fgets(line, sizeof(line), f)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            sscanf(line + strlen(name), ": %ld", &kib);
        }
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

START_TEST(makes_writable_only_what_is_used)
{
    long before = status_kib("VmData");
    struct fm_pool p;

    ck_assert_int_eq(fm_pool_init(&p, 64, (size_t)1 << 24), 0); /* 1 GiB */
    ck_assert_int_le(status_kib("VmData") - before, 4096);
    for (size_t i = 0; i < 1 << 18; i++) { /* 16 MiB */
        char *obj = fm_pool_get(&p);

        ck_assert_ptr_nonnull(obj);
        obj[63] = 1;
    }
    /* AddressSanitizer maps memory of its own beside the pool's. */
#ifdef __SANITIZE_ADDRESS__
    ck_assert_int_le(status_kib("VmData") - before, 128 << 10);
#else
    ck_assert_int_le(status_kib("VmData") - before, 32 << 10);
#endif
    fm_pool_finish(&p);
}
END_TEST

/* Exit status of the child: how many objects it gets where the address space is limited. */
static int get_some(void)
{
    struct rlimit space = {.rlim_cur = (rlim_t)(status_kib("VmSize") + (64 << 10)) << 10,
                           .rlim_max = RLIM_INFINITY};
    struct fm_pool pools[10];
    int n = 0;

    if (setrlimit(RLIMIT_AS, &space) != 0) {
        return 100;
    }
    for (int i = 0; i < 10; i++) {
        if (fm_pool_init(&pools[i], 64, (size_t)1 << 24) != 0) {
            return 101;
        }
        n += fm_pool_get(&pools[i]) != NULL;
    }
    return n;
}

START_TEST(fits_into_a_limited_address_space)
{
    int status;
    pid_t pid;

    if (HAS_SANITIZER) {
        return; /* its shadow memory takes terabytes of address space */
    }
    pid = fork();
    if (pid == 0) {
        _exit(get_some());
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(WEXITSTATUS(status), 10);
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
    tcase_add_test(t, makes_writable_only_what_is_used);
    tcase_add_test(t, fits_into_a_limited_address_space);
    suite_add_tcase(s, t);
    return suite_run(s);
}
