/* SPDX-License-Identifier: BSD-3-Clause */
/* Many communicators at a time, freed in another order than made: each has messages of its own, and
   what was freed can be made again. */
#include "../check.h"

enum { N = 5000, ROUNDS = 3 };

int main(int argc, char **argv)
{
    MPI_Comm *comms = malloc(N * sizeof(MPI_Comm));
    int rank, size;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(comms);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        }
        for (int i = 0; i < N; i += N / 10) {
            int to = (rank + 1) % size, from = (rank + size - 1) % size, got = -1;
            int value = 1000 * i + rank;
            MPI_Status st;

            OK(MPI_Sendrecv(&value, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, MPI_ANY_TAG,
                            comms[i], &st));
            CHECK_EQ(got, 1000 * i + from);
        }
        for (int i = 0; i < N; i++) { /* 1237 has no factor in common with N */
            OK(MPI_Comm_free(&comms[(int)((long long)i * 1237 % N)]));
        }
    }
    free(comms);
    OK(MPI_Finalize());
    return 0;
}
