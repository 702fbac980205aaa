/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU seconds that all other ranks burn while they wait two seconds for rank 0. */
#include "../harness/bench.h"

#include <sys/resource.h>

static double cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    double used, sum = 0;
    int rank, size, token = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    used = cpu();
    if (rank == 0) {
        struct timespec two = {.tv_sec = 2};

        nanosleep(&two, NULL);
        for (int i = 1; i < size; i++) {
            MPI_Send(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
        }
        used = 0;
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        used = cpu() - used;
    }
    MPI_Reduce(&used, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        report("cpu_blocked_2s", size, sum, "s");
    }
    MPI_Finalize();
    return 0;
}
