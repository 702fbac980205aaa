/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared-memory transport with all its sides in one process and one thread, step by step. */
#include "shm_trio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "util/sync.h"

START_TEST(every_size_arrives)
{
    size_t max;

    side[1].counters.fast_rings = _i ? 16 : 0; /* 0: all goes through the inbox */
    connect_all();
    max = side[0].tp->max_send;
    for (size_t len = 16; len <= max; len += len < 300 ? 1 : 61) {
        ck_assert_int_eq(side_send(&side[0], 1, len), 0);
        ck_assert_int_eq(side_send_in_place(&side[0], 1, len, len + 40 <= max ? 40 : 0), 0);
        drain(1);
    }
    ck_assert_int_eq(side_send(&side[0], 1, max), 0);
    ck_assert_int_eq(side_send(&side[0], 1, max + 1), -FM_E_INVAL);
    drain(1);
    ck_assert_uint_eq(side[1].seen[0], side[0].sent[1]);
    ck_assert_uint_eq(side[1].n_wrong, 0);
#if FM_STATS
    ck_assert_uint_eq(side[0].counters.n_fast_claimed, (uint64_t)_i);
    ck_assert_uint_eq(side[1].counters.n_fast_polled, (uint64_t)_i);
    ck_assert_uint_eq(side[0].counters.inbox_sent.n + side[0].counters.fast_sent.n,
                      side[0].sent[1]);
    ck_assert_uint_eq(side[1].counters.received.n, side[0].sent[1]);
    ck_assert_uint_eq(side[0].counters.fast_sent.len + side[0].counters.inbox_sent.len,
                      side[1].counters.received.len);
    ck_assert_uint_eq(side[0].counters.inbox_sent.n, _i ? 8 : side[0].sent[1]);
#endif
}
END_TEST

/* Full at every fill level, over many laps; what was refused is sent again and all keeps order. */
START_TEST(a_full_receiver_refuses_and_recovers)
{
    int refused = 0;

    for (int k = 0; k < N; k++) {
        side[k].counters.fast_rings = _i ? 2 : 0;
        side[k].counters.fast_after = 3;
    }
    connect_all();
    for (int k = 0; k < 60000; k++) {
        int from = (int)side_random(&side[0], 2);
        size_t len = 16 + side_random(&side[0], side_random(&side[0], 8) ? 100 : 16000);
        int rc = side_random(&side[0], 2) ? side_send(&side[from], 2, len)
                                          : side_send_in_place(&side[from], 2, len, 0);

        ck_assert(rc == 0 || rc == FM_AGAIN);
        refused += rc == FM_AGAIN;
        if (rc == FM_AGAIN && side_random(&side[0], 3) == 0) {
            fm_transport_poll(side[2].tp);
        }
    }
    drain(2);
    ck_assert_int_gt(refused, 1000);
    ck_assert_uint_eq(side[2].n_wrong, 0);
    ck_assert_uint_eq(side[2].seen[0], side[0].sent[2]);
    ck_assert_uint_eq(side[2].seen[1], side[1].sent[2]);
#if FM_STATS
    ck_assert_uint_eq(side[0].counters.n_full + side[1].counters.n_full, (uint64_t)refused);
#endif
}
END_TEST

START_TEST(fast_rings_run_out)
{
    side[2].counters.fast_rings = 1;
    side[2].counters.fast_after = side[0].counters.fast_after = side[1].counters.fast_after = 0;
    connect_all();
    for (int k = 0; k < 1000; k++) {
        ck_assert_int_eq(side_send(&side[k % 2], 2, 16 + (size_t)k), 0);
        drain(2);
    }
    ck_assert_uint_eq(side[2].seen[0], 500);
    ck_assert_uint_eq(side[2].seen[1], 500);
    ck_assert_uint_eq(side[2].n_wrong, 0);
#if FM_STATS
    ck_assert_uint_eq(side[0].counters.n_fast_claimed, 1);
    ck_assert_uint_eq(side[1].counters.n_fast_claimed, 0);
    ck_assert_uint_eq(side[1].counters.n_fast_refused, 1);
#endif
}
END_TEST

/* A fast ring whose lines all end in a mark. */
enum { RING_SLOTS = 64, LONGEST = 700, MARK = 0xa7 };

static struct fm_shm_fast *marked_ring(struct fm_shm_fast_end *out_end)
{
    size_t len = fm_shm_fast_size(RING_SLOTS, LONGEST);
    struct fm_shm_fast *ring = aligned_alloc(FM_CACHE_LINE, len);

    memset(ring, 0, len);
    for (uint32_t k = 0; k < RING_SLOTS; k++) {
        ring->slots[k].data[FM_SHM_INLINE - 1] = MARK;
    }
    fm_shm_fast_attach(out_end, ring, RING_SLOTS);
    out_end->prefetches = true;
    return ring;
}

static void publish_marked(struct fm_shm_fast_end *e, struct fm_shm_slot *slot, size_t len)
{
    memset(slot->data, MARK, len);
    fm_shm_fast_publish(e, slot, (uint32_t)len);
}

/* Not the line that the consumer polls; as many as a long message took. */
START_TEST(lines_are_prefetched_for_write)
{
    static const size_t lens[] = {FM_SHM_INLINE, LONGEST};
    struct fm_shm_fast_end e;
    struct fm_shm_fast *ring = marked_ring(&e);

    e.prefetches = _i == 0;
    for (int i = 0; i < 2; i++) {
        uint32_t n = i == 0 ? FM_SHM_PREFETCH : fm_shm_fast_span(LONGEST);

        n = e.prefetches ? n : 0;
        publish_marked(&e, fm_shm_fast_room(&e, lens[i]), lens[i]);
        for (uint32_t k = e.at; k < RING_SLOTS; k++) {
            bool is_prefetched = k > e.at && k <= e.at + n;

            ck_assert_uint_eq(ring->slots[k].data[FM_SHM_INLINE - 1], is_prefetched ? 0 : MARK);
        }
    }
    free(ring);
}
END_TEST

START_TEST(no_line_is_prefetched_with_a_message_in_it)
{
    for (uint32_t span = 1; span <= FM_SHM_PREFETCH; span++) { /* of the first one */
        struct fm_shm_fast_end e;
        struct fm_shm_fast *ring = marked_ring(&e);
        size_t len = FM_SHM_INLINE + (span - 1) * FM_CACHE_LINE;
        struct fm_shm_slot *slot;

        while ((slot = fm_shm_fast_room(&e, len))) { /* the consumer releases nothing */
            publish_marked(&e, slot, len);
            len = FM_SHM_INLINE;
        }
        ck_assert_uint_eq(e.at, RING_SLOTS - 1);
        for (uint32_t k = 0; k < e.at; k++) {
            ck_assert_uint_eq(ring->slots[k].data[FM_SHM_INLINE - 1], MARK);
        }
        free(ring);
    }
}
END_TEST

/* In a bulk ring, wherever consumer and producer are: the lines behind the first of the next block,
   which does not wrap, or none; those of a long message only while the consumer is close behind, or
   where there is no pipeline. */
START_TEST(lines_of_a_bulk_ring_are_prefetched)
{
    enum { LINES = 64 };
    const uint32_t span = _i ? 3 : 2; /* the longest that is not long has two lines */
    char *lines = aligned_alloc(FM_CACHE_LINE, LINES * FM_CACHE_LINE);

    for (uint32_t at = 0; at < LINES; at++) {
        uint32_t slot = at + span <= LINES ? at : LINES;

        for (uint32_t n_full = 0; n_full <= LINES; n_full++) {
            struct fm_shm_bulk bulk = {
                .lines = lines, .n_lines = LINES, .at = at, .done = at - n_full};
            bool is_behind = at - bulk.done > LINES / 16 + span;
            bool has_room = slot + span - bulk.done <= LINES && !(_i == 1 && is_behind);

            bulk.is_bypassed = _i == 2;
            memset(lines, MARK, LINES * FM_CACHE_LINE);
            bulk.is_nontemporal = true; /* its lines are not written through the cache */
            fm_shm_bulk_prefetch(&bulk, (span - 1) * FM_CACHE_LINE);
            ck_assert_int_eq((unsigned char)lines[LINES * FM_CACHE_LINE - 1], MARK);
            bulk.is_nontemporal = false;
            fm_shm_bulk_prefetch(&bulk, (span - 1) * FM_CACHE_LINE);
            for (uint32_t k = 0; k < LINES; k++) {
                uint32_t behind = (k - slot) % LINES;
                bool is_prefetched = has_room && behind >= 1 && behind < span;

                ck_assert_int_eq((unsigned char)lines[k * FM_CACHE_LINE + FM_CACHE_LINE - 1],
                                 is_prefetched ? 0 : MARK);
            }
        }
    }
    free(lines);
}
END_TEST

START_TEST(what_is_reserved_can_be_given_back)
{
    void *room;
    struct fm_ep *ep;

    side[0].counters.fast_after = 4;
    connect_all();
    ep = side[0].ep[1];
    for (int k = 0; k < 200; k++) {
        size_t len = k % 3 ? 20 : 5000;

        ck_assert_int_eq(ep->ops->reserve(ep, len, &room), 0);
        memset(room, 0xee, len);
        ck_assert_int_eq(ep->ops->commit(ep, room, 0), 0);
        ck_assert_int_eq(side_send_in_place(&side[0], 1, 17, len), 0);
        drain(1);
    }
    ck_assert_uint_eq(side[1].seen[0], 200);
    ck_assert_uint_eq(side[1].n_wrong, 0);
}
END_TEST

/* Memory of a process: the inbox at open, a fast ring when it is claimed, none for idle peers. */
START_TEST(memory_comes_with_use)
{
    uint64_t before;

    connect_all();
    before = side[1].counters.segment_bytes;
    ck_assert_uint_le(before, 160 << 10);
    for (int k = 0; k < 9; k++) {
        ck_assert_int_eq(side_send(&side[0], 1, 16), 0);
        drain(1);
        ck_assert(k == 8 || side[1].counters.segment_bytes == before);
    }
    ck_assert_uint_gt(side[1].counters.segment_bytes, before + (128 << 10));
    ck_assert_uint_eq(side[0].counters.segment_bytes, before);
    ck_assert_uint_eq(side[0].counters.n_peers.now, N);
}
END_TEST

/* ---- Attaching ------------------------------------------------------------------------------ */

START_TEST(wrong_addresses_are_refused)
{
    struct fm_shm_address a, bad;
    size_t len;
    struct fm_ep *ep = NULL;
    const struct fm_transport_ops *o;

    connect_all();
    o = side[0].tp->ops;
    ck_assert_int_eq(side[1].tp->ops->address(side[1].tp, &a, &len), 0);
    bad = a;
    bad.nonce++;
    ck_assert_int_eq(o->connect(side[0].tp, 1, &bad, len, &ep), -FM_E_UNSUPPORTED);
    bad = a;
    bad.pid = 1 << 30; /* no process has such a number: it must have ended */
    ck_assert_int_eq(o->connect(side[0].tp, 1, &bad, len, &ep), -FM_E_PEER);
    bad.pid_space++; /* in another container it may live */
    ck_assert_int_eq(o->connect(side[0].tp, 1, &bad, len, &ep), -FM_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(fm_why(), "cannot be opened"));
    bad = a;
    bad.fd = 0;
    ck_assert_int_eq(o->connect(side[0].tp, 1, &bad, len, &ep), -FM_E_UNSUPPORTED);
    bad = a;
    bad.segment_len *= 2;
    ck_assert_int_eq(o->connect(side[0].tp, 1, &bad, len, &ep), -FM_E_UNSUPPORTED);
    bad = a;
    bad.version++;
    ck_assert_int_eq(o->connect(side[0].tp, 1, &bad, len, &ep), -FM_E_UNSUPPORTED);
    ck_assert_int_eq(o->connect(side[0].tp, 1, &a, len - 1, &ep), -FM_E_PROTO);
    ck_assert_ptr_null(ep);
    ck_assert_uint_eq(side[0].counters.n_peers.now, N);
}
END_TEST

START_TEST(other_settings_are_refused)
{
    char address[FM_ADDRESS_MAX];
    size_t len;

    side[1].counters.max_message = 8 << 10;
    ck_assert_int_eq(side_open(&side[0]), 0);
    ck_assert_int_eq(side_open(&side[1]), 0);
    ck_assert_int_eq(side[1].tp->ops->address(side[1].tp, address, &len), 0);
    ck_assert_int_eq(side_connect(&side[0], 1, address), -FM_E_INVAL);
    ck_assert_ptr_nonnull(strstr(fm_why(), "settings"));
}
END_TEST

START_TEST(a_closed_peer_is_noticed_when_full)
{
    int rc = 0;

    connect_all();
    /* As close() does; the mapping must stay, because all sides are one process here. */
    atomic_store(&((struct fm_shm_transport *)side[1].tp)->header->closed, 1);
    for (int k = 0; k < 100000 && rc >= 0; k++) {
        rc = side_send(&side[0], 1, 4000);
    }
    ck_assert_int_eq(rc, -FM_E_PEER);
    ck_assert_int_eq(side[0].failed_peer, 1);
    side[0].failed_peer = -1;
    ck_assert_int_eq(side_send(&side[0], 1, 20), -FM_E_PEER);
    ck_assert_int_eq(side[0].failed_peer, -1);
    ck_assert_int_eq(side_send(&side[0], 2, 20), 0);
}
END_TEST

/* ---- Sleeping ------------------------------------------------------------------------------- */

/* Senders without a fence: only an announcement that is old enough lets us sleep without end. */
START_TEST(the_first_sleep_is_short)
{
    struct fm_sleep sleep;
    uint64_t t0;

    for (int k = 0; k < N; k++) {
        side[k].counters.wake = (uint64_t)_i;
    }
    connect_all();
    for (int round = 0; round < 3; round++) {
        t0 = fm_now_ns();
        do {
            ck_assert_int_eq(side[0].tp->ops->arm(side[0].tp, &sleep), 0);
        } while (sleep.max_us);
        if (_i == 2) {
            ck_assert_uint_ge(fm_now_ns() - t0, 1000000);
        }
        ck_assert_int_eq(side_send(&side[1], 0, 20), 0); /* takes the announcement back */
        ck_assert_int_eq(drain(0), 1);
    }
}
END_TEST

START_TEST(the_doorbell_is_rung_once)
{
    struct fm_sleep sleep;

    for (int k = 0; k < N; k++) {
        side[k].counters.wake = (uint64_t)_i;
    }
    connect_all();
    ck_assert_int_eq(side[0].tp->ops->arm(side[0].tp, &sleep), 0);
    ck_assert_int_eq(sleep.fd, -1);
    ck_assert_uint_eq(*sleep.word, sleep.seen);
    ck_assert_int_eq(side_send(&side[1], 0, 20), 0);
    ck_assert_uint_ne(*sleep.word, sleep.seen);
    ck_assert_int_eq(side_send(&side[2], 0, 20), 0);
    ck_assert_int_eq(side[0].tp->ops->arm(side[0].tp, &sleep), FM_AGAIN);
    ck_assert_int_eq(drain(0), 2);
    ck_assert_int_eq(side[0].tp->ops->arm(side[0].tp, &sleep), 0);
    for (int k = 0; k < 20; k++) { /* through a fast ring as well */
        ck_assert_int_eq(side[0].tp->ops->arm(side[0].tp, &sleep), 0);
        ck_assert_int_eq(side_send(&side[1], 0, k & 1 ? 20 : 200), 0);
        ck_assert_uint_ne(*sleep.word, sleep.seen);
        ck_assert_int_eq(side[0].tp->ops->arm(side[0].tp, &sleep), FM_AGAIN);
        ck_assert_int_gt(drain(0), 0);
    }
#if FM_STATS
    ck_assert_uint_eq(side[1].counters.n_wakeups, 21);
    ck_assert_uint_eq(side[2].counters.n_wakeups, 0);
    ck_assert_uint_eq(side[0].counters.n_sleeps, 22);
#endif
}
END_TEST

/* Nothing has a name, so nothing can be left behind; files are closed with the transport. */
START_TEST(nothing_is_left)
{
    int before = 0, after = 0;

    for (int fd = 0; fd < 256; fd++) {
        before += fcntl(fd, F_GETFD) >= 0;
    }
    connect_all();
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(side_send(&side[0], 1, 20), 0);
    }
    teardown();
    for (int fd = 0; fd < 256; fd++) {
        after += fcntl(fd, F_GETFD) >= 0;
    }
    ck_assert_int_eq(before, after);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm");
    TCase *tc = tcase_create("steps");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, every_size_arrives, 0, 2);
    tcase_add_loop_test(tc, a_full_receiver_refuses_and_recovers, 0, 2);
    tcase_add_test(tc, fast_rings_run_out);
    tcase_add_loop_test(tc, lines_are_prefetched_for_write, 0, 2);
    tcase_add_test(tc, no_line_is_prefetched_with_a_message_in_it);
    tcase_add_loop_test(tc, lines_of_a_bulk_ring_are_prefetched, 0, 3);
    tcase_add_test(tc, what_is_reserved_can_be_given_back);
    tcase_add_test(tc, memory_comes_with_use);
    tcase_add_test(tc, wrong_addresses_are_refused);
    tcase_add_test(tc, other_settings_are_refused);
    tcase_add_test(tc, a_closed_peer_is_noticed_when_full);
    tcase_add_loop_test(tc, the_doorbell_is_rung_once, 0, 3);
    tcase_add_loop_test(tc, the_first_sleep_is_short, 0, 3);
    tcase_add_test(tc, nothing_is_left);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
