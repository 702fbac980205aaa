/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: a range that never moves, and processes of another job that have other numbers there. */
#include "p2p_net.h"

/* Two jobs of one process each; the process of the other one is number N_BEFORE + 1 + node. */
enum { N_BEFORE = 5, CONTEXT = 64 };

static struct fm_comm *joined[2];
static int other[2]; /* process index of the other node */

static int resolve_other(void *ctx, int proc, struct fm_ep **out_ep)
{
    int self = (int)(intptr_t)ctx, to = 1 - self;
    char addr[FM_ADDRESS_MAX];
    size_t len;

    ck_assert_int_eq(proc, other[self]);
    ck_assert_int_eq(net.tp[to]->ops->address(net.tp[to], addr, &len), 0);
    return net.tp[self]->ops->connect(net.tp[self], to, addr, len, out_ep);
}

/* The net's nodes are processes 0 and 1 of one job; besides, each is a process of another job for
   the other: the jobs that are joined. */
static void join(void)
{
    for (int node = 0; node < 2; node++) {
        int remote_id = 2 + N_BEFORE + 1 - node;

        for (int k = 0; k < N_BEFORE + node; k++) {
            ck_assert_int_eq(fm_peer_add(net.ch[node], 1000 + k, &other[node]), 0);
        }
        ck_assert_int_eq(fm_peer_add(net.ch[node], remote_id, &other[node]), 0);
        ck_assert_int_eq(other[node], 2 + N_BEFORE + node);
        net.ch[node]->resolve = resolve_other;
    }
}

static void make_comms(void)
{
    for (int node = 0; node < 2; node++) {
        int procs[2];
        struct fm_group *group;

        procs[node] = node;
        procs[1 - node] = other[node];
        ck_assert_int_eq(fm_group_create(2, procs, node, &group), 0);
        ck_assert_int_eq(fm_comm_create(net.ch[node], group, NULL, node, CONTEXT, &joined[node]),
                         0);
        fm_group_unref(group);
    }
}

START_TEST(joined_processes_talk)
{
    static const size_t lengths[] = {8, 600, 9000, 100000};
    static char out[100000], in[100000];

    net_start(2, NULL);
    join();
    make_comms();
    for (size_t k = 0; k < FM_ARRAY_LEN(lengths); k++) {
        int from = (int)k % 2, to = 1 - from;
        struct fm_msg m = net_msg(from, out, (MPI_Count)lengths[k], fm_dtype_byte(), to, 1);
        struct fm_request *s, *r;
        struct fm_status st;

        net_fill(out, lengths[k], (unsigned)k);
        m.comm = joined[from];
        ck_assert_int_eq(fm_isend(&m, FM_SEND_SYNC, &s), 0);
        m = net_msg(to, in, (MPI_Count)lengths[k], fm_dtype_byte(), from, 1);
        m.comm = joined[to];
        ck_assert_int_eq(fm_irecv(&m, &r), 0);
        ck_assert_int_eq(net_end(r, &st), MPI_SUCCESS);
        ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
        ck_assert_int_eq(st.source, from);
        net_check(in, lengths[k], (unsigned)k);
    }
    for (int node = 0; node < 2; node++) {
        ck_assert(!fm_peer_of(net.ch[node], other[node])->is_gone);
        ck_assert_uint_eq(fm_peer_of(net.ch[node], other[node])->window, FM_WINDOW_MIN);
        fm_comm_unref(joined[node]);
    }
    net_stop();
}
END_TEST

static int resolve_none(void *ctx, int proc, struct fm_ep **out_ep)
{
    return fm_fail(-FM_E_UNSUPPORTED, "shared memory of process %d cannot be opened", proc);
}

/* A collective sends and receives: when the send fails, the receive must not wait for ever. */
START_TEST(a_peer_that_cannot_be_reached_has_failed)
{
    static char out[8], in[8];
    struct fm_request *r, *s;
    struct fm_status st;
    struct fm_msg m;

    net_start(2, NULL);
    m = net_msg(0, in, 8, fm_dtype_byte(), 1, 1);
    ck_assert_int_eq(fm_irecv(&m, &r), 0);
    net.ch[0]->resolve = resolve_none;
    m = net_msg(0, out, 8, fm_dtype_byte(), 1, 1);
    ck_assert_int_eq(fm_isend(&m, FM_SEND_STANDARD, &s), -FM_E_UNSUPPORTED);
    ck_assert_int_ne(net_end(r, &st), MPI_SUCCESS);
    ck_assert_int_eq(fm_isend(&m, FM_SEND_STANDARD, &s), -FM_E_PEER);
    ck_assert_ptr_nonnull(strstr(fm_why(), "cannot be opened"));
    net_stop();
}
END_TEST

START_TEST(peers_never_move)
{
    struct fm_peer *first, *last;
    int proc;

    net_start(2, NULL);
    first = fm_peer_of(net.ch[0], 0);
    for (int k = 0; k < 100000; k++) {
        ck_assert_int_eq(fm_peer_add(net.ch[0], k, &proc), 0);
        ck_assert_int_eq(proc, 2 + k);
    }
    last = fm_peer_of(net.ch[0], proc);
    ck_assert_ptr_eq(first, fm_peer_of(net.ch[0], 0));
    ck_assert_int_eq(last->proc, proc);
    ck_assert_int_eq(last->remote_id, 99999);
    net_stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("peer");
    TCase *tc = tcase_create("peers");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, joined_processes_talk);
    tcase_add_test(tc, a_peer_that_cannot_be_reached_has_failed);
    tcase_add_test(tc, peers_never_move);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
