/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event registrations (MPI-5.0 15.3.8.4): the callbacks of an event, and how a registration ends.
 *
 * Emitters take no lock. A registration stays in its event's list for good and is used again;
 * `n_inside` counts the threads that use it, and the last one that leaves a registration that was
 * freed meanwhile ends it (also one that is freed by its own callback).
 *
 * A callback that runs may free a registration, deliver events or raise one. What this calls on the
 * same thread gets at least the safety level of that callback: the context of the thread.
 */
#pragma once

#include "mpit/mpit_live.h"

#define FM_T_LEVELS 4

/* A user's callback at one safety level. */
struct fm_t_callback {
    fm_t_any_fn fn;
    void *user_data;
    struct fm_t_callback *retired; /* chain of replaced ones that an emitter may still use */
};

enum fm_t_registration_state {
    FM_T_REGISTRATION_DEAD,
    FM_T_REGISTRATION_LIVE,
    FM_T_REGISTRATION_ENDING,
    FM_T_REGISTRATION_ENDED
};

/* Fields that emitters use are atomic. */
struct fm_t_registration {
    struct fm_t_slot slot;
    struct fm_t_registration *next; /* in its event's list, never changes */
    struct fm_t_event *event;
    const struct fm_t_callers *callers;
    _Atomic(const void *) object; /* NULL: not bound */
    _Atomic uint32_t state;       /* enum fm_t_registration_state */
    _Atomic uint32_t n_inside;
    _Atomic(struct fm_t_callback *) callbacks[FM_T_LEVELS];
    _Atomic(fm_t_any_fn) dropped_fn;
    _Atomic uint64_t n_dropped[FM_T_SOURCES];
    struct fm_t_callback *retired;
    fm_t_any_fn free_fn;
    void *free_data;
    uint64_t free_value;
    bool is_orphan;
    _Atomic(bool) wants_time; /* its callbacks have asked for time stamps */
};

/* The innermost callback on this thread: its safety level, and the event that it is shown. */
struct fm_t_context {
    int safety;
    struct fm_t_raised *shown;
};
/* Initial-exec: signal handlers use it. */
extern _Thread_local struct fm_t_context fm_t_context __attribute__((tls_model("initial-exec")));

/* Around a user's function: set the context of this thread, and put back what it was. */
static inline struct fm_t_context fm_t_context_begin(int safety, struct fm_t_raised *shown)
{
    struct fm_t_context before = fm_t_context;

    fm_t_context = (struct fm_t_context){safety, shown};
    return before;
}

static inline void fm_t_context_end(struct fm_t_context before)
{
    fm_t_context = before;
}

/* The registration with this value, or NULL. */
struct fm_t_registration *fm_t_registration_find(uint64_t value);
/* The n-th one that was ever made, or NULL. */
struct fm_t_registration *fm_t_registration_at(uint32_t n);

/* End a freed registration that no thread uses: calls its free callback. */
void fm_t_registration_end_unused(struct fm_t_registration *r, int safety);

/* Use a registration; false when it is not live. fm_t_registration_leave() must follow either way.
   Sequentially consistent with the store of ENDING in fm_t_event_free: either the emitter sees
   that, or fm_t_event_free sees the emitter. */
static inline bool fm_t_registration_enter(struct fm_t_registration *r)
{
    atomic_fetch_add(&r->n_inside, 1);
    return atomic_load(&r->state) == FM_T_REGISTRATION_LIVE;
}

static inline void fm_t_registration_leave(struct fm_t_registration *r, int safety)
{
    if (atomic_fetch_sub(&r->n_inside, 1) == 1 &&
        __builtin_expect(atomic_load(&r->state) == FM_T_REGISTRATION_ENDING, 0)) {
        fm_t_registration_end_unused(r, safety);
    }
}

/* The callback with the lowest level that is sufficient (15.3.8.3); *out_any: is there any? */
struct fm_t_callback *fm_t_registration_pick(struct fm_t_registration *r, int safety,
                                             bool *out_any);

/* The last tool leaves: end all. False when a thread still uses one. Called locked. */
bool fm_t_registration_finish(void);
