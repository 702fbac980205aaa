/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits that last: rank 1 answers only after a line on its standard input, which
 * test_stall.py writes when it has read the report of rank 0.
 *
 *     stall recv|finalize|waitall
 */
#include "../check.h"

#include <string.h>

enum { TAG = 7, LEN = 1 << 20 };

static char data[LEN], more[LEN];

static void recv_late(int is_late)
{
    if (is_late) {
        CHECK(getchar() != EOF);
        OK(MPI_Send(data, 4, MPI_CHAR, 0, TAG, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(data, 4, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void waitall_late(int is_late)
{
    MPI_Request r[2];

    if (is_late) {
        CHECK(getchar() != EOF);
        OK(MPI_Recv(data, LEN, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(data, LEN, MPI_CHAR, 0, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Issend(data, LEN, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Issend(more, LEN, MPI_CHAR, 1, TAG + 1, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    }
}

/* A send that nobody has received keeps MPI_Finalize. */
static void finalize_late(int is_late)
{
    MPI_Request r;

    if (is_late) {
        CHECK(getchar() != EOF);
        OK(MPI_Recv(data, LEN, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Isend(data, LEN, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &r));
        OK(MPI_Request_free(&r));
    }
}

int main(int argc, char **argv)
{
    int rank;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(argc > 1);
    if (strcmp(argv[1], "recv") == 0) {
        recv_late(rank == 1);
    } else if (strcmp(argv[1], "waitall") == 0) {
        waitall_late(rank == 1);
    } else {
        finalize_late(rank == 1);
    }
    OK(MPI_Finalize());
    return 0;
}
