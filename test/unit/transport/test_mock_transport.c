/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock keeps the contract that it is there to enforce. */
#include "support/mock_transport.h"
#include "support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NODES 3

/* What one node's sink has seen. */
struct seen {
    uint32_t next[N_NODES]; /* per sender, the number that must come next */
    int n, n_done, status;
    int failed_peer;
    char why[32];
};

struct number {
    uint32_t from, count;
};

static struct fm_mock_net *net;
static struct fm_transport *tp[N_NODES];
static struct fm_ep *ep[N_NODES][N_NODES];
static struct seen seen[N_NODES];

static void deliver(void *ctx, const void *data, size_t len)
{
    struct seen *s = ctx;
    const struct number *x = data;

    ck_assert_uint_ge(len, sizeof(*x));
    ck_assert_uint_lt(x->from, N_NODES);
    ck_assert_uint_eq((uintptr_t)data % 8, 0);
    ck_assert_uint_eq(x->count, s->next[x->from]);
    s->next[x->from]++;
    s->n++;
}

static void failed(void *ctx, int peer, const char *why)
{
    struct seen *s = ctx;

    s->failed_peer = peer;
    snprintf(s->why, sizeof(s->why), "%s", why);
}

static void done(struct fm_rma *rma, int status)
{
    struct seen *s = rma->priv;

    s->n_done++;
    s->status = status;
}

static void setup(void)
{
    memset(seen, 0, sizeof(seen));
    net = fm_mock_net_create(N_NODES, 7);
    for (int k = 0; k < N_NODES; k++) {
        struct fm_transport_args args = {.self = k, .n_procs = N_NODES, .tag = "t"};

        args.sink = (struct fm_sink){.ctx = &seen[k], .deliver = deliver, .failed = failed};
        seen[k].failed_peer = -1;
        ck_assert_int_eq(fm_mock_open(net, &args, &tp[k]), 0);
    }
    for (int k = 0; k < N_NODES * N_NODES; k++) {
        char addr[FM_ADDRESS_MAX];
        size_t len;
        int from = k / N_NODES, to = k % N_NODES;

        ck_assert_int_eq(tp[to]->ops->address(tp[to], addr, &len), 0);
        ck_assert_int_eq(tp[from]->ops->connect(tp[from], to, addr, len, &ep[from][to]), 0);
    }
}

static void teardown(void)
{
    fm_mock_net_destroy(net);
}

static int send_number(int from, int to, uint32_t count)
{
    struct number x = {.from = (uint32_t)from, .count = count};

    return fm_ep_send(ep[from][to], &x.from, 4, &x.count, 4);
}

START_TEST(order_of_a_pair_holds)
{
    struct fm_mock_script *script = fm_mock_script(net);
    uint32_t sent[N_NODES] = {0};
    int refused = 0, polls = 0;

    script->refuse_pct = 40;
    script->delay_max = 3;
    script->per_poll = 2;
    while (sent[0] + sent[1] < 400) {
        int from = (int)fm_mock_random(net, 2);
        int rc = send_number(from, 2, sent[from]);

        ck_assert(rc == 0 || rc == FM_AGAIN);
        sent[from] += rc == 0;
        refused += rc == FM_AGAIN;
    }
    while (fm_mock_pending(net, 2) && polls++ < 10000) {
        ck_assert_int_le(tp[2]->ops->poll(tp[2]), 2);
    }
    ck_assert_int_eq(seen[2].n, 400);
    ck_assert_uint_eq(seen[2].next[0], sent[0]);
    ck_assert_int_gt(refused, 100);
    ck_assert_int_ge(polls, 200);
}
END_TEST

START_TEST(rooms_are_sent_as_committed)
{
    void *room;

    fm_mock_script(net)->record = true;
    ck_assert_int_eq(ep[0][1]->ops->reserve(ep[0][1], 100, &room), 0);
    memcpy(room, &(struct number){.from = 0, .count = 0}, sizeof(struct number));
    ck_assert_int_eq(ep[0][1]->ops->commit(ep[0][1], room, sizeof(struct number)), 0);
    ck_assert_int_eq(ep[0][1]->ops->reserve(ep[0][1], 100, &room), 0);
    ck_assert_int_eq(ep[0][1]->ops->commit(ep[0][1], room, 0), 0);
    ck_assert_int_eq(fm_transport_poll(tp[1]), 1);
    ck_assert_int_eq(seen[1].n, 1);
    ck_assert_uint_eq(fm_mock_sent_count(net), 1);
    ck_assert_uint_eq(fm_mock_sent(net, 0)->len, sizeof(struct number));
    ck_assert_ptr_null(fm_mock_sent(net, 1));
}
END_TEST

START_TEST(memory_moves_only_where_exposed)
{
    char far[64] = "far", near[64] = "";
    struct fm_mem mem;
    struct fm_rma rma = {.op = FM_RMA_GET, .local = near, .len = 60, .remote_at = 4};

    rma.done = done;
    rma.priv = &seen[0];
    ck_assert_int_eq(tp[1]->ops->expose(tp[1], far, sizeof(far), FM_MEM_READ | FM_MEM_WRITE,
                                        FM_MEM_REQUEST, &mem),
                     0);
    strcpy(far + 4, "words");
    rma.remote = mem.rkey;
    ck_assert_int_eq(ep[0][1]->ops->rma(ep[0][1], &rma), 0);
    ck_assert_int_eq(seen[0].n_done, 0);
    ck_assert_int_eq(fm_transport_poll(tp[0]), 1);
    ck_assert_int_eq(seen[0].status, 0);
    ck_assert_str_eq(near, "words");

    rma.remote_at = 5; /* one byte beyond the end */
    ck_assert_int_eq(ep[0][1]->ops->rma(ep[0][1], &rma), 0);
    fm_transport_poll(tp[0]);
    ck_assert_int_eq(seen[0].status, -FM_E_PROTO);

    rma.op = FM_RMA_PUT;
    rma.remote_at = 0;
    tp[1]->ops->unexpose(tp[1], &mem);
    ck_assert_int_eq(ep[0][1]->ops->rma(ep[0][1], &rma), 0);
    fm_transport_poll(tp[0]);
    ck_assert_int_eq(seen[0].status, -FM_E_PROTO);
    ck_assert_str_eq(far, "far");
    ck_assert_uint_eq(fm_mock_exposed(net, 1), 0);
}
END_TEST

START_TEST(a_dead_peer_is_reported_once)
{
    struct fm_sleep sleep;

    ck_assert_int_eq(tp[1]->ops->arm(tp[1], &sleep), 0);
    ck_assert_int_eq(send_number(0, 1, 0), 0);
    ck_assert_int_eq(tp[1]->ops->arm(tp[1], &sleep), FM_AGAIN);
    fm_mock_fail(net, 0, 1, "scripted");
    ck_assert_int_eq(fm_transport_poll(tp[0]), 1);
    ck_assert_int_eq(seen[0].failed_peer, 1);
    ck_assert_str_eq(seen[0].why, "scripted");
    ck_assert_int_eq(fm_transport_poll(tp[0]), 0);
    ck_assert_int_eq(send_number(0, 1, 1), -FM_E_PEER);
    ck_assert_int_eq(send_number(0, 2, 0), 0);
    ck_assert_int_eq(fm_transport_poll(tp[1]), 0);
}
END_TEST

START_TEST(what_is_injected_arrives)
{
    struct number x = {.from = 1, .count = 0};

    fm_mock_script(net)->hold = true;
    fm_mock_inject(net, 1, 0, &x, sizeof(x));
    ck_assert_int_eq(fm_transport_poll(tp[0]), 0);
    fm_mock_script(net)->hold = false;
    ck_assert_int_eq(fm_transport_poll(tp[0]), 1);
    fm_mock_script(net)->fail_next = 1;
    ck_assert_int_eq(send_number(1, 0, 1), -FM_E_SYSTEM);
    ck_assert_int_eq(send_number(1, 0, 1), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mock_transport");
    TCase *tc = tcase_create("contract");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, order_of_a_pair_holds);
    tcase_add_test(tc, rooms_are_sent_as_committed);
    tcase_add_test(tc, memory_moves_only_where_exposed);
    tcase_add_test(tc, a_dead_peer_is_reported_once);
    tcase_add_test(tc, what_is_injected_arrives);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
