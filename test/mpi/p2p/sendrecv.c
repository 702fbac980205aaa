/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive in one call (MPI-5.0 3.10). */
#include "../check.h"

enum { LONG = 30000 };

static int rank, size, to, from;
static int out[LONG], in[LONG];

static void fill(int *buf, int n)
{
    for (int k = 0; k < n; k++) {
        buf[k] = rank * LONG + k;
    }
}

static void check(const int *buf, int n, const MPI_Status *st, int tag)
{
    for (int k = 0; k < n; k++) {
        CHECK_EQ(buf[k], from * LONG + k);
    }
    CHECK_EQ(st->MPI_SOURCE, from);
    CHECK_EQ(st->MPI_TAG, tag);
}

static void separate(int n)
{
    MPI_Request r;
    MPI_Status st;

    fill(out, n);
    OK(MPI_Sendrecv(out, n, MPI_INT, to, 1, in, LONG, MPI_INT, from, 1, MPI_COMM_WORLD, &st));
    check(in, n, &st, 1);
    OK(MPI_Sendrecv_c(out, n, MPI_INT, to, 2, in, LONG, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                      &st));
    check(in, n, &st, 2);
    OK(MPI_Isendrecv(out, n, MPI_INT, to, 3, in, LONG, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD,
                     &r));
    OK(MPI_Wait(&r, &st));
    check(in, n, &st, 3);
    OK(MPI_Isendrecv_c(out, n, MPI_INT, to, 4, in, LONG, MPI_INT, from, 4, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &st));
    check(in, n, &st, 4);
}

static void replacing(int n)
{
    MPI_Request r;
    MPI_Status st;

    fill(in, n);
    OK(MPI_Sendrecv_replace(in, n, MPI_INT, to, 5, from, 5, MPI_COMM_WORLD, &st));
    check(in, n, &st, 5);
    fill(in, n);
    OK(MPI_Sendrecv_replace_c(in, n, MPI_INT, to, 6, from, 6, MPI_COMM_WORLD, &st));
    check(in, n, &st, 6);
    fill(in, n);
    OK(MPI_Isendrecv_replace(in, n, MPI_INT, to, 7, from, 7, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &st));
    check(in, n, &st, 7);
    fill(in, n);
    OK(MPI_Isendrecv_replace_c(in, n, MPI_INT, to, 8, from, 8, MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, &st));
    check(in, n, &st, 8);
}

static void at_the_end_of_a_line(void)
{
    int up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int got = -1;
    MPI_Status st;

    OK(MPI_Sendrecv(&rank, 1, MPI_INT, up, 0, &got, 1, MPI_INT, down, 0, MPI_COMM_WORLD, &st));
    CHECK_EQ(got, rank > 0 ? rank - 1 : -1);
    CHECK_EQ(st.MPI_SOURCE, down);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    separate(1);
    separate(LONG);
    replacing(1);
    replacing(LONG);
    at_the_end_of_a_line();
    OK(MPI_Finalize());
    return 0;
}
