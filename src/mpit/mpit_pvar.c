/* SPDX-License-Identifier: BSD-3-Clause */
/* What start, stop, read, write, reset and readreset do to one handle: see mpit_pvar.h. */
#include "mpit/mpit_pvar.h"

#include <string.h>

/* a - b in the handle's type. */
static uint64_t minus(const struct fm_t_pvar_handle *h, uint64_t a, uint64_t b)
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

/* What element i shows, given a state. A watermark has no follower when its object is gone. */
static uint64_t value_of(struct fm_t_pvar_handle *h, const uint64_t *words, uint64_t state,
                         bool runs, int i)
{
    struct fm_t_follower *f;

    if (!runs) {
        return state;
    }
    switch (h->var->mode) {
    case FM_T_PVAR_SINCE:
        return minus(h, fm_t_value_of(h, words, i), state);
    case FM_T_PVAR_AS_IS:
        return fm_t_value_of(h, words, i);
    default:
        f = atomic_load_explicit(&h->follower, memory_order_relaxed);
        return f ? fm_t_level_mark_of(h->level, f, h->var->mode == FM_T_PVAR_HIGH) : state;
    }
}

void fm_t_pvar_start_one(struct fm_t_pvar_handle *h, const uint64_t *words)
{
    struct fm_t_state_change c = fm_t_state_change_begin(&h->state);
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);
    uint64_t v, mark = 0;
    bool is_first = true;
    int i;

    do {
        if (!is_first && f) {
            fm_t_level_merge(h->level, f, mark); /* it may have been in use already */
        }
        is_first = false;
        if (fm_t_state_is_running(c.from)) {
            fm_t_state_give_up(&h->state, &c);
            return;
        }
        for (i = 0; i < h->count; i++) {
            v = fm_t_state_of(&h->state, c.from, i);
            if (f) {
                v = c.from & FM_T_STATE_FRESH ? fm_t_value_start(h, words, i) : v;
                mark = fm_t_level_exchange(h->level, f, v);
            } else if (h->var->mode == FM_T_PVAR_SINCE) {
                v = minus(h, fm_t_value_of(h, words, i), v);
            }
            atomic_store_explicit(fm_t_state_element(&h->state, c.copy, i), v,
                                  memory_order_relaxed);
        }
    } while (!fm_t_state_change_end(&h->state, &c, FM_T_STATE_RUNNING));
    fm_t_value_demand(h->var, 1);
}

void fm_t_pvar_stop_one(struct fm_t_pvar_handle *h, const uint64_t *words)
{
    struct fm_t_state_change c = fm_t_state_change_begin(&h->state);
    uint64_t v;
    int i;

    do {
        if (!fm_t_state_is_running(c.from)) {
            fm_t_state_give_up(&h->state, &c);
            return;
        }
        for (i = 0; i < h->count; i++) {
            v = fm_t_state_of(&h->state, c.from, i);
            atomic_store_explicit(fm_t_state_element(&h->state, c.copy, i),
                                  value_of(h, words, v, true, i), memory_order_relaxed);
        }
    } while (!fm_t_state_change_end(&h->state, &c, 0));
    fm_t_value_demand(h->var, -1);
}

/* Give every element the value in `from`, its starting value if that is NULL; the values before go
   to out_buf unless it is NULL. Of a running watermark it is the follower's mark that changes: what
   was taken away from it, but in vain since another change came first, is in *taken (NULL:
   nothing), and is part of the value before. */
static void assign(struct fm_t_pvar_handle *h, const uint64_t *words, const void *from,
                   void *out_buf, const uint64_t *taken)
{
    struct fm_t_state_change c = fm_t_state_change_begin(&h->state);
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);
    uint64_t word, v, old, marked, flags;
    bool runs;
    int i;

    do {
        runs = fm_t_state_is_running(c.from);
        for (i = 0; i < h->count; i++) {
            v = from ? fm_t_type_load(h->var->type, from, i) : fm_t_value_start(h, words, i);
            old = fm_t_state_of(&h->state, c.from, i);
            if (runs && f) {
                old = fm_t_level_exchange(h->level, f, v);
            } else if (runs) {
                /* One load of the word ends the old count and begins the new: nothing falls
                   between. */
                word = fm_t_value_of(h, words, i);
                old = minus(h, word, old);
                v = minus(h, word, v);
            }
            if (f) {
                old = taken ? fm_t_level_further(h->var->mode == FM_T_PVAR_HIGH, old, *taken) : old;
                marked = old;
                taken = runs ? &marked : taken;
            }
            if (out_buf) {
                fm_t_type_store(h->var->type, out_buf, i, old);
            }
            atomic_store_explicit(fm_t_state_element(&h->state, c.copy, i), v,
                                  memory_order_relaxed);
        }
        flags = runs ? FM_T_STATE_RUNNING : from ? 0 : FM_T_STATE_FRESH;
    } while (!fm_t_state_change_end(&h->state, &c, flags));
}

void fm_t_pvar_reset_one(struct fm_t_pvar_handle *h, const uint64_t *words)
{
    assign(h, words, NULL, NULL, NULL);
}

/* ---- readreset of running handles, with one compare-and-swap ---- */

/* Of a plain handle that runs and shows what came since: *buf gets that, and the handle begins
   anew. False: it is not such a one, or the state must be written as a whole. */
static inline bool take_plain(struct fm_t_pvar_handle *h, const uint64_t *words, void *buf)
{
    uint64_t ctl = fm_t_state_load(&h->state), v;
    int rc;

    do {
        if (!h->is_plain || !h->since || !fm_t_state_is_running(ctl)) {
            return false;
        }
        v = fm_t_value_plain(h, words) - fm_t_state_of_one(&h->state, ctl);
        if (v == 0 && !fm_t_state_is_past(&h->state, ctl)) {
            break; /* there is nothing to take */
        }
        rc = fm_t_state_add(&h->state, &ctl, v);
        if (rc < 0) {
            return false;
        }
    } while (rc == 0);
    memcpy(buf, &v, sizeof(v));
    return true;
}

/* The same of a watermark that runs: its follower changes, and nothing else. */
static inline bool take_mark(struct fm_t_pvar_handle *h, const uint64_t *words, void *buf)
{
    uint64_t ctl = fm_t_state_load(&h->state), from, old;
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);

    if (!f || !fm_t_state_is_running(ctl)) {
        return false;
    }
    from = fm_t_value_load(&h->level->now);
    old = fm_t_level_mark_of(h->level, f, h->var->mode == FM_T_PVAR_HIGH);
    if (old != from || fm_t_state_is_past(&h->state, ctl)) {
        old = fm_t_level_exchange(h->level, f, from);
        if (!fm_t_state_touch(&h->state, ctl)) {
            assign(h, words, NULL, buf, &old);
            return true;
        }
    }
    fm_t_type_store(h->var->type, buf, 0, old);
    return true;
}

/* ---- by number ---- */

/* Whole state of a handle that is an array, or that changed while it was read. */
static __attribute__((noinline)) int read_slowly(struct fm_t_pvar_handle *h, const uint64_t *words,
                                                 void *buf)
{
    uint64_t ctl, v;
    int i;

    do {
        ctl = fm_t_state_load(&h->state);
        for (i = 0; i < h->count; i++) {
            v = fm_t_state_of(&h->state, ctl, i);
            fm_t_type_store(h->var->type, buf, i,
                            value_of(h, words, v, fm_t_state_is_running(ctl), i));
        }
    } while (fm_t_state_is_past(&h->state, ctl));
    return FM_T_OK;
}

/* A sum over members, one value of another kind, or an array. */
static __attribute__((noinline)) int read_other(struct fm_t_pvar_handle *h, const uint64_t *words,
                                                void *buf)
{
    uint64_t ctl = fm_t_state_load(&h->state), v;

    if (h->count != 1) {
        return read_slowly(h, words, buf);
    }
    v = fm_t_state_of(&h->state, ctl, 0);
    if (!h->is_plain) {
        v = value_of(h, words, v, fm_t_state_is_running(ctl), 0);
    } else if (fm_t_state_is_running(ctl)) {
        v = fm_t_value_added(words + h->first, h->n_members, h->step) - (v & h->since);
    }
    if (__builtin_expect(fm_t_state_is_past(&h->state, ctl), 0)) {
        return read_slowly(h, words, buf);
    }
    fm_t_type_store(h->var->type, buf, 0, v);
    return FM_T_OK;
}

/* Lock-free, async-signal-safe. */
int fm_t_pvar_read(uint64_t session, uint64_t handle, void *buf)
{
    struct fm_t_pvar_handle *h = NULL;
    uint64_t *words = NULL, ctl, v;
    int rc = fm_t_pvar_find(session, handle, &h, &words);

    if (__builtin_expect(rc != FM_T_OK, 0)) {
        return rc;
    }
    if (__builtin_expect(!h->is_fixed, 0)) {
        return read_other(h, words, buf);
    }
    ctl = fm_t_state_load(&h->state);
    v = fm_t_state_of_one(&h->state, ctl);
    if (fm_t_state_is_running(ctl)) {
        v = (h->flat ? fm_t_value_flat(h->flat, words) : fm_t_value_load(words)) - (v & h->since);
    }
    if (__builtin_expect(fm_t_state_is_past(&h->state, ctl), 0)) {
        return read_slowly(h, words, buf);
    }
    memcpy(buf, &v, sizeof(v));
    return FM_T_OK;
}

int fm_t_pvar_write(uint64_t session, uint64_t handle, const void *buf)
{
    struct fm_t_pvar_handle *h = NULL;
    uint64_t *words = NULL;
    int rc = fm_t_pvar_find(session, handle, &h, &words);

    if (rc != FM_T_OK) {
        return rc;
    }
    if (h->var->is_readonly) {
        return FM_T_PVAR_NO_WRITE;
    }
    assign(h, words, buf, NULL, NULL);
    return FM_T_OK;
}

int fm_t_pvar_readreset(uint64_t session, uint64_t handle, void *buf)
{
    struct fm_t_pvar_handle *h = NULL;
    uint64_t *words = NULL;
    int rc = fm_t_pvar_find(session, handle, &h, &words);

    if (rc != FM_T_OK) {
        return rc;
    }
    if (!h->var->is_atomic) {
        return FM_T_PVAR_NO_ATOMIC;
    }
    if (!take_plain(h, words, buf) && !take_mark(h, words, buf)) {
        assign(h, words, NULL, buf, NULL);
    }
    return FM_T_OK;
}
