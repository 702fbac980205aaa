/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad arguments to every function of the chapters on communication and partitioned communication
 * (MPI-5.0 3 and 4), in both forms: the class that the standard gives, and no trace of the call.
 * Those of chapter 5 are in dtype/errors.c. check_tested.py sees to it that none is left out.
 */
#include "../check.h"

#include <string.h>

static int buf[8], back[8];
static MPI_Comm w = MPI_COMM_WORLD;
static MPI_Datatype raw; /* not committed */
static MPI_Datatype dead;
static MPI_Request r = MPI_REQUEST_NULL;
static MPI_Status st;
static int size;

/* What all messages have; ... is what follows the communicator. `is_send`: wildcards are wrong. */
#define BAD_ENVELOPE(call, ...)                                                                    \
    do {                                                                                           \
        FAILS(call(buf, -1, MPI_INT, 0, 1, w, ##__VA_ARGS__), MPI_ERR_COUNT);                      \
        FAILS(call(NULL, 1, MPI_INT, 0, 1, w, ##__VA_ARGS__), MPI_ERR_BUFFER);                     \
        FAILS(call(buf, 1, MPI_DATATYPE_NULL, 0, 1, w, ##__VA_ARGS__), MPI_ERR_TYPE);              \
        FAILS(call(buf, 1, (MPI_Datatype)buf, 0, 1, w, ##__VA_ARGS__), MPI_ERR_TYPE);              \
        FAILS(call(buf, 1, raw, 0, 1, w, ##__VA_ARGS__), MPI_ERR_TYPE);                            \
        FAILS(call(buf, 1, dead, 0, 1, w, ##__VA_ARGS__), MPI_ERR_TYPE);                           \
        FAILS(call(buf, 1, MPI_INT, size, 1, w, ##__VA_ARGS__), MPI_ERR_RANK);                     \
        FAILS(call(buf, 1, MPI_INT, -77, 1, w, ##__VA_ARGS__), MPI_ERR_RANK);                      \
        FAILS(call(buf, 1, MPI_INT, 0, -77, w, ##__VA_ARGS__), MPI_ERR_TAG);                       \
        FAILS(call(buf, 1, MPI_INT, 0, 1, MPI_COMM_NULL, ##__VA_ARGS__), MPI_ERR_COMM);            \
        FAILS(call(buf, 1, MPI_INT, 0, 1, (MPI_Comm)buf, ##__VA_ARGS__), MPI_ERR_COMM);            \
    } while (0)

#define BAD_SEND(call, ...)                                                                        \
    do {                                                                                           \
        BAD_ENVELOPE(call, ##__VA_ARGS__);                                                         \
        FAILS(call(buf, 1, MPI_INT, MPI_ANY_SOURCE, 1, w, ##__VA_ARGS__), MPI_ERR_RANK);           \
        FAILS(call(buf, 1, MPI_INT, 0, MPI_ANY_TAG, w, ##__VA_ARGS__), MPI_ERR_TAG);               \
    } while (0)

/* With a request: that must be there, and stays as it was. */
#define BAD_REQUEST(call)                                                                          \
    do {                                                                                           \
        FAILS(call(buf, 1, MPI_INT, 0, 1, w, NULL), MPI_ERR_ARG);                                  \
        CHECK(r == MPI_REQUEST_NULL);                                                              \
    } while (0)

static void sends(void)
{
    BAD_SEND(MPI_Send);
    BAD_SEND(MPI_Send_c);
    BAD_SEND(MPI_Bsend);
    BAD_SEND(MPI_Bsend_c);
    BAD_SEND(MPI_Ssend);
    BAD_SEND(MPI_Ssend_c);
    BAD_SEND(MPI_Rsend);
    BAD_SEND(MPI_Rsend_c);
    BAD_SEND(MPI_Isend, &r);
    BAD_SEND(MPI_Isend_c, &r);
    BAD_SEND(MPI_Ibsend, &r);
    BAD_SEND(MPI_Ibsend_c, &r);
    BAD_SEND(MPI_Issend, &r);
    BAD_SEND(MPI_Issend_c, &r);
    BAD_SEND(MPI_Irsend, &r);
    BAD_SEND(MPI_Irsend_c, &r);
    BAD_REQUEST(MPI_Isend);
    BAD_REQUEST(MPI_Isend_c);
    BAD_REQUEST(MPI_Ibsend);
    BAD_REQUEST(MPI_Ibsend_c);
    BAD_REQUEST(MPI_Issend);
    BAD_REQUEST(MPI_Issend_c);
    BAD_REQUEST(MPI_Irsend);
    BAD_REQUEST(MPI_Irsend_c);
    /* No buffer is attached. */
    FAILS(MPI_Bsend(buf, 1, MPI_INT, 0, 1, MPI_COMM_SELF), MPI_ERR_BUFFER);
    FAILS(MPI_Ibsend(buf, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &r), MPI_ERR_BUFFER);
}

static void persistent_sends(void)
{
    BAD_SEND(MPI_Send_init, &r);
    BAD_SEND(MPI_Send_init_c, &r);
    BAD_SEND(MPI_Bsend_init, &r);
    BAD_SEND(MPI_Bsend_init_c, &r);
    BAD_SEND(MPI_Ssend_init, &r);
    BAD_SEND(MPI_Ssend_init_c, &r);
    BAD_SEND(MPI_Rsend_init, &r);
    BAD_SEND(MPI_Rsend_init_c, &r);
    BAD_REQUEST(MPI_Send_init);
    BAD_REQUEST(MPI_Send_init_c);
    BAD_REQUEST(MPI_Bsend_init);
    BAD_REQUEST(MPI_Bsend_init_c);
    BAD_REQUEST(MPI_Ssend_init);
    BAD_REQUEST(MPI_Ssend_init_c);
    BAD_REQUEST(MPI_Rsend_init);
    BAD_REQUEST(MPI_Rsend_init_c);
}

static void receives(void)
{
    BAD_ENVELOPE(MPI_Recv, &st);
    BAD_ENVELOPE(MPI_Recv_c, &st);
    BAD_ENVELOPE(MPI_Irecv, &r);
    BAD_ENVELOPE(MPI_Irecv_c, &r);
    BAD_ENVELOPE(MPI_Recv_init, &r);
    BAD_ENVELOPE(MPI_Recv_init_c, &r);
    BAD_REQUEST(MPI_Irecv);
    BAD_REQUEST(MPI_Irecv_c);
    BAD_REQUEST(MPI_Recv_init);
    BAD_REQUEST(MPI_Recv_init_c);
}

/* Each half of the twelve arguments; `last` is status or request. */
#define BAD_BOTH(call, last)                                                                       \
    do {                                                                                           \
        FAILS(call(buf, -1, MPI_INT, 0, 1, back, 1, MPI_INT, 0, 1, w, last), MPI_ERR_COUNT);       \
        FAILS(call(buf, 1, MPI_INT, 0, 1, back, -1, MPI_INT, 0, 1, w, last), MPI_ERR_COUNT);       \
        FAILS(call(NULL, 1, MPI_INT, 0, 1, back, 1, MPI_INT, 0, 1, w, last), MPI_ERR_BUFFER);      \
        FAILS(call(buf, 1, MPI_INT, 0, 1, NULL, 1, MPI_INT, 0, 1, w, last), MPI_ERR_BUFFER);       \
        FAILS(call(buf, 1, raw, 0, 1, back, 1, MPI_INT, 0, 1, w, last), MPI_ERR_TYPE);             \
        FAILS(call(buf, 1, MPI_INT, 0, 1, back, 1, dead, 0, 1, w, last), MPI_ERR_TYPE);            \
        FAILS(call(buf, 1, MPI_INT, size, 1, back, 1, MPI_INT, 0, 1, w, last), MPI_ERR_RANK);      \
        FAILS(call(buf, 1, MPI_INT, MPI_ANY_SOURCE, 1, back, 1, MPI_INT, 0, 1, w, last),           \
              MPI_ERR_RANK);                                                                       \
        FAILS(call(buf, 1, MPI_INT, 0, 1, back, 1, MPI_INT, size, 1, w, last), MPI_ERR_RANK);      \
        FAILS(call(buf, 1, MPI_INT, 0, MPI_ANY_TAG, back, 1, MPI_INT, 0, 1, w, last),              \
              MPI_ERR_TAG);                                                                        \
        FAILS(call(buf, 1, MPI_INT, 0, 1, back, 1, MPI_INT, 0, -9, w, last), MPI_ERR_TAG);         \
        FAILS(call(buf, 1, MPI_INT, 0, 1, back, 1, MPI_INT, 0, 1, MPI_COMM_NULL, last),            \
              MPI_ERR_COMM);                                                                       \
    } while (0)

#define BAD_REPLACE(call, last)                                                                    \
    do {                                                                                           \
        FAILS(call(buf, -1, MPI_INT, 0, 1, 0, 1, w, last), MPI_ERR_COUNT);                         \
        FAILS(call(NULL, 1, MPI_INT, 0, 1, 0, 1, w, last), MPI_ERR_BUFFER);                        \
        FAILS(call(buf, 1, raw, 0, 1, 0, 1, w, last), MPI_ERR_TYPE);                               \
        FAILS(call(buf, 1, MPI_DATATYPE_NULL, 0, 1, 0, 1, w, last), MPI_ERR_TYPE);                 \
        FAILS(call(buf, 1, MPI_INT, size, 1, 0, 1, w, last), MPI_ERR_RANK);                        \
        FAILS(call(buf, 1, MPI_INT, 0, 1, -9, 1, w, last), MPI_ERR_RANK);                          \
        FAILS(call(buf, 1, MPI_INT, 0, -1, 0, 1, w, last), MPI_ERR_TAG);                           \
        FAILS(call(buf, 1, MPI_INT, 0, 1, 0, -9, w, last), MPI_ERR_TAG);                           \
        FAILS(call(buf, 1, MPI_INT, 0, 1, 0, 1, MPI_COMM_NULL, last), MPI_ERR_COMM);               \
    } while (0)

static void both_ways(void)
{
    BAD_BOTH(MPI_Sendrecv, &st);
    BAD_BOTH(MPI_Sendrecv_c, &st);
    BAD_BOTH(MPI_Isendrecv, &r);
    BAD_BOTH(MPI_Isendrecv_c, &r);
    BAD_REPLACE(MPI_Sendrecv_replace, &st);
    BAD_REPLACE(MPI_Sendrecv_replace_c, &st);
    BAD_REPLACE(MPI_Isendrecv_replace, &r);
    BAD_REPLACE(MPI_Isendrecv_replace_c, &r);
    FAILS(MPI_Isendrecv(buf, 1, MPI_INT, 0, 1, back, 1, MPI_INT, 0, 1, w, NULL), MPI_ERR_ARG);
    FAILS(MPI_Isendrecv_c(buf, 1, MPI_INT, 0, 1, back, 1, MPI_INT, 0, 1, w, NULL), MPI_ERR_ARG);
    FAILS(MPI_Isendrecv_replace(buf, 1, MPI_INT, 0, 1, 0, 1, w, NULL), MPI_ERR_ARG);
    FAILS(MPI_Isendrecv_replace_c(buf, 1, MPI_INT, 0, 1, 0, 1, w, NULL), MPI_ERR_ARG);
    CHECK(r == MPI_REQUEST_NULL);
}

#define BAD_PROBE(call, ...)                                                                       \
    do {                                                                                           \
        FAILS(call(size, 1, w, __VA_ARGS__), MPI_ERR_RANK);                                        \
        FAILS(call(-77, 1, w, __VA_ARGS__), MPI_ERR_RANK);                                         \
        FAILS(call(0, -77, w, __VA_ARGS__), MPI_ERR_TAG);                                          \
        FAILS(call(0, 1, MPI_COMM_NULL, __VA_ARGS__), MPI_ERR_COMM);                               \
        FAILS(call(0, 1, (MPI_Comm)buf, __VA_ARGS__), MPI_ERR_COMM);                               \
    } while (0)

static void probes(void)
{
    MPI_Message m = MPI_MESSAGE_NULL, made_up = (MPI_Message)buf;
    int flag = 7;

    BAD_PROBE(MPI_Probe, &st);
    BAD_PROBE(MPI_Iprobe, &flag, &st);
    BAD_PROBE(MPI_Mprobe, &m, &st);
    BAD_PROBE(MPI_Improbe, &flag, &m, &st);
    FAILS(MPI_Iprobe(0, 1, w, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Mprobe(0, 1, w, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Improbe(0, 1, w, &flag, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Improbe(0, 1, w, NULL, &m, &st), MPI_ERR_ARG);
    CHECK(m == MPI_MESSAGE_NULL && flag == 7);
    FAILS(MPI_Mrecv(buf, 1, MPI_INT, &m, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Mrecv_c(buf, 1, MPI_INT, &m, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Imrecv(buf, 1, MPI_INT, &m, &r), MPI_ERR_REQUEST);
    FAILS(MPI_Imrecv_c(buf, 1, MPI_INT, &m, &r), MPI_ERR_REQUEST);
    FAILS(MPI_Mrecv(buf, 1, MPI_INT, &made_up, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Imrecv(buf, 1, MPI_INT, NULL, &r), MPI_ERR_ARG);
    /* The message is still there after a call that was refused. */
    buf[0] = 4711;
    OK(MPI_Isend(buf, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r));
    OK(MPI_Mprobe(0, 5, MPI_COMM_SELF, &m, &st));
    made_up = m;
    FAILS(MPI_Mrecv(back, -1, MPI_INT, &m, &st), MPI_ERR_COUNT);
    FAILS(MPI_Mrecv_c(back, 1, MPI_DATATYPE_NULL, &m, &st), MPI_ERR_TYPE);
    FAILS(MPI_Imrecv(back, 1, raw, &m, &r), MPI_ERR_TYPE);
    FAILS(MPI_Imrecv_c(NULL, 1, MPI_INT, &m, &r), MPI_ERR_BUFFER);
    CHECK(m == made_up);
    OK(MPI_Mrecv(back, 1, MPI_INT, &m, &st));
    CHECK_EQ(back[0], 4711);
    OK(MPI_Wait(&r, &st));
    FAILS(MPI_Mrecv(back, 1, MPI_INT, &made_up, &st), MPI_ERR_REQUEST); /* received */
}

/* Every call that takes one request. */
static void one_request(MPI_Request bad)
{
    MPI_Request q = bad;
    int flag = 0;

    FAILS(MPI_Wait(&q, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Test(&q, &flag, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Request_get_status(q, &flag, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Request_free(&q), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&q), MPI_ERR_REQUEST);
    FAILS(MPI_Start(&q), MPI_ERR_REQUEST);
    CHECK(q == bad);
}

/* Every call that takes several. */
static void many_requests(MPI_Request bad)
{
    MPI_Request q[2] = {MPI_REQUEST_NULL, bad};
    MPI_Status sts[2];
    int k, n, flag, list[2];

    FAILS(MPI_Waitall(2, q, sts), MPI_ERR_REQUEST);
    FAILS(MPI_Testall(2, q, &flag, sts), MPI_ERR_REQUEST);
    FAILS(MPI_Waitany(2, q, &k, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Testany(2, q, &k, &flag, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Waitsome(2, q, &n, list, sts), MPI_ERR_REQUEST);
    FAILS(MPI_Testsome(2, q, &n, list, sts), MPI_ERR_REQUEST);
    FAILS(MPI_Request_get_status_all(2, q, &flag, sts), MPI_ERR_REQUEST);
    FAILS(MPI_Request_get_status_any(2, q, &k, &flag, &st), MPI_ERR_REQUEST);
    FAILS(MPI_Request_get_status_some(2, q, &n, list, sts), MPI_ERR_REQUEST);
    FAILS(MPI_Startall(2, q), MPI_ERR_REQUEST);
    FAILS(MPI_Waitall(-1, q, sts), MPI_ERR_COUNT);
    FAILS(MPI_Testall(-1, q, &flag, sts), MPI_ERR_COUNT);
    FAILS(MPI_Waitany(-1, q, &k, &st), MPI_ERR_COUNT);
    FAILS(MPI_Testany(-1, q, &k, &flag, &st), MPI_ERR_COUNT);
    FAILS(MPI_Waitsome(-1, q, &n, list, sts), MPI_ERR_COUNT);
    FAILS(MPI_Testsome(-1, q, &n, list, sts), MPI_ERR_COUNT);
    FAILS(MPI_Request_get_status_all(-1, q, &flag, sts), MPI_ERR_COUNT);
    FAILS(MPI_Request_get_status_any(-1, q, &k, &flag, &st), MPI_ERR_COUNT);
    FAILS(MPI_Request_get_status_some(-1, q, &n, list, sts), MPI_ERR_COUNT);
    FAILS(MPI_Startall(-1, q), MPI_ERR_COUNT);
    CHECK(q[0] == MPI_REQUEST_NULL && q[1] == bad);
}

static void missing_outputs(void)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status sts[2];
    int k, n;

    FAILS(MPI_Waitall(2, NULL, sts), MPI_ERR_ARG);
    FAILS(MPI_Testall(2, none, NULL, sts), MPI_ERR_ARG);
    FAILS(MPI_Waitany(2, none, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Testany(2, none, &k, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Waitsome(2, none, NULL, &k, sts), MPI_ERR_ARG);
    FAILS(MPI_Testsome(2, none, &n, NULL, sts), MPI_ERR_ARG);
    FAILS(MPI_Request_get_status_all(2, none, NULL, sts), MPI_ERR_ARG);
    FAILS(MPI_Request_get_status_any(2, none, NULL, &k, &st), MPI_ERR_ARG);
    FAILS(MPI_Request_get_status_some(2, none, NULL, &k, sts), MPI_ERR_ARG);
    FAILS(MPI_Startall(2, NULL), MPI_ERR_ARG);
}

static void requests(void)
{
    MPI_Request freed, active;
    int flag;

    OK(MPI_Irecv(buf, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &r));
    freed = r;
    OK(MPI_Cancel(&r));
    OK(MPI_Wait(&r, &st));
    one_request(freed);
    one_request((MPI_Request)buf);
    many_requests(freed);
    many_requests((MPI_Request)buf);
    missing_outputs();
    FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST); /* a null request is none to free, ... */
    FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Start(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Wait(NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Test(&r, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Request_get_status(r, NULL, &st), MPI_ERR_ARG);
    FAILS(MPI_Request_free(NULL), MPI_ERR_ARG);
    FAILS(MPI_Cancel(NULL), MPI_ERR_ARG);
    FAILS(MPI_Start(NULL), MPI_ERR_ARG);
    /* Not persistent; persistent and active already. */
    OK(MPI_Irecv(buf, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &active));
    FAILS(MPI_Start(&active), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&active));
    OK(MPI_Wait(&active, &st));
    OK(MPI_Recv_init(buf, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &active));
    OK(MPI_Start(&active));
    FAILS(MPI_Start(&active), MPI_ERR_REQUEST);
    FAILS(MPI_Startall(1, &active), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(0, active), MPI_ERR_REQUEST);
    FAILS(MPI_Parrived(active, 0, &flag), MPI_ERR_REQUEST);
    OK(MPI_Cancel(&active));
    OK(MPI_Wait(&active, &st));
    OK(MPI_Request_free(&active));
}

/* buf, partitions, count, type, peer, tag, comm, info, request. */
#define BAD_PARTITIONED(call)                                                                      \
    do {                                                                                           \
        FAILS(call(buf, -1, 1, MPI_INT, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_ARG);                 \
        FAILS(call(buf, 2, -1, MPI_INT, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_COUNT);               \
        FAILS(call(NULL, 2, 1, MPI_INT, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_BUFFER);              \
        FAILS(call(buf, 2, 1, MPI_DATATYPE_NULL, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_TYPE);       \
        FAILS(call(buf, 2, 1, raw, 0, 1, w, MPI_INFO_NULL, &r), MPI_ERR_TYPE);                     \
        FAILS(call(buf, 2, 1, MPI_INT, size, 1, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);              \
        FAILS(call(buf, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, w, MPI_INFO_NULL, &r), MPI_ERR_RANK);    \
        FAILS(call(buf, 2, 1, MPI_INT, 0, -1, w, MPI_INFO_NULL, &r), MPI_ERR_TAG);                 \
        FAILS(call(buf, 2, 1, MPI_INT, 0, 1, MPI_COMM_NULL, MPI_INFO_NULL, &r), MPI_ERR_COMM);     \
        FAILS(call(buf, 2, 1, MPI_INT, 0, 1, w, (MPI_Info)buf, &r), MPI_ERR_INFO);                 \
        FAILS(call(buf, 2, 1, MPI_INT, 0, 1, w, MPI_INFO_NULL, NULL), MPI_ERR_ARG);                \
        CHECK(r == MPI_REQUEST_NULL);                                                              \
    } while (0)

static void partitions(void)
{
    MPI_Request s, q, none = MPI_REQUEST_NULL;
    int list[2] = {0, 4}, flag;

    BAD_PARTITIONED(MPI_Psend_init);
    BAD_PARTITIONED(MPI_Psend_init_c);
    BAD_PARTITIONED(MPI_Precv_init);
    BAD_PARTITIONED(MPI_Precv_init_c);
    OK(MPI_Psend_init(buf, 4, 1, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &s));
    OK(MPI_Precv_init(back, 2, 2, MPI_INT, 0, 6, MPI_COMM_SELF, MPI_INFO_NULL, &q));
    FAILS(MPI_Pready(0, s), MPI_ERR_REQUEST); /* not started */
    OK(MPI_Start(&q));
    OK(MPI_Start(&s));
    FAILS(MPI_Pready(4, s), MPI_ERR_ARG);
    FAILS(MPI_Pready(-1, s), MPI_ERR_ARG);
    FAILS(MPI_Pready(0, none), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(0, q), MPI_ERR_REQUEST);
    FAILS(MPI_Pready_range(0, 4, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_range(-1, 1, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_range(0, 1, none), MPI_ERR_REQUEST);
    FAILS(MPI_Pready_list(2, list, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_list(-1, list, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_list(1, NULL, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_list(1, list, none), MPI_ERR_REQUEST);
    FAILS(MPI_Parrived(q, 2, &flag), MPI_ERR_ARG);
    FAILS(MPI_Parrived(q, -1, &flag), MPI_ERR_ARG);
    FAILS(MPI_Parrived(q, 0, NULL), MPI_ERR_ARG);
    FAILS(MPI_Parrived((MPI_Request)buf, 0, &flag), MPI_ERR_REQUEST);
    /* None of these has made a partition ready. */
    OK(MPI_Parrived(q, 0, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Pready(0, s));
    FAILS(MPI_Pready(0, s), MPI_ERR_ARG); /* twice */
    OK(MPI_Pready_range(1, 3, s));
    OK(MPI_Wait(&s, &st));
    OK(MPI_Wait(&q, &st));
    OK(MPI_Request_free(&s));
    OK(MPI_Request_free(&q));
}

static void statuses(void)
{
    int value;

    memset(&st, 0, sizeof(st));
    FAILS(MPI_Test_cancelled(MPI_STATUS_IGNORE, &value), MPI_ERR_ARG);
    FAILS(MPI_Test_cancelled(&st, NULL), MPI_ERR_ARG);
    FAILS(MPI_Status_get_source(MPI_STATUS_IGNORE, &value), MPI_ERR_ARG);
    FAILS(MPI_Status_get_source(&st, NULL), MPI_ERR_ARG);
    FAILS(MPI_Status_get_tag(MPI_STATUS_IGNORE, &value), MPI_ERR_ARG);
    FAILS(MPI_Status_get_tag(&st, NULL), MPI_ERR_ARG);
    FAILS(MPI_Status_get_error(MPI_STATUS_IGNORE, &value), MPI_ERR_ARG);
    FAILS(MPI_Status_get_error(&st, NULL), MPI_ERR_ARG);
    FAILS(MPI_Status_set_source(MPI_STATUS_IGNORE, 1), MPI_ERR_ARG);
    FAILS(MPI_Status_set_tag(MPI_STATUS_IGNORE, 1), MPI_ERR_ARG);
    FAILS(MPI_Status_set_error(MPI_STATUS_IGNORE, 1), MPI_ERR_ARG);
    FAILS(MPI_Status_set_cancelled(MPI_STATUS_IGNORE, 1), MPI_ERR_ARG);
}

static void buffers(void)
{
    static char memory[4000];
    MPI_Session none = MPI_SESSION_NULL;
    MPI_Comm null = MPI_COMM_NULL;
    MPI_Count len_c;
    void *addr;
    int len;

    FAILS(MPI_Buffer_attach(memory, -1), MPI_ERR_ARG);
    FAILS(MPI_Buffer_attach_c(memory, -1), MPI_ERR_ARG);
    FAILS(MPI_Buffer_attach(NULL, 100), MPI_ERR_BUFFER);
    FAILS(MPI_Buffer_detach(&addr, &len), MPI_ERR_BUFFER); /* none is attached */
    FAILS(MPI_Buffer_detach_c(&addr, &len_c), MPI_ERR_BUFFER);
    FAILS(MPI_Buffer_detach(NULL, &len), MPI_ERR_ARG);
    FAILS(MPI_Buffer_detach_c(&addr, NULL), MPI_ERR_ARG);
    FAILS(MPI_Buffer_iflush(NULL), MPI_ERR_ARG);
    FAILS(MPI_Comm_attach_buffer(null, memory, 100), MPI_ERR_COMM);
    FAILS(MPI_Comm_attach_buffer_c(null, memory, 100), MPI_ERR_COMM);
    FAILS(MPI_Comm_attach_buffer(w, memory, -1), MPI_ERR_ARG);
    FAILS(MPI_Comm_detach_buffer(null, &addr, &len), MPI_ERR_COMM);
    FAILS(MPI_Comm_detach_buffer_c(null, &addr, &len_c), MPI_ERR_COMM);
    FAILS(MPI_Comm_detach_buffer(w, &addr, &len), MPI_ERR_BUFFER);
    FAILS(MPI_Comm_flush_buffer(null), MPI_ERR_COMM);
    FAILS(MPI_Comm_iflush_buffer(null, &r), MPI_ERR_COMM);
    FAILS(MPI_Comm_iflush_buffer(w, NULL), MPI_ERR_ARG);
    FAILS(MPI_Session_attach_buffer(none, memory, 100), MPI_ERR_SESSION);
    FAILS(MPI_Session_attach_buffer_c(none, memory, 100), MPI_ERR_SESSION);
    FAILS(MPI_Session_detach_buffer(none, &addr, &len), MPI_ERR_SESSION);
    FAILS(MPI_Session_detach_buffer_c(none, &addr, &len_c), MPI_ERR_SESSION);
    FAILS(MPI_Session_flush_buffer(none), MPI_ERR_SESSION);
    FAILS(MPI_Session_iflush_buffer(none, &r), MPI_ERR_SESSION);
    OK(MPI_Buffer_attach(memory, 100 + MPI_BSEND_OVERHEAD));
    FAILS(MPI_Buffer_attach(memory, 100), MPI_ERR_BUFFER); /* one is attached */
    FAILS(MPI_Bsend(memory, 1000, MPI_CHAR, 0, 1, MPI_COMM_SELF), MPI_ERR_BUFFER);
    OK(MPI_Buffer_detach(&addr, &len));
    CHECK(addr == memory && r == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    int sum = 1;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(w, &size));
    OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    OK(MPI_Type_contiguous(3, MPI_INT, &dead));
    {
        MPI_Datatype copy = dead;

        OK(MPI_Type_free(&copy));
    }
    sends();
    persistent_sends();
    receives();
    both_ways();
    probes();
    requests();
    partitions();
    statuses();
    buffers();
    OK(MPI_Type_free(&raw));
    OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, w));
    CHECK_EQ(sum, size);
    OK(MPI_Finalize());
    return 0;
}
