/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way to send in both its forms: the bytes arrive, with a type and a count of its own, at the
 * next rank and at oneself. And what a status holds.
 */
#include "../check.h"

#include <string.h>

enum { N = 300 };

static int out[2 * N], in[N], rank, size;
static MPI_Datatype every_other; /* int */
static MPI_Request posted;

/* The receive is posted first, as ready mode wants it. */
static void begin(MPI_Comm comm, int tag)
{
    int me, n;

    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    for (int i = 0; i < 2 * N; i++) {
        out[i] = i % 2 ? -1 : i / 2 + 1000 * me + tag;
    }
    memset(in, 0, sizeof(in));
    OK(MPI_Irecv_c(in, N, MPI_INT, (me + n - 1) % n, tag, comm, &posted));
    OK(MPI_Barrier(comm));
}

static void end(MPI_Comm comm, int tag)
{
    MPI_Status st;
    MPI_Count count;
    int me, n;

    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Wait(&posted, &st));
    OK(MPI_Get_count_c(&st, MPI_INT, &count));
    CHECK_EQ(count, N);
    CHECK_EQ(st.MPI_TAG, tag);
    CHECK_EQ(st.MPI_SOURCE, (me + n - 1) % n);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(in[i], i + 1000 * ((me + n - 1) % n) + tag);
    }
}

#define BLOCKING(call)                                                                             \
    do {                                                                                           \
        begin(comm, ++tag);                                                                        \
        OK(call(out, N, every_other, to, tag, comm));                                              \
        end(comm, tag);                                                                            \
    } while (0)

#define STARTED(call)                                                                              \
    do {                                                                                           \
        begin(comm, ++tag);                                                                        \
        OK(call(out, N, every_other, to, tag, comm, &r));                                          \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                                                       \
        end(comm, tag);                                                                            \
    } while (0)

/* Twice, with other data. */
#define PERSISTENT(call)                                                                           \
    do {                                                                                           \
        tag++;                                                                                     \
        OK(call(out, N, every_other, to, tag, comm, &r));                                          \
        for (int k = 0; k < 2; k++) {                                                              \
            begin(comm, tag);                                                                      \
            OK(MPI_Start(&r));                                                                     \
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                                                   \
            end(comm, tag);                                                                        \
        }                                                                                          \
        OK(MPI_Request_free(&r));                                                                  \
    } while (0)

static void all_sends(MPI_Comm comm)
{
    MPI_Request r;
    int tag = 0, to, n;

    OK(MPI_Comm_rank(comm, &to));
    OK(MPI_Comm_size(comm, &n));
    to = (to + 1) % n;
    BLOCKING(MPI_Send);
    BLOCKING(MPI_Send_c);
    BLOCKING(MPI_Bsend);
    BLOCKING(MPI_Bsend_c);
    BLOCKING(MPI_Ssend);
    BLOCKING(MPI_Ssend_c);
    BLOCKING(MPI_Rsend);
    BLOCKING(MPI_Rsend_c);
    STARTED(MPI_Isend);
    STARTED(MPI_Isend_c);
    STARTED(MPI_Ibsend);
    STARTED(MPI_Ibsend_c);
    STARTED(MPI_Issend);
    STARTED(MPI_Issend_c);
    STARTED(MPI_Irsend);
    STARTED(MPI_Irsend_c);
    PERSISTENT(MPI_Send_init);
    PERSISTENT(MPI_Send_init_c);
    PERSISTENT(MPI_Bsend_init);
    PERSISTENT(MPI_Bsend_init_c);
    PERSISTENT(MPI_Ssend_init);
    PERSISTENT(MPI_Ssend_init_c);
    PERSISTENT(MPI_Rsend_init);
    PERSISTENT(MPI_Rsend_init_c);
}

/* The blocking receive in both forms: into every other int, and the gaps stay as they were. */
#define RECEIVE(call)                                                                              \
    do {                                                                                           \
        tag++;                                                                                     \
        for (int i = 0; i < 2 * N; i++) {                                                          \
            in_gaps[i] = -7;                                                                       \
        }                                                                                          \
        for (int i = 0; i < N; i++) {                                                              \
            out[i] = 1000 * me + i + tag;                                                          \
        }                                                                                          \
        OK(MPI_Isend(out, N, MPI_INT, (me + 1) % n, tag, comm, &r));                               \
        OK(call(in_gaps, N, every_other, (me + n - 1) % n, tag, comm, &st));                       \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                                                       \
        CHECK_EQ(st.MPI_SOURCE, (me + n - 1) % n);                                                 \
        CHECK_EQ(st.MPI_TAG, tag);                                                                 \
        for (int i = 0; i < N; i++) {                                                              \
            CHECK_EQ(in_gaps[2 * i], 1000 * ((me + n - 1) % n) + i + tag);                         \
            CHECK_EQ(in_gaps[2 * i + 1], -7);                                                      \
        }                                                                                          \
    } while (0)

static void all_receives(MPI_Comm comm)
{
    static int in_gaps[2 * N];
    MPI_Request r;
    MPI_Status st;
    int tag = 100, me, n;

    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    RECEIVE(MPI_Recv);
    RECEIVE(MPI_Recv_c);
}

static void statuses(void)
{
    MPI_Status st;
    int value;

    memset(&st, 0, sizeof(st));
    OK(MPI_Status_set_source(&st, 3));
    OK(MPI_Status_set_tag(&st, 4));
    OK(MPI_Status_set_error(&st, MPI_ERR_TRUNCATE));
    OK(MPI_Status_get_source(&st, &value));
    CHECK_EQ(value, 3);
    OK(MPI_Status_get_tag(&st, &value));
    CHECK_EQ(value, 4);
    OK(MPI_Status_get_error(&st, &value));
    CHECK_EQ(value, MPI_ERR_TRUNCATE);
    CHECK(st.MPI_SOURCE == 3 && st.MPI_TAG == 4 && st.MPI_ERROR == MPI_ERR_TRUNCATE);
}

int main(int argc, char **argv)
{
    static char memory[8 * (N * sizeof(int) + MPI_BSEND_OVERHEAD)];
    MPI_Count len;
    void *addr;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other));
    OK(MPI_Type_commit(&every_other));
    OK(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, memory, sizeof(memory)));
    OK(MPI_Comm_attach_buffer_c(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0));
    all_sends(MPI_COMM_WORLD);
    all_receives(MPI_COMM_WORLD);
    all_sends(MPI_COMM_SELF);
    all_receives(MPI_COMM_SELF);
    OK(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &addr, &len));
    CHECK(addr == memory && len == sizeof(memory));
    OK(MPI_Comm_detach_buffer_c(MPI_COMM_SELF, &addr, &len));
    CHECK(addr == MPI_BUFFER_AUTOMATIC);
    statuses();
    OK(MPI_Type_free(&every_other));
    OK(MPI_Finalize());
    return 0;
}
