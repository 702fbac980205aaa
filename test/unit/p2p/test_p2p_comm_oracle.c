/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is counted for a communicator and its peers, on the ways that random traffic seldom takes:
 * messages that are early, late, lost, or cancelled.
 */
#include "p2p_net.h"
#include "support/oracle_row.h"

enum { LEN = 100, BIN = 7 /* of 64 bytes and more */, N = 3 };

static char data[LEN], got[LEN];

static void comm_same(int node, const char *name, uint64_t should)
{
    ORACLE_ROW(&fm_comm_vars, net.comm[node]->counters, name, 0, ==, should);
}

static void same(int node, const char *name, int item, uint64_t should)
{
    ORACLE_ROW(&fm_p2p_vars, net.ch[node]->counters, name, item, ==, should);
}

/* One message, so that the nodes know each other. */
static void setup(void)
{
    struct fm_request *r;

    net_start(2, NULL);
    r = net_irecv(1, got, 1, 0, 9);
    net_end(net_isend(0, data, 1, 1, 9, FM_SEND_STANDARD), NULL);
    net_end(r, NULL);
}

/* From node 0, since it began. */
static void received(uint64_t n, uint64_t bytes)
{
    struct fm_comm_peer_counters *w = &net.comm[1]->peer_counters[0];

    ORACLE_ROW(&fm_comm_vars, w, "comm_peer_received_messages", 0, ==, n);
    ORACLE_ROW(&fm_comm_vars, w, "comm_peer_received_bytes", 0, ==, bytes);
}

START_TEST(blocking_receives_are_counted)
{
    struct fm_request *s;
    struct fm_msg m;

    m = net_msg(1, got, LEN, fm_dtype_byte(), 0, 1);
    s = net_isend(0, data, LEN, 1, 1, FM_SEND_STANDARD);
    net_settle();
    comm_same(1, "MPI_T_UMQ_LENGTH", 1);
    ck_assert_int_eq(fm_recv(&m, NULL), 0); /* it is here */
    comm_same(1, "MPI_T_UMQ_LENGTH", 0);
    same(1, "p2p_sizes_recvd", BIN, 1);
    received(2, 1 + LEN);
    net_end(s, NULL);
    s = net_isend(0, data, LEN, 1, 1, FM_SEND_STANDARD);
    ck_assert_int_eq(fm_recv(&m, NULL), 0); /* it is on its way */
    comm_same(1, "comm_posted_length", 0);
    same(1, "p2p_sizes_recvd", BIN, 2);
    same(0, "p2p_sizes_sent", BIN, 2);
    received(3, 1 + 2 * LEN);
    net_end(s, NULL);
    net_stop();
}
END_TEST

START_TEST(cancelled_receives_leave_the_queue)
{
    struct fm_request *r[N];
    struct fm_status status;

    for (int k = 0; k < N; k++) {
        r[k] = net_irecv(1, got, 1, 0, k);
        comm_same(1, "comm_posted_length", (uint64_t)k + 1);
    }
    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(r[k]->ops->cancel(r[k]), 0);
        comm_same(1, "comm_posted_length", (uint64_t)(N - 1 - k));
        same(1, "request_cancels", 0, (uint64_t)k + 1);
        net_end(r[k], &status);
        ck_assert(status.is_cancelled);
    }
    net_stop();
}
END_TEST

/* It came before its communicator. */
START_TEST(early_messages_are_counted_in)
{
    struct fm_group *group;
    struct fm_comm *late[2], *first[2];
    struct fm_request *s[N];

    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(fm_group_create(2, NULL, k, &group), 0);
        if (k == 1) {
            for (int i = 0; i < N; i++) {
                struct fm_msg m = net_msg(0, data, 10, fm_dtype_byte(), 1, i);

                m.comm = late[0];
                ck_assert_int_eq(fm_isend(&m, FM_SEND_STANDARD, &s[i]), 0);
            }
            net_settle();
        }
        ck_assert_int_eq(fm_comm_create(net.ch[k], group, NULL, k, 2 * NET_CONTEXT, &late[k]), 0);
        fm_group_unref(group);
    }
    ORACLE_ROW(&fm_comm_vars, late[1]->counters, "MPI_T_UMQ_LENGTH", 0, ==, N);
    comm_same(1, "MPI_T_UMQ_LENGTH", 0);
    memcpy(first, net.comm, sizeof(first));
    net.comm[1] = late[1];
    for (int i = 0; i < N; i++) {
        net_end(net_irecv(1, got, 10, 0, i), NULL);
        ORACLE_ROW(&fm_comm_vars, late[1]->counters, "MPI_T_UMQ_LENGTH", 0, ==, N - 1 - i);
        net_end(s[i], NULL);
    }
    net.comm[1] = first[1];
    fm_comm_unref(late[0]);
    fm_comm_unref(late[1]);
    net_stop();
}
END_TEST

/* The peer is found to have failed when a message is to leave at once. */
START_TEST(a_lost_message_was_sent)
{
    struct fm_request *s;

    fm_mock_script(net.mock)->fail_next = 1;
    s = net_isend(0, data, LEN, 1, 1, FM_SEND_STANDARD);
    same(0, "p2p_sizes_sent", BIN, 1);
    ORACLE_ROW(&fm_comm_vars, &net.comm[0]->peer_counters[1], "comm_peer_sent_messages", 0, ==, 2);
    ck_assert_int_ne(net_end(s, NULL), MPI_SUCCESS);
    same(0, "p2p_peers_failed", 0, 1);
    net_stop_broken();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_comm_oracle");
    TCase *tc = tcase_create("comm");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, blocking_receives_are_counted);
    tcase_add_test(tc, cancelled_receives_leave_the_queue);
    tcase_add_test(tc, early_messages_are_counted_in);
    tcase_add_test(tc, a_lost_message_was_sent);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
