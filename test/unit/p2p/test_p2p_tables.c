/* SPDX-License-Identifier: BSD-3-Clause */
/* The small tables of the engine against plain models: names of requests, communicators by context,
   memory of unexpected messages. */
#include "p2p_net.h"

enum { N = 500, ROUNDS = 20000 };

static uint64_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33) % n;
}

START_TEST(names_are_used_once)
{
    struct fm_ids ids = {0};
    uint64_t id[N] = {0}, old[N] = {0};
    char obj[N];

    ck_assert_ptr_null(fm_ids_get(&ids, 1, 0));
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t k = random_below(N);

        if (id[k]) {
            fm_ids_drop(&ids, id[k]);
            fm_ids_drop(&ids, id[k]); /* a second time does nothing */
            old[k] = id[k];
            id[k] = 0;
        } else {
            id[k] = fm_ids_put(&ids, (uint16_t)(k % 3), &obj[k]);
            ck_assert_uint_ne(id[k], 0);
        }
        k = random_below(N);
        ck_assert_ptr_eq(fm_ids_get(&ids, (uint16_t)(k % 3), id[k]), id[k] ? &obj[k] : NULL);
        ck_assert_ptr_null(fm_ids_get(&ids, (uint16_t)(k % 3 + 1), id[k]));
        ck_assert_ptr_null(fm_ids_get(&ids, (uint16_t)(k % 3), old[k]));
        ck_assert_ptr_null(fm_ids_get(&ids, (uint16_t)(k % 3), id[k] + 0x7fff0000));
    }
    fm_ids_finish(&ids);
}
END_TEST

START_TEST(communicators_are_found)
{
    static struct fm_comm comms[N];
    struct fm_contexts t = {0};
    bool is_in[N] = {false};

    ck_assert_ptr_null(fm_contexts_find(&t, 2));
    for (uint32_t k = 0; k < N; k++) {
        comms[k].context = 2 * (k % 2 ? k : k * 4096); /* many share a home */
    }
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t k = random_below(N);

        if (is_in[k]) {
            fm_contexts_remove(&t, &comms[k]);
            fm_contexts_remove(&t, &comms[k]);
        } else {
            ck_assert_int_eq(fm_contexts_add(&t, &comms[k]), 0);
        }
        is_in[k] = !is_in[k];
        k = random_below(N);
        ck_assert_ptr_eq(fm_contexts_find(&t, comms[k].context), is_in[k] ? &comms[k] : NULL);
        ck_assert_ptr_eq(fm_contexts_find(&t, comms[k].context + 1), is_in[k] ? &comms[k] : NULL);
    }
    fm_contexts_finish(&t);
}
END_TEST

/* Every length up to several blocks comes back as it was put in, in the blocks charged. */
START_TEST(unexpected_memory_keeps_bytes)
{
    static char out[4000], in[4001];
    struct fm_unexp *u;
    struct fm_pack pack;

    net_start(1, NULL);
    for (size_t len = 0; len <= sizeof(out); len++) {
        net_fill(out, len, (unsigned)len);
        in[len] = 0x5a;
        u = fm_unexp_new(net.ch[0], len);
        ck_assert_ptr_nonnull(u);
        ck_assert_uint_eq(*net.ch[0]->blocks.n_live, fm_unexp_blocks(len));
        ck_assert_uint_le(len + sizeof(*u), fm_unexp_blocks(len) * FM_BLOCK_LEN);
        if (len % 2) {
            fm_unexp_fill(u, out, len);
        } else {
            fm_pack_begin(&pack, out, (MPI_Count)len, fm_dtype_byte());
            fm_unexp_fill_typed(u, &pack);
        }
        if (len % 3) {
            fm_unexp_read(u, in, len);
        } else {
            fm_pack_begin(&pack, in, (MPI_Count)len, fm_dtype_byte());
            fm_unexp_read_typed(u, &pack, len);
        }
        net_check(in, len, (unsigned)len);
        ck_assert_int_eq(in[len], 0x5a);
        fm_unexp_free(net.ch[0], u);
        ck_assert_uint_eq(*net.ch[0]->blocks.n_live, 0);
    }
    net_stop();
}
END_TEST

/* What is counted is what was done. */
START_TEST(counters_are_true)
{
    enum { SMALL = 100, LARGE = 50000, N_EACH = 7 };
    static char out[LARGE], in[LARGE];
    struct fm_p2p_counters *from, *to;
    struct fm_request *s, *r;

    net_start(2, &(struct net_options){.no_rma = true});
    from = net.ch[0]->counters;
    to = net.ch[1]->counters;
    for (int k = 0; k < 2 * N_EACH; k++) {
        size_t len = k % 2 ? SMALL : LARGE;

        s = net_isend(0, out, len, 1, k, FM_SEND_STANDARD);
        net_settle();
        ck_assert_uint_eq(net.comm[1]->counters->umq_len, 1);
        ck_assert_uint_eq(net.ch[1]->match_counters->umq_bytes.now, len == SMALL ? SMALL : 0);
        ck_assert_uint_eq(from->rts_waiting.now, len == LARGE);
        r = net_irecv(1, in, LARGE, 0, k);
        ck_assert_int_eq(net_end(r, NULL), 0);
        ck_assert_int_eq(net_end(s, NULL), 0);
    }
    ck_assert_uint_eq(net_short_sent(0).n + from->n_request_sent, N_EACH);
    ck_assert_uint_eq(net_short_sent(0).len + from->request_sent_bytes, N_EACH * SMALL);
    ck_assert_uint_eq(to->eager_recvd.n, N_EACH);
    ck_assert_uint_eq(to->eager_recvd.len, N_EACH * SMALL);
    ck_assert_uint_eq(to->n_copied_recvd, N_EACH);
    ck_assert_uint_eq(from->n_rndv_sent, N_EACH);
    ck_assert_uint_eq(from->rndv_sent_bytes, N_EACH * LARGE);
    ck_assert_uint_eq(to->n_rndv_recvd, N_EACH);
    ck_assert_uint_eq(to->rndv_recvd_bytes, N_EACH * LARGE);
    ck_assert_uint_eq(from->n_rts_sent, N_EACH);
    ck_assert_uint_eq(to->n_rts_recvd, N_EACH);
    ck_assert_uint_eq(to->n_cts_sent, N_EACH);
    ck_assert_uint_eq(from->n_cts_recvd, N_EACH);
    ck_assert_uint_eq(from->n_data_sent, to->n_data_recvd);
    ck_assert_uint_ge(from->n_data_sent, N_EACH * LARGE / 8192);
    ck_assert_uint_eq(from->tiny_sent[fm_hist_bin(SMALL)].n + from->sizes_sent[fm_hist_bin(SMALL)],
                      N_EACH);
    ck_assert_uint_eq(to->sizes_recvd[fm_hist_bin(LARGE)], N_EACH);
    ck_assert_uint_eq(from->reasons[FM_REASON_LONG], N_EACH);
    ck_assert_uint_eq(net.comm[0]->peer_counters[1].sent.n, 2 * N_EACH);
    ck_assert_uint_eq(net.comm[0]->peer_counters[1].sent.len, N_EACH * (SMALL + LARGE));
    ck_assert_uint_eq(net.comm[0]->peer_counters[0].sent.n, 0);
    ck_assert_uint_eq(net.comm[1]->peer_counters[0].recvd.n, 2 * N_EACH);
    ck_assert_uint_eq(net.comm[1]->peer_counters[0].recvd.len, N_EACH * (SMALL + LARGE));
    net_stop();
}
END_TEST

START_TEST(bins_are_powers_of_two)
{
    ck_assert_uint_eq(fm_hist_bin(0), 0);
    ck_assert_uint_eq(fm_hist_bin(UINT64_MAX), FM_HIST_BINS - 1);
    for (unsigned k = 0; k < 62; k++) {
        ck_assert_uint_eq(fm_hist_bin(UINT64_C(1) << k), k + 1);
        ck_assert_uint_eq(fm_hist_bin((UINT64_C(2) << k) - 1), k + 1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("p2p_tables");
    TCase *tc = tcase_create("tables");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, names_are_used_once);
    tcase_add_test(tc, communicators_are_found);
    tcase_add_test(tc, unexpected_memory_keeps_bytes);
    tcase_add_test(tc, counters_are_true);
    tcase_add_test(tc, bins_are_powers_of_two);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
