/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory transport alone, between two processes pinned to two processors: latency, rate
 * and bandwidth, beside what the machine can do at best (a cache line bounced between the two, and
 * memcpy).
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/mpit_double.h"
#include "transport/shm/shm_open.h"
#include "util/sync.h"

#define N_REPEATS 7
#define BIG_LEN   (16u << 20)

/* What the two processes share besides the transport. */
struct common {
    _Atomic uint64_t line[2] FM_ALIGNED(FM_CACHE_LINE);
    _Atomic uint32_t n_arrived FM_ALIGNED(FM_CACHE_LINE);
    struct {
        char data[FM_ADDRESS_MAX];
        size_t len;
        char *big;
    } address[2];
};

struct side {
    int self;
    struct common *common;
    void *words;
    struct fm_transport *tp;
    struct fm_ep *ep;
    uint64_t n_messages, n_bytes;
    char *big;  /* BIG_LEN bytes */
    char *into; /* deliver copies here when not NULL */
    bool is_done;
};

static void deliver(void *ctx, const void *data, size_t len)
{
    struct side *s = ctx;

    if (s->into) {
        memcpy(s->into + s->n_bytes, data, len);
    }
    s->n_messages++;
    s->n_bytes += len;
}

static void failed(void *ctx, int peer, const char *why)
{
    fprintf(stderr, "peer %d: %s\n", peer, why);
    abort();
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void barrier(struct side *s)
{
    uint32_t to = (atomic_fetch_add(&s->common->n_arrived, 1) / 2 + 1) * 2;

    while (atomic_load(&s->common->n_arrived) < to) {
        if (s->tp) {
            fm_transport_poll(s->tp);
        }
    }
}

static void open_side(struct side *s, struct common *common, int self)
{
    struct fm_transport_args args = {.self = self, .n_procs = 2, .tag = "bench"};

    *s = (struct side){.self = self, .common = common, .words = fm_double_block(&fm_shm_vars)};
    args.sink = (struct fm_sink){.ctx = s, .deliver = deliver, .failed = failed};
    s->big = aligned_alloc(4096, BIG_LEN);
    if (!s->big || fm_shm_open(&args, s->words, &s->tp) < 0) {
        fprintf(stderr, "%s\n", fm_why());
        abort();
    }
    memset(s->big, self + 1, BIG_LEN);
    s->tp->ops->address(s->tp, common->address[self].data, &common->address[self].len);
    common->address[self].big = s->big;
    barrier(s);
    if (s->tp->ops->connect(s->tp, !self, common->address[!self].data, common->address[!self].len,
                            &s->ep) < 0) {
        fprintf(stderr, "%s\n", fm_why());
        abort();
    }
    barrier(s);
}

static void send(struct side *s, const void *data, size_t len)
{
    uint64_t head = 1;

    /* As the engine does: a short header, and the user's bytes. */
    while (fm_ep_send(s->ep, &head, 8, data, len - 8) != 0) {
        fm_transport_poll(s->tp);
    }
}

static void await(struct side *s, uint64_t n)
{
    while (s->n_messages < n) {
        fm_transport_poll(s->tp);
    }
}

/* One way, of one message of len bytes or as many pieces as it takes. */
static double pingpong(struct side *s, size_t len, int n)
{
    size_t piece = len < s->tp->max_send ? len : s->tp->max_send;
    uint64_t n_pieces = (len + piece - 1) / piece;
    uint64_t t;

    barrier(s);
    s->n_messages = 0;
    barrier(s);
    t = fm_now_ns();
    for (int k = 0; k < n; k++) {
        for (int turn = 0; turn < 2; turn++) {
            if (turn == s->self) {
                for (uint64_t p = 0; p < n_pieces; p++) {
                    send(s, s->big + p * piece, piece);
                }
            } else {
                s->n_bytes = 0;
                await(s, (uint64_t)(k + 1) * n_pieces);
            }
        }
    }
    return (double)(fm_now_ns() - t) / (2.0 * n);
}

/* Nanoseconds a message in a stream from 0 to 1. */
static double stream(struct side *s, size_t len, int n)
{
    uint64_t t;

    barrier(s);
    s->n_messages = s->n_bytes = 0;
    barrier(s);
    t = fm_now_ns();
    for (int k = 0; k < n && s->self == 0; k++) {
        send(s, s->big, len);
    }
    if (s->self == 1) {
        while (s->n_messages < (uint64_t)n) {
            fm_transport_poll(s->tp);
            s->n_bytes = 0;
        }
    }
    barrier(s);
    return (double)(fm_now_ns() - t) / n;
}

static void done(struct fm_rma *rma, int status)
{
    ((struct side *)rma->priv)->is_done = true;
    if (status) {
        fprintf(stderr, "%s\n", fm_why());
        abort();
    }
}

/* Nanoseconds of a get by process 1 from process 0, which only polls. */
static double get(struct side *s, size_t len, int n)
{
    struct fm_rma rma = {.op = FM_RMA_GET, .local = s->big, .len = len, .done = done, .priv = s};
    uint64_t t;

    rma.remote.addr = (uintptr_t)s->common->address[!s->self].big;
    barrier(s);
    t = fm_now_ns();
    for (int k = 0; k < n && s->self == 1; k++) {
        s->is_done = false;
        if (s->ep->ops->rma(s->ep, &rma) != 0) {
            abort();
        }
        while (!s->is_done) {
            fm_transport_poll(s->tp);
        }
    }
    barrier(s);
    return (double)(fm_now_ns() - t) / n;
}

static double bounce(struct side *s, size_t len, int n)
{
    _Atomic uint64_t *mine = &s->common->line[0];
    uint64_t t;

    (void)len;
    barrier(s);
    if (s->self == 0) {
        atomic_store(mine, 0);
    }
    barrier(s);
    t = fm_now_ns();
    for (uint64_t k = 0; k < 2 * (uint64_t)n; k++) {
        if ((k & 1) == (uint64_t)s->self) {
            atomic_store_explicit(mine, k + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(mine, memory_order_acquire) != k + 1) {
            }
        }
    }
    return (double)(fm_now_ns() - t) / (2.0 * n);
}

typedef double (*bench_fn)(struct side *s, size_t len, int n);

/* Best of some repeats; both sides call it, 0 prints. */
static void report(struct side *s, const char *what, bench_fn fn, size_t len, int n)
{
    double best = 1e18;

    for (int k = 0; k < N_REPEATS; k++) {
        double t = fn(s, len, n);

        best = t < best ? t : best;
    }
    if (s->self == 0) {
        printf("%-28s %9zu B %11.1f ns %9.2f GB/s %8.2f M/s\n", what, len, best, (double)len / best,
               1000 / best);
        fflush(stdout);
    }
}

static void run(struct common *common, int self)
{
    static const size_t lens[] = {8, 16, 32, 56, 57, 128, 1024, 4096, 8192, 16384};
    static const size_t longs[] = {16384, 32768, 65536, 131072, 262144, 1 << 20, 4 << 20};
    struct side s;
    char *into;

    pin(self);
    open_side(&s, common, self);
    for (int k = 0; k < 20; k++) { /* until the fast rings are in use */
        pingpong(&s, 8, 1);
    }
    report(&s, "cache line, one way", bounce, 8, 200000);
    for (size_t k = 0; k < FM_ARRAY_LEN(lens); k++) {
        report(&s, "latency", pingpong, lens[k], lens[k] < 4096 ? 50000 : 5000);
    }
    for (size_t k = 0; k < FM_ARRAY_LEN(lens) && lens[k] <= s.tp->max_send; k++) {
        report(&s, "stream", stream, lens[k], lens[k] < 4096 ? 500000 : 20000);
    }
    into = aligned_alloc(4096, BIG_LEN);
    if (!into) {
        abort();
    }
    memset(into, 0, BIG_LEN);
    s.into = into;
    for (size_t k = 0; k < FM_ARRAY_LEN(longs); k++) {
        report(&s, "latency, copied out", pingpong, longs[k], (int)((8u << 20) / longs[k]) + 8);
    }
    s.into = NULL;
    for (size_t k = 0; k < FM_ARRAY_LEN(longs); k++) {
        report(&s, "get (single copy)", get, longs[k], (int)((8u << 20) / longs[k]) + 8);
    }
    barrier(&s);
    s.tp->ops->close(s.tp);
    free(into);
    free(s.big);
    free(s.words);
}

int main(void)
{
    struct common *common =
        mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int status;

    if (common == MAP_FAILED || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        printf("skipped: needs two processors\n");
        return 77;
    }
    child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(common, 1);
        _exit(0);
    }
    run(common, 0);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
