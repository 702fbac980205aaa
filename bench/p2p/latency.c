/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong of two ranks: half a round trip, for the sizes given (default 0 B to 4 MiB). */
#include "../harness/bench.h"

enum { N_BATCHES = 21 };

static double measure(char *buf, int len, int rank)
{
    double samples[N_BATCHES];
    int n = len <= 1024 ? 4000 : len <= 65536 ? 500 : 20;

    for (int b = -2; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int i = 0; i < n; i++) {
            if (rank == 0) {
                MPI_Send(buf, len, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
                MPI_Recv(buf, len, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (rank == 1) {
                MPI_Recv(buf, len, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buf, len, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
            }
        }
        if (b >= 0) {
            samples[b] = (now_ns() - began) / n / 2;
        }
    }
    return quiet(samples, N_BATCHES);
}

int main(int argc, char **argv)
{
    static const int usual[] = {0, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20};
    int rank, n = argc > 1 ? argc - 1 : (int)(sizeof(usual) / sizeof(usual[0]));
    char *buf;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (int i = 0; i < n; i++) {
        int len = argc > 1 ? atoi(argv[i + 1]) : usual[i];
        double ns;

        buf = aligned_alloc(4096, (size_t)(len + 4096) & ~(size_t)4095);
        memset(buf, 1, (size_t)len);
        glance(rank, BEFORE);
        ns = measure(buf, len, rank);
        glance(rank, AFTER);
        if (rank == 0) {
            report("latency", len, ns, "ns");
        }
        free(buf);
    }
    MPI_Finalize();
    return 0;
}
