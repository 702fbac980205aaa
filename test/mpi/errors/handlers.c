/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose handler is called for a wrong argument (MPI-5.0 9.3): that of the communicator which the
 * call is given, once and with its handle, whatever argument is the wrong one, and no other's.
 */
#include "../check.h"

static MPI_Comm comm;
static int n_mine, n_others;

static void mine(MPI_Comm *c, int *code, ...)
{
    CHECK(*c == comm);
    n_mine++;
}

static void others(MPI_Comm *c, int *code, ...)
{
    n_others++;
}

/* It fails, and the communicator's handler hears of it. */
#define MINE(call, klass)                                                                          \
    do {                                                                                           \
        n_mine = n_others = 0;                                                                     \
        FAILS(call, klass);                                                                        \
        if (n_mine != 1 || n_others != 0) {                                                        \
            fprintf(stderr, "%s:%d: %s called the handler of comm %d times, others %d times\n",    \
                    __FILE__, __LINE__, #call, n_mine, n_others);                                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

static int in[4], out[4];
static MPI_Datatype raw, null = MPI_DATATYPE_NULL;
static MPI_Datatype part; /* freed, but alive in another */
static MPI_Info no_info = (MPI_Info)in;
static MPI_Request r = MPI_REQUEST_NULL;
static MPI_Comm made = MPI_COMM_NULL;

static void messages(void)
{
    MPI_Status st;
    MPI_Message message;
    int flag;

    MINE(MPI_Send(in, 1, null, 0, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Send(in, 1, raw, 0, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Send(in, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    MINE(MPI_Send(in, 1, MPI_INT, 9, 0, comm), MPI_ERR_RANK);
    MINE(MPI_Send(in, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);
    MINE(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);
    MINE(MPI_Send(in, 1, part, 0, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Recv(in, 1, part, 0, 0, comm, &st), MPI_ERR_TYPE);
    MINE(MPI_Bsend(in, 1, null, 0, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Recv(in, 1, null, 0, 0, comm, &st), MPI_ERR_TYPE);
    MINE(MPI_Isend(in, 1, null, 0, 0, comm, &r), MPI_ERR_TYPE);
    MINE(MPI_Isend(in, 1, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Irecv(in, 1, null, 0, 0, comm, &r), MPI_ERR_TYPE);
    MINE(MPI_Irecv(in, 1, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Send_init(in, 1, null, 0, 0, comm, &r), MPI_ERR_TYPE);
    MINE(MPI_Send_init(in, 1, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Recv_init(in, 1, MPI_INT, 0, 0, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Sendrecv(in, 1, null, 0, 0, out, 1, MPI_INT, 0, 0, comm, &st), MPI_ERR_TYPE);
    MINE(MPI_Sendrecv(in, 1, MPI_INT, 0, 0, out, 1, null, 0, 0, comm, &st), MPI_ERR_TYPE);
    MINE(MPI_Sendrecv_replace(in, 1, null, 0, 0, 0, 0, comm, &st), MPI_ERR_TYPE);
    MINE(MPI_Isendrecv_replace(in, 1, MPI_INT, 0, 0, 0, 0, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Psend_init(in, 1, 1, null, 0, 0, comm, MPI_INFO_NULL, &r), MPI_ERR_TYPE);
    MINE(MPI_Psend_init(in, 1, 1, MPI_INT, 0, 0, comm, no_info, &r), MPI_ERR_INFO);
    MINE(MPI_Precv_init(in, 1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    MINE(MPI_Probe(9, 0, comm, &st), MPI_ERR_RANK);
    MINE(MPI_Iprobe(0, 0, comm, NULL, &st), MPI_ERR_ARG);
    MINE(MPI_Mprobe(0, 0, comm, NULL, &st), MPI_ERR_ARG);
    MINE(MPI_Improbe(0, 0, comm, NULL, &message, &st), MPI_ERR_ARG);
    MINE(MPI_Improbe(0, 0, comm, &flag, NULL, &st), MPI_ERR_ARG);
    MINE(MPI_Comm_detach_buffer(comm, NULL, &flag), MPI_ERR_ARG);
    MINE(MPI_Comm_iflush_buffer(comm, NULL), MPI_ERR_ARG);
    /* A matched message belongs to the communicator it came on. */
    OK(MPI_Isend(in, 1, MPI_INT, 0, 0, comm, &r));
    OK(MPI_Mprobe(0, 0, comm, &message, &st));
    MINE(MPI_Mrecv(out, 1, null, &message, &st), MPI_ERR_TYPE);
    MINE(MPI_Mrecv(out, 1, part, &message, &st), MPI_ERR_TYPE);
    MINE(MPI_Imrecv(out, 1, MPI_INT, &message, NULL), MPI_ERR_ARG);
    OK(MPI_Mrecv(out, 1, MPI_INT, &message, &st));
    OK(MPI_Wait(&r, &st));
}

static void packing(void)
{
    char buf[64];
    int pos = 0, size;
    MPI_Count pos_c = 0, size_c;

    MINE(MPI_Pack(in, -1, MPI_INT, buf, 64, &pos, comm), MPI_ERR_COUNT);
    MINE(MPI_Pack(in, 1, null, buf, 64, &pos, comm), MPI_ERR_TYPE);
    MINE(MPI_Pack(in, 1, raw, buf, 64, &pos, comm), MPI_ERR_TYPE);
    MINE(MPI_Pack(in, 1, MPI_INT, buf, 64, NULL, comm), MPI_ERR_ARG);
    MINE(MPI_Pack(in, 1, MPI_INT, buf, 3, &pos, comm), MPI_ERR_TRUNCATE);
    MINE(MPI_Pack_c(in, 1, null, buf, 64, &pos_c, comm), MPI_ERR_TYPE);
    MINE(MPI_Pack_c(in, 1, MPI_INT, buf, 64, NULL, comm), MPI_ERR_ARG);
    MINE(MPI_Unpack(buf, 64, &pos, out, -1, MPI_INT, comm), MPI_ERR_COUNT);
    MINE(MPI_Unpack(buf, 64, &pos, out, 1, null, comm), MPI_ERR_TYPE);
    MINE(MPI_Unpack(buf, 64, NULL, out, 1, MPI_INT, comm), MPI_ERR_ARG);
    MINE(MPI_Unpack_c(buf, 64, &pos_c, out, 1, null, comm), MPI_ERR_TYPE);
    MINE(MPI_Pack_size(-1, MPI_INT, comm, &size), MPI_ERR_COUNT);
    MINE(MPI_Pack_size(1, null, comm, &size), MPI_ERR_TYPE);
    MINE(MPI_Pack_size(1, MPI_INT, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Pack_size_c(1, null, comm, &size_c), MPI_ERR_TYPE);
    MINE(MPI_Pack_size_c(INT64_MAX, MPI_INT, comm, &size_c), MPI_ERR_COUNT);
}

static void collectives(void)
{
    int zero[1] = {0};

    MINE(MPI_Bcast(in, 1, null, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Bcast(in, 1, raw, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Bcast(in, 1, part, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Bcast(in, 1, MPI_INT, 7, comm), MPI_ERR_ROOT);
    MINE(MPI_Gather(in, 1, null, out, 1, MPI_INT, 0, comm), MPI_ERR_TYPE);
    MINE(MPI_Alltoallw(in, zero, zero, &null, out, zero, zero, &null, comm), MPI_ERR_TYPE);
    MINE(MPI_Allreduce(in, out, 1, null, MPI_SUM, comm), MPI_ERR_TYPE);
    MINE(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    MINE(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    MINE(MPI_Scan(in, out, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    MINE(MPI_Ibcast(in, 1, null, 0, comm, &r), MPI_ERR_TYPE);
    MINE(MPI_Ibcast(in, 1, MPI_INT, 0, comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Bcast_init(in, 1, null, 0, comm, MPI_INFO_NULL, &r), MPI_ERR_TYPE);
    MINE(MPI_Barrier_init(comm, no_info, &r), MPI_ERR_INFO);
}

static void communicators(void)
{
    int n;

    MINE(MPI_Comm_create(comm, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    MINE(MPI_Comm_create_group(comm, MPI_GROUP_NULL, 0, &made), MPI_ERR_GROUP);
    MINE(MPI_Comm_set_info(comm, MPI_INFO_NULL), MPI_ERR_INFO);
    MINE(MPI_Comm_dup_with_info(comm, no_info, &made), MPI_ERR_INFO);
    MINE(MPI_Comm_dup(comm, NULL), MPI_ERR_ARG);
    MINE(MPI_Comm_get_name(comm, NULL, &n), MPI_ERR_ARG);
    MINE(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, in), MPI_ERR_KEYVAL);
    MINE(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
}

int main(int argc, char **argv)
{
    MPI_Errhandler for_comm, for_others;
    MPI_Datatype whole, t;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_create_errhandler(mine, &for_comm));
    OK(MPI_Comm_create_errhandler(others, &for_others));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, for_comm));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, for_others));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, for_others));
    OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    OK(MPI_Type_dup(MPI_INT, &part));
    OK(MPI_Type_vector(2, 1, 2, part, &whole));
    t = part;
    OK(MPI_Type_free(&t));
    messages();
    packing();
    collectives();
    communicators();
    CHECK(made == MPI_COMM_NULL && r == MPI_REQUEST_NULL);
    OK(MPI_Type_free(&raw));
    OK(MPI_Type_free(&whole));
    OK(MPI_Errhandler_free(&for_comm));
    OK(MPI_Errhandler_free(&for_others));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
