/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a handle: one word `ctl`, and a value for each element of the handle.
 *
 *     63   32 31      8    7       6      5      2 1    0
 *     +-------+---------+-------+---------+--------+------+
 *     | since | changes | fresh | running | filled | live |
 *     +-------+---------+-------+---------+--------+------+
 *
 * The values s[i] are kept in FM_T_STATE_COPIES copies, of which `live` numbers the valid one. A
 * change claims another copy (its bit in `filled`), fills it, and makes it the live one by a
 * compare-and-swap. That fails if another change came first: the change then begins again from the
 * new state. A reader takes the live copy and reads again if `changes` has moved on meanwhile.
 *
 * `since` is added to s[0]: readreset of a running counter moves it in one compare-and-swap and
 * without a copy, as long as it fits into 32 bits. A change that began from an older one fails. It
 * is 0 in arrays and doubles.
 *
 * `fresh` marks a watermark that begins with the level at its next start.
 *
 * Every function here is lock-free and async-signal-safe, but for begin and finish: a sampling tool
 * may change a handle in a signal handler while the interrupted thread changes it (15.3.7.6).
 * test_mpit_state.c walks every interleaving of small sets of operations.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_T_STATE_COPIES  4 /* the live one, and three changes at one time: threads and handlers */
#define FM_T_STATE_LIVE    UINT64_C(0x3)
#define FM_T_STATE_FILLED  2 /* shift */
#define FM_T_STATE_RUNNING UINT64_C(0x40)
#define FM_T_STATE_FRESH   UINT64_C(0x80)
#define FM_T_STATE_CHANGES 8  /* shift; modulo 2^24 */
#define FM_T_STATE_SINCE   32 /* shift */

struct fm_t_state {
    _Atomic uint64_t ctl;
    _Atomic uint64_t one[FM_T_STATE_COPIES]; /* the copies where there is one element */
    _Atomic uint64_t *copies;                /* `one`, or an array of its own */
    size_t count;                            /* elements of a copy */
};

/* One change in progress: the state that it begins from, and the copy that it fills. */
struct fm_t_state_change {
    uint64_t from;
    unsigned copy;
};

/* A state of `count` elements, all of them 0, with these flags. 0, or -1: memory is out. */
int fm_t_state_begin(struct fm_t_state *s, size_t count, uint64_t flags);
void fm_t_state_finish(struct fm_t_state *s);

/* Begin a change. It must end with fm_t_state_change_end() or _give_up(). */
struct fm_t_state_change fm_t_state_change_begin(struct fm_t_state *s);
/* Make the filled copy the live one, with these flags. False when another change came first: fill
   the copy again, from c->from. */
bool fm_t_state_change_end(struct fm_t_state *s, struct fm_t_state_change *c, uint64_t flags);
void fm_t_state_give_up(struct fm_t_state *s, const struct fm_t_state_change *c);
/* Count a change that moved something beside the state. False when another change came first. */
bool fm_t_state_touch(struct fm_t_state *s, uint64_t ctl);

static inline bool fm_t_state_is_running(uint64_t ctl)
{
    return (ctl & FM_T_STATE_RUNNING) != 0;
}

static inline uint64_t fm_t_state_load(const struct fm_t_state *s)
{
    /* Pairs with the release in fm_t_state_change_end: the live copy is seen filled. */
    return atomic_load_explicit(&s->ctl, memory_order_acquire);
}

/* Element i of that copy. */
static inline _Atomic uint64_t *fm_t_state_element(const struct fm_t_state *s, unsigned copy, int i)
{
    return &s->copies[copy * s->count + (size_t)i];
}

/* s[i] as it is in ctl. */
static inline uint64_t fm_t_state_of(const struct fm_t_state *s, uint64_t ctl, int i)
{
    return atomic_load_explicit(fm_t_state_element(s, ctl & FM_T_STATE_LIVE, i),
                                memory_order_relaxed) +
           (ctl >> FM_T_STATE_SINCE);
}

/* s[0] of a state of one element. */
static inline uint64_t fm_t_state_of_one(const struct fm_t_state *s, uint64_t ctl)
{
    return atomic_load_explicit(&s->one[ctl & FM_T_STATE_LIVE], memory_order_relaxed) +
           (ctl >> FM_T_STATE_SINCE);
}

/* Has a change come between these two? */
static inline bool fm_t_state_has_changed(uint64_t before, uint64_t now)
{
    return (before ^ now) >> FM_T_STATE_CHANGES != 0;
}

/* Has the state changed since it was as in ctl? If not, what was read before is from then. */
static inline bool fm_t_state_is_past(const struct fm_t_state *s, uint64_t ctl)
{
    atomic_thread_fence(memory_order_acquire);
    return fm_t_state_has_changed(ctl, atomic_load_explicit(&s->ctl, memory_order_relaxed));
}

/* Add `by` to s[0] of a state of one element that is as in *ctl. 1; 0 when it is not, and *ctl is
   then what it is now; -1 when `by` does not fit: change the whole state. */
static inline int fm_t_state_add(struct fm_t_state *s, uint64_t *ctl, uint64_t by)
{
    if (by > UINT32_MAX || (*ctl >> FM_T_STATE_SINCE) + by > UINT32_MAX) {
        return -1;
    }
    return atomic_compare_exchange_weak_explicit(&s->ctl, ctl, *ctl + (by << FM_T_STATE_SINCE),
                                                 memory_order_acq_rel, memory_order_acquire);
}
