/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments of every kind give the error class of the standard, and leave no trace. */
#include "../check.h"

static int buf[4];

static void of_messages(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype raw;
    MPI_Request r;
    MPI_Status st;
    int size, flag;
    MPI_Message message;

    OK(MPI_Comm_size(w, &size));
    FAILS(MPI_Send(buf, -1, MPI_INT, 0, 0, w), MPI_ERR_COUNT);
    FAILS(MPI_Send(buf, 1, MPI_DATATYPE_NULL, 0, 0, w), MPI_ERR_TYPE);
    FAILS(MPI_Send(buf, 1, MPI_INT, size, 0, w), MPI_ERR_RANK);
    FAILS(MPI_Send(buf, 1, MPI_INT, -7, 0, w), MPI_ERR_RANK);
    FAILS(MPI_Send(buf, 1, MPI_INT, MPI_ANY_SOURCE, 0, w), MPI_ERR_RANK);
    FAILS(MPI_Send(buf, 1, MPI_INT, 0, -1, w), MPI_ERR_TAG);
    FAILS(MPI_Send(buf, 1, MPI_INT, 0, MPI_ANY_TAG, w), MPI_ERR_TAG);
    FAILS(MPI_Send(NULL, 1, MPI_INT, 0, 0, w), MPI_ERR_BUFFER);
    FAILS(MPI_Send(buf, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Send(buf, 1, MPI_INT, 0, 0, (MPI_Comm)buf), MPI_ERR_COMM);
    FAILS(MPI_Isend(buf, 1, MPI_INT, size, 0, w, &r), MPI_ERR_RANK);
    FAILS(MPI_Issend_c(buf, -1, MPI_INT, 0, 0, w, &r), MPI_ERR_COUNT);
    FAILS(MPI_Send_init(buf, 1, MPI_INT, size, 0, w, &r), MPI_ERR_RANK);
    FAILS(MPI_Recv(buf, 1, MPI_INT, size, 0, w, &st), MPI_ERR_RANK);
    FAILS(MPI_Recv(buf, 1, MPI_INT, 0, -5, w, &st), MPI_ERR_TAG);
    FAILS(MPI_Irecv(NULL, 1, MPI_INT, 0, 0, w, &r), MPI_ERR_BUFFER);
    FAILS(MPI_Recv_init(buf, -2, MPI_INT, 0, 0, w, &r), MPI_ERR_COUNT);
    FAILS(MPI_Sendrecv(buf, 1, MPI_INT, size, 0, buf, 1, MPI_INT, 0, 0, w, &st), MPI_ERR_RANK);
    FAILS(MPI_Probe(size, 0, w, &st), MPI_ERR_RANK);
    FAILS(MPI_Iprobe(0, -9, w, &flag, &st), MPI_ERR_TAG);
    FAILS(MPI_Mprobe(0, 0, MPI_COMM_NULL, &message, &st), MPI_ERR_COMM);
    OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    FAILS(MPI_Send(buf, 1, raw, 0, 0, w), MPI_ERR_TYPE);
    OK(MPI_Type_free(&raw));
}

static void of_requests(void)
{
    MPI_Request r, freed, array[2] = {MPI_REQUEST_NULL, (MPI_Request)buf};
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status st;
    int k, flag;

    OK(MPI_Irecv(buf, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
    freed = r;
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, &st));
    FAILS(MPI_Wait(&freed, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Test(&freed, &flag, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Waitall(2, array, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    FAILS(MPI_Waitany(-1, array, &k, &st), MPI_ERR_COUNT);
    FAILS(MPI_Start(&r), MPI_ERR_REQUEST);
    OK(MPI_Irecv(buf, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r));
    FAILS(MPI_Start(&r), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, &st));
    FAILS(MPI_Mrecv(buf, 1, MPI_INT, &message, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Parrived((MPI_Request)buf, 0, &flag), MPI_ERR_REQUEST);
}

/* A message that is too long: class, status, and the part that fits. */
static void of_lengths(void)
{
    int out[2] = {1, 2};
    MPI_Status st;
    MPI_Request r;
    int n;

    buf[1] = -1;
    OK(MPI_Isend(out, 2, MPI_INT, 0, 3, MPI_COMM_SELF, &r));
    FAILS(MPI_Recv(buf, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &st), MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(st.MPI_TAG, 3);
    OK(MPI_Get_count(&st, MPI_INT, &n));
    CHECK_EQ(n, 1);
    CHECK_EQ(buf[0], 1);
    CHECK_EQ(buf[1], -1);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    of_messages();
    of_requests();
    of_lengths();
    OK(MPI_Finalize());
    return 0;
}
