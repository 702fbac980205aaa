/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_THREAD_MULTIPLE: 8 B between as many threads of rank 0 and of rank 1; parameter: how many.
 * Each pair of threads plays ping-pong under a tag of its own; the streams share one tag. */
#include "../harness/bench.h"

#include <pthread.h>

enum { MOST = 4, N_BATCHES = 9, N_ROUNDS = 2000, LEN = 8 };

struct player {
    pthread_t thread;
    int rank, tag;
};

static void *ping_pong(void *arg)
{
    const struct player *p = arg;
    char buf[LEN] = {0};

    for (int i = 0; i < N_ROUNDS; i++) {
        if (p->rank == 0) {
            MPI_Send(buf, LEN, MPI_BYTE, 1, p->tag, MPI_COMM_WORLD);
        }
        MPI_Recv(buf, LEN, MPI_BYTE, 1 - p->rank, p->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (p->rank == 1) {
            MPI_Send(buf, LEN, MPI_BYTE, 0, p->tag, MPI_COMM_WORLD);
        }
    }
    return NULL;
}

static void *stream(void *arg)
{
    const struct player *p = arg;
    char buf[LEN] = {0};

    for (int i = 0; i < N_ROUNDS; i++) {
        if (p->rank == 0) {
            MPI_Send(buf, LEN, MPI_BYTE, 1, MOST, MPI_COMM_WORLD);
        } else {
            MPI_Recv(buf, LEN, MPI_BYTE, 0, MOST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    return NULL;
}

/* Nanoseconds for the rounds of all n threads, by the number of rounds. */
static double run(void *(*play)(void *), int n, int rank)
{
    struct player players[MOST];
    double samples[N_BATCHES];

    for (int b = -1; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int k = 0; k < n; k++) {
            players[k].rank = rank;
            players[k].tag = k;
            pthread_create(&players[k].thread, NULL, play, &players[k]);
        }
        for (int k = 0; k < n; k++) {
            pthread_join(players[k].thread, NULL);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (b >= 0) {
            samples[b] = (now_ns() - began) / N_ROUNDS / n;
        }
    }
    return quiet(samples, N_BATCHES);
}

int main(int argc, char **argv)
{
    int rank, provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (int n = 1; n <= MOST && provided == MPI_THREAD_MULTIPLE; n *= 2) {
        for (int k = 0; k < 2; k++) {
            double ns;

            glance(rank, BEFORE);
            ns = run(k == 0 ? ping_pong : stream, n, rank);
            glance(rank, AFTER);
            if (rank == 0) {
                report(k == 0 ? "threads_latency" : "threads_rate", n, k == 0 ? ns / 2 : 1e3 / ns,
                       k == 0 ? "ns" : "M/s");
            }
        }
    }
    MPI_Finalize();
    return 0;
}
