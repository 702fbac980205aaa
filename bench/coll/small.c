/* SPDX-License-Identifier: BSD-3-Clause */
/* Small collectives on all ranks, as many as there are: mean time of one call, after some that set
   up what the library keeps for later ones. */
#include "../harness/bench.h"

int main(int argc, char **argv)
{
    double value = 1, sum = 0, began, allreduce = 0, barrier = 0, bcast = 0;
    int rank, size, n = 0, is_warm = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pin(rank);
    if (size == 2) { /* with more the cores are not theirs alone */
        glance(rank, BEFORE);
    }
    /* For at most about a second each, the same count on all ranks. */
    for (int more = 1; more;) {
        began = now_ns();
        for (int i = 0; i < 20; i++) {
            MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        allreduce += now_ns() - began;
        began = now_ns();
        for (int i = 0; i < 20; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
        barrier += now_ns() - began;
        began = now_ns();
        for (int i = 0; i < 20; i++) {
            MPI_Bcast(&value, 1, MPI_DOUBLE, i % size, MPI_COMM_WORLD);
        }
        bcast += now_ns() - began;
        n += 20;
        if (!is_warm && (n >= 100 || allreduce > 1e8)) {
            is_warm = 1;
            n = 0;
            allreduce = barrier = bcast = 0;
        }
        more = n < 20000 && allreduce < 1.5e9;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (size == 2) {
        glance(rank, AFTER);
    }
    if (rank == 0) {
        report("allreduce_8B", size, allreduce / n / 1e3, "us");
        report("barrier", size, barrier / n / 1e3, "us");
        report("bcast_8B", size, bcast / n / 1e3, "us");
    }
    MPI_Finalize();
    return 0;
}
