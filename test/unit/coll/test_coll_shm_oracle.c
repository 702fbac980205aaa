/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeps and wake-ups in collectives through shared memory, call by call. Two nodes in one process:
 * node 0 waits, and node 1 makes its call where the test wants it: while node 0 gives the processor
 * away, between its announcement and its last poll, or in its sleep.
 */
#include <poll.h>
#include <sched.h>

#include "core/coll/coll.h"
#include "core/coll/coll_shm.h"
#include "core/dtype/op.h"
#include "core/p2p/progress_vars.h"
#include "support/oracle_row.h"
#include "unit/p2p/p2p_net.h"

enum { CALLS = 300, MAX_SLEEPS = 5 };

static void (*other)(void); /* what node 1 has still to do */
static enum { IN_YIELD, IN_ARM, IN_SLEEP } place;
static uint64_t n_yields, n_arms, n_sleeps;
static uint64_t n_announced, n_wakeups; /* in the calls before */
static uint64_t at;                     /* do it when the place is come to so often */
static char *counters;
static struct fm_coll_shm *shms[2];

static void come_to(int where, uint64_t n)
{
    void (*todo)(void) = other;

    if (todo && (int)place == where && n == at) {
        other = NULL;
        todo();
    }
}

static void same(const char *name, uint64_t should)
{
    ORACLE_ROW(&fm_coll_shm_vars, counters, name, 0, ==, should);
}

/* ---- in place of libc's, and of the transport's ---- */

int sched_yield(void)
{
    come_to(IN_YIELD, ++n_yields);
    return 0;
}

int ppoll(struct pollfd *fds, nfds_t n_fds, const struct timespec *t, const sigset_t *mask)
{
    come_to(IN_SLEEP, ++n_sleeps);
    return 0;
}

static struct fm_transport_ops ops;

static int arm(struct fm_transport *tp, struct fm_sleep *out_sleep)
{
    *out_sleep = (struct fm_sleep){.fd = -1};
    same("coll_shm_sleeps", n_announced + n_arms + 1);
    come_to(IN_ARM, ++n_arms);
    return 0;
}

/* ---- two nodes ---- */

static bool is_near(void *ctx, int proc)
{
    return true;
}

static void find_node(int k)
{
    shms[k] = NULL;
    ck_assert_int_eq(fm_coll_shm_find(net.comm[k], true, &shms[k]), 0);
    ck_assert_ptr_nonnull(shms[k]);
}

static void find_other(void)
{
    find_node(1);
}

static void begin(void (*todo)(void), int where, uint64_t n)
{
    n_yields = n_arms = n_sleeps = 0;
    other = todo;
    place = where;
    at = n;
}

static void setup(void)
{
    ck_assert_int_eq(fm_dtype_init(), 0);
    ck_assert_int_eq(fm_op_init(NULL), 0);
    counters = calloc(1, fm_coll_shm_vars.block_len);
    for (int i = 0; i < fm_coll_shm_vars.n_cvars; i++) {
        *(uint64_t *)(void *)(counters + fm_coll_shm_vars.cvars[i].at) =
            (uint64_t)fm_coll_shm_vars.cvars[i].def;
    }
    fm_coll_shm_init(counters);
    net_start(2, NULL);
    ops = *net.tp[0]->ops;
    ops.arm = arm;
    for (int k = 0; k < 2; k++) {
        struct fm_progress_counters *w = net.ch[k]->own_counters[2];

        net.ch[k]->is_near = is_near;
        net.ch[k]->n_local = 1000; /* more than processors, so that waits yield */
        net.tp[k]->ops = &ops;
        w->spin_us = 0;
        w->yield = 1;
    }
    n_announced = n_wakeups = 0;
    begin(find_other, IN_YIELD, 1);
    find_node(0);
}

static void teardown(void)
{
    other = NULL;
    net_stop();
    fm_coll_shm_init(NULL);
    free(counters);
}

static uint64_t seed = 88172645463325252u;

static uint64_t random_below(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % n;
}

static void barrier(int k)
{
    struct fm_coll c = {.kind = FM_COLL_BARRIER, .comm = net.comm[k]};

    ck_assert_int_eq(fm_coll_shm_run(shms[k], &c, 0), 0);
}

static void barrier_of_other(void)
{
    barrier(1);
}

/* A rank that announces its sleep arms its transports next; the rank that ends the call wakes
   it. */
START_TEST(each_sleep_and_wake_up_is_counted)
{
    same("coll_shm_made", 2); /* the two share a process, and what it counts */
    same("coll_shm_live", 2);
    same("coll_shm_refused", 0);
    for (int k = 0; k < CALLS; k++) {
        int where = (int)random_below(3);

        begin(barrier_of_other, where, where == IN_YIELD ? 1 : 1 + random_below(MAX_SLEEPS));
        barrier(0);
        ck_assert_ptr_null(other);
        n_announced += n_arms;
        n_wakeups += where != IN_YIELD;
        ck_assert_uint_eq(n_arms, where == IN_YIELD ? 0 : at);
        ck_assert_uint_eq(n_sleeps, where == IN_YIELD ? 0 : where == IN_ARM ? at - 1 : at);
        same("coll_shm_sleeps", n_announced);
        same("coll_shm_wakeups", n_wakeups);
        net_settle(); /* the wake-up */
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coll_shm_oracle");
    TCase *tc = tcase_create("shm");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, each_sleep_and_wake_up_is_counted);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
