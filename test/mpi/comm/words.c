/* SPDX-License-Identifier: BSD-3-Clause */
/* What the variables of a communicator say against what the program did in it: messages and bytes
   by peer, live communicators, and an eager limit that holds for one communicator only. Variables
   that a library does not have are passed over. */
#include "../check.h"

#include <string.h>

static int rank, size;
static MPI_T_pvar_session session;

/* Reads all elements of a variable bound to comm (NULL: to nothing). How many, 0: there is none. */
static int read_pvar(const char *name, int klass, MPI_Comm *comm, unsigned long long *out, int max)
{
    MPI_T_pvar_handle handle;
    int index, count;

    if (MPI_T_pvar_get_index(name, klass, &index) != MPI_SUCCESS) {
        return 0;
    }
    OK(MPI_T_pvar_handle_alloc(session, index, comm, &handle, &count));
    CHECK(count <= max);
    OK(MPI_T_pvar_read(session, handle, out));
    OK(MPI_T_pvar_handle_free(session, &handle));
    return count;
}

/* A handle that counts from now on. */
static int count_from_now(const char *name, int klass, MPI_Comm *comm, MPI_T_pvar_handle *out)
{
    int index, count;

    if (MPI_T_pvar_get_index(name, klass, &index) != MPI_SUCCESS) {
        return 0;
    }
    OK(MPI_T_pvar_handle_alloc(session, index, comm, out, &count));
    OK(MPI_T_pvar_start(session, *out));
    return count;
}

static void peers(void)
{
    enum { N = 64 };
    unsigned long long sent[N] = {0}, bytes[N] = {0};
    MPI_T_pvar_handle h_sent, h_bytes;
    MPI_Comm comm;
    char buf[100];
    int count;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    count = count_from_now("comm_peer_sent_messages", MPI_T_PVAR_CLASS_COUNTER, &comm, &h_sent);
    if (count == 0) {
        OK(MPI_Comm_free(&comm));
        return;
    }
    CHECK_EQ(count, size);
    count_from_now("comm_peer_sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &comm, &h_bytes);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i <= r; i++) {
            MPI_Request q;

            OK(MPI_Isend(buf, 10 * r, MPI_CHAR, r, 4, comm, &q));
            OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        }
    }
    for (int k = 0; k < size * (rank + 1); k++) {
        OK(MPI_Recv(buf, 100, MPI_CHAR, MPI_ANY_SOURCE, 4, comm, MPI_STATUS_IGNORE));
    }
    OK(MPI_T_pvar_read(session, h_sent, sent));
    OK(MPI_T_pvar_read(session, h_bytes, bytes));
    for (int r = 0; r < size; r++) {
        CHECK_EQ(sent[r], r + 1);
        CHECK_EQ(bytes[r], 10 * r * (r + 1));
    }
    OK(MPI_T_pvar_handle_free(session, &h_sent));
    OK(MPI_T_pvar_handle_free(session, &h_bytes));
    OK(MPI_Comm_free(&comm));
}

static void live(void)
{
    unsigned long long before, during, after;
    MPI_Comm comm;

    if (!read_pvar("comm_live", MPI_T_PVAR_CLASS_LEVEL, NULL, &before, 1)) {
        return;
    }
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    read_pvar("comm_live", MPI_T_PVAR_CLASS_LEVEL, NULL, &during, 1);
    OK(MPI_Comm_free(&comm));
    read_pvar("comm_live", MPI_T_PVAR_CLASS_LEVEL, NULL, &after, 1);
    CHECK_EQ(during, before + 1);
    CHECK_EQ(after, before);
}

static void set_limit(MPI_Comm comm, unsigned long long limit)
{
    MPI_T_cvar_handle handle;
    int index, count;

    OK(MPI_T_cvar_get_index("comm_eager_limit_comm", &index));
    OK(MPI_T_cvar_handle_alloc(index, &comm, &handle, &count));
    OK(MPI_T_cvar_write(handle, &limit));
    OK(MPI_T_cvar_handle_free(&handle));
}

/* The limit of the whole process; returns what it was. */
static unsigned long long set_for_all(unsigned long long limit)
{
    unsigned long long before;
    MPI_T_cvar_handle handle;
    int index, count;

    OK(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    OK(MPI_T_cvar_read(handle, &before));
    OK(MPI_T_cvar_write(handle, &limit));
    OK(MPI_T_cvar_handle_free(&handle));
    return before;
}

/* How many messages of 100 bytes to the next rank went by rendezvous. */
static unsigned long long by_rendezvous(MPI_Comm comm, MPI_T_pvar_handle handle)
{
    unsigned long long n;
    char in[100], out[100] = "";

    OK(MPI_T_pvar_reset(session, handle));
    for (int i = 0; i < 5; i++) {
        OK(MPI_Sendrecv(out, 100, MPI_CHAR, (rank + 1) % size, 8, in, 100, MPI_CHAR,
                        (rank + size - 1) % size, 8, comm, MPI_STATUS_IGNORE));
    }
    OK(MPI_T_pvar_read(session, handle, &n));
    return n;
}

static void limits(void)
{
    MPI_T_pvar_handle handle;
    MPI_Comm comm;
    unsigned long long as_before;
    int index;

    if (size == 1 || MPI_T_cvar_get_index("comm_eager_limit_comm", &index) != MPI_SUCCESS ||
        !count_from_now("p2p_rndv_sent_messages", MPI_T_PVAR_CLASS_COUNTER, NULL, &handle)) {
        return;
    }
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_EQ(by_rendezvous(comm, handle), 0);
    set_limit(comm, 99);
    CHECK_EQ(by_rendezvous(comm, handle), 5);
    CHECK_EQ(by_rendezvous(MPI_COMM_WORLD, handle), 0);
    set_limit(comm, 100);
    CHECK_EQ(by_rendezvous(comm, handle), 0);
    as_before = set_for_all(99); /* the lower of the two holds */
    CHECK_EQ(by_rendezvous(comm, handle), 5);
    CHECK_EQ(by_rendezvous(MPI_COMM_WORLD, handle), 5);
    set_for_all(100);
    CHECK_EQ(by_rendezvous(MPI_COMM_WORLD, handle), 0);
    set_for_all(as_before);
    OK(MPI_T_pvar_handle_free(session, &handle));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    peers();
    live();
    limits();
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
