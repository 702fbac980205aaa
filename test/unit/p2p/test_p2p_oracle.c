/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every variable of the protocols against an independent count: the packets that the scripted
 * transport has recorded, the answers that it gave, and what the test itself sent and received.
 */
#include "core/dtype/dtype_make.h"
#include "core/p2p/bsend.h"
#include "core/p2p/progress_vars.h"
#include "p2p_net.h"
#include "support/oracle_event.h"
#include "support/oracle_row.h"

#define N_ITEMS    150
#define MAX_LEN    100000
#define RTS_WINDOW 2048 /* p2p_rts_window */

/* ---- what the transport was asked, by node ---- */

static struct {
    uint64_t refused, n_resolved;
    uint64_t n_rma, rma_bytes;
    uint64_t exposed, exposed_high;
} asked[NET_MAX];
static const struct fm_transport_ops *mock_ops;
static struct fm_transport_ops ops;

static int node_of(const struct fm_transport *tp)
{
    int k = 0;

    while (net.tp[k] != tp) {
        k++;
    }
    return k;
}

static int note(const struct fm_ep *ep, int rc)
{
    asked[node_of(ep->tp)].refused += rc == FM_AGAIN;
    return rc;
}

static int send(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                size_t body_len)
{
    return note(ep, mock_ops->send(ep, head, head_len, body, body_len));
}

static int reserve(struct fm_ep *ep, size_t len, void **out_room)
{
    return note(ep, mock_ops->reserve(ep, len, out_room));
}

static int rma(struct fm_ep *ep, struct fm_rma *r)
{
    int k = node_of(ep->tp), rc = note(ep, mock_ops->rma(ep, r));

    asked[k].n_rma += rc == 0;
    asked[k].rma_bytes += rc == 0 ? r->len : 0;
    return rc;
}

static int expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                  enum fm_mem_life life, struct fm_mem *out_mem)
{
    int k = node_of(tp), rc = mock_ops->expose(tp, addr, len, rights, life, out_mem);

    asked[k].exposed += rc == 0 ? len : 0;
    if (asked[k].exposed > asked[k].exposed_high) {
        asked[k].exposed_high = asked[k].exposed;
    }
    return rc;
}

static void unexpose(struct fm_transport *tp, struct fm_mem *mem)
{
    asked[node_of(tp)].exposed -= mem->len;
    mock_ops->unexpose(tp, mem);
}

static int resolve(void *ctx, int proc, struct fm_ep **out_ep)
{
    int self = (int)(intptr_t)ctx, rc;
    char addr[FM_ADDRESS_MAX];
    size_t len;

    ck_assert_int_eq(mock_ops->address(net.tp[proc], addr, &len), 0);
    rc = mock_ops->connect(net.tp[self], proc, addr, len, out_ep);
    ck_assert_int_eq(rc, 0);
    (*out_ep)->ops = &ops;
    asked[self].n_resolved++;
    return rc;
}

static struct fm_p2p_counters before[NET_MAX];

static void start(int n, const struct net_options *options)
{
    net_start(n, options);
    memset(asked, 0, sizeof(asked));
    mock_ops = net.tp[0]->ops;
    ops = *mock_ops;
    ops.send = send;
    ops.reserve = reserve;
    ops.rma = rma;
    ops.expose = expose;
    ops.unexpose = unexpose;
    for (int k = 0; k < n; k++) {
        net.tp[k]->ops = &ops;
        net.ch[k]->resolve = resolve;
        net.ch[k]->resolve_ctx = (void *)(intptr_t)k;
        /* As the registry begins it. */
        net.ch[k]->counters->rts_room = (struct fathom_level){.now = RTS_WINDOW,
                                                              .hi_mark = RTS_WINDOW,
                                                              .lo_mark = RTS_WINDOW,
                                                              .high = RTS_WINDOW,
                                                              .low = RTS_WINDOW};
    }
}

static void snapshot(void)
{
    for (int k = 0; k < net.n; k++) {
        before[k] = *net.ch[k]->counters;
    }
}

/* A counter has grown by this since the snapshot; a level is this. */
static void same(int node, const char *name, int item, uint64_t should)
{
    const struct fathom_pvar *row = oracle_row(&fm_p2p_vars, name);
    bool is_count = row->klass == FATHOM_COUNTER || row->klass == FATHOM_AGGREGATE ||
                    row->klass == FATHOM_TIMER;
    uint64_t base = is_count ? oracle_value(&fm_p2p_vars, &before[node], name, item) : 0;

    ORACLE_ROW(&fm_p2p_vars, net.ch[node]->counters, name, item, ==, base + should);
}

/* Every pair has talked, so that later messages may take the short way. */
static void warm_up(void)
{
    char c;

    for (int k = 0; k < net.n * net.n; k++) {
        int from = k / net.n, to = k % net.n;
        struct fm_request *r = net_irecv(to, &c, 1, from, 999);

        net_end(net_isend(from, &c, 1, to, 999, FM_SEND_STANDARD), NULL);
        net_end(r, NULL);
    }
    net_settle();
    snapshot();
    memset(asked, 0, sizeof(asked));
}

/* ---- random traffic ---- */

struct item {
    int from, to;
    size_t len, cap;
    enum fm_send_mode mode;
    bool is_sparse_send, is_sparse_recv; /* every other byte only */
    bool is_late;                        /* received after it has arrived */
    bool is_blocking;
    bool is_copied; /* to self: lay in unexpected memory */
    int kind;       /* of its first packet; 0: to self */
    struct fm_request *s, *r;
    uint64_t began;
    char *out, *in;
};

static struct item items[N_ITEMS];
static struct fm_dtype *sparse;
static uint64_t n_null[NET_MAX], n_queued[NET_MAX];
static char buffers[NET_MAX][4 << 20];

static size_t shorter(const struct item *i)
{
    return i->len < i->cap ? i->len : i->cap;
}

static bool is_unit(const struct item *i)
{
    return i->is_sparse_send || i->is_sparse_recv;
}

static struct item draw(bool may_block)
{
    static const size_t lens[] = {0,    8,    100,  FM_TINY_LEN - 1, FM_TINY_LEN,
                                  1000, 8000, 9000, 20000,           MAX_LEN};
    struct fm_mock_net *m = net.mock;
    struct item i = {.from = (int)fm_mock_random(m, (uint32_t)net.n),
                     .to = (int)fm_mock_random(m, (uint32_t)net.n),
                     .len = lens[fm_mock_random(m, FM_ARRAY_LEN(lens))],
                     .mode = (enum fm_send_mode)fm_mock_random(m, 4),
                     .is_sparse_send = fm_mock_random(m, 4) == 0,
                     .is_sparse_recv = fm_mock_random(m, 4) == 0,
                     .is_late = fm_mock_random(m, 2)};

    i.len = !is_unit(&i) ? i.len : i.len < 4 ? 4 : i.len / 4 * 4;
    i.cap = fm_mock_random(m, 8) == 0 && i.len >= 8 ? i.len / 8 * 4 : i.len;
    i.is_late &= i.mode != FM_SEND_READY;
    if (i.mode == FM_SEND_BUFFERED && i.from == i.to) { /* cannot be seen to be copied */
        i.mode = FM_SEND_STANDARD;
    }
    i.is_blocking = may_block && i.from != i.to && i.len <= 1000 && i.mode == FM_SEND_STANDARD;
    i.out = calloc(1, 2 * i.len + 8);
    i.in = calloc(1, 2 * i.len + 8);
    return i;
}

static struct fm_msg message(int node, char *buf, size_t len, bool is_sparse, int peer, int tag)
{
    return net_msg(node, buf, (MPI_Count)(is_sparse ? len / 4 : len),
                   is_sparse ? sparse : fm_dtype_byte(), peer, tag);
}

static void receive(struct item *i, int tag)
{
    struct fm_msg m = message(i->to, i->in, i->cap, i->is_sparse_recv, i->from, tag);

    ck_assert_int_eq(fm_irecv(&m, &i->r), 0);
}

static void send_item(struct item *i, int tag)
{
    struct fm_msg m = message(i->from, i->out, i->len, i->is_sparse_send, i->to, tag);
    size_t n = fm_mock_sent_count(net.mock);
    bool has_left = false;

    i->began = fm_now_ns();
    if (i->is_blocking) {
        ck_assert_int_eq(i->mode == FM_SEND_BUFFERED ? fm_bsend(&m) : fm_send(&m, i->mode), 0);
        return;
    }
    ck_assert_int_eq(
        i->mode == FM_SEND_BUFFERED ? fm_ibsend(&m, &i->s) : fm_isend(&m, i->mode, &i->s), 0);
    i->is_copied = i->from == i->to && i->is_late && i->s->is_done;
    for (; n < fm_mock_sent_count(net.mock); n++) {
        has_left |= fm_mock_sent(net.mock, n)->from == i->from;
    }
    n_queued[i->from] += i->from != i->to && !has_left;
}

static void batch(struct item *first, int n)
{
    for (int k = 0; k < n; k++) {
        int tag = (int)(&first[k] - items);

        if (!first[k].is_late) {
            receive(&first[k], tag);
        }
        send_item(&first[k], tag);
    }
    net_settle();
    for (int k = 0; k < net.n; k++) {
        uint64_t held = *net.ch[k]->blocks.n_live * FM_BLOCK_LEN;

        same(k, "p2p_unexpected_memory", 0, held);
        same(k, "p2p_unexpected_utilization", 0,
             oracle_share((double)held, (double)net.ch[k]->counters->unexpected_limit));
        same(k, "p2p_exposed_bytes", 0, asked[k].exposed);
        ORACLE_ROW(&fm_p2p_vars, net.ch[k]->counters, "p2p_unexpected_memory_high", 0, >=, held);
    }
    for (int k = 0; k < n; k++) {
        if (first[k].is_late) {
            receive(&first[k], (int)(&first[k] - items));
        }
    }
    for (int k = 0; k < n; k++) {
        int class = net_end(first[k].r, NULL);

        ck_assert_int_eq(class, first[k].cap < first[k].len ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        if (first[k].s) {
            ck_assert_int_eq(net_end(first[k].s, NULL), MPI_SUCCESS);
        }
    }
    net_settle();
}

/* ---- what it came to ---- */

struct traffic {
    uint64_t sent[FM_WIRE_KINDS], recvd[FM_WIRE_KINDS]; /* packets */
    uint64_t eager_bytes, rts_bytes, n_more_sent, n_more_recvd, n_long, n_no_credit;
    uint64_t n_self, self_bytes, self_recvd_bytes;
    uint64_t n_eager_in, eager_in_bytes, n_rndv_in, rndv_in_bytes;
    uint64_t n_mode[4], n_short, short_bytes;
    uint64_t n_packed, packed_bytes, n_unpacked, unpacked_bytes;
    uint64_t n_copied, copied_bytes, n_truncated, rndv_ns_max;
    uint64_t sizes_sent[FM_HIST_BINS], sizes_recvd[FM_HIST_BINS];
};
static struct traffic traffic[NET_MAX];

static void tally_record(const struct fm_mock_record *rec, uint32_t more[NET_MAX][NET_MAX])
{
    const struct fm_wire_rts *h = rec->data;
    const struct fm_wire_reply *reply = rec->data;
    struct traffic *from = &traffic[rec->from], *to = &traffic[rec->to];
    int kind = h->base.head.kind;

    from->sent[kind]++;
    to->recvd[kind]++;
    if (kind == FM_WIRE_CREDIT && reply->more != more[rec->from][rec->to]) {
        more[rec->from][rec->to] = reply->more;
        from->n_more_sent++;
        to->n_more_recvd++;
    }
    if (kind > FM_WIRE_RTS) {
        return;
    }
    items[h->base.tag].kind = kind;
    if (kind == FM_WIRE_RTS) {
        from->rts_bytes += h->len;
        from->n_long += h->len > fm_peer_of(net.ch[0], 1)->eager_limit;
        from->n_no_credit += h->len <= fm_peer_of(net.ch[0], 1)->eager_limit;
    } else {
        from->eager_bytes += rec->len - (kind == FM_WIRE_EAGER ? sizeof(struct fm_wire_base)
                                                               : sizeof(struct fm_wire_sync));
    }
}

static unsigned bin_of(uint64_t x)
{
    unsigned bin = 0;

    for (; x; x >>= 1) {
        bin++;
    }
    return bin < FM_HIST_BINS ? bin : FM_HIST_BINS - 1;
}

static void tally_send(const struct item *i)
{
    struct traffic *t = &traffic[i->from];
    bool is_gathered_whole = i->mode == FM_SEND_BUFFERED || i->kind == FM_WIRE_EAGER ||
                             i->kind == FM_WIRE_EAGER_SYNC || i->is_copied;

    t->n_mode[i->mode]++;
    t->sizes_sent[bin_of(i->len)]++;
    t->n_self += i->from == i->to;
    t->self_bytes += i->from == i->to ? i->len : 0;
    t->n_packed += i->is_sparse_send;
    t->packed_bytes += !i->is_sparse_send ? 0 : is_gathered_whole ? i->len : shorter(i);
    t->rndv_ns_max += i->kind == FM_WIRE_RTS ? fm_now_ns() - i->began : 0;
    if (i->kind == FM_WIRE_EAGER && !i->is_sparse_send) {
        t->n_short++;
        t->short_bytes += i->len;
    }
}

static void tally_receive(const struct item *i)
{
    struct traffic *t = &traffic[i->to];
    uint64_t len = shorter(i);
    bool is_eager = i->kind == FM_WIRE_EAGER || i->kind == FM_WIRE_EAGER_SYNC;

    t->sizes_recvd[bin_of(len)]++;
    t->n_truncated += i->cap < i->len;
    t->n_unpacked += i->is_sparse_recv;
    t->unpacked_bytes += i->is_sparse_recv ? len : 0;
    t->self_recvd_bytes += i->kind == 0 ? len : 0;
    t->n_eager_in += is_eager;
    t->eager_in_bytes += is_eager ? len : 0;
    t->n_rndv_in += i->kind == FM_WIRE_RTS;
    t->rndv_in_bytes += i->kind == FM_WIRE_RTS ? len : 0;
    if (i->is_late && (is_eager || i->is_copied)) {
        t->n_copied++;
        t->copied_bytes += len;
    }
}

static void tally_all(void)
{
    static uint32_t more[NET_MAX][NET_MAX];

    memset(traffic, 0, sizeof(traffic));
    memset(more, 0, sizeof(more));
    for (size_t k = 0; k < fm_mock_sent_count(net.mock); k++) {
        tally_record(fm_mock_sent(net.mock, k), more);
    }
    for (int k = 0; k < N_ITEMS; k++) {
        tally_send(&items[k]);
        tally_receive(&items[k]);
    }
}

static void compare_protocols(int k, const struct traffic *t)
{
    uint64_t n_eager = t->sent[FM_WIRE_EAGER] + t->sent[FM_WIRE_EAGER_SYNC];

    same(k, "p2p_eager_sent_messages", 0, n_eager);
    same(k, "p2p_eager_sent_bytes", 0, t->eager_bytes);
    same(k, "p2p_rndv_sent_messages", 0, t->sent[FM_WIRE_RTS]);
    same(k, "p2p_rndv_sent_bytes", 0, t->rts_bytes);
    same(k, "p2p_self_sent_messages", 0, t->n_self);
    same(k, "p2p_self_sent_bytes", 0, t->self_bytes);
    same(k, "p2p_eager_recvd_messages", 0, t->n_eager_in);
    same(k, "p2p_eager_recvd_bytes", 0, t->eager_in_bytes);
    same(k, "p2p_rndv_recvd_messages", 0, t->n_rndv_in);
    same(k, "p2p_rndv_recvd_bytes", 0, t->rndv_in_bytes);
    same(k, "p2p_self_recvd_messages", 0, t->n_self);
    same(k, "p2p_self_recvd_bytes", 0, t->self_recvd_bytes);
    same(k, "p2p_reason_self", 0, t->n_self);
    same(k, "p2p_reason_long", 0, t->n_long);
    same(k, "p2p_reason_no_credit", 0, t->n_no_credit);
    same(k, "p2p_credit_stalls", 0, t->n_no_credit);
    if (fm_mock_script(net.mock)->refuse_pct == 0) {
        same(k, "p2p_short_sent_messages", 0, t->n_short);
        same(k, "p2p_short_sent_bytes", 0, t->short_bytes);
        same(k, "p2p_reason_short", 0, t->n_short);
        same(k, "p2p_reason_eager", 0, n_eager - t->n_short);
    }
}

static void compare_packets(int k, const struct traffic *t)
{
    same(k, "p2p_rts_sent", 0, t->sent[FM_WIRE_RTS]);
    same(k, "p2p_rts_recvd", 0, t->recvd[FM_WIRE_RTS]);
    same(k, "p2p_cts_sent", 0, t->sent[FM_WIRE_CTS]);
    same(k, "p2p_cts_recvd", 0, t->recvd[FM_WIRE_CTS]);
    same(k, "p2p_fin_sent", 0, t->sent[FM_WIRE_FIN]);
    same(k, "p2p_fin_recvd", 0, t->recvd[FM_WIRE_FIN]);
    same(k, "p2p_data_sent", 0, t->sent[FM_WIRE_DATA]);
    same(k, "p2p_data_recvd", 0, t->recvd[FM_WIRE_DATA]);
    same(k, "p2p_credits_sent", 0, t->sent[FM_WIRE_CREDIT]);
    same(k, "p2p_credits_recvd", 0, t->recvd[FM_WIRE_CREDIT]);
    same(k, "p2p_more_sent", 0, t->n_more_sent);
    same(k, "p2p_more_recvd", 0, t->n_more_recvd);
    same(k, "p2p_rndv_done", 0, t->sent[FM_WIRE_RTS]);
    same(k, "p2p_fetches", 0, asked[k].n_rma);
    same(k, "p2p_fetched_bytes", 0, asked[k].rma_bytes);
    same(k, "p2p_refused", 0, asked[k].refused);
    same(k, "p2p_queued", 0, n_queued[k]);
    same(k, "p2p_exposed_bytes_high", 0, asked[k].exposed_high);
}

static void compare_rest(int k, const struct traffic *t)
{
    uint64_t in_bins = 0;

    same(k, "p2p_sync_sent", 0, t->n_mode[FM_SEND_SYNC]);
    same(k, "p2p_ready_sent", 0, t->n_mode[FM_SEND_READY]);
    same(k, "p2p_buffered_sent", 0, t->n_mode[FM_SEND_BUFFERED]);
    same(k, "p2p_null_sent", 0, n_null[k]);
    same(k, "p2p_packed_messages", 0, t->n_packed);
    same(k, "p2p_packed_bytes", 0, t->packed_bytes);
    same(k, "p2p_unpacked_messages", 0, t->n_unpacked);
    same(k, "p2p_unpacked_bytes", 0, t->unpacked_bytes);
    same(k, "p2p_copied_messages", 0, t->n_copied);
    same(k, "p2p_copied_bytes", 0, t->copied_bytes);
    same(k, "p2p_truncated", 0, t->n_truncated);
    for (int bin = 0; bin < FM_HIST_BINS; bin++) {
        same(k, "p2p_sizes_sent", bin, t->sizes_sent[bin]);
        same(k, "p2p_sizes_recvd", bin, t->sizes_recvd[bin]);
        in_bins += net.ch[k]->counters->rndv_latency[bin];
    }
    ck_assert_uint_eq(in_bins, net.ch[k]->counters->n_rndv_done);
    /* A clock around each of them. */
    ORACLE_ROW(&fm_p2p_vars, net.ch[k]->counters, "p2p_rndv_time", 0, <=,
               before[k].rndv_ns + t->rndv_ns_max);
}

static void event_is(int k, const char *name, uint64_t should)
{
    oracle_event_is(&fm_p2p_vars, net.ch[k]->counters, name, should);
}

/* The data of a message begins to move at its receiver, which fetches it, or at its sender. */
static void compare_events(int k, const struct traffic *t)
{
    const struct fm_p2p_counters *w = net.ch[k]->counters;
    uint64_t n_ends = 0, n_blocking = 0, n_completed;

    for (int i = 0; i < N_ITEMS; i++) {
        n_ends += (items[i].from == k) + (items[i].to == k);
        /* These may need no request: a buffered one is complete when it is copied. */
        n_blocking +=
            items[i].from == k && (items[i].is_blocking || items[i].mode == FM_SEND_BUFFERED);
    }
    n_completed = oracle_event_count(&fm_p2p_vars, w, "request_completed_event");
    ck_assert_uint_le(n_completed, n_ends);
    ck_assert_uint_ge(n_completed, n_ends - n_blocking);
    event_is(k, "p2p_eager_event", t->sent[FM_WIRE_EAGER] + t->sent[FM_WIRE_EAGER_SYNC]);
    event_is(k, "p2p_rts_event", t->sent[FM_WIRE_RTS]);
    event_is(k, "p2p_data_done_event", t->sent[FM_WIRE_RTS]);
    event_is(k, "p2p_data_recvd_event", t->recvd[FM_WIRE_RTS]);
    event_is(k, "p2p_flow_event", t->n_no_credit);
    event_is(k, "p2p_data_start_event",
             t->recvd[FM_WIRE_CTS] + t->recvd[FM_WIRE_RTS] - t->sent[FM_WIRE_CTS]);
}

static struct fm_dtype *vector(MPI_Count count, MPI_Count len, MPI_Count stride)
{
    const MPI_Count values[] = {count, len, stride};
    struct fm_dtype *t = fm_dtype_begin(MPI_COMBINER_VECTOR, false, 3, 1);

    memcpy(t->env->values, values, sizeof(values));
    fm_dtype_take(t, 0, fm_dtype_byte());
    ck_assert_int_eq(fm_dtype_end(t), 0);
    ck_assert_int_eq(fm_dtype_flatten(t), 0);
    return t;
}

static void run(const struct net_options *options, unsigned refuse_pct)
{
    start(3, options);
    sparse = vector(4, 1, 2);
    memset(n_null, 0, sizeof(n_null));
    memset(n_queued, 0, sizeof(n_queued));
    warm_up();
    for (int k = 0; k < net.n; k++) {
        oracle_events_on(&fm_p2p_vars, net.ch[k]->counters);
    }
    fm_mock_script(net.mock)->record = true;
    fm_mock_script(net.mock)->refuse_pct = refuse_pct;
    fm_mock_script(net.mock)->delay_max = refuse_pct ? 3 : 0;
    for (int k = 0; k < net.n; k++) {
        fm_bsend_attach(net.ch[k], NULL, buffers[k], sizeof(buffers[k]));
    }
    for (int k = 0; k < N_ITEMS; k++) {
        items[k] = draw(refuse_pct == 0);
    }
    for (int k = 0; k < N_ITEMS; k += 10) {
        struct fm_msg m = net_msg(k % 3, NULL, 0, fm_dtype_byte(), MPI_PROC_NULL, 0);

        ck_assert_int_eq(fm_send(&m, FM_SEND_STANDARD), 0);
        n_null[k % 3]++;
        batch(&items[k], 10);
    }
    tally_all();
    for (int k = 0; k < net.n; k++) {
        compare_protocols(k, &traffic[k]);
        compare_packets(k, &traffic[k]);
        compare_rest(k, &traffic[k]);
        compare_events(k, &traffic[k]);
    }
    for (int k = 0; k < N_ITEMS; k++) {
        free(items[k].out);
        free(items[k].in);
    }
    fm_dtype_unref(sparse);
    net_stop();
}

START_TEST(random_traffic_is_counted)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        run(&(struct net_options){.seed = seed,
                                  .no_rma = seed & 1,
                                  .unexpected_limit = seed & 2 ? 64 << 10 : 0},
            seed & 4 ? 30 : 0);
    }
}
END_TEST

/* ---- scripts ---- */

static char data[MAX_LEN], got[MAX_LEN];

static void set_limit(int node, const char *name, uint64_t value)
{
    for (int k = 0; k < fm_p2p_vars.n_cvars; k++) {
        if (strcmp(fm_p2p_vars.cvars[k].name, name) == 0) {
            *(uint64_t *)((char *)net.ch[node]->counters + fm_p2p_vars.cvars[k].at) = value;
        }
    }
}

START_TEST(what_waits_is_shown)
{
    struct fm_request *s[10], *r[10];

    start(2, &(struct net_options){.no_rma = true});
    warm_up();
    fm_mock_script(net.mock)->refuse_pct = 100;
    for (int k = 0; k < 10; k++) {
        s[k] = net_isend(0, data, k < 5 ? 100 : MAX_LEN, 1, k, FM_SEND_STANDARD);
        same(0, "p2p_waiting_packets", 0, (uint64_t)k + 1);
    }
    same(0, "p2p_queued", 0, 10);
    fm_mock_script(net.mock)->refuse_pct = 0;
    net_settle();
    same(0, "p2p_waiting_packets", 0, 0);
    same(0, "p2p_waiting_packets_high", 0, 10);
    same(0, "p2p_rts_waiting", 0, 5);
    same(0, "p2p_rts_waiting_high", 0, 5);
    same(0, "p2p_rts_room_low", 0, RTS_WINDOW - 5);
    same(1, "p2p_unexpected_memory", 0, *net.ch[1]->blocks.n_live * FM_BLOCK_LEN);
    same(1, "p2p_unexpected_memory_high", 0, *net.ch[1]->blocks.n_live * FM_BLOCK_LEN);
    fm_mock_script(net.mock)->hold = true;
    for (int k = 0; k < 10; k++) {
        r[k] = net_irecv(1, got, MAX_LEN, 0, k);
    }
    same(1, "p2p_cts_sent", 0, 5);
    fm_mock_script(net.mock)->hold = false;
    set_limit(0, "p2p_pipeline_depth", 2);
    fm_progress(net.ch[0]); /* the answers come, and the first fragments leave */
    same(0, "p2p_streams", 0, 5);
    same(0, "p2p_rts_waiting", 0, 0);
    ck_assert_uint_eq(net.ch[0]->counters->rts_room.now,
                      RTS_WINDOW); /* where a new low would begin */
    net_settle();
    same(0, "p2p_streams", 0, 0);
    same(0, "p2p_streams_high", 0, 5);
    for (int k = 0; k < 10; k++) {
        net_end(s[k], NULL);
        net_end(r[k], NULL);
    }
    net_stop();
}
END_TEST

START_TEST(too_many_questions_are_held_back)
{
    enum { N = 10, WINDOW = 4 };
    struct fm_request *s[N];
    static uint32_t more[NET_MAX][NET_MAX];

    start(2, NULL);
    warm_up();
    memset(traffic, 0, sizeof(traffic));
    memset(more, 0, sizeof(more));
    fm_mock_script(net.mock)->record = true;
    net.ch[0]->counters->rts_window = net.ch[1]->counters->rts_window = WINDOW;
    for (int k = 0; k < N; k++) {
        s[k] = net_isend(0, data, MAX_LEN, 1, k, FM_SEND_STANDARD);
    }
    net_settle();
    same(0, "p2p_rts_sent", 0, WINDOW);
    same(0, "p2p_rts_room_low", 0, 0);
    same(0, "p2p_rts_stalls", 0, 1); /* the fifth; those behind it wait in line */
    same(0, "p2p_waiting_packets", 0, N - WINDOW);
    /* The last first: it is not here, and is asked for. */
    for (int k = N - 1; k >= 0; k--) {
        net_end(net_irecv(1, got, MAX_LEN, 0, k), NULL);
        net_end(s[k], NULL);
    }
    for (size_t k = 0; k < fm_mock_sent_count(net.mock); k++) {
        tally_record(fm_mock_sent(net.mock, k), more);
    }
    ck_assert_uint_gt(traffic[1].n_more_sent, 0); /* the receiver asked for what was held back */
    same(1, "p2p_more_sent", 0, traffic[1].n_more_sent);
    same(0, "p2p_more_recvd", 0, traffic[0].n_more_recvd);
    same(1, "p2p_credits_sent", 0, traffic[1].sent[FM_WIRE_CREDIT]);
    same(0, "p2p_credits_recvd", 0, traffic[0].recvd[FM_WIRE_CREDIT]);
    same(0, "p2p_more_sent", 0, 0);
    same(0, "p2p_rts_sent", 0, traffic[0].sent[FM_WIRE_RTS]);
    net_stop();
}
END_TEST

/* One rendezvous whose beginning and end are known. */
START_TEST(time_of_a_rendezvous)
{
    uint64_t t0, t1, t2, t3, ns;
    struct fm_request *s;

    start(2, NULL);
    warm_up();
    t0 = fm_now_ns();
    s = net_isend(0, data, MAX_LEN, 1, 0, FM_SEND_STANDARD);
    t1 = fm_now_ns();
    net_settle();
    t2 = fm_now_ns();
    net_end(net_irecv(1, got, MAX_LEN, 0, 0), NULL);
    net_end(s, NULL);
    t3 = fm_now_ns();
    ns = net.ch[0]->counters->rndv_ns;
    ORACLE_ROW(&fm_p2p_vars, net.ch[0]->counters, "p2p_rndv_time", 0, >=, t2 - t1);
    ORACLE_ROW(&fm_p2p_vars, net.ch[0]->counters, "p2p_rndv_time", 0, <=, t3 - t0);
    same(0, "p2p_rndv_latency", (int)bin_of(ns), 1);
    net_stop();
}
END_TEST

START_TEST(reason_of_a_communicator)
{
    struct fm_request *s;

    start(2, NULL);
    warm_up();
    same(0, "p2p_last_reason", 0, FM_REASON_EAGER); /* of the warming up, to node 1 */
    net.comm[0]->counters->eager_limit = 500 + 1;
    s = net_isend(0, data, 501, 1, 1, FM_SEND_STANDARD);
    same(0, "p2p_reason_comm", 0, 1);
    same(0, "p2p_last_reason", 0, FM_REASON_COMM);
    net_end(net_irecv(1, got, 501, 0, 1), NULL);
    net_end(s, NULL);
    s = net_isend(0, data, MAX_LEN, 0, 1, FM_SEND_STANDARD);
    same(0, "p2p_last_reason", 0, FM_REASON_SELF);
    net_end(net_irecv(0, got, MAX_LEN, 0, 1), NULL);
    net_end(s, NULL);
    net_stop();
}
END_TEST

/* The transport takes no transfers any more. */
START_TEST(a_fetch_falls_back)
{
    struct fm_request *s, *r;

    start(2, NULL);
    warm_up();
    r = net_irecv(1, got, MAX_LEN, 0, 0);
    s = net_isend(0, data, MAX_LEN, 1, 0, FM_SEND_STANDARD);
    fm_mock_script(net.mock)->fail_next = 1;
    net_end(r, NULL);
    net_end(s, NULL);
    same(1, "p2p_fetch_fallbacks", 0, 1);
    same(1, "p2p_fetches", 0, 0);
    same(1, "p2p_cts_sent", 0, 1);
    net_stop();
}
END_TEST

static int progress_of_other(struct fm_hook *hook)
{
    fm_mock_script(net.mock)->refuse_pct = 0;
    return fm_progress(net.ch[1]) < 0;
}

static bool has(const char *name)
{
    bool found = false;

    for (int k = 0; k < fm_p2p_vars.n_pvars; k++) {
        found |= strcmp(fm_p2p_vars.pvars[k].name, name) == 0;
    }
    return found;
}

/* Blocks with gaps between them, where the engine fetches such. */
START_TEST(pieces_are_fetched)
{
    enum { N_BLOCKS = 5, LEN = 10000 };
    struct fm_dtype *gaps;
    struct fm_request *s, *r;
    struct fm_msg m;

    if (!has("p2p_fetched_pieces")) {
        return;
    }
    start(2, NULL);
    warm_up();
    gaps = vector(N_BLOCKS, LEN, 2 * LEN);
    for (int k = 0; k < 2; k++) {
        set_limit(k, "p2p_piece_min", 1);
        set_limit(k, "p2p_piece_rma_min", 1);
    }
    r = net_irecv(1, got, N_BLOCKS * LEN, 0, 0);
    m = net_msg(0, data, 1, gaps, 1, 0);
    ck_assert_int_eq(fm_isend(&m, FM_SEND_STANDARD, &s), 0);
    net_end(r, NULL);
    net_end(s, NULL);
    same(1, "p2p_piecewise_messages", 0, 1);
    same(1, "p2p_fetched_pieces", 0, N_BLOCKS);
    same(1, "p2p_fetches", 0, asked[1].n_rma);
    same(1, "p2p_fetched_bytes", 0, N_BLOCKS * LEN);
    same(0, "p2p_packed_messages", 0, 0);
    fm_dtype_unref(gaps);
    net_stop();
}
END_TEST

START_TEST(buffered_bytes_and_waits)
{
    enum { LEN = 1000, N = 7 };
    struct fm_hook hook = {.fn = progress_of_other};
    uint64_t bytes;
    MPI_Count len;
    void *addr;

    start(2, NULL);
    warm_up();
    fm_bsend_attach(net.ch[0], NULL, buffers[0], sizeof(buffers[0]));
    same(0, "p2p_bsend_attached", 0, sizeof(buffers[0]));
    fm_mock_script(net.mock)->refuse_pct = 100;
    for (int k = 0; k < N; k++) {
        struct fm_msg m = net_msg(0, data, LEN, fm_dtype_byte(), 1, k);

        ck_assert_int_eq(fm_bsend(&m), 0);
        bytes = oracle_value(&fm_p2p_vars, net.ch[0]->counters, "p2p_bsend_bytes", 0);
        ck_assert_uint_ge(bytes, (uint64_t)(k + 1) * LEN);
        ck_assert_uint_le(bytes, (uint64_t)(k + 1) * (LEN + MPI_BSEND_OVERHEAD));
        same(0, "p2p_bsend_utilization", 0, oracle_share((double)bytes, sizeof(buffers[0])));
    }
    fm_hook_add(net.ch[0], &hook);
    ck_assert_int_eq(fm_bsend_detach(net.ch[0], NULL, &addr, &len), 0);
    fm_hook_remove(net.ch[0], &hook);
    same(0, "p2p_bsend_attached", 0, 0);
    same(0, "p2p_bsend_utilization", 0, 0);
    same(0, "p2p_bsend_bytes", 0, 0);
    same(0, "p2p_bsend_bytes_high", 0, bytes);
    same(0, "p2p_bsend_waits", 0, 1);
    for (int k = 0; k < N; k++) {
        net_end(net_irecv(1, got, LEN, 0, k), NULL);
    }
    net_stop();
}
END_TEST

/* Memory of the heap is no part of what the user gave. */
START_TEST(automatic_buffers_are_not_attached_memory)
{
    enum { LEN = 1000, ROOM = 10000 };
    struct fm_comm *comm;
    struct fm_msg m;

    start(2, NULL);
    warm_up();
    comm = net.comm[0];
    fm_bsend_attach(net.ch[0], NULL, buffers[0], ROOM);
    fm_bsend_attach(net.ch[0], comm, MPI_BUFFER_AUTOMATIC, 0);
    same(0, "p2p_bsend_attached", 0, ROOM);
    fm_mock_script(net.mock)->refuse_pct = 100;
    m = net_msg(0, data, LEN, fm_dtype_byte(), 1, 0);
    ck_assert_int_eq(fm_bsend(&m), 0);
    ORACLE_ROW(&fm_p2p_vars, net.ch[0]->counters, "p2p_bsend_bytes", 0, >=, LEN);
    same(0, "p2p_bsend_utilization", 0, 0);
    fm_mock_script(net.mock)->refuse_pct = 0;
    net_settle();
    net_end(net_irecv(1, got, LEN, 0, 0), NULL);
    same(0, "p2p_bsend_bytes", 0, 0);
    fm_bsend_orphan(net.ch[0], comm);
    same(0, "p2p_bsend_attached", 0, ROOM);
    fm_bsend_finish(net.ch[0]);
    same(0, "p2p_bsend_attached", 0, 0);
    net_stop();
}
END_TEST

START_TEST(peers_come_and_fail)
{
    char junk[100] = "junk";

    start(4, NULL);
    oracle_events_on(&fm_p2p_vars, net.ch[0]->counters);
    warm_up(); /* everybody has talked to everybody */
    event_is(0, "p2p_peer_event", 3);
    for (int k = 0; k < 4; k++) {
        ORACLE_ROW(&fm_p2p_vars, net.ch[k]->counters, "p2p_peers", 0, ==, 3);
    }
    fm_mock_fail(net.mock, 0, 1, "the test says so");
    fm_mock_fail(net.mock, 0, 2, "the test says so");
    net_settle();
    same(0, "p2p_peers_failed", 0, 2);
    event_is(0, "p2p_peer_failed_event", 2);
    same(0, "p2p_bad_messages", 0, 0);
    fm_mock_inject(net.mock, 3, 0, junk, sizeof(junk));
    fm_mock_inject(net.mock, 3, 0, junk, 3);
    net_settle();
    same(0, "p2p_bad_messages", 0, 2);
    same(0, "p2p_peers_failed", 0, 2);
    net_stop_broken();
}
END_TEST

START_TEST(the_window_is_the_share_of_a_sender)
{
    start(3, &(struct net_options){.unexpected_limit = 1 << 20});
    /* Two senders share a mebibyte, and the cap of one is above that. */
    same(0, "p2p_unexpected_window", 0, 1 << 19);
    net_stop();
}
END_TEST

/* ---- progress ---- */

static int n_hook_calls;

static int hook_fn(struct fm_hook *hook)
{
    return ++n_hook_calls % 3 == 0;
}

static void progress_same(const char *name, uint64_t should)
{
    struct fm_progress_counters *w = net.ch[1]->own_counters[2];

    ORACLE_ROW(&fm_progress_vars, w, name, 0, ==, should);
}

START_TEST(rounds_are_counted)
{
    uint64_t n_polls = 0, n_empty = 0, n_events = 0;
    struct fm_request *s[20];
    struct fm_progress_counters *w, first;
    struct fm_hook hooks[2] = {{.fn = hook_fn}, {.fn = hook_fn}};

    start(2, NULL);
    warm_up();
    w = net.ch[1]->own_counters[2];
    first = *w;
    n_hook_calls = 0;
    fm_hook_add(net.ch[1], &hooks[0]);
    fm_hook_add(net.ch[1], &hooks[1]);
    progress_same("progress_hooks", 2);
    for (int k = 0; k < 300; k++) {
        int n;

        if (k < 20) {
            s[k] = net_isend(0, data, k % 2 ? 10 : MAX_LEN, 1, k, FM_SEND_STANDARD);
        }
        n = fm_progress(net.ch[1]);
        n_polls++;
        n_empty += n == 0;
        n_events += (uint64_t)n;
    }
    progress_same("progress_polls", first.n_polls + n_polls);
    progress_same("progress_empty_polls", first.n_empty_polls + n_empty);
    progress_same("progress_events", first.n_events + n_events);
    progress_same("progress_hook_calls", 600);
    progress_same("progress_hook_events", 200);
    ck_assert_uint_eq(n_events, 220);
    fm_hook_remove(net.ch[1], &hooks[0]);
    fm_hook_remove(net.ch[1], &hooks[1]);
    progress_same("progress_hooks", 0);
    progress_same("progress_hooks_high", 2);
    for (int k = 0; k < 20; k++) {
        net_end(net_irecv(1, got, MAX_LEN, 0, k), NULL);
        net_end(s[k], NULL);
    }
    net_stop();
}
END_TEST

START_TEST(calls_have_kinds)
{
    static const struct {
        const char *call;
        enum fm_wait_kind kind;
    } known[] = {{"MPI_Send", FM_WAIT_SEND},
                 {"MPI_Ssend_c", FM_WAIT_SEND},
                 {"MPI_Sendrecv", FM_WAIT_SENDRECV},
                 {"MPI_Sendrecv_replace_c", FM_WAIT_SENDRECV},
                 {"MPI_Recv", FM_WAIT_RECV},
                 {"MPI_Mrecv", FM_WAIT_RECV},
                 {"MPI_Mprobe", FM_WAIT_PROBE},
                 {"MPI_Waitany", FM_WAIT_WAIT},
                 {"MPI_Allreduce", FM_WAIT_COLL},
                 {"MPI_Comm_split", FM_WAIT_COMM},
                 {"MPI_Intercomm_merge", FM_WAIT_COMM},
                 {"MPI_Finalize", FM_WAIT_OTHER},
                 {"Send", FM_WAIT_OTHER},
                 {"", FM_WAIT_OTHER},
                 {NULL, FM_WAIT_OTHER}};

    for (size_t k = 0; k < FM_ARRAY_LEN(known); k++) {
        ck_assert_int_eq((int)fm_progress_kind(known[k].call), (int)known[k].kind);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_oracle");
    TCase *tc = tcase_create("oracle");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, random_traffic_is_counted);
    tcase_add_test(tc, what_waits_is_shown);
    tcase_add_test(tc, too_many_questions_are_held_back);
    tcase_add_test(tc, time_of_a_rendezvous);
    tcase_add_test(tc, reason_of_a_communicator);
    tcase_add_test(tc, a_fetch_falls_back);
    tcase_add_test(tc, pieces_are_fetched);
    tcase_add_test(tc, buffered_bytes_and_waits);
    tcase_add_test(tc, automatic_buffers_are_not_attached_memory);
    tcase_add_test(tc, peers_come_and_fail);
    tcase_add_test(tc, the_window_is_the_share_of_a_sender);
    tcase_add_test(tc, rounds_are_counted);
    tcase_add_test(tc, calls_have_kinds);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
