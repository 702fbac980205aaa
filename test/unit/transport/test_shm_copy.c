/* SPDX-License-Identifier: BSD-3-Clause */
/* Single copy and copy assist, with all sides in one process and one thread. */
#include "shm_trio.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

enum { MARK = 0xa7 };

static bool can_copy(void)
{
    if (side[0].ep[1]->no_rma) {
        fprintf(stderr, "not tested: single copy is forbidden here\n");
        return false;
    }
    return true;
}

START_TEST(memory_is_read_and_written)
{
    static const size_t lens[] = {1, 100, 5000, 70000, 300000, 3000000};
    size_t len = lens[_i];
    char *a = malloc(len + 2), *b = malloc(len + 2);
    struct fm_mem mem;

    ck_assert(a && b);
    connect_all();
    if (can_copy()) {
        ck_assert_int_eq(side[1].tp->ops->expose(side[1].tp, b, len, FM_MEM_READ | FM_MEM_WRITE,
                                                 FM_MEM_REQUEST, &mem),
                         0);
        ck_assert_uint_eq(mem.rkey.addr, (uintptr_t)b);
        side[1].tp->ops->unexpose(side[1].tp, &mem);
        for (size_t k = 0; k < len + 2; k++) {
            a[k] = (char)(k * 13 + 1);
            b[k] = 0;
        }
        ck_assert_int_eq(side_rma(&side[0], 1, FM_RMA_PUT, a + 1, (uintptr_t)b + 1, len), 0);
        ck_assert_int_eq(memcmp(a + 1, b + 1, len), 0);
        ck_assert(b[0] == 0 && b[len + 1] == 0);
        memset(a, 0, len + 2);
        ck_assert_int_eq(side_rma(&side[0], 1, FM_RMA_GET, a + 1, (uintptr_t)b + 1, len), 0);
        ck_assert_int_eq(memcmp(a + 1, b + 1, len), 0);
        ck_assert(a[0] == 0 && a[len + 1] == 0);
#if FM_STATS
        ck_assert_uint_eq(side[0].counters.n_cma_bytes, 2 * len);
        ck_assert_uint_eq(side[0].counters.n_cma_transfers, 2);
#endif
    }
    free(a);
    free(b);
}
END_TEST

/* Both sides poll in turn, so each copies about half of the chunks. */
START_TEST(the_peer_assists)
{
    const size_t len = 4000001;
    struct fm_shm_transport *t;
    char *a = calloc(1, len), *b = malloc(len);
    struct fm_rma rma = {.op = _i ? FM_RMA_PUT : FM_RMA_GET, .len = len};

    ck_assert(a && b);
    connect_all();
    if (can_copy()) {
        t = (struct fm_shm_transport *)side[0].tp;
        t->is_crowded = false; /* on a machine with one processor too */
        for (size_t k = 0; k < len; k++) {
            b[k] = (char)(k * 13 + 1);
        }
        rma.local = _i ? b : a;
        rma.remote.addr = (uintptr_t)(_i ? a : b);
        ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
        while (!side[0].is_done) {
            fm_transport_poll(side[1].tp);
            fm_transport_poll(side[0].tp);
        }
        ck_assert_int_eq(side[0].status, 0);
        ck_assert_int_eq(memcmp(a, b, len), 0);
#if FM_STATS
        ck_assert_uint_ge(side[0].counters.n_chunks_assisted, 10);
        ck_assert_uint_eq(side[0].counters.n_chunks_assisted, side[1].counters.n_chunks_for_peers);
        ck_assert_uint_eq(side[0].counters.n_cma_bytes + side[1].counters.n_cma_bytes, len);
#endif
    }
    free(a);
    free(b);
}
END_TEST

/* ... and gets no request for a while when it has not done so for some time. */
START_TEST(a_peer_that_does_not_assist_is_left_alone)
{
    enum { LEN = 300000 };
    char *a = calloc(1, LEN), *b = calloc(1, LEN);
    struct fm_rma rma = {.op = FM_RMA_GET, .local = a, .len = LEN};

    rma.remote.addr = (uintptr_t)b;
    connect_all();
    if (can_copy()) {
        struct fm_shm_transport *t = (struct fm_shm_transport *)side[1].tp;

        ((struct fm_shm_transport *)side[0].tp)->is_crowded = false;
        atomic_store(&t->header->doorbell,
                     FM_SHM_ASLEEP_FUTEX); /* asleep: no request, so no failed assist */
        for (int k = 0; k < 2 * FM_SHM_FAILED_ASSISTS; k++) {
            ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
            ck_assert_int_eq(side[0].is_done, false);
            while (!side[0].is_done) {
                fm_transport_poll(side[0].tp);
            }
        }
        atomic_store(&t->header->doorbell, FM_SHM_AWAKE);
        for (int k = 0; k < 2 * FM_SHM_FAILED_ASSISTS + FM_SHM_ASSIST_BACKOFF + 1; k++) {
            bool is_backed_off =
                k >= FM_SHM_FAILED_ASSISTS && k < FM_SHM_FAILED_ASSISTS + FM_SHM_ASSIST_BACKOFF;
            bool is_assisted =
                k == FM_SHM_FAILED_ASSISTS + FM_SHM_ASSIST_BACKOFF; /* which begins it anew */

            b[k] = (char)(k + 1);
            ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
            ck_assert_int_eq(side[0].is_done, is_backed_off); /* inside the call: no job */
            while (!side[0].is_done) {
                if (is_assisted) {
                    fm_transport_poll(side[1].tp);
                }
                fm_transport_poll(side[0].tp);
            }
            ck_assert_int_eq(a[k], k + 1);
        }
    }
    free(a);
    free(b);
}
END_TEST

/* A transfer that ended without assistance leaves nothing that the next one in its place needs. */
START_TEST(old_requests_are_harmless)
{
    enum { LEN = 300000 };
    char *a = calloc(FM_SHM_COPIES, LEN), *b = calloc(1, LEN);
    struct fm_rma rma[FM_SHM_COPIES];

    connect_all();
    if (can_copy()) {
        struct fm_shm_transport *t = (struct fm_shm_transport *)side[0].tp;

        t->is_crowded = false;
        for (int round = 1; round <= 2; round++) {
            memset(b, round, LEN);
            for (int k = 0; k < FM_SHM_COPIES; k++) {
                rma[k] = (struct fm_rma){.op = FM_RMA_GET, .local = a + k * LEN, .len = LEN};
                rma[k].remote.addr = (uintptr_t)b;
                ck_assert_int_eq(side_rma_start(&side[0], 1, &rma[k]), 0);
            }
            for (int k = 0; k < 10 * FM_SHM_COPIES && round == 2; k++) {
                fm_transport_poll(side[1].tp); /* all requests */
            }
            for (int k = 0; k < FM_SHM_COPIES && round == 2; k++) {
                ck_assert_int_eq(memcmp(a + k * LEN, b, LEN), 0);
            }
            while (t->n_jobs) {
                fm_transport_poll(side[0].tp);
            }
            ((struct fm_shm_ep *)side[0].ep[1])->n_backoff = 0;
        }
        ck_assert_uint_eq(((struct fm_shm_transport *)side[1].tp)->n_assists, 0); /* it may sleep */
    }
    free(a);
    free(b);
}
END_TEST

/* Nor its list of pieces. */
START_TEST(a_request_in_the_place_of_another_has_its_own_pieces)
{
    enum { LEN = 300000 };
    char *a = calloc(2, LEN), *b = malloc(LEN);

    connect_all();
    if (can_copy()) {
        ((struct fm_shm_transport *)side[0].tp)->is_crowded = false;
        memset(b, MARK, LEN);
        for (int k = 0; k < 2; k++) {
            struct fm_rma_piece piece = {.local = a + k * LEN, .remote_at = 0, .len = LEN};
            struct fm_rma rma = {.op = FM_RMA_GET, .len = LEN, .pieces = &piece, .n_pieces = 1};

            rma.remote.addr = (uintptr_t)b;
            ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
            for (int i = 0; i < (k ? 10 : 1); i++) { /* one chunk; all */
                fm_transport_poll(side[1].tp);
            }
            ck_assert_int_eq(memcmp(a + k * LEN, b, k ? LEN : 1), 0);
            while (!side[0].is_done) {
                fm_transport_poll(side[0].tp);
            }
            ck_assert_int_eq(side[0].status, 0);
            ck_assert_int_eq(memcmp(a + k * LEN, b, LEN), 0);
        }
    }
    free(a);
    free(b);
}
END_TEST

START_TEST(own_transfers_come_first)
{
    const size_t len = 4000001;
    char *a = calloc(2, len), *b = calloc(2, len);
    struct fm_rma rma[2];

    ck_assert(a && b);
    connect_all();
    if (can_copy()) {
        for (int k = 0; k < 2; k++) {
            ((struct fm_shm_transport *)side[k].tp)->is_crowded = false;
            b[k * len] = (char)(k + 1);
            rma[k] = (struct fm_rma){.op = FM_RMA_GET, .local = a + k * len, .len = len};
            rma[k].remote.addr = (uintptr_t)(b + k * len);
            ck_assert_int_eq(side_rma_start(&side[k], 1 - k, &rma[k]), 0);
        }
        while (!side[1].is_done) {
            ck_assert_uint_eq(side[1].counters.n_chunks_for_peers, 0);
            fm_transport_poll(side[1].tp);
        }
        while (!side[0].is_done) {
            fm_transport_poll(side[1].tp);
            fm_transport_poll(side[0].tp);
        }
        ck_assert_int_eq(a[0], 1);
        ck_assert_int_eq(a[len], 2);
#if FM_STATS
        ck_assert_uint_gt(side[1].counters.n_chunks_for_peers, 0);
        ck_assert_uint_eq(side[0].counters.n_chunks_for_peers, 0);
#endif
    }
    free(a);
    free(b);
}
END_TEST

START_TEST(a_hundred_transfers_at_once)
{
    enum { N_RMA = 100, LEN = 200000 };
    char *a = calloc(N_RMA, LEN), *b = calloc(N_RMA, LEN);
    struct fm_rma rma[N_RMA];
    int n = 0, rc;

    ck_assert(a && b);
    connect_all();
    if (can_copy()) {
        for (size_t k = 0; k < (size_t)N_RMA * LEN; k++) {
            b[k] = (char)(k * 13 + k / LEN);
        }
        while (n < N_RMA) {
            rma[n] = (struct fm_rma){.op = FM_RMA_GET, .local = a + (size_t)n * LEN, .len = LEN};
            rma[n].remote.addr = (uintptr_t)b + (size_t)n * LEN;
            rc = side_rma_start(&side[0], 1, &rma[n]);
            ck_assert(rc == 0 || rc == FM_AGAIN);
            n += rc == 0;
            fm_transport_poll(side[1].tp);
            if (rc == FM_AGAIN) {
                fm_transport_poll(side[0].tp);
            }
        }
        while (((struct fm_shm_transport *)side[0].tp)->n_jobs) {
            fm_transport_poll(side[1].tp);
            fm_transport_poll(side[0].tp);
        }
        ck_assert_int_eq(memcmp(a, b, (size_t)N_RMA * LEN), 0);
        drain(1);
    }
    free(a);
    free(b);
}
END_TEST

START_TEST(memory_that_is_not_there_is_an_error)
{
    char *a = malloc(1 << 20);

    ck_assert_ptr_nonnull(a);
    connect_all();
    if (can_copy()) {
        ck_assert_int_eq(side_rma(&side[0], 1, FM_RMA_GET, a, 4096, _i ? 1 << 20 : 100),
                         -FM_E_PROTO);
        ck_assert_ptr_nonnull(strstr(fm_why(), "single copy"));
    }
    free(a);
}
END_TEST

START_TEST(copying_can_be_switched_off)
{
    char a[10];

    side[0].counters.cma = 0;
    connect_all();
    ck_assert(side[0].ep[1]->no_rma);
    ck_assert_int_eq(side_rma(&side[0], 1, FM_RMA_GET, a, (uintptr_t)a, 10), -FM_E_UNSUPPORTED);
#if FM_STATS
    ck_assert_uint_eq(side[0].counters.n_cma_refused, N);
#endif
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_copy");
    TCase *tc = tcase_create("shm_copy");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, memory_is_read_and_written, 0, 6);
    tcase_add_loop_test(tc, the_peer_assists, 0, 2);
    tcase_add_test(tc, a_peer_that_does_not_assist_is_left_alone);
    tcase_add_test(tc, old_requests_are_harmless);
    tcase_add_test(tc, a_request_in_the_place_of_another_has_its_own_pieces);
    tcase_add_test(tc, own_transfers_come_first);
    tcase_add_test(tc, a_hundred_transfers_at_once);
    tcase_add_loop_test(tc, memory_that_is_not_there_is_an_error, 0, 2);
    tcase_add_test(tc, copying_can_be_switched_off);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
