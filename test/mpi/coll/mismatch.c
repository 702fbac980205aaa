/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's buffer is too short. Under MPI_ERRORS_RETURN it or those who hear from it see an
 * error; no rank waits for ever, none takes for data what did not come, and the communicator works
 * afterwards. What a program may rely on here is the library's own; the standard calls such
 * programs erroneous.
 */
#include "../check.h"
#include "force.h"

#include <string.h>

enum { LONG = 5000, SHORT = 4999 };

static MPI_Comm comm;
static int rank, size;
static int odd; /* the rank with the short buffer */
static int *out, *in;

static int class_of(int code)
{
    int klass;

    OK(MPI_Error_class(code, &klass));
    return klass;
}

/* What each rank got: at least one has an error, and nobody is left behind. */
static void expect_error(int code)
{
    int klass = class_of(code), has_failed = klass != MPI_SUCCESS, n_failed;

    CHECK(!has_failed || klass == MPI_ERR_TRUNCATE || klass == MPI_ERR_OTHER);
    OK(MPI_Allreduce(&has_failed, &n_failed, 1, MPI_INT, MPI_SUM, comm));
    CHECK(n_failed > 0);
}

static int count(void)
{
    return rank == odd ? SHORT : LONG;
}

static void fill(void)
{
    for (int i = 0; i < LONG * size; i++) {
        out[i] = i + rank * 7;
        in[i] = -1;
    }
}

static int wait_for(int code, MPI_Request *r)
{
    OK(code);
    return MPI_Wait(r, MPI_STATUS_IGNORE);
}

static int persistent(MPI_Request *r)
{
    int code;

    OK(MPI_Start(r));
    code = MPI_Wait(r, MPI_STATUS_IGNORE);
    OK(MPI_Request_free(r));
    return code;
}

/* Who has no error has the data. */
static void bcast(void)
{
    int root = (odd + 1) % size, code;
    MPI_Request r;

    for (int how = 0; how < 3; how++) {
        fill();
        memcpy(in, out, sizeof(int) * LONG * (rank == root));
        if (how == 0) {
            code = MPI_Bcast(in, count(), MPI_INT, root, comm);
        } else if (how == 1) {
            code = wait_for(MPI_Ibcast(in, count(), MPI_INT, root, comm, &r), &r);
        } else {
            OK(MPI_Bcast_init(in, count(), MPI_INT, root, comm, MPI_INFO_NULL, &r));
            code = persistent(&r);
        }
        for (int i = 0; i < count() && code == MPI_SUCCESS; i++) {
            CHECK_EQ(in[i], i + root * 7);
        }
        CHECK(rank != odd || class_of(code) == MPI_ERR_TRUNCATE);
        expect_error(code);
    }
}

static void gather(void)
{
    MPI_Request r;

    fill();
    expect_error(MPI_Gather(out, LONG, MPI_INT, in, count(), MPI_INT, odd, comm));
    fill();
    expect_error(
        wait_for(MPI_Igather(out, LONG, MPI_INT, in, count(), MPI_INT, odd, comm, &r), &r));
}

static void scatter(void)
{
    int root = (odd + 1) % size;

    fill();
    expect_error(MPI_Scatter(out, LONG, MPI_INT, in, count(), MPI_INT, root, comm));
}

static void reduce(void)
{
    fill();
    expect_error(MPI_Reduce(out, in, count(), MPI_INT, MPI_SUM, odd, comm));
}

static void allgather(void)
{
    MPI_Request r;

    fill();
    expect_error(MPI_Allgather(out, LONG, MPI_INT, in, count(), MPI_INT, comm));
    fill();
    expect_error(wait_for(MPI_Iallgather(out, LONG, MPI_INT, in, count(), MPI_INT, comm, &r), &r));
}

static void allreduce(void)
{
    MPI_Request r;

    fill();
    expect_error(MPI_Allreduce(out, in, count(), MPI_INT, MPI_SUM, comm));
    fill();
    expect_error(wait_for(MPI_Iallreduce(out, in, count(), MPI_INT, MPI_SUM, comm, &r), &r));
}

static void alltoall(void)
{
    fill();
    expect_error(MPI_Alltoall(out, LONG, MPI_INT, in, count(), MPI_INT, comm));
}

static void scan(void)
{
    fill();
    expect_error(MPI_Scan(out, in, count(), MPI_INT, MPI_SUM, comm));
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    out = malloc(sizeof(int) * LONG * (size_t)size);
    in = malloc(sizeof(int) * LONG * (size_t)size);
    CHECK(out && in);
    for (odd = 1; odd < size && size > 1; odd += 2) {
        EACH_ALGORITHM("coll_bcast_algorithm", bcast());
        gather();
        scatter();
        reduce();
        EACH_ALGORITHM("coll_allgather_algorithm", allgather());
        EACH_ALGORITHM("coll_allreduce_algorithm", allreduce());
        EACH_ALGORITHM("coll_alltoall_algorithm", alltoall());
        scan();
    }
    free(out);
    free(in);
    OK(MPI_Comm_free(&comm));
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
