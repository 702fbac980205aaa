/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls leave in statuses and handles: empty statuses where nothing is under way, those of
 * MPI_PROC_NULL, MPI_ERROR written if and only if a call answers MPI_ERR_IN_STATUS (MPI-5.0 3.2.5,
 * 3.7.3 - 3.7.6, 3.9, 3.10), requests that may not be started, freed or cancelled.
 */
#include "../check.h"

#include <string.h>

enum { ERROR_BEFORE = 79 };

static MPI_Comm self;

static MPI_Status fresh(void)
{
    MPI_Status st;

    memset(&st, 0x55, sizeof(st));
    st.MPI_ERROR = ERROR_BEFORE;
    return st;
}

static void refresh(MPI_Status *st, int n)
{
    for (int k = 0; k < n; k++) {
        st[k] = fresh();
    }
}

/* A status that holds no message. */
static void expect_nothing(const MPI_Status *st, int source, int error)
{
    int n = -1, is_cancelled = -1;

    CHECK_EQ(st->MPI_SOURCE, source);
    CHECK_EQ(st->MPI_TAG, MPI_ANY_TAG);
    CHECK_EQ(st->MPI_ERROR, error);
    OK(MPI_Get_count(st, MPI_INT, &n));
    CHECK_EQ(n, 0);
    OK(MPI_Get_elements(st, MPI_INT, &n));
    CHECK_EQ(n, 0);
    OK(MPI_Test_cancelled(st, &is_cancelled));
    CHECK_EQ(is_cancelled, 0);
}

/* An empty status has MPI_ERROR = MPI_SUCCESS (3.7.3) ... */
#define EMPTY(call)                                                                                \
    do {                                                                                           \
        st = fresh();                                                                              \
        OK(call);                                                                                  \
        expect_nothing(&st, MPI_ANY_SOURCE, MPI_SUCCESS);                                          \
    } while (0)

/* ... and that of a message from MPI_PROC_NULL is left alone (3.2.5, 3.10). */
#define FROM_NOBODY(call)                                                                          \
    do {                                                                                           \
        st = fresh();                                                                              \
        OK(call);                                                                                  \
        expect_nothing(&st, MPI_PROC_NULL, ERROR_BEFORE);                                          \
    } while (0)

/* One that is null and one that is persistent and not started. */
static void idle(void)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st, all[2];
    int x = 0, flag, index, n, indices[2];

    OK(MPI_Recv_init(&x, 1, MPI_INT, 0, 1, self, &r[1]));
    for (int k = 0; k < 2; k++) {
        EMPTY(MPI_Wait(&r[k], &st));
        EMPTY(MPI_Test(&r[k], &flag, &st));
        CHECK_EQ(flag, 1);
        EMPTY(MPI_Request_get_status(r[k], &flag, &st));
        CHECK_EQ(flag, 1);
    }
    CHECK(r[1] != MPI_REQUEST_NULL);
    for (int n_all = 0; n_all <= 2; n_all += 2) {
        EMPTY(MPI_Waitany(n_all, r, &index, &st));
        CHECK_EQ(index, MPI_UNDEFINED);
        EMPTY(MPI_Testany(n_all, r, &index, &flag, &st));
        CHECK(flag == 1 && index == MPI_UNDEFINED);
        EMPTY(MPI_Request_get_status_any(n_all, r, &index, &flag, &st));
        CHECK(flag == 1 && index == MPI_UNDEFINED);
        OK(MPI_Waitsome(n_all, r, &n, indices, all));
        CHECK_EQ(n, MPI_UNDEFINED);
        OK(MPI_Testsome(n_all, r, &n, indices, all));
        CHECK_EQ(n, MPI_UNDEFINED);
        OK(MPI_Request_get_status_some(n_all, r, &n, indices, all));
        CHECK_EQ(n, MPI_UNDEFINED);
    }
    for (int how = 0; how < 3; how++) {
        refresh(all, 2);
        flag = 1;
        OK(how == 0   ? MPI_Waitall(2, r, all)
           : how == 1 ? MPI_Testall(2, r, &flag, all)
                      : MPI_Request_get_status_all(2, r, &flag, all));
        CHECK_EQ(flag, 1);
        expect_nothing(&all[0], MPI_ANY_SOURCE, MPI_SUCCESS);
        expect_nothing(&all[1], MPI_ANY_SOURCE, MPI_SUCCESS);
    }
    OK(MPI_Waitall(0, NULL, NULL));
    OK(MPI_Testall(0, NULL, &flag, NULL));
    OK(MPI_Startall(0, NULL));
    OK(MPI_Request_free(&r[1]));
}

/* Four receives with tags 0..3; the message of tag `longer` has two ints for one. */
static void exchange(MPI_Request r[4], int in[4], int longer)
{
    int out[2] = {7, 8};

    for (int k = 0; k < 4; k++) {
        OK(MPI_Irecv(&in[k], 1, MPI_INT, 0, k, self, &r[k]));
    }
    for (int k = 0; k < 4; k++) {
        OK(MPI_Send(out, k == longer ? 2 : 1, MPI_INT, 0, k, self));
    }
}

static void errors_stay(void)
{
    MPI_Request r[4];
    MPI_Status st[4];
    int in[4], indices[4], flag = 0, n, k;

    exchange(r, in, -1);
    for (k = 0; k < 4; k += n) {
        refresh(st, 4);
        OK(MPI_Request_get_status_some(4, r, &n, indices, st));
        CHECK(n > 0 && st[0].MPI_ERROR == ERROR_BEFORE);
        OK(k % 2 ? MPI_Testsome(4, r, &n, indices, st) : MPI_Waitsome(4, r, &n, indices, st));
        for (int i = 0; i < n; i++) {
            CHECK_EQ(st[i].MPI_ERROR, ERROR_BEFORE);
            CHECK_EQ(st[i].MPI_TAG, indices[i]);
        }
    }
    exchange(r, in, -1);
    refresh(st, 4);
    while (!flag) {
        OK(MPI_Request_get_status_all(4, r, &flag, st));
    }
    OK(MPI_Request_get_status_any(4, r, &k, &flag, &st[3]));
    OK(MPI_Waitall(4, r, st));
    for (k = 0; k < 4; k++) {
        CHECK(st[k].MPI_ERROR == ERROR_BEFORE && st[k].MPI_TAG == k);
        CHECK(r[k] == MPI_REQUEST_NULL);
    }
    exchange(r, in, 2);
    for (k = 0; k < 4; k++) {
        st[k] = fresh();
        FAILS(MPI_Wait(&r[k], &st[k]), k == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        CHECK(st[k].MPI_ERROR == ERROR_BEFORE && r[k] == MPI_REQUEST_NULL);
    }
}

/* One failed: now all are written, those before it too, and those of null requests. */
static void errors_are_told(void)
{
    MPI_Request r[5];
    MPI_Status st[5];
    int in[4], indices[5], flag, n;

    for (int how = 0; how < 3; how++) {
        exchange(r, in, 2);
        r[4] = MPI_REQUEST_NULL;
        refresh(st, 5);
        for (flag = 0; !flag;) {
            OK(MPI_Request_get_status_all(5, r, &flag, st));
        }
        CHECK(st[0].MPI_ERROR == MPI_SUCCESS && st[4].MPI_ERROR == MPI_SUCCESS);
        CHECK_EQ(st[2].MPI_ERROR, MPI_ERR_TRUNCATE);
        refresh(st, 5);
        if (how == 0) {
            FAILS(MPI_Waitall(5, r, st), MPI_ERR_IN_STATUS);
            CHECK_EQ(st[4].MPI_ERROR, MPI_SUCCESS);
        } else if (how == 1) {
            FAILS(MPI_Waitsome(5, r, &n, indices, st), MPI_ERR_IN_STATUS);
            CHECK_EQ(n, 4);
        } else {
            FAILS(MPI_Waitall(5, r, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
        }
        for (int k = 0; k < 4; k++) {
            CHECK(how == 2 ||
                  st[k].MPI_ERROR == (st[k].MPI_TAG == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
            CHECK(r[k] == MPI_REQUEST_NULL);
        }
    }
}

static void from_nobody(void)
{
    const int nobody = MPI_PROC_NULL;
    int x = 5, y = 6, flag = 0;
    MPI_Message message;
    MPI_Request r;
    MPI_Status st;

    FROM_NOBODY(MPI_Recv(&x, 1, MPI_INT, nobody, 3, self, &st));
    FROM_NOBODY(MPI_Probe(nobody, 3, self, &st));
    FROM_NOBODY(MPI_Iprobe(nobody, MPI_ANY_TAG, self, &flag, &st));
    CHECK_EQ(flag, 1);
    FROM_NOBODY(MPI_Mprobe(nobody, 3, self, &message, &st));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    FROM_NOBODY(MPI_Mrecv(&x, 1, MPI_INT, &message, &st));
    CHECK(message == MPI_MESSAGE_NULL);
    FAILS(MPI_Mrecv(&x, 1, MPI_INT, &message, &st), MPI_ERR_REQUEST);
    FROM_NOBODY(MPI_Improbe(nobody, 3, self, &flag, &message, &st));
    CHECK(flag == 1 && message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Imrecv(&x, 1, MPI_INT, &message, &r));
    CHECK(message == MPI_MESSAGE_NULL);
    FROM_NOBODY(MPI_Wait(&r, &st));
    OK(MPI_Irecv(&x, 1, MPI_INT, nobody, 3, self, &r));
    FROM_NOBODY(MPI_Wait(&r, &st));
    FROM_NOBODY(MPI_Sendrecv(&x, 1, MPI_INT, nobody, 0, &y, 1, MPI_INT, nobody, 0, self, &st));
    FROM_NOBODY(MPI_Sendrecv_replace(&x, 1, MPI_INT, nobody, 0, nobody, 0, self, &st));
    OK(MPI_Isendrecv(&x, 1, MPI_INT, nobody, 0, &y, 1, MPI_INT, nobody, 0, self, &r));
    FROM_NOBODY(MPI_Wait(&r, &st));
    OK(MPI_Isendrecv_replace(&x, 1, MPI_INT, nobody, 0, nobody, 0, self, &r));
    FROM_NOBODY(MPI_Wait(&r, &st));
    OK(MPI_Recv_init(&x, 1, MPI_INT, nobody, 3, self, &r));
    for (int k = 0; k < 2; k++) {
        OK(MPI_Start(&r));
        FROM_NOBODY(MPI_Wait(&r, &st));
    }
    OK(MPI_Request_free(&r));
    OK(MPI_Precv_init(&x, 1, 1, MPI_INT, nobody, 0, self, MPI_INFO_NULL, &r));
    OK(MPI_Start(&r));
    FROM_NOBODY(MPI_Wait(&r, &st));
    OK(MPI_Request_free(&r));
    CHECK(x == 5 && y == 6);
}

/* Either all requests of an array start, or none. */
static void all_or_none(void)
{
    int x = 1, flag = 1;
    MPI_Request r[3];

    OK(MPI_Send_init(&x, 1, MPI_INT, 0, 9, self, &r[0]));
    OK(MPI_Irecv(&x, 1, MPI_INT, 0, 10, self, &r[1]));
    r[2] = MPI_REQUEST_NULL;
    FAILS(MPI_Startall(3, r), MPI_ERR_REQUEST);
    FAILS(MPI_Startall(2, r), MPI_ERR_REQUEST);
    OK(MPI_Iprobe(0, 9, self, &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, 0);
    OK(MPI_Cancel(&r[1]));
    OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    OK(MPI_Start(&r[0]));
    FAILS(MPI_Start(&r[0]), MPI_ERR_REQUEST);
    OK(MPI_Recv(&x, 1, MPI_INT, 0, 9, self, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r[0]));
    FAILS(MPI_Request_free(&r[0]), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&r[0]), MPI_ERR_REQUEST);
}

/* What one round of a persistent request left is not told of the next (3.9). */
static void anew(void)
{
    int out[2] = {7, 8}, in = 0, flag, n;
    MPI_Request r;
    MPI_Status st;

    OK(MPI_Recv_init(&in, 1, MPI_INT, 0, 12, self, &r));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&r));
        OK(MPI_Cancel(&r));
        OK(MPI_Wait(&r, &st));
        OK(MPI_Test_cancelled(&st, &flag));
        CHECK_EQ(flag, 1);
        OK(MPI_Start(&r));
        OK(MPI_Send(out, 2, MPI_INT, 0, 12, self));
        FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        CHECK(r != MPI_REQUEST_NULL);
        in = 0;
        OK(MPI_Start(&r));
        OK(MPI_Send(out, 1, MPI_INT, 0, 12, self));
        OK(MPI_Wait(&r, &st));
        OK(MPI_Test_cancelled(&st, &flag));
        OK(MPI_Get_count(&st, MPI_INT, &n));
        CHECK(!flag && n == 1 && in == 7);
    }
    OK(MPI_Request_free(&r));
}

/* A null request, one that is complete, one not started, one that waits, another complete one. */
static void mixed(MPI_Request r[5], int in[5])
{
    int out = 6;

    r[0] = MPI_REQUEST_NULL;
    for (int k = 1; k < 5; k++) {
        OK(k == 2 ? MPI_Recv_init(&in[k], 1, MPI_INT, 0, k, self, &r[k])
                  : MPI_Irecv(&in[k], 1, MPI_INT, 0, k, self, &r[k]));
    }
    OK(MPI_Send(&out, 1, MPI_INT, 0, 4, self));
    OK(MPI_Send(&out, 1, MPI_INT, 0, 1, self));
}

static void end_mixed(MPI_Request r[5])
{
    int out = 6;

    OK(MPI_Send(&out, 1, MPI_INT, 0, 3, self));
    OK(MPI_Waitall(5, r, MPI_STATUSES_IGNORE));
    CHECK(r[1] == MPI_REQUEST_NULL && r[2] != MPI_REQUEST_NULL && r[3] == MPI_REQUEST_NULL);
    OK(MPI_Request_free(&r[2]));
}

/* The indices are those of the array; what is idle or waits is not touched. */
static void some_of_them(void)
{
    MPI_Request r[5], waiting;
    MPI_Status st[5];
    int in[5], indices[5], n, flag;

    for (int how = 0; how < 3; how++) {
        mixed(r, in);
        waiting = r[3];
        refresh(st, 5);
        OK(how == 0   ? MPI_Request_get_status_some(5, r, &n, indices, st)
           : how == 1 ? MPI_Testsome(5, r, &n, indices, st)
                      : MPI_Waitsome(5, r, &n, indices, st));
        CHECK_EQ(n, 2);
        for (int k = 0; k < 2; k++) {
            CHECK_EQ(indices[k], k ? 4 : 1);
            CHECK_EQ(st[k].MPI_TAG, indices[k]);
            CHECK_EQ(in[indices[k]], 6);
            CHECK((r[indices[k]] == MPI_REQUEST_NULL) == (how > 0));
        }
        CHECK(r[3] == waiting && st[2].MPI_TAG == fresh().MPI_TAG);
        if (how > 0) {
            OK(MPI_Testsome(5, r, &n, indices, st));
            CHECK_EQ(n, 0);
            OK(MPI_Request_get_status_some(5, r, &n, indices, st));
            CHECK_EQ(n, 0);
        }
        OK(MPI_Testall(5, r, &flag, st));
        CHECK_EQ(flag, 0);
        OK(MPI_Request_get_status_all(5, r, &flag, st));
        CHECK_EQ(flag, 0);
        CHECK(r[3] == waiting);
        end_mixed(r);
    }
}

static void any_of_them(void)
{
    MPI_Request r[5], before[5];
    MPI_Status st;
    int in[5], index, flag;

    mixed(r, in);
    memcpy(before, r, sizeof(r));
    OK(MPI_Testall(5, r, &flag, MPI_STATUSES_IGNORE));
    CHECK(!flag && memcmp(before, r, sizeof(r)) == 0);
    OK(MPI_Request_get_status_any(5, r, &index, &flag, &st));
    CHECK(flag && (index == 1 || index == 4) && st.MPI_TAG == index);
    CHECK(memcmp(before, r, sizeof(r)) == 0);
    OK(MPI_Waitany(5, r, &index, &st));
    CHECK((index == 1 || index == 4) && st.MPI_TAG == index && r[index] == MPI_REQUEST_NULL);
    CHECK_EQ(r[5 - index] == MPI_REQUEST_NULL, 0);
    OK(MPI_Testany(5, r, &index, &flag, &st));
    CHECK(flag && (index == 1 || index == 4) && st.MPI_TAG == index);
    CHECK(r[1] == MPI_REQUEST_NULL && r[4] == MPI_REQUEST_NULL && r[3] == before[3]);
    OK(MPI_Testany(5, r, &index, &flag, &st));
    CHECK(!flag && index == MPI_UNDEFINED);
    OK(MPI_Request_get_status_any(5, r, &index, &flag, &st));
    CHECK(!flag && index == MPI_UNDEFINED);
    end_mixed(r);
}

static MPI_Comm handled;
static int n_handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    n_handled += *comm == handled && (*code == MPI_ERR_TRUNCATE || *code == MPI_ERR_IN_STATUS);
}

/* Errors of what a request or a message stands for are its communicator's (3.8.3, 9.3), also when
   that was freed meanwhile by its user. */
static void whose_errors(void)
{
    int out[2] = {1, 2}, in, flag, n, index;
    MPI_Errhandler eh;
    MPI_Message message;
    MPI_Request r, sent;

    OK(MPI_Comm_create_errhandler(on_error, &eh));
    for (int how = 0; how < 8; how++) {
        OK(MPI_Comm_dup(self, &handled));
        OK(MPI_Comm_set_errhandler(handled, eh));
        n_handled = 0;
        OK(MPI_Isend(out, 2, MPI_INT, 0, 1, handled, &sent));
        if (how < 2) {
            OK(MPI_Mprobe(0, 1, handled, &message, MPI_STATUS_IGNORE));
        }
        if (how == 0) {
            FAILS(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
            CHECK(message == MPI_MESSAGE_NULL);
        } else {
            MPI_Comm handle = handled;

            OK(how == 1 ? MPI_Imrecv(&in, 1, MPI_INT, &message, &r)
                        : MPI_Irecv(&in, 1, MPI_INT, 0, 1, handled, &r));
            OK(MPI_Comm_free(&handle));
            switch (how) {
            case 1:
            case 2:
                FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
                break;
            case 3:
                FAILS(MPI_Test(&r, &flag, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
                break;
            case 4:
                FAILS(MPI_Waitany(1, &r, &index, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
                break;
            case 5:
                FAILS(MPI_Testany(1, &r, &index, &flag, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
                break;
            case 6:
                FAILS(MPI_Waitall(1, &r, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
                break;
            default:
                FAILS(MPI_Testsome(1, &r, &n, &index, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
            }
            CHECK(r == MPI_REQUEST_NULL);
        }
        CHECK_EQ(n_handled, 1);
        CHECK_EQ(in, 1);
        OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
        if (how == 0) {
            OK(MPI_Comm_free(&handled));
        }
    }
    OK(MPI_Errhandler_free(&eh));
}

/* Collective and partitioned operations can but be completed (4.2.1, 6.12, 6.13). */
static void must_complete(void)
{
    MPI_Request r, other;
    int x = 1, y = 0;

    OK(MPI_Ibarrier(self, &r));
    FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Barrier_init(self, MPI_INFO_NULL, &r));
    OK(MPI_Start(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
    OK(MPI_Psend_init(&x, 1, 1, MPI_INT, 0, 3, self, MPI_INFO_NULL, &r));
    OK(MPI_Start(&r));
    FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
    OK(MPI_Pready(0, r));
    FAILS(MPI_Pready(0, r), MPI_ERR_ARG);
    OK(MPI_Precv_init(&y, 1, 1, MPI_INT, 0, 3, self, MPI_INFO_NULL, &other));
    OK(MPI_Start(&other));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&other));
    CHECK_EQ(y, 1);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    self = MPI_COMM_SELF;
    OK(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    idle();
    errors_stay();
    errors_are_told();
    from_nobody();
    all_or_none();
    anew();
    some_of_them();
    any_of_them();
    whose_errors();
    must_complete();
    OK(MPI_Finalize());
    return 0;
}
