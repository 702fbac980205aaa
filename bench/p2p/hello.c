/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end; with an argument also the memory of a rank (proportional share, mean). */
#include "../harness/bench.h"

static double pss_kib(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    double kib = 0;

    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "Pss:", 4) == 0) {
            kib = atof(line + 4);
        }
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        double mine, sum = 0, token = rank;
        double *all = malloc(sizeof(double) * (size_t)size);

        MPI_Alltoall(all, 0, MPI_DOUBLE, all, 0, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Allgather(&token, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        mine = pss_kib();
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            report("memory_per_rank", size, sum / size, "KiB");
        }
        free(all);
    }
    MPI_Finalize();
    return 0;
}
