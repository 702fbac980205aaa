/* SPDX-License-Identifier: BSD-3-Clause */
/* Every send mode, blocking, nonblocking and persistent, in both forms, at lengths on both sides of
   every protocol limit, between neighbours in a ring and to oneself (MPI-5.0 3.4, 3.7, 3.9). */
#include "../check.h"

#include <string.h>

enum { MAX = 70000 };

typedef int (*send_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*send_c_fn)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
typedef int (*isend_fn)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int (*isend_c_fn)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const struct mode {
    send_fn send;
    send_c_fn send_c;
    isend_fn isend, init;
    isend_c_fn isend_c, init_c;
} modes[] = {
    {MPI_Send, MPI_Send_c, MPI_Isend, MPI_Send_init, MPI_Isend_c, MPI_Send_init_c},
    {MPI_Bsend, MPI_Bsend_c, MPI_Ibsend, MPI_Bsend_init, MPI_Ibsend_c, MPI_Bsend_init_c},
    {MPI_Ssend, MPI_Ssend_c, MPI_Issend, MPI_Ssend_init, MPI_Issend_c, MPI_Ssend_init_c},
    {MPI_Rsend, MPI_Rsend_c, MPI_Irsend, MPI_Rsend_init, MPI_Irsend_c, MPI_Rsend_init_c},
};

static const int lengths[] = {0, 1, 8, 300, 1000, 4096, 16384, 16385, MAX};

static int rank, size, to, from;
static char out[MAX], in[MAX];

static void fill(int len, int salt)
{
    for (int k = 0; k < len; k++) {
        out[k] = (char)(k * 7 + salt + rank);
    }
    memset(in, 0, sizeof(in));
}

static void check(const MPI_Status *st, int len, int salt, int tag)
{
    int n;

    CHECK_EQ(st->MPI_SOURCE, from);
    CHECK_EQ(st->MPI_TAG, tag);
    OK(MPI_Get_count(st, MPI_CHAR, &n));
    CHECK_EQ(n, len);
    for (int k = 0; k < len; k++) {
        if (in[k] != (char)(k * 7 + salt + from)) {
            CHECK_EQ(k, -1);
        }
    }
}

/* The receive is posted before anybody sends, as ready mode demands. */
static void blocking(const struct mode *m, int len, int tag)
{
    MPI_Request r;
    MPI_Status st;

    fill(len, tag);
    OK(MPI_Irecv(in, len, MPI_CHAR, from, tag, MPI_COMM_WORLD, &r));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (tag & 1) {
        OK(m->send(out, len, MPI_CHAR, to, tag, MPI_COMM_WORLD));
    } else {
        OK(m->send_c(out, len, MPI_CHAR, to, tag, MPI_COMM_WORLD));
    }
    OK(MPI_Wait(&r, &st));
    CHECK(r == MPI_REQUEST_NULL);
    check(&st, len, tag, tag);
}

static void nonblocking(const struct mode *m, int len, int tag)
{
    MPI_Request r[2];
    MPI_Status st[2];

    fill(len, tag);
    OK(MPI_Irecv_c(in, len, MPI_CHAR, from, tag, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (tag & 1) {
        OK(m->isend(out, len, MPI_CHAR, to, tag, MPI_COMM_WORLD, &r[1]));
    } else {
        OK(m->isend_c(out, len, MPI_CHAR, to, tag, MPI_COMM_WORLD, &r[1]));
    }
    OK(MPI_Waitall(2, r, st));
    check(&st[0], len, tag, tag);
}

static void persistent(const struct mode *m, int len, int tag)
{
    MPI_Request r[2];
    MPI_Status st[2];

    if (tag & 1) {
        OK(m->init(out, len, MPI_CHAR, to, tag, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Recv_init(in, len, MPI_CHAR, from, tag, MPI_COMM_WORLD, &r[0]));
    } else {
        OK(m->init_c(out, len, MPI_CHAR, to, tag, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Recv_init_c(in, len, MPI_CHAR, from, tag, MPI_COMM_WORLD, &r[0]));
    }
    OK(MPI_Waitall(2, r, st)); /* inactive: at once, with empty statuses */
    CHECK_EQ(st[0].MPI_SOURCE, MPI_ANY_SOURCE);
    for (int round = 0; round < 3; round++) {
        fill(len, round);
        OK(MPI_Start(&r[0]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Startall(1, &r[1]));
        OK(MPI_Waitall(2, r, st));
        CHECK(r[0] != MPI_REQUEST_NULL);
        check(&st[0], len, round, tag);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    CHECK(r[0] == MPI_REQUEST_NULL);
}

static void all_modes(void)
{
    int tag = 0;

    for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            blocking(&modes[k], lengths[i], tag++);
            nonblocking(&modes[k], lengths[i], tag++);
            persistent(&modes[k], lengths[i], tag++);
        }
    }
}

/* Nobody is there: all calls end at once. */
static void to_nobody(void)
{
    MPI_Request r;
    MPI_Status st;

    for (size_t k = 0; k < sizeof(modes) / sizeof(modes[0]); k++) {
        OK(modes[k].send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
        OK(modes[k].init(out, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r));
        OK(MPI_Start(&r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&r));
    }
    OK(MPI_Recv(in, 1, MPI_CHAR, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st));
    CHECK_EQ(st.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(st.MPI_TAG, MPI_ANY_TAG);
}

int main(int argc, char **argv)
{
    void *addr;
    int len;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    all_modes();
    to_nobody();
    OK(MPI_Buffer_detach(&addr, &len));
    CHECK(addr == MPI_BUFFER_AUTOMATIC);
    OK(MPI_Finalize());
    return 0;
}
