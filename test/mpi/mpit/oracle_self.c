/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests, queues, probes, communicators and the registry's own variables against what one process
 * does with itself, where nothing comes from outside. Exact, call by call.
 */
#include "../knob.h"
#include "clock.h"
#include "oracle.h"

static MPI_Comm comm;
static MPI_Group everyone;
static int me;
static char out[300000], in[300000];

static ull bound(const char *name, int klass)
{
    MPI_T_pvar_handle h;
    int index, count, as_int = 0;
    ull value = 0;

    OK(PMPI_T_pvar_get_index(name, klass, &index));
    OK(PMPI_T_pvar_handle_alloc(oracle_session, index, &comm, &h, &count));
    if (strcmp(name, "MPI_T_UMQ_LENGTH") == 0) {
        OK(PMPI_T_pvar_read(oracle_session, h, &as_int));
        value = (ull)as_int;
    } else {
        OK(PMPI_T_pvar_read(oracle_session, h, &value));
    }
    OK(PMPI_T_pvar_handle_free(oracle_session, &h));
    return value;
}

#define bound_is(name, klass, should) ORACLE(name, 0, bound(name, klass), ==, should)

/* The value of an item of a state's enumeration. */
static int item_of(const char *variable, const char *item)
{
    int index, n, value, len;
    MPI_T_enum items;
    char name[64];

    OK(PMPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_STATE, &index));
    OK(PMPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL,
                            NULL, NULL));
    OK(PMPI_T_enum_get_info(items, &n, NULL, NULL));
    for (int i = 0; i < n; i++) {
        len = sizeof(name);
        OK(PMPI_T_enum_get_item(items, i, &value, name, &len));
        if (strcmp(name, item) == 0) {
            return value;
        }
    }
    CHECK(!"a known item");
    return -1;
}

/* Of a control variable: its value, and its index. */
static int read_knob(const char *variable, void *value)
{
    MPI_T_cvar_handle h;
    int index, count;

    OK(MPI_T_cvar_get_index(variable, &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, &count));
    OK(MPI_T_cvar_read(h, value));
    OK(MPI_T_cvar_handle_free(&h));
    return index;
}

/* ---- receives first ---- */

static void posted(void)
{
    enum { N = 5 };
    MPI_Request q[2 * N];

    mark();
    for (int k = 0; k < N; k++) {
        OK(MPI_Irecv(in, 100, MPI_CHAR, k % 2 ? MPI_ANY_SOURCE : me, k, comm, &q[k]));
        now_is("match_posted_length", k + 1);
        bound_is("comm_posted_length", MPI_T_PVAR_CLASS_LEVEL, k + 1);
    }
    same("request_live", N);
    same("match_wildcards", N / 2);
    for (int k = 0; k < N; k++) {
        OK(MPI_Isend(out, 10 + k, MPI_CHAR, me, k, comm, &q[N + k]));
    }
    same("request_taken", 2 * N);
    same("request_completed", 2 * N);
    same("request_live", 2 * N);
    OK(MPI_Waitall(2 * N, q, MPI_STATUSES_IGNORE));
    same("request_live", 0);
    now_is("request_live_high", oracle_find("request_live")->before[0] + 2 * N);
    now_is("match_posted_length", 0);
    now_is("match_posted_length_high", N);
    bound_is("comm_posted_length", MPI_T_PVAR_CLASS_LEVEL, 0);
    same("match_attempts", 2 * N);
    same("match_posted_hits", N);
    same("match_unexpected_hits", 0);
    same("p2p_self_sent_messages", N);
    same("p2p_self_sent_bytes", 10 * N + N * (N - 1) / 2);
    same("p2p_self_recvd_messages", N);
    same("p2p_reason_self", N);
    now_is("p2p_last_reason", item_of("p2p_last_reason", "self"));
}

/* ---- messages first ---- */

static void unexpected(void)
{
    enum { N = 9, LEN = 100 };
    MPI_Request q[N];

    mark();
    for (int k = 0; k < N; k++) { /* a synchronous one stays with its sender */
        OK(k < 7 ? MPI_Isend(out, LEN, MPI_CHAR, me, k, comm, &q[k])
                 : MPI_Issend(out, LEN, MPI_CHAR, me, k, comm, &q[k]));
        now_is("match_unexpected_length", k + 1);
        bound_is("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, k + 1);
    }
    now_is("match_unexpected_bytes", 7 * LEN);
    now_is_at_least("p2p_unexpected_memory", 7 * LEN);
    for (int k = 0; k < N; k++) {
        OK(MPI_Recv(in, LEN, MPI_CHAR, k < 3 ? MPI_ANY_SOURCE : me, k == 5 ? MPI_ANY_TAG : k, comm,
                    MPI_STATUS_IGNORE));
        bound_is("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, N - 1 - k);
    }
    OK(MPI_Waitall(N, q, MPI_STATUSES_IGNORE));
    same("match_wildcards", 4);
    same("match_indexings", 2); /* one for any source, one for any tag */
    same("match_unexpected_hits", N);
    same("match_posted_hits", 0);
    same("p2p_copied_messages", 7);
    same("p2p_copied_bytes", 7 * LEN);
    same("p2p_sync_sent", 2);
    now_is("match_unexpected_length", 0);
    now_is("match_unexpected_length_high", N);
    now_is("match_unexpected_bytes", 0);
    now_is("match_unexpected_bytes_high", 7 * LEN);
    now_is("p2p_unexpected_memory", 0);
}

static void probes(void)
{
    MPI_Request q[3];
    MPI_Message message;
    int flag;

    mark();
    OK(MPI_Iprobe(me, 1, comm, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Improbe(MPI_ANY_SOURCE, 1, comm, &flag, &message, MPI_STATUS_IGNORE));
    for (int k = 0; k < 3; k++) {
        OK(MPI_Isend(out, 10, MPI_CHAR, me, 1, comm, &q[k]));
    }
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Probe(me, 1, comm, MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(me, MPI_ANY_TAG, comm, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(in, 10, MPI_CHAR, &message, MPI_STATUS_IGNORE));
    OK(MPI_Improbe(me, 1, comm, &flag, &message, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Mrecv(in, 10, MPI_CHAR, &message, MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, 10, MPI_CHAR, me, 1, comm, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(3, q, MPI_STATUSES_IGNORE));
    same("match_probes", 6);
    same("match_unexpected_hits", 3); /* probes that leave the message are none */
    same("match_wildcards", 1);       /* the one that took it */
}

/* ---- ends of requests ---- */

static void failures_and_cancels(void)
{
    MPI_Request q[5];
    MPI_Status status;

    mark();
    OK(MPI_Irecv(in, 10, MPI_CHAR, me, 1, comm, &q[0]));
    OK(MPI_Isend(out, 11, MPI_CHAR, me, 1, comm, &q[1]));
    FAILS(MPI_Wait(&q[0], &status), MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&q[1], &status));
    same("p2p_truncated", 1);
    same("request_failed", 1);
    for (int k = 0; k < 3; k++) {
        OK(MPI_Irecv(in, 10, MPI_CHAR, me, 2, comm, &q[k]));
    }
    OK(MPI_Issend(out, 10, MPI_CHAR, me, 3, comm, &q[3]));
    OK(MPI_Isend(out, 10, MPI_CHAR, me, 2, comm, &q[4])); /* takes the first: too late for it */
    for (int k = 0; k < 4; k++) {
        OK(MPI_Cancel(&q[k]));
    }
    OK(MPI_Waitall(5, q, MPI_STATUSES_IGNORE));
    same("request_cancels", 4);
    same("request_cancelled", 3);
    same("request_completed", 7);
    same("request_live", 0);
}

/* ---- modes, and buffers that are not one run ---- */

static void modes(void)
{
    enum { LONG = 200000 };
    static char attached[LONG + 1000 + 2 * MPI_BSEND_OVERHEAD];
    MPI_Request q[4], p[2];
    int len;
    void *addr;

    mark();
    OK(MPI_Rsend_init(out, 10, MPI_CHAR, me, 1, comm, &p[0]));
    OK(MPI_Ssend_init(out, 10, MPI_CHAR, MPI_PROC_NULL, 1, comm, &p[1]));
    for (int k = 0; k < 3; k++) {
        OK(MPI_Irecv(in, 10, MPI_CHAR, me, 1, comm, &q[0]));
        OK(MPI_Startall(2, p));
        OK(MPI_Waitall(2, p, MPI_STATUSES_IGNORE));
        OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&p[0]));
    OK(MPI_Request_free(&p[1]));
    OK(MPI_Irecv(in, 10, MPI_CHAR, me, 1, comm, &q[0]));
    OK(MPI_Rsend(out, 10, MPI_CHAR, me, 1, comm));
    OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    same("p2p_ready_sent", 4);
    OK(MPI_Send(out, 10, MPI_CHAR, MPI_PROC_NULL, 1, comm));
    OK(MPI_Isend(out, 10, MPI_CHAR, MPI_PROC_NULL, 1, comm, &q[0]));
    OK(MPI_Wait(&q[0], MPI_STATUS_IGNORE));
    same("p2p_null_sent", 5);
    FAILS(MPI_Bsend(out, 10, MPI_CHAR, me, 1, comm), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach(attached, sizeof(attached)));
    OK(MPI_Bsend(out, LONG, MPI_CHAR, me, 1, comm)); /* too long to be kept twice */
    same("p2p_buffered_sent", 1);
    now_is_at_least("p2p_bsend_bytes", LONG);
    now_is_at_most("p2p_bsend_bytes", LONG + MPI_BSEND_OVERHEAD);
    OK(MPI_Recv(in, LONG, MPI_CHAR, me, 1, comm, MPI_STATUS_IGNORE));
    now_is("p2p_bsend_bytes", 0);
    now_is_at_least("p2p_bsend_bytes_high", LONG);
    OK(MPI_Buffer_detach(&addr, &len));
    same("p2p_bsend_waits", 0);
}

static void runs(void)
{
    MPI_Datatype sparse;
    MPI_Request q;

    OK(MPI_Type_vector(10, 1, 2, MPI_CHAR, &sparse));
    OK(MPI_Type_commit(&sparse));
    mark();
    for (int k = 0; k < 4; k++) { /* early and late, sparse at one end or at both */
        if (k < 2) {
            OK(MPI_Irecv(in, k ? 1 : 10, k ? sparse : MPI_CHAR, me, 1, comm, &q));
        }
        MPI_Request s;

        OK(MPI_Isend(out, k == 3 ? 10 : 1, k == 3 ? MPI_CHAR : sparse, me, 1, comm, &s));
        if (k >= 2) {
            OK(MPI_Irecv(in, 1, sparse, me, 1, comm, &q));
        }
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
    }
    same("p2p_packed_messages", 3);
    same("p2p_packed_bytes", 30);
    same("p2p_unpacked_messages", 3);
    same("p2p_unpacked_bytes", 30);
    OK(MPI_Type_free(&sparse));
}

/* ---- progress without anything to do ---- */

static void polls(void)
{
    enum { N = 100 };
    int flag;

    mark();
    for (int k = 0; k < N; k++) {
        OK(MPI_Iprobe(me, 77, comm, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    same("progress_polls", N);
    same("progress_empty_polls", N);
    same("progress_events", 0);
    same("progress_waits", 0);
}

/* ---- objects ---- */

/* Until the next one is refused. */
static void full(void)
{
    enum { LIMIT = 20 };
    MPI_Comm made[LIMIT];
    ull was;
    int n = 0;

    read_knob("comm_limit", &was);
    knob("comm_limit", LIMIT);
    while (n < LIMIT && MPI_Comm_dup(comm, &made[n]) == MPI_SUCCESS) {
        n++;
    }
    CHECK(n > 0 && n < LIMIT); /* `comm` is one */
    for (int k = 0; k < n; k++) {
        now_is_share("comm_utilization", LIMIT - k, LIMIT);
        OK(MPI_Comm_free(&made[k]));
    }
    now_is_share("comm_utilization", LIMIT - n, LIMIT);
    knob("comm_limit", was);
}

static void comms(void)
{
    enum { N = 6 };
    MPI_Comm made[N];

    mark();
    for (int k = 0; k < N; k++) {
        OK(k % 2 ? MPI_Comm_dup(comm, &made[k]) : MPI_Comm_split(comm, 0, 0, &made[k]));
    }
    same("comm_live", N);
    same("comm_created", N);
    for (int k = 0; k < N; k++) {
        OK(MPI_Comm_free(&made[k]));
        same("comm_freed", k + 1);
        same("comm_live", N - 1 - k);
    }
    full();
}

/* ---- the registry itself ---- */

static int n_called;

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *user_data)
{
    (void)instance;
    (void)registration;
    (void)safety;
    (void)user_data;
    n_called++;
}

static int n_dropped;

static void on_dropped(MPI_Count count, MPI_T_event_registration registration, int source_index,
                       MPI_T_cb_safety safety, void *user_data)
{
    (void)registration;
    (void)source_index;
    (void)safety;
    (void)user_data;
    n_dropped += (int)count;
}

static void tools(void)
{
    MPI_T_pvar_session sessions[3];
    MPI_T_pvar_handle handles[10];
    int index, count;

    mark();
    for (int k = 0; k < 3; k++) {
        OK(MPI_T_pvar_session_create(&sessions[k]));
    }
    same("mpit_sessions", 3);
    OK(MPI_T_pvar_get_index("mpit_sessions", MPI_T_PVAR_CLASS_LEVEL, &index));
    for (int k = 0; k < 10; k++) {
        OK(MPI_T_pvar_handle_alloc(sessions[k % 3], index, NULL, &handles[k], &count));
    }
    same("mpit_handles", 10);
    for (int k = 0; k < 4; k++) {
        OK(MPI_T_pvar_handle_free(sessions[k % 3], &handles[k]));
    }
    same("mpit_handles", 6);
    for (int k = 0; k < 3; k++) {
        OK(MPI_T_pvar_session_free(&sessions[k])); /* and the handles in it */
    }
    same("mpit_sessions", 0);
    same("mpit_handles", 0);
    now_is("mpit_handles_high", oracle_find("mpit_handles")->before[0] + 10);
}

/* Events of a send whose callback may be called inside the engine, or has to wait. */
static void events(MPI_T_cb_safety safety, int has_to_wait)
{
    enum { N = 20 };
    MPI_T_event_registration r;
    MPI_Request q;
    int index;

    OK(MPI_T_event_get_index("request_completed_event", &index));
    mark();
    n_called = n_dropped = 0;
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r));
    same("mpit_registrations", 1);
    OK(MPI_T_event_register_callback(r, safety, MPI_INFO_NULL, NULL, on_event));
    OK(MPI_T_event_set_dropped_handler(r, on_dropped));
    for (int k = 0; k < N; k++) { /* two completions each */
        OK(MPI_Irecv(in, 10, MPI_CHAR, me, 1, comm, &q));
        OK(MPI_Send(out, 10, MPI_CHAR, me, 1, comm));
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    }
    CHECK_EQ(n_called, 2 * N);
    same("mpit_events_raised", 2 * N);
    same("mpit_events_called", n_called);
    same("mpit_events_deferred", has_to_wait ? 2 * N : 0);
    same("mpit_events_dropped", n_dropped);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    same("mpit_registrations", 0);
}

/* More events in one call than the queue takes. */
static void drops(void)
{
    enum { N = 3000 };
    static MPI_Request q[2 * N];
    MPI_T_event_registration outside;
    unsigned room;
    int index;

    read_knob("mpit_event_queue_len", &room);

    OK(MPI_T_event_get_index("request_completed_event", &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &outside));
    OK(MPI_T_event_register_callback(outside, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL,
                                     on_event));
    OK(MPI_T_event_set_dropped_handler(outside, on_dropped));
    for (int k = 0; k < N; k++) {
        OK(MPI_Send_init(out, 1, MPI_CHAR, me, 1, comm, &q[2 * k + 1]));
        OK(MPI_Recv_init(in, 1, MPI_CHAR, me, 1, comm, &q[2 * k]));
    }
    mark();
    now_is("mpit_event_queue_free_low", room);
    for (int k = 1; k < 20; k++) { /* as many completions */
        OK(MPI_Startall(2 * k, q));
        OK(MPI_Waitall(2 * k, q, MPI_STATUSES_IGNORE));
        now_is("mpit_event_queue_free_low", room - 2 * k);
    }
    mark();
    n_called = n_dropped = 0;
    now_is("mpit_event_queue_free_low", room);
    OK(MPI_Startall(2 * N, q)); /* 2 * N completions, and callbacks only at its end */
    OK(MPI_Waitall(2 * N, q, MPI_STATUSES_IGNORE));
    now_is("mpit_event_queue_free_low", 0);
    /* What was dropped is told before the next event of the source. */
    OK(MPI_Startall(2, q));
    OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    CHECK(n_dropped > 0);
    CHECK_EQ(n_called + n_dropped, 2 * N + 2);
    same("mpit_events_dropped", n_dropped);
    same("mpit_events_called", n_called);
    same("mpit_events_raised", 2 * N + 2);
    for (int k = 0; k < 2 * N; k++) {
        OK(MPI_Request_free(&q[k]));
    }
    OK(MPI_T_event_handle_free(outside, NULL, NULL));
}

static void writes(void)
{
    MPI_T_cvar_handle h;
    int index, count;
    ull limit;

    OK(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, &count));
    OK(MPI_T_cvar_read(h, &limit));
    mark();
    for (int k = 0; k < 5; k++) {
        OK(MPI_T_cvar_write(h, &limit));
    }
    limit = ~0ull; /* out of bounds: not written */
    CHECK(MPI_T_cvar_write(h, &limit) != MPI_SUCCESS);
    same("mpit_cvar_writes", 5);
    now_is("mpit_cvar_last", index + 1);
    OK(MPI_T_cvar_handle_free(&h));
    knob("coll_timing", 0);
    now_is("mpit_cvar_last", read_knob("coll_timing", &index) + 1);
}

static void clock_looked_at(void)
{
}

/* ---- objects of all kinds ---- */

static void nothing(MPI_Comm *c, int *code, ...)
{
    (void)c;
    (void)code;
}

static void add(void *a, void *b, int *len, MPI_Datatype *type)
{
    (void)a;
    (void)b;
    (void)len;
    (void)type;
}

enum { KEEP = 6, MORE = 9 };

#define LIVES(name, type, make, end)                                                               \
    do {                                                                                           \
        type made[MORE];                                                                           \
        ull before = value(name, 0);                                                               \
                                                                                                   \
        mark();                                                                                    \
        for (int k = 0; k < MORE; k++) {                                                           \
            OK(make);                                                                              \
            now_is(name, before + (ull)k + 1);                                                     \
        }                                                                                          \
        for (int k = KEEP; k < MORE; k++) {                                                        \
            OK(end);                                                                               \
        }                                                                                          \
        now_is(name, before + KEEP);                                                               \
        now_is(name "_high", before + MORE);                                                       \
        for (int k = 0; k < KEEP; k++) {                                                           \
            OK(end);                                                                               \
        }                                                                                          \
        now_is(name, before);                                                                      \
        now_is(name "_high", before + MORE);                                                       \
    } while (0)

static int take(MPI_Message *message)
{
    MPI_Request q;

    OK(MPI_Isend(out, 1, MPI_CHAR, me, 1, comm, &q));
    OK(MPI_Mprobe(me, 1, comm, message, MPI_STATUS_IGNORE));
    return MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void objects(void)
{
    LIVES("comm_live", MPI_Comm, MPI_Comm_dup(comm, &made[k]), MPI_Comm_free(&made[k]));
    LIVES("group_live", MPI_Group, MPI_Group_incl(everyone, 1, (int[]){0}, &made[k]),
          MPI_Group_free(&made[k]));
    LIVES("dtype_live", MPI_Datatype, MPI_Type_contiguous(k + 2, MPI_INT, &made[k]),
          MPI_Type_free(&made[k]));
    LIVES("op_live", MPI_Op, MPI_Op_create(add, 1, &made[k]), MPI_Op_free(&made[k]));
    LIVES("info_live", MPI_Info, MPI_Info_create(&made[k]), MPI_Info_free(&made[k]));
    LIVES("errhandler_live", MPI_Errhandler, MPI_Comm_create_errhandler(nothing, &made[k]),
          MPI_Errhandler_free(&made[k]));
    LIVES("session_live", MPI_Session, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made[k]),
          MPI_Session_finalize(&made[k]));
    LIVES("message_live", MPI_Message, take(&made[k]),
          MPI_Mrecv(in, 1, MPI_CHAR, &made[k], MPI_STATUS_IGNORE));
    now_is("runtime_lock_contended", 0); /* one thread, no lock */
}

/* What lives before there is a place to count it in is counted in later. */
static void early_objects(MPI_Info infos[KEEP])
{
    ull n = value("info_live", 0);

    now_is_at_least("info_live", KEEP);
    for (int k = 0; k < KEEP; k++) {
        OK(MPI_Info_free(&infos[k]));
        now_is("info_live", n - (ull)k - 1);
    }
    now_is_at_least("info_live_high", KEEP);
}

int main(int argc, char **argv)
{
    MPI_Info infos[KEEP];
    MPI_Op left;
    ull took;
    int provided;

    for (int k = 0; k < KEEP; k++) {
        OK(MPI_Info_create(&infos[k]));
    }
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    oracle_open();
    early_objects(infos);
    now_is("mpit_cvar_last", 0);
    mark();
    clock_begin(2, 3 * SECOND); /* between the first look at the clock and the second */
    OK(MPI_Init(&argc, &argv));
    at_least("runtime_init_time", 3 * SECOND);
    at_most("runtime_init_time", clock_last - clock_first);
    took = value("runtime_init_time", 0);
    now_is("runtime_finalize_time", 0);
    clock_begin(0, 0);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    posted();
    unexpected();
    probes();
    failures_and_cancels();
    modes();
    runs();
    polls();
    comms();
    OK(MPI_Comm_group(MPI_COMM_WORLD, &everyone));
    objects();
    OK(MPI_Group_free(&everyone));
    tools();
    events(MPI_T_CB_REQUIRE_NONE, 1);
    events(MPI_T_CB_REQUIRE_MPI_RESTRICTED, 0);
    drops();
    writes();
    OK(MPI_Comm_free(&comm));
    OK(MPI_Op_create(add, 1, &left));
    mark();
    clock_begin(2, 5 * SECOND);
    OK(MPI_Finalize());
    now_is_at_least("runtime_finalize_time", 5 * SECOND);
    now_is_at_most("runtime_finalize_time", clock_last - clock_first);
    now_is("runtime_init_time", took);
    now_is("runtime_connections", 0);
    now_is("runtime_connect_time", 0);
    now_is("op_live", 0); /* what nobody has freed, too */
    now_is("request_live", 0);
    now_is("match_posted_length", 0);
    oracle_close();
    OK(MPI_T_finalize());
    return 0;
}
