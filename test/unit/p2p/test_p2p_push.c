/* SPDX-License-Identifier: BSD-3-Clause */
/* Senders that push what could be fetched: awake, asleep, and asleep in the middle. */
#include "p2p_net.h"
#include "support/oracle_row.h"
#include "util/sync.h"

enum { LEN = 100000, PIECE = 8192 - (int)sizeof(struct fm_wire_reply) };
enum { N_PIECES = (LEN + PIECE - 1) / PIECE };

static char data[LEN], got[LEN];

/* Node 0 sends to node 1; both know each other, and node 0 says that it pushes well. */
static void start(void)
{
    struct fm_request *s, *r;

    net_start(2, NULL);
    for (int k = 0; k < 2; k++) {
        r = net_irecv(1 - k, got, 8, k, 0);
        s = net_isend(k, data, 8, 1 - k, 0, FM_SEND_STANDARD);
        net_end(r, NULL);
        net_end(s, NULL);
        fm_peer_of(net.ch[k], 1 - k)->ep->pushes = FM_PUSH_ALWAYS;
    }
    net_fill(data, LEN, 5);
    memset(got, 0, LEN);
}

static void same(int node, const char *name, uint64_t should)
{
    ORACLE_ROW(&fm_p2p_vars, net.ch[node]->counters, name, 0, ==, should);
}

static void send_one(struct fm_request **s, struct fm_request **r)
{
    *r = net_irecv(1, got, LEN, 0, 7);
    *s = net_isend(0, data, LEN, 1, 7, FM_SEND_STANDARD);
}

static void check(struct fm_request *s, struct fm_request *r)
{
    ck_assert_int_eq(net_end(r, NULL), MPI_SUCCESS);
    net_check(got, LEN, 5);
    ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
}

/* Rounds of the receiver alone. */
static void until_done_alone(struct fm_request *r)
{
    uint64_t end = fm_now_ns() + UINT64_C(10000000000);

    while (!r->is_done) {
        ck_assert_int_ge(fm_progress(net.ch[1]), 0);
        ck_assert(fm_now_ns() < end);
    }
}

START_TEST(who_is_awake_pushes)
{
    struct fm_request *s, *r;

    start();
    net.ch[1]->counters->push_us = 60000000;
    send_one(&s, &r);
    check(s, r);
    same(1, "p2p_pushes", 1);
    same(1, "p2p_impatient", 0);
    same(1, "p2p_fetches", 0);
    same(1, "p2p_cts_sent", 1);
    same(1, "p2p_fin_sent", 1);
    same(0, "p2p_fin_recvd", 1);
    same(0, "p2p_data_sent", N_PIECES);
    same(1, "p2p_data_recvd", N_PIECES);
    net_stop();
}
END_TEST

/* Where it is no use now, one in 64 is pushed all the same, for the transport to see; or none. */
START_TEST(who_had_better_not_pushes_seldom)
{
    struct fm_request *s, *r;

    start();
    fm_peer_of(net.ch[0], 1)->ep->pushes = _i ? FM_PUSH_SELDOM : FM_PUSH_NEVER;
    net.ch[1]->counters->push_us = 60000000;
    for (uint64_t k = 1; k <= 128; k++) {
        send_one(&s, &r);
        check(s, r);
        same(1, "p2p_pushes", _i ? k / 64 : 0);
        same(1, "p2p_fetches", k - (_i ? k / 64 : 0));
    }
    net_stop();
}
END_TEST

/* The buffer is the receiver's until it says FIN, though all is on its way. */
START_TEST(who_pushes_waits_for_fin)
{
    struct fm_request *s, *r;

    start();
    net.ch[1]->counters->push_us = 60000000;
    send_one(&s, &r);
    while (net.ch[1]->counters->n_cts_sent == 0) {
        net_progress();
    }
    for (int k = 0; k < 20; k++) {
        fm_progress(net.ch[0]);
    }
    ck_assert_uint_eq(net.ch[0]->counters->n_data_sent, N_PIECES);
    ck_assert(!s->is_done);
    check(s, r);
    net_stop();
}
END_TEST

/* A round of the sender for so many looks of the receiver, of which one in eight is at the clock:
   the first sets the end of patience, and the next that is late is not the last. */
START_TEST(who_pushes_others_first_is_waited_for)
{
    enum { N = 6, LOOKS = 23 };
    static char to[N][LEN];
    struct fm_request *s[N], *r[N];

    start();
    net.ch[0]->counters->pipeline_depth = 1;
    net.ch[1]->counters->push_us = 1;
    for (int k = 0; k < N; k++) {
        r[k] = net_irecv(1, to[k], LEN, 0, k);
        s[k] = net_isend(0, data, LEN, 1, k, FM_SEND_STANDARD);
    }
    while (!r[N - 1]->is_done) {
        ck_assert_int_ge(fm_progress(net.ch[0]), 0);
        for (int k = 0; k < LOOKS && !r[N - 1]->is_done; k++) {
            ck_assert_int_ge(fm_progress(net.ch[1]), 0);
        }
    }
    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(net_end(r[k], NULL), MPI_SUCCESS);
        net_check(to[k], LEN, 5);
        ck_assert_int_eq(net_end(s[k], NULL), MPI_SUCCESS);
    }
    same(1, "p2p_pushes", N);
    same(1, "p2p_impatient", 0);
    same(1, "p2p_fetches", 0);
    net_stop();
}
END_TEST

START_TEST(who_sleeps_is_not_waited_for)
{
    struct fm_request *s, *r;

    start();
    net.ch[1]->counters->push_us = 1;
    fm_mock_script(net.mock)->per_poll = (unsigned)_i; /* 1: the sender sees CTS long before FIN */
    send_one(&s, &r);
    until_done_alone(r);
    net_check(got, LEN, 5);
    ck_assert(!s->is_done);
    check(s, r);
    net_settle();
    same(1, "p2p_pushes", 1);
    same(1, "p2p_impatient", 1);
    same(1, "p2p_data_late", net.ch[0]->counters->n_data_sent);
    ck_assert(_i == 0 || net.ch[0]->counters->n_data_sent > 0);
    same(1, "p2p_fetched_bytes", LEN);
    net_stop();
}
END_TEST

START_TEST(the_rest_is_fetched)
{
    struct fm_request *s, *r;
    uint64_t n;

    start();
    net.ch[0]->counters->pipeline_depth = 2;
    net.ch[1]->counters->push_us = 60000000;
    send_one(&s, &r);
    while (net.ch[1]->counters->n_cts_sent == 0) {
        net_progress();
    }
    fm_progress(net.ch[0]); /* one round of fragments */
    n = net.ch[0]->counters->n_data_sent;
    net.ch[1]->counters->push_us = 1;
    until_done_alone(r);
    check(s, r);
    net_settle();
    ck_assert_uint_eq(n, 2);
    same(1, "p2p_pushes", 1);
    same(1, "p2p_impatient", 1);
    same(1, "p2p_data_recvd", n);
    same(1, "p2p_fetched_bytes", LEN - n * PIECE);
    net_stop();
}
END_TEST

/* No transfer works: what was asked for comes in the end. */
START_TEST(a_push_stands_in_for_a_fetch)
{
    struct fm_request *s, *r;

    start();
    net.ch[1]->counters->push_us = 1;
    send_one(&s, &r);
    while (net.ch[1]->counters->n_pushes == 0) {
        fm_progress(net.ch[1]);
    }
    while (net.ch[1]->counters->n_impatient == 0) {
        fm_progress(net.ch[1]);
    }
    fm_mock_script(net.mock)->fail_next = 1;
    while (net.ch[1]->counters->n_rma_fallbacks == 0) {
        fm_progress(net.ch[1]);
    }
    check(s, r);
    same(1, "p2p_fetch_fallbacks", 1);
    same(1, "p2p_cts_sent", 1);
    net_stop();
}
END_TEST

/* Everything is refused and delayed now and then, and some senders are patient and some not. */
START_TEST(pushes_and_fetches_mix)
{
    enum { N = 12 };
    static char from[N][LEN], to[N][LEN];
    struct fm_request *s[N], *r[N];

    start();
    fm_mock_script(net.mock)->refuse_pct = 20;
    fm_mock_script(net.mock)->delay_max = 5;
    for (int round = 0; round < 4; round++) {
        net.ch[0]->counters->push_us = net.ch[1]->counters->push_us = round < 2 ? 1 : 100000;
        for (int k = 0; k < N; k++) {
            net_fill(from[k], LEN, (unsigned)(round * N + k));
            r[k] = net_irecv(1 - k % 2, to[k], LEN, k % 2, k);
            s[k] = net_isend(k % 2, from[k], LEN - (size_t)k, 1 - k % 2, k, FM_SEND_STANDARD);
            if (round % 2) {
                fm_progress(net.ch[k % 2]);
            }
        }
        for (int k = 0; k < N; k++) {
            ck_assert_int_eq(net_end(r[k], NULL), MPI_SUCCESS);
            net_check(to[k], LEN - (size_t)k, (unsigned)(round * N + k));
            ck_assert_int_eq(net_end(s[k], NULL), MPI_SUCCESS);
        }
    }
    net_settle();
    net_stop();
}
END_TEST

START_TEST(a_sender_dies_while_it_pushes)
{
    struct fm_request *s, *r;

    start();
    net.ch[0]->counters->pipeline_depth = 1;
    net.ch[1]->counters->push_us = 60000000;
    send_one(&s, &r);
    while (net.ch[1]->counters->n_data_recvd == 0) {
        net_progress();
    }
    fm_mock_fail(net.mock, 1, 0, "killed");
    until_done_alone(r);
    ck_assert_int_eq(net_end(r, NULL), MPI_ERR_PROC_ABORTED);
    fm_mock_fail(net.mock, 0, 1, "killed");
    ck_assert_int_eq(net_end(s, NULL), MPI_ERR_PROC_ABORTED);
    net_stop_broken();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_push");
    TCase *tc = tcase_create("push");

    tcase_add_test(tc, who_is_awake_pushes);
    tcase_add_loop_test(tc, who_had_better_not_pushes_seldom, 0, 2);
    tcase_add_test(tc, who_pushes_waits_for_fin);
    tcase_add_test(tc, who_pushes_others_first_is_waited_for);
    tcase_add_loop_test(tc, who_sleeps_is_not_waited_for, 0, 2);
    tcase_add_test(tc, the_rest_is_fetched);
    tcase_add_test(tc, a_push_stands_in_for_a_fetch);
    tcase_add_test(tc, pushes_and_fetches_mix);
    tcase_add_test(tc, a_sender_dies_while_it_pushes);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
