/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: threads that have gone to sleep in a receive, a probe and a wait are woken
 * by a thread of the same process that sends to it. Where the library has a control variable for
 * the length of a sleep it is set to its highest value, so that a wake-up that gets lost shows as a
 * test that does not end in time.
 */
#include "../knob.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { N_THREADS = 3, N_ROUNDS = 20 };

static atomic_int n_ready[N_ROUNDS];

static void receive(int k, int round)
{
    int value = -1, flag;
    MPI_Message m;
    MPI_Request r;
    MPI_Status st;

    if (k == 0) {
        OK(MPI_Recv(&value, 1, MPI_INT, 0, k, MPI_COMM_SELF, &st));
    } else if (k == 1) {
        OK(MPI_Mprobe(0, k, MPI_COMM_SELF, &m, &st));
        OK(MPI_Mrecv(&value, 1, MPI_INT, &m, &st));
    } else {
        OK(MPI_Irecv(&value, 1, MPI_INT, 0, k, MPI_COMM_SELF, &r));
        OK(MPI_Waitany(1, &r, &flag, &st));
    }
    CHECK_EQ(value, 100 * k + round);
}

static void *run(void *arg)
{
    int k = (int)(intptr_t)arg;

    for (int round = 0; round < N_ROUNDS; round++) {
        atomic_fetch_add(&n_ready[round], 1);
        receive(k, round);
    }
    return NULL;
}

/* How often a thread went to sleep. */
static struct gauge sleeps;

/* Until all threads sleep, as far as can be told. */
static void let_them_sleep(int round)
{
    unsigned long long before;

    while (atomic_load(&n_ready[round]) < N_THREADS) {
        sched_yield();
    }
    if (!gauge_is_there(&sleeps)) {
        return;
    }
    before = gauge_read(&sleeps);
    for (int i = 0; i < 20000 && gauge_read(&sleeps) < before + N_THREADS; i++) {
        sched_yield();
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    int provided, rank;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (provided == MPI_THREAD_MULTIPLE) {
        OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
        knob("progress_sleep", 60000000);
        sleeps = gauge_open("progress_sleeps");
        for (int k = 0; k < N_THREADS; k++) {
            CHECK(pthread_create(&threads[k], NULL, run, (void *)(intptr_t)k) == 0);
        }
        for (int round = 0; round < N_ROUNDS; round++) {
            let_them_sleep(round);
            for (int k = 0; k < N_THREADS; k++) {
                int value = 100 * k + round;

                OK(MPI_Send(&value, 1, MPI_INT, 0, k, MPI_COMM_SELF));
            }
        }
        for (int k = 0; k < N_THREADS; k++) {
            pthread_join(threads[k], NULL);
        }
        gauge_close(&sleeps);
        OK(MPI_T_finalize());
    }
    OK(MPI_Finalize());
    return 0;
}
