/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams: whatever order messages come in, they leave in the order of their numbers. */
#include "support/suite.h"
#include "transport/ofi/ofi_order.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

static struct fm_ofi_order order;
static const struct fm_ofi_secret secret = {
    {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};

/* The stream of a sender. */
static uint64_t stream_of(uint32_t sender)
{
    return fm_ofi_proof_stream(&secret, sender);
}

static void setup(void)
{
    ck_assert_int_eq(fm_ofi_order_init(&order, &secret), 0);
}

static void teardown(void)
{
    fm_ofi_order_finish(&order);
}

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % n;
}

/* As the transport does it: message `seq` of `sender` has come; returns how many leave, checked. */
static int come(uint32_t sender, uint32_t seq)
{
    uint64_t id = stream_of(sender);
    struct fm_ofi_stream *s = fm_ofi_order_find(&order, id, sender);
    struct fm_ofi_early *e;
    uint32_t expect = s->next;
    int n = 0;

    if (seq != s->next) {
        ck_assert_int_eq(fm_ofi_order_keep(&order, s, seq, &seq, sizeof(seq)), 0);
        return 0;
    }
    s->next++;
    n++;
    while ((e = fm_ofi_order_take(&order, id))) {
        uint32_t got;

        memcpy(&got, e->data, sizeof(got));
        ck_assert_uint_eq(got, ++expect);
        ck_assert_uint_eq(e->len, sizeof(got));
        free(e);
        n++;
    }
    return n;
}

START_TEST(any_order_becomes_the_right_one)
{
    enum { N_STREAMS = 40, N = 500, WINDOW = 24 };
    uint32_t window[N_STREAMS][WINDOW], begun[N_STREAMS] = {0};
    uint32_t held[N_STREAMS] = {0};
    uint64_t random = 5;
    int n_left = 0;

    for (int turn = 0; turn < 4 * N_STREAMS * N; turn++) {
        uint32_t k = draw(&random, N_STREAMS), pick;

        while (held[k] < WINDOW && begun[k] < N) {
            window[k][held[k]++] = begun[k]++;
        }
        if (!held[k]) {
            continue;
        }
        pick = draw(&random, held[k]);
        n_left += come(77 + k, window[k][pick]);
        window[k][pick] = window[k][--held[k]];
    }
    ck_assert_int_eq(n_left, N_STREAMS * N);
    ck_assert_uint_eq(order.early_len, 0);
    ck_assert_uint_eq(order.n_used, N_STREAMS);
    ck_assert_uint_gt(order.n_early, 1000);
}
END_TEST

START_TEST(numbers_wrap_around)
{
    struct fm_ofi_stream *s = fm_ofi_order_find(&order, stream_of(9), 9);

    s->next = UINT32_MAX - 1;
    ck_assert_int_eq(come(9, 0), 0);
    ck_assert_int_eq(come(9, UINT32_MAX), 0);
    ck_assert_int_eq(come(9, UINT32_MAX - 1), 3);
}
END_TEST

START_TEST(what_no_peer_sends_is_refused)
{
    struct fm_ofi_stream *s = fm_ofi_order_find(&order, stream_of(3), 3);
    char x = 'x';

    ck_assert_ptr_null(fm_ofi_order_find(&order, 0, 3));
    s->next = 10;
    ck_assert_int_eq(fm_ofi_order_keep(&order, s, 9, &x, 1), -FM_E_PROTO);
    ck_assert_int_eq(fm_ofi_order_keep(&order, s, 12, &x, 1), 0);
    ck_assert_int_eq(fm_ofi_order_keep(&order, s, 12, &x, 1), -FM_E_PROTO);
    ck_assert_int_eq(fm_ofi_order_keep(&order, s, 13, &x, FM_OFI_EARLY_MAX), -FM_E_PROTO);
    ck_assert_ptr_null(fm_ofi_order_take(&order, stream_of(3)));
}
END_TEST

START_TEST(a_stream_is_proved_once)
{
    uint64_t id = stream_of(5);

    ck_assert_ptr_null(fm_ofi_order_find(&order, id ^ 1, 5));
    ck_assert_ptr_null(fm_ofi_order_find(&order, id, 6));
    ck_assert_uint_eq(order.n_used, 0);
    ck_assert_ptr_nonnull(fm_ofi_order_find(&order, id, 5));
    ck_assert_uint_eq(order.n_used, 1);
}
END_TEST

/* The test vector of the paper's reference for 8 bytes 00 01 .. 07. */
START_TEST(the_hash_is_siphash)
{
    ck_assert_uint_eq(fm_ofi_proof_hash(&secret, UINT64_C(0x0706050403020100)),
                      UINT64_C(0x93f5f5799a932462));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ofi_order");
    TCase *tc = tcase_create("order");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, any_order_becomes_the_right_one);
    tcase_add_test(tc, numbers_wrap_around);
    tcase_add_test(tc, a_stream_is_proved_once);
    tcase_add_test(tc, the_hash_is_siphash);
    tcase_add_test(tc, what_no_peer_sends_is_refused);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
