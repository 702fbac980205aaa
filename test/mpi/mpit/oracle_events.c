/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many events of each type are raised, and with what data, against what this program does: with
 * itself, where everything is known call by call, and with another rank.
 */
#include "oracle.h"

enum { N = 7, LEN = 40, LONG = 1 << 20, MAX_EVENTS = 100, TAG = 3 };

static struct {
    char name[64];
    MPI_T_event_registration registration;
    int n;
    ull last[8]; /* of the last one: its elements, as far as these are numbers of 8 bytes */
    int last_int[8];
} events[MAX_EVENTS];
static int n_events, me, rank, size;
static MPI_Comm comm;
static char out[LONG], in[LONG];

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *user_data)
{
    int i = (int)((size_t)((char *)user_data - (char *)events) / sizeof(events[0]));
    MPI_Datatype types[8];
    MPI_Aint displacements[8];
    int n = 8, index;

    (void)registration;
    (void)safety;
    OK(MPI_T_event_get_index(events[i].name, &index));
    OK(MPI_T_event_get_info(index, NULL, NULL, NULL, types, displacements, &n, NULL, NULL, NULL,
                            NULL, NULL));
    for (int k = 0; k < n; k++) {
        if (types[k] == MPI_UNSIGNED_LONG_LONG) {
            OK(MPI_T_event_read(instance, k, &events[i].last[k]));
        } else {
            OK(MPI_T_event_read(instance, k, &events[i].last_int[k]));
        }
    }
    events[i].n++;
}

static void watch_all(void)
{
    OK(MPI_T_event_get_num(&n_events));
    CHECK(n_events >= 16 && n_events <= MAX_EVENTS);
    for (int i = 0; i < n_events; i++) {
        int len = sizeof(events[i].name);

        OK(MPI_T_event_get_info(i, events[i].name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                NULL, NULL));
        OK(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &events[i].registration));
        OK(MPI_T_event_register_callback(events[i].registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                         MPI_INFO_NULL, &events[i], on_event));
    }
}

static int event(const char *name)
{
    for (int i = 0; i < n_events; i++) {
        if (strcmp(events[i].name, name) == 0) {
            return i;
        }
    }
    fprintf(stderr, "no event %s\n", name);
    CHECK(!"an event that the library has");
    return -1;
}

static void clear(void)
{
    for (int i = 0; i < n_events; i++) {
        events[i].n = 0;
    }
}

#define raised(name, should) ORACLE(name, 0, events[event(name)].n, ==, should)

/* What names the communicator in events. */
static ull bound(const char *name, MPI_Comm c)
{
    MPI_T_pvar_handle h;
    int index, count;
    ull value;

    OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &index));
    OK(MPI_T_pvar_handle_alloc(oracle_session, index, &c, &h, &count));
    OK(MPI_T_pvar_read(oracle_session, h, &value));
    OK(MPI_T_pvar_handle_free(oracle_session, &h));
    return value;
}

#define bound_is(name, c, should) ORACLE(name, 0, bound(name, c), ==, should)

/* ---- alone ---- */

static void with_itself(void)
{
    MPI_Request q[2 * N];

    clear();
    for (int k = 0; k < N; k++) {
        OK(MPI_Irecv(in, LEN, MPI_CHAR, me, k, comm, &q[k]));
    }
    raised("match_receive_posted", N);
    CHECK_EQ(events[event("match_receive_posted")].last_int[2], N - 1); /* tag */
    CHECK_EQ(events[event("match_receive_posted")].last[3], N);
    bound_is("comm_context", comm, events[event("match_receive_posted")].last_int[0]);
    for (int k = 0; k < N; k++) {
        OK(MPI_Isend(out, LEN, MPI_CHAR, me, k, comm, &q[N + k]));
    }
    OK(MPI_Waitall(2 * N, q, MPI_STATUSES_IGNORE));
    raised("match_receive_matched", N);
    raised("request_completed_event", 2 * N);
    CHECK_EQ(events[event("request_completed_event")].last[3], LEN);
    raised("match_unexpected_queued", 0);
    clear();
    for (int k = 0; k < N; k++) {
        OK(MPI_Isend(out, LEN, MPI_CHAR, me, k, comm, &q[k]));
    }
    raised("match_unexpected_queued", N);
    raised("match_unexpected_matched", 0);
    for (int k = 0; k < N; k++) {
        OK(MPI_Recv(in, LEN, MPI_CHAR, me, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    }
    OK(MPI_Waitall(N, q, MPI_STATUSES_IGNORE));
    raised("match_unexpected_matched", N);
    raised("match_receive_posted", 0);
    raised("match_receive_matched", 0);
    raised("request_completed_event",
           N); /* of the sends: a receive that finds its message has none */
}

static void objects(void)
{
    MPI_Comm made[N];
    ull id = 0;

    clear();
    for (int k = 0; k < N; k++) {
        OK(MPI_Comm_dup(comm, &made[k]));
        CHECK(events[event("comm_created_event")].last[0] > id); /* numbers only grow */
        id = events[event("comm_created_event")].last[0];
        CHECK_EQ(events[event("comm_created_event")].last_int[2], size);
        bound_is("comm_id", made[k], id);
        bound_is("comm_context", made[k], events[event("comm_created_event")].last_int[1]);
    }
    raised("comm_created_event", N);
    raised("comm_freed_event", 0);
    for (int k = 0; k < N; k++) {
        OK(MPI_Comm_free(&made[k]));
    }
    raised("comm_freed_event", N);
    CHECK_EQ(events[event("comm_freed_event")].last[0], id);
}

static void writes(void)
{
    MPI_T_cvar_handle h;
    int index, count;
    ull limit = 1000;

    clear();
    OK(MPI_T_cvar_get_index("p2p_fragment_len", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, &count));
    for (int k = 0; k < N; k++) {
        limit += 64;
        OK(MPI_T_cvar_write(h, &limit));
    }
    raised("mpit_cvar_written", N);
    CHECK_EQ(events[event("mpit_cvar_written")].last_int[0], index);
    CHECK_EQ(events[event("mpit_cvar_written")].last[1], limit);
    limit = 1; /* out of bounds: not written */
    CHECK(MPI_T_cvar_write(h, &limit) != MPI_SUCCESS);
    raised("mpit_cvar_written", N);
    OK(MPI_T_cvar_handle_free(&h));
}

/* ---- with another rank ---- */

/* Sums over both ranks. */
static ull both(const char *name)
{
    ull n = (ull)events[event(name)].n, sum;

    OK(MPI_Allreduce(&n, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

/* A call that uses what is counted would count itself: numbers are taken before. */
static void messages(int len, int n_eager, int n_long)
{
    MPI_Request q[N];
    ull n[6];

    OK(MPI_Barrier(comm));
    clear();
    mark();
    for (int k = 0; k < N; k++) {
        OK(rank == 0 ? MPI_Isend(out, len, MPI_CHAR, 1, TAG, comm, &q[k])
                     : MPI_Irecv(in, len, MPI_CHAR, 0, TAG, comm, &q[k]));
    }
    OK(MPI_Waitall(N, q, MPI_STATUSES_IGNORE));
    n[0] = (ull)events[event("p2p_eager_event")].n;
    n[1] = (ull)events[event("p2p_rts_event")].n;
    n[2] = (ull)events[event("p2p_data_done_event")].n;
    n[3] = (ull)events[event("request_completed_event")].n;
    n[4] = (ull)events[event("p2p_data_recvd_event")].n;
    n[5] = since("request_completed", 0);
    ORACLE("request_completed_event", 0, n[3], ==, N);
    ORACLE("request_completed", 0, n[5], ==, N);
    ORACLE("p2p_data_recvd_event", 0, n[4], ==, rank == 1 ? n_long : 0);
    if (rank == 0) {
        ORACLE("p2p_eager_event", 0, n[0], ==, n_eager);
        ORACLE("p2p_rts_event", 0, n[1], ==, n_long);
        ORACLE("p2p_data_done_event", 0, n[2], ==, n_long);
    }
}

static void data_starts(void)
{
    MPI_Request q;
    ull n;

    OK(MPI_Barrier(comm));
    clear();
    for (int k = 0; k < N; k++) {
        OK(rank == 0 ? MPI_Isend(out, LONG, MPI_CHAR, 1, TAG, comm, &q)
                     : MPI_Irecv(in, LONG, MPI_CHAR, 0, TAG, comm, &q));
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    }
    n = both("p2p_data_start_event"); /* where, depends on who moves the data */
    ORACLE("p2p_data_start_event", 0, n, ==, N);
}

/* Messages that are short enough but go by rendezvous, the other side having no room. */
static void flow(void)
{
    enum { MANY = 400, MEDIUM = 8000 };
    static MPI_Request q[MANY];
    ull n_long, n_flow;

    OK(MPI_Barrier(comm));
    clear();
    mark();
    if (rank == 0) {
        for (int k = 0; k < MANY; k++) {
            OK(MPI_Isend(out, MEDIUM, MPI_CHAR, 1, TAG, comm, &q[k]));
        }
        OK(MPI_Send(out, 0, MPI_CHAR, 1, TAG + 1, comm));
        OK(MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE));
        n_long = since("p2p_rndv_sent_messages", 0);
        n_flow = (ull)events[event("p2p_flow_event")].n;
        ORACLE("p2p_flow_event", 0, n_flow, ==, n_long);
        same("p2p_credit_stalls", n_long);
        CHECK(n_flow > 0);
    } else {
        OK(MPI_Recv(in, 0, MPI_CHAR, 0, TAG + 1, comm, MPI_STATUS_IGNORE));
        for (int k = 0; k < MANY; k++) {
            OK(MPI_Recv(in, MEDIUM, MPI_CHAR, 0, TAG, comm, MPI_STATUS_IGNORE));
        }
    }
}

/* Too late: what is short has left when MPI_Isend returns. */
static void cancels(void)
{
    MPI_Request q;
    MPI_Status status;
    int is_cancelled;

    OK(MPI_Barrier(comm));
    mark();
    if (rank == 0) {
        OK(MPI_Isend(out, LEN, MPI_CHAR, 1, TAG, comm, &q));
        OK(MPI_Cancel(&q));
        OK(MPI_Wait(&q, &status));
        OK(MPI_Test_cancelled(&status, &is_cancelled));
        same("request_cancels", 1);
        same("request_cancelled", is_cancelled);
        CHECK(!is_cancelled);
    } else {
        OK(MPI_Recv(in, LEN, MPI_CHAR, 0, TAG, comm, MPI_STATUS_IGNORE));
    }
}

static void set_limit(void)
{
    MPI_T_cvar_handle h;
    int index, count;
    ull limit = 256 << 10;

    OK(MPI_T_cvar_get_index("p2p_unexpected_limit", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, &count));
    OK(MPI_T_cvar_write(h, &limit));
    OK(MPI_T_cvar_handle_free(&h));
}

int main(int argc, char **argv)
{
    oracle_open();
    mark();
    watch_all();
    set_limit();
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    me = rank;
    OK(MPI_Barrier(comm));
    raised("p2p_peer_event", size - 1);
    raised("shm_connected", since("shm_peers", 0));
    raised("ofi_connected", since("ofi_connections", 0));
    raised("comm_created_event", since("comm_created", 0));
    raised("p2p_peer_failed_event", 0);
    objects();
    writes();
    OK(MPI_Barrier(comm));
    with_itself();
    if (size == 2) {
        messages(LEN, N, 0);
        messages(LONG, 0, N);
        data_starts();
        flow();
        cancels();
    }
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < n_events; i++) {
        OK(MPI_T_event_handle_free(events[i].registration, NULL, NULL));
    }
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}
