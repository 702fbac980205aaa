/* SPDX-License-Identifier: BSD-3-Clause */
/* Short collectives of ranks on one host through memory that they share, beside everything else:
   random calls in long rows, ranks that come late, messages that a waiting rank must serve,
   nonblocking calls in between, many communicators, calls that do not match. Where the library has
   no such thing, or ranks talk otherwise, the same must hold (except for what is counted). */
#include "../check.h"

#include <string.h>

#define MOST 300

static int rank, size;
static int is_there; /* the memory is used where it is asked for */
static MPI_T_pvar_session session;

/* ---- variables ---- */

/* A counter that runs from now on; MPI_T_PVAR_HANDLE_NULL where the library has none. */
static MPI_T_pvar_handle count(const char *name)
{
    MPI_T_pvar_handle handle;
    int index, n;

    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) {
        return MPI_T_PVAR_HANDLE_NULL;
    }
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &n));
    OK(MPI_T_pvar_start(session, handle));
    return handle;
}

/* What has come since. */
static long long counted(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;

    OK(MPI_T_pvar_read(session, handle, &value));
    OK(MPI_T_pvar_handle_free(session, &handle));
    return (long long)value;
}

enum { AUTO, NEVER, ALWAYS };

static void choose(MPI_Comm comm, int mode)
{
    MPI_T_cvar_handle handle;
    int index, count;

    if (MPI_T_cvar_get_index("coll_shm_comm", &index) == MPI_SUCCESS) {
        OK(MPI_T_cvar_handle_alloc(index, &comm, &handle, &count));
        OK(MPI_T_cvar_write(handle, &mode));
        OK(MPI_T_cvar_handle_free(&handle));
    }
}

static int read_int(const char *name)
{
    MPI_T_cvar_handle handle;
    int index, count, value = -1;

    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS) {
        OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
        OK(MPI_T_cvar_read(handle, &value));
        OK(MPI_T_cvar_handle_free(&handle));
    }
    return value;
}

static MPI_Comm copy(int mode)
{
    MPI_Comm comm;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    choose(comm, mode);
    return comm;
}

/* ---- calls ---- */

static long value(int r, int i)
{
    return r * 1000 + i;
}

static void fill(long *a, int n)
{
    for (int i = 0; i < n; i++) {
        a[i] = value(rank, i);
    }
}

static void bcast(MPI_Comm comm, int n, int root)
{
    long a[MOST] = {0};

    if (rank == root) {
        fill(a, n);
    }
    OK(MPI_Bcast(a, n, MPI_LONG, root, comm));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(a[i], value(root, i));
    }
}

static void sum_of_all(const long *a, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK_EQ(a[i], 1000L * size * (size - 1) / 2 + (long)size * i);
    }
}

static void reduce(MPI_Comm comm, int n, int root)
{
    long a[MOST], b[MOST];

    fill(a, n);
    OK(MPI_Reduce(a, b, n, MPI_LONG, MPI_SUM, root, comm));
    if (rank == root) {
        sum_of_all(b, n);
    }
}

static void allreduce(MPI_Comm comm, int n)
{
    long a[MOST];

    fill(a, n);
    OK(MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_LONG, MPI_SUM, comm));
    sum_of_all(a, n);
}

static void allgather(MPI_Comm comm, int n)
{
    long a[MOST], *b = malloc((size_t)(n * size + 1) * sizeof(long));

    fill(a, n);
    OK(MPI_Allgather(a, n, MPI_LONG, b, n, MPI_LONG, comm));
    for (int i = 0; i < n * size; i++) {
        CHECK_EQ(b[i], value(i / n, i % n));
    }
    free(b);
}

static void one_call(MPI_Comm comm, uint64_t *random)
{
    int what = random_below(random, 6), root = random_below(random, size);
    int n = random_below(random, random_below(random, 4) ? 20 : MOST);

    switch (what) {
    case 0:
        OK(MPI_Barrier(comm));
        return;
    case 1:
    case 2:
        bcast(comm, n, root);
        return;
    case 3:
        reduce(comm, n, root);
        return;
    case 4:
        allreduce(comm, n);
        return;
    default:
        allgather(comm, n);
    }
}

/* The same row in all ranks; now and then one of them is late. */
static void random_row(MPI_Comm comm, int n)
{
    uint64_t random = 42;
    volatile double work = 0;

    for (int i = 0; i < n; i++) {
        one_call(comm, &random);
        if (random_below(&random, 100) == 0 && random_below(&random, size) == rank) {
            for (double end = MPI_Wtime() + 0.002; MPI_Wtime() < end;) {
                work += 1;
            }
        }
    }
}

/* Who waits in a collective answers whoever sends or receives. */
static void others_are_served(MPI_Comm comm)
{
    static char data[1 << 20];
    MPI_Request r = MPI_REQUEST_NULL;

    for (int from = 0; from < size; from++) {
        int to = (from + 1) % size;

        if (rank == from) {
            OK(MPI_Isend(data, sizeof(data), MPI_CHAR, to, 7, MPI_COMM_WORLD, &r));
        }
        if (rank == to) {
            if (to == from) {
                OK(MPI_Irecv(data, sizeof(data), MPI_CHAR, from, 7, MPI_COMM_WORLD, &r));
            } else {
                OK(MPI_Recv(data, sizeof(data), MPI_CHAR, from, 7, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
            }
        }
        if (size > 1) {
            OK(MPI_Barrier(comm));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
    }
}

static void nonblocking_in_between(MPI_Comm comm)
{
    long a = rank, sums[8], n = size * (size - 1) / 2;
    MPI_Request r[8];

    for (int i = 0; i < 8; i++) {
        OK(MPI_Iallreduce(&a, &sums[i], 1, MPI_LONG, MPI_SUM, comm, &r[i]));
        allreduce(comm, i);
        bcast(comm, 3, i % size);
    }
    OK(MPI_Waitall(8, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(sums[i], n);
    }
}

/* ---- who gets it ---- */

static void modes_are_followed(void)
{
    MPI_T_pvar_handle calls;
    MPI_Comm comm;

    for (int mode = NEVER; mode <= ALWAYS; mode++) {
        comm = copy(mode);
        calls = count("coll_allreduce_shm_calls");
        for (int i = 0; i < 20; i++) {
            allreduce(comm, 2);
        }
        if (calls != MPI_T_PVAR_HANDLE_NULL) {
            CHECK_EQ(counted(calls), is_there && mode == ALWAYS ? 20 : 0);
        }
        OK(MPI_Comm_free(&comm));
    }
}

/* More communicators than may have memory; what is freed is free for others. */
static void many_communicators(void)
{
    enum { N = 40 };
    MPI_T_pvar_handle handle = count("coll_shm_made");
    long long made;
    int most = read_int("coll_shm_comms");
    MPI_Comm comm[N];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            comm[i] = copy(ALWAYS);
            allreduce(comm[i], 1);
        }
        for (int i = 0; i < N; i++) {
            allgather(comm[N - 1 - i], 2);
        }
        for (int i = 0; i < N; i++) {
            OK(MPI_Comm_free(&comm[i]));
        }
    }
    if (is_there) {
        made = counted(handle);
        CHECK(made >= 3 * (most - 2) && made <= 3 * most);
    }
}

/* ---- calls that do not match ---- */

static void mistakes(void)
{
    MPI_Comm comm = copy(ALWAYS);
    int a[2] = {1, 1}, sum[2], rc, klass;

    if (!is_there) {
        OK(MPI_Comm_free(&comm));
        return;
    }
    OK(MPI_Barrier(comm));
    FAILS(MPI_Allreduce(a, sum, rank == 0 ? 2 : 1, MPI_INT, MPI_SUM, comm), MPI_ERR_TRUNCATE);
    allreduce(comm, 5);
    rc = rank == size - 1 ? MPI_Barrier(comm) : MPI_Allreduce(a, sum, 1, MPI_INT, MPI_SUM, comm);
    OK(MPI_Error_class(rc, &klass));
    CHECK(klass != MPI_SUCCESS);
    CHECK(MPI_Barrier(comm) != MPI_SUCCESS);
    OK(MPI_Comm_free(&comm));
    allreduce(MPI_COMM_WORLD, 1);
}

/* "Strongly recommended" (MPI-5.0 6.9.1): the same arguments in the same order, the same bits. Sums
   of these depend on the order; what a nonblocking call gives goes by messages, short as it is. */
static void same_bits(MPI_Comm comm)
{
    double a[5], by_message[5], sum[5];
    MPI_Request request;

    for (int i = 0; i < 5; i++) {
        a[i] = (1 + (rank * 5 + i) % 7) / 3.0 * (1 << (rank * 11 + i) % 23);
    }
    for (int root = -1; root < size && root < 9; root++) {
        if (root < 0) {
            OK(MPI_Iallreduce(a, by_message, 5, MPI_DOUBLE, MPI_SUM, comm, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Ireduce(a, by_message, 5, MPI_DOUBLE, MPI_SUM, root, comm, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        for (int k = 0; k < 20; k++) {
            OK(root < 0 ? MPI_Allreduce(a, sum, 5, MPI_DOUBLE, MPI_SUM, comm)
                        : MPI_Reduce(a, sum, 5, MPI_DOUBLE, MPI_SUM, root, comm));
            CHECK((root >= 0 && rank != root) || memcmp(sum, by_message, sizeof(sum)) == 0);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int provided, n_near;

    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    OK(MPI_Comm_size(comm, &n_near));
    OK(MPI_Comm_free(&comm));
    is_there = size > 1 && n_near == size && read_int("coll_shm") >= 0 &&
               read_int("transport") != 2 /* ofi */;
    modes_are_followed();
    for (int mode = AUTO; mode <= ALWAYS; mode++) {
        comm = copy(mode);
        random_row(comm, 300);
        others_are_served(comm);
        nonblocking_in_between(comm);
        same_bits(comm);
        OK(MPI_Comm_free(&comm));
    }
    many_communicators();
    mistakes();
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
