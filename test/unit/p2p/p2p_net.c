/* SPDX-License-Identifier: BSD-3-Clause */
/* Several channels in one process. */
#include "p2p_net.h"

#define MAX_ROUNDS 2000000

struct net net;

static int resolve(void *ctx, int proc, struct fm_ep **out_ep)
{
    int self = (int)(intptr_t)ctx;
    char addr[FM_ADDRESS_MAX];
    size_t len;
    int rc = net.tp[proc]->ops->address(net.tp[proc], addr, &len);

    ck_assert_int_eq(rc, 0);
    return net.tp[self]->ops->connect(net.tp[self], proc, addr, len, out_ep);
}

static bool is_gone(void *ctx, int proc)
{
    return net.gone[proc];
}

static void start_node(int k, uint64_t unexpected_limit)
{
    struct fm_transport_args args = {.self = k, .n_procs = net.n, .tag = "test"};
    struct fm_p2p_counters *counters = NULL;
    struct fm_channel_counters given = {0};
    struct fm_group *group;

    if (unexpected_limit) {
        counters = calloc(1, sizeof(*counters));
        for (int i = 0; i < fm_p2p_vars.n_cvars; i++) {
            const struct fathom_cvar *c = &fm_p2p_vars.cvars[i];

            *(uint64_t *)((char *)counters + c->at) = (uint64_t)c->def;
        }
        counters->unexpected_limit = unexpected_limit;
        given.p2p = counters;
    }
    ck_assert_int_eq(fm_channel_create(net.n, k, &given, &net.ch[k]), 0);
    net.ch[k]->own_counters[1] = counters ? counters : net.ch[k]->own_counters[1];
    net.ch[k]->resolve = resolve;
    net.ch[k]->resolve_ctx = (void *)(intptr_t)k;
    net.ch[k]->is_gone = is_gone;
    fm_channel_sink(net.ch[k], &args.sink);
    ck_assert_int_eq(fm_mock_open(net.mock, &args, &net.tp[k]), 0);
    ck_assert_int_eq(fm_channel_attach(net.ch[k], net.tp[k]), 0);
    ck_assert_int_eq(fm_group_create(net.n, NULL, k, &group), 0);
    ck_assert_int_eq(fm_comm_create(net.ch[k], group, NULL, k, NET_CONTEXT, &net.comm[k]), 0);
    fm_group_unref(group);
}

void net_start(int n, const struct net_options *options)
{
    struct net_options none = {0};

    options = options ? options : &none;
    memset(&net, 0, sizeof(net));
    net.n = n;
    ck_assert_int_eq(fm_dtype_init(), 0);
    net.mock = fm_mock_net_create(n, options->seed);
    fm_mock_limits(net.mock, options->max_send ? options->max_send : 8192, 64, !options->no_rma,
                   !options->no_expose);
    for (int k = 0; k < n; k++) {
        start_node(k, options->unexpected_limit);
    }
}

static void end_nodes(void)
{
    for (int k = 0; k < net.n; k++) {
        fm_comm_unref(net.comm[k]);
        fm_channel_destroy(net.ch[k]);
    }
    fm_mock_net_destroy(net.mock);
    fm_dtype_finish();
    fm_handle_finish();
}

void net_stop(void)
{
    fm_mock_script(net.mock)->hold = false;
    net_settle();
    for (int k = 0; k < net.n; k++) {
        ck_assert_uint_eq(*net.ch[k]->blocks.n_live, 0);
        ck_assert_uint_eq(*net.ch[k]->fetches.n_live, 0);
        ck_assert_uint_eq(net.ch[k]->ids.n_live, 0);
        ck_assert_uint_eq(net.ch[k]->n_sending, 0);
        ck_assert_int_eq(net.ch[k]->n_waiting, 0);
        ck_assert_uint_eq(net.comm[k]->counters->umq_len, 0);
        ck_assert_uint_eq(net.comm[k]->counters->prq_len, 0);
        ck_assert_uint_eq(net.ch[k]->match_counters->umq_len.now, 0);
        ck_assert_uint_eq(net.ch[k]->match_counters->prq_len.now, 0);
        ck_assert_uint_eq(net.ch[k]->counters->out_len.now, 0);
        ck_assert_uint_eq(net.ch[k]->counters->bulk_len.now, 0);
        ck_assert_uint_eq(net.ch[k]->counters->rts_waiting.now, 0);
        ck_assert_uint_eq(fm_mock_exposed(net.mock, k), 0);
    }
    net_stop_broken();
}

void net_stop_broken(void)
{
    for (int k = 0; k < net.n; k++) {
        ck_assert(!net.ch[k]->sent || net.ch[k]->sent->head.refs == 1);
    }
    ck_assert_uint_eq(*fm_root.pools[FM_KIND_REQUEST].n_live, 0);
    end_nodes();
}

void net_stop_forgetful(void)
{
    for (int k = 0; k < net.n; k++) {
        net.comm[k]->head.refs = 1; /* not those of requests */
    }
    end_nodes();
}

int net_progress(void)
{
    int n = 0;

    for (int k = 0; k < net.n; k++) {
        int rc = fm_progress(net.ch[k]);

        if (rc < 0) {
            ck_abort_msg("%s", fm_why());
        }
        n += rc;
    }
    return n;
}

void net_until_done(struct fm_request *r)
{
    for (int k = 0; !r->is_done; k++) {
        if (k >= MAX_ROUNDS) {
            ck_abort_msg("no progress");
        }
        net_progress();
    }
}

void net_settle(void)
{
    int n_quiet = 0;

    for (int k = 0; k < MAX_ROUNDS && n_quiet < 64; k++) {
        n_quiet = net_progress() ? 0 : n_quiet + 1;
    }
}

struct fm_msg net_msg(int node, const void *buf, MPI_Count count, struct fm_dtype *t, int peer,
                      int tag)
{
    return (struct fm_msg){.buf = (void *)(uintptr_t)buf,
                           .count = count,
                           .dtype = t,
                           .peer = peer,
                           .tag = tag,
                           .comm = net.comm[node],
                           .space = FM_SPACE_USER};
}

struct fm_request *net_isend(int node, const void *buf, size_t len, int dest, int tag,
                             enum fm_send_mode mode)
{
    struct fm_msg m = net_msg(node, buf, (MPI_Count)len, fm_dtype_byte(), dest, tag);
    struct fm_request *r;

    ck_assert_int_eq(fm_isend(&m, mode, &r), 0);
    return r;
}

struct fm_request *net_irecv(int node, void *buf, size_t len, int source, int tag)
{
    struct fm_msg m = net_msg(node, buf, (MPI_Count)len, fm_dtype_byte(), source, tag);
    struct fm_request *r;

    ck_assert_int_eq(fm_irecv(&m, &r), 0);
    return r;
}

int net_end(struct fm_request *r, struct fm_status *out_status)
{
    net_until_done(r);
    return fm_request_harvest(r, out_status);
}

struct fm_traffic net_short_sent(int node)
{
    const struct fm_p2p_counters *w = net.ch[node]->counters;
    struct fm_traffic sum = w->short_sent;

    for (int bin = 0; bin < FM_HIST_BINS; bin++) {
        sum.len += w->tiny_sent[bin].len;
        sum.n += w->tiny_sent[bin].n;
    }
    return sum;
}

void net_fill(void *buf, size_t len, unsigned salt)
{
    unsigned char *b = buf;

    for (size_t k = 0; k < len; k++) {
        b[k] = (unsigned char)(k * 31 + (k >> 8) + salt);
    }
}

void net_check(const void *buf, size_t len, unsigned salt)
{
    const unsigned char *b = buf;
    size_t k = 0;

    while (k < len && b[k] == (unsigned char)(k * 31 + (k >> 8) + salt)) {
        k++;
    }
    ck_assert_uint_eq(k, len); /* else: the first byte that is wrong */
}
