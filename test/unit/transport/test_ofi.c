/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the libfabric transport, over a real provider whose name is the argument. */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ofi_side.h"
#include "support/mpit_double.h"
#include "support/suite.h"
#include "util/sync.h"

START_TEST(every_length_arrives)
{
    uint64_t bytes = 0;
    size_t max = side[0].tp->max_send;

    ck_assert_uint_eq(max, MAX_SEND);
    for (size_t len = 1; len <= max; len += len < 2100 ? 1 : len < 20000 ? 997 : 4099) {
        bool room = len % 3 == 0;

        send_surely(&side[0], len, room);
        bytes += len;
    }
    send_surely(&side[0], max, false);
    send_surely(&side[0], max, true);
    bytes += 2 * max;
    wait_got(&side[1], side[0].n_sent);
    ck_assert_uint_eq(side[1].last_len, max);
    ck_assert_uint_eq(side[1].bytes_got, bytes);
    ck_assert_uint_eq(side[0].w->bytes_sent, bytes);
    ck_assert_uint_eq(side[1].w->bytes_received, bytes);
    ck_assert_uint_eq(side[0].w->n_sends, side[0].n_sent);
    ck_assert_uint_eq(side[1].w->n_recvs, side[0].n_sent);
    ck_assert_uint_eq(side[1].w->n_malformed, 0);
    ck_assert_uint_eq(side[0].w->n_connections, 1);
}
END_TEST

START_TEST(many_small_ones_in_order)
{
    for (int k = 0; k < 100000; k++) {
        send_surely(&side[0], 4 + (size_t)k % 29, k % 7 == 0);
        if (k % 16 == 0) {
            poll_both();
        }
    }
    wait_got(&side[1], 100000);
    ck_assert_uint_eq(side[1].w->n_recvs, 100000);
    for (uint64_t until = fm_now_ns() + TIME_LIMIT_NS; side[0].w->bounce_used.now;) {
        ck_assert(fm_now_ns() < until);
        poll_both();
    }
}
END_TEST

START_TEST(long_and_short_keep_their_order)
{
    for (int k = 0; k < 2000; k++) {
        send_surely(&side[0], k % 5 == 0 ? 20000 + (size_t)k * 20 : 8 + (size_t)k % 60, k % 2 == 0);
        if (k % 64 == 63) {
            wait_got(&side[1], side[0].n_sent);
        }
    }
    wait_got(&side[1], 2000);
}
END_TEST

START_TEST(a_full_pipe_says_again)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    int rc = 0;

    send_surely(&side[0], 100, false);
    wait_got(&side[1], 1);
    /* The receiver does not poll: some day nothing more is prefetched. */
    while ((rc = send_one(&side[0], 60000, side[0].n_sent % 2 == 0)) == 0) {
        fm_transport_poll(side[0].tp);
        ck_assert(fm_now_ns() < until && side[0].n_sent < 100000);
    }
    ck_assert_int_eq(rc, FM_AGAIN);
    wait_got(&side[1], side[0].n_sent);
    ck_assert_uint_gt(side[0].w->n_again + side[0].w->n_exhausted, 0);
    ck_assert_uint_gt(side[0].w->bounce_used.high, 1);
}
END_TEST

START_TEST(both_ways_from_inside_the_sink)
{
    side[1].answers = true;
    for (int k = 0; k < 3000; k++) {
        send_surely(&side[0], 40, false);
        while (side[0].n_got < side[1].n_sent || side[1].n_got < side[0].n_sent) {
            poll_both();
        }
    }
    ck_assert_uint_gt(side[0].n_got, 2900);
    ck_assert_uint_eq(side[0].n_got, side[1].n_sent);
}
END_TEST

START_TEST(messages_that_no_peer_sends_are_dropped)
{
    struct fm_ofi *ofi = fm_container_of(side[0].tp, struct fm_ofi, tp);
    struct fm_ofi_ep *e = fm_container_of(side[0].to_other, struct fm_ofi_ep, ep);
    struct fm_ofi_tail bad[] = {{e->stream, 0, e->sender},
                                {e->stream, UINT32_C(0x80000002), e->sender},
                                {0, 0, e->sender},
                                {e->stream + 1, 0, e->sender},
                                {~e->stream, 0, 0}};
    char raw[48] = {0};
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    size_t n = 0;

    send_surely(&side[0], 12, false);
    wait_got(&side[1], 1);
    for (size_t len = 1; len < sizeof(raw); len++, n++) { /* too short, odd, number 0 again */
        while (fi_inject(ofi->fi_ep, raw, len, e->addr) == -FI_EAGAIN) {
            poll_both();
        }
    }
    for (size_t k = 0; k < FM_ARRAY_LEN(bad); k++, n++) {
        memcpy(raw + 32, &bad[k], sizeof(bad[k]));
        while (fi_inject(ofi->fi_ep, raw, sizeof(raw), e->addr) == -FI_EAGAIN) {
            poll_both();
        }
    }
    while (side[1].w->n_malformed + side[1].w->n_foreign < n) {
        ck_assert(fm_now_ns() < until);
        poll_both();
    }
    send_surely(&side[0], 12, false);
    wait_got(&side[1], 2);
    ck_assert_uint_eq(side[1].n_got, 2);
}
END_TEST

/* Has the provider nothing to wait on? */
static bool is_sleepless(struct fm_transport *tp)
{
    return fm_container_of(tp, struct fm_ofi, tp)->cq_fd < 0;
}

START_TEST(the_sleeper_is_woken)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;

    if (is_sleepless(side[1].tp)) { /* arm() must not offer anything */
        ck_assert_int_eq(side[1].tp->ops->arm(side[1].tp, &(struct fm_sleep){.fd = -1}), FM_AGAIN);
        return;
    }
    send_surely(&side[0], 12, false);
    wait_got(&side[1], 1);
    for (int k = 2; k < 200; k++) {
        struct fm_sleep sleep;
        struct pollfd p = {.events = POLLIN};

        while (side[1].tp->ops->arm(side[1].tp, &sleep) == FM_AGAIN) {
            ck_assert(fm_now_ns() < until);
            poll_both();
        }
        ck_assert_int_ge(sleep.fd, 0);
        send_surely(&side[0], 12, false);
        while (fm_transport_poll(side[0].tp) > 0) {
        }
        p.fd = sleep.fd;
        ck_assert_int_eq(poll(&p, 1, 5000), 1);
        wait_got(&side[1], (uint64_t)k);
    }
}
END_TEST

/* Side 1 is a sleeper: it polls only when it may not sleep or was woken. False: it cannot sleep. */
static bool sleeper_turn(void)
{
    struct fm_transport *tp = side[1].tp;
    struct pollfd p = {.events = POLLIN};
    struct fm_sleep sleep;

    if (is_sleepless(tp)) {
        return false;
    }
    if (tp->ops->arm(tp, &sleep) == 0) {
        p.fd = sleep.fd;
        if (poll(&p, 1, 0) == 0) {
            return true;
        }
    }
    ck_assert_int_ge(fm_transport_poll(tp), 0);
    return true;
}

START_TEST(the_sleeper_connects_and_serves)
{
    static char far[100000], near[100000];
    struct fm_rma rma = {.op = FM_RMA_GET, .local = near, .len = sizeof(far)};
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    struct fm_mem mem;
    int rc = FM_AGAIN;

    while (side[1].n_got < 1) { /* nothing was said before: the connection has to be made */
        ck_assert(fm_now_ns() < until);
        rc = rc == FM_AGAIN ? send_one(&side[0], 3000, false) : rc;
        fm_transport_poll(side[0].tp);
        if (!sleeper_turn()) {
            return;
        }
    }
    if (!side[0].tp->has_rma || side[0].tp->wants_local_mem) {
        return;
    }
    memset(far, 7, sizeof(far));
    ck_assert_int_eq(side[1].tp->ops->expose(side[1].tp, far, sizeof(far),
                                             FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST, &mem),
                     0);
    rma.remote = mem.rkey;
    rma.done = transfer_done;
    while (side[0].to_other->ops->rma(side[0].to_other, &rma) == FM_AGAIN) {
        ck_assert(fm_now_ns() < until);
        fm_transport_poll(side[0].tp);
    }
    while (!side[0].n_done) { /* software providers need the sleeper's help for this */
        ck_assert(fm_now_ns() < until);
        fm_transport_poll(side[0].tp);
        sleeper_turn();
    }
    ck_assert_int_eq(memcmp(far, near, sizeof(far)), 0);
    side[1].tp->ops->unexpose(side[1].tp, &mem);
}
END_TEST

START_TEST(a_peer_that_leaves_is_no_crash)
{
    uint64_t until = fm_now_ns() + UINT64_C(500000000);
    int rc = 0;

    if (strcmp(provider, "shm") == 0) {
        return; /* inside one process libfabric 1.17 goes on using the peer's unmapped memory */
    }
    send_surely(&side[0], 5000, false);
    send_surely(&side[1], 5000, false);
    wait_got(&side[1], 1);
    wait_got(&side[0], 1);
    close_side(1);
    while (fm_now_ns() < until && rc >= 0) {
        rc = send_one(&side[0], side[0].n_sent % 2 ? 12 : 3000, false);
        ck_assert_int_ge(fm_transport_poll(side[0].tp), 0);
    }
    ck_assert(rc == 0 || rc == FM_AGAIN || rc == -FM_E_PEER);
    ck_assert_uint_le(side[0].n_failed, 1);
    if (side[0].n_failed) {
        ck_assert_int_eq(send_one(&side[0], 12, false), -FM_E_PEER);
    }
}
END_TEST

START_TEST(what_was_accepted_leaves_before_the_end)
{
    if (strcmp(provider, "sockets") == 0) {
        return; /* it drops what has arrived and is not matched when the connection ends */
    }
    send_surely(&side[0], 12, false);
    wait_got(&side[1], 1);
    for (int k = 0; k < 500; k++) {
        send_surely(&side[0], k % 2 ? 12 : 1000, false);
    }
    side[0].to_other->ops->disconnect(side[0].to_other);
    side[0].w->drain_ms = 20000; /* it takes what it takes */
    side[0].tp->ops->close(side[0].tp);
    side[0].tp = NULL;
    for (uint64_t until = fm_now_ns() + TIME_LIMIT_NS; side[1].n_got < 501;) {
        ck_assert_msg(fm_now_ns() < until, "%d came", (int)side[1].n_got);
        ck_assert_int_ge(fm_transport_poll(side[1].tp), 0);
    }
}
END_TEST

START_TEST(addresses_are_not_trusted)
{
    char addr[FM_ADDRESS_MAX + 8] = {0};
    size_t len;
    struct fm_ep *ep = NULL;
    struct fm_transport *tp = side[0].tp;

    ck_assert_int_eq(tp->ops->address(tp, addr, &len), 0);
    for (size_t k = 0; k < len; k++) {
        ck_assert_int_lt(tp->ops->connect(tp, 1, addr, k, &ep), 0);
    }
    ck_assert_int_lt(tp->ops->connect(tp, 1, addr, FM_ADDRESS_MAX + 8, &ep), 0);
    addr[8] = 'X'; /* another provider's name */
    ck_assert_int_eq(tp->ops->connect(tp, 1, addr, len, &ep), -FM_E_PEER);
    ck_assert_ptr_nonnull(strstr(fm_why(), "FATHOM_OFI_PROVIDER"));
    addr[0] ^= 1;
    ck_assert_int_eq(tp->ops->connect(tp, 1, addr, len, &ep), -FM_E_PROTO);
    ck_assert_ptr_null(ep);
}
END_TEST

START_TEST(the_choice_is_reported)
{
    const struct fm_double_event *events;
    uint32_t count = 0;

    ck_assert_ptr_nonnull(strstr(side[0].w->provider_used, provider));
    ck_assert_str_ne(side[0].w->interface_used, "");
    send_surely(&side[0], 12, false);
    wait_got(&side[1], 1);
    (void)count;
    ck_assert_int_eq(fm_double_events(&events), 1);
    ck_assert_ptr_eq(events[0].event, &fm_ofi_events[FM_OFI_CONNECTED]);
    ck_assert_uint_eq(events[0].values[0], 1);
}
END_TEST

START_TEST(limits_suit_the_provider)
{
    struct fm_transport_args args = {.n_procs = 1, .tag = "t"};
    struct fm_ofi_counters *w = fm_double_block(&fm_ofi_vars);
    bool has_infiniband = access("/sys/class/infiniband", F_OK) == 0;
    struct fm_transport *tp = NULL;
    size_t wire;

    args.sink = (struct fm_sink){.deliver = deliver, .failed = failed};
    snprintf(w->provider, sizeof(w->provider), "%s", provider);
    ck_assert_int_eq(fm_ofi_open(&args, w, &tp), 0);
    wire = !strstr(w->provider_used, "ofi_rxm") ? 65536 + 128 : has_infiniband ? 16384 : 17408;
    ck_assert_uint_eq(tp->max_send, wire - 16);
    tp->ops->close(tp);
    w->max_send = 17;
    w->use_rma = 0;
    w->can_sleep = 0;
    ck_assert_int_eq(fm_ofi_open(&args, w, &tp), 0);
    ck_assert_uint_eq(tp->max_send, 4096);
    ck_assert(!tp->has_rma);
    ck_assert_int_eq(tp->ops->expose(tp, pattern, 8, FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST,
                                     &(struct fm_mem){0}),
                     -FM_E_UNSUPPORTED);
    tp->ops->close(tp);
    free(w);
}
END_TEST

START_TEST(unknown_names_are_refused)
{
    struct fm_transport_args args = {.n_procs = 1, .tag = "t"};
    struct fm_ofi_counters *w = fm_double_block(&fm_ofi_vars);
    struct fm_transport *tp = NULL;

    args.sink = (struct fm_sink){.deliver = deliver, .failed = failed};
    strcpy(w->provider, "tpc");
    ck_assert_int_eq(fm_ofi_open(&args, w, &tp), -FM_E_NOENT);
    ck_assert_ptr_nonnull(strstr(fm_why(), "\"tpc\""));
    ck_assert_ptr_nonnull(strstr(fm_why(), "tcp"));
    strcpy(w->provider, provider);
    strcpy(w->interface, "nosuch0");
    ck_assert_int_eq(fm_ofi_open(&args, w, &tp), -FM_E_NOENT);
    ck_assert_ptr_nonnull(strstr(fm_why(), "nosuch0"));
    ck_assert_ptr_null(tp);
    free(w);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("ofi");
    TCase *tc = tcase_create("two sides");

    if (!sides_can_open(argc > 1 ? argv[1] : "tcp")) {
        return 77;
    }
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, sides_open, sides_close);
    tcase_add_test(tc, every_length_arrives);
    tcase_add_test(tc, many_small_ones_in_order);
    tcase_add_test(tc, long_and_short_keep_their_order);
    tcase_add_test(tc, a_full_pipe_says_again);
    tcase_add_test(tc, both_ways_from_inside_the_sink);
    tcase_add_test(tc, messages_that_no_peer_sends_are_dropped);
    tcase_add_test(tc, the_sleeper_is_woken);
    tcase_add_test(tc, the_sleeper_connects_and_serves);
    tcase_add_test(tc, a_peer_that_leaves_is_no_crash);
    tcase_add_test(tc, what_was_accepted_leaves_before_the_end);
    tcase_add_test(tc, addresses_are_not_trusted);
    tcase_add_test(tc, the_choice_is_reported);
    tcase_add_test(tc, limits_suit_the_provider);
    tcase_add_test(tc, unknown_names_are_refused);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
