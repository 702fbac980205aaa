/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that use windows at the same time: each its own window, then all of them one, through
   locks of different targets, accumulates and requests. */
#include <pthread.h>

#include "ways.h"

enum { THREADS = 4, N = 60 };

static int rank, size;
static struct window own[THREADS], shared;

/* Each thread has the window with its number alone. */
static void *alone(void *arg)
{
    struct window *w = &own[(intptr_t)arg];
    long one = 1, was;

    for (int k = 0; k < N; k++) {
        int to = (rank + k) % size;

        OK(MPI_Win_lock(k % 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, w->win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, to, w->at[to], 1, MPI_LONG, MPI_SUM, w->win));
        OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, to, w->at[to] + 8, MPI_SUM, w->win));
        OK(MPI_Win_unlock(to, w->win));
    }
    return NULL;
}

/* All threads in one epoch of one window; each puts into places of its own. */
static void *together(void *arg)
{
    int t = (int)(intptr_t)arg;
    long one = 1, mine, got;
    MPI_Request r;

    for (int k = 0; k < N; k++) {
        int to = (rank + k + t) % size;
        MPI_Aint at = shared.at[to] + 64 + 8 * (rank * THREADS + t);

        mine = 1000 * t + k;
        OK(MPI_Put(&mine, 1, MPI_LONG, to, at, 1, MPI_LONG, shared.win));
        OK(MPI_Win_flush(to, shared.win));
        OK(MPI_Rget(&got, 1, MPI_LONG, to, at, 1, MPI_LONG, shared.win, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(got, mine);
        OK(MPI_Accumulate(&one, 1, MPI_LONG, to, shared.at[to], 1, MPI_LONG, MPI_SUM, shared.win));
    }
    return NULL;
}

static void run(void *(*fn)(void *))
{
    pthread_t threads[THREADS];

    for (intptr_t t = 0; t < THREADS; t++) {
        CHECK(pthread_create(&threads[t], NULL, fn, (void *)t) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK(pthread_join(threads[t], NULL) == 0);
    }
}

static long total(struct window *w, MPI_Aint at)
{
    long sum;

    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    sum = *(long *)(w->base + at);
    OK(MPI_Win_unlock(rank, w->win));
    OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("no MPI_THREAD_MULTIPLE\n");
        return 77;
    }
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int way = 0; way < N_WAYS; way++) {
        set_way(way);
        for (int t = 0; t < THREADS; t++) {
            own[t] = open_window(flavors[t % 2], 4096, MPI_COMM_WORLD);
        }
        shared = open_window(flavors[way % 2], 4096, MPI_COMM_WORLD);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        run(alone);
        OK(MPI_Win_lock_all(0, shared.win));
        run(together);
        OK(MPI_Win_unlock_all(shared.win));
        CHECK_EQ(total(&shared, 0), (long)N * THREADS * size);
        for (int t = 0; t < THREADS; t++) {
            CHECK_EQ(total(&own[t], 0), (long)N * size);
            CHECK_EQ(total(&own[t], 8), (long)N * size);
            close_window(&own[t]);
        }
        close_window(&shared);
    }
    OK(MPI_Finalize());
    OK(MPI_T_finalize());
    return 0;
}
