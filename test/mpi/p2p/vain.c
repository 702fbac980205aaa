/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that find nothing: with more ranks than processors some of them give the processor to
 * others, and few enough that a program which computes between its tests does not pay a switch for
 * each. Includes nothing but mpi.h.
 */
#include "../knob.h"

#define N_TESTS 1600
/* A switch costs what some tens of tests cost. */
#define MAX_SWITCHES (N_TESTS / 8)

int main(int argc, char **argv)
{
    MPI_Request request;
    struct gauge switches;
    int rank, size, flag, provided;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    switches = gauge_open("progress_yields");
    OK(MPI_Irecv(NULL, 0, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int kind = 0; kind < 2; kind++) {
        unsigned long long before = gauge_read(&switches);

        for (int i = 0; i < N_TESTS; i++) {
            if (kind == 0) {
                OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            } else {
                OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            }
            CHECK(!flag);
        }
        CHECK(gauge_read(&switches) - before <= MAX_SWITCHES);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(NULL, 0, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    gauge_close(&switches);
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
