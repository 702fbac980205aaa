/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages a second from rank 0 to rank 1: windows of 64 nonblocking ones, and blocking ones back
 * to back. */
#include "../harness/bench.h"

enum { N_BATCHES = 21, WINDOW = 64, ROUNDS = 300 };

static double windows(int len, int rank)
{
    static char buf[WINDOW][1024];
    MPI_Request requests[WINDOW];
    double samples[N_BATCHES];

    for (int b = -2; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int r = 0; r < ROUNDS; r++) {
            for (int i = 0; i < WINDOW; i++) {
                if (rank == 0) {
                    MPI_Isend(buf[i], len, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
                } else {
                    MPI_Irecv(buf[i], len, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
                }
            }
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        }
        if (rank == 1) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (b >= 0) {
            samples[b] = (now_ns() - began) / ROUNDS / WINDOW;
        }
    }
    return 1e3 / quiet(samples, N_BATCHES);
}

static double stream(int len, int rank)
{
    static char buf[1024];
    double samples[N_BATCHES];
    int n = ROUNDS * WINDOW;

    for (int b = -2; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int i = 0; i < n; i++) {
            if (rank == 0) {
                MPI_Send(buf, len, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            } else {
                MPI_Recv(buf, len, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
        if (rank == 1) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (b >= 0) {
            samples[b] = (now_ns() - began) / n;
        }
    }
    return 1e3 / quiet(samples, N_BATCHES);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (int k = 0; k < 2 && rank < 2; k++) {
        double rate;

        glance(rank, BEFORE);
        rate = k == 0 ? windows(8, rank) : stream(8, rank);
        glance(rank, AFTER);
        if (rank == 0) {
            report(k == 0 ? "rate_windowed" : "rate_blocking", 8, rate, "M/s");
        }
    }
    MPI_Finalize();
    return 0;
}
