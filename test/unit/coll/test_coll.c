/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives of several nodes in one process over a scripted network that delays and refuses: many
   under way, started at different times, none leaves a barrier early. */
#include "core/coll/coll.h"

#include "unit/p2p/p2p_net.h"

#include "core/dtype/op.h"

#define N_OPEN 12

static struct fm_buf longs(long *buf, MPI_Count n)
{
    return (struct fm_buf){buf, n, fm_dtype_get(MPI_LONG)};
}

static void begin(int n, uint64_t seed)
{
    struct net_options options = {.seed = seed};
    struct fm_mock_script *script;

    ck_assert_int_eq(fm_dtype_init(), 0);
    ck_assert_int_eq(fm_op_init(NULL), 0);
    net_start(n, &options);
    script = fm_mock_script(net.mock);
    script->refuse_pct = 20;
    script->delay_max = 5;
}

static struct fm_request *start(const struct fm_coll *c)
{
    struct fm_request *r;

    ck_assert_int_eq(fm_coll_start(c, &r), 0);
    return r;
}

START_TEST(nobody_leaves_a_barrier_early)
{
    struct fm_request *r[NET_MAX] = {NULL};

    begin(7, 3);
    for (int last = 0; last < net.n; last++) {
        struct fm_coll c = {.kind = FM_COLL_BARRIER};

        for (int k = 0; k < net.n; k++) {
            c.comm = net.comm[k];
            r[k] = k == last ? NULL : start(&c);
        }
        for (int round = 0; round < 200; round++) {
            net_progress();
        }
        for (int k = 0; k < net.n; k++) {
            ck_assert(k == last || !r[k]->is_done);
        }
        c.comm = net.comm[last];
        r[last] = start(&c);
        for (int k = 0; k < net.n; k++) {
            net_until_done(r[k]);
            ck_assert_int_eq(net_end(r[k], NULL), MPI_SUCCESS);
        }
    }
    net_stop();
}
END_TEST

/* Each operation of each node: the buffers, and what must come out. */
struct op {
    enum fm_coll_kind kind;
    int root;
    MPI_Count n;
    long in[NET_MAX][NET_MAX * 40], out[NET_MAX][NET_MAX * 40];
    struct fm_request *r[NET_MAX];
};

static long value(int node, long i)
{
    return node * 1000 + i;
}

static void start_op(struct op *o, int k)
{
    struct fm_buf in = longs(o->in[k], o->n), out = longs(o->out[k], o->n);
    struct fm_coll c = {.kind = o->kind, .comm = net.comm[k], .root = o->root};

    for (long i = 0; i < o->n * net.n; i++) {
        o->in[k][i] = value(k, i);
        o->out[k][i] = o->kind == FM_COLL_BCAST && k == o->root ? value(k, i) : -1;
    }
    c.op = fm_op_get(MPI_SUM);
    c.send = (struct fm_side){.buf = in.buf, .count = in.count, .dtype = in.dtype};
    c.recv = (struct fm_side){.buf = out.buf, .count = out.count, .dtype = out.dtype};
    o->r[k] = start(&c);
}

static long wanted(const struct op *o, int k, long i)
{
    long sum = 0;

    switch (o->kind) {
    case FM_COLL_BCAST:
        return value(o->root, i);
    case FM_COLL_ALLTOALL:
        return value((int)(i / o->n), k * o->n + i % o->n);
    case FM_COLL_ALLGATHER:
        return value((int)(i / o->n), i % o->n);
    default:
        for (int node = 0; node <= (o->kind == FM_COLL_SCAN ? k : net.n - 1); node++) {
            sum += value(node, i);
        }
        return sum;
    }
}

static void check_op(const struct op *o, int k)
{
    bool has_blocks = o->kind == FM_COLL_ALLTOALL || o->kind == FM_COLL_ALLGATHER;

    for (long i = 0; i < (has_blocks ? o->n * net.n : o->n); i++) {
        ck_assert_int_eq(o->out[k][i], wanted(o, k, i));
    }
}

START_TEST(many_at_once_in_any_order)
{
    static const enum fm_coll_kind kinds[] = {FM_COLL_BCAST, FM_COLL_ALLREDUCE, FM_COLL_ALLTOALL,
                                              FM_COLL_ALLGATHER, FM_COLL_SCAN};
    static struct op ops[N_OPEN];

    for (int n = 1; n <= NET_MAX; n++) {
        int next[NET_MAX] = {0}, left = n * N_OPEN;

        begin(n, (uint64_t)n);
        for (int i = 0; i < N_OPEN; i++) {
            ops[i].kind = kinds[fm_mock_random(net.mock, FM_ARRAY_LEN(kinds))];
            ops[i].root = (int)fm_mock_random(net.mock, (uint32_t)n);
            ops[i].n = fm_mock_random(net.mock, 40);
        }
        while (left > 0) { /* some node starts its next one, or all go on */
            int k = (int)fm_mock_random(net.mock, (uint32_t)n);

            if (next[k] < N_OPEN && fm_mock_random(net.mock, 3) == 0) {
                start_op(&ops[next[k]++], k);
                left--;
            } else {
                net_progress();
            }
        }
        for (int i = N_OPEN - 1; i >= 0; i--) {
            for (int k = 0; k < n; k++) {
                net_until_done(ops[i].r[k]);
                ck_assert_int_eq(net_end(ops[i].r[k], NULL), MPI_SUCCESS);
                check_op(&ops[i], k);
            }
        }
        net_stop();
    }
}
END_TEST

/* p - 1 messages for a broadcast down a tree, p log2(p) for a barrier of a power of two. */
START_TEST(messages_are_as_few_as_promised)
{
    static const struct {
        enum fm_coll_kind kind;
        size_t n_messages;
    } cases[] = {{FM_COLL_BCAST, 7},  {FM_COLL_BARRIER, 24},   {FM_COLL_REDUCE, 7},
                 {FM_COLL_GATHER, 7}, {FM_COLL_ALLREDUCE, 24}, {FM_COLL_ALLGATHER, 24}};

    for (size_t i = 0; i < FM_ARRAY_LEN(cases); i++) {
        static struct op o;
        size_t before;

        begin(8, 1);
        fm_mock_script(net.mock)->refuse_pct = 0;
        before = fm_mock_sent_count(net.mock);
        fm_mock_script(net.mock)->record = true;
        o.kind = cases[i].kind;
        o.root = 3;
        o.n = 2;
        for (int k = 0; k < 8; k++) {
            start_op(&o, k);
        }
        for (int k = 0; k < 8; k++) {
            net_until_done(o.r[k]);
            net_end(o.r[k], NULL);
        }
        ck_assert_uint_eq(fm_mock_sent_count(net.mock) - before, cases[i].n_messages);
        net_stop();
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("coll");
    TCase *t = tcase_create("all");

    tcase_add_test(t, nobody_leaves_a_barrier_early);
    tcase_add_test(t, many_at_once_in_any_order);
    tcase_add_test(t, messages_are_as_few_as_promised);
    suite_add_tcase(s, t);
    return suite_run(s);
}
