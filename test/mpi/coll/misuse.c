/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong arguments of collectives are refused with the class of the standard, before any message is
   sent; the communicator works as before afterwards. Only arguments that every MPI can see to be
   wrong. */
#include "../check.h"

static MPI_Comm comm;
static int rank, size;

static void roots(void)
{
    int a = 0, b = 0;

    FAILS(MPI_Bcast(&a, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(&a, 1, MPI_INT, -1, comm), MPI_ERR_ROOT);
    FAILS(MPI_Reduce(&a, &b, 1, MPI_INT, MPI_SUM, size + 3, comm), MPI_ERR_ROOT);
    FAILS(MPI_Gather(&a, 1, MPI_INT, &b, 1, MPI_INT, -7, comm), MPI_ERR_ROOT);
    FAILS(MPI_Scatter(&a, 1, MPI_INT, &b, 1, MPI_INT, size, comm), MPI_ERR_ROOT);
    FAILS(MPI_Bcast(&a, 1, MPI_INT, MPI_PROC_NULL, comm), MPI_ERR_ROOT);
}

static void counts(void)
{
    int a = 0, b = 0;
    int *bad = malloc((size_t)size * 2 * sizeof(int)), *displs = bad + size;

    for (int r = 0; r < size; r++) {
        bad[r] = r == size - 1 ? -2 : 0;
        displs[r] = 0;
    }
    FAILS(MPI_Bcast(&a, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    FAILS(MPI_Allreduce(&a, &b, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    FAILS(MPI_Allgather(&a, -1, MPI_INT, &b, 1, MPI_INT, comm), MPI_ERR_COUNT);
    FAILS(MPI_Alltoall(&a, 1, MPI_INT, &b, -5, MPI_INT, comm), MPI_ERR_COUNT);
    FAILS(MPI_Allgatherv(&a, 0, MPI_INT, &b, bad, displs, MPI_INT, comm), MPI_ERR_COUNT);
    FAILS(MPI_Reduce_scatter(&a, &b, bad, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    FAILS(MPI_Scan(&a, &b, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    FAILS(MPI_Bcast_c(&a, -1, MPI_INT, 0, comm), MPI_ERR_COUNT);
    free(bad);
}

static void types_and_ops(void)
{
    int a = 0, b = 0;
    float f = 0, g = 0;
    MPI_Datatype raw;

    OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    FAILS(MPI_Bcast(&a, 1, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    FAILS(MPI_Bcast(&a, 0, raw, 0, comm), MPI_ERR_TYPE); /* not committed */
    FAILS(MPI_Allgather(&a, 1, MPI_INT, &b, 1, MPI_DATATYPE_NULL, comm), MPI_ERR_TYPE);
    FAILS(MPI_Allreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    FAILS(MPI_Allreduce(&f, &g, 1, MPI_FLOAT, MPI_BAND, comm), MPI_ERR_OP);
    FAILS(MPI_Reduce(&f, &g, 1, MPI_FLOAT, MPI_LXOR, 0, comm), MPI_ERR_OP);
    FAILS(MPI_Exscan(&a, &b, 1, MPI_INT, MPI_MINLOC, comm), MPI_ERR_OP);
    OK(MPI_Type_free(&raw));
}

static void buffers(void)
{
    int a = 0;
    int *many = calloc((size_t)size, sizeof(int));

    FAILS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Allreduce(&a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Allreduce(&a, &a, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Allreduce(NULL, &a, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Alltoall(many, 1, MPI_INT, many, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    FAILS(MPI_Scan(&a, &a, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    if (rank != 0) {
        FAILS(MPI_Reduce(MPI_IN_PLACE, &a, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, &a, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    } else {
        FAILS(MPI_Reduce(&a, &a, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
        FAILS(MPI_Gather(&a, 1, MPI_INT, NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    }
    free(many);
}

static void communicators(void)
{
    int a = 0;
    MPI_Comm dead = comm;

    FAILS(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Bcast(&a, 1, MPI_INT, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    OK(MPI_Comm_dup(comm, &dead));
    {
        MPI_Comm copy = dead;

        OK(MPI_Comm_free(&dead));
        FAILS(MPI_Barrier(copy), MPI_ERR_COMM);
    }
}

int main(int argc, char **argv)
{
    int sum = 1;

    MPI_Init(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    for (int round = 0; round < 3; round++) {
        roots();
        counts();
        types_and_ops();
        buffers();
        communicators();
        sum = 1;
        OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQ(sum, size);
    }
    OK(MPI_Comm_free(&comm));
    MPI_Finalize();
    return 0;
}
