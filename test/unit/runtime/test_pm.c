/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of the process managers "own" and "single". The launcher is this program: it makes the key
 * table, and each rank is a forked child.
 */
#include "core/runtime/pm.h"

#include <check.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"
#include "util/keytable.h"

static struct fm_keytable *table;
static int table_fd;

static void setup(void)
{
    ck_assert_int_eq(fm_keytable_create(2, &table, &table_fd), 0);
}

static void teardown(void)
{
    fm_keytable_unmap(table);
    close(table_fd);
}

/* Run body as one rank, in a process of its own; its return value is the exit status. */
static pid_t start_rank(int rank, int (*body)(struct fm_pm *pm))
{
    struct fm_keytable_place place = {.launcher = getpid(),
                                      .table_fd = table_fd,
                                      .page_fd = table_fd,
                                      .rank = rank,
                                      .token = table->head.token};
    pid_t pid = fork();

    if (pid == 0) {
        struct fm_pm *pm;
        char text[96];
        int status;

        fm_keytable_place_print(&place, text, sizeof(text));
        setenv(FM_KEYTABLE_ENV, text, 1);
        if (fm_pm_open(&pm) != 0 || strcmp(pm->ops->name, "own") != 0) {
            _exit(100);
        }
        status = body(pm);
        pm->ops->close(pm);
        _exit(status);
    }
    return pid;
}

static int end_of(pid_t pid)
{
    int status = 0;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int says_who_it_is(struct fm_pm *pm)
{
    return pm->rank == 1 && pm->size == 2 && pm->local_rank == 1 && pm->n_local == 2 &&
                   strcmp(pm->job, table->head.name) == 0
               ? 0
               : 1;
}

START_TEST(knows_its_place)
{
    ck_assert_int_eq(end_of(start_rank(1, says_who_it_is)), 0);
}
END_TEST

static int publishes_late(struct fm_pm *pm)
{
    return pm->ops->put(pm, "ofi", "address", 7) || pm->ops->started(pm);
}

static int gets_from_1(struct fm_pm *pm)
{
    char value[FM_PM_VALUE_MAX];
    size_t len = sizeof(value);
    struct fm_pm_proc proc = {pm->job, 1};
    int rc = pm->ops->get(pm, &proc, "ofi", value, &len);

    if (rc) {
        return -rc;
    }
    return len == 7 && memcmp(value, "address", 7) == 0 ? 0 : 99;
}

START_TEST(get_waits_for_put)
{
    pid_t getter = start_rank(0, gets_from_1);

    /* The getter has claimed its place, so it is at it, or soon will be. */
    while (atomic_load(&fm_keytable_slot(table, 0)->claim) == 0) {
        fm_keytable_sleep(table, fm_keytable_seen(table), 1);
    }
    ck_assert_int_eq(end_of(start_rank(1, publishes_late)), 0);
    ck_assert_int_eq(end_of(getter), 0);
}
END_TEST

static int only_starts(struct fm_pm *pm)
{
    return pm->ops->started(pm);
}

static int publishes_another(struct fm_pm *pm)
{
    return pm->ops->put(pm, "shm", "x", 1) || pm->ops->started(pm);
}

static int leaves(struct fm_pm *pm)
{
    pm->ops->withdraw(pm);
    return pm->ops->fence(pm, NULL, NULL) || pm->ops->finished(pm);
}

static int comes_back(struct fm_pm *pm)
{
    return pm->ops->put(pm, "ofi", "old", 3) || pm->ops->started(pm) || leaves(pm) ||
           publishes_late(pm);
}

static int gets_behind_the_fence(struct fm_pm *pm)
{
    return pm->ops->fence(pm, NULL, NULL) || gets_from_1(pm);
}

START_TEST(get_of_one_that_comes_back)
{
    pid_t getter = start_rank(0, gets_behind_the_fence);

    ck_assert_int_eq(end_of(start_rank(1, comes_back)), 0);
    ck_assert_int_eq(end_of(getter), 0);
}
END_TEST

static int publishes_and_leaves(struct fm_pm *pm)
{
    return publishes_late(pm) || leaves(pm);
}

static int gets_and_leaves(struct fm_pm *pm)
{
    return gets_from_1(pm) || leaves(pm);
}

static void wait_for_entry(int rank)
{
    while (atomic_load(&fm_keytable_slot(table, rank)->fence) == 0) {
        fm_keytable_sleep(table, fm_keytable_seen(table), 1);
    }
}

static int gets_of_another_job(struct fm_pm *pm)
{
    struct fm_pm_proc proc = {"another-job", 1};
    char value[FM_PM_VALUE_MAX];
    size_t len = sizeof(value);

    return -pm->ops->get(pm, &proc, "ofi", value, &len);
}

START_TEST(get_of_another_job)
{
    ck_assert_int_eq(end_of(start_rank(1, publishes_late)), 0);
    ck_assert_int_eq(end_of(start_rank(0, gets_of_another_job)), FM_E_NOENT);
}
END_TEST

/* Its last messages are received while it is in MPI_Finalize already, and answered. */
START_TEST(get_of_one_that_is_about_to_leave)
{
    pid_t leaver = start_rank(1, publishes_and_leaves);

    wait_for_entry(1);
    ck_assert_int_eq(end_of(start_rank(0, gets_and_leaves)), 0);
    ck_assert_int_eq(end_of(leaver), 0);
    ck_assert(fm_keytable_has_entries(table, 1));
    table->n_complete = 1; /* as a rank that has left the fence */
    ck_assert(!fm_keytable_has_entries(table, 1));
}
END_TEST

START_TEST(get_of_a_key_that_never_comes)
{
    ck_assert_int_eq(end_of(start_rank(1, publishes_another)), 0);
    ck_assert_int_eq(end_of(start_rank(0, gets_from_1)), FM_E_NOENT);
}
END_TEST

START_TEST(get_from_the_dead)
{
    fm_keytable_mark_gone(table, 1);
    ck_assert_int_eq(end_of(start_rank(0, gets_from_1)), FM_E_PEER);
}
END_TEST

static int fences_thrice(struct fm_pm *pm)
{
    for (int i = 0; i < 3; i++) {
        if (pm->ops->fence(pm, NULL, NULL)) {
            return 1 + i;
        }
    }
    return 0;
}

START_TEST(fence_of_two)
{
    pid_t a = start_rank(0, fences_thrice);

    ck_assert_int_eq(end_of(start_rank(1, fences_thrice)), 0);
    ck_assert_int_eq(end_of(a), 0);
    ck_assert_uint_eq(atomic_load(&fm_keytable_slot(table, 0)->fence), 3);
}
END_TEST

static int fences(struct fm_pm *pm)
{
    return -pm->ops->fence(pm, NULL, NULL);
}

static atomic_int *n_idle; /* shared with the ranks */

static void count(void *ctx)
{
    atomic_fetch_add((atomic_int *)ctx, 1);
}

static int fences_with_idle(struct fm_pm *pm)
{
    return pm->ops->fence(pm, count, n_idle);
}

START_TEST(fence_serves_while_it_waits)
{
    pid_t a;

    n_idle = mmap(NULL, sizeof(*n_idle), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(n_idle, MAP_FAILED);
    a = start_rank(0, fences_with_idle);
    while (atomic_load(n_idle) == 0) { /* until the test's limit */
        fm_keytable_sleep(table, fm_keytable_seen(table), 1);
        fm_keytable_notify(table); /* not what it waits for */
    }
    ck_assert_int_eq(end_of(start_rank(1, fences)), 0);
    ck_assert_int_eq(end_of(a), 0);
    munmap(n_idle, sizeof(*n_idle));
}
END_TEST

START_TEST(fence_with_the_dead)
{
    pid_t a = start_rank(0, fences);

    wait_for_entry(0);
    fm_keytable_mark_gone(table, 1);
    fm_keytable_notify(table);
    ck_assert_int_eq(end_of(a), FM_E_PEER);
}
END_TEST

/* Words that no launcher or rank has written: none of them ends a fence or a rank. */
START_TEST(stray_words_in_a_fence)
{
    pid_t a = start_rank(0, fences);

    wait_for_entry(0);
    atomic_store(&fm_keytable_slot(table, 1)->gone, 1); /* not the mark */
    atomic_store(&fm_keytable_slot(table, 0)->fence, 77777);
    fm_keytable_notify(table);
    ck_assert_int_eq(end_of(start_rank(1, fences)), 0);
    ck_assert_int_eq(end_of(a), 0);
    ck_assert_uint_eq(atomic_load(&fm_keytable_slot(table, 0)->fence), 1);
}
END_TEST

static int starts_after_a_stray_word(struct fm_pm *pm)
{
    return -pm->ops->started(pm);
}

START_TEST(stray_rank_that_left)
{
    atomic_store(&table->live->left_early, 1000000);
    ck_assert_int_eq(end_of(start_rank(0, starts_after_a_stray_word)), 0);
}
END_TEST

START_TEST(start_after_one_left)
{
    atomic_store(&table->live->left_early, 1 + 1);
    ck_assert_int_eq(end_of(start_rank(0, only_starts)), 256 - FM_E_PEER);
}
END_TEST

static int finishes(struct fm_pm *pm)
{
    return pm->ops->started(pm) || pm->ops->finished(pm);
}

START_TEST(tells_its_phase)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(table, 0);

    ck_assert_int_eq(end_of(start_rank(0, finishes)), 0);
    ck_assert_uint_eq(atomic_load(&slot->phase), FM_PLACE_FINALIZED);
    /* A second program may follow in the same place. */
    ck_assert_int_eq(end_of(start_rank(0, finishes)), 0);
}
END_TEST

START_TEST(none_follows_one_that_did_not_finish)
{
    ck_assert_int_eq(end_of(start_rank(0, only_starts)), 0);
    /* It gets an error, and does not run alone. */
    ck_assert_int_eq(end_of(start_rank(0, finishes)), 100);
}
END_TEST

static int aborts(struct fm_pm *pm)
{
    pm->ops->abort(pm, 42, "enough", false);
    return 0;
}

START_TEST(abort_reaches_the_launcher)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(table, 1);

    ck_assert_int_eq(end_of(start_rank(1, aborts)), 0);
    ck_assert_uint_eq(atomic_load(&slot->aborted), FM_PLACE_ABORT);
    ck_assert_int_eq(slot->abort_status, 42);
}
END_TEST

static int child_is_single(struct fm_pm *pm)
{
    struct fm_pm *other;
    pid_t pid = fork();

    /* What a rank starts is not the rank, though it has its environment. exec would forget. */
    if (pid == 0) {
        _exit(fm_keytable_claim(table, pm->rank, getpid()) == FM_AGAIN &&
                      fm_pm_single_open(&other) == 0
                  ? 0
                  : 1);
    }
    return end_of(pid);
}

START_TEST(children_of_ranks)
{
    ck_assert_int_eq(end_of(start_rank(0, child_is_single)), 0);
}
END_TEST

START_TEST(single)
{
    struct fm_pm_proc self = {.rank = 0}, other = {.job = "another-job", .rank = 0};
    struct fm_pm *pm;
    char value[8];
    size_t len = sizeof(value);

    unsetenv(FM_KEYTABLE_ENV);
    ck_assert_int_eq(fm_pm_open(&pm), 0);
    ck_assert_str_eq(pm->ops->name, "single");
    ck_assert_int_eq(pm->size, 1);
    self.job = pm->job;
    ck_assert_int_eq(pm->ops->get(pm, &self, "a", value, &len), -FM_E_NOENT);
    ck_assert_int_eq(pm->ops->put(pm, "a", "bc", 2), 0);
    ck_assert_int_eq(pm->ops->get(pm, &self, "a", value, &len), 0);
    ck_assert_int_eq(pm->ops->get(pm, &other, "a", value, &len), -FM_E_NOENT);
    ck_assert_uint_eq(len, 2);
    ck_assert_int_eq(pm->ops->fence(pm, NULL, NULL), 0);
    ck_assert(!pm->ops->is_gone(pm, 0));
    pm->ops->close(pm);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pm");
    TCase *t = tcase_create("pm");

    signal(SIGCHLD, SIG_DFL);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 15);
    tcase_add_test(t, knows_its_place);
    tcase_add_test(t, get_waits_for_put);
    tcase_add_test(t, get_of_a_key_that_never_comes);
    tcase_add_test(t, get_of_one_that_comes_back);
    tcase_add_test(t, get_of_one_that_is_about_to_leave);
    tcase_add_test(t, get_from_the_dead);
    tcase_add_test(t, fence_of_two);
    tcase_add_test(t, fence_serves_while_it_waits);
    tcase_add_test(t, fence_with_the_dead);
    tcase_add_test(t, get_of_another_job);
    tcase_add_test(t, stray_words_in_a_fence);
    tcase_add_test(t, stray_rank_that_left);
    tcase_add_test(t, start_after_one_left);
    tcase_add_test(t, tells_its_phase);
    tcase_add_test(t, none_follows_one_that_did_not_finish);
    tcase_add_test(t, abort_reaches_the_launcher);
    tcase_add_test(t, children_of_ranks);
    tcase_add_test(t, single);
    suite_add_tcase(s, t);
    return suite_run(s);
}
