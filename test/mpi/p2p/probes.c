/* SPDX-License-Identifier: BSD-3-Clause */
/* Probing, matched probing, and cancelling (MPI-5.0 3.8). */
#include "../check.h"

#include <string.h>

enum { LONG = 50000 };

static int rank, size, to, from;
static int out[LONG], in[LONG];

static void probing(int n)
{
    MPI_Request r;
    MPI_Status st;
    int count, flag = 0;

    OK(MPI_Issend(out, n, MPI_INT, to, 7, MPI_COMM_WORLD, &r));
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
    CHECK_EQ(st.MPI_SOURCE, from);
    CHECK_EQ(st.MPI_TAG, 7);
    OK(MPI_Get_count(&st, MPI_INT, &count));
    CHECK_EQ(count, n);
    OK(MPI_Iprobe(from, 8, MPI_COMM_WORLD, &flag, &st));
    CHECK_EQ(flag, 0);
    OK(MPI_Iprobe(from, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 1);
    OK(MPI_Recv(in, n, MPI_INT, from, 7, MPI_COMM_WORLD, &st));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(memcmp(in, out, (size_t)n * sizeof(int)), 0);
}

static void matched(int n)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Request r[3];
    MPI_Status st;
    int flag = 0, count;

    for (int k = 0; k < 3; k++) {
        OK(MPI_Isend(out, n, MPI_INT, to, k, MPI_COMM_WORLD, &r[k]));
    }
    OK(MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, &st));
    CHECK(message != MPI_MESSAGE_NULL);
    OK(MPI_Get_count(&st, MPI_INT, &count));
    CHECK_EQ(count, n);
    OK(MPI_Iprobe(from, 1, MPI_COMM_WORLD, &flag, &st));
    CHECK_EQ(flag, 0); /* it was taken out */
    memset(in, 0, sizeof(in));
    OK(MPI_Mrecv(in, n, MPI_INT, &message, &st));
    CHECK(message == MPI_MESSAGE_NULL);
    CHECK_EQ(st.MPI_TAG, 1);
    CHECK_EQ(memcmp(in, out, (size_t)n * sizeof(int)), 0);
    while (!flag) {
        OK(MPI_Improbe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &message, &st));
    }
    OK(MPI_Mrecv_c(in, n, MPI_INT, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &st));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    {
        MPI_Request pending;

        if (n % 2) {
            OK(MPI_Imrecv(in, n, MPI_INT, &message, &pending));
        } else {
            OK(MPI_Imrecv_c(in, n, MPI_INT, &message, &pending));
        }
        OK(MPI_Wait(&pending, &st));
    }
    CHECK_EQ(st.MPI_TAG, 2);
    OK(MPI_Wait(&r[2], MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Improbe(from, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &st));
    CHECK_EQ(flag, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void nobody(void)
{
    MPI_Message message;
    MPI_Status st;
    int flag = 0;

    OK(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &st));
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &st));
    CHECK_EQ(flag, 1);
    OK(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &st));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(in, 1, MPI_INT, &message, &st));
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    CHECK(message == MPI_MESSAGE_NULL);
}

static void cancelling(void)
{
    MPI_Request r;
    MPI_Status st;
    int flag = 0;

    OK(MPI_Irecv(in, 1, MPI_INT, from, 99, MPI_COMM_WORLD, &r));
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, &st));
    OK(MPI_Test_cancelled(&st, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* It must not take a message after that. */
    OK(MPI_Sendrecv(out, 1, MPI_INT, to, 99, in, 1, MPI_INT, from, 99, MPI_COMM_WORLD, &st));
    OK(MPI_Test_cancelled(&st, &flag));
    CHECK_EQ(flag, 0);
    /* A synchronous send that nobody receives can be taken back while the receiver progresses. */
    OK(MPI_Issend(out, LONG, MPI_INT, to, 98, MPI_COMM_WORLD, &r));
    OK(MPI_Cancel(&r));
    for (flag = 0; !flag;) {
        OK(MPI_Test(&r, &flag, &st));
    }
    OK(MPI_Test_cancelled(&st, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(from, 98, MPI_COMM_WORLD, &flag, &st));
    CHECK_EQ(flag, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    for (int k = 0; k < LONG; k++) {
        out[k] = k;
    }
    for (int round = 0; round < 3; round++) {
        probing(1);
        probing(LONG);
        matched(1);
        matched(LONG);
    }
    nobody();
    cancelling();
    OK(MPI_Finalize());
    return 0;
}
