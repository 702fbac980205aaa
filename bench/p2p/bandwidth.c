/* SPDX-License-Identifier: BSD-3-Clause */
/* A window of messages in flight from rank 0 to rank 1 (one way), or both ways at once, for the
 * sizes given; MB are 10^6 bytes. */
#include "../harness/bench.h"

enum { N_BATCHES = 15, WINDOW = 32 };

static double measure(char *to, char *from, int len, int rank, int both)
{
    MPI_Request requests[2 * WINDOW];
    double samples[N_BATCHES];
    int rounds = len <= 4096 ? 100 : len <= 65536 ? 20 : 2;

    for (int b = -2; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int r = 0; r < rounds; r++) {
            int n = 0;

            for (int i = 0; i < WINDOW; i++) {
                if (rank == 1 || both) {
                    MPI_Irecv(from + (size_t)i * (size_t)len, len, MPI_BYTE, 1 - rank, 1,
                              MPI_COMM_WORLD, &requests[n++]);
                }
            }
            for (int i = 0; i < WINDOW; i++) {
                if (rank == 0 || both) {
                    MPI_Isend(to + (size_t)i * (size_t)len, len, MPI_BYTE, 1 - rank, 1,
                              MPI_COMM_WORLD, &requests[n++]);
                }
            }
            MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
            if (rank == 1) {
                MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            } else {
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        }
        if (b >= 0) {
            samples[b] = (now_ns() - began) / rounds / WINDOW;
        }
    }
    return 1e3 * (both ? 2 : 1) * len / quiet(samples, N_BATCHES);
}

int main(int argc, char **argv)
{
    static const int usual[] = {64, 1024, 8192, 65536, 262144, 1 << 20, 4 << 20};
    int rank, n = argc > 1 ? argc - 1 : (int)(sizeof(usual) / sizeof(usual[0]));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (int i = 0; i < n && rank < 2; i++) {
        int len = argc > 1 ? atoi(argv[i + 1]) : usual[i];
        size_t room = (size_t)len * WINDOW;
        char *to = aligned_alloc(4096, (room + 4095) & ~(size_t)4095);
        char *from = aligned_alloc(4096, (room + 4095) & ~(size_t)4095);

        memset(to, 1, room);
        memset(from, 2, room);
        for (int both = 0; both < 2; both++) {
            double rate;

            glance(rank, BEFORE);
            rate = measure(to, from, len, rank, both);
            glance(rank, AFTER);
            if (rank == 0) {
                report(both ? "bidirectional" : "bandwidth", len, rate, "MB/s");
            }
        }
        free(to);
        free(from);
    }
    MPI_Finalize();
    return 0;
}
