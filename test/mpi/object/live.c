/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left at MPI_Finalize: of each kind as many objects as the arguments say (test_live.py),
   beside others that are freed, and parts of others that nobody holds. */
#include "../check.h"

static void nothing(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)len;
    (void)type;
}

static MPI_Request requests[10];
static int buffer[10];

/* Most are over when they are started. */
static void send_round(MPI_Request *request)
{
    int rank, size;

    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Isend(buffer, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, request));
    OK(MPI_Recv(buffer, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                MPI_STATUS_IGNORE));
}

/* By turns one that has a local part, where that can be. */
static void make_comm(MPI_Comm *comm)
{
    static int n_made;
    MPI_Comm half;
    int rank, size;

    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, comm));
    if (size > 1 && n_made++ / 2 % 2 == 0) { /* kept ones and others come by turns */
        half = *comm;
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, comm));
        OK(MPI_Comm_free(&half));
    }
}

static void make_group(int is_kept)
{
    MPI_Group group, part;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    OK(MPI_Group_incl(group, 1, (int[]){0}, &part));
    OK(MPI_Group_free(&group));
    if (!is_kept) {
        OK(MPI_Group_free(&part));
    }
}

static void make_request(int is_kept)
{
    static int n_requests;

    if (n_requests % 2) {
        OK(MPI_Recv_init(buffer, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[n_requests]));
    } else {
        send_round(&requests[n_requests]);
    }
    if (!is_kept) {
        OK(MPI_Request_free(&requests[n_requests]));
    }
    n_requests += is_kept;
}

static void make_type(int is_kept)
{
    MPI_Datatype inner, outer;

    OK(MPI_Type_vector(2, 1, 3, MPI_INT, &inner));
    OK(MPI_Type_contiguous(2, inner, &outer));
    OK(MPI_Type_free(&inner));
    if (!is_kept) {
        OK(MPI_Type_free(&outer));
    }
}

static void make(int kind, int is_kept)
{
    MPI_Errhandler eh;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Op op;

    switch (kind) {
    case 0:
        make_comm(&comm);
        if (!is_kept) {
            OK(MPI_Comm_free(&comm));
        }
        break;
    case 1:
        make_group(is_kept);
        break;
    case 2:
        make_request(is_kept);
        break;
    case 3:
        make_type(is_kept);
        break;
    case 4:
        OK(MPI_Op_create(add, 1, &op));
        if (!is_kept) {
            OK(MPI_Op_free(&op));
        }
        break;
    case 5:
        OK(MPI_Info_create(&info));
        if (!is_kept) {
            OK(MPI_Info_free(&info));
        }
        break;
    default:
        OK(MPI_Comm_create_errhandler(nothing, &eh));
        if (!is_kept) {
            OK(MPI_Errhandler_free(&eh));
        }
        break;
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    CHECK(argc <= 8);
    for (int k = 0; k < 3; k++) {
        send_round(&requests[0]);
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    for (int kind = 0; kind < argc - 1; kind++) {
        for (int k = 0; k < atoi(argv[kind + 1]); k++) {
            make(kind, 1);
            make(kind, 0);
        }
        make(kind, 0);
    }
    OK(MPI_Finalize());
    return 0;
}
