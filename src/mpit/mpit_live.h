/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles, sessions, watermarks, events, and the registry's own variables. For the files of this
 * folder only.
 *
 * Functions that take a handle check it and return a code of enum fm_t_code. All take the
 * registry's lock themselves, save what reads or changes one handle of a performance variable
 * (mpit_pvar.c), the readers of event instances, and what says that it is called with the lock
 * held.
 */
#pragma once

#include <limits.h>
#include <string.h>

#include "mpit/mpit_internal.h"

/* What to say when there is no slot for a handle. Called locked. */
static inline int fm_t_slots_why(const struct fm_t_slots *slots)
{
    return fm_t_slots_is_full(slots) ? FM_T_OUT_OF_HANDLES : FM_T_MEMORY;
}

/* ---- mpit_cvar.c ---- */

int fm_t_cvar_alloc(int index, const void *obj_handle, uint64_t *out_handle, int *out_count);
int fm_t_cvar_free(uint64_t handle);
int fm_t_cvar_read(uint64_t handle, void *buf);
int fm_t_cvar_write(uint64_t handle, const void *buf);
void fm_t_cvar_orphan(const struct fm_t_object *object);
void fm_t_cvar_finish(void);

/* ---- mpit_handle.c, mpit_pvar.c, mpit_value.c, mpit_session.c ---- */

int fm_t_session_create(uint64_t *out_session);
int fm_t_session_free(uint64_t session);
int fm_t_pvar_alloc(uint64_t session, int index, const void *obj_handle, uint64_t *out_handle,
                    int *out_count);
int fm_t_pvar_free(uint64_t session, uint64_t handle);
int fm_t_pvar_start(uint64_t session, uint64_t handle);
int fm_t_pvar_stop(uint64_t session, uint64_t handle);
int fm_t_pvar_read(uint64_t session, uint64_t handle, void *buf);
int fm_t_pvar_write(uint64_t session, uint64_t handle, const void *buf);
int fm_t_pvar_reset(uint64_t session, uint64_t handle);
int fm_t_pvar_readreset(uint64_t session, uint64_t handle, void *buf);
/* The value since the process began of a variable that is bound to no object, without a handle. A
   variable that is counted on demand is counted from the first call on. Any thread, signal
   handlers. */
uint64_t fm_t_pvar_peek(struct fm_t_pvar *v);
/* Called locked: the handles of a session end; handles bound to an object become invalid. */
void fm_t_pvar_end_session(uint64_t session);
void fm_t_pvar_orphan(const struct fm_t_object *object);
void fm_t_pvar_finish(void);
void fm_t_session_finish(void);

/* Store a word as the i-th value of that type; load one. */
static inline void fm_t_type_store(enum fathom_type type, void *buf, int i, uint64_t word)
{
    unsigned narrow = (unsigned)word;

    if (__builtin_expect(type > FATHOM_UNSIGNED, 1)) {
        memcpy((char *)buf + (size_t)i * sizeof(word), &word, sizeof(word));
        return;
    }
    /* A word beyond an int (a queue of 2^31 messages) shows the most that an int can. */
    if (type == FATHOM_INT && (int64_t)word > INT_MAX) {
        narrow = INT_MAX;
    }
    memcpy((char *)buf + (size_t)i * sizeof(narrow), &narrow, sizeof(narrow));
}
uint64_t fm_t_type_load(enum fathom_type type, const void *buf, int i);
/* Is it shown as it is stored? */
static inline bool fm_t_type_is_whole(enum fathom_type type)
{
    return type > FATHOM_UNSIGNED && type < FATHOM_DOUBLE;
}

/* ---- mpit_level.c ---- */

/* The watermark of one handle (mpit_level.c). */
struct fm_t_follower {
    struct fm_t_slot slot;
    _Atomic uint32_t use;
    uint32_t next; /* 1 + number of the next one, does not change once linked */
    _Atomic uint64_t mark;
};

/* Keep watermarks for a handle, from the present level on. NULL: memory is out. This and unfollow
   are called locked; the others are lock-free and async-signal-safe. */
struct fm_t_follower *fm_t_level_follow(struct fathom_level *level, bool is_high);
void fm_t_level_unfollow(struct fathom_level *level, struct fm_t_follower *f);
/* The maximum for a high watermark, the minimum for a low one. */
static inline uint64_t fm_t_level_further(bool is_high, uint64_t a, uint64_t b)
{
    return is_high == (a > b) ? a : b;
}
/* The watermark, with the present level included. */
static inline uint64_t fm_t_level_mark_of(const struct fathom_level *level,
                                          const struct fm_t_follower *f, bool is_high)
{
    uint64_t now = __atomic_load_n(&level->now, __ATOMIC_SEQ_CST), mark = atomic_load(&f->mark);

    return fm_t_level_further(is_high, now, mark);
}
/* The same, and begin again from `from`. */
uint64_t fm_t_level_exchange(struct fathom_level *level, struct fm_t_follower *f, uint64_t from);
/* Put a watermark back after an exchange that was in vain. */
void fm_t_level_merge(struct fathom_level *level, struct fm_t_follower *f, uint64_t mark);
/* The level's memory ends. */
void fm_t_level_finish(struct fathom_level *level);

/* ---- mpit_registration.c, mpit_instance.c, mpit_event.c, mpit_queue.c ---- */

enum { FM_T_SOURCE_ENGINE, FM_T_SOURCE_ASYNC, FM_T_SOURCE_REGISTRY };

/* A user's callback, kept without its type. */
typedef void (*fm_t_any_fn)(void);

/* How to call a user's callbacks: mpit_api_event.c, which knows their types, hands these down with
   each registration. */
struct fm_t_callers {
    void (*event)(fm_t_any_fn fn, uint64_t instance, uint64_t registration, int safety,
                  void *user_data);
    void (*free)(fm_t_any_fn fn, uint64_t registration, int safety, void *user_data);
    void (*dropped)(fm_t_any_fn fn, uint64_t count, uint64_t registration, int source, int safety,
                    void *user_data);
};

/* queue_len: how many events can wait, if this opens the queue; 0: as the cvar says. */
int fm_t_event_alloc(int index, const void *obj_handle, unsigned queue_len,
                     const struct fm_t_callers *callers, uint64_t *out_registration);
int fm_t_event_free(uint64_t registration, void *user_data, fm_t_any_fn fn);
int fm_t_event_callback(uint64_t registration, int safety, void *user_data, fm_t_any_fn fn);
int fm_t_event_dropped(uint64_t registration, fm_t_any_fn fn);
/* 0 when there is such a registration (and, safety >= 0, a callback at that level), or a code. */
int fm_t_event_check(uint64_t registration, int safety);
int fm_t_event_read(uint64_t instance, int item, void *buf);
int fm_t_event_copy(uint64_t instance, void *buf);
int fm_t_event_when(uint64_t instance, int64_t *out_timestamp);
/* The event that a callback on this thread is shown came before what follows. */
void fm_t_event_stamp_shown(void);
int fm_t_event_whence(uint64_t instance, int *out_source);
/* What the innermost callback on this thread must bear: enum fathom_safety. Async-signal-safe. */
int fm_t_event_context(void);
/* An event of the registry's own, which is not bound to an object. Called locked. */
void fm_t_event_raise(const struct fathom_event *event, const void *block, const uint64_t *values);
void fm_t_event_orphan(const void *object);
void fm_t_event_finish(void);

/* An event on its way to one registration. Its time stamp is taken when it is raised if the
   registration has asked for time stamps before (wants_time), else when it is asked for or queued:
   reading the clock costs as much as all else, and most callbacks only count. */
struct fm_t_raised {
    uint64_t registration;
    uint64_t timestamp; /* 0: not taken yet */
    int source;
    int n_values;
    const uint64_t *values;
};

/* Its time stamp, taken now if it has none. */
static inline uint64_t fm_t_raised_stamp(struct fm_t_raised *raised)
{
    if (raised->timestamp == 0) {
        raised->timestamp = fathom_mpit_clock();
    }
    return raised->timestamp;
}

/* Bounded queue, many writers, one reader; lock-free, async-signal-safe writers. */
int fm_t_queue_open(unsigned n_entries);
bool fm_t_queue_push(const struct fm_t_raised *raised);
/* A copy of the oldest entry. False when there is none (or a writer is half through it). */
bool fm_t_queue_peek(struct fm_t_raised *out_raised, uint64_t *out_values);
void fm_t_queue_pop(void);
unsigned fm_t_queue_len(void);  /* entries that wait */
unsigned fm_t_queue_room(void); /* 0: not open */
void fm_t_queue_close(void);

/* ---- mpit_registry.c: life cycle ---- */

/* A tool calls MPI_T_init_thread, or MPI_T_finalize. */
int fm_t_tool_start(void);
int fm_t_tool_stop(void);

/* ---- mpit_self.c: the registry's own variables ---- */

extern const struct fathom_table fm_t_vars;

void fm_t_self_add(void);
/* mpit_sde.c: register the numbers with PAPI, if that is wanted. After the set is fixed. */
enum fm_t_sde_choice { FM_T_SDE_OFF, FM_T_SDE_AUTO, FM_T_SDE_LOAD };
void fm_t_sde_open(void);
/* The event "a control variable was written". */
void fm_t_cvar_written(int index, uint64_t value);
