/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing requests: one, any, some, all; testing; looking without completing; errors in statuses
   (MPI-5.0 3.7.3 - 3.7.6). Every rank with itself and its neighbours. */
#include "../check.h"

enum { N = 12 };

static int rank, size, to, from;
static int out[N], in[N];
static MPI_Request recvs[N], sends[N];

static void post(void)
{
    for (int k = 0; k < N; k++) {
        in[k] = -1;
        OK(MPI_Irecv(&in[k], 1, MPI_INT, from, k, MPI_COMM_WORLD, &recvs[k]));
    }
}

static void send_all(void)
{
    for (int k = N - 1; k >= 0; k--) {
        out[k] = rank * 100 + k;
        OK(MPI_Isend(&out[k], 1, MPI_INT, to, k, MPI_COMM_WORLD, &sends[k]));
    }
}

static void check(int k, const MPI_Status *st)
{
    CHECK_EQ(in[k], from * 100 + k);
    CHECK_EQ(st->MPI_TAG, k);
    CHECK_EQ(st->MPI_SOURCE, from);
}

static void end(void)
{
    OK(MPI_Waitall(N, sends, MPI_STATUSES_IGNORE));
    for (int k = 0; k < N; k++) {
        CHECK(recvs[k] == MPI_REQUEST_NULL);
        CHECK(sends[k] == MPI_REQUEST_NULL);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void with_waitany(void)
{
    MPI_Status st;
    int k;

    post();
    send_all();
    for (int n = 0; n < N; n++) {
        OK(MPI_Waitany(N, recvs, &k, &st));
        check(k, &st);
    }
    OK(MPI_Waitany(N, recvs, &k, &st));
    CHECK_EQ(k, MPI_UNDEFINED);
    CHECK_EQ(st.MPI_SOURCE, MPI_ANY_SOURCE);
    end();
}

static void with_testany(void)
{
    MPI_Status st;
    int k, flag = 0;

    post();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Testany(N, recvs, &k, &flag, &st));
    CHECK_EQ(flag, 0);
    CHECK_EQ(k, MPI_UNDEFINED);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all();
    for (int n = 0; n < N; n += flag) {
        OK(MPI_Testany(N, recvs, &k, &flag, &st));
        if (flag) {
            check(k, &st);
        }
    }
    OK(MPI_Testany(N, recvs, &k, &flag, &st));
    CHECK_EQ(flag, 1);
    CHECK_EQ(k, MPI_UNDEFINED);
    end();
}

static void with_some(int is_test)
{
    MPI_Status st[N];
    int indices[N], n_done;

    post();
    send_all();
    for (int n = 0; n < N; n += n_done) {
        if (is_test) {
            OK(MPI_Testsome(N, recvs, &n_done, indices, st));
        } else {
            OK(MPI_Waitsome(N, recvs, &n_done, indices, st));
            CHECK(n_done > 0);
        }
        for (int k = 0; k < n_done; k++) {
            check(indices[k], &st[k]);
        }
    }
    OK(MPI_Waitsome(N, recvs, &n_done, indices, st));
    CHECK_EQ(n_done, MPI_UNDEFINED);
    OK(MPI_Testsome(N, recvs, &n_done, indices, MPI_STATUSES_IGNORE));
    CHECK_EQ(n_done, MPI_UNDEFINED);
    end();
}

static void with_all(void)
{
    MPI_Status st[N];
    int flag = 0;

    post();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Testall(N, recvs, &flag, st));
    CHECK_EQ(flag, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    send_all();
    while (!flag) {
        OK(MPI_Testall(N, recvs, &flag, st));
    }
    for (int k = 0; k < N; k++) {
        check(k, &st[k]);
    }
    OK(MPI_Testall(N, recvs, &flag, MPI_STATUSES_IGNORE));
    CHECK_EQ(flag, 1);
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    end();
}

static void by_looking(void)
{
    MPI_Status st[N];
    int indices[N], flag = 0, n_done, k;

    post();
    send_all();
    while (!flag) {
        OK(MPI_Request_get_status(recvs[N - 1], &flag, &st[0]));
    }
    check(N - 1, &st[0]);
    for (flag = 0; !flag;) {
        OK(MPI_Request_get_status_all(N, recvs, &flag, st));
    }
    for (k = 0; k < N; k++) {
        check(k, &st[k]);
        CHECK(recvs[k] != MPI_REQUEST_NULL);
    }
    OK(MPI_Request_get_status_any(N, recvs, &k, &flag, st));
    CHECK_EQ(flag, 1);
    check(k, st);
    OK(MPI_Request_get_status_some(N, recvs, &n_done, indices, st));
    CHECK_EQ(n_done, N);
    for (k = 0; k < N; k++) {
        check(indices[k], &st[k]);
        OK(MPI_Test(&recvs[k], &flag, &st[k]));
        CHECK_EQ(flag, 1);
        check(k, &st[k]);
    }
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, st));
    CHECK_EQ(flag, 1);
    OK(MPI_Request_get_status_some(N, recvs, &n_done, indices, st));
    CHECK_EQ(n_done, MPI_UNDEFINED);
    end();
}

/*
 * One operation is complete at every look, and stays so or begins anew: the other completes all the
 * same (the fairness of 3.7.5 and 3.7.6). Nobody sends before he has looked once.
 */
static void fairly(int how)
{
    MPI_Request r[2], send = MPI_REQUEST_NULL;
    MPI_Status st[2];
    int indices[2], n = 0;

    in[0] = -1;
    out[0] = rank * 100;
    OK(MPI_Irecv(&in[0], 1, MPI_INT, from, 0, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    while (n < 2) {
        OK(how == 0   ? MPI_Request_get_status_some(2, r, &n, indices, st)
           : how == 1 ? MPI_Testsome(2, r, &n, indices, st)
                      : MPI_Waitsome(2, r, &n, indices, st));
        CHECK(n >= 1 && indices[0] == 0);
        if (how > 0) {
            CHECK(r[0] == MPI_REQUEST_NULL);
            OK(MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r[0]));
        }
        if (send == MPI_REQUEST_NULL) {
            OK(MPI_Isend(&out[0], 1, MPI_INT, to, 0, MPI_COMM_WORLD, &send));
        }
    }
    CHECK_EQ(indices[1], 1);
    check(0, &st[1]);
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

/* One of the messages is too long: that status says so, and no other (3.7.5). */
static void with_an_error(void)
{
    MPI_Status st[N];
    int pair[2] = {rank, rank};

    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    post();
    for (int k = 0; k < N; k++) {
        out[k] = rank * 100 + k;
        OK(MPI_Isend(k == 5 ? pair : &out[k], k == 5 ? 2 : 1, MPI_INT, to, k, MPI_COMM_WORLD,
                     &sends[k]));
    }
    FAILS(MPI_Waitall(N, recvs, st), MPI_ERR_IN_STATUS);
    for (int k = 0; k < N; k++) {
        CHECK_EQ(st[k].MPI_ERROR, k == 5 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK_EQ(st[k].MPI_TAG, k);
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    end();
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    with_waitany();
    with_testany();
    with_some(0);
    with_some(1);
    with_all();
    by_looking();
    for (int round = 0; round < 30; round++) {
        fairly(round % 3);
    }
    with_an_error();
    OK(MPI_Finalize());
    return 0;
}
