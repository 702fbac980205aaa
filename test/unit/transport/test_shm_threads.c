/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Races of the shared-memory transport: each thread is a process of a job, so that ThreadSanitizer
 * sees both ends of every inbox and fast ring. An argument multiplies the rounds.
 */
#include "shm_side.h"

#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/race.h"
#include "support/suite.h"
#include "util/sync.h"

#define MAX_THREADS 4

enum { WAKE_AUTO, WAKE_FENCE, WAKE_SETTLE };

struct job {
    int n;
    uint64_t n_messages; /* that each sends to each */
    bool is_ping;        /* one message, then its answer, asleep in between */
    bool has_company;    /* they sleep in poll(2) */
    pthread_barrier_t barrier;
    char address[MAX_THREADS][FM_ADDRESS_MAX];
    struct side side[MAX_THREADS];
};

static struct job job;
static uint64_t factor = 1;

static void connect_all(struct side *s)
{
    size_t len;

    if (side_open(s) < 0) {
        abort();
    }
    s->tp->ops->address(s->tp, job.address[s->self], &len);
    pthread_barrier_wait(&job.barrier);
    for (int k = 0; k < s->n; k++) {
        if (k != s->self && side_connect(s, k, job.address[k]) < 0) {
            abort();
        }
    }
}

/* All endpoints end before any transport does: in one process they share its mapping. */
static void disconnect_all(struct side *s)
{
    pthread_barrier_wait(&job.barrier);
    for (int k = 0; k < s->n; k++) {
        if (s->ep[k]) {
            s->tp->ops->disconnect(s->ep[k]);
        }
    }
    pthread_barrier_wait(&job.barrier);
    side_close(s);
}

static bool has_all(const struct side *s)
{
    for (int k = 0; k < s->n; k++) {
        if (k != s->self && s->seen[k] < job.n_messages) {
            return false;
        }
    }
    return true;
}

static void wait_a_bit(struct side *s)
{
    if (fm_transport_poll(s->tp) > 0) {
        return;
    }
    for (uint64_t k = side_random(s, 40); k > 0; k--) { /* meet the sender at every point */
        fm_cpu_relax();
    }
    if (side_random(s, 4) == 0) {
        side_sleep(s);
    }
}

/* Everybody to everybody, in bursts, sleeping when there is nothing. */
static void crowd(struct side *s)
{
    uint64_t n_left = job.n_messages * (uint64_t)(s->n - 1);

    while (n_left) {
        int to = (int)side_random(s, (uint64_t)s->n);
        size_t len = 16 + side_random(s, side_random(s, 16) ? 60 : 6000);

        if (to == s->self || s->sent[to] == job.n_messages) {
            continue;
        }
        n_left -= side_send(s, to, len) == 0;
        if (side_random(s, 8) == 0) {
            fm_transport_poll(s->tp);
        }
    }
    while (!has_all(s)) {
        wait_a_bit(s);
    }
}

static void ping(struct side *s)
{
    int other = 1 - s->self;

    race_pin(s->self);
    for (uint64_t k = 0; k < job.n_messages; k++) {
        if (s->self == 0) {
            while (side_send(s, other, 16) != 0) {
                fm_transport_poll(s->tp);
            }
        }
        race_delay(&s->random);
        while (s->seen[other] <= k) {
            if (fm_transport_poll(s->tp) == 0) {
                side_sleep(s);
            }
        }
        if (s->self == 1) {
            while (side_send(s, other, 16) != 0) {
                fm_transport_poll(s->tp);
            }
        }
    }
}

static void *thread(void *arg)
{
    struct side *s = arg;

    connect_all(s);
    if (job.is_ping) {
        ping(s);
    } else {
        crowd(s);
    }
    disconnect_all(s);
    return NULL;
}

static void run(int n, uint64_t n_messages, bool is_ping, uint64_t wake, uint64_t fast_rings)
{
    pthread_t threads[MAX_THREADS];

    job.n = n;
    job.n_messages = n_messages * factor;
    job.is_ping = is_ping;
    pthread_barrier_init(&job.barrier, NULL, (unsigned)n);
    for (int k = 0; k < n; k++) {
        side_init(&job.side[k], k, n);
        job.side[k].has_company = job.has_company;
        job.side[k].counters.wake = wake;
        job.side[k].counters.fast_rings = fast_rings;
        job.side[k].counters.fast_after = 5;
    }
    for (int k = 0; k < n; k++) {
        ck_assert_int_eq(pthread_create(&threads[k], NULL, thread, &job.side[k]), 0);
    }
    for (int k = 0; k < n; k++) {
        pthread_join(threads[k], NULL);
    }
    pthread_barrier_destroy(&job.barrier);
    for (int k = 0; k < n; k++) {
        ck_assert_uint_eq(job.side[k].n_wrong, 0);
        ck_assert_uint_eq(job.side[k].n_lost, 0);
        ck_assert(has_all(&job.side[k]));
    }
}

START_TEST(crowds_lose_nothing)
{
    run(_i < 3 ? 2 : 4, 3000, false, (uint64_t)_i % 3, 16);
}
END_TEST

/* One fast ring for three senders: inbox and fast ring side by side. */
START_TEST(crowds_share_the_ring)
{
    run(4, 2000, false, WAKE_AUTO, (uint64_t)_i);
}
END_TEST

START_TEST(no_wake_up_is_lost)
{
    uint64_t n_messages = RACE_ROUNDS(_i & 4 ? 5000 : 200000);

    job.has_company = _i & 4;
    run(2, n_messages, true, _i & 1 ? WAKE_SETTLE : WAKE_FENCE, _i & 2 ? 16 : 0);
    job.has_company = false;
    printf("wake %d: armed %llu times, %llu late\n", _i,
           (unsigned long long)(job.side[0].n_arms + job.side[1].n_arms),
           (unsigned long long)(job.side[0].n_late + job.side[1].n_late));
    /* How often depends on the load of the machine; without any sleep the test shows nothing. */
    ck_assert_uint_gt(job.side[0].n_arms + job.side[1].n_arms, 0);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("shm_threads");
    TCase *tc = tcase_create("races");

    factor = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, crowds_lose_nothing, 0, 6);
    tcase_add_loop_test(tc, crowds_share_the_ring, 0, 2);
    tcase_add_loop_test(tc, no_wake_up_is_lost, 0, 8);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
