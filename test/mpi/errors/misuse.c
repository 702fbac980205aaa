/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One mistake of a user, chosen by name, under the default error handler. test_misuse.py runs each
 * and reads what the user would read. A mistake that goes unnoticed ends with status 0.
 */
#include <mpi.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int value, rank, size;

/* One rank with a count on the other side of a cut-off, so that it takes another algorithm. */
static char some[1 << 21], more[1 << 21];

static int split(int n_most, int n_odd)
{
    return rank == 1 ? n_odd : n_most;
}

static void split_bcast(void)
{
    MPI_Bcast(some, split(60000, 70000), MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void split_allgather(void)
{
    MPI_Allgather(some, split(20000, 10), MPI_BYTE, more, split(20000, 10), MPI_BYTE,
                  MPI_COMM_WORLD);
}

static void split_alltoall(void)
{
    MPI_Alltoall(some, split(200, 300), MPI_BYTE, more, split(200, 300), MPI_BYTE, MPI_COMM_WORLD);
}

static void split_reduce(void)
{
    MPI_Reduce(some, more, split(32000, 33000), MPI_BYTE, MPI_BXOR, 0, MPI_COMM_WORLD);
}

static void split_allreduce(void)
{
    MPI_Allreduce(some, more, split(16000, 17000), MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
}

static void negative_count(void)
{
    MPI_Send(&value, -1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void rank_too_high(void)
{
    MPI_Send(&value, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD);
}

static void rank_negative(void)
{
    MPI_Recv(&value, 1, MPI_INT, -77, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void any_source_in_send(void)
{
    MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD);
}

static void tag_negative(void)
{
    MPI_Isend(&value, 1, MPI_INT, 0, -9, MPI_COMM_WORLD, &(MPI_Request){0});
}

static void tag_too_high(void)
{
    int *tag_ub, has_it;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &has_it);
    if (!has_it) {
        exit(0);
    }
    if (*tag_ub == INT_MAX) {
        /* Every tag fits; the sign is what can be wrong. */
        MPI_Send(&value, 1, MPI_INT, 0, INT_MIN, MPI_COMM_WORLD);
    } else {
        MPI_Send(&value, 1, MPI_INT, 0, *tag_ub + 1, MPI_COMM_WORLD);
    }
}

static void null_buffer(void)
{
    MPI_Send(NULL, 4, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void null_comm(void)
{
    MPI_Barrier(MPI_COMM_NULL);
}

static void made_up_comm(void)
{
    MPI_Comm_rank((MPI_Comm)(void *)&value, &rank);
}

static void null_type(void)
{
    MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD);
}

static void freed_request(void)
{
    MPI_Request r, copy;

    MPI_Irecv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r);
    copy = r;
    MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
}

static void made_up_request(void)
{
    MPI_Request r = (MPI_Request)(void *)&value;

    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void truncated(void)
{
    char long_one[100] = "";

    MPI_Request r;

    MPI_Isend(long_one, 100, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &r);
    MPI_Recv(long_one, 10, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void called_handler(void)
{
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
}

static void own_error(void)
{
    int code;

    MPI_Add_error_class(&code);
    MPI_Add_error_string(code, "the moon is full");
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
}

/* The handler of a communicator that all are in. */
static void aborting_comm(void)
{
    MPI_Comm comm;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT);
    MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Send(&value, 2, MPI_INT, size, 0, comm);
}

/* Its error can not be returned, whatever the handler: there is no call left. */
static void freed_and_failed(void)
{
    char long_one[100] = "";
    MPI_Request r;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(long_one, 10, MPI_CHAR, rank, 1, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    MPI_Send(long_one, 100, MPI_CHAR, rank, 1, MPI_COMM_WORLD);
}

static void root_too_high(void)
{
    MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD);
}

static void wrong_op(void)
{
    double a = 1, b;

    MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
}

static void unbuilt(void)
{
    char port[MPI_MAX_PORT_NAME];

    MPI_Open_port(MPI_INFO_NULL, port);
}

static void init_twice(void)
{
    MPI_Init(NULL, NULL);
}

static void abort_7(void)
{
    MPI_Abort(MPI_COMM_WORLD, 7);
}

static void after_finalize(void)
{
    MPI_Finalize();
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void before_init(void)
{
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*fn)(void);
    int is_before_init;
} mistakes[] = {
    {"negative_count", negative_count, 0},
    {"rank_too_high", rank_too_high, 0},
    {"rank_negative", rank_negative, 0},
    {"any_source_in_send", any_source_in_send, 0},
    {"tag_negative", tag_negative, 0},
    {"tag_too_high", tag_too_high, 0},
    {"null_buffer", null_buffer, 0},
    {"null_comm", null_comm, 0},
    {"made_up_comm", made_up_comm, 0},
    {"null_type", null_type, 0},
    {"freed_request", freed_request, 0},
    {"made_up_request", made_up_request, 0},
    {"called_handler", called_handler, 0},
    {"own_error", own_error, 0},
    {"aborting_comm", aborting_comm, 0},
    {"freed_and_failed", freed_and_failed, 0},
    {"truncated", truncated, 0},
    {"root_too_high", root_too_high, 0},
    {"wrong_op", wrong_op, 0},
    {"unbuilt", unbuilt, 0},
    {"init_twice", init_twice, 0},
    {"abort_7", abort_7, 0},
    {"after_finalize", after_finalize, 0},
    {"before_init", before_init, 1},
    {"split_bcast", split_bcast, 0},
    {"split_allgather", split_allgather, 0},
    {"split_alltoall", split_alltoall, 0},
    {"split_reduce", split_reduce, 0},
    {"split_allreduce", split_allreduce, 0},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]) && argc > 1; i++) {
        if (strcmp(argv[1], mistakes[i].name) == 0) {
            if (!mistakes[i].is_before_init) {
                MPI_Init(&argc, &argv);
                MPI_Comm_rank(MPI_COMM_WORLD, &rank);
                MPI_Comm_size(MPI_COMM_WORLD, &size);
            }
            mistakes[i].fn();
            MPI_Finalize();
            return 0;
        }
    }
    fprintf(stderr, "misuse: no such mistake\n");
    return 99;
}
