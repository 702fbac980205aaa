/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One handle of a performance variable: what it shows and what start, stop, read, write, reset and
 * readreset do to it (MPI-5.0 15.3.7).
 *
 * A handle never writes the counters, so handles and sessions cannot disturb each other. What a
 * handle shows for its element i comes from the counter and one value s[i] of its state:
 *
 *     mode     running            stopped
 *     SINCE    counter - s        s          (start: s = counter - s; stop: s = counter - s)
 *     AS_IS    counter            s
 *     HIGH/LOW its follower       s          (mpit_level.c)
 *
 * A watermark has its follower from the allocation to the end; what the follower sees while the
 * handle is stopped does not count.
 *
 * Everything but allocation is lock-free and async-signal-safe (mpit_state.h).
 */
#pragma once

#include "mpit/mpit_live.h"
#include "mpit/mpit_state.h"

/* One allocated handle. Made and ended with the registry's lock, used without it. */
struct fm_t_pvar_handle {
    struct fm_t_slot slot;
    uint64_t session; /* does not change while the handle is valid */
    const struct fm_t_pvar *var;
    const struct fm_t_object *object; /* NULL: not bound */
    int count;                        /* elements */
    bool is_plain;                    /* one integer of 8 bytes, read from one counter or a sum */
    bool is_fixed;  /* a plain one whose counters have known places: read in a few steps */
    uint64_t since; /* of a plain one: all ones if it shows what came since its start */
    /* Of a plain one that is a sum: the places in its variable, or NULL: one counter of each
       member, from `first` on and `step` words apart. */
    bool is_sum;
    const uint32_t *flat;
    size_t first, step;
    int n_members;             /* of the object */
    _Atomic(uint64_t *) words; /* first counter; NULL when the object is gone */
    struct fathom_level *level;
    _Atomic(struct fm_t_follower *) follower; /* of a watermark; NULL when its object is gone */
    struct fm_t_state state;
};

/* All handles and sessions of the process. Found without a lock, changed with the registry's
   (mpit_slots.h). */
extern struct fm_t_slots fm_t_pvar_handles, fm_t_sessions;

static inline bool fm_t_session_is_valid(uint64_t session)
{
    return fm_t_slots_find(&fm_t_sessions, session) != NULL;
}

/* A valid handle of this session, and its counters; or the code. */
static inline __attribute__((always_inline)) int fm_t_pvar_find(uint64_t session, uint64_t handle,
                                                                struct fm_t_pvar_handle **out_h,
                                                                uint64_t **out_words)
{
    struct fm_t_pvar_handle *h = fm_t_slots_find(&fm_t_pvar_handles, handle);

    if (__builtin_expect(!h || h->session != session, 0)) {
        return fm_t_session_is_valid(session) ? FM_T_INVALID_HANDLE : FM_T_INVALID_SESSION;
    }
    /* Pairs with the store in fm_t_pvar_orphan. */
    *out_words = atomic_load_explicit(&h->words, memory_order_acquire);
    *out_h = h;
    return *out_words ? FM_T_OK : FM_T_INVALID_HANDLE;
}

/* ---- mpit_value.c: present values ---- */

/* A counter as it is now, while the engine may be adding to it. */
static inline uint64_t fm_t_value_load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Sum of n counters, `step` words apart. */
uint64_t fm_t_value_added(const void *first, int n, size_t step);

/* Present value of element i of a sum or a share. */
uint64_t fm_t_value_derived(const struct fm_t_pvar_handle *h, const uint64_t *words, int i);

/* Sum of the counters at these places: `flat` holds their number, then the places. Two counters a
   round, so that few additions wait for another. */
static inline uint64_t fm_t_value_flat(const uint32_t *flat, const uint64_t *words)
{
    const uint32_t *end = flat + 1 + *flat;
    uint64_t sum = 0;

    if (*flat & 1) {
        sum = fm_t_value_load(&words[*++flat]);
    }
    for (flat++; flat < end; flat += 2) {
        sum += fm_t_value_load(&words[flat[0]]) + fm_t_value_load(&words[flat[1]]);
    }
    return sum;
}

/* Present value of element i. */
static inline uint64_t fm_t_value_of(const struct fm_t_pvar_handle *h, const uint64_t *words, int i)
{
    if (__builtin_expect(h->var->is_derived, 0)) {
        return fm_t_value_derived(h, words, i);
    }
    return fm_t_value_load(&words[(size_t)i * h->var->step]);
}

/* Present value of a plain handle. */
static inline uint64_t fm_t_value_plain(const struct fm_t_pvar_handle *h, const uint64_t *words)
{
    if (__builtin_expect(!h->is_sum, 1)) {
        return fm_t_value_load(words);
    }
    return h->flat ? fm_t_value_flat(h->flat, words)
                   : fm_t_value_added(words + h->first, h->n_members, h->step);
}

/* Where element i begins (15.3.7.1, by class): 0, or the present level. */
static inline uint64_t fm_t_value_start(const struct fm_t_pvar_handle *h, const uint64_t *words,
                                        int i)
{
    if (h->var->mode == FM_T_PVAR_SINCE) {
        return 0; /* of a double as well */
    }
    return h->level ? fm_t_value_load(&h->level->now) : fm_t_value_of(h, words, i);
}

/* Count one started handle more (by = 1) or less (by = -1) of a variable that the host counts on
   demand. Any thread, signal handlers. */
void fm_t_value_demand(const struct fm_t_pvar *v, int by);

/* ---- mpit_pvar.c: what one handle does ---- */

void fm_t_pvar_start_one(struct fm_t_pvar_handle *h, const uint64_t *words);
void fm_t_pvar_stop_one(struct fm_t_pvar_handle *h, const uint64_t *words);
/* Begin again from the starting value. */
void fm_t_pvar_reset_one(struct fm_t_pvar_handle *h, const uint64_t *words);
