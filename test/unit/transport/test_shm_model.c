/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring, box and bell under every interleaving.
 *
 * Ring and box: the code itself, with each atomic operation made a point at which any thread may go
 * on. The threads are coroutines; the orders are walked depth first, all of them up to a number of
 * preemptions. Memory is sequentially consistent there; that plain accesses are ordered by the
 * atomics is ThreadSanitizer's part (test_shm_threads).
 *
 * Bell and door: a model of the protocols in shm_msg.c and shm_door.c on a machine with store
 * buffers (x86), all states. With a mistake in it, such as no barrier at all or the pipe cleared
 * too late, the model must find the lost wake-up, or it would prove nothing.
 */
#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/orders.h"
#include "support/suite.h"

#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_compare_exchange_weak_explicit
#define atomic_load_explicit(p, order) (step(), __atomic_load_n((p), __ATOMIC_SEQ_CST))
#define atomic_store_explicit(p, v, order)                                                         \
    (step(), moved(), __atomic_store_n((p), (v), __ATOMIC_SEQ_CST))
#define atomic_compare_exchange_weak_explicit(p, expected, v, ok, no)                              \
    (step(), moved(),                                                                              \
     __atomic_compare_exchange_n((p), (expected), (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

#define FM_SHM_TAKEN 1 /* of the few cells below */
#include "transport/shm/shm_box.h"
#include "transport/shm/shm_ring.h"

/* ---- The ring: two writers, one reader ------------------------------------------------------ */

#define RING_LEN 256 /* four units, so that spans of one and two wrap in every way */
#define EACH     3   /* messages of each writer */

static struct {
    struct fm_shm_ring ring;
    char units[RING_LEN];
} FM_ALIGNED(64) ring;

static void ring_reset(void)
{
    memset(&ring, 0, sizeof(ring));
}

static size_t ring_len_of(int writer, int k)
{
    return (k + writer) % 2 ? 8 : 70; /* one unit or two */
}

static void ring_writer(int writer)
{
    for (int k = 0; k < EACH; k++) {
        size_t len = ring_len_of(writer, k);
        struct fm_shm_unit *u;

        while (!(u = fm_shm_ring_take(&ring.ring, RING_LEN, len))) {
            wait_for_others();
        }
        u->len = len;
        memset(u->data, 16 * writer + k, len);
        fm_shm_ring_publish(u, fm_shm_ring_span(len), FM_SHM_MESSAGE);
    }
}

static void ring_reader(void)
{
    uint64_t head = 0, span;
    uint32_t kind;
    int seen[2] = {0, 0};

    while (seen[0] + seen[1] < 2 * EACH) {
        struct fm_shm_unit *u = fm_shm_ring_peek(&ring.ring, RING_LEN, head, &span, &kind);

        if (!u) {
            wait_for_others();
            continue;
        }
        if (kind == FM_SHM_MESSAGE) {
            int writer = u->data[0] / 16;

            ck_assert_int_lt(writer, 2);
            ck_assert_int_eq(u->data[0] % 16, seen[writer]);
            ck_assert_uint_eq(u->len, ring_len_of(writer, seen[writer]));
            ck_assert_int_eq(u->data[u->len - 1], u->data[0]);
            ck_assert_uint_eq(span, fm_shm_ring_span(u->len));
            seen[writer]++;
        } else {
            ck_assert_uint_eq(kind, FM_SHM_SKIP);
        }
        head = fm_shm_ring_advance(&ring.ring, RING_LEN, head, span);
    }
}

static void ring_body(void)
{
    if (current == 2) {
        ring_reader();
    } else {
        ring_writer(current);
    }
    finished();
}

START_TEST(every_order_of_the_ring)
{
    walk(ring_reset, ring_body, 3, 2);
    printf("ring: %llu orders\n", (unsigned long long)n_runs);
    ck_assert_uint_gt(n_runs, 1000);
}
END_TEST

/* ---- The box: one writer, one reader -------------------------------------------------------- */

#define N_CELLS 4
#define MAX_LEN 120 /* two cells */
#define N_BOXED 13
#define BEFORE  (UINT32_MAX - 7) /* cells before the first message: their numbers wrap */

static struct {
    struct fm_shm_box box;
    struct fm_shm_cell cells[N_CELLS + 1];
} FM_ALIGNED(64) box;

static void box_reset(void)
{
    memset(&box, 0, sizeof(box));
    box.box.done = BEFORE;
    for (uint32_t k = 0; k < N_CELLS; k++) {
        box.cells[k].word = UINT64_C(8) << 32 | (BEFORE - N_CELLS + k + 1);
    }
}

static void box_attach(struct fm_shm_end *e)
{
    fm_shm_box_attach(e, &box, N_CELLS);
    e->at = e->done = e->taken = BEFORE;
    e->takes = true;
    e->long_end += BEFORE;
}

/* The second begins a cell before the place of the fifth a lap later, the third lies in the
   overhang; the seventh is reserved as a long one; behind the ninth the words of a whole lap are to
   be cleared. */
static size_t box_len_of(int k)
{
    static const unsigned char lens[N_BOXED] = {8, MAX_LEN, MAX_LEN, 8, 8, 8, 56,
                                                8, MAX_LEN, 8,       8, 8, 8};

    return lens[k];
}

/* Payload that looks like the word that the reader will wait for in its place `lap` cells later. */
static void box_fill(unsigned char *data, size_t len, uint32_t at, int k, uint32_t lap)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = UINT64_C(8) << 32 | (at + (uint32_t)((i + 8) / 64) + lap + 1);

        memcpy(data + i, &word, 8);
    }
    memcpy(data, &(uint64_t){(uint64_t)k}, 8);
}

static void box_writer(void)
{
    struct fm_shm_end e;

    box_attach(&e);
    for (int k = 0; k < N_BOXED; k++) {
        size_t len = box_len_of(k), room = len == 56 ? MAX_LEN : len; /* some become shorter */
        struct fm_shm_cell *cell;

        while (!(cell = fm_shm_box_room(&e, room))) {
            wait_for_others();
        }
        box_fill(cell->data, room, e.at, k, room == len ? N_CELLS : 0);
        fm_shm_box_publish(&e, cell, (uint32_t)len);
    }
}

static void box_reader(void)
{
    struct fm_shm_end e;
    uint32_t len;

    box_attach(&e);
    for (int k = 0; k < N_BOXED;) {
        struct fm_shm_cell *cell = fm_shm_box_peek(&e, &len);
        unsigned char wanted[MAX_LEN];

        if (!cell) {
            wait_for_others();
            continue;
        }
        ck_assert_uint_eq(len, box_len_of(k));
        box_fill(wanted, len, e.at, k, len == 56 ? 0 : N_CELLS);
        ck_assert_mem_eq(cell->data, wanted, len);
        fm_shm_box_advance(&e, len);
        k++;
    }
}

static void box_body(void)
{
    if (current == 0) {
        box_writer();
    } else {
        box_reader();
    }
    finished();
}

START_TEST(every_order_of_the_box)
{
    walk(box_reset, box_body, 2, 3);
    printf("box: %llu orders\n", (unsigned long long)n_runs);
    ck_assert_uint_gt(n_runs, 1000);
}
END_TEST

/* ---- The bell, on a machine with store buffers ---------------------------------------------- */

/* As SETTLE, but wrong: an announcement that stands is old (HASTY); age taken after the look. */
enum barrier { NONE, FENCES, SETTLE, HASTY, AGE_LATE };
enum door { NO_DOOR, DOOR, DOOR_CLEARED_LATE };

#define N_SENDERS 2
#define N_MSGS    2

/* All of the machine; a store in a buffer is seen by its owner only. */
struct state {
    unsigned char pc[N_SENDERS], sent[N_SENDERS];
    unsigned char buffered[N_SENDERS]; /* publications not yet in memory */
    unsigned char old[N_SENDERS];      /* of those, from before the bell was in memory */
    unsigned char memory;              /* publications in memory */
    unsigned char bell,
        bell_buffered;  /* in memory; 1: the receiver's store of 1 is still buffered */
    unsigned char byte; /* in the pipe; one is as good as many */
    unsigned char rpc, seen;
    unsigned char is_long; /* nothing is on its way from before the bell was set, it thinks */
};

enum {
    R_POLL,
    R_CLEAR,
    R_ANNOUNCE,
    R_BARRIER,
    R_LOOK,
    R_CLEAR_LATE,
    R_WAIT,
    R_ASLEEP,
    R_SHORT, /* asleep for as long as a store may be on its way, or until a signal comes */
    R_STEPS
};
enum { S_STORE, S_BARRIER, S_LOOK, S_RING, S_KNOCK, S_END, S_STEPS };

static unsigned char *visited;
static uint64_t n_states;
static bool has_lost;
static enum barrier barrier;
static enum door door;

static size_t number_of(const struct state *s)
{
    size_t n = 0;

    for (int k = 0; k < N_SENDERS; k++) {
        n = ((n * S_STEPS + s->pc[k]) * (N_MSGS + 1) + s->sent[k]) * (N_MSGS + 1) + s->buffered[k];
        n = n * (N_MSGS + 1) + s->old[k];
    }
    n = n * (N_SENDERS * N_MSGS + 1) + s->memory;
    n = n * (N_SENDERS * N_MSGS + 1) + s->seen;
    n = ((n * 2 + s->bell) * 2 + s->bell_buffered) * 2 + s->byte;
    return (n * 2 + s->is_long) * R_STEPS + s->rpc;
}

static void explore(const struct state *s);

static void drain(struct state *s, int k)
{
    s->memory = (unsigned char)(s->memory + s->buffered[k]);
    s->buffered[k] = s->old[k] = 0;
}

static bool has_short_sleeps(void)
{
    return barrier >= SETTLE;
}

static void drain_bell(struct state *s)
{
    if (s->bell_buffered) {
        s->bell = 1;
        s->bell_buffered = 0;
        if (has_short_sleeps()) {
            memcpy(s->old, s->buffered, sizeof(s->old));
        }
    }
}

static bool has_old(const struct state *s)
{
    for (int k = 0; k < N_SENDERS; k++) {
        if (s->old[k]) {
            return true;
        }
    }
    return false;
}

static void next_message(struct state *s, int k)
{
    s->pc[k] = s->sent[k] < N_MSGS ? S_STORE : S_END;
}

static void awaken(struct state *s)
{
    s->rpc = s->rpc == R_ASLEEP || s->rpc == R_SHORT ? R_POLL : s->rpc;
}

/* One step of a sender; false when it cannot move. */
static bool sender_steps(struct state *s, int k)
{
    switch (s->pc[k]) {
    case S_STORE:
        s->buffered[k]++;
        s->pc[k] = S_BARRIER;
        return true;
    case S_BARRIER: /* a fence waits for the buffer */
        if (barrier == FENCES) {
            drain(s, k);
        }
        s->pc[k] = S_LOOK;
        return true;
    case S_LOOK:
        s->sent[k]++;
        next_message(s, k);
        s->pc[k] = s->bell ? S_RING : s->pc[k];
        return true;
    case S_RING: /* the exchange is a full barrier, too */
        drain(s, k);
        next_message(s, k);
        if (s->bell && door != NO_DOOR) {
            s->pc[k] = S_KNOCK;
        } else if (s->bell) {
            awaken(s);
        }
        s->bell = 0;
        return true;
    case S_KNOCK:
        s->byte = 1;
        awaken(s);
        next_message(s, k);
        return true;
    default:
        return false;
    }
}

static bool receiver_steps(struct state *s)
{
    switch (s->rpc) {
    case R_POLL:
        s->rpc = s->memory > s->seen ? R_POLL : R_CLEAR;
        s->seen = s->memory;
        return true;
    case R_CLEAR: /* of a pipe: a system call, too */
        s->byte = 0;
        s->rpc = R_ANNOUNCE;
        return true;
    case R_ANNOUNCE:
        s->bell_buffered = !s->bell;
        s->is_long = barrier == HASTY && s->bell;
        s->rpc = R_BARRIER;
        return true;
    case R_BARRIER:
        if (barrier != NONE) {
            drain_bell(s);
        }
        s->is_long |= !has_short_sleeps() || !has_old(s);
        s->rpc = R_LOOK;
        return true;
    case R_LOOK:
        s->rpc = s->memory > s->seen ? R_POLL : R_CLEAR_LATE;
        return true;
    case R_CLEAR_LATE:
        s->byte = door == DOOR_CLEARED_LATE ? 0 : s->byte;
        s->rpc = R_WAIT;
        return true;
    case R_WAIT: /* a system call; the kernel looks under a lock of its own */
        drain_bell(s);
        s->is_long |= barrier == AGE_LATE && !has_old(s);
        s->rpc = (door == NO_DOOR ? !s->bell : s->byte) ? R_POLL : s->is_long ? R_ASLEEP : R_SHORT;
        s->is_long = 0;
        return true;
    case R_SHORT:
        s->rpc = R_POLL;
        return true;
    default:
        return false;
    }
}

/* All successors: each thread's step, and each buffer's oldest store going to memory. */
static int successors(const struct state *s, struct state out[])
{
    int n = 0;

    out[n] = *s;
    n += receiver_steps(&out[n]);
    for (int k = 0; k < N_SENDERS; k++) {
        out[n] = *s;
        n += sender_steps(&out[n], k);
        if (s->buffered[k]) {
            out[n] = *s;
            out[n].buffered[k]--;
            out[n].old[k] -= out[n].old[k] > 0;
            out[n++].memory++;
        }
    }
    if (s->bell_buffered) {
        out[n] = *s;
        drain_bell(&out[n++]);
    }
    return n;
}

static void explore(const struct state *s)
{
    struct state next[2 * N_SENDERS + 2];
    size_t number = number_of(s);
    int n;

    if (visited[number / 8] >> number % 8 & 1) {
        return;
    }
    visited[number / 8] |= (unsigned char)(1 << number % 8);
    n_states++;
    n = successors(s, next);
    has_lost |= n == 0 && s->seen < N_SENDERS * N_MSGS;
    for (int k = 0; k < n; k++) {
        explore(&next[k]);
    }
}

static bool loses(enum barrier b, enum door d)
{
    struct state s = {.rpc = R_POLL};
    struct state last = {.rpc = R_STEPS - 1, .bell = 1, .bell_buffered = 1, .is_long = 1};

    last.byte = 1;
    last.memory = last.seen = N_SENDERS * N_MSGS;
    memset(last.pc, S_STEPS - 1, sizeof(last.pc));
    memset(last.sent, N_MSGS, sizeof(last.sent));
    memset(last.buffered, N_MSGS, sizeof(last.buffered));
    memset(last.old, N_MSGS, sizeof(last.old));
    visited = calloc(number_of(&last) / 8 + 1, 1);
    ck_assert_ptr_nonnull(visited);
    barrier = b;
    door = d;
    n_states = 0;
    has_lost = false;
    explore(&s);
    free(visited);
    printf("bell, barrier %d, door %d: %llu states\n", (int)b, (int)d,
           (unsigned long long)n_states);
    return has_lost;
}

START_TEST(no_state_loses_a_wake_up)
{
    ck_assert(!loses(FENCES, NO_DOOR));
    ck_assert(!loses(SETTLE, NO_DOOR));
    ck_assert(loses(NONE, NO_DOOR));
    ck_assert(loses(HASTY, NO_DOOR));
    ck_assert(loses(AGE_LATE, NO_DOOR));
    ck_assert(!loses(FENCES, DOOR));
    ck_assert(!loses(SETTLE, DOOR));
    ck_assert(loses(NONE, DOOR));
    ck_assert(loses(HASTY, DOOR));
    ck_assert(loses(AGE_LATE, DOOR));
    ck_assert(loses(FENCES, DOOR_CLEARED_LATE));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_model");
    TCase *tc = tcase_create("orders");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, every_order_of_the_ring);
    tcase_add_test(tc, every_order_of_the_box);
    tcase_add_test(tc, no_state_loses_a_wake_up);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
