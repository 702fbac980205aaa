/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of shared memory: another process finds it, a wrong address is told from a right one. */
#include "util/segment.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "util/status.h"

#define LEN 10000

static int in_child(int (*body)(const struct fm_segment_address *a),
                    const struct fm_segment_address *a)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(body(a));
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int answer(const struct fm_segment_address *a)
{
    struct fm_segment s;

    if (fm_segment_attach(a, &s) != 0 || strcmp(s.base, "question") != 0) {
        return 1;
    }
    strcpy((char *)s.base + LEN - 7, "answer");
    fm_segment_finish(&s);
    return 0;
}

static int find_none(const struct fm_segment_address *a)
{
    struct fm_segment s;

    return fm_segment_attach(a, &s) == -FM_E_UNSUPPORTED && strlen(fm_why()) > 0 ? 0 : 1;
}

START_TEST(two_processes_share_it)
{
    struct fm_segment s;
    struct fm_segment_address a;

    ck_assert_int_eq(fm_segment_create(LEN, &s), 0);
    ck_assert_uint_eq((uintptr_t)s.base % 64, 0);
    for (int i = 0; i < LEN; i++) {
        ck_assert_int_eq(((char *)s.base)[i], 0);
    }
    strcpy(s.base, "question");
    a = fm_segment_address(&s);
    ck_assert_int_eq(in_child(answer, &a), 0);
    ck_assert_str_eq((char *)s.base + LEN - 7, "answer");
    fm_segment_finish(&s);
    fm_segment_finish(&s);
}
END_TEST

START_TEST(others_are_not_taken_for_it)
{
    struct fm_segment s, other;
    struct fm_segment_address a, wrong;

    ck_assert_int_eq(fm_segment_create(LEN, &s), 0);
    ck_assert_int_eq(fm_segment_create(LEN, &other), 0);
    a = wrong = fm_segment_address(&s);
    wrong.fd = other.fd;
    ck_assert_int_eq(in_child(find_none, &wrong), 0);
    wrong = a;
    wrong.len++;
    ck_assert_int_eq(in_child(find_none, &wrong), 0);
    fm_segment_hide(&s);
    ck_assert_int_eq(in_child(find_none, &a), 0);
    *(char *)s.base = 1; /* it stays */
    fm_segment_finish(&s);
    fm_segment_finish(&other);
}
END_TEST

/* So that no store finds the memory gone; and no more than that. */
START_TEST(what_is_asked_for_is_reserved)
{
    off_t page = sysconf(_SC_PAGESIZE);
    struct stat st;
    int fd = fm_segment_file("test", (size_t)page * 16, (size_t)page * 4);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(st.st_size, page * 16);
    ck_assert_int_eq(st.st_blocks * 512, page * 4);
    ck_assert_int_ne(ftruncate(fd, page), 0);
    ck_assert_int_ne(ftruncate(fd, page * 32), 0);
    close(fd);
}
END_TEST

START_TEST(too_much_is_an_error)
{
    struct rlimit was, small;
    struct fm_segment s;
    sigset_t pending;

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
    small = was;
    small.rlim_cur = LEN / 2;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    ck_assert_int_lt(fm_segment_create(LEN, &s), 0);
    ck_assert_ptr_nonnull(strstr(fm_why(), "ulimit -f"));
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
    ck_assert_int_eq(sigpending(&pending), 0);
    ck_assert(!sigismember(&pending, SIGXFSZ));
    ck_assert_int_eq(fm_segment_create(LEN, &s), 0);
    fm_segment_finish(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("segment");
    TCase *tc = tcase_create("all");

    tcase_set_timeout(tc, 15);
    tcase_add_test(tc, two_processes_share_it);
    tcase_add_test(tc, others_are_not_taken_for_it);
    tcase_add_test(tc, what_is_asked_for_is_reserved);
    tcase_add_test(tc, too_much_is_an_error);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
