/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that do not make the same collective call, with coll_check set: each rank gets an error of
 * the class that says what differs, no rank waits, and the communicator can be used afterwards.
 * Calls that do match, however differently they are written, pass. An argument "fatal-N" makes
 * mistake N of a nonblocking call with a fatal handler, for test_misuse.py.
 */
#include "../check.h"
#include "../knob.h"

#include <string.h>

enum { N = 4, MAX_RANKS = 8 };

static MPI_Comm comm;
static int rank, size;
static int in[N * MAX_RANKS], out[N * MAX_RANKS];
static int counts[MAX_RANKS], displs[MAX_RANKS];

static void is_in_order(void)
{
    int one = 1, sum = 0;

    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size);
}

/* Rank 1 makes the second call, the others the first. */
#define MISMATCH(first, second, klass)                                                             \
    do {                                                                                           \
        FAILS(rank == 1 ? (second) : (first), klass);                                              \
        is_in_order();                                                                             \
    } while (0)

static void other_calls(void)
{
    MISMATCH(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm),
             MPI_Reduce(in, out, 2, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_OTHER);
    MISMATCH(MPI_Barrier(comm), MPI_Bcast(in, 1, MPI_INT, 0, comm), MPI_ERR_OTHER);
    MISMATCH(MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, comm),
             MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_OTHER);
    MISMATCH(MPI_Bcast(in, 1, MPI_INT, 0, comm), MPI_Bcast(in, 1, MPI_INT, 1, comm), MPI_ERR_ROOT);
    MISMATCH(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 1, comm),
             MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_ROOT);
    MISMATCH(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm),
             MPI_Allreduce(in, out, 2, MPI_INT, MPI_MAX, comm), MPI_ERR_OP);
}

static void other_data(void)
{
    MISMATCH(MPI_Bcast(in, 2, MPI_INT, 0, comm), MPI_Bcast(in, 1, MPI_DOUBLE, 0, comm),
             MPI_ERR_TYPE);
    MISMATCH(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm),
             MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, comm),
             MPI_Allreduce(in, out, 3, MPI_INT, MPI_SUM, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, comm),
             MPI_Gather(in, 2, MPI_INT, out, 1, MPI_INT, 0, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 0, comm),
             MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_FLOAT, 0, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, comm),
             MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Allgatherv(in, 1, MPI_INT, out, counts, displs, MPI_INT, comm),
             MPI_Allgatherv(in, 2, MPI_INT, out, counts, displs, MPI_INT, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm),
             MPI_Alltoall(in, 1, MPI_FLOAT, out, 1, MPI_INT, comm), MPI_ERR_TYPE);
    MISMATCH(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, comm),
             MPI_Reduce_scatter(in, out, displs, MPI_INT, MPI_SUM, comm), MPI_ERR_TYPE);
}

/* The same data described in two ways. */
static void same_data(void)
{
    MPI_Datatype pair;
    MPI_Request r;

    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(rank == 1 ? MPI_Bcast(in, 1, pair, 0, comm) : MPI_Bcast(in, 2, MPI_INT, 0, comm));
    OK(rank == 1 ? MPI_Bcast_c(in, 2, MPI_INTEGER, 0, comm) : MPI_Bcast(in, 2, MPI_INT, 0, comm));
    OK(MPI_Gather(rank ? in : MPI_IN_PLACE, 1, pair, out, 2, MPI_INT, 0, comm));
    OK(MPI_Scatter(in, 2, MPI_INT, rank ? out : MPI_IN_PLACE, 1, pair, 0, comm));
    OK(MPI_Allgather(rank == 1 ? MPI_IN_PLACE : in, 1, pair, out, 2, MPI_INT, comm));
    OK(MPI_Alltoall(in, 1, pair, out, 2, MPI_INT, comm));
    OK(MPI_Barrier(comm));
    OK(MPI_Ibcast(in, 2, MPI_INT, 0, comm, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce_init(in, out, 2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r));
    OK(MPI_Start(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
    OK(MPI_Type_free(&pair));
    is_in_order();
}

/* Both groups of an intercommunicator. */
static void between_groups(void)
{
    MPI_Comm half, inter;

    OK(MPI_Comm_split(comm, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, comm, !(rank % 2), 3, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Barrier(inter));
    OK(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, inter));
    FAILS(rank % 2 ? MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, inter)
                   : MPI_Allreduce(in, out, 1, MPI_INT, MPI_MAX, inter),
          MPI_ERR_OP);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static void fatal(int which)
{
    MPI_Request r = MPI_REQUEST_NULL;

    if (which == 0) {
        MPI_Ibcast(in, 1, MPI_INT, rank, MPI_COMM_WORLD, &r);
    } else if (which == 1 && rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &r);
    } else if (which == 1) {
        MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
    } else {
        MPI_Bcast(in, 1 + rank, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    CHECK(size <= MAX_RANKS);
    for (int r = 0; r < size; r++) {
        counts[r] = 1;
        displs[r] = r;
    }
    if (!knob("coll_check", 1)) {
        MPI_Finalize();
        return 77;
    }
    if (argc > 1) {
        fatal(argv[1][strlen("fatal-")] - '0');
    } else if (size > 1) {
        other_calls();
        other_data();
        between_groups();
    }
    same_data();
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    OK(MPI_T_finalize());
    return 0;
}
