/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time and steps of waits, to the nanosecond: the clock stands still but for what this program adds
 * where the engine hands the processor away, sleeps, or calls a hook.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/p2p/progress_vars.h"
#include "p2p_net.h"
#include "support/oracle_row.h"

enum { YIELD_NS = 7, SLEEP_NS = 1000000, DELAY_NS = 4000 };

static bool is_mine; /* the clock is this program's */
static uint64_t now_ns, n_looks;
static uint64_t n_yields, n_polls, n_naps, nap_ns, n_slept, n_woke;
static uint64_t run_ns, delay_ns;      /* what schedstat says */
static uint64_t first_sleep_ns;        /* when ppoll() was called first */
static struct fm_progress_counters *w; /* of node 1, which waits */

static void state_is(enum fm_progress_state state)
{
    ORACLE_ROW(&fm_progress_vars, w, "progress_state", 0, ==, state);
}

/* ---- in place of libc's ---- */

int clock_gettime(clockid_t id, struct timespec *t)
{
    if (!is_mine || id != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, id, t);
    }
    n_looks++;
    *t = (struct timespec){(time_t)(now_ns / 1000000000u), (long)(now_ns % 1000000000u)};
    return 0;
}

int sched_yield(void)
{
    n_yields++;
    now_ns += YIELD_NS;
    state_is(FM_PROGRESS_YIELD);
    return 0;
}

int ppoll(struct pollfd *fds, nfds_t n_fds, const struct timespec *t, const sigset_t *mask)
{
    first_sleep_ns = first_sleep_ns ? first_sleep_ns : now_ns;
    n_polls++;
    now_ns += SLEEP_NS;
    delay_ns += DELAY_NS;
    state_is(FM_PROGRESS_SLEEP);
    return 0;
}

/* The only file that is read here is schedstat. */
ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
    return snprintf(buf, len, "%llu %llu 17\n", (unsigned long long)(run_ns += 999),
                    (unsigned long long)delay_ns);
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *rest);

int __wrap_nanosleep(const struct timespec *t, struct timespec *rest)
{
    n_naps++;
    nap_ns += (uint64_t)t->tv_nsec;
    now_ns += (uint64_t)t->tv_nsec;
    state_is(FM_PROGRESS_SLEEP);
    return 0;
}

void __wrap_fathom_mpit_emit(const struct fathom_event *event, const void *block,
                             const void *object, const uint64_t *values);

void __wrap_fathom_mpit_emit(const struct fathom_event *event, const void *block,
                             const void *object, const uint64_t *values)
{
    if (strcmp(event->name, "progress_slept_event") == 0) {
        n_slept++;
        state_is(FM_PROGRESS_SLEEP);
    } else if (strcmp(event->name, "progress_woke_event") == 0) {
        n_woke++;
        state_is(FM_PROGRESS_YIELD);
        ck_assert_uint_eq(values[0], n_naps ? n_naps * 1000 : SLEEP_NS);
    }
}

/* ---- a node that waits ---- */

static struct fm_transport_ops ops;
static int arm_rc, n_arms;

static int arm(struct fm_transport *tp, struct fm_sleep *out_sleep)
{
    n_arms++;
    *out_sleep = (struct fm_sleep){.fd = -1};
    return arm_rc;
}

static void setup(void)
{
    net_start(2, NULL);
    ops = *net.tp[1]->ops;
    ops.arm = arm;
    net.tp[1]->ops = &ops;
    w = net.ch[1]->own_counters[2];
    w->on_slept = w->on_woke = 1;
    w->spin_us = 0;
    w->yield = 3;
    fm_root.call = "MPI_Recv";
    arm_rc = n_arms = 0;
    now_ns = 1000000000u;
    run_ns = delay_ns = first_sleep_ns = 0;
    n_looks = n_yields = n_polls = n_naps = nap_ns = n_slept = n_woke = 0;
    is_mine = true;
}

static void teardown(void)
{
    is_mine = false;
    fm_root.call = NULL;
    net_stop();
}

static void same(const char *name, int item, uint64_t should)
{
    ORACLE_ROW(&fm_progress_vars, w, name, item, ==, should);
}

/* Over when this has been counted so often. */
struct goal {
    const uint64_t *n;
    uint64_t until;
};

static bool is_reached(void *ctx)
{
    const struct goal *g = ctx;

    return *g->n >= g->until;
}

/* One wait, which was slow and took this long, of it `slept`. */
static void wait_and_compare(struct goal goal, uint64_t took, uint64_t slept)
{
    unsigned bin = 0;

    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &goal), 0);
    for (uint64_t x = took; x; x >>= 1) {
        bin++;
    }
    same("progress_waits", 0, 1);
    same("progress_slow_waits", 0, 1);
    same("progress_time_blocked", 0, took);
    same("progress_blocked_recv", 0, took);
    same("progress_blocked_other", 0, 0);
    same("progress_wait_times", (int)bin, 1);
    same("progress_yields", 0, n_yields);
    same("progress_sleeps", 0, n_polls + n_naps);
    same("progress_time_slept", 0, slept);
    same("progress_time_delayed", 0, n_polls * DELAY_NS);
    ck_assert_uint_eq(n_slept, n_polls + n_naps);
    ck_assert_uint_eq(n_woke, n_slept);
    state_is(FM_PROGRESS_OUTSIDE);
}

START_TEST(a_wait_that_sleeps)
{
    wait_and_compare((struct goal){&n_polls, 2}, 2 * SLEEP_NS, 2 * SLEEP_NS);
    ck_assert_uint_eq(n_yields, 0);
    same("progress_gone_checks", 0, 1); /* the next is due in 50 ms */
    same("progress_stalls", 0, 0);
}
END_TEST

START_TEST(a_wait_that_stalls)
{
    w->stall_ms = 2;
    wait_and_compare((struct goal){&n_polls, 5}, 5 * SLEEP_NS, 5 * SLEEP_NS);
    same("progress_stalls", 0, 1);
}
END_TEST

/* Sixteen attempts to sleep are in vain; then come naps, of a microsecond more each. */
START_TEST(a_wait_that_naps)
{
    arm_rc = FM_AGAIN;
    wait_and_compare((struct goal){&n_naps, 3}, 6000, 6000);
    ck_assert_uint_eq(nap_ns, 6000);
    ck_assert_int_eq(n_arms, 16 + 3);
}
END_TEST

/* More ranks than processors: the processor is given away at once. */
START_TEST(a_wait_among_many)
{
    net.ch[1]->n_local = 1000;
    w->yield = 20;
    wait_and_compare((struct goal){&n_yields, 5}, 5 * YIELD_NS, 0);
    same("progress_yields", 0, 5);
}
END_TEST

START_TEST(a_wait_among_many_that_sleeps)
{
    net.ch[1]->n_local = 1000;
    /* 3 yields are in vain, and so are 3 more before it sleeps */
    wait_and_compare((struct goal){&n_polls, 1}, 6 * YIELD_NS + SLEEP_NS, SLEEP_NS);
}
END_TEST

/* ---- what giving the processor away costs ---- */

static int take_a_microsecond(struct fm_hook *hook)
{
    now_ns += 1000;
    return 0;
}

/* Rounds take a microsecond each: how long does a wait poll before it sleeps? */
static uint64_t polled_before_sleep(uint64_t cost_ns)
{
    struct goal goal = {&n_polls, n_polls + 1};
    struct fm_hook hook = {.fn = take_a_microsecond};
    uint64_t since = now_ns;

    w->sleep_cost_ns = cost_ns;
    first_sleep_ns = 0;
    fm_hook_add(net.ch[1], &hook);
    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &goal), 0);
    fm_hook_remove(net.ch[1], &hook);
    return first_sleep_ns - since;
}

/* Give or take the rounds between two readings of the clock. */
static void about(uint64_t ns, uint64_t should)
{
    ck_assert_uint_ge(ns, should);
    ck_assert_uint_le(ns, should + 40000);
}

START_TEST(a_wait_polls_for_what_sleeping_costs)
{
    w->spin_us = 50;
    w->spin_max_us = 2000;
    about(polled_before_sleep(0), 50000);
    about(polled_before_sleep(700000), 700000);
    about(polled_before_sleep(9000000), 2000000);
    ck_assert_uint_eq(n_yields, 0);
}
END_TEST

/* Long sleeps cost what the kernel says; a short one costs all of its length. */
START_TEST(the_cost_of_sleeping_is_learned)
{
    struct goal goal = {&n_polls, 1};

    w->short_sleep_us = SLEEP_NS / 1000;
    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &goal), 0);
    same("progress_sleep_cost", 0, DELAY_NS / 4);
    w->sleep_cost_ns = 0;
    w->short_sleep_us = SLEEP_NS / 1000 + 1;
    goal.until++;
    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &goal), 0);
    same("progress_sleep_cost", 0, SLEEP_NS / 4);
    w->spin_max_us = 0;
    w->short_sleep_us = 0;
    goal.until++;
    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &goal), 0);
    same("progress_sleep_cost", 0, SLEEP_NS / 4 - (SLEEP_NS / 4 - DELAY_NS) / 16);
}
END_TEST

START_TEST(one_yield_in_sixteen_is_timed)
{
    net.ch[1]->n_local = 1000;
    w->yield = 100;
    same("progress_yield_cost", 0, 0);
    wait_and_compare((struct goal){&n_yields, 15}, 15 * YIELD_NS, 0);
    same("progress_yield_cost", 0, 0);
    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &(struct goal){&n_yields, 16}), 0);
    same("progress_yield_cost", 0, YIELD_NS / 4);
}
END_TEST

START_TEST(a_wait_that_is_over)
{
    struct goal goal = {&n_yields, 0};

    n_looks = 0; /* Check looks, too */
    ck_assert_int_eq(fm_wait_until(net.ch[1], is_reached, &goal), 0);
    same("progress_waits", 0, 1);
    same("progress_slow_waits", 0, 0);
    same("progress_time_blocked", 0, 0);
    ck_assert_uint_eq(n_looks, 0);
}
END_TEST

/* ---- time in rounds ---- */

static uint64_t n_rounds;

/* Round n takes n ns. */
static int hook_fn(struct fm_hook *hook)
{
    now_ns += ++n_rounds;
    return 0;
}

static void rounds(int n)
{
    for (; n > 0; n--) {
        ck_assert_int_eq(fm_progress(net.ch[1]), 0);
        now_ns += 1000000; /* between rounds: does not count */
    }
}

START_TEST(rounds_are_timed_while_somebody_asks)
{
    struct fm_hook hook = {.fn = hook_fn};

    n_looks = 0;
    fm_hook_add(net.ch[1], &hook);
    rounds(2 * FM_TIMED_ROUNDS); /* what is counted does not depend on who asks */
    same("progress_time", 0, 0);
    ck_assert_uint_eq(n_looks, 0);
    *(uint64_t *)((char *)w + oracle_row(&fm_progress_vars, "progress_time")->on_at) = 1;
    n_rounds = 0;
    rounds(3 * FM_TIMED_ROUNDS - 1);
    ck_assert_uint_eq(n_looks, 4);
    same("progress_time", 0, FM_TIMED_ROUNDS * (uint64_t)(1 + 2) * FM_TIMED_ROUNDS);
    rounds(1);
    ck_assert_uint_eq(n_looks, 6);
    same("progress_time", 0, FM_TIMED_ROUNDS * (uint64_t)(1 + 2 + 3) * FM_TIMED_ROUNDS);
    *(uint64_t *)((char *)w + oracle_row(&fm_progress_vars, "progress_time")->on_at) = 0;
    rounds(2 * FM_TIMED_ROUNDS);
    ck_assert_uint_eq(n_looks, 6);
    same("progress_time", 0, FM_TIMED_ROUNDS * (uint64_t)(1 + 2 + 3) * FM_TIMED_ROUNDS);
    fm_hook_remove(net.ch[1], &hook);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_waits");
    TCase *tc = tcase_create("waits");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_wait_that_sleeps);
    tcase_add_test(tc, a_wait_that_stalls);
    tcase_add_test(tc, a_wait_that_naps);
    tcase_add_test(tc, a_wait_among_many);
    tcase_add_test(tc, a_wait_among_many_that_sleeps);
    tcase_add_test(tc, a_wait_polls_for_what_sleeping_costs);
    tcase_add_test(tc, the_cost_of_sleeping_is_learned);
    tcase_add_test(tc, one_yield_in_sixteen_is_timed);
    tcase_add_test(tc, a_wait_that_is_over);
    tcase_add_test(tc, rounds_are_timed_while_somebody_asks);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
