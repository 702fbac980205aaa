/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of a collective that overlap (MPI-5.0 6.2): MPI_ERR_BUFFER on the rank whose arguments
 * show it, before anything is sent, for each collective in each form. That nothing was sent is seen
 * by a correct call of all ranks behind each wrong one. Buffers that interleave, or touch without
 * overlapping, are accepted.
 */
#include "../check.h"

enum { N = 4, MAX_RANKS = 8 };

static MPI_Comm comm;
static int rank, size;
static int buf[2 * N * MAX_RANKS], out[2 * N * MAX_RANKS];
static int counts[MAX_RANKS], displs[MAX_RANKS], bytes[MAX_RANKS];
static MPI_Datatype types[MAX_RANKS];

static void is_in_order(void)
{
    int one = 1, sum = 0;

    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, size);
}

#define REFUSED(call)                                                                              \
    do {                                                                                           \
        FAILS(call, MPI_ERR_BUFFER);                                                               \
        is_in_order();                                                                             \
    } while (0)

/* The blocking, the nonblocking and the persistent form. */
#define ALL_REFUSED(name, iname, ...)                                                              \
    do {                                                                                           \
        MPI_Request all_r = MPI_REQUEST_NULL;                                                      \
        REFUSED(MPI_##name(__VA_ARGS__, comm));                                                    \
        REFUSED(MPI_I##iname(__VA_ARGS__, comm, &all_r));                                          \
        REFUSED(MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &all_r));                      \
        CHECK(all_r == MPI_REQUEST_NULL);                                                          \
    } while (0)

static void reductions(void)
{
    ALL_REFUSED(Allreduce, allreduce, buf, buf, N, MPI_INT, MPI_SUM);
    ALL_REFUSED(Allreduce, allreduce, buf, buf + N - 1, N, MPI_INT, MPI_SUM);
    ALL_REFUSED(Scan, scan, buf, buf, N, MPI_INT, MPI_SUM);
    ALL_REFUSED(Exscan, exscan, buf, buf, N, MPI_INT, MPI_SUM);
    ALL_REFUSED(Reduce_scatter, reduce_scatter, buf, buf, counts, MPI_INT, MPI_SUM);
    ALL_REFUSED(Reduce_scatter, reduce_scatter, buf, buf + N * size - 1, counts, MPI_INT, MPI_SUM);
    ALL_REFUSED(Reduce_scatter_block, reduce_scatter_block, buf, buf, N, MPI_INT, MPI_SUM);
    if (size == 1) { /* only the root can notice */
        ALL_REFUSED(Reduce, reduce, buf, buf, N, MPI_INT, MPI_SUM, 0);
    }
}

static void exchanges(void)
{
    ALL_REFUSED(Allgather, allgather, buf, N, MPI_INT, buf, N, MPI_INT);
    ALL_REFUSED(Allgather, allgather, buf + rank * N, N, MPI_INT, buf, N, MPI_INT);
    ALL_REFUSED(Allgatherv, allgatherv, buf + rank * N, N, MPI_INT, buf, counts, displs, MPI_INT);
    ALL_REFUSED(Alltoall, alltoall, buf, N, MPI_INT, buf, N, MPI_INT);
    ALL_REFUSED(Alltoallv, alltoallv, buf, counts, displs, MPI_INT, buf, counts, displs, MPI_INT);
    ALL_REFUSED(Alltoallw, alltoallw, buf, counts, bytes, types, buf, counts, bytes, types);
}

/* Every rank calls as the root of a communicator of its own. */
static void rooted(void)
{
    MPI_Comm all = comm;
    int all_size = size;

    comm = MPI_COMM_SELF;
    size = 1;
    ALL_REFUSED(Gather, gather, buf, N, MPI_INT, buf, N, MPI_INT, 0);
    ALL_REFUSED(Gatherv, gatherv, buf, N, MPI_INT, buf, counts, displs, MPI_INT, 0);
    ALL_REFUSED(Scatter, scatter, buf, N, MPI_INT, buf, N, MPI_INT, 0);
    ALL_REFUSED(Scatterv, scatterv, buf, counts, displs, MPI_INT, buf, N, MPI_INT, 0);
    comm = all;
    size = all_size;
}

/* Odd elements come in between even ones that leave. */
static void accepted(void)
{
    MPI_Datatype every_other;
    int ahead[MAX_RANKS];

    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other));
    OK(MPI_Type_commit(&every_other));
    OK(MPI_Alltoall(buf, N, every_other, buf + 1, N, every_other, comm));
    OK(MPI_Type_free(&every_other));
    OK(MPI_Alltoall(buf, N, MPI_INT, buf + N * size, N, MPI_INT, comm));
    OK(MPI_Allreduce(buf, buf + N, N, MPI_INT, MPI_SUM, comm));
    OK(MPI_Allreduce(buf, buf, 0, MPI_INT, MPI_SUM, comm));
    for (int r = 0; r < size; r++) {
        ahead[r] = N * (r + 1);
    }
    OK(MPI_Allgatherv(buf, N, MPI_INT, buf, counts, ahead, MPI_INT, comm)); /* behind its input */
    OK(MPI_Gather(buf, N, MPI_INT, rank == 0 ? out : buf, N, MPI_INT, 0, comm));
    is_in_order();
}

int main(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    CHECK(size <= MAX_RANKS);
    for (int r = 0; r < size; r++) {
        counts[r] = N;
        displs[r] = N * r;
        bytes[r] = N * r * (int)sizeof(int);
        types[r] = MPI_INT;
    }
    reductions();
    exchanges();
    rooted();
    accepted();
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
