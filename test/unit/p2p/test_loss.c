/* SPDX-License-Identifier: BSD-3-Clause */
/* The failure of a peer: marked where it is noticed, followed up by progress. */
#include "p2p_net.h"

#include "core/p2p/loss.h"

static char data[3][50000];

/* Noticed in a send: nothing else of the peer ends before progress runs. */
START_TEST(a_failure_only_marks)
{
    struct fm_request *sync, *recv, *s;
    char c;

    net_start(2, NULL);
    sync = net_isend(0, data[0], 1, 1, 0, FM_SEND_SYNC);
    recv = net_irecv(0, &c, 1, 1, 5);
    fm_mock_script(net.mock)->fail_next = 1;
    s = net_isend(0, data[1], 1, 1, 1, FM_SEND_SYNC);
    ck_assert(fm_peer_of(net.ch[0], 1)->is_gone);
    ck_assert(!sync->is_done && !recv->is_done && !s->is_done);
    ck_assert_int_ge(fm_progress(net.ch[0]), 1);
    ck_assert_int_eq(net_end(sync, NULL), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(net_end(recv, NULL), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(net_end(s, NULL), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(net.ch[0]->n_hooks, 0);
    net_stop_broken();
}
END_TEST

/* The process manager is asked before each sleep: the second answer ends the wait without one. */
START_TEST(a_wait_follows_up_before_it_sleeps)
{
    struct fm_msg m;
    char c;

    net_start(2, NULL);
    net.gone[1] = true;
    net.ch[0]->progress_counters->gone_ms = 1;
    net.ch[0]->progress_counters->sleep_us = 100000;
    m = net_msg(0, &c, 1, fm_dtype_byte(), 1, 0);
    ck_assert_int_eq(fm_recv(&m, NULL), -FM_E_PEER);
    ck_assert_uint_eq(net.ch[0]->progress_counters->n_sleeps, 1);
    net_stop_broken();
}
END_TEST

/* ---- completion callbacks that use the engine ---- */

static struct fm_request *started;

static void start_another(struct fm_request *r)
{
    started = net_irecv(0, data[2], sizeof(data[2]), 2, 9);
    fm_request_cancel(r->owner);
}

/* The end of one request starts a new one, and cancels a second that would have ended next. */
START_TEST(completions_start_and_cancel)
{
    struct fm_request *first, *second, *s;
    struct fm_status st;

    net_start(3, NULL);
    first = net_irecv(0, data[0], 8, 1, 1);
    second = net_irecv(0, data[1], 8, 2, 2);
    first->owner = second;
    first->on_done = start_another;
    fm_mock_fail(net.mock, 0, 1, "scripted");
    net_settle();
    ck_assert(first->is_done && second->is_done && !started->is_done);
    ck_assert_int_eq(net_end(first, NULL), MPI_ERR_PROC_ABORTED);
    ck_assert_int_eq(net_end(second, &st), MPI_SUCCESS);
    ck_assert(st.is_cancelled);
    s = net_isend(2, data[1], 8, 0, 9, FM_SEND_STANDARD);
    ck_assert_int_eq(net_end(started, NULL), MPI_SUCCESS);
    ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
    net_stop_broken();
}
END_TEST

/* ---- rooms that watch ---- */

static int lost[8], n_lost;

static void note(struct fm_loss_watch *watch, struct fm_peer *peer)
{
    lost[n_lost++] = peer->proc;
}

START_TEST(rooms_learn_of_each_loss_once)
{
    struct fm_loss_watch watch = {.lost = note};

    net_start(4, NULL);
    fm_loss_watch_add(net.ch[0], &watch);
    fm_peer_fail(net.ch[0], 3, "first");
    fm_peer_fail(net.ch[0], 1, "second");
    fm_peer_fail(net.ch[0], 3, "again");
    ck_assert_int_eq(n_lost, 0);
    fm_progress(net.ch[0]);
    ck_assert_int_eq(n_lost, 2);
    ck_assert_int_eq(lost[0], 3);
    ck_assert_int_eq(lost[1], 1);
    ck_assert_str_eq(fm_peer_why(fm_peer_of(net.ch[0], 3)), "first");
    fm_loss_watch_remove(net.ch[0], &watch);
    fm_peer_fail(net.ch[0], 2, "third");
    fm_progress(net.ch[0]);
    ck_assert_int_eq(n_lost, 2);
    net_stop_broken();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loss");
    TCase *tc = tcase_create("losses");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_failure_only_marks);
    tcase_add_test(tc, a_wait_follows_up_before_it_sleeps);
    tcase_add_test(tc, completions_start_and_cancel);
    tcase_add_test(tc, rooms_learn_of_each_loss_once);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
