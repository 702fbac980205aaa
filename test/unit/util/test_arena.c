/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena of a job: processes share memory that none of them could open at another. */
#include "util/arena.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "util/segment.h"
#include "util/status.h"

#define AT  65536
#define LEN (1 << 30)

static int fd;

/* Memory of the file in use, bytes. */
static uint64_t in_use(void)
{
    struct stat st;

    ck_assert_int_eq(fstat(fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

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
    strcpy(s.base, "answer");
    fm_segment_finish(&s);
    return 0;
}

START_TEST(no_descriptor_is_opened)
{
    struct fm_segment s;
    struct fm_segment_address a;

    ck_assert_int_eq(fm_segment_create(10000, &s), 0);
    ck_assert_int_eq(s.fd, -1);
    strcpy(s.base, "question");
    a = fm_segment_address(&s);
    a.pid = 0; /* as good as any */
    ck_assert_int_eq(in_child(answer, &a), 0);
    ck_assert_str_eq(s.base, "answer");
    fm_segment_finish(&s);
}
END_TEST

/* By the last process that has it, whichever that is. */
START_TEST(memory_is_freed)
{
    uint64_t before = in_use();
    struct fm_segment s, again;
    struct fm_segment_address a;

    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(fm_segment_create(1 << 20, &s), 0);
        memset(s.base, 1, 1 << 20);
        a = fm_segment_address(&s);
        ck_assert_int_eq(fm_segment_attach(&a, &again), 0);
        fm_segment_finish(k % 2 ? &again : &s);
        ck_assert_uint_ge(in_use(), before + (1 << 20));
        ck_assert_int_eq(((char *)(k % 2 ? s.base : again.base))[1000], 1);
        fm_segment_finish(k % 2 ? &s : &again);
        ck_assert_uint_eq(in_use(), before);
    }
}
END_TEST

START_TEST(places_that_peers_name_are_checked)
{
    struct fm_segment s, other;
    struct fm_segment_address a, wrong;

    ck_assert_int_eq(fm_segment_create(10000, &s), 0);
    a = fm_segment_address(&s);
    for (int k = 0; k < 6; k++) {
        wrong = a;
        wrong.at = k == 0 ? 4096 : k == 1 ? AT : k == 2 ? AT + LEN : k == 3 ? a.at + 64 : a.at;
        wrong.len = k == 4 ? LEN : a.len;
        wrong.nonce += k == 5;
        ck_assert_int_eq(fm_segment_attach(&wrong, &other), -FM_E_UNSUPPORTED);
    }
    fm_segment_finish(&s);
}
END_TEST

/* What does not fit any more is a file of its own. */
START_TEST(a_full_arena_is_no_end)
{
    struct fm_segment s;
    uint64_t at;

    ck_assert(!fm_arena_take((size_t)LEN * 2, 0, &at));
    while (fm_arena_take(LEN / 8, 0, &at)) {
    }
    ck_assert_int_eq(fm_segment_create(LEN / 8, &s), 0);
    ck_assert_int_ge(s.fd, 0);
    fm_segment_finish(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arena");
    TCase *tc = tcase_create("all");

    fd = fm_segment_sealed("test", AT + LEN);
    if (fd < 0 || fm_arena_use(dup(fd), AT, LEN) != 0) {
        return 1;
    }
    tcase_set_timeout(tc, 15);
    tcase_add_test(tc, no_descriptor_is_opened);
    tcase_add_test(tc, memory_is_freed);
    tcase_add_test(tc, places_that_peers_name_are_checked);
    tcase_add_test(tc, a_full_arena_is_no_end); /* the last: nothing is left of it */
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
