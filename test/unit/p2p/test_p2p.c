/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocols over the scripted transport: what is sent arrives, whatever the transport does. */
#include "p2p_net.h"

/* Lengths around every limit of the engine: none, inline, block, chain, eager, rendezvous. */
static const size_t lengths[] = {0,    1,    8,    40,   300,   328,   329,   512,
                                 1000, 4096, 8160, 8161, 16384, 16385, 100000};

enum { N_LENGTHS = (int)FM_ARRAY_LEN(lengths), MAX_LEN = 100000 };

static char out_buf[N_LENGTHS][MAX_LEN], in_buf[N_LENGTHS][MAX_LEN];

static void check_one(struct fm_request *s, struct fm_request *r, int k, int source)
{
    struct fm_status st;

    ck_assert_int_eq(net_end(r, &st), MPI_SUCCESS);
    ck_assert_int_eq(st.source, source);
    ck_assert_int_eq(st.tag, k);
    ck_assert_int_eq(st.n_bytes, (MPI_Count)lengths[k]);
    net_check(in_buf[k], lengths[k], (unsigned)k);
    ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
}

/* Every length, receives before or behind the sends. */
static void exchange(int from, int to, enum fm_send_mode mode, bool is_posted)
{
    struct fm_request *s[N_LENGTHS], *r[N_LENGTHS];

    for (int k = 0; is_posted && k < N_LENGTHS; k++) {
        r[k] = net_irecv(to, in_buf[k], lengths[k], from, k);
    }
    for (int k = 0; k < N_LENGTHS; k++) {
        net_fill(out_buf[k], lengths[k], (unsigned)k);
        s[k] = net_isend(from, out_buf[k], lengths[k], to, k, mode);
    }
    net_settle();
    for (int k = 0; !is_posted && k < N_LENGTHS; k++) {
        if (mode == FM_SEND_SYNC) {
            ck_assert(!s[k]->is_done);
        }
        r[k] = net_irecv(to, in_buf[k], lengths[k], from, k);
    }
    for (int k = 0; k < N_LENGTHS; k++) {
        check_one(s[k], r[k], k, from);
    }
}

static void all_ways(int from, int to)
{
    exchange(from, to, FM_SEND_STANDARD, true);
    exchange(from, to, FM_SEND_STANDARD, false);
    exchange(from, to, FM_SEND_SYNC, true);
    exchange(from, to, FM_SEND_SYNC, false);
    exchange(from, to, FM_SEND_READY, true);
}

START_TEST(all_lengths_with_rma)
{
    net_start(2, NULL);
    all_ways(0, 1);
    all_ways(1, 0);
    ck_assert_uint_gt(net.ch[1]->counters->n_rma, 0);
    ck_assert_uint_eq(net.ch[1]->counters->n_data_recvd, 0);
    net_stop();
}
END_TEST

START_TEST(all_lengths_without_rma)
{
    net_start(2, &(struct net_options){.no_rma = true});
    all_ways(0, 1);
    ck_assert_uint_eq(net.ch[1]->counters->n_rma, 0);
    ck_assert_uint_gt(net.ch[1]->counters->n_data_recvd, 0);
    net_stop();
}
END_TEST

START_TEST(short_ones_are_not_fetched)
{
    enum { MIN = 5000 };
    struct fm_p2p_counters *to;

    net_start(2, NULL);
    to = net.ch[1]->counters;
    net.ch[0]->counters->rma_min = MIN;
    net.comm[0]->counters->eager_limit = 500 + 1;
    for (int k = 0; k < 2; k++) {
        size_t len = (size_t)(MIN - 1 + k);
        struct fm_request *s, *r = net_irecv(1, in_buf[0], len, 0, 1);

        net_fill(out_buf[0], len, (unsigned)k);
        s = net_isend(0, out_buf[0], len, 1, 1, FM_SEND_STANDARD);
        ck_assert_int_eq(net_end(r, NULL), MPI_SUCCESS);
        ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
        net_check(in_buf[0], len, (unsigned)k);
        ck_assert_uint_eq(to->n_rma > 0, k == 1);
        ck_assert_uint_eq(to->n_data_recvd > 0, k == 0);
        to->n_data_recvd = 0;
    }
    net_stop();
}
END_TEST

START_TEST(all_lengths_to_self)
{
    net_start(2, NULL);
    all_ways(0, 0);
    ck_assert_uint_eq(net.ch[0]->counters->n_self_sent, 5 * N_LENGTHS);
    ck_assert_uint_eq(net_short_sent(0).n, 0);
    net_stop();
}
END_TEST

START_TEST(the_transport_refuses_and_delays)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        net_start(2,
                  &(struct net_options){.seed = seed, .no_rma = seed & 1, .no_expose = seed & 2});
        fm_mock_script(net.mock)->refuse_pct = 50;
        fm_mock_script(net.mock)->delay_max = 5;
        all_ways(0, 1);
        ck_assert_uint_gt(net.ch[0]->counters->n_refused, 0);
        net_stop();
    }
}
END_TEST

START_TEST(a_short_send_needs_no_request)
{
    char word[8] = "seven", got[8];
    struct fm_msg m;
    uint64_t n_taken;

    net_start(2, NULL);
    m = net_msg(0, word, 8, fm_dtype_byte(), 1, 3);
    ck_assert_int_eq(fm_send(&m, FM_SEND_STANDARD), 0); /* the first one connects */
    n_taken = net.ch[1]->counters->req.n_taken;
    for (int k = 0; k < 100; k++) {
        ck_assert_int_eq(fm_send(&m, FM_SEND_STANDARD), 0);
    }
    ck_assert_uint_eq(net.ch[1]->counters->req.n_taken, n_taken);
    ck_assert_uint_eq(net_short_sent(0).n, 100);
    net_settle();
    ck_assert_uint_eq(net.comm[1]->counters->umq_len, 101);
    m = net_msg(1, got, 8, fm_dtype_byte(), 0, 3);
    for (int k = 0; k < 101; k++) {
        ck_assert_int_eq(fm_recv(&m, NULL), 0);
        ck_assert_str_eq(got, "seven");
    }
    ck_assert_uint_eq(net.ch[1]->counters->req.n_taken, n_taken);
    net_stop();
}
END_TEST

START_TEST(too_long_a_message_is_truncated)
{
    for (int way = 0; way < 8; way++) {
        size_t len = way & 1 ? 50000 : 500;
        size_t cap = way & 2 ? 0 : 100;
        bool is_posted = way & 4;
        struct fm_request *s, *r = NULL;
        struct fm_status st;

        net_start(2, NULL);
        memset(in_buf[0], 0x55, len);
        net_fill(out_buf[0], len, 9);
        if (is_posted) {
            r = net_irecv(1, in_buf[0], cap, MPI_ANY_SOURCE, MPI_ANY_TAG);
        }
        s = net_isend(0, out_buf[0], len, 1, 5, FM_SEND_STANDARD);
        net_settle();
        if (!is_posted) {
            r = net_irecv(1, in_buf[0], cap, MPI_ANY_SOURCE, MPI_ANY_TAG);
        }
        ck_assert_int_eq(net_end(r, &st), MPI_ERR_TRUNCATE);
        ck_assert_ptr_nonnull(strstr(fm_why(), "longer than the receive buffer"));
        ck_assert_int_eq(st.source, 0);
        ck_assert_int_eq(st.tag, 5);
        ck_assert_int_eq(st.n_bytes, (MPI_Count)cap);
        net_check(in_buf[0], cap, 9);
        ck_assert_int_eq(in_buf[0][cap], 0x55);
        ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
        ck_assert_uint_eq(net.ch[1]->counters->n_truncated, 1);
        net_stop();
    }
}
END_TEST

START_TEST(order_holds_between_protocols)
{
    enum { N = 200 };
    static char to_send[N][20000], got[20000];
    struct fm_request *s[N];

    for (unsigned seed = 0; seed < 5; seed++) {
        net_start(2, &(struct net_options){.seed = seed, .no_rma = seed & 1});
        fm_mock_script(net.mock)->refuse_pct = 30;
        fm_mock_script(net.mock)->delay_max = 3;
        for (int k = 0; k < N; k++) {
            size_t len = fm_mock_random(net.mock, 2) ? 20000 : 100;

            net_fill(to_send[k], len, (unsigned)k);
            s[k] = net_isend(0, to_send[k], len, 1, 7,
                             fm_mock_random(net.mock, 4) ? FM_SEND_STANDARD : FM_SEND_SYNC);
        }
        for (int k = 0; k < N; k++) {
            struct fm_status st;
            struct fm_request *r = net_irecv(1, got, sizeof(got), MPI_ANY_SOURCE, 7);

            ck_assert_int_eq(net_end(r, &st), MPI_SUCCESS);
            net_check(got, (size_t)st.n_bytes, (unsigned)k);
        }
        for (int k = 0; k < N; k++) {
            ck_assert_int_eq(net_end(s[k], NULL), MPI_SUCCESS);
        }
        net_stop();
    }
}
END_TEST

START_TEST(nobody_is_there)
{
    char c = 0;
    struct fm_status st;
    struct fm_msg m;

    net_start(2, NULL);
    m = net_msg(0, &c, 1, fm_dtype_byte(), MPI_PROC_NULL, 0);
    ck_assert_int_eq(fm_send(&m, FM_SEND_STANDARD), 0);
    ck_assert_int_eq(fm_recv(&m, &st), 0);
    ck_assert_int_eq(st.source, MPI_PROC_NULL);
    ck_assert_int_eq(st.tag, MPI_ANY_TAG);
    ck_assert_int_eq(st.n_bytes, 0);
    ck_assert_int_eq(net_end(net_isend(0, &c, 1, MPI_PROC_NULL, 0, FM_SEND_SYNC), NULL), 0);
    ck_assert_int_eq(net_end(net_irecv(0, &c, 1, MPI_PROC_NULL, 0), &st), 0);
    ck_assert_int_eq(st.source, MPI_PROC_NULL);
    net_stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p");
    TCase *tc = tcase_create("protocols");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, all_lengths_with_rma);
    tcase_add_test(tc, all_lengths_without_rma);
    tcase_add_test(tc, short_ones_are_not_fetched);
    tcase_add_test(tc, all_lengths_to_self);
    tcase_add_test(tc, the_transport_refuses_and_delays);
    tcase_add_test(tc, a_short_send_needs_no_request);
    tcase_add_test(tc, too_long_a_message_is_truncated);
    tcase_add_test(tc, order_holds_between_protocols);
    tcase_add_test(tc, nobody_is_there);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
