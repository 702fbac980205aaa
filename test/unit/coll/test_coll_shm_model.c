/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared memory of short collectives (coll_shm_slot.h) under every interleaving.
 *
 * Calls: the code itself, two and three ranks, orders as in orders.h: every result is that of its
 * call, no slot is reused while a rank still needs it, no rank sleeps for ever. Ranks sleep as they
 * do in coll_shm_sync.c: announce, a last poll, then asleep until woken.
 *
 * Sleeping: a model of its protocol on a machine with store buffers (x86), all states, with one
 * rank that sleeps, one that publishes what it waits for, and one that publishes something else.
 * Without the barrier the model must find the lost wake-up, or it would prove nothing.
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
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_exchange_explicit
#define atomic_load_explicit(p, order) (step(), __atomic_load_n((p), __ATOMIC_SEQ_CST))
#define atomic_store_explicit(p, v, order)                                                         \
    (step(), moved(), __atomic_store_n((p), (v), __ATOMIC_SEQ_CST))
#define atomic_fetch_add_explicit(p, v, order)                                                     \
    (step(), moved(), __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define atomic_fetch_sub_explicit(p, v, order)                                                     \
    (step(), moved(), __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST))
#define atomic_exchange_explicit(p, v, order)                                                      \
    (step(), moved(), __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))

#define FM_COLL_SLOTS 4
#include "core/coll/coll_shm_slot.h"

/* ---- Calls ---------------------------------------------------------------------------------- */

#define RANKS  3 /* at most */
#define STRIDE 64
#define BEFORE (UINT32_MAX - 2) /* number of the last call before: numbers wrap */

enum what { END, REDUCE, BCAST };

struct call {
    enum what what;
    uint32_t root; /* or TO_ALL */
};

static char memory[4096] FM_ALIGNED(64);
static bool is_woken[RANKS];
static const struct call *program;
static int n_ranks;
static bool may_sleep, is_flat;

/* As the calls up to BEFORE have left it. */
static void reset(void)
{
    struct fm_coll_slots v = fm_coll_slots(memory, (uint32_t)n_ranks, STRIDE);

    memset(memory, 0, sizeof(memory));
    memset(is_woken, 0, sizeof(is_woken));
    for (uint32_t n = BEFORE; n > BEFORE - FM_COLL_SLOTS; n--) {
        fm_coll_slot_result(&v, n)->word = n;
        for (uint32_t r = 0; r < v.size; r++) {
            fm_coll_slot_entry(&v, n, r)->word = n;
        }
    }
}

static void wake(const struct fm_coll_slots *v, uint32_t rank)
{
    for (uint32_t r = 0; r < v->size; r++) {
        if (r != rank && fm_coll_slots_take_sleeper(v, r)) {
            step();
            moved();
            is_woken[r] = true;
        }
    }
}

static void sleep_until(const struct fm_coll_slots *v, uint32_t n, uint32_t rank,
                        bool (*is_ready)(const struct fm_coll_slots *v, uint32_t n))
{
    while (!is_ready(v, n)) {
        fm_coll_slots_announce(v, rank, true);
        if (!is_ready(v, n)) {
            while (!is_woken[rank]) {
                wait_for_others();
            }
        }
        is_woken[rank] = false;
        fm_coll_slots_announce(v, rank, false);
    }
}

static void wait_for(const struct fm_coll_slots *v, uint32_t n, uint32_t rank,
                     bool (*is_ready)(const struct fm_coll_slots *v, uint32_t n))
{
    if (may_sleep) {
        sleep_until(v, n, rank, is_ready);
    }
    while (!is_ready(v, n)) {
        wait_for_others();
    }
}

static void linger(void)
{
    step();
}

#include "slot_calls.h"

static void rank_body(void)
{
    struct fm_coll_slots v = fm_coll_slots(memory, (uint32_t)n_ranks, STRIDE);
    uint32_t rank = (uint32_t)current;

    v.is_flat = is_flat;
    v.n = v.last_all = BEFORE;
    for (const struct call *c = program; c->what != END; c++) {
        if (c->root != TO_ALL && fm_coll_slots_are_full(&v)) {
            call_reduce(&v, rank, TO_ALL);
        }
        if (c->what == BCAST) {
            call_bcast(&v, rank, c->root);
        } else {
            call_reduce(&v, rank, c->root);
        }
    }
    finished();
}

static void explore_calls(const struct call *calls, int ranks, bool with_sleep, bool flat,
                          int preemptions)
{
    ck_assert_uint_le(fm_coll_slots_len(RANKS, STRIDE), sizeof(memory));
    program = calls;
    n_ranks = ranks;
    may_sleep = with_sleep;
    is_flat = flat;
    walk(reset, rank_body, ranks, preemptions);
    printf("calls of %d ranks: %llu orders\n", ranks, (unsigned long long)n_runs);
    ck_assert_uint_gt(n_runs, 1000);
}

/* Round all slots, with calls in a row that do not wait for all. */
START_TEST(every_order_of_calls)
{
    static const struct call many[] = {{REDUCE, TO_ALL}, {BCAST, 1}, {BCAST, 1}, {REDUCE, 0},
                                       {BCAST, 1},       {BCAST, 1}, {BCAST, 1}, {END, 0}};
    static const struct call few[] = {{BCAST, 2}, {REDUCE, 0}, {REDUCE, TO_ALL}, {END, 0}};

    for (int flat = 0; flat < 2; flat++) {
        explore_calls(many, 2, false, flat, 3);
        explore_calls(few, 3, false, flat, flat ? 1 : 2);
    }
}
END_TEST

START_TEST(every_order_of_sleeping)
{
    static const struct call calls[] = {{REDUCE, TO_ALL}, {BCAST, 1}, {END, 0}};

    for (int flat = 0; flat < 2; flat++) {
        explore_calls(calls, 2, true, flat, flat ? 3 : 4);
        explore_calls(calls, 3, true, flat, flat ? 1 : 2);
    }
}
END_TEST

/* ---- Dozing, on a machine with store buffers ------------------------------------------------ */

struct state {
    unsigned char sleeper, other, publisher; /* where they are */
    unsigned char flag, n_sleeping, done;    /* in memory */
    unsigned char flag_store, done_store;    /* still buffered: value + 1 */
    unsigned char wakeups, other_left;       /* on their way; rounds of `other` */
};

enum { D_LOOK, D_FLAG, D_ADD, D_LAST, D_ASLEEP, D_UNFLAG, D_SUB, D_END };
enum { P_STORE, P_FENCE, P_COUNT, P_FLAG, P_TAKE, P_NUDGE, P_END };

static unsigned char *visited;
static uint64_t n_states;
static bool has_fence, has_lost;

static size_t number_of(const struct state *s)
{
    size_t n = ((size_t)s->sleeper * 8 + s->other) * 8 + s->publisher;

    n = ((n * 2 + s->flag) * 2 + s->n_sleeping) * 2 + s->done;
    n = ((n * 3 + s->flag_store) * 2 + s->done_store) * 4 + s->wakeups;
    return n * 3 + s->other_left;
}

static void drain_flag(struct state *s)
{
    s->flag = s->flag_store ? s->flag_store - 1 : s->flag;
    s->flag_store = 0;
}

static void drain_done(struct state *s)
{
    s->done = s->done_store ? 1 : s->done;
    s->done_store = 0;
}

/* One step of the sleeper; false when it cannot move. */
static bool sleeper_steps(struct state *s)
{
    switch (s->sleeper) {
    case D_LOOK:
        s->sleeper = s->done ? D_END : D_FLAG;
        return true;
    case D_FLAG:
        drain_flag(s); /* stores leave the buffer in order */
        s->flag_store = 2;
        s->sleeper = D_ADD;
        return true;
    case D_ADD: /* a locked instruction waits for the buffer */
        drain_flag(s);
        s->n_sleeping = 1;
        s->sleeper = D_LAST;
        return true;
    case D_LAST:
        s->sleeper = s->done ? D_UNFLAG : D_ASLEEP;
        return true;
    case D_ASLEEP:
        if (!s->wakeups) {
            return false;
        }
        s->wakeups = 0;
        s->sleeper = D_UNFLAG;
        return true;
    case D_UNFLAG:
        s->flag_store = 1;
        s->sleeper = D_SUB;
        return true;
    case D_SUB:
        drain_flag(s);
        s->n_sleeping = 0;
        s->sleeper = D_LOOK;
        return true;
    default:
        return false;
    }
}

/* What both publishers do after their fence. */
static bool looks(struct state *s, unsigned char *pc)
{
    switch (*pc) {
    case P_COUNT:
        *pc = s->n_sleeping ? P_FLAG : P_END;
        return true;
    case P_FLAG:
        *pc = s->flag ? P_TAKE : P_END;
        return true;
    case P_TAKE:
        *pc = s->flag ? P_NUDGE : P_END;
        s->flag = 0;
        return true;
    case P_NUDGE:
        s->wakeups++;
        *pc = P_END;
        return true;
    default:
        return false;
    }
}

static bool publisher_steps(struct state *s)
{
    switch (s->publisher) {
    case P_STORE:
        s->done_store = 1;
        s->publisher = P_FENCE;
        return true;
    case P_FENCE:
        if (has_fence) {
            drain_done(s);
        }
        s->publisher = P_COUNT;
        return true;
    case P_TAKE: /* the exchange is a full barrier, too */
        drain_done(s);
        return looks(s, &s->publisher);
    default:
        return looks(s, &s->publisher);
    }
}

static bool other_steps(struct state *s)
{
    if (s->other == P_END && s->other_left > 0) {
        s->other_left--;
        s->other = P_COUNT;
        return true;
    }
    return looks(s, &s->other);
}

static void explore(const struct state *s)
{
    struct state next[5] = {*s, *s, *s, *s, *s};
    bool can[5] = {sleeper_steps(&next[0]), publisher_steps(&next[1]), other_steps(&next[2]),
                   s->flag_store != 0, s->done_store != 0};
    size_t number = number_of(s);
    bool is_end = true;

    if (visited[number / 8] >> number % 8 & 1) {
        return;
    }
    visited[number / 8] |= (unsigned char)(1 << number % 8);
    n_states++;
    drain_flag(&next[3]);
    drain_done(&next[4]);
    for (int k = 0; k < 5; k++) {
        if (can[k]) {
            is_end = false;
            explore(&next[k]);
        }
    }
    has_lost |= is_end && s->sleeper != D_END;
}

static bool loses(bool with_fence)
{
    static const struct state first = {.other = P_END, .other_left = 2};
    static const struct state last = {D_END, P_END, P_END, 1, 1, 1, 2, 1, 3, 2};

    visited = calloc(number_of(&last) / 8 + 1, 1);
    ck_assert_ptr_nonnull(visited);
    has_fence = with_fence;
    has_lost = false;
    n_states = 0;
    explore(&first);
    free(visited);
    printf("sleeping, %s a fence: %llu states\n", with_fence ? "with" : "without",
           (unsigned long long)n_states);
    return has_lost;
}

START_TEST(no_state_loses_a_wake_up)
{
    ck_assert(!loses(true));
    ck_assert(loses(false));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coll_shm_model");
    TCase *tc = tcase_create("orders");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, every_order_of_calls);
    tcase_add_test(tc, every_order_of_sleeping);
    tcase_add_test(tc, no_state_loses_a_wake_up);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
