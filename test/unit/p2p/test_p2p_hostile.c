/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that die or lie: every operation ends with an error that names the peer; none crashes. */
#include "p2p_net.h"

static char out_buf[8][100000], in_buf[8][100000];

static void expect_loss(struct fm_request *r)
{
    ck_assert_int_eq(net_end(r, NULL), MPI_ERR_PROC_ABORTED);
    ck_assert_ptr_nonnull(strstr(fm_why(), "process 1 is gone: scripted"));
}

/* At every moment of a rendezvous: after so many polls of the survivor. */
START_TEST(a_peer_dies_during_a_rendezvous)
{
    for (int n_polls = 0; n_polls < 40; n_polls++) {
        struct fm_request *s[4], *r[4];

        net_start(3, &(struct net_options){.seed = (uint64_t)n_polls, .no_rma = n_polls & 1});
        fm_mock_script(net.mock)->delay_max = 3;
        fm_mock_script(net.mock)->per_poll = 1;
        net.ch[0]->counters->rma_chunk = 4096;
        for (int k = 0; k < 4; k++) {
            s[k] = net_isend(0, out_buf[k], sizeof(out_buf[k]), 1, k, FM_SEND_STANDARD);
            r[k] = net_irecv(0, in_buf[k], sizeof(in_buf[k]), 1, k);
            fm_request_unref(net_isend(1, out_buf[k], sizeof(out_buf[k]), 0, k, FM_SEND_STANDARD));
            fm_request_unref(net_irecv(1, in_buf[4 + k], sizeof(in_buf[k]), 0, k));
        }
        for (int k = 0; k < n_polls; k++) {
            net_progress();
        }
        fm_mock_fail(net.mock, 0, 1, "scripted");
        fm_mock_fail(net.mock, 1, 0, "scripted");
        for (int k = 0; k < 4; k++) {
            int e = net_end(s[k], NULL);
            int f = net_end(r[k], NULL);

            ck_assert(e == MPI_SUCCESS || e == MPI_ERR_PROC_ABORTED);
            ck_assert(f == MPI_SUCCESS || f == MPI_ERR_PROC_ABORTED);
        }
        net_settle();
        ck_assert_uint_eq(fm_mock_exposed(net.mock, 0), 0);
        ck_assert_uint_eq(net.ch[0]->ids.n_live, 0);
        ck_assert_uint_eq(net.ch[0]->n_sending, 0);
        ck_assert_uint_eq(net.comm[0]->counters->prq_len, 0);
        net_stop_broken();
    }
}
END_TEST

START_TEST(what_waits_for_a_dead_peer_ends)
{
    struct fm_request *sync, *queued, *recv, *any;
    struct fm_msg m;
    char c = 1;

    net_start(3, NULL);
    sync = net_isend(0, &c, 1, 1, 0, FM_SEND_SYNC);
    fm_mock_script(net.mock)->refuse_pct = 100;
    queued = net_isend(0, &c, 1, 1, 0, FM_SEND_STANDARD);
    recv = net_irecv(0, &c, 1, 1, 5);
    any = net_irecv(0, &c, 1, MPI_ANY_SOURCE, 6);
    fm_mock_script(net.mock)->refuse_pct = 0;
    fm_mock_fail(net.mock, 0, 1, "scripted");
    fm_progress(net.ch[0]);
    expect_loss(sync);
    expect_loss(queued);
    expect_loss(recv);
    ck_assert(!any->is_done); /* rank 2 lives */
    expect_loss(net_irecv(0, &c, 1, 1, 5));
    m = net_msg(0, &c, 1, fm_dtype_byte(), 1, 5);
    ck_assert_int_eq(fm_send(&m, FM_SEND_STANDARD), -FM_E_PEER);
    fm_mock_fail(net.mock, 0, 2, "scripted too");
    fm_progress(net.ch[0]);
    ck_assert_int_eq(net_end(any, NULL), MPI_ERR_PROC_ABORTED);
    net_stop_broken();
}
END_TEST

START_TEST(the_process_manager_knows_of_a_death)
{
    struct fm_status st;
    struct fm_msg m;
    char c;

    net_start(2, NULL);
    net.gone[1] = true;
    net.ch[0]->is_gone = net.ch[1]->is_gone;
    m = net_msg(0, &c, 1, fm_dtype_byte(), 1, 0);
    ck_assert_int_eq(fm_recv(&m, &st), -FM_E_PEER);
    ck_assert_ptr_nonnull(strstr(fm_why(), "process 1 is gone: the process has ended"));
    net_stop_broken();
}
END_TEST

static void inject(const void *msg, size_t len)
{
    fm_mock_inject(net.mock, 1, 0, msg, len);
    net_settle();
}

/* Each of these must cost the liar his peer, and nobody anything else. */
START_TEST(lies_are_found_out)
{
    struct fm_wire_head head = {.version = FM_WIRE_VERSION, .proc = 1};
    char c;

    for (int lie = 0; lie < 11; lie++) {
        struct {
            struct fm_wire_rts rts;
            struct fm_pack_run runs[FM_PACK_RUNS_MAX + 1];
        } long_one;
        struct fm_wire_rts rts = {.base = {.head = head, .context = NET_CONTEXT, .source = 1}};
        struct fm_wire_reply reply = {.head = head};
        struct fm_request *r;

        net_start(3, NULL);
        r = net_irecv(0, &c, 1, MPI_ANY_SOURCE, 0);
        rts.base.head.kind = FM_WIRE_RTS;
        rts.sreq = 1;
        reply.head.kind = FM_WIRE_FIN;
        switch (lie) {
        case 0:
            rts.base.source = 2; /* in the name of another */
            inject(&rts, sizeof(rts));
            break;
        case 1:
            rts.base.source = 77;
            inject(&rts, sizeof(rts));
            break;
        case 2:
            rts.base.tag = -5;
            inject(&rts, sizeof(rts));
            break;
        case 3:
            inject(&rts, sizeof(rts) - 1);
            break;
        case 4:
            rts.len = UINT64_MAX;
            inject(&rts, sizeof(rts));
            break;
        case 5:
            reply.sreq = 0x123456789;
            inject(&reply, sizeof(reply));
            break;
        case 6:
            reply.head.kind = FM_WIRE_DATA;
            inject(&reply, sizeof(reply));
            break;
        case 7:
            reply.head.kind = 200;
            inject(&reply, sizeof(reply));
            break;
        case 8:
        case 9: /* half a run; more runs than there may be */
            memset(&long_one, 0, sizeof(long_one));
            long_one.rts = rts;
            inject(&long_one, lie == 8 ? sizeof(rts) + 24 : sizeof(long_one));
            break;
        default:
            inject(&reply, 13);
            break;
        }
        ck_assert(fm_peer_of(net.ch[0], 1)->is_gone);
        ck_assert(!fm_peer_of(net.ch[0], 2)->is_gone);
        ck_assert_uint_eq(net.ch[0]->counters->n_bad_messages, 1);
        ck_assert(!r->is_done);
        net_end(net_isend(2, &c, 1, 0, 0, FM_SEND_STANDARD), NULL);
        ck_assert_int_eq(net_end(r, NULL), MPI_SUCCESS);
        net_stop_broken();
    }
}
END_TEST

/* Layouts that make no sense are not walked: the data is asked for instead. */
START_TEST(senseless_layouts_are_not_used)
{
    static const struct fm_pack_run runs[] = {
        {.len = 100, .n0 = -1, .n1 = -1},
        {.len = 0, .n0 = 1, .n1 = 1},
        {.len = 99, .n0 = 1, .n1 = 1},
        {.len = 50, .n0 = 2, .s0 = INT64_MIN, .n1 = 1, .off = -1},
        {.len = 50, .n0 = 2, .s0 = INT64_MAX, .n1 = 1, .off = 1},
        {.len = 25, .n0 = 2, .s0 = INT64_MAX, .n1 = 2, .s1 = INT64_MAX},
        {.len = INT64_MAX, .n0 = 2, .n1 = 1},
        {.len = 100, .n0 = INT64_MAX, .n1 = INT64_MAX},
    };

    for (int k = 0; k < (int)FM_ARRAY_LEN(runs) * 2; k++) {
        struct {
            struct fm_wire_rts rts;
            struct fm_pack_run run;
        } m = {.run = runs[k / 2]};
        struct fm_request *r = NULL;

        net_start(2, NULL);
        m.rts = (struct fm_wire_rts){
            .base = {.context = NET_CONTEXT, .source = 1}, .len = 100, .sreq = 7};
        m.rts.base.head = (struct fm_wire_head){
            .kind = FM_WIRE_RTS, .version = FM_WIRE_VERSION, .flags = FM_WIRE_HAS_KEY, .proc = 1};
        if (k % 2) { /* expected */
            r = net_irecv(0, in_buf[0], 100, 1, 0);
        }
        inject(&m, sizeof(m));
        r = r ? r : net_irecv(0, in_buf[0], 100, 1, 0);
        ck_assert_uint_eq(net.ch[0]->counters->n_cts_sent, 1);
        ck_assert_uint_eq(net.ch[0]->counters->n_rma, 0);
        fm_request_unref(r);
        net_stop_forgetful();
    }
}
END_TEST

/* Sends and receives that nobody looks after; a peer may be gone already. */
static void traffic(int node, int peer, int tag, bool is_sync)
{
    size_t len = fm_mock_random(net.mock, 30000);
    struct fm_msg out = net_msg(node, out_buf[node], (MPI_Count)len, fm_dtype_byte(), peer, tag);
    struct fm_msg in =
        net_msg(node, in_buf[node], 30000, fm_dtype_byte(), is_sync ? MPI_ANY_SOURCE : peer, tag);
    struct fm_request *r;

    if (fm_isend(&out, is_sync ? FM_SEND_SYNC : FM_SEND_STANDARD, &r) == 0) {
        fm_request_unref(r);
    }
    if (fm_irecv(&in, &r) == 0) {
        fm_request_unref(r);
    }
}

/* Random bytes, more or less like messages, in the midst of honest traffic. */
START_TEST(random_bytes_do_no_harm)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        net_start(3, &(struct net_options){
                         .seed = seed, .no_rma = seed & 1, .unexpected_limit = 64 << 10});
        fm_mock_script(net.mock)->delay_max = 2;
        for (int k = 0; k < 60; k++) {
            unsigned char raw[128];
            size_t len = 1 + fm_mock_random(net.mock, sizeof(raw));
            struct fm_wire_base *b = (struct fm_wire_base *)raw;
            uint32_t from = 1 + fm_mock_random(net.mock, 2);

            traffic(0, (int)from, k % 3, k & 1);
            traffic((int)from, 0, k % 3, k & 2);
            for (size_t i = 0; i < sizeof(raw); i++) {
                raw[i] = (unsigned char)fm_mock_random(net.mock, 256);
            }
            if (fm_mock_random(net.mock, 4)) {
                b->head.kind = (uint8_t)fm_mock_random(net.mock, FM_WIRE_KINDS + 1);
                b->head.version = FM_WIRE_VERSION;
                b->head.proc = (int)from;
                b->context = NET_CONTEXT + fm_mock_random(net.mock, 2);
                b->source = (int)fm_mock_random(net.mock, 4);
                b->tag = (int)fm_mock_random(net.mock, 3);
            }
            if (k % 10 == 9) {
                fm_mock_inject(net.mock, (int)from, 0, raw, len);
            }
            net_progress();
        }
        net_settle();
        net_stop_forgetful();
    }
}
END_TEST

START_TEST(the_transport_fails_while_sending)
{
    for (unsigned k = 0; k < 3; k++) {
        struct fm_request *r;

        net_start(2, &(struct net_options){.no_rma = true});
        net_end(net_isend(0, out_buf[0], 1, 1, 0, FM_SEND_STANDARD), NULL);
        fm_mock_script(net.mock)->fail_next = 1;
        r = net_isend(0, out_buf[0], k == 0 ? 1 : 50000, 1, 0,
                      k == 1 ? FM_SEND_SYNC : FM_SEND_STANDARD);
        ck_assert_int_eq(net_end(r, NULL), MPI_ERR_PROC_ABORTED);
        ck_assert(fm_peer_of(net.ch[0], 1)->is_gone);
        net_stop_broken();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_hostile");
    TCase *tc = tcase_create("hostile");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_peer_dies_during_a_rendezvous);
    tcase_add_test(tc, what_waits_for_a_dead_peer_ends);
    tcase_add_test(tc, the_process_manager_knows_of_a_death);
    tcase_add_test(tc, lies_are_found_out);
    tcase_add_test(tc, senseless_layouts_are_not_used);
    tcase_add_test(tc, random_bytes_do_no_harm);
    tcase_add_test(tc, the_transport_fails_while_sending);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
