/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages that are not one run of bytes: half a round trip of 2 MiB in pieces with gaps of
 * the same length between them, in bytes per second (MB are 10^6 bytes) over the length of a
 * piece. to_pieces: only the receiver's buffer has gaps; from_pieces: only the sender's; between:
 * both. The parameter of `whole`, a message without gaps, is its length.
 */
#include "../harness/bench.h"

enum { N_BATCHES = 11, ROUNDS = 8, LEN = 2 << 20 };

static MPI_Datatype pieces_of(int len)
{
    MPI_Datatype t;

    MPI_Type_vector(LEN / len, len, 2 * len, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    return t;
}

static double measure(char *out, char *in, MPI_Datatype out_type, MPI_Datatype in_type, int rank)
{
    double samples[N_BATCHES];

    for (int b = -1; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int r = 0; r < ROUNDS; r++) {
            if (rank == 0) {
                MPI_Send(out, 1, out_type, 1, 1, MPI_COMM_WORLD);
            }
            MPI_Recv(in, 1, in_type, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 1) {
                MPI_Send(out, 1, out_type, 0, 1, MPI_COMM_WORLD);
            }
        }
        if (b >= 0) {
            samples[b] = (now_ns() - began) / ROUNDS / 2;
        }
    }
    return 1e3 * LEN / quiet(samples, N_BATCHES);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1024, 4096, 8192, 16384, 65536, 262144};
    char *out = aligned_alloc(4096, 2 * LEN);
    char *in = aligned_alloc(4096, 2 * LEN);
    MPI_Datatype whole;
    int rank;
    double value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    memset(out, 1, 2 * LEN);
    memset(in, 2, 2 * LEN);
    MPI_Type_contiguous(LEN, MPI_BYTE, &whole);
    MPI_Type_commit(&whole);
    value = measure(out, in, whole, whole, rank);
    if (rank == 0) {
        report("whole", LEN, value, "MB/s");
    }
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        MPI_Datatype t = pieces_of(lengths[i]);
        double to = measure(out, in, whole, t, rank);
        double from = measure(out, in, t, whole, rank);
        double between = measure(out, in, t, t, rank);

        if (rank == 0) {
            report("to_pieces", lengths[i], to, "MB/s");
            report("from_pieces", lengths[i], from, "MB/s");
            report("between_pieces", lengths[i], between, "MB/s");
        }
        MPI_Type_free(&t);
    }
    MPI_Type_free(&whole);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
