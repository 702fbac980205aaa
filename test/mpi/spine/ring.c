/* SPDX-License-Identifier: BSD-3-Clause */
/* A token of every size class goes round the ring; contents, source, tag and count are checked. */
#include "../check.h"

static const int lengths[] = {0,    1,    7,     8,     63,    64,      65,           1000,
                              4096, 8192, 16384, 65536, 65537, 1 << 20, (5 << 20) + 3};

static unsigned char byte_at(int length, int i)
{
    return (unsigned char)(length * 31 + i * 7 + (i >> 9));
}

int main(int argc, char **argv)
{
    int rank, size;
    unsigned char *buf = malloc((5 << 20) + 3);

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(buf != NULL);
    for (unsigned l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
        int n = lengths[l], count = -1;
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;

        if (rank == 0) {
            for (int i = 0; i < n; i++) {
                buf[i] = byte_at(n, i);
            }
            OK(MPI_Isend(buf, n, MPI_UNSIGNED_CHAR, next, (int)l, MPI_COMM_WORLD, &request));
            if (size == 1) {
                unsigned char *copy = calloc((size_t)n + 1, 1);

                OK(MPI_Recv(copy, n, MPI_UNSIGNED_CHAR, before, (int)l, MPI_COMM_WORLD, &status));
                for (int i = 0; i < n; i++) {
                    CHECK_EQ(copy[i], byte_at(n, i));
                }
                free(copy);
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                continue;
            }
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            for (int i = 0; i < n; i++) {
                buf[i] = 0;
            }
        }
        OK(MPI_Recv(buf, n, MPI_UNSIGNED_CHAR, before, (int)l, MPI_COMM_WORLD, &status));
        CHECK_EQ(status.MPI_SOURCE, before);
        CHECK_EQ(status.MPI_TAG, l);
        OK(MPI_Get_count(&status, MPI_UNSIGNED_CHAR, &count));
        CHECK_EQ(count, n);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(buf[i], byte_at(n, i));
        }
        if (rank != 0) {
            OK(MPI_Send(buf, n, MPI_UNSIGNED_CHAR, next, (int)l, MPI_COMM_WORLD));
        }
    }
    free(buf);
    OK(MPI_Finalize());
    return 0;
}
