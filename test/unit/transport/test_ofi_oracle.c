/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every variable of the libfabric transport against what a real provider was asked and what it
 * answered: its tables of functions are replaced by ones that count. They also bring completions
 * in disorder, broken, and as errors.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/mpit_double.h"
#include "support/oracle_event.h"
#include "support/oracle_row.h"
#include "support/suite.h"
#include "transport/ofi/ofi.h"
#include "util/sync.h"

#define TIME_LIMIT_NS (20 * UINT64_C(1000000000))
#define MAX_SEND      65536

static const char *provider;

struct side {
    struct fm_transport *tp;
    struct fm_ofi *ofi;
    struct fm_ep *to_other;
    struct fm_ofi_counters *w;
    /* What the engine above sees. */
    uint64_t n_sent, sent_bytes, n_got, got_bytes, n_again, n_exhausted;
    bool is_done;
    /* What the provider was asked. */
    struct fi_ops_msg *msg;
    struct fi_ops_cq *cq;
    struct fi_ops_mr *mr;
    struct fi_ops_msg own_msg;
    struct fi_ops_cq own_cq;
    struct fi_ops_mr own_mr;
    struct fi_ops_rma *rma, own_rma;
    int refuse_recvs; /* that many */
    int refuse_in;    /* pieces of a transfer until one is refused; 0: none is */
    uint64_t n_injected, n_posted, n_refused, n_cq_reads, n_entries, n_errors;
    uint64_t n_registered, registered, registered_bytes, registered_high, registered_bytes_high;
    bool in_commit, disturbs, breaks, fails;
    uint64_t n_early, early_high, n_broken;
};
static struct side side[2];

static struct side *side_of_ep(const struct fid_ep *ep)
{
    return ep == side[0].ofi->fi_ep ? &side[0] : &side[1];
}

/* ---- the provider's functions ---- */

static ssize_t own_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to,
                        void *context)
{
    struct side *s = side_of_ep(ep);
    ssize_t rc = s->msg->send(ep, buf, len, desc, to, context);

    s->n_posted += rc == 0;
    s->n_refused += rc == -FI_EAGAIN && s->in_commit;
    return rc;
}

static ssize_t own_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t to)
{
    struct side *s = side_of_ep(ep);
    ssize_t rc = s->msg->inject(ep, buf, len, to);

    s->n_injected += rc == 0;
    return rc;
}

static ssize_t own_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                        void *context)
{
    struct side *s = side_of_ep(ep);

    if (s->refuse_recvs > 0) {
        s->refuse_recvs--;
        return -FI_EAGAIN;
    }
    return s->msg->recv(ep, buf, len, desc, from, context);
}

static uint64_t seed = 88172645463325252u;

static size_t random_below(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed >> 11) % n;
}

enum { RUN_MAX = 64 };

/* n messages that came one after the other, in this order from now on: early is each for which one
   before it is still to come, and it is kept until none is. */
static void count_early(struct side *s, const size_t *order, const uint64_t *lens, size_t n)
{
    bool has_come[RUN_MAX] = {false};
    uint64_t kept = 0;
    size_t next = 0;

    for (size_t k = 0; k < n; k++) {
        has_come[order[k]] = true;
        if (order[k] != next) {
            s->n_early++;
            kept += lens[order[k]];
            s->early_high = kept > s->early_high ? kept : s->early_high;
            continue;
        }
        for (next++; next < n && has_come[next]; next++) {
            kept -= lens[next];
        }
    }
    ck_assert_uint_eq(kept, 0);
}

/* Shuffle a run of received messages. */
static void shuffle(struct side *s, struct fi_cq_msg_entry *e, size_t n)
{
    struct fi_cq_msg_entry was[RUN_MAX];
    uint64_t lens[RUN_MAX];
    size_t order[RUN_MAX];

    memcpy(was, e, n * sizeof(*e));
    for (size_t k = 0; k < n; k++) {
        size_t with = random_below(k + 1), wire = e[k].len;

        lens[k] = wire - sizeof(struct fm_ofi_tail) - (wire - 16) % 8;
        order[k] = order[with];
        order[with] = k;
    }
    for (size_t k = 0; k < n; k++) {
        e[k] = was[order[k]];
    }
    count_early(s, order, lens, n);
}

static void disturb(struct side *s, struct fi_cq_msg_entry *e, size_t n)
{
    for (size_t k = 0, run = 0; k <= n; k++) {
        if (k == n || !(e[k].flags & FI_RECV) || k - run == RUN_MAX) {
            shuffle(s, e + run, k - run);
            run = k < n && (e[k].flags & FI_RECV) ? k : k + 1;
        }
    }
}

static ssize_t own_read(struct fid_cq *cq, void *buf, size_t count)
{
    struct side *s = cq == side[0].ofi->cq ? &side[0] : &side[1];
    struct fi_cq_msg_entry *e = buf;
    ssize_t n;

    s->n_cq_reads++;
    if (s->fails) {
        return -FI_EAVAIL;
    }
    n = s->cq->read(cq, buf, count);
    s->n_entries += n > 0 ? (uint64_t)n : 0;
    for (ssize_t k = 0; k < n && s->breaks; k++) {
        if (e[k].flags & FI_RECV) { /* no message of ours has such a length */
            e[k].len = 13;
            s->n_broken++;
        }
    }
    if (s->disturbs && n > 0) {
        disturb(s, e, (size_t)n);
    }
    return n;
}

static ssize_t own_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
{
    struct side *s = cq == side[0].ofi->cq ? &side[0] : &side[1];

    if (!s->fails) {
        return s->cq->readerr(cq, buf, flags);
    }
    s->fails = false;
    s->n_errors++;
    *buf = (struct fi_cq_err_entry){.err = FI_EIO}; /* of a message that was injected */
    return 1;
}

/* Registrations: closing one is seen by its own table. */
static struct {
    struct fid_mr *mr;
    size_t len;
    struct side *s;
    struct fi_ops *ops, own;
} pieces[64];

static int own_close(struct fid *fid)
{
    for (size_t k = 0; k < FM_ARRAY_LEN(pieces); k++) {
        if (pieces[k].mr && &pieces[k].mr->fid == fid) {
            pieces[k].s->registered--;
            pieces[k].s->registered_bytes -= pieces[k].len;
            pieces[k].mr = NULL;
            fid->ops = pieces[k].ops;
            return fid->ops->close(fid);
        }
    }
    abort();
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int own_reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
                   uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct side *s = fid == &side[0].ofi->domain->fid ? &side[0] : &side[1];
    int rc = s->mr->reg(fid, buf, len, access, offset, key, flags, mr, context);

    for (size_t k = 0; rc == 0 && k < FM_ARRAY_LEN(pieces); k++) {
        if (!pieces[k].mr) {
            pieces[k].mr = *mr;
            pieces[k].len = len;
            pieces[k].s = s;
            pieces[k].ops = (*mr)->fid.ops;
            pieces[k].own = *(*mr)->fid.ops;
            pieces[k].own.close = own_close;
            (*mr)->fid.ops = &pieces[k].own;
            s->n_registered++;
            s->registered_high = larger(s->registered_high, ++s->registered);
            s->registered_bytes += len;
            s->registered_bytes_high = larger(s->registered_bytes_high, s->registered_bytes);
            return 0;
        }
    }
    return rc;
}

static ssize_t own_rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t from,
                            uint64_t at, uint64_t key, void *context)
{
    struct side *s = side_of_ep(ep);

    if (s->refuse_in && --s->refuse_in == 0) {
        return -FI_EAGAIN;
    }
    return s->rma->read(ep, buf, len, desc, from, at, key, context);
}

static void count_from_now(struct side *s)
{
    s->ofi = fm_container_of(s->tp, struct fm_ofi, tp);
    s->msg = s->ofi->fi_ep->msg;
    s->own_msg = *s->msg;
    s->own_msg.send = own_send;
    s->own_msg.inject = own_inject;
    s->own_msg.recv = own_recv;
    s->ofi->fi_ep->msg = &s->own_msg;
    s->cq = s->ofi->cq->ops;
    s->own_cq = *s->cq;
    s->own_cq.read = own_read;
    s->own_cq.readerr = own_readerr;
    s->ofi->cq->ops = &s->own_cq;
    s->rma = s->ofi->fi_ep->rma;
    if (s->rma) {
        s->own_rma = *s->rma;
        s->own_rma.read = own_rma_read;
        s->ofi->fi_ep->rma = &s->own_rma;
    }
    s->mr = s->ofi->domain->mr;
    s->own_mr = *s->mr;
    s->own_mr.reg = own_reg;
    s->ofi->domain->mr = &s->own_mr;
}

/* ---- two sides ---- */

static void deliver(void *ctx, const void *data, size_t len)
{
    struct side *s = ctx;

    s->n_got++;
    s->got_bytes += len;
}

static void failed(void *ctx, int peer, const char *why)
{
}

static int open_side(int k)
{
    struct fm_transport_args args = {.self = k, .n_procs = 2, .tag = "t", .is_one_host = true};

    memset(&side[k], 0, sizeof(side[k]));
    side[k].w = fm_double_block(&fm_ofi_vars);
    snprintf(side[k].w->provider, sizeof(side[k].w->provider), "%s", provider);
    side[k].w->drain_ms = 1000;
    side[k].w->max_send = MAX_SEND;
    side[k].w->n_send_buffers = 16;
    oracle_events_on(&fm_ofi_vars, side[k].w);
    args.sink = (struct fm_sink){.ctx = &side[k], .deliver = deliver, .failed = failed};
    return fm_ofi_open(&args, side[k].w, &side[k].tp);
}

static void setup(void)
{
    memset(pieces, 0, sizeof(pieces));
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(open_side(k), 0);
        /* What opening has registered: the two mappings of the buffers, where it is wanted. */
        side[k].ofi = fm_container_of(side[k].tp, struct fm_ofi, tp);
        side[k].registered = side[k].n_registered = side[k].ofi->send_mr ? 2 : 0;
        side[k].registered_bytes =
            side[k].ofi->send_mr ? side[k].ofi->send_mem_len + side[k].ofi->recv_mem_len : 0;
        side[k].registered_high = side[k].registered;
        side[k].registered_bytes_high = side[k].registered_bytes;
        count_from_now(&side[k]);
    }
    for (int k = 0; k < 2; k++) {
        struct fm_transport *far = side[1 - k].tp;
        char addr[FM_ADDRESS_MAX];
        size_t len;

        ck_assert_int_eq(far->ops->address(far, addr, &len), 0);
        ck_assert_int_eq(side[k].tp->ops->connect(side[k].tp, 1 - k, addr, len, &side[k].to_other),
                         0);
    }
}

static void teardown(void)
{
    for (int k = 0; k < 2; k++) { /* what close() asks is not counted */
        side[k].ofi->fi_ep->msg = side[k].msg;
        side[k].ofi->cq->ops = side[k].cq;
        side[k].ofi->fi_ep->rma = side[k].rma;
        side[k].ofi->domain->mr = side[k].mr;
    }
    for (int k = 0; k < 2; k++) {
        side[k].tp->ops->close(side[k].tp);
        free(side[k].w);
    }
}

static void same(int k, const char *name, uint64_t should)
{
    ORACLE_ROW(&fm_ofi_vars, side[k].w, name, 0, ==, should);
}

static void poll_side(int k)
{
    ck_assert_int_ge(fm_transport_poll(side[k].tp), 0);
}

static char body[MAX_SEND];

/* One message, by either way. */
static int send_one(int k, size_t len, bool in_place)
{
    struct side *s = &side[k];
    uint64_t n_exhausted = s->w->n_exhausted;
    void *room;
    int rc;

    if (in_place) {
        rc = s->to_other->ops->reserve(s->to_other, len, &room);
        if (rc == 0) {
            memset(room, 7, len);
            s->in_commit = true;
            rc = s->to_other->ops->commit(s->to_other, room, len);
            s->in_commit = false;
            ck_assert_int_eq(rc, 0);
        }
    } else {
        rc = fm_ep_send(s->to_other, body, 8, body + 8, len - 8);
    }
    ck_assert(rc == 0 || rc == FM_AGAIN);
    s->n_sent += rc == 0;
    s->sent_bytes += rc == 0 ? len : 0;
    if (rc == FM_AGAIN && s->w->n_exhausted != n_exhausted) {
        /* Then all buffers are in use, indeed. */
        ck_assert_uint_eq(s->w->bounce_used.now, s->w->n_bounce);
        s->n_exhausted++;
    } else {
        s->n_again += rc == FM_AGAIN;
    }
    return rc;
}

static void send_surely(int k, size_t len)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;

    while (send_one(k, len, false) == FM_AGAIN) { /* while it connects */
        ck_assert(fm_now_ns() < until);
        poll_side(0);
        poll_side(1);
    }
}

static void wait_for_all(void)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;

    while (side[0].n_got < side[1].n_sent || side[1].n_got < side[0].n_sent ||
           side[0].w->bounce_used.now || side[1].w->bounce_used.now) {
        ck_assert(fm_now_ns() < until);
        poll_side(0);
        poll_side(1);
    }
}

static void event_is(int k, const char *name, uint64_t should)
{
    oracle_event_is(&fm_ofi_vars, side[k].w, name, should);
}

static void check_messages(int k)
{
    const struct side *s = &side[k];

    same(k, "ofi_sends", s->n_sent);
    same(k, "ofi_bytes_sent", s->sent_bytes);
    same(k, "ofi_injects", s->n_injected);
    ck_assert_uint_eq(s->n_sent, s->n_injected + s->n_posted);
    same(k, "ofi_recvs", side[1 - k].n_sent);
    same(k, "ofi_bytes_received", side[1 - k].sent_bytes);
    ck_assert_uint_eq(s->got_bytes, side[1 - k].sent_bytes);
    same(k, "ofi_again", s->n_again + s->n_refused);
    same(k, "ofi_exhausted", s->n_exhausted);
    event_is(k, "ofi_pool_exhausted", s->n_exhausted);
    event_is(k, "ofi_connected", s->n_sent > 0);
    same(k, "ofi_cq_reads", s->n_cq_reads);
    same(k, "ofi_cq_entries", s->n_entries);
    same(k, "ofi_cq_errors", s->n_errors);
    same(k, "ofi_connections", s->n_sent > 0);
    same(k, "ofi_bounce_used", 0);
    same(k, "ofi_bounce_buffers", s->ofi->n_bounces);
    same(k, "ofi_malformed", 0);
}

START_TEST(random_messages_are_counted)
{
    uint64_t state = 12345;

    for (int i = 0; i < 3000; i++) {
        int k;
        size_t len;

        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        k = state >> 63;
        len = state >> 60 & 1 ? 8 + (state >> 33) % 100 : 8 + (state >> 33) % 60000;
        send_one(k, len, state >> 61 & 1);
        if ((state >> 50) % 5 == 0) {
            poll_side((state >> 49) & 1);
        }
    }
    wait_for_all();
    check_messages(0);
    check_messages(1);
}
END_TEST

/* As many buffers in use as were handed over and have not come back. */
START_TEST(buffers_in_use)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;

    uint64_t n = 0;

    send_surely(0, 5000);
    wait_for_all();
    while (n < 10 && send_one(0, 50000, false) == 0) {
        same(0, "ofi_bounce_used", ++n);
        same(0, "ofi_bounce_utilization", oracle_share((double)n, (double)side[0].ofi->n_bounces));
    }
    ck_assert_uint_gt(n, 0);
    same(0, "ofi_bounce_used_max", n);
    while (side[0].w->bounce_used.now) {
        uint64_t n_before = side[0].n_entries;
        uint64_t used = side[0].w->bounce_used.now;

        ck_assert(fm_now_ns() < until);
        poll_side(1);
        poll_side(0); /* whose completions are those of its sends */
        same(0, "ofi_bounce_used", used - (side[0].n_entries - n_before));
    }
    wait_for_all();
}
END_TEST

/* Each message uses one up, which the provider does not take back. */
START_TEST(refused_receive_buffers_are_counted)
{
    uint64_t n = side[1].ofi->n_slots;

    same(1, "ofi_recv_posted_min", n);
    send_surely(0, 100);
    wait_for_all();
    same(1, "ofi_recv_posted_min", n);
    side[1].refuse_recvs = 1; /* and takes it back in the same round */
    send_surely(0, 100);
    wait_for_all();
    same(1, "ofi_recv_posted_min", n - 1);
    for (int k = 2; k <= 5; k++) {
        side[1].refuse_recvs = INT_MAX;
        for (int i = 0; i < k; i++) {
            send_surely(0, 100);
        }
        wait_for_all();
        same(1, "ofi_recv_posted_min", n - (uint64_t)k);
        side[1].refuse_recvs = 0;
        poll_side(1);
        ck_assert_uint_eq(side[1].w->recv_posted.now, n);
    }
    same(0, "ofi_recv_posted_min", side[0].ofi->n_slots);
}
END_TEST

START_TEST(disorder_is_counted)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    int i = 0;

    side[1].disturbs = true;
    while (side[1].n_early < 200) {
        ck_assert(fm_now_ns() < until);
        send_one(0, 8 + 8 * (size_t)(i++ % 12), false);
        poll_side(0);
        if (i % 8 == 0) {
            poll_side(1);
        }
    }
    wait_for_all();
    same(1, "ofi_early", side[1].n_early);
    same(1, "ofi_early_bytes", 0);
    same(1, "ofi_early_bytes_max", side[1].early_high);
    side[1].disturbs = false;
    check_messages(0);
    same(0, "ofi_early", 0);
}
END_TEST

START_TEST(broken_messages_and_errors_are_counted)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;

    side[1].breaks = true;
    for (int i = 0; i < 5; i++) {
        send_surely(0, 100);
    }
    while (side[1].n_broken < 5) {
        ck_assert(fm_now_ns() < until);
        poll_side(0);
        poll_side(1);
    }
    same(1, "ofi_malformed", 5);
    same(1, "ofi_recvs", 0);
    same(1, "ofi_foreign", 0);
    ((struct fm_ofi_ep *)side[0].to_other)->stream++; /* not what it proves */
    side[1].breaks = false;
    for (uint64_t i = 1; i <= 3; i++) {
        send_surely(0, 100);
        while (side[1].w->n_foreign < i) {
            ck_assert(fm_now_ns() < until);
            poll_side(0);
            poll_side(1);
        }
        same(1, "ofi_foreign", i);
        same(1, "ofi_recvs", 0);
    }
    for (int i = 0; i < 3; i++) {
        side[1].fails = true;
        poll_side(1);
        same(1, "ofi_cq_errors", (uint64_t)i + 1);
        event_is(1, "ofi_cq_error", (uint64_t)i + 1);
    }
    same(1, "ofi_cq_reads", side[1].n_cq_reads);
}
END_TEST

static void transfer_done(struct fm_rma *rma, int status)
{
    ck_assert_int_eq(status, 0);
    side[0].is_done = true;
}

static uint64_t transfer(struct fm_rma *rma)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS, n_again = 0;
    int rc;

    side[0].is_done = false;
    rma->done = transfer_done;
    while ((rc = side[0].to_other->ops->rma(side[0].to_other, rma)) == FM_AGAIN) {
        ck_assert(fm_now_ns() < until);
        n_again++;
        poll_side(0);
        poll_side(1);
    }
    ck_assert_int_eq(rc, 0);
    if (!side[0].is_done) {
        same(0, "ofi_rma_live", 1);
    }
    while (!side[0].is_done) {
        ck_assert(fm_now_ns() < until);
        poll_side(0);
        poll_side(1);
    }
    same(0, "ofi_rma_live", 0);
    return n_again;
}

static void check_registrations(int k)
{
    same(k, "ofi_registrations", side[k].n_registered);
    same(k, "ofi_registered", side[k].registered);
    same(k, "ofi_registered_bytes", side[k].registered_bytes);
    same(k, "ofi_registered_max", side[k].registered_high);
    same(k, "ofi_registered_bytes_max", side[k].registered_bytes_high);
}

START_TEST(transfers_and_registrations_are_counted)
{
    enum { LEN = 100000, TIMES = 5 };
    static char near[LEN], far[LEN], more[3][LEN];
    struct fm_transport *tp = side[1].tp;
    struct fm_mem mem, mems[3];
    uint64_t n_again = 0;

    check_registrations(0);
    if (!side[0].tp->has_rma) {
        printf("not tested: provider %s transfers no memory\n", provider);
        return;
    }
    ck_assert_int_eq(
        tp->ops->expose(tp, far, LEN, FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST, &mem), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(tp->ops->expose(tp, more[i], LEN / 2, FM_MEM_READ | FM_MEM_WRITE,
                                         FM_MEM_REQUEST, &mems[i]),
                         0);
        check_registrations(1);
    }
    for (int i = 0; i < TIMES; i++) {
        struct fm_rma get = {.op = FM_RMA_GET, .local = near, .len = LEN, .remote = mem.rkey};
        struct fm_rma put = {.op = FM_RMA_PUT, .local = near, .len = 1000, .remote = mem.rkey};

        n_again += transfer(&get);
        n_again += transfer(&put);
        check_registrations(0);
    }
    same(0, "ofi_rma_reads", TIMES);
    same(0, "ofi_rma_bytes_read", TIMES * LEN);
    same(0, "ofi_rma_writes", TIMES);
    same(0, "ofi_rma_bytes_written", TIMES * 1000);
    same(0, "ofi_rma_live_max", 1);
    same(1, "ofi_rma_reads", 0);
    ORACLE_ROW(&fm_ofi_vars, side[0].w, "ofi_again", 0, >=, n_again);
    for (int i = 0; i < 3; i++) {
        tp->ops->unexpose(tp, &mems[i]);
        check_registrations(1);
    }
    tp->ops->unexpose(tp, &mem);
    check_registrations(1);
}
END_TEST

START_TEST(atomics_and_windows_are_counted)
{
    enum { N = 10 };
    static int64_t near[N], far[N];
    struct fm_transport *tp = side[1].tp;
    struct fm_rma sum = {
        .op = FM_RMA_SUM, .type = FM_RMA_INT64, .local = near, .len = sizeof(near)};
    struct fm_mem request, window;

    if (!fm_transport_has_atomic(side[0].tp, FM_RMA_SUM, FM_RMA_INT64)) {
        printf("not tested: provider %s has no atomics\n", provider);
        return;
    }
    ck_assert_int_eq(tp->ops->expose(tp, far, 8, FM_MEM_READ, FM_MEM_REQUEST, &request), 0);
    same(1, "ofi_registered_windows", 0);
    ck_assert_int_eq(tp->ops->expose(tp, far, sizeof(far), FM_MEM_ATOMIC, FM_MEM_WINDOW, &window),
                     0);
    same(1, "ofi_registered_windows", 1);
    sum.remote = window.rkey;
    near[0] = 3;
    for (int i = 1; i <= 3; i++) {
        transfer(&sum);
        ck_assert_int_eq(far[0], 3 * i);
        same(0, "ofi_rma_atomics", (uint64_t)i);
        same(0, "ofi_rma_atomic_bytes", (uint64_t)i * sizeof(near));
    }
    tp->ops->unexpose(tp, &request);
    same(1, "ofi_registered_windows", 1);
    tp->ops->unexpose(tp, &window);
    same(1, "ofi_registered_windows", 0);
}
END_TEST

/* In pieces, of which the provider refuses the first, and later ones; its own buffers registered
   for each transfer, as some providers want it. */
START_TEST(refused_pieces_and_local_memory_are_counted)
{
    enum { LEN = 40000, PIECE = 10000 };
    static char near[LEN], far[LEN];
    struct fm_transport *tp = side[1].tp;
    struct fm_mem mem;
    struct fm_rma get = {.op = FM_RMA_GET, .local = near, .len = LEN};
    uint64_t n_again, n_registered;

    if (!side[0].tp->has_rma) {
        printf("not tested: provider %s transfers no memory\n", provider);
        return;
    }
    ck_assert_int_eq(
        tp->ops->expose(tp, far, LEN, FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST, &mem), 0);
    get.remote = mem.rkey;
    transfer(&get); /* they are connected */
    side[0].ofi->info->ep_attr->max_msg_size = PIECE;
    side[0].ofi->mr_mode |= FI_MR_LOCAL;
    for (int at = 1; at <= LEN / PIECE; at++) {
        n_again = side[0].w->n_again;
        n_registered = side[0].n_registered;
        side[0].refuse_in = at;
        memset(far, at, LEN);
        ck_assert_uint_eq(transfer(&get), at == 1);
        ck_assert_int_eq(memcmp(near, far, LEN), 0);
        same(0, "ofi_again", n_again + 1);
        ck_assert_uint_eq(side[0].n_registered, n_registered + (at == 1 ? 2 : 1));
        check_registrations(0);
    }
    tp->ops->unexpose(tp, &mem);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("ofi_oracle");
    TCase *tc = tcase_create("oracle");
    int rc;

    provider = argc > 1 ? argv[1] : "tcp";
    rc = open_side(0);
    if (rc == -FM_E_NOENT || rc == -FM_E_UNSUPPORTED) {
        printf("skipped: %s\n", fm_why());
        free(side[0].w);
        return 77;
    }
    side[0].tp->ops->close(side[0].tp);
    free(side[0].w);
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, random_messages_are_counted);
    tcase_add_test(tc, buffers_in_use);
    tcase_add_test(tc, refused_receive_buffers_are_counted);
    tcase_add_test(tc, disorder_is_counted);
    tcase_add_test(tc, broken_messages_and_errors_are_counted);
    tcase_add_test(tc, transfers_and_registrations_are_counted);
    tcase_add_test(tc, atomics_and_windows_are_counted);
    tcase_add_test(tc, refused_pieces_and_local_memory_are_counted);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
