/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations are shared while in use, ended after, and kept within bounds when asked to. */
#include "transport/memreg.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/mock_transport.h"
#include "support/mpit_double.h"

static struct fm_mock_net *net;
static struct fm_transport *tp;
static struct fm_memreg *reg;
static uint64_t *words; /* the first word is memreg_keep */
static char memory[64 * 100];

static void deliver(void *ctx, const void *data, size_t len)
{
    (void)ctx;
    (void)data;
    (void)len;
}

static void failed(void *ctx, int peer, const char *why)
{
    (void)ctx;
    (void)peer;
    (void)why;
}

/* The present value of a variable of the table. */
static uint64_t value(const char *name)
{
    for (int k = 0; k < fm_memreg_vars.n_pvars; k++) {
        if (strcmp(fm_memreg_vars.pvars[k].name, name) == 0) {
            return words[fm_memreg_vars.pvars[k].at / sizeof(uint64_t)];
        }
    }
    ck_abort_msg("no variable %s", name);
    return 0;
}

static void setup(void)
{
    struct fm_transport_args args = {.n_procs = 1, .tag = "t"};

    args.sink = (struct fm_sink){.deliver = deliver, .failed = failed};
    net = fm_mock_net_create(1, 3);
    words = fm_double_block(&fm_memreg_vars);
    ck_assert_int_eq(fm_mock_open(net, &args, &tp), 0);
    ck_assert_int_eq(fm_memreg_create(tp, words, &reg), 0);
}

static void teardown(void)
{
    fm_memreg_destroy(reg);
    ck_assert_uint_eq(fm_mock_exposed(net, 0), 0);
    fm_mock_net_destroy(net);
    free(words);
}

static const struct fm_mem *get(size_t at, size_t len)
{
    const struct fm_mem *mem;

    ck_assert_int_eq(fm_memreg_get(reg, memory + at, len, &mem), 0);
    ck_assert_ptr_eq(mem->addr, memory + at);
    ck_assert_uint_eq(mem->len, len);
    return mem;
}

START_TEST(users_of_a_piece_share_it)
{
    const struct fm_mem *a = get(0, 64), *b = get(0, 64), *c = get(0, 63);

    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_ne(a, c);
    ck_assert_uint_eq(fm_mock_exposed(net, 0), 2);
    fm_memreg_put(reg, a);
    ck_assert_uint_eq(fm_mock_exposed(net, 0), 2);
    fm_memreg_put(reg, b);
    fm_memreg_put(reg, c);
    ck_assert_uint_eq(fm_mock_exposed(net, 0), 0);
    ck_assert_uint_eq(value("memreg_hits"), 1);
    ck_assert_uint_eq(value("memreg_misses"), 2);
    ck_assert_uint_eq(value("memreg_pinned"), 0);
}
END_TEST

START_TEST(what_is_kept_is_bounded_and_the_oldest_goes)
{
    words[0] = 640;
    for (size_t k = 0; k < 20; k++) {
        fm_memreg_put(reg, get(64 * k, 64));
    }
    ck_assert_uint_eq(fm_mock_exposed(net, 0), 10);
    ck_assert_uint_eq(value("memreg_idle"), 640);
    ck_assert_uint_eq(value("memreg_evicted"), 10);
    fm_memreg_put(reg, get(64 * 10, 64)); /* the oldest kept: now the youngest */
    fm_memreg_put(reg, get(0, 64));
    ck_assert_uint_eq(value("memreg_hits"), 1);
    fm_memreg_put(reg, get(64 * 10, 64));
    ck_assert_uint_eq(value("memreg_hits"), 2);
    fm_memreg_put(reg, get(64 * 11, 64));
    ck_assert_uint_eq(value("memreg_hits"), 2);
    fm_memreg_put(reg, get(0, 6400)); /* longer than all that may be kept */
    ck_assert_uint_eq(value("memreg_idle"), 640);
    fm_memreg_trim(reg);
    ck_assert_uint_eq(fm_mock_exposed(net, 0), 0);
}
END_TEST

START_TEST(random_use_never_loses_a_piece)
{
    enum { N = 64 };
    const struct fm_mem *held[N] = {NULL};

    words[0] = 1000;
    for (int k = 0; k < 20000; k++) {
        size_t at = fm_mock_random(net, N);

        if (held[at]) {
            fm_memreg_put(reg, held[at]);
            held[at] = NULL;
        } else {
            held[at] = get(64 * fm_mock_random(net, 20), 1 + fm_mock_random(net, 5) * 60);
        }
        ck_assert_uint_eq(value("memreg_pieces"), fm_mock_exposed(net, 0));
        ck_assert_uint_le(value("memreg_idle"), 1000);
    }
    for (int k = 0; k < N; k++) {
        if (held[k]) {
            fm_memreg_put(reg, held[k]);
        }
    }
    ck_assert_uint_le(value("memreg_pinned"), 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memreg");
    TCase *tc = tcase_create("memreg");
    SRunner *runner;
    int n_failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, users_of_a_piece_share_it);
    tcase_add_test(tc, what_is_kept_is_bounded_and_the_oldest_goes);
    tcase_add_test(tc, random_use_never_loses_a_piece);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
