/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ten thousand messages of random size and tag between all ranks, in disorder.
 *
 * Three communicators, one per way to receive: exact and any-source mixed (by tag), any-tag, and
 * both wildcards. Every rank replays every sender's plan, so it knows what it must get. Receives
 * are posted in random order, many at a time; sends are standard and synchronous. Checked: each
 * byte; that along the order of posting the messages of one (communicator, source, tag) come in the
 * order of sending; that nothing is left over.
 */
#include "../check.h"

#include <string.h>

enum { N_MESSAGES = 10000, N_TAGS = 8, N_COMMS = 3, MAX_SIZE = 16 };

struct plan {
    int dest, comm, tag, len, is_sync;
};

struct send {
    MPI_Request request;
    unsigned char *buf;
};

struct recv {
    MPI_Request request;
    unsigned char *buf;
    int comm, source, tag; /* as posted */
    MPI_Status status;
    int len;
};

static int rank, size;
static MPI_Comm comms[N_COMMS];

static struct plan draw(uint64_t *state)
{
    struct plan p;
    int kind = random_below(state, 100);

    p.dest = random_below(state, size);
    p.comm = random_below(state, N_COMMS);
    p.tag = random_below(state, N_TAGS);
    p.is_sync = random_below(state, 10) == 0;
    p.len = 16 + (kind < 60   ? random_below(state, 200)
                  : kind < 90 ? random_below(state, 8000)
                  : kind < 99 ? random_below(state, 70000)
                              : random_below(state, 400000));
    return p;
}

static unsigned char fill(int source, int seq, int i)
{
    return (unsigned char)(source * 101 + seq * 13 + i + (i >> 8));
}

static void start_send(struct send *s, const struct plan *p, int seq)
{
    int head[4] = {rank, seq, p->len, p->tag};

    s->buf = malloc((size_t)p->len);
    CHECK(s->buf);
    memcpy(s->buf, head, sizeof(head));
    for (int i = 16; i < p->len; i++) {
        s->buf[i] = fill(rank, seq, i);
    }
    if (p->is_sync) {
        OK(MPI_Issend(s->buf, p->len, MPI_BYTE, p->dest, p->tag, comms[p->comm], &s->request));
    } else {
        OK(MPI_Isend(s->buf, p->len, MPI_BYTE, p->dest, p->tag, comms[p->comm], &s->request));
    }
}

/* How this message will be asked for. */
static struct recv want(const struct plan *p, int source)
{
    struct recv r = {.request = MPI_REQUEST_NULL, .comm = p->comm, .source = source, .tag = p->tag};

    if (p->comm == 0 && p->tag >= N_TAGS / 2) {
        r.source = MPI_ANY_SOURCE;
    }
    if (p->comm == 1) {
        r.tag = MPI_ANY_TAG;
    }
    if (p->comm == 2) {
        r.source = MPI_ANY_SOURCE;
        r.tag = MPI_ANY_TAG;
    }
    return r;
}

static void check_message(const struct recv *r)
{
    int head[4], count;

    OK(MPI_Get_count(&r->status, MPI_BYTE, &count));
    CHECK(count >= 16);
    memcpy(head, r->buf, sizeof(head));
    CHECK_EQ(head[0], r->status.MPI_SOURCE);
    CHECK_EQ(head[2], count);
    CHECK_EQ(head[3], r->status.MPI_TAG);
    if (r->source != MPI_ANY_SOURCE) {
        CHECK_EQ(r->source, r->status.MPI_SOURCE);
    }
    if (r->tag != MPI_ANY_TAG) {
        CHECK_EQ(r->tag, r->status.MPI_TAG);
    }
    for (int i = 16; i < count; i++) {
        CHECK_EQ(r->buf[i], fill(head[0], head[1], i));
    }
}

/* Along the order of posting, sequence numbers of one (comm, source, tag) only grow. */
static void check_order(const struct recv *recvs, int n)
{
    static int last[N_COMMS][MAX_SIZE][N_TAGS];

    memset(last, -1, sizeof(last));
    for (int i = 0; i < n; i++) {
        int head[4];
        int *l;

        memcpy(head, recvs[i].buf, sizeof(head));
        l = &last[recvs[i].comm][head[0]][head[3]];
        CHECK(head[1] > *l);
        *l = head[1];
    }
}

static int plan_receives(struct recv *recvs, int per_rank)
{
    uint64_t shuffle = 77u + (uint64_t)rank;
    int n = 0;

    for (int source = 0; source < size; source++) {
        uint64_t state = 1000u + (uint64_t)source;

        for (int i = 0; i < per_rank; i++) {
            struct plan p = draw(&state);

            if (p.dest == rank) {
                recvs[n++] = want(&p, source);
            }
        }
    }
    for (int i = n - 1; i > 0; i--) {
        int j = random_below(&shuffle, i + 1);
        struct recv swap = recvs[i];

        recvs[i] = recvs[j];
        recvs[j] = swap;
    }
    return n;
}

/* All messages of this rank, both ways. Those before first_* are complete. */
struct traffic {
    int per_rank, n_recvs;
    struct send *sends;
    struct recv *recvs;
    int n_posted, n_recvd, n_sent, n_started, first_send, first_recv;
    uint64_t state;
};

static void begin(struct traffic *t)
{
    *t = (struct traffic){.per_rank = N_MESSAGES / size, .state = 1000u + (uint64_t)rank};
    t->sends = calloc((size_t)t->per_rank, sizeof(*t->sends));
    t->recvs = calloc(N_MESSAGES, sizeof(*t->recvs));
    CHECK(t->sends && t->recvs);
    t->n_recvs = plan_receives(t->recvs, t->per_rank);
}

static void start_some(struct traffic *t, int window)
{
    enum { LONGEST = 16 + 400000 };

    while (t->n_started < t->per_rank && t->n_started - t->n_sent < window) {
        struct plan p = draw(&t->state);

        start_send(&t->sends[t->n_started], &p, t->n_started);
        t->n_started++;
    }
    while (t->n_posted < t->n_recvs && t->n_posted - t->n_recvd < window) {
        struct recv *r = &t->recvs[t->n_posted++];

        r->buf = malloc(LONGEST);
        CHECK(r->buf);
        OK(MPI_Irecv(r->buf, LONGEST, MPI_BYTE, r->source, r->tag, comms[r->comm], &r->request));
    }
}

/* Sends that are complete now. */
static int test_sends(struct traffic *t)
{
    int n = 0, flag;

    while (t->first_send < t->n_started && !t->sends[t->first_send].buf) {
        t->first_send++;
    }
    for (int i = t->first_send; i < t->n_started; i++) {
        if (t->sends[i].buf) {
            OK(MPI_Test(&t->sends[i].request, &flag, MPI_STATUS_IGNORE));
            if (flag) {
                free(t->sends[i].buf);
                t->sends[i].buf = NULL;
                n++;
            }
        }
    }
    t->n_sent += n;
    return n;
}

static int test_recvs(struct traffic *t)
{
    int n = 0, flag;

    while (t->first_recv < t->n_posted && t->recvs[t->first_recv].request == MPI_REQUEST_NULL) {
        t->first_recv++;
    }
    for (int i = t->first_recv; i < t->n_posted; i++) {
        if (t->recvs[i].request != MPI_REQUEST_NULL) {
            OK(MPI_Test(&t->recvs[i].request, &flag, &t->recvs[i].status));
            if (flag) {
                check_message(&t->recvs[i]);
                t->recvs[i].buf = realloc(t->recvs[i].buf, 16);
                n++;
            }
        }
    }
    t->n_recvd += n;
    return n;
}

static void nothing_is_left(void)
{
    int flag;

    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int c = 0; c < N_COMMS; c++) {
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &flag, MPI_STATUS_IGNORE));
        CHECK_EQ(flag, 0);
    }
}

int main(int argc, char **argv)
{
    int window = 16;
    struct traffic t;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size <= MAX_SIZE);
    comms[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    OK(MPI_Comm_dup(comms[1], &comms[2]));
    begin(&t);
    while (t.n_sent < t.per_rank || t.n_recvd < t.n_recvs) {
        start_some(&t, window);
        /* More and more at a time when nothing moves: no order of posting can then block. */
        window += test_sends(&t) + test_recvs(&t) == 0;
    }
    check_order(t.recvs, t.n_recvs);
    nothing_is_left();
    for (int i = 0; i < t.n_recvs; i++) {
        free(t.recvs[i].buf);
    }
    free(t.recvs);
    free(t.sends);
    OK(MPI_Comm_free(&comms[1]));
    OK(MPI_Comm_free(&comms[2]));
    OK(MPI_Finalize());
    return 0;
}
