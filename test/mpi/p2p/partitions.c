/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication (MPI-5.0 chapter 4): parts arrive as they become ready, in any order,
   however the two sides divide the data. */
#include "../check.h"

#include <string.h>

enum { TOTAL = 24000 };

static int rank, size, to, from;
static int out[TOTAL], in[TOTAL];

static void fill(int round)
{
    for (int k = 0; k < TOTAL; k++) {
        out[k] = rank + round * 7 + k;
        in[k] = -1;
    }
}

static void check(int round, int first, int n)
{
    for (int k = first; k < first + n; k++) {
        CHECK_EQ(in[k], from + round * 7 + k);
    }
}

static void divided(int n_out, int n_in)
{
    MPI_Request r[2];
    MPI_Status st[2];

    OK(MPI_Psend_init(out, n_out, TOTAL / n_out, MPI_INT, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &r[0]));
    OK(MPI_Precv_init_c(in, n_in, TOTAL / n_in, MPI_INT, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &r[1]));
    for (int round = 0; round < 3; round++) {
        fill(round);
        OK(MPI_Startall(2, r));
        for (int k = n_out - 1; k >= 0; k -= 2) {
            OK(MPI_Pready(k, r[0]));
        }
        for (int k = n_out - 2; k >= 0; k -= 2) {
            OK(MPI_Pready_range(k, k, r[0]));
        }
        for (int k = 0, flag = 0; k < n_in; k++, flag = 0) {
            while (!flag) {
                OK(MPI_Parrived(r[1], k, &flag));
            }
            check(round, k * (TOTAL / n_in), TOTAL / n_in);
        }
        OK(MPI_Waitall(2, r, st));
        CHECK_EQ(st[1].MPI_SOURCE, from);
        CHECK_EQ(st[1].MPI_TAG, 4);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

/* Partitions without data arrive when the sender has made them ready, as all others do. */
static void of_nothing(int n_out, int n_in)
{
    MPI_Request r[2];
    int flag;

    OK(MPI_Psend_init(NULL, n_out, 0, MPI_INT, to, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    OK(MPI_Precv_init(NULL, n_in, 0, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Start(&r[1]));
        for (int k = 0; k < n_in; k++) {
            OK(MPI_Parrived(r[1], k, &flag));
            CHECK_EQ(flag, 0);
        }
        OK(MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Start(&r[0]));
        OK(MPI_Pready_range(0, n_out - 1, r[0]));
        for (int k = 0; k < n_in; k++) {
            for (flag = 0; !flag;) {
                OK(MPI_Parrived(r[1], k, &flag));
            }
        }
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

/* A part is there while another one has not even been made ready. */
static void early(void)
{
    const int first[] = {2, 0};
    MPI_Request r[2];
    int flag = 0;

    OK(MPI_Precv_init(in, 4, TOTAL / 4, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    OK(MPI_Psend_init_c(out, 4, TOTAL / 4, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    fill(0);
    OK(MPI_Startall(2, r));
    OK(MPI_Pready_list(2, first, r[0]));
    while (!flag) {
        OK(MPI_Parrived(r[1], 2, &flag));
    }
    check(0, 2 * (TOTAL / 4), TOTAL / 4);
    OK(MPI_Parrived(r[1], 1, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Pready(1, r[0]));
    OK(MPI_Pready(3, r[0]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    check(0, 0, TOTAL);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

/* Parts of the sender that end in the midst of the receiver's elements. */
static void across_elements(void)
{
    MPI_Datatype pair;
    MPI_Request r[2];

    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    OK(MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Psend_init(out, 10, 3, MPI_INT, to, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    OK(MPI_Precv_init(in, 5, 3, pair, from, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    fill(1);
    OK(MPI_Startall(2, r));
    OK(MPI_Pready_range(0, 9, r[0]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 30; k++) {
        CHECK_EQ(in[k * 2], from + 7 + k);
        CHECK_EQ(in[k * 2 + 1], -1);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    OK(MPI_Type_free(&pair));
}

/* The sender has more than the receiver expects, or less, in partitions that no buffer between them
   takes: the receiver has an error, nobody waits for ever, and the next round is like it. */
static void misfits(void)
{
    enum { LONG = 1 << 18 };
    static int much[2 * LONG], room[2 * LONG];
    MPI_Request r[2];
    int flag;

    for (int n_parts = 1; n_parts <= 2; n_parts++) {
        OK(MPI_Psend_init(much, n_parts, LONG, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &r[0]));
        OK(MPI_Precv_init(room, 3 - n_parts, LONG, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &r[1]));
        for (int round = 0; round < 2; round++) {
            memset(room, 0x11, sizeof(room));
            OK(MPI_Startall(2, r));
            OK(MPI_Parrived(r[1], 0, &flag));
            OK(MPI_Pready_range(0, n_parts - 1, r[0]));
            OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
            FAILS(MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
            CHECK(room[0] == 0x11111111);
        }
        OK(MPI_Request_free(&r[0]));
        OK(MPI_Request_free(&r[1]));
    }
}

static void refused(void)
{
    MPI_Request r;

    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_Psend_init(out, -1, 1, MPI_INT, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
          MPI_ERR_ARG);
    FAILS(MPI_Psend_init(out, 0, 1, MPI_INT, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
          MPI_ERR_ARG);
    FAILS(MPI_Precv_init_c(in, 0, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
          MPI_ERR_ARG);
    FAILS(MPI_Precv_init(in, 1, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
          MPI_ERR_TAG);
    FAILS(MPI_Precv_init(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
          MPI_ERR_RANK);
    OK(MPI_Psend_init(out, 2, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    FAILS(MPI_Pready(0, r), MPI_ERR_REQUEST);
    OK(MPI_Start(&r));
    FAILS(MPI_Pready(2, r), MPI_ERR_ARG);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    divided(1, 1);
    divided(8, 8);
    divided(24, 3);
    divided(2, 16);
    of_nothing(4, 4);
    of_nothing(2, 3);
    of_nothing(5, 1);
    early();
    across_elements();
    refused();
    misfits();
    OK(MPI_Finalize());
    return 0;
}
