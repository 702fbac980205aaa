/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared-memory transport with all its sides in one process and one thread, step by step. */
#include "shm_side.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/suite.h"
#include "util/sync.h"

#define N 3

static struct side side[N];

static void connect_all(void)
{
    ck_assert_int_eq(sides_open(side, N), 0);
}

static void setup(void)
{
    for (int k = 0; k < N; k++) {
        side_init(&side[k], k, N);
    }
}

static void teardown(void)
{
    sides_disconnect(side, N);
    for (int k = 0; k < N; k++) {
        side_close(&side[k]);
    }
}

static int drain(int self)
{
    int n = 0, rc;

    while ((rc = fm_transport_poll(side[self].tp)) > 0) {
        n += rc;
    }
    ck_assert_int_eq(rc, 0);
    return n;
}

/* ---- Messages ------------------------------------------------------------------------------- */

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

/* A broken peer can make us fail, not crash. */
START_TEST(rubbish_is_refused)
{
    struct fm_shm_transport *t;
    struct fm_shm_unit *u;

    connect_all();
    t = (struct fm_shm_transport *)side[1].tp;
    u = fm_shm_inbox_unit(t->inbox, t->inbox_len, t->inbox_head);
    if (_i == 0) {
        fm_shm_inbox_publish(u, 1 << 30, FM_SHM_MESSAGE);
    } else if (_i == 1) {
        u->len = 1 << 20;
        fm_shm_inbox_publish(u, 64, FM_SHM_MESSAGE);
    } else if (_i == 2) {
        fm_shm_inbox_publish(u, 64, (enum fm_shm_kind)77);
    } else if (_i == 3) {
        u->len = 1000;
        fm_shm_inbox_publish(u, 64, FM_SHM_FAST_RING);
    } else {
        for (int k = 0; k < 12; k++) {
            ck_assert_int_eq(side_send(&side[0], 1, 100), 0);
        }
        atomic_store(&t->header->n_claimed, 99); /* and nonsense in the last slot */
        drain(1);
        t->rx[0].ring->slots[t->rx[0].at & t->rx[0].mask].word =
            UINT64_C(0x7fffffff) << 32 | (t->rx[0].at + 1);
    }
    ck_assert_int_eq(fm_transport_poll(side[1].tp), -FM_E_PROTO);
}
END_TEST

/* ---- Single copy ---------------------------------------------------------------------------- */

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
START_TEST(the_peer_helps)
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

/* ... and is not asked when it has not for some time. */
START_TEST(who_does_not_help_is_left_alone)
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
                     FM_SHM_ASLEEP_FUTEX); /* asleep it is not asked: that is no miss */
        for (int k = 0; k < 2 * FM_SHM_FAILED_ASSISTS; k++) {
            ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
            ck_assert_int_eq(side[0].is_done, false);
            while (!side[0].is_done) {
                fm_transport_poll(side[0].tp);
            }
        }
        atomic_store(&t->header->doorbell, FM_SHM_AWAKE);
        for (int k = 0; k < 2 * FM_SHM_FAILED_ASSISTS + FM_SHM_ASSIST_BACKOFF + 1; k++) {
            bool is_alone =
                k >= FM_SHM_FAILED_ASSISTS && k < FM_SHM_FAILED_ASSISTS + FM_SHM_ASSIST_BACKOFF;
            bool is_helped =
                k == FM_SHM_FAILED_ASSISTS + FM_SHM_ASSIST_BACKOFF; /* which begins it anew */

            b[k] = (char)(k + 1);
            ck_assert_int_eq(side_rma_start(&side[0], 1, &rma), 0);
            ck_assert_int_eq(side[0].is_done, is_alone); /* at once: no job */
            while (!side[0].is_done) {
                if (is_helped) {
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
START_TEST(old_pleas_are_in_nobodys_way)
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
                fm_transport_poll(side[1].tp); /* all that it is asked for */
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
START_TEST(a_plea_in_the_place_of_another_has_its_own_pieces)
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

START_TEST(the_bell_is_rung_once)
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
    tcase_add_loop_test(tc, rubbish_is_refused, 0, 5);
    tcase_add_loop_test(tc, memory_is_read_and_written, 0, 6);
    tcase_add_loop_test(tc, the_peer_helps, 0, 2);
    tcase_add_test(tc, who_does_not_help_is_left_alone);
    tcase_add_test(tc, old_pleas_are_in_nobodys_way);
    tcase_add_test(tc, a_plea_in_the_place_of_another_has_its_own_pieces);
    tcase_add_test(tc, own_transfers_come_first);
    tcase_add_test(tc, a_hundred_transfers_at_once);
    tcase_add_loop_test(tc, memory_that_is_not_there_is_an_error, 0, 2);
    tcase_add_test(tc, copying_can_be_switched_off);
    tcase_add_loop_test(tc, the_bell_is_rung_once, 0, 3);
    tcase_add_loop_test(tc, the_first_sleep_is_short, 0, 3);
    tcase_add_test(tc, nothing_is_left);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
