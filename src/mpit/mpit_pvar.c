/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of performance variables (MPI-5.0 15.3.7): start, stop, read, write, reset, readreset.
 *
 * No handle ever touches the words, so handles and sessions cannot disturb each other. What a
 * handle shows for its element i comes from the word and one state word s[i]:
 *
 *     mode     running            stopped
 *     SINCE    word - s           s          (start: s = word - s; stop: s = word - s)
 *     AS_IS    word               s
 *     HIGH/LOW its follower       s          (mpit_level.c)
 *
 * There are two copies of (running, s...); `seq` says which counts. A change fills the other copy
 * and then moves seq on, so a reader who interrupts it (a signal handler on the same thread) still
 * finds a whole state, and one on another thread that was overtaken reads again. Changes to a
 * handle exclude each other by `busy`; start and stop hold the registry's lock besides, for
 * followers.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mpit/mpit_live.h"

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_slots handles = {.slot_len = sizeof(struct fm_pvar_handle),
                                  .kind = FM_SLOT_PVAR_HANDLE};

#define ALL_HANDLES 1u /* MPI_T_PVAR_ALL_HANDLES */

/* ---- one state ---- */

static void change_begin(struct fm_pvar_handle *h)
{
    int n = 0;

    /* Pairs with the release store in change_end. */
    while (atomic_exchange_explicit(&h->busy, 1, memory_order_acquire)) {
        if (++n % 64 == 0) {
            sched_yield(); /* the one who changes it may have been put off the processor */
        }
    }
}

static void change_end(struct fm_pvar_handle *h)
{
    atomic_store_explicit(&h->busy, 0, memory_order_release);
}

static _Atomic uint64_t *state_of(struct fm_pvar_handle *h, uint32_t seq)
{
    return h->states + (size_t)(seq & 1) * (size_t)h->count;
}

/* The present value of the word of element i, or what computes it. */
static uint64_t word_of(const struct fm_pvar_handle *h, const uint64_t *words, int i)
{
    const struct fathom_pvar *row = h->var->row;

    if (__builtin_expect(row->compute != NULL, 0)) {
        return row->compute(h->var->table->block, h->object ? h->object->block : NULL);
    }
    return __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

/* a - b in the handle's type. */
static uint64_t minus(const struct fm_pvar_handle *h, uint64_t a, uint64_t b)
{
    double x, y;

    if (__builtin_expect(h->var->type != FATHOM_DOUBLE, 1)) {
        return a - b;
    }
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    x -= y;
    memcpy(&a, &x, sizeof(a));
    return a;
}

/* What element i shows, given a state. */
static uint64_t value_of(struct fm_pvar_handle *h, const uint64_t *words, uint64_t state,
                         bool is_running, int i)
{
    if (!is_running) {
        return state;
    }
    switch (h->var->mode) {
    case FM_PVAR_SINCE:
        return minus(h, word_of(h, words, i), state);
    case FM_PVAR_AS_IS:
        return word_of(h, words, i);
    default:
        return fm_level_mark_of(h->level, h->follower);
    }
}

/* ---- what one handle does ---- */

/* Called in a change: the next state is `is_running` with these values to show. */
static void set_state(struct fm_pvar_handle *h, const uint64_t *words, bool is_running,
                      uint64_t (*value)(struct fm_pvar_handle *h, const uint64_t *words, int i))
{
    uint32_t seq = atomic_load_explicit(&h->seq, memory_order_relaxed);
    _Atomic uint64_t *next = state_of(h, seq + 1);
    uint64_t v;
    int i;

    for (i = 0; i < h->count; i++) {
        v = value(h, words, i);
        if (is_running && h->var->mode == FM_PVAR_SINCE) {
            v = minus(h, word_of(h, words, i), v);
        }
        atomic_store_explicit(&next[i], v, memory_order_relaxed);
    }
    atomic_store_explicit(&h->is_running[(seq + 1) & 1], is_running, memory_order_relaxed);
    /* Pairs with the acquire load in fm_pvar_read: the copy is seen whole. */
    atomic_store_explicit(&h->seq, seq + 1, memory_order_release);
}

static bool is_running(const struct fm_pvar_handle *h)
{
    uint32_t seq = atomic_load_explicit(&h->seq, memory_order_relaxed);

    return atomic_load_explicit(&h->is_running[seq & 1], memory_order_relaxed);
}

static uint64_t present_value(struct fm_pvar_handle *h, const uint64_t *words, int i)
{
    uint32_t seq = atomic_load_explicit(&h->seq, memory_order_relaxed);

    return value_of(h, words, atomic_load_explicit(&state_of(h, seq)[i], memory_order_relaxed),
                    is_running(h), i);
}

/* MPI-5.0 15.3.7, of each class: 0, or the present level. */
static uint64_t starting_value(struct fm_pvar_handle *h, const uint64_t *words, int i)
{
    if (h->var->mode == FM_PVAR_SINCE) {
        return 0; /* of a double as well */
    }
    return h->level ? __atomic_load_n(&h->level->now, __ATOMIC_RELAXED) : word_of(h, words, i);
}

/* Called locked. 0, or a code. */
static int start_one(struct fm_pvar_handle *h, uint64_t *words)
{
    uint64_t from, now;
    int rc = FM_T_OK;

    change_begin(h);
    if (!is_running(h)) {
        if (h->level) {
            now = starting_value(h, words, 0);
            from = h->is_fresh ? now : present_value(h, words, 0);
            h->is_fresh = false;
            h->follower = fm_level_follow(h->level, h->var->mode == FM_PVAR_HIGH, from);
            rc = h->follower ? FM_T_OK : FM_T_MEMORY;
        }
        if (rc == FM_T_OK) {
            set_state(h, words, true, present_value);
        }
    }
    change_end(h);
    return rc;
}

/* Called locked. */
static void stop_one(struct fm_pvar_handle *h, uint64_t *words)
{
    struct fm_follower *f;

    change_begin(h);
    if (is_running(h)) {
        f = h->follower;
        set_state(h, words, false, present_value);
        if (f) {
            h->follower = NULL;
            fm_level_unfollow(h->level, f);
        }
    }
    change_end(h);
}

/* Give every element the value that `value` says; the values before go to out_buf unless it is
 * NULL. */
static void assign(struct fm_pvar_handle *h, uint64_t *words, const void *from, void *out_buf)
{
    uint32_t seq;
    uint64_t word, v, old;
    bool runs;
    int i;

    change_begin(h);
    seq = atomic_load_explicit(&h->seq, memory_order_relaxed);
    runs = is_running(h);
    for (i = 0; i < h->count; i++) {
        v = from ? fm_type_load(h->var->type, from, i) : starting_value(h, words, i);
        old = atomic_load_explicit(&state_of(h, seq)[i], memory_order_relaxed);
        if (runs && h->follower) {
            old = fm_level_exchange(h->level, h->follower, v);
        } else if (runs) {
            /* One load of the word ends the old count and begins the new: nothing falls between. */
            word = word_of(h, words, i);
            old = minus(h, word, old);
            v = minus(h, word, v);
        }
        if (out_buf) {
            fm_type_store(h->var->type, out_buf, i, old);
        }
        atomic_store_explicit(&state_of(h, seq + 1)[i], v, memory_order_relaxed);
    }
    h->is_fresh = !from && !runs;
    atomic_store_explicit(&h->is_running[(seq + 1) & 1], runs, memory_order_relaxed);
    atomic_store_explicit(&h->seq, seq + 1, memory_order_release);
    change_end(h);
}

/* ---- handles ---- */

/* A live handle of this session, and its words; or the code. */
static int find(uint64_t session, uint64_t handle, struct fm_pvar_handle **out_h,
                uint64_t **out_words)
{
    struct fm_pvar_handle *h = fm_slots_find(&handles, handle);

    if (__builtin_expect(!h || h->session != session, 0)) {
        return fm_session_is_valid(session) ? FM_T_INVALID_HANDLE : FM_T_INVALID_SESSION;
    }
    /* Pairs with the store in fm_pvar_orphan. */
    *out_words = atomic_load_explicit(&h->words, memory_order_acquire);
    *out_h = h;
    return *out_words ? FM_T_OK : FM_T_INVALID_HANDLE;
}

static int take_states(struct fm_pvar_handle *h)
{
    h->states = h->one;
    if (h->count > 1) {
        h->states = calloc((size_t)h->count * 2, sizeof(*h->states));
    }
    return h->states ? 0 : -1;
}

/* Called locked. */
static void handle_end(struct fm_pvar_handle *h)
{
    uint64_t *words = atomic_load_explicit(&h->words, memory_order_relaxed);

    fm_slots_hide(h);
    if (words) {
        stop_one(h, words);
    }
    if (h->states != h->one) {
        free(h->states);
        h->states = h->one;
    }
    fm_slots_drop(&handles, h);
    fathom_level_set(&fm_mpit_words->handles, handles.n_live);
}

/* Called locked, with what the handle is bound to. */
static int handle_begin(struct fm_pvar_handle *h, const struct fm_pvar *v)
{
    char *block = h->object ? h->object->block : v->table->block;
    size_t at = v->word_at;
    int i;

    h->var = v;
    h->count = v->count ? v->count : h->object->n_members;
    at += v->count ? 0 : (size_t)v->member_row * (size_t)h->count * sizeof(uint64_t);
    /* A computed variable has no words; any address that is not NULL stands for them. */
    atomic_store_explicit(&h->words, (uint64_t *)(void *)(block ? block + at : (char *)h),
                          memory_order_relaxed);
    if (v->mode == FM_PVAR_HIGH || v->mode == FM_PVAR_LOW) {
        h->level = (struct fathom_level *)(void *)(block + at);
    }
    if (take_states(h) != 0) {
        return FM_T_MEMORY;
    }
    h->is_fresh = true;
    for (i = 0; i < h->count; i++) {
        atomic_store_explicit(&h->states[i], starting_value(h, h->words, i), memory_order_relaxed);
    }
    /* Continuous variables run from the beginning (15.3.7). */
    return v->row->is_continuous ? start_one(h, h->words) : FM_T_OK;
}

int fm_pvar_alloc(uint64_t session, int index, const void *obj_handle, uint64_t *out_handle,
                  int *out_count)
{
    const struct fm_object *object = NULL;
    const struct fm_pvar *v;
    struct fm_pvar_handle *h = NULL;
    int rc = FM_T_OK;

    if (!fm_session_is_valid(session)) {
        return FM_T_INVALID_SESSION;
    }
    if (index < 0 || index >= fm_mpit.n_pvars) {
        return FM_T_INVALID_INDEX;
    }
    v = &fm_mpit.pvars[index];
    fm_mpit_lock();
    if (v->bind != FATHOM_BIND_NONE) {
        object = fm_object_of_handle(v->table, v->bind, obj_handle);
        rc = object ? FM_T_OK : FM_T_INVALID;
    }
    if (rc == FM_T_OK) {
        h = fm_slots_take(&handles);
        rc = h ? FM_T_OK : FM_T_OUT_OF_HANDLES;
    }
    if (rc == FM_T_OK) {
        h->session = session;
        h->object = object;
        rc = handle_begin(h, v);
        if (rc != FM_T_OK) {
            handle_end(h);
        }
    }
    if (rc == FM_T_OK) {
        fm_slots_publish(&handles, h);
        fathom_level_set(&fm_mpit_words->handles, handles.n_live);
        *out_handle = fm_slots_value(&handles, h);
        *out_count = h->count;
    }
    fm_mpit_unlock();
    return rc;
}

int fm_pvar_free(uint64_t session, uint64_t handle)
{
    struct fm_pvar_handle *h;
    int rc = FM_T_OK;

    fm_mpit_lock();
    h = fm_slots_find(&handles, handle);
    if (!fm_session_is_valid(session)) {
        rc = FM_T_INVALID_SESSION;
    } else if (!h || h->session != session) {
        rc = FM_T_INVALID_HANDLE;
    } else {
        handle_end(h); /* its object may be gone: it can be freed all the same */
    }
    fm_mpit_unlock();
    return rc;
}

/* The live handles of a session, one after the other: *at is where to go on. Called locked. */
static struct fm_pvar_handle *next_of(uint64_t session, uint32_t *at)
{
    struct fm_pvar_handle *h;

    while ((h = fm_slots_at(&handles, *at)) != NULL) {
        ++*at;
        if (atomic_load_explicit(&h->slot.value, memory_order_relaxed) && h->session == session) {
            return h;
        }
    }
    return NULL;
}

enum verb { START, STOP, RESET };

/* Called locked. Of all handles, those are passed over that the verb does not fit (15.3.7). */
static int do_one(struct fm_pvar_handle *h, uint64_t *words, enum verb verb, bool is_all)
{
    if (verb == RESET) {
        if (h->var->is_readonly) {
            return is_all ? FM_T_OK : FM_T_PVAR_NO_WRITE;
        }
        assign(h, words, NULL, NULL);
        return FM_T_OK;
    }
    if (h->var->row->is_continuous) {
        return is_all ? FM_T_OK : FM_T_PVAR_NO_STARTSTOP;
    }
    if (verb == START) {
        return start_one(h, words);
    }
    stop_one(h, words);
    return FM_T_OK;
}

static int do_all(uint64_t session, enum verb verb)
{
    struct fm_pvar_handle *h;
    uint64_t *words;
    uint32_t at = 0;
    int rc = FM_T_OK;

    if (!fm_session_is_valid(session)) {
        return FM_T_INVALID_SESSION;
    }
    while ((h = next_of(session, &at)) != NULL) {
        words = atomic_load_explicit(&h->words, memory_order_relaxed);
        if (words && do_one(h, words, verb, true) != FM_T_OK) {
            rc = verb == RESET ? FM_T_PVAR_NO_WRITE : FM_T_PVAR_NO_STARTSTOP;
        }
    }
    return rc;
}

static int do_verb(uint64_t session, uint64_t handle, enum verb verb)
{
    struct fm_pvar_handle *h;
    uint64_t *words;
    int rc;

    fm_mpit_lock();
    if (handle == ALL_HANDLES) {
        rc = do_all(session, verb);
    } else {
        rc = find(session, handle, &h, &words);
        if (rc == FM_T_OK) {
            rc = do_one(h, words, verb, false);
        }
    }
    fm_mpit_unlock();
    return rc;
}

int fm_pvar_start(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, START);
}

int fm_pvar_stop(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, STOP);
}

int fm_pvar_reset(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, RESET);
}

/* Whole state of a handle that is an array or a watermark, or that changed while it was read. */
static __attribute__((noinline)) void read_slowly(struct fm_pvar_handle *h, const uint64_t *words,
                                                  void *buf)
{
    uint32_t seq, again;
    struct fm_follower *f;
    uint64_t v;
    bool runs;
    int i;

    do {
        seq = atomic_load_explicit(&h->seq, memory_order_acquire);
        runs = atomic_load_explicit(&h->is_running[seq & 1], memory_order_relaxed);
        f = h->follower;
        for (i = 0; i < h->count; i++) {
            v = atomic_load_explicit(&state_of(h, seq)[i], memory_order_relaxed);
            if (!h->level) {
                v = value_of(h, words, v, runs, i);
            } else if (runs && f) {
                v = fm_level_mark_of(h->level, f);
            }
            fm_type_store(h->var->type, buf, i, v);
        }
        atomic_thread_fence(memory_order_acquire);
        again = atomic_load_explicit(&h->seq, memory_order_relaxed);
    } while (seq != again);
}

/* Lock-free, async-signal-safe. */
int fm_pvar_read(uint64_t session, uint64_t handle, void *buf)
{
    struct fm_pvar_handle *h;
    uint64_t *words, v;
    uint32_t seq;
    int rc = find(session, handle, &h, &words);

    if (__builtin_expect(rc != FM_T_OK, 0)) {
        return rc;
    }
    if (__builtin_expect(h->count != 1 || h->level, 0)) {
        read_slowly(h, words, buf);
        return FM_T_OK;
    }
    seq = atomic_load_explicit(&h->seq, memory_order_acquire);
    v = value_of(h, words, atomic_load_explicit(&h->one[seq & 1], memory_order_relaxed),
                 atomic_load_explicit(&h->is_running[seq & 1], memory_order_relaxed), 0);
    atomic_thread_fence(memory_order_acquire);
    if (__builtin_expect(seq != atomic_load_explicit(&h->seq, memory_order_relaxed), 0)) {
        read_slowly(h, words, buf);
        return FM_T_OK;
    }
    fm_type_store(h->var->type, buf, 0, v);
    return FM_T_OK;
}

int fm_pvar_write(uint64_t session, uint64_t handle, const void *buf)
{
    struct fm_pvar_handle *h;
    uint64_t *words;
    int rc = find(session, handle, &h, &words);

    if (rc != FM_T_OK) {
        return rc;
    }
    if (h->var->is_readonly) {
        return FM_T_PVAR_NO_WRITE;
    }
    assign(h, words, buf, NULL);
    return FM_T_OK;
}

int fm_pvar_readreset(uint64_t session, uint64_t handle, void *buf)
{
    struct fm_pvar_handle *h;
    uint64_t *words;
    int rc = find(session, handle, &h, &words);

    if (rc != FM_T_OK) {
        return rc;
    }
    if (!h->var->is_atomic) {
        return FM_T_PVAR_NO_ATOMIC;
    }
    assign(h, words, NULL, buf);
    return FM_T_OK;
}

/* Called locked, as what follows. */
void fm_pvar_end_session(uint64_t session)
{
    struct fm_pvar_handle *h;
    uint32_t at = 0;

    while (handles.n_live && (h = next_of(session, &at)) != NULL) {
        handle_end(h);
    }
}

void fm_pvar_orphan(const struct fm_object *object)
{
    struct fm_pvar_handle *h;
    uint32_t at;

    for (at = 0; handles.n_live && (h = fm_slots_at(&handles, at)) != NULL; at++) {
        if (h->object == object) {
            atomic_store_explicit(&h->words, NULL, memory_order_release);
            h->object = NULL;
            h->follower = NULL;
        }
    }
}

void fm_pvar_finish(void)
{
    struct fm_pvar_handle *h;
    uint32_t at;

    for (at = 0; (h = fm_slots_at(&handles, at)) != NULL; at++) {
        if (atomic_load_explicit(&h->slot.value, memory_order_relaxed)) {
            handle_end(h);
        }
    }
    fm_slots_finish(&handles);
}
