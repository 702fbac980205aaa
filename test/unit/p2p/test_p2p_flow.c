/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow control: a process that does not receive is not filled, and one that looks finds all. */
#include "p2p_net.h"

enum { LIMIT = 64 << 10, MANY = 2000 };

static char data[1024], got[1024];
static struct fm_request *sends[MANY];

static void start(uint64_t seed, uint64_t rts_window)
{
    net_start(2,
              &(struct net_options){.seed = seed, .unexpected_limit = LIMIT, .no_rma = seed & 1});
    for (int k = 0; k < 2; k++) {
        net.ch[k]->counters->rts_window = rts_window;
    }
}

static void flood(int n)
{
    for (int k = 0; k < n; k++) {
        net_fill(data, sizeof(data), 7);
        sends[k] = net_isend(0, data, sizeof(data), 1, k, FM_SEND_STANDARD);
    }
    net_settle();
}

static void receive_in_order(int n)
{
    for (int k = 0; k < n; k++) {
        struct fm_status st;

        ck_assert_int_eq(net_end(net_irecv(1, got, sizeof(got), 0, MPI_ANY_TAG), &st), 0);
        ck_assert_int_eq(st.tag, k);
        net_check(got, sizeof(got), 7);
    }
    for (int k = 0; k < n; k++) {
        ck_assert_int_eq(net_end(sends[k], NULL), MPI_SUCCESS);
    }
}

START_TEST(a_flood_is_bounded)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        const struct fm_p2p_counters *from, *to;

        start(seed, 100);
        from = net.ch[0]->counters;
        to = net.ch[1]->counters;
        if (seed & 2) {
            fm_mock_script(net.mock)->refuse_pct = 40;
            fm_mock_script(net.mock)->delay_max = 2;
        }
        flood(MANY);
        ck_assert_uint_le(to->unexpected_bytes.now, LIMIT + 100 * FM_BLOCK_LEN);
        ck_assert_uint_eq(fm_peer_of(net.ch[1], 0)->has_stalled, true);
        ck_assert_uint_gt(from->n_rts_stalls, 0);
        ck_assert_uint_gt(from->reasons[FM_REASON_NO_CREDIT], 0);
        ck_assert_uint_eq(net.comm[1]->counters->umq_len,
                          net_short_sent(0).n + from->n_request_sent + from->rts_waiting.now);
        receive_in_order(MANY);
        ck_assert_uint_gt(from->n_credits_recvd, 0);
        net_stop();
    }
}
END_TEST

/* What is wanted lies behind everything that was held back. */
START_TEST(the_last_one_is_found)
{
    for (int way = 0; way < 4; way++) {
        struct fm_request *r = NULL;
        struct fm_status st;
        bool has_found = false;

        start((uint64_t)way, 10);
        if (way == 0) { /* the receive is there before the flood */
            r = net_irecv(1, got, sizeof(got), MPI_ANY_SOURCE, MANY - 1);
        }
        flood(MANY);
        if (way == 1) {
            r = net_irecv(1, got, sizeof(got), 0, MANY - 1);
        }
        if (way == 2) {
            while (!has_found) {
                ck_assert_int_eq(fm_iprobe(net.comm[1], 0, MANY - 1, &has_found, &st), 0);
                net_progress();
            }
            ck_assert_int_eq(st.n_bytes, sizeof(data));
        }
        if (way >= 2) {
            r = net_irecv(1, got, sizeof(got), 0, MANY - 1);
        }
        ck_assert_int_eq(net_end(r, &st), MPI_SUCCESS);
        ck_assert_int_eq(st.tag, MANY - 1);
        ck_assert_uint_gt(net.ch[0]->counters->n_more_recvd, 0);
        receive_in_order(MANY - 1);
        ck_assert_int_eq(net_end(sends[MANY - 1], NULL), MPI_SUCCESS);
        net_stop();
    }
}
END_TEST

/* Sends that are held back must not hold back the answers to the other side's. */
START_TEST(both_flood_each_other)
{
    static struct fm_request *back[200];

    start(3, 4);
    for (int k = 0; k < 200; k++) {
        net_fill(data, sizeof(data), 7);
        sends[k] = net_isend(0, data, sizeof(data), 1, k, FM_SEND_SYNC);
        back[k] = net_isend(1, data, sizeof(data), 0, k, FM_SEND_SYNC);
    }
    net_settle();
    for (int k = 0; k < 200; k++) {
        ck_assert_int_eq(net_end(net_irecv(0, got, sizeof(got), 1, 199 - k), NULL), 0);
    }
    for (int k = 0; k < 200; k++) {
        ck_assert_int_eq(net_end(back[k], NULL), 0);
    }
    receive_in_order(200);
    net_stop();
}
END_TEST

START_TEST(credit_comes_back_on_a_one_way_stream)
{
    start(0, 100);
    for (int k = 0; k < 10000; k++) {
        struct fm_request *r = net_irecv(1, got, sizeof(got), 0, 1);
        struct fm_request *s = net_isend(0, data, sizeof(data), 1, 1, FM_SEND_STANDARD);

        ck_assert_int_eq(net_end(r, NULL), 0);
        ck_assert_int_eq(net_end(s, NULL), 0);
    }
    ck_assert_uint_eq(net.ch[0]->counters->n_stalls, 0);
    ck_assert_uint_gt(net.ch[1]->counters->n_credits_sent, 0);
    ck_assert_uint_lt(net.ch[1]->counters->n_credits_sent, 10000 * 4 / 32);
    net_stop();
}
END_TEST

START_TEST(limits_hold_from_the_next_message_on)
{
    start(0, 100);
    net.comm[0]->counters->eager_limit = 500 + 1;
    ck_assert_int_eq(net_end(net_isend(0, data, 500, 1, 0, FM_SEND_STANDARD), NULL), 0);
    ck_assert_uint_eq(net.ch[0]->counters->n_request_sent, 1);
    sends[0] = net_isend(0, data, 501, 1, 1, FM_SEND_STANDARD);
    ck_assert_uint_eq(net.ch[0]->counters->reasons[FM_REASON_COMM], 1);
    net.comm[0]->counters->eager_limit = 0;
    net.ch[0]->counters->eager_limit = 100;
    fm_peer_limits(net.ch[0], fm_peer_of(net.ch[0], 1));
    sends[1] = net_isend(0, data, 101, 1, 2, FM_SEND_STANDARD);
    ck_assert_uint_eq(net.ch[0]->counters->reasons[FM_REASON_LONG], 1);
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(net_end(net_irecv(1, got, sizeof(got), 0, k), NULL), 0);
    }
    ck_assert_int_eq(net_end(sends[0], NULL), 0);
    ck_assert_int_eq(net_end(sends[1], NULL), 0);
    net_stop();
}
END_TEST

/* What the transport thinks best holds as long as nobody sets a limit. */
START_TEST(the_transport_may_have_an_opinion)
{
    struct fm_peer *peer;

    net_start(2, &(struct net_options){.max_send = 40000});
    net.tp[0]->eager_len = 30000;
    ck_assert_int_eq(fm_peer_resolve(net.ch[0], 1, &peer), 0);
    ck_assert_uint_eq(peer->eager_limit, 30000);
    ck_assert_uint_eq(peer->short_limit, net.ch[0]->counters->short_limit);
    net.ch[0]->counters->eager_limit = 16000;
    fm_peer_limits(net.ch[0], peer);
    ck_assert_uint_eq(peer->eager_limit, 16000);
    net.ch[0]->counters->eager_limit = FM_EAGER_DEFAULT;
    net.tp[0]->eager_len = 0;
    fm_peer_limits(net.ch[0], peer);
    ck_assert_uint_eq(peer->eager_limit, FM_EAGER_DEFAULT);
    net_stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_flow");
    TCase *tc = tcase_create("flow");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_flood_is_bounded);
    tcase_add_test(tc, the_last_one_is_found);
    tcase_add_test(tc, both_flood_each_other);
    tcase_add_test(tc, credit_comes_back_on_a_one_way_stream);
    tcase_add_test(tc, limits_hold_from_the_next_message_on);
    tcase_add_test(tc, the_transport_may_have_an_opinion);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
