/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What must not return before the receiver has begun: synchronous sends in all forms (MPI-5.0 3.4),
 * and detaching and flushing a buffer, whose messages must have left it (3.6). The sender says when
 * it went on; the receiver, who lets it wait, must not have heard of that.
 */
#include "../check.h"

#include <string.h>

enum { DATA = 1, WENT_ON = 2, LOOKS = 2000, LONG = 200000 };

static int rank, size;
static char data[LONG], got[LONG], memory[LONG + MPI_BSEND_OVERHEAD];
static MPI_Session session;
static MPI_Comm comm; /* of the session */

static void ssend(int len)
{
    OK(MPI_Ssend(data, len, MPI_CHAR, 1, DATA, comm));
}

static void ssend_c(int len)
{
    OK(MPI_Ssend_c(data, len, MPI_CHAR, 1, DATA, comm));
}

static void issend(int len)
{
    MPI_Request r;

    OK(MPI_Issend(data, len, MPI_CHAR, 1, DATA, comm, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void ssend_init(int len)
{
    MPI_Request r;

    OK(MPI_Ssend_init(data, len, MPI_CHAR, 1, DATA, comm, &r));
    OK(MPI_Start(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
}

/* The buffer is the user's again, who makes use of it. */
static void reuse(void *addr)
{
    CHECK(addr == memory);
    memset(memory, 0x7f, sizeof(memory));
}

static void detach(int len)
{
    void *addr;
    int n;

    OK(MPI_Buffer_attach(memory, sizeof(memory)));
    OK(MPI_Bsend(data, len, MPI_CHAR, 1, DATA, comm));
    OK(MPI_Buffer_detach(&addr, &n));
    reuse(addr);
}

static void comm_detach(int len)
{
    MPI_Count n;
    void *addr;

    OK(MPI_Comm_attach_buffer(comm, memory, sizeof(memory)));
    OK(MPI_Bsend(data, len, MPI_CHAR, 1, DATA, comm));
    OK(MPI_Comm_detach_buffer_c(comm, &addr, &n));
    reuse(addr);
}

static void session_detach(int len)
{
    void *addr;
    int n;

    OK(MPI_Session_attach_buffer(session, memory, sizeof(memory)));
    OK(MPI_Bsend(data, len, MPI_CHAR, 1, DATA, comm));
    OK(MPI_Session_detach_buffer(session, &addr, &n));
    reuse(addr);
}

static void flush(int len)
{
    void *addr;
    int n;

    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Bsend(data, len, MPI_CHAR, 1, DATA, comm));
    OK(MPI_Buffer_flush());
    OK(MPI_Send(NULL, 0, MPI_CHAR, 1, WENT_ON, comm));
    OK(MPI_Buffer_detach(&addr, &n));
}

static void comm_flush(int len)
{
    void *addr;
    int n;

    OK(MPI_Comm_attach_buffer(comm, memory, sizeof(memory)));
    OK(MPI_Bsend(data, len, MPI_CHAR, 1, DATA, comm));
    OK(MPI_Comm_flush_buffer(comm));
    OK(MPI_Send(NULL, 0, MPI_CHAR, 1, WENT_ON, comm));
    OK(MPI_Comm_detach_buffer(comm, &addr, &n));
}

static void session_iflush(int len)
{
    MPI_Request r;
    void *addr;
    int n;

    OK(MPI_Session_attach_buffer(session, memory, sizeof(memory)));
    OK(MPI_Bsend(data, len, MPI_CHAR, 1, DATA, comm));
    OK(MPI_Session_iflush_buffer(session, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Send(NULL, 0, MPI_CHAR, 1, WENT_ON, comm));
    OK(MPI_Session_detach_buffer(session, &addr, &n));
}

/* is_short: also for a message that needs no answer to leave. */
static const struct way {
    void (*send)(int len);
    int is_short;
    int has_told; /* that it went on */
} ways[] = {
    {ssend, 1, 0},      {ssend_c, 1, 0},        {issend, 1, 0},         {ssend_init, 1, 0},
    {detach, 0, 0},     {comm_detach, 0, 0},    {session_detach, 0, 0}, {flush, 0, 1},
    {comm_flush, 0, 1}, {session_iflush, 0, 1},
};

static void sender(const struct way *w, int len, int salt)
{
    for (int k = 0; k < len; k++) {
        data[k] = (char)(k + salt);
    }
    w->send(len);
    if (!w->has_told) {
        OK(MPI_Send(NULL, 0, MPI_CHAR, 1, WENT_ON, comm));
    }
}

static void receiver(int len, int salt)
{
    int has_gone_on;

    OK(MPI_Probe(0, DATA, comm, MPI_STATUS_IGNORE));
    for (int k = 0; k < LOOKS; k++) {
        OK(MPI_Iprobe(0, WENT_ON, comm, &has_gone_on, MPI_STATUS_IGNORE));
        CHECK(!has_gone_on);
    }
    OK(MPI_Recv(got, len, MPI_CHAR, 0, DATA, comm, MPI_STATUS_IGNORE));
    for (int k = 0; k < len; k++) {
        CHECK(got[k] == (char)(k + salt));
    }
    OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, WENT_ON, comm, MPI_STATUS_IGNORE));
}

int main(void)
{
    MPI_Group world;

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Comm_create_from_group(world, "nonlocal", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&world));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    for (size_t k = 0; size == 2 && k < sizeof(ways) / sizeof(ways[0]); k++) {
        for (int len = ways[k].is_short ? 1 : LONG; len <= LONG; len += LONG - 1) {
            if (rank == 0) {
                sender(&ways[k], len, (int)k);
            } else {
                receiver(len, (int)k);
            }
        }
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    return 0;
}
