/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every variable of the shared-memory transport against what its callers have seen, what the kernel
 * was asked to copy, and what it says of the segment's file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shm_side.h"
#include "support/oracle_event.h"
#include "support/oracle_row.h"
#include "support/suite.h"
#include "util/sync.h"

#define N 3

static struct side side[N];

/* ---- system calls of single copy, by the side that polls ---- */

static int acting;
static uint64_t n_calls[N], n_bytes[N];

static ssize_t count_copy(ssize_t n)
{
    n_calls[acting]++;
    n_bytes[acting] += n > 0 ? (uint64_t)n : 0;
    return n;
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *l, unsigned long n_l, const struct iovec *r,
                         unsigned long n_r, unsigned long flags)
{
    return count_copy(syscall(SYS_process_vm_readv, pid, l, n_l, r, n_r, flags));
}

ssize_t process_vm_writev(pid_t pid, const struct iovec *l, unsigned long n_l,
                          const struct iovec *r, unsigned long n_r, unsigned long flags)
{
    return count_copy(syscall(SYS_process_vm_writev, pid, l, n_l, r, n_r, flags));
}

/* ---- stores past the caches ---- */

static uint64_t n_nontemporal;

void fm_shm_stream_copy(void *to, const void *from, size_t len)
{
    n_nontemporal++;
    memcpy(to, from, len);
}

static int poll_side(int k)
{
    int n;

    acting = k;
    n = fm_transport_poll(side[k].tp);
    ck_assert_int_ge(n, 0);
    return n;
}

static void drain(int k)
{
    while (poll_side(k) > 0) {
    }
}

static void setup(void)
{
    for (int k = 0; k < N; k++) {
        side_init(&side[k], k, N);
        oracle_events_on(&fm_shm_vars, &side[k].counters);
    }
}

static void connect_all(void)
{
    ck_assert_int_eq(sides_open(side, N), 0);
    memset(n_calls, 0, sizeof(n_calls)); /* without the attempts whether it is allowed */
    memset(n_bytes, 0, sizeof(n_bytes));
}

static void teardown(void)
{
    sides_disconnect(side, N);
    for (int k = 0; k < N; k++) {
        if (side[k].tp) {
            ORACLE_ROW(&fm_shm_vars, &side[k].counters, "shm_peers", 0, ==, 0);
        }
        side_close(&side[k]);
    }
}

static void same(int k, const char *name, uint64_t should)
{
    ORACLE_ROW(&fm_shm_vars, &side[k].counters, name, 0, ==, should);
}

static void event_is(int k, const char *name, uint64_t should)
{
    oracle_event_is(&fm_shm_vars, &side[k].counters, name, should);
}

/* What the segment's file takes up. */
static uint64_t file_bytes(int k)
{
    struct stat st;

    ck_assert_int_eq(fstat(((struct fm_shm_transport *)side[k].tp)->fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

enum { AFTER = 3, BULK_MIN = 1024 };

/* What was sent and refused, counted here. */
struct expected {
    uint64_t sent[N], bytes[N], got[N], got_bytes[N], refused[N];
    uint64_t by_pair[N][N], in_fast[N], in_bulk[N];
};

static void send_random(struct expected *x)
{
    int from = (int)side_random(&side[0], N), to = (int)side_random(&side[0], N);
    size_t len = 16 + side_random(&side[0], side_random(&side[0], 8) ? 100 : 16000);
    int rc = side_random(&side[0], 2) ? side_send(&side[from], to, len)
                                      : side_send_in_place(&side[from], to, len, 0);

    ck_assert(rc == 0 || rc == FM_AGAIN);
    x->refused[from] += rc == FM_AGAIN;
    if (rc == 0) {
        x->sent[from]++;
        x->bytes[from] += len;
        x->got[to]++;
        x->got_bytes[to] += len;
        x->by_pair[from][to] += len > BULK_MIN ? AFTER : 0;
        x->in_fast[from] += x->by_pair[from][to]++ >= AFTER;
        x->in_bulk[from] += len > BULK_MIN;
    }
}

static void check_traffic(int k, const struct expected *x)
{
    ck_assert_uint_eq(side[k].n_wrong, 0);
    ck_assert_uint_gt(x->refused[k], 0);
    same(k, "shm_sent", x->sent[k]);
    same(k, "shm_sent_bytes", x->bytes[k]);
    same(k, "shm_received", x->got[k]);
    same(k, "shm_received_bytes", x->got_bytes[k]);
    same(k, "shm_no_room", x->refused[k]);
    same(k, "shm_fast_ring_sent", x->in_fast[k]);
    same(k, "shm_bulk_sent", x->in_bulk[k]);
    same(k, "shm_bulk_rings", N);
    same(k, "shm_fast_rings_claimed", N);
    same(k, "shm_fast_rings_refused", 0);
    same(k, "shm_fast_rings_polled", N);
    same(k, "shm_peers", N);
    same(k, "shm_peers_high", N);
    same(k, "shm_segment_bytes", file_bytes(k));
    same(k, "shm_copies", 0);
    same(k, "shm_copy_calls", n_calls[k]);
}

START_TEST(random_traffic_is_counted)
{
    struct expected x = {.sent = {0}};
    uint64_t began = fm_now_ns();

    n_nontemporal = 0;
    for (int k = 0; k < N; k++) {
        side[k].counters.fast_after = AFTER;
        side[k].counters.bulk_min = BULK_MIN;
        /* No read is so fast. */
        side[k].counters.no_shared_cache_ns = _i && k == 0 ? 1 : 0;
        side[k].counters.high_latency_ns = _i && k <= 1 ? 1 : 0;
    }
    connect_all();
    for (int i = 0; i < 30000; i++) {
        send_random(&x);
        if (side_random(&side[0], 200) == 0) {
            poll_side((int)side_random(&side[0], N));
        }
    }
    for (int k = 0; k < N; k++) {
        drain(k);
    }
    for (int k = 0; k < N; k++) {
        check_traffic(k, &x);
        ORACLE_ROW(&fm_shm_vars, &side[k].counters, "shm_line_latency", 0, >, 0);
        ORACLE_ROW(&fm_shm_vars, &side[k].counters, "shm_line_latency", 0, <, fm_now_ns() - began);
        same(k, "shm_nontemporal", k == 0 ? n_nontemporal : 0);
        for (int to = 0; to < N; to++) { /* no shared cache is another case than high latency */
            ck_assert_int_eq(side[k].ep[to]->pushes,
                             _i && k == 1 ? FM_PUSH_SELDOM : FM_PUSH_ALWAYS);
        }
    }
    ck_assert(_i ? n_nontemporal > 0 : n_nontemporal == 0);
}
END_TEST

START_TEST(fast_rings_run_out)
{
    side[2].counters.fast_rings = 1;
    side[0].counters.fast_after = side[1].counters.fast_after = 0;
    connect_all();
    same(2, "shm_segment_bytes", file_bytes(2));
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(side_send(&side[k % 2], 2, 20), 0);
        drain(2);
    }
    same(0, "shm_fast_rings_claimed", 1);
    same(1, "shm_fast_rings_claimed", 0);
    event_is(0, "shm_fast_ring_claimed", 1);
    event_is(1, "shm_fast_ring_claimed", 0);
    event_is(0, "shm_connected", N);
    same(1, "shm_fast_rings_refused", 1);
    same(1, "shm_fast_ring_sent", 0);
    same(2, "shm_fast_rings_polled", 1);
    same(2, "shm_segment_bytes", file_bytes(2));
}
END_TEST

START_TEST(copies_are_what_the_kernel_did)
{
    const size_t lens[] = {1, 5000, 300000, 4000001};
    uint64_t sum = 0;
    char *a = calloc(1, 4000001), *b = calloc(1, 4000001);

    connect_all();
    if (side[0].ep[1]->no_rma) {
        fprintf(stderr, "not tested: single copy is forbidden here\n");
        goto out;
    }
    ((struct fm_shm_transport *)side[0].tp)->is_crowded = false;
    for (size_t i = 0; i < FM_ARRAY_LEN(lens); i++) {
        struct fm_rma rma = {.op = i & 1 ? FM_RMA_PUT : FM_RMA_GET, .local = a, .len = lens[i]};

        rma.remote.addr = (uintptr_t)b;
        acting = 0;
        ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
        while (!side[0].is_done) {
            poll_side(1);
            poll_side(0);
        }
        ck_assert_int_eq(side[0].status, 0);
        sum += lens[i];
    }
    drain(1);
    same(0, "shm_copies", FM_ARRAY_LEN(lens));
    same(1, "shm_copies", 0);
    for (int k = 0; k < 2; k++) {
        same(k, "shm_copy_calls", n_calls[k]);
        same(k, "shm_copy_bytes", n_bytes[k]);
    }
    ck_assert_uint_eq(n_bytes[0] + n_bytes[1], sum);
    ck_assert_uint_gt(n_calls[1], 0);
    same(0, "shm_chunks_assisted", n_calls[1]); /* a chunk is one call of the helper */
    same(1, "shm_chunks_copied_for_peers", n_calls[1]);
    same(0, "shm_chunks_copied_for_peers", 0);
    same(1, "shm_chunks_assisted", 0);
out:
    free(a);
    free(b);
}
END_TEST

START_TEST(forbidden_copies_are_counted)
{
    side[1].counters.cma = 0;
    connect_all();
    same(1, "shm_copies_forbidden", N);
    event_is(1, "shm_copy_forbidden", N);
    ck_assert(side[0].ep[1]->no_rma ||
              oracle_value(&fm_shm_vars, &side[0].counters, "shm_copies_forbidden", 0) == 0);
}
END_TEST

START_TEST(sleeps_and_wakes)
{
    struct fm_sleep sleep;
    uint64_t n_sleeps = 0, n_wakeups = 0;

    connect_all();
    for (int k = 0; k < 50; k++) {
        bool has_mail = k % 3 == 0;

        if (has_mail) { /* arrives before it sleeps: no wake-up, no sleep */
            ck_assert_int_eq(side_send(&side[0], 1, 20), 0);
        }
        ck_assert_int_eq(side[1].tp->ops->arm(side[1].tp, &sleep), has_mail ? FM_AGAIN : 0);
        n_sleeps += !has_mail;
        /* The first of two messages wakes the process that has announced a sleep. */
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(side_send(&side[0], 1, 20), 0);
        }
        n_wakeups += !has_mail;
        drain(1);
    }
    same(1, "shm_sleeps", n_sleeps);
    same(0, "shm_wakeups", n_wakeups);
    same(0, "shm_sleeps", 0);
    same(1, "shm_wakeups", 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_oracle");
    TCase *tc = tcase_create("oracle");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, random_traffic_is_counted, 0, 2);
    tcase_add_test(tc, fast_rings_run_out);
    tcase_add_test(tc, copies_are_what_the_kernel_did);
    tcase_add_test(tc, forbidden_copies_are_counted);
    tcase_add_test(tc, sleeps_and_wakes);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
