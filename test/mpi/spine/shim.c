/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMPI tool that counts on its own and holds the library's counters against that.
 *
 * Linked to a program that starts all its messages with MPI_Isend, MPI_Issend and MPI_Irecv, after
 * its last MPI_Comm_dup, and ends them with MPI_Test before its first MPI_Barrier. Between these
 * two, exactly: per communicator messages and bytes both ways, in all and per peer; over all the
 * sum of the protocols and the histogram of sizes.
 */
#include "../../support/oracle_log.h"
#include "../check.h"

#include <string.h>

enum { MAX_COMMS = 4, MAX_RANKS = 64, MAX_OPEN = 32768 };

enum way { SENT, RECVD };

struct traffic {
    unsigned long long messages, bytes, peer_messages[MAX_RANKS], peer_bytes[MAX_RANKS];
};

static MPI_T_pvar_session session;
static MPI_Comm comms[MAX_COMMS];
static struct traffic tallies[MAX_COMMS][2];
static int n_comms, n_posted_high, n_posted;
static struct {
    MPI_Request request;
    int comm;
} receives[MAX_OPEN];
static int n_receives;

struct pvar {
    const char *name;
    MPI_T_pvar_handle handle;
    int count;
    unsigned long long before[64];
};

static struct pvar totals[] = {
    {.name = "p2p_eager_sent_messages"},
    {.name = "p2p_rndv_sent_messages"},
    {.name = "p2p_self_sent_messages"},
    {.name = "p2p_eager_sent_bytes"},
    {.name = "p2p_rndv_sent_bytes"},
    {.name = "p2p_self_sent_bytes"},
    {.name = "p2p_eager_recvd_messages"},
    {.name = "p2p_rndv_recvd_messages"},
    {.name = "p2p_self_recvd_messages"},
    {.name = "p2p_eager_recvd_bytes"},
    {.name = "p2p_rndv_recvd_bytes"},
    {.name = "p2p_self_recvd_bytes"},
    {.name = "p2p_sizes_sent"},
    {.name = "p2p_sizes_recvd"},
    {.name = "p2p_sync_sent"},
    {.name = "match_unexpected_length"},
    {.name = "match_posted_length"},
    {.name = "p2p_rts_waiting"},
    {.name = "p2p_waiting_packets"},
};
enum { N_TOTALS = sizeof(totals) / sizeof(totals[0]) };
static unsigned long long sizes[2][64], n_sync;

static void alloc(struct pvar *p, int klass, MPI_Comm *comm)
{
    int index, continuous;

    OK(PMPI_T_pvar_get_index(p->name, klass, &index));
    OK(PMPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            &continuous, NULL));
    OK(PMPI_T_pvar_handle_alloc(session, index, comm, &p->handle, &p->count));
    if (!continuous) {
        OK(PMPI_T_pvar_start(session, p->handle));
    }
}

static int class_of(const char *name)
{
    static const int classes[] = {MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE,
                                  MPI_T_PVAR_CLASS_LEVEL, MPI_T_PVAR_CLASS_GENERIC,
                                  MPI_T_PVAR_CLASS_SIZE};
    int index;

    for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (PMPI_T_pvar_get_index(name, classes[i], &index) == MPI_SUCCESS) {
            return classes[i];
        }
    }
    fprintf(stderr, "shim: no variable %s\n", name);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    return -1;
}

/* Sent, then received: messages, bytes, and both by peer. */
static struct pvar comm_vars[MAX_COMMS][8];

static void watch_comm(MPI_Comm comm)
{
    static const char *const names[8] = {"comm_sent_messages",          "comm_sent_bytes",
                                         "comm_peer_sent_messages",     "comm_peer_sent_bytes",
                                         "comm_received_messages",      "comm_received_bytes",
                                         "comm_peer_received_messages", "comm_peer_received_bytes"};
    int size;

    CHECK(n_comms < MAX_COMMS);
    comms[n_comms] = comm;
    OK(PMPI_Comm_size(comm, &size));
    for (int k = 0; k < 8; k++) {
        comm_vars[n_comms][k].name = names[k];
        alloc(&comm_vars[n_comms][k], class_of(names[k]), &comm);
        CHECK_EQ(comm_vars[n_comms][k].count, k % 4 < 2 ? 1 : size);
    }
    n_comms++;
}

static int comm_index(MPI_Comm comm)
{
    for (int i = 0; i < n_comms; i++) {
        if (comms[i] == comm) {
            return i;
        }
    }
    CHECK(!"a communicator that the shim knows");
    return -1;
}

static unsigned bin_of(unsigned long long bytes)
{
    unsigned bin = 0;

    for (; bytes; bytes >>= 1) {
        bin++;
    }
    return bin;
}

static void count(MPI_Comm comm, enum way way, int peer, int bytes)
{
    struct traffic *t = &tallies[comm_index(comm)][way];

    t->messages++;
    t->bytes += (unsigned)bytes;
    t->peer_messages[peer]++;
    t->peer_bytes[peer] += (unsigned)bytes;
    sizes[way][bin_of((unsigned)bytes)]++;
}

static void snapshot(void)
{
    for (int i = 0; i < N_TOTALS; i++) {
        OK(PMPI_T_pvar_read(session, totals[i].handle, totals[i].before));
    }
}

int MPI_Init(int *argc, char ***argv)
{
    int provided;

    OK(PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(PMPI_Init(argc, argv));
    OK(PMPI_T_pvar_session_create(&session));
    for (int i = 0; i < N_TOTALS; i++) {
        alloc(&totals[i], class_of(totals[i].name), NULL);
        CHECK(totals[i].count == 1 || totals[i].count == 64);
    }
    watch_comm(MPI_COMM_WORLD);
    snapshot();
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    int rc = PMPI_Comm_dup(comm, newcomm);

    watch_comm(*newcomm);
    snapshot();
    return rc;
}

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    count(comm, SENT, dest, n);
    return PMPI_Isend(buf, n, type, dest, tag, comm, request);
}

int MPI_Issend(const void *buf, int n, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    count(comm, SENT, dest, n);
    n_sync++;
    return PMPI_Issend(buf, n, type, dest, tag, comm, request);
}

int MPI_Irecv(void *buf, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int rc = PMPI_Irecv(buf, n, type, source, tag, comm, request);

    CHECK(n_receives < MAX_OPEN);
    receives[n_receives].request = *request;
    receives[n_receives++].comm = comm_index(comm);
    n_posted++;
    n_posted_high = n_posted > n_posted_high ? n_posted : n_posted_high;
    return rc;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Request was = *request;
    int rc = PMPI_Test(request, flag, status), bytes;

    for (int i = n_receives - 1; *flag && i >= 0; i--) {
        if (receives[i].request == was) {
            OK(PMPI_Get_count(status, MPI_BYTE, &bytes));
            count(comms[receives[i].comm], RECVD, status->MPI_SOURCE, bytes);
            receives[i] = receives[--n_receives];
            n_posted--;
            break;
        }
    }
    return rc;
}

static void expect(const char *name, int which, unsigned long long is, unsigned long long should)
{
    oracle_log(name);
    if (is != should) {
        fprintf(stderr, "shim: %s[%d] is %llu, counted %llu\n", name, which, is, should);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static unsigned long long change(const char *name, int bin)
{
    unsigned long long now[64];

    for (int i = 0; i < N_TOTALS; i++) {
        if (strcmp(totals[i].name, name) == 0) {
            OK(PMPI_T_pvar_read(session, totals[i].handle, now));
            return now[bin] - totals[i].before[bin];
        }
    }
    CHECK(!"a known name");
    return 0;
}

static void check_comm(int c)
{
    unsigned long long values[MAX_RANKS];

    for (int k = 0; k < 8; k++) {
        const struct traffic *t = &tallies[c][k / 4];
        const struct pvar *p = &comm_vars[c][k];

        OK(PMPI_T_pvar_read(session, p->handle, values));
        for (int i = 0; i < p->count; i++) {
            expect(p->name, i, values[i],
                   k % 4 == 0   ? t->messages
                   : k % 4 == 1 ? t->bytes
                   : k % 4 == 2 ? t->peer_messages[i]
                                : t->peer_bytes[i]);
        }
    }
}

int MPI_Barrier(MPI_Comm comm)
{
    unsigned long long messages[2] = {0, 0}, bytes[2] = {0, 0};

    for (int c = 0; c < n_comms; c++) {
        for (int way = SENT; way <= RECVD; way++) {
            messages[way] += tallies[c][way].messages;
            bytes[way] += tallies[c][way].bytes;
        }
    }
    expect("messages sent", 0,
           change("p2p_eager_sent_messages", 0) + change("p2p_rndv_sent_messages", 0) +
               change("p2p_self_sent_messages", 0),
           messages[SENT]);
    expect("bytes sent", 0,
           change("p2p_eager_sent_bytes", 0) + change("p2p_rndv_sent_bytes", 0) +
               change("p2p_self_sent_bytes", 0),
           bytes[SENT]);
    expect("messages received", 0,
           change("p2p_eager_recvd_messages", 0) + change("p2p_rndv_recvd_messages", 0) +
               change("p2p_self_recvd_messages", 0),
           messages[RECVD]);
    expect("bytes received", 0,
           change("p2p_eager_recvd_bytes", 0) + change("p2p_rndv_recvd_bytes", 0) +
               change("p2p_self_recvd_bytes", 0),
           bytes[RECVD]);
    expect("synchronous sends", 0, change("p2p_sync_sent", 0), n_sync);
    for (int bin = 0; bin < 64; bin++) {
        expect("p2p_sizes_sent", bin, change("p2p_sizes_sent", bin), sizes[SENT][bin]);
        expect("p2p_sizes_recvd", bin, change("p2p_sizes_recvd", bin), sizes[RECVD][bin]);
    }
    for (int c = 0; c < n_comms; c++) {
        check_comm(c);
    }
    return PMPI_Barrier(comm);
}

/* Nothing waits anywhere at the end. */
int MPI_Finalize(void)
{
    static const char *const empty[] = {"match_unexpected_length", "match_posted_length",
                                        "p2p_rts_waiting", "p2p_waiting_packets"};
    unsigned long long now;

    for (unsigned e = 0; e < sizeof(empty) / sizeof(empty[0]); e++) {
        for (int i = 0; i < N_TOTALS; i++) {
            if (strcmp(totals[i].name, empty[e]) == 0) {
                OK(PMPI_T_pvar_read(session, totals[i].handle, &now));
                expect(empty[e], 0, now, 0);
            }
        }
    }
    OK(PMPI_T_pvar_session_free(&session));
    OK(PMPI_T_finalize());
    return PMPI_Finalize();
}
