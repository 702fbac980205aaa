/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of other rooms: handlers by kind, order and queues on the way out. */
#include "p2p_net.h"

#include "core/p2p/packet.h"

enum { KIND = FM_WIRE_RMA, N_PACKETS = 400, MAX_BODY = 3000 };

struct numbered {
    struct fm_wire_head head;
    uint32_t number;
};

/* What node 1 has got. */
static struct {
    uint32_t n;
    int verdict; /* what the handler returns */
} got;

static size_t body_len(uint32_t number)
{
    return number % 3 ? 0 : number * 37 % MAX_BODY;
}

static int take(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len)
{
    const struct numbered *p = (const struct numbered *)head;

    ck_assert_ptr_eq(ctx, &got);
    ck_assert_int_eq(peer->proc, 0);
    ck_assert_uint_eq(p->number, got.n);
    ck_assert_uint_eq(len, sizeof(*p) + body_len(p->number));
    net_check(p + 1, len - sizeof(*p), p->number);
    got.n++;
    return got.verdict ? fm_fail(got.verdict, "it sent a packet that is refused") : 0;
}

static void setup(void)
{
    static const struct fm_packet_handler handler = {
        .handle = take, .ctx = &got, .min_len = sizeof(struct numbered)};

    net_start(2, &(struct net_options){.seed = 7});
    memset(&got, 0, sizeof(got));
    fm_packet_install(net.ch[1], KIND, &handler);
}

static struct fm_peer *peer_of_0(void)
{
    struct fm_peer *peer;

    ck_assert_int_eq(fm_peer_resolve(net.ch[0], 1, &peer), 0);
    return peer;
}

/* ---- a room that sends ---- */

struct op {
    struct fm_out out;
    struct numbered h;
    char body[MAX_BODY];
};

static int n_emitted, n_aborted;

static int op_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct op *op = fm_container_of(out, struct op, out);
    int rc = fm_packet_emit(ch, peer, &op->h.head, sizeof(op->h), op->body, body_len(op->h.number));

    if (rc == 0) {
        n_emitted++;
        fm_peer_unwait(ch, peer, out);
        free(op);
    }
    return rc;
}

static void op_abort(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    n_aborted++;
    fm_peer_unwait(ch, peer, out);
    free(fm_container_of(out, struct op, out));
}

static void send_or_queue(struct fm_peer *peer, uint32_t number)
{
    struct op *op = calloc(1, sizeof(*op));
    int rc;

    op->h = (struct numbered){.head.kind = KIND, .number = number};
    net_fill(op->body, body_len(number), number);
    rc = fm_packet_send(net.ch[0], peer, &op->h.head, sizeof(op->h), op->body, body_len(number));
    if (rc == FM_AGAIN) {
        op->out = (struct fm_out){.emit = op_emit, .abort = op_abort};
        fm_packet_queue(net.ch[0], peer, &op->out);
        return;
    }
    ck_assert_int_eq(rc, 0);
    free(op);
}

/* Half of those without a body are posted. */
static void send_number(struct fm_peer *peer, uint32_t number)
{
    struct numbered h = {.head.kind = KIND, .number = number};

    if (number % 3 && number % 2) {
        ck_assert_int_eq(fm_packet_post(net.ch[0], peer, &h.head, sizeof(h)), 0);
    } else {
        send_or_queue(peer, number);
    }
}

START_TEST(packets_arrive_in_order)
{
    struct fm_peer *peer = peer_of_0();

    n_emitted = 0;
    fm_mock_script(net.mock)->refuse_pct = 60;
    fm_mock_script(net.mock)->delay_max = 3;
    for (uint32_t k = 0; k < N_PACKETS; k++) {
        send_number(peer, k);
        if (k % 5 == 0) {
            net_progress();
        }
    }
    net_settle();
    ck_assert_uint_eq(got.n, N_PACKETS);
    ck_assert_int_gt(n_emitted, 0);
    fm_packet_uninstall(net.ch[1], KIND);
    net_stop();
}
END_TEST

/* A receiver that takes no messages holds back RTS, but no packets. */
START_TEST(packets_overtake_messages_that_are_held_back)
{
    struct fm_peer *peer = peer_of_0();
    struct fm_request *s[3];
    static char data[50000];
    char in[sizeof(data)];

    net.ch[0]->counters->rts_window = 1;
    for (int k = 0; k < 3; k++) {
        s[k] = net_isend(0, data, sizeof(data), 1, k, FM_SEND_STANDARD);
    }
    net_settle();
    ck_assert(!peer->is_open);
    send_number(peer, 0);
    send_number(peer, 1);
    net_settle();
    ck_assert_uint_eq(got.n, 2);
    for (int k = 0; k < 3; k++) {
        net_end(net_irecv(1, in, sizeof(in), 0, k), NULL);
        net_end(s[k], NULL);
    }
    net_stop();
}
END_TEST

START_TEST(a_failed_peer_aborts_what_waits)
{
    struct fm_peer *peer = peer_of_0();
    struct numbered h = {.head.kind = KIND};

    n_aborted = 0;
    fm_mock_script(net.mock)->refuse_pct = 100;
    send_or_queue(peer, 0);
    ck_assert_int_eq(fm_packet_post(net.ch[0], peer, &h.head, sizeof(h)), 0);
    send_or_queue(peer, 2);
    fm_mock_script(net.mock)->refuse_pct = 0;
    fm_mock_fail(net.mock, 0, 1, "scripted");
    net_settle();
    ck_assert_int_eq(n_aborted, 2);
    ck_assert_uint_eq(got.n, 0);
    ck_assert_int_eq(fm_packet_send(net.ch[0], peer, &h.head, sizeof(h), NULL, 0), -FM_E_PEER);
    ck_assert_int_eq(fm_packet_post(net.ch[0], peer, &h.head, sizeof(h)), -FM_E_PEER);
    ck_assert_uint_eq(*net.ch[0]->blocks.n_live, 0);
    net_stop_broken();
}
END_TEST

/* ---- what the receiver refuses ---- */

static void expect_failed_peer(const char *why)
{
    struct fm_peer *peer = fm_peer_of(net.ch[1], 0);

    net_settle();
    ck_assert(peer->is_gone);
    ck_assert_msg(strstr(fm_peer_why(peer), why) != NULL, "%s", fm_peer_why(peer));
    ck_assert_uint_eq(net.ch[1]->counters->n_bad_messages, 1);
    net_stop_broken();
}

START_TEST(an_unknown_kind_fails_the_sender)
{
    static const int kinds[] = {0, KIND + 1, FM_WIRE_KIND_MAX, FM_WIRE_KIND_MAX + KIND, 255};
    struct fm_wire_head h = {.kind = (uint8_t)kinds[_i]};

    ck_assert_int_eq(fm_packet_post(net.ch[0], peer_of_0(), &h, sizeof(h)), 0);
    expect_failed_peer("unknown kind");
    ck_assert_uint_eq(got.n, 0);
}
END_TEST

START_TEST(a_wrong_length_fails_the_sender)
{
    struct numbered h[2] = {{.head.kind = KIND}};
    const struct fm_packet_handler bounded = {
        .handle = take, .ctx = &got, .min_len = sizeof(h[0]), .max_len = sizeof(h[0])};
    size_t len = _i ? sizeof(h[0]) + 1 : sizeof(h[0]) - 1;

    fm_packet_uninstall(net.ch[1], KIND);
    fm_packet_install(net.ch[1], KIND, &bounded);
    ck_assert_int_eq(fm_packet_post(net.ch[0], peer_of_0(), &h[0].head, len), 0);
    expect_failed_peer("bytes");
    ck_assert_uint_eq(got.n, 0);
}
END_TEST

START_TEST(a_handler_that_refuses_fails_the_sender)
{
    struct numbered h = {.head.kind = KIND};

    got.verdict = -FM_E_PROTO;
    ck_assert_int_eq(fm_packet_post(net.ch[0], peer_of_0(), &h.head, sizeof(h)), 0);
    expect_failed_peer("a packet that is refused");
    ck_assert_uint_eq(got.n, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packet");
    TCase *tc = tcase_create("packets");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, packets_arrive_in_order);
    tcase_add_test(tc, packets_overtake_messages_that_are_held_back);
    tcase_add_test(tc, a_failed_peer_aborts_what_waits);
    tcase_add_loop_test(tc, an_unknown_kind_fails_the_sender, 0, 5);
    tcase_add_loop_test(tc, a_wrong_length_fails_the_sender, 0, 2);
    tcase_add_test(tc, a_handler_that_refuses_fails_the_sender);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
