/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads duplicate communicators at the same time, each a different one, blocking and not; the
   agreements cross in every order. Any number of ranks. */
#include "../check.h"

#include <pthread.h>

enum { THREADS = 4, EACH = 60 };

static MPI_Comm origins[THREADS];

static void *duplicate(void *arg)
{
    MPI_Comm origin = *(MPI_Comm *)arg, dups[EACH], one;
    MPI_Request reqs[EACH];
    int rank, size, sum;

    MPI_Comm_rank(origin, &rank);
    MPI_Comm_size(origin, &size);
    for (int i = 0; i < EACH; i++) {
        OK(MPI_Comm_idup(origin, &dups[i], &reqs[i]));
        if (i % 10 == 0) {
            OK(MPI_Comm_dup(origin, &one));
            OK(MPI_Comm_free(&one));
        }
    }
    OK(MPI_Waitall(EACH, reqs, MPI_STATUSES_IGNORE));
    for (int i = 0; i < EACH; i++) {
        OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, dups[i]));
        CHECK_EQ(sum, i * size);
        OK(MPI_Comm_free(&dups[i]));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &origins[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_create(&threads[i], NULL, duplicate, &origins[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        OK(MPI_Comm_free(&origins[i]));
    }
    MPI_Finalize();
    return 0;
}
