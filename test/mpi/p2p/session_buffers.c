/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of sessions: attached, flushed, detached, and gone with their session; used by the
   communicators that come of the session, and by no others (MPI-5.0 3.6). */
#include "../check.h"

static void attach_and_detach(void)
{
    static char memory[1000];
    MPI_Session session;

    for (int round = 0; round < 3; round++) {
        MPI_Request r;
        MPI_Count len_c;
        void *addr;
        int len;

        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        OK(MPI_Session_attach_buffer(session, memory, sizeof(memory)));
        FAILS(MPI_Session_attach_buffer(session, memory, 10), MPI_ERR_BUFFER);
        OK(MPI_Session_flush_buffer(session));
        OK(MPI_Session_iflush_buffer(session, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (round != 1) { /* once it is left to the end of the session */
            OK(MPI_Session_detach_buffer(session, &addr, &len));
            CHECK(addr == memory);
            CHECK_EQ(len, sizeof(memory));
            FAILS(MPI_Session_detach_buffer(session, &addr, &len), MPI_ERR_BUFFER);
            OK(MPI_Session_attach_buffer_c(session, memory, 500));
            OK(MPI_Session_detach_buffer_c(session, &addr, &len_c));
            CHECK_EQ(len_c, 500);
        }
        OK(MPI_Session_finalize(&session));
    }
}

/* Longer than what a library may send at once, without a buffer. */
enum { LEN = 100000, LONG = 200000 };

/* A buffered send of n bytes to the next rank: must it find no room? */
static void pass(MPI_Comm comm, int n, int is_refused)
{
    static char out[LONG], in[LONG];
    int rank, size;

    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    for (int i = 0; i < n; i++) {
        out[i] = (char)(i + rank);
        in[i] = -1;
    }
    if (is_refused) {
        FAILS(MPI_Bsend(out, n, MPI_CHAR, (rank + 1) % size, 1, comm), MPI_ERR_BUFFER);
        return;
    }
    OK(MPI_Bsend(out, n, MPI_CHAR, (rank + 1) % size, 1, comm));
    OK(MPI_Recv(in, n, MPI_CHAR, (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) {
        CHECK(in[i] == (char)(i + (rank + size - 1) % size));
    }
}

static MPI_Comm comm_of(MPI_Session session, const char *tag)
{
    MPI_Group world, part;
    MPI_Comm comm;

    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Group_union(world, world, &part));
    OK(MPI_Comm_create_from_group(part, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&part));
    return comm;
}

static void buffers_of_sessions(void)
{
    static char memory[LEN + MPI_BSEND_OVERHEAD];
    MPI_Session one, other;
    MPI_Comm comm, copy, part, others;
    void *addr;
    int rank, len;

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    comm = comm_of(one, "one");
    others = comm_of(other, "other");
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_split(copy, 0, -rank, &part));
    pass(comm, LEN, 1);
    OK(MPI_Session_attach_buffer(one, memory, sizeof(memory)));
    pass(comm, LEN, 0);
    OK(MPI_Session_flush_buffer(one));
    pass(comm, LONG, 1);
    pass(copy, LEN, 0);
    OK(MPI_Session_flush_buffer(one));
    pass(part, LEN, 0);
    pass(others, LEN, 1);
    OK(MPI_Session_detach_buffer(one, &addr, &len));
    CHECK(addr == memory);
    pass(part, LEN, 1);
    OK(MPI_Buffer_attach(memory, sizeof(memory))); /* for whom no session has one */
    pass(part, LEN, 0);
    OK(MPI_Buffer_flush());
    pass(others, LEN, 0);
    OK(MPI_Buffer_flush());
    pass(others, LONG, 1);
    OK(MPI_Session_attach_buffer(other, memory, 0)); /* which goes before that of the process */
    pass(others, LEN, 1);
    OK(MPI_Session_detach_buffer(other, &addr, &len));
    OK(MPI_Buffer_detach(&addr, &len));
    CHECK(addr == memory);
    OK(MPI_Session_attach_buffer(other, MPI_BUFFER_AUTOMATIC, 0));
    for (int i = 0; i < 20; i++) {
        pass(others, LONG, 0);
    }
    pass(comm, LEN, 1);
    OK(MPI_Session_flush_buffer(other));
    OK(MPI_Session_detach_buffer(other, &addr, &len));
    CHECK(addr == MPI_BUFFER_AUTOMATIC);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&others));
    OK(MPI_Session_finalize(&one));
    OK(MPI_Session_finalize(&other));
}

int main(void)
{
    attach_and_detach();
    buffers_of_sessions();
    return 0;
}
