/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inbox, fast ring and doorbell under every interleaving.
 *
 * Inbox and fast ring: the code itself, with each atomic operation made a point at which any
 * thread may continue. The threads are coroutines; the orders are walked depth first, all of them
 * up to a number of preemptions. Memory is sequentially consistent there; that plain accesses are
 * ordered by the atomics is ThreadSanitizer's part (test_shm_threads).
 *
 * Doorbell and pipe: a model of the protocols in shm_doorbell.h on a machine with store
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

#define FM_SHM_PREFETCH 1 /* of the few slots below */
#include "transport/shm/shm_fast.h"
#include "transport/shm/shm_inbox.h"

/* ---- The inbox: two producers, one consumer -------------------------------------------------- */

#define INBOX_LEN 256 /* four units, so that spans of one and two wrap in every way */
#define EACH      3   /* messages of each producer */

static struct {
    struct fm_shm_inbox head;
    char units[INBOX_LEN];
} FM_ALIGNED(64) inbox;

static void inbox_reset(void)
{
    memset(&inbox, 0, sizeof(inbox));
}

static size_t inbox_len_of(int producer, int k)
{
    return (k + producer) % 2 ? 8 : 70; /* one unit or two */
}

static void inbox_producer(int producer)
{
    for (int k = 0; k < EACH; k++) {
        size_t len = inbox_len_of(producer, k);
        struct fm_shm_unit *u;

        while (!(u = fm_shm_inbox_reserve(&inbox.head, INBOX_LEN, len))) {
            wait_for_others();
        }
        u->len = len;
        memset(u->data, 16 * producer + k, len);
        fm_shm_inbox_publish(u, fm_shm_inbox_span(len), FM_SHM_MESSAGE);
    }
}

static void inbox_consumer(void)
{
    uint64_t head = 0, span;
    uint32_t kind;
    int seen[2] = {0, 0};

    while (seen[0] + seen[1] < 2 * EACH) {
        struct fm_shm_unit *u = fm_shm_inbox_peek(&inbox.head, INBOX_LEN, head, &span, &kind);

        if (!u) {
            wait_for_others();
            continue;
        }
        if (kind == FM_SHM_MESSAGE) {
            int producer = u->data[0] / 16;

            ck_assert_int_lt(producer, 2);
            ck_assert_int_eq(u->data[0] % 16, seen[producer]);
            ck_assert_uint_eq(u->len, inbox_len_of(producer, seen[producer]));
            ck_assert_int_eq(u->data[u->len - 1], u->data[0]);
            ck_assert_uint_eq(span, fm_shm_inbox_span(u->len));
            seen[producer]++;
        } else {
            ck_assert_uint_eq(kind, FM_SHM_SKIP);
        }
        head = fm_shm_inbox_advance(&inbox.head, INBOX_LEN, head, span);
    }
}

static void inbox_body(void)
{
    if (current == 2) {
        inbox_consumer();
    } else {
        inbox_producer(current);
    }
    finished();
}

START_TEST(every_order_of_the_inbox)
{
    walk(inbox_reset, inbox_body, 3, 2);
    printf("inbox: %llu orders\n", (unsigned long long)n_runs);
    ck_assert_uint_gt(n_runs, 1000);
}
END_TEST

/* ---- The fast ring: one producer, one consumer ----------------------------------------------- */

#define N_SLOTS    4
#define MAX_LEN    120 /* two slots */
#define N_MESSAGES 13
#define BEFORE     (UINT32_MAX - 7) /* slots before the first message: their numbers wrap */

static struct {
    struct fm_shm_fast head;
    struct fm_shm_slot slots[N_SLOTS + 1];
} FM_ALIGNED(64) fast;

static void fast_reset(void)
{
    memset(&fast, 0, sizeof(fast));
    fast.head.done = BEFORE;
    for (uint32_t k = 0; k < N_SLOTS; k++) {
        fast.slots[k].word = UINT64_C(8) << 32 | (BEFORE - N_SLOTS + k + 1);
    }
}

static void fast_attach(struct fm_shm_fast_end *e)
{
    fm_shm_fast_attach(e, &fast, N_SLOTS);
    e->at = e->done = e->prefetched = BEFORE;
    e->prefetches = true;
    e->long_end += BEFORE;
}

/* The second begins a slot before the place of the fifth a lap later, the third lies in the
   overhang; the seventh is reserved as a long one; behind the ninth the words of a whole lap are to
   be cleared. */
static size_t fast_len_of(int k)
{
    static const unsigned char lens[N_MESSAGES] = {8, MAX_LEN, MAX_LEN, 8, 8, 8, 56,
                                                   8, MAX_LEN, 8,       8, 8, 8};

    return lens[k];
}

/* Payload that looks like the word that the consumer will poll in its place `lap` slots later. */
static void fast_fill(unsigned char *data, size_t len, uint32_t at, int k, uint32_t lap)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t word = UINT64_C(8) << 32 | (at + (uint32_t)((i + 8) / 64) + lap + 1);

        memcpy(data + i, &word, 8);
    }
    memcpy(data, &(uint64_t){(uint64_t)k}, 8);
}

static void fast_producer(void)
{
    struct fm_shm_fast_end e;

    fast_attach(&e);
    for (int k = 0; k < N_MESSAGES; k++) {
        size_t len = fast_len_of(k), room = len == 56 ? MAX_LEN : len; /* some become shorter */
        struct fm_shm_slot *slot;

        while (!(slot = fm_shm_fast_room(&e, room))) {
            wait_for_others();
        }
        fast_fill(slot->data, room, e.at, k, room == len ? N_SLOTS : 0);
        fm_shm_fast_publish(&e, slot, (uint32_t)len);
    }
}

static void fast_consumer(void)
{
    struct fm_shm_fast_end e;
    uint32_t len;

    fast_attach(&e);
    for (int k = 0; k < N_MESSAGES;) {
        struct fm_shm_slot *slot = fm_shm_fast_peek(&e, &len);
        unsigned char wanted[MAX_LEN];

        if (!slot) {
            wait_for_others();
            continue;
        }
        ck_assert_uint_eq(len, fast_len_of(k));
        fast_fill(wanted, len, e.at, k, len == 56 ? 0 : N_SLOTS);
        ck_assert_mem_eq(slot->data, wanted, len);
        fm_shm_fast_advance(&e, len);
        k++;
    }
}

static void fast_body(void)
{
    if (current == 0) {
        fast_producer();
    } else {
        fast_consumer();
    }
    finished();
}

START_TEST(every_order_of_the_fast_ring)
{
    walk(fast_reset, fast_body, 2, 3);
    printf("fast ring: %llu orders\n", (unsigned long long)n_runs);
    ck_assert_uint_gt(n_runs, 1000);
}
END_TEST

/* ---- The doorbell, on a machine with store buffers ------------------------------------------- */

/* As SETTLE, but wrong: an announcement that stands is old (HASTY); age taken after the poll. */
enum barrier { NONE, FENCES, SETTLE, HASTY, AGE_LATE };
enum pipe { NO_PIPE, PIPE, PIPE_DRAINED_LATE };

#define N_SENDERS 2
#define N_MSGS    2

/* All of the machine; a store in a buffer is seen by its owner only. */
struct state {
    unsigned char pc[N_SENDERS], sent[N_SENDERS];
    unsigned char buffered[N_SENDERS]; /* publications not yet in memory */
    unsigned char old[N_SENDERS];      /* of those, from before the doorbell was in memory */
    unsigned char memory;              /* publications in memory */
    unsigned char doorbell,
        doorbell_buffered; /* in memory; 1: the receiver's store of 1 is still buffered */
    unsigned char byte;    /* in the pipe; one is as good as many */
    unsigned char rpc, seen;
    unsigned char is_long; /* nothing is on its way from before the doorbell was set, it thinks */
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
static enum pipe pipe_kind;

static size_t number_of(const struct state *s)
{
    size_t n = 0;

    for (int k = 0; k < N_SENDERS; k++) {
        n = ((n * S_STEPS + s->pc[k]) * (N_MSGS + 1) + s->sent[k]) * (N_MSGS + 1) + s->buffered[k];
        n = n * (N_MSGS + 1) + s->old[k];
    }
    n = n * (N_SENDERS * N_MSGS + 1) + s->memory;
    n = n * (N_SENDERS * N_MSGS + 1) + s->seen;
    n = ((n * 2 + s->doorbell) * 2 + s->doorbell_buffered) * 2 + s->byte;
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
    if (s->doorbell_buffered) {
        s->doorbell = 1;
        s->doorbell_buffered = 0;
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
        s->pc[k] = s->doorbell ? S_RING : s->pc[k];
        return true;
    case S_RING: /* the exchange is a full barrier, too */
        drain(s, k);
        next_message(s, k);
        if (s->doorbell && pipe_kind != NO_PIPE) {
            s->pc[k] = S_KNOCK;
        } else if (s->doorbell) {
            awaken(s);
        }
        s->doorbell = 0;
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
        s->doorbell_buffered = !s->doorbell;
        s->is_long = barrier == HASTY && s->doorbell;
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
        s->byte = pipe_kind == PIPE_DRAINED_LATE ? 0 : s->byte;
        s->rpc = R_WAIT;
        return true;
    case R_WAIT: /* a system call; the kernel looks under a lock of its own */
        drain_bell(s);
        s->is_long |= barrier == AGE_LATE && !has_old(s);
        s->rpc = (pipe_kind == NO_PIPE ? !s->doorbell : s->byte) ? R_POLL
                 : s->is_long                                    ? R_ASLEEP
                                                                 : R_SHORT;
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
    if (s->doorbell_buffered) {
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

static bool loses(enum barrier b, enum pipe d)
{
    struct state s = {.rpc = R_POLL};
    struct state last = {.rpc = R_STEPS - 1, .doorbell = 1, .doorbell_buffered = 1, .is_long = 1};

    last.byte = 1;
    last.memory = last.seen = N_SENDERS * N_MSGS;
    memset(last.pc, S_STEPS - 1, sizeof(last.pc));
    memset(last.sent, N_MSGS, sizeof(last.sent));
    memset(last.buffered, N_MSGS, sizeof(last.buffered));
    memset(last.old, N_MSGS, sizeof(last.old));
    visited = calloc(number_of(&last) / 8 + 1, 1);
    ck_assert_ptr_nonnull(visited);
    barrier = b;
    pipe_kind = d;
    n_states = 0;
    has_lost = false;
    explore(&s);
    free(visited);
    printf("doorbell, barrier %d, pipe %d: %llu states\n", (int)b, (int)d,
           (unsigned long long)n_states);
    return has_lost;
}

START_TEST(no_state_loses_a_wake_up)
{
    ck_assert(!loses(FENCES, NO_PIPE));
    ck_assert(!loses(SETTLE, NO_PIPE));
    ck_assert(loses(NONE, NO_PIPE));
    ck_assert(loses(HASTY, NO_PIPE));
    ck_assert(loses(AGE_LATE, NO_PIPE));
    ck_assert(!loses(FENCES, PIPE));
    ck_assert(!loses(SETTLE, PIPE));
    ck_assert(loses(NONE, PIPE));
    ck_assert(loses(HASTY, PIPE));
    ck_assert(loses(AGE_LATE, PIPE));
    ck_assert(loses(FENCES, PIPE_DRAINED_LATE));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_model");
    TCase *tc = tcase_create("orders");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, every_order_of_the_inbox);
    tcase_add_test(tc, every_order_of_the_fast_ring);
    tcase_add_test(tc, no_state_loses_a_wake_up);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
