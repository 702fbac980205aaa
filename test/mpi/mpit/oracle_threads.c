/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting behind another thread that polls: steps against the calls of sched_yield(2), time against
 * a clock that this program moves. The poller spins for as long as it takes, so all slow waits are
 * those behind it, one at a time: together they cannot last longer than the stretch.
 */
#include "../knob.h"
#include "oracle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#define SECOND    1000000000ull
#define JUMP      (30 * SECOND) /* shorter than the longest spin: the poller goes on */
#define FROM_LIBC __attribute__((visibility("default")))

enum { TRIES = 2000, WAITERS = 2 };

static atomic_ullong n_yields, ahead_ns;

FROM_LIBC int sched_yield(void)
{
    n_yields++;
    return (int)syscall(SYS_sched_yield);
}

FROM_LIBC int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);

    if (id == CLOCK_MONOTONIC) {
        t->tv_sec += (time_t)(ahead_ns / SECOND);
    }
    return rc;
}

static ull now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (ull)t.tv_sec * SECOND + (ull)t.tv_nsec;
}

static void *receive(void *tag)
{
    int got;

    OK(MPI_Recv(&got, 1, MPI_INT, 0, *(int *)tag, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQ(got, *(int *)tag);
    return NULL;
}

/* Has one of them waited behind the other while the clock jumped? */
static int wait_once(void)
{
    static int tags[WAITERS] = {1, 2};
    pthread_t threads[WAITERS];
    ull began, yields = n_yields, blocked, n_in_bins = 0;

    mark();
    began = now();
    for (int k = 0; k < WAITERS; k++) {
        CHECK_EQ(pthread_create(&threads[k], NULL, receive, &tags[k]), 0);
    }
    while (value("match_posted_length", 0) < WAITERS) {
        syscall(SYS_sched_yield);
    }
    ahead_ns += JUMP;
    for (int k = 0; k < WAITERS; k++) {
        OK(MPI_Send(&tags[k], 1, MPI_INT, 0, tags[k], MPI_COMM_SELF));
    }
    for (int k = 0; k < WAITERS; k++) {
        CHECK_EQ(pthread_join(threads[k], NULL), 0);
    }
    blocked = since("progress_time_blocked", 0);
    at_most("progress_time_blocked", now() - began);
    same("progress_blocked_recv", blocked);
    same("progress_yields", n_yields - yields);
    at_most("progress_waits", WAITERS);
    same("progress_sleeps", 0); /* of the poller only */
    for (int bin = 0; bin < ORACLE_ITEMS; bin++) {
        n_in_bins += since("progress_wait_times", bin);
    }
    same("progress_slow_waits", n_in_bins);
    return blocked >= JUMP;
}

int main(int argc, char **argv)
{
    int provided, n = 0;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    oracle_open();
    knob("progress_spin", 60000000);
    while (!wait_once()) {
        CHECK(++n < TRIES);
    }
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}
