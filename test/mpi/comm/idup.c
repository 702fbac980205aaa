/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_idup, MPI_Comm_idup_with_info (MPI-5.0 7.4.2) and MPI_Comm_disconnect (11.10.4). Any
   number of ranks. */
#include "../check.h"

#include <string.h>

#define MANY 2000

static int rank, size;

/* Messages of a communicator do not stray into another one. */
static void check_talk(MPI_Comm comm, int number)
{
    int n, me, in = -1, out;
    MPI_Request req;

    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    out = number * 64 + me;
    OK(MPI_Irecv(&in, 1, MPI_INT, (me + n - 1) % n, 3, comm, &req));
    OK(MPI_Send(&out, 1, MPI_INT, (me + 1) % n, 3, comm));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK_EQ(in, number * 64 + (me + n - 1) % n);
}

static void check_same(MPI_Comm a, MPI_Comm b)
{
    int result;

    OK(MPI_Comm_compare(a, b, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
}

static void one(void)
{
    MPI_Comm dup = MPI_COMM_NULL, again;
    MPI_Request req;

    OK(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &req));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK(req == MPI_REQUEST_NULL);
    check_same(MPI_COMM_WORLD, dup);
    check_talk(dup, 1);
    OK(MPI_Comm_idup(dup, &again, &req)); /* the origin may go while it is under way */
    OK(MPI_Comm_free(&dup));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    check_same(MPI_COMM_WORLD, again);
    check_talk(again, 2);
    OK(MPI_Comm_free(&again));
}

/* Not to be used before it is complete. Nothing completes while no rank but one has called. */
static void early(void)
{
    MPI_Comm dup, other;
    MPI_Request req;
    int n;

    if (size == 1) {
        return;
    }
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    if (rank == 0) {
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &req));
        FAILS(MPI_Comm_size(dup, &n), MPI_ERR_COMM);
        FAILS(MPI_Comm_free(&dup), MPI_ERR_COMM);
        FAILS(MPI_Request_free(&req), MPI_ERR_REQUEST);
    }
    MPI_Barrier(other);
    if (rank != 0) {
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &req));
    }
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    OK(MPI_Comm_size(dup, &n));
    CHECK_EQ(n, size);
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_free(&other));
}

/* Thousands at a time, with other collectives among them. */
static void many(void)
{
    static MPI_Comm dups[MANY];
    static MPI_Request reqs[MANY];

    for (int i = 0; i < MANY; i++) {
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &dups[i], &reqs[i]));
        if (i % 500 == 0) {
            int sum = 0;

            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK_EQ(sum, i * size);
        }
    }
    OK(MPI_Waitall(MANY, reqs, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i += 97) {
        check_talk(dups[i], i);
    }
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Comm_free(&dups[i]));
    }
}

/* Duplicates of two communicators, begun in another order by each rank: the proposals cross. */
static void crossing(void)
{
    enum { N = 300 };
    static MPI_Comm dups[2][N];
    MPI_Comm origins[2];
    MPI_Request reqs[2][N];

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &origins[0]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &origins[1]));
    for (int i = 0; i < N; i++) {
        int first = (rank + i) % 2;

        OK(MPI_Comm_idup(origins[first], &dups[first][i], &reqs[first][i]));
        OK(MPI_Comm_idup(origins[!first], &dups[!first][i], &reqs[!first][i]));
    }
    OK(MPI_Waitall(2 * N, reqs[0], MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        check_talk(dups[0][i], 2 * i);
        check_talk(dups[1][i], 2 * i + 1);
    }
    for (int i = 0; i < N; i++) {
        OK(MPI_Comm_free(&dups[0][i]));
        OK(MPI_Comm_free(&dups[1][i]));
    }
    OK(MPI_Comm_free(&origins[0]));
    OK(MPI_Comm_free(&origins[1]));
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    ++*(int *)extra;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    return MPI_ERR_OTHER;
}

/* Attributes count as they are when the call is made; hints are those of the call. */
static void attributes(void)
{
    static int value = 7, later = 8;
    int keyval, refusing, n_copies = 0, flag, *got = NULL;
    MPI_Comm origin, dup;
    MPI_Request req;
    MPI_Info info;
    char text[8];

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &origin));
    MPI_Comm_set_errhandler(origin, MPI_ERRORS_RETURN);
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, &n_copies));
    OK(MPI_Comm_set_attr(origin, keyval, &value));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_idup_with_info(origin, info, &dup, &req));
    CHECK_EQ(n_copies, 1);
    OK(MPI_Comm_set_attr(origin, keyval, &later));
    OK(MPI_Info_free(&info));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    OK(MPI_Comm_get_attr(dup, keyval, &got, &flag));
    CHECK(flag && got == &value);
    OK(MPI_Comm_get_info(dup, &info));
    OK(MPI_Info_get(info, "mpi_assert_no_any_tag", 7, text, &flag));
    CHECK(flag && strcmp(text, "true") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &refusing, NULL));
    OK(MPI_Comm_set_attr(origin, refusing, &value));
    FAILS(MPI_Comm_idup(origin, &dup, &req), MPI_ERR_OTHER);
    CHECK(dup == MPI_COMM_NULL && req == MPI_REQUEST_NULL);
    OK(MPI_Comm_free(&origin));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Comm_free_keyval(&refusing));
}

static void inter(void)
{
    enum { N = 50 };
    MPI_Comm half, both, dups[N], merged;
    MPI_Request reqs[N];
    int side = rank % 2;

    if (size < 2) {
        return;
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 1, &both));
    for (int i = 0; i < N; i++) {
        OK(MPI_Comm_idup(both, &dups[i], &reqs[i]));
    }
    OK(MPI_Waitall(N, reqs, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        int sum = 0, n;

        MPI_Comm_remote_size(dups[i], &n);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, dups[i]);
        CHECK_EQ(sum, n * i);
    }
    OK(MPI_Intercomm_merge(dups[N - 1], side, &merged));
    check_talk(merged, 5);
    OK(MPI_Comm_free(&merged));
    for (int i = 0; i < N; i++) {
        OK(MPI_Comm_disconnect(&dups[i]));
    }
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_free(&half));
}

/* The duplicate of a grid is a grid. */
static void topology(void)
{
    int dims[1] = {size}, periods[1] = {1}, status, n = 0;
    MPI_Comm cart, dup;
    MPI_Request req;

    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
    OK(MPI_Comm_idup(cart, &dup, &req));
    OK(MPI_Comm_free(&cart));
    OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
    OK(MPI_Topo_test(dup, &status));
    CHECK_EQ(status, MPI_CART);
    OK(MPI_Cartdim_get(dup, &n));
    CHECK_EQ(n, 1);
    OK(MPI_Comm_free(&dup));
}

/* Buffered, nonblocking and freed operations are complete before it returns. */
static void disconnect(void)
{
    static char buffer[1 << 16], in[100000], out[100000];
    MPI_Comm dup, null = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Request reqs[3];
    int next = (rank + 1) % size, prev = (rank + size - 1) % size, a = rank, b = -1;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI_Buffer_attach(buffer, sizeof(buffer));
    memset(out, rank + 1, sizeof(out));
    OK(MPI_Irecv(in, sizeof(in), MPI_CHAR, prev, 1, dup, &reqs[0]));
    OK(MPI_Irecv(&b, 1, MPI_INT, prev, 2, dup, &reqs[1]));
    OK(MPI_Bsend(&a, 1, MPI_INT, next, 2, dup));
    OK(MPI_Isend(out, sizeof(out), MPI_CHAR, next, 1, dup, &reqs[2]));
    OK(MPI_Request_free(&reqs[2]));
    OK(MPI_Comm_disconnect(&dup));
    CHECK(dup == MPI_COMM_NULL);
    CHECK_EQ(b, prev);
    CHECK_EQ(in[sizeof(in) - 1], (char)(prev + 1));
    OK(MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE));
    memset(out, 0, sizeof(out)); /* the freed send is complete, too */
    void *addr;
    int len;

    MPI_Buffer_detach(&addr, &len);
    FAILS(MPI_Comm_disconnect(&world), MPI_ERR_COMM);
    FAILS(MPI_Comm_disconnect(&null), MPI_ERR_COMM);
    FAILS(MPI_Comm_disconnect(NULL), MPI_ERR_ARG);
}

static void refused(void)
{
    MPI_Comm dup;
    MPI_Request req;

    FAILS(MPI_Comm_idup(MPI_COMM_NULL, &dup, &req), MPI_ERR_COMM);
    FAILS(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &req), MPI_ERR_ARG);
    FAILS(MPI_Comm_idup(MPI_COMM_WORLD, &dup, NULL), MPI_ERR_ARG);
    FAILS(MPI_Comm_idup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &dup, &req), MPI_ERR_COMM);
    FAILS(MPI_Comm_idup_with_info(MPI_COMM_WORLD, (MPI_Info)&req, &dup, &req), MPI_ERR_INFO);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    one();
    early();
    many();
    crossing();
    attributes();
    inter();
    topology();
    disconnect();
    refused();
    MPI_Finalize();
    return 0;
}
