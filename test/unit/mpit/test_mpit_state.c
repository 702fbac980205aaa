/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state word of a handle under every interleaving.
 *
 * The code itself runs, with each atomic operation made a point at which any thread may go on. The
 * threads are coroutines, and the orders are walked depth first, all of them up to a number of
 * preemptions (support/orders.h). Each case also runs with a mistake in it, which the model must
 * find: a reader that does not read again, or a change that ignores that another came first.
 */
#include <check.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "support/orders.h"
#include "support/suite.h"

static bool is_walking; /* inside of a coroutine */

static void point(bool is_write)
{
    if (is_walking) {
        step();
        if (is_write) {
            moved();
        }
    }
}

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_thread_fence
#define atomic_load_explicit(p, order) (point(false), __atomic_load_n((p), __ATOMIC_SEQ_CST))
#define atomic_store_explicit(p, v, order)                                                         \
    (point(true), __atomic_store_n((p), (v), __ATOMIC_SEQ_CST))
#define atomic_fetch_and_explicit(p, v, order)                                                     \
    (point(true), __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_weak_explicit(p, expected, v, ok, no)                              \
    (point(true),                                                                                  \
     __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_strong_explicit atomic_compare_exchange_weak_explicit
#define atomic_thread_fence(order)              ((void)0)
#define sched_yield                             wait_for_others

#include "mpit/mpit_state.c"

enum mistake { NONE, READS_ONCE, FORCES_CHANGE };

static struct fm_t_state state;
static enum mistake mistake;
static size_t n_elements;
static uint64_t flags, expected;
static bool has_run;
static int n_faults, n_started;

/* After a run: what all changes came to. */
static void check_run(void)
{
    is_walking = false;
    if (has_run) {
        n_faults += fm_t_state_of(&state, fm_t_state_load(&state), 0) != expected;
    }
    has_run = false;
}

static void reset(void)
{
    check_run();
    fm_t_state_finish(&state);
    memset(&state, 0, sizeof(state));
    ck_assert_int_eq(fm_t_state_begin(&state, n_elements, flags), 0);
    n_started = 0;
    has_run = true;
    is_walking = true;
}

/* Add `by` to every element. */
static void change(uint64_t by)
{
    struct fm_t_state_change c = fm_t_state_change_begin(&state);
    uint64_t v;

    do {
        for (int i = 0; i < (int)n_elements; i++) {
            v = fm_t_state_of(&state, c.from, i);
            atomic_store_explicit(fm_t_state_element(&state, c.copy, i), v + by,
                                  memory_order_relaxed);
        }
    } while (!fm_t_state_change_end(&state, &c, c.from & FM_T_STATE_RUNNING) &&
             mistake != FORCES_CHANGE);
}

/* All elements are those of one state. */
static void read_all(uint64_t *last)
{
    uint64_t ctl, first, other;

    do {
        ctl = fm_t_state_load(&state);
        first = fm_t_state_of(&state, ctl, 0);
        other = fm_t_state_of(&state, ctl, (int)n_elements - 1);
    } while (fm_t_state_is_past(&state, ctl) && mistake != READS_ONCE);
    n_faults += first != other || first < *last;
    *last = first;
}

/* ---- changes of a whole state, and a reader ---- */

static void two_change_one_reads(void)
{
    uint64_t last = 0;

    if (current < 2) {
        change(1);
        change(1);
    } else {
        read_all(&last);
        read_all(&last);
    }
    finished();
}

/* Runs that went wrong, with this mistake, where the first element should come to `sum`. */
static int faults(void (*body)(void), int preemptions, enum mistake with, uint64_t sum)
{
    mistake = with;
    expected = sum;
    n_faults = 0;
    walk(reset, body, 3, preemptions);
    check_run();
    ck_assert_uint_gt(n_runs, 100);
    return n_faults;
}

START_TEST(changes_are_whole_and_none_is_lost)
{
    n_elements = 2;
    flags = 0;
    ck_assert_int_eq(faults(two_change_one_reads, 3, NONE, 4), 0);
    ck_assert_int_gt(faults(two_change_one_reads, 3, READS_ONCE, 4), 0);
    ck_assert_int_gt(faults(two_change_one_reads, 3, FORCES_CHANGE, 4), 0);
}
END_TEST

/* ---- what readreset takes away, beside changes ---- */

/* Take 1; the whole state where that does not fit. */
static void take(void)
{
    uint64_t ctl = fm_t_state_load(&state);
    int rc;

    do {
        rc = fm_t_state_add(&state, &ctl, 1);
    } while (rc == 0);
    if (rc < 0) {
        change(1);
    }
}

static void two_take_one_changes(void)
{
    if (current < 2) {
        take();
        take();
    } else {
        change(10);
    }
    finished();
}

START_TEST(nothing_is_taken_twice)
{
    n_elements = 1;
    flags = FM_T_STATE_RUNNING;
    ck_assert_int_eq(faults(two_take_one_changes, 3, NONE, 14), 0);
    ck_assert_int_gt(faults(two_take_one_changes, 3, FORCES_CHANGE, 14), 0);
    /* One can be taken, then it does not fit any more. */
    flags = FM_T_STATE_RUNNING | (uint64_t)(UINT32_MAX - 1) << FM_T_STATE_SINCE;
    ck_assert_int_eq(faults(two_take_one_changes, 3, NONE, (uint64_t)UINT32_MAX - 1 + 14), 0);
}
END_TEST

/* ---- one of two starts it ---- */

static void start(void)
{
    struct fm_t_state_change c = fm_t_state_change_begin(&state);

    do {
        if (fm_t_state_is_running(c.from)) {
            fm_t_state_give_up(&state, &c);
            finished();
            return;
        }
        atomic_store_explicit(fm_t_state_element(&state, c.copy, 0),
                              fm_t_state_of(&state, c.from, 0) + 1, memory_order_relaxed);
    } while (!fm_t_state_change_end(&state, &c, FM_T_STATE_RUNNING) && mistake != FORCES_CHANGE);
    n_started++;
    n_faults += n_started > 1;
    finished();
}

START_TEST(one_of_them_starts)
{
    n_elements = 1;
    flags = 0;
    ck_assert_int_eq(faults(start, 3, NONE, 1), 0);
    ck_assert_int_gt(faults(start, 3, FORCES_CHANGE, 1), 0);
}
END_TEST

/* ---- fewer copies than changes ---- */

START_TEST(changes_wait_for_a_copy)
{
    n_elements = 2;
    flags = claim(1) | claim(3); /* interrupted changes hold these */
    ck_assert_int_eq(faults(two_change_one_reads, 2, NONE, 4), 0);
}
END_TEST

/* ---- a touch ---- */

static void touch_beside_changes(void)
{
    uint64_t ctl;

    if (current == 0) {
        change(1);
        change(1);
    } else {
        do {
            ctl = fm_t_state_load(&state);
        } while (!fm_t_state_touch(&state, ctl));
    }
    finished();
}

START_TEST(a_touch_loses_no_change)
{
    n_elements = 1;
    flags = 0;
    ck_assert_int_eq(faults(touch_beside_changes, 4, NONE, 2), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mpit_state");
    TCase *tc = tcase_create("mpit_state");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, changes_are_whole_and_none_is_lost);
    tcase_add_test(tc, nothing_is_taken_twice);
    tcase_add_test(tc, one_of_them_starts);
    tcase_add_test(tc, changes_wait_for_a_copy);
    tcase_add_test(tc, a_touch_loses_no_change);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
