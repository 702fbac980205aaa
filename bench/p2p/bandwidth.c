/* SPDX-License-Identifier: BSD-3-Clause */
/* A window of messages in flight from rank 0 to rank 1 (one way), or both ways at once; MB are 10^6
 * bytes. */
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
    static const int lengths[] = {64, 1024, 8192, 65536, 262144, 1 << 20, 4 << 20};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) && rank < 2; i++) {
        size_t room = (size_t)lengths[i] * WINDOW;
        char *to = aligned_alloc(4096, (room + 4095) & ~(size_t)4095);
        char *from = aligned_alloc(4096, (room + 4095) & ~(size_t)4095);
        double one, two;

        memset(to, 1, room);
        memset(from, 2, room);
        one = measure(to, from, lengths[i], rank, 0);
        two = measure(to, from, lengths[i], rank, 1);
        if (rank == 0) {
            report("bandwidth", lengths[i], one, "MB/s");
            report("bidirectional", lengths[i], two, "MB/s");
        }
        free(to);
        free(from);
    }
    MPI_Finalize();
    return 0;
}
