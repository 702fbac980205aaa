/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a ping-pong costs with other entries in front: DEPTH posted receives, or unexpected
 * messages, with other tags, that were there first.
 */
#include "../harness/bench.h"

enum { N_BATCHES = 11, N = 500, DEEPEST = 16384 };

static double pingpong(int rank)
{
    double samples[N_BATCHES];

    pingpong_ns(rank, N);
    for (int b = 0; b < N_BATCHES; b++) {
        samples[b] = pingpong_ns(rank, N);
    }
    return quiet(samples, N_BATCHES);
}

int main(int argc, char **argv)
{
    static MPI_Request requests[DEEPEST], sends[DEEPEST];
    static char bytes[DEEPEST];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (int depth = 0; depth <= DEEPEST && rank < 2; depth = depth ? depth * 4 : 16) {
        double posted, unexpected;
        int there = 0;

        for (int i = 0; i < depth; i++) {
            MPI_Irecv(&bytes[i], 1, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD, &requests[i]);
        }
        posted = pingpong(rank);
        for (int i = 0; i < depth; i++) {
            MPI_Send(&bytes[i], 1, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD);
        }
        MPI_Waitall(depth, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < depth; i++) {
            MPI_Isend(&bytes[i], 1, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD, &sends[i]);
        }
        while (depth > 0 && !there) {
            MPI_Iprobe(1 - rank, 100 + depth - 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        }
        unexpected = pingpong(rank);
        for (int i = 0; i < depth; i++) {
            MPI_Recv(&bytes[i], 1, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Waitall(depth, sends, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            report("depth_posted", depth, posted, "ns");
            report("depth_unexpected", depth, unexpected, "ns");
        }
    }
    MPI_Finalize();
    return 0;
}
