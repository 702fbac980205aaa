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
 * All of this is lock-free and async-signal-safe but for allocation, so that a sampling tool may do
 * to a handle in a signal handler what the interrupted thread was just doing to it (15.3.7.6). The
 * small state is one word, `ctl`:
 *
 *     63   32 31      8    7       6      5      2 1    0
 *     +-------+---------+-------+---------+--------+------+
 *     | since | changes | fresh | running | filled | live |
 *     +-------+---------+-------+---------+--------+------+
 *
 * and the words s[i] are kept in N_COPIES copies, of which `live` counts. A change claims another
 * copy (its bit in `filled`), fills it, and makes it the live one by a compare-and-swap that fails
 * if somebody else's change came first: it then begins anew from that. A reader takes the live copy
 * and reads again if `changes` has moved on meanwhile.
 *
 * `since` is added to s[0]: what a readreset of a running number takes away, in one
 * compare-and-swap and without a copy, as long as it fits. What began from an older one fails, as
 * after any change. It is 0 in arrays and doubles.
 *
 * `fresh`: a watermark that begins with the level at its next start. A watermark has its follower
 * from the allocation to the end; what that sees while the handle is stopped does not count.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mpit/mpit_live.h"

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_t_slots handles = {.slot_len = sizeof(struct fm_t_pvar_handle),
                                    .kind = FM_T_SLOT_PVAR_HANDLE};

#define ALL_HANDLES 1u /* MPI_T_PVAR_ALL_HANDLES */

/* ---- one state ---- */

#define N_COPIES     4 /* the live one, and three changes at once: threads and signal handlers */
#define ALL_COPIES   ((1u << N_COPIES) - 1)
#define CTL_LIVE     UINT64_C(0x3)
#define CTL_FILLED   2 /* shift */
#define CTL_RUNNING  UINT64_C(0x40)
#define CTL_FRESH    UINT64_C(0x80)
#define CTL_CHANGES  8 /* shift; modulo: */
#define N_CHANGES    (UINT64_C(1) << 24)
#define CTL_SINCE    32                                  /* shift */
#define CTL_OTHERS   (~((N_CHANGES - 1) << CTL_CHANGES)) /* than the number of changes */
#define CTL_CLAIM(c) (UINT64_C(1) << (CTL_FILLED + (c)))

/* One change under way: what it begins from, and the copy that it fills. */
struct change {
    uint64_t from;
    unsigned copy;
};

static _Atomic uint64_t *copy_of(struct fm_t_pvar_handle *h, unsigned copy)
{
    return h->states + (size_t)copy * (size_t)h->count;
}

static bool is_running(uint64_t ctl)
{
    return (ctl & CTL_RUNNING) != 0;
}

static bool has_changed(uint64_t before, uint64_t now)
{
    return (before ^ now) >> CTL_CHANGES != 0;
}

/* s[i] as it is in ctl. */
static inline uint64_t state_of(struct fm_t_pvar_handle *h, uint64_t ctl, int i)
{
    return atomic_load_explicit(&copy_of(h, ctl & CTL_LIVE)[i], memory_order_relaxed) +
           (ctl >> CTL_SINCE);
}

/* The number of the change that comes after ctl, in its place. */
static inline uint64_t next_change(uint64_t ctl)
{
    return ((ctl >> CTL_CHANGES) + 1) % N_CHANGES << CTL_CHANGES;
}

static struct change change_begin(struct fm_t_pvar_handle *h)
{
    uint64_t ctl = atomic_load_explicit(&h->ctl, memory_order_relaxed);
    unsigned unused, copy;
    int n = 0;

    for (;;) {
        unused = ALL_COPIES & ~((unsigned)(ctl >> CTL_FILLED) | 1u << (ctl & CTL_LIVE));
        if (!unused) {
            if (++n % 64 == 0) {
                sched_yield(); /* one who fills a copy may have been put off the processor */
            }
            ctl = atomic_load_explicit(&h->ctl, memory_order_relaxed);
            continue;
        }
        copy = (unsigned)__builtin_ctz(unused);
        /* Pairs with the release in change_end: the live copy is seen filled. */
        if (atomic_compare_exchange_weak_explicit(&h->ctl, &ctl, ctl | CTL_CLAIM(copy),
                                                  memory_order_acquire, memory_order_relaxed)) {
            return (struct change){.from = ctl | CTL_CLAIM(copy), .copy = copy};
        }
    }
}

/* Make the filled copy the live one, with these flags. False when another change came first: fill
   the copy anew, from c->from. */
static bool change_end(struct fm_t_pvar_handle *h, struct change *c, uint64_t flags)
{
    uint64_t ctl = c->from, next;

    do {
        next = next_change(ctl) | flags | c->copy;
        next |= ctl & (uint64_t)ALL_COPIES << CTL_FILLED & ~CTL_CLAIM(c->copy);
        /* Release: pairs with the acquire loads of readers and of change_begin. */
        if (atomic_compare_exchange_weak_explicit(&h->ctl, &ctl, next, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            return true;
        }
    } while (!has_changed(c->from, ctl)); /* only claims came and went */
    c->from = ctl;
    return false;
}

static void change_give_up(struct fm_t_pvar_handle *h, const struct change *c)
{
    atomic_fetch_and_explicit(&h->ctl, ~CTL_CLAIM(c->copy), memory_order_release);
}

/* A word as it is now, while the engine may be adding to it. */
static inline uint64_t look_at(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Of n words. */
static __attribute__((noinline)) uint64_t added(const void *first, int n, size_t step)
{
    const uint64_t *word = first;
    uint64_t sum = 0;

    for (; n > 0; n--, word += step) {
        sum += look_at(word);
    }
    return sum;
}

/* Element i of a sum over this block. */
static uint64_t sum_of(const struct fm_t_pvar_handle *h, const void *block, int i)
{
    const struct fathom_table *table = h->var->table->from;
    const struct fathom_pvar *row = h->var->row;
    uint64_t sum = 0;
    int k;

    for (k = 0; k < row->n_terms; k++) {
        const struct fathom_term *t = &row->terms[k];
        const char *words = (const char *)block + t->at;
        size_t step = t->step ? t->step : 1;

        sum += t->count == FATHOM_PER_MEMBER ? added(words + table->object_block_len, h->n_members,
                                                     table->member_block_len / sizeof(uint64_t))
                                             : added(words + (size_t)i * step * sizeof(uint64_t),
                                                     t->count ? t->count : 1, step);
    }
    return sum;
}

/* The present value of element i of a sum or a share. */
static __attribute__((noinline)) uint64_t derived(const struct fm_t_pvar_handle *h,
                                                  const uint64_t *words, int i)
{
    const struct fathom_pvar *row = h->var->row;
    uint64_t v = row->terms ? sum_of(h, words, i) : look_at(words);
    const char *block = (const char *)words - h->var->word_at;
    double share;

    if (row->whole_at) {
        share =
            fathom_page_share(v, look_at((const uint64_t *)(const void *)(block + row->whole_at)));
        memcpy(&v, &share, sizeof(v));
    }
    return v;
}

/* The same of a sum of words whose places are known. In a row, two at a time: few of them wait for
   another, and there are registers enough for a reader that saves none. */
static inline uint64_t flat_sum(const uint32_t *flat, const uint64_t *words)
{
    const uint32_t *end = flat + 1 + *flat;
    uint64_t sum = 0;

    if (*flat & 1) {
        sum = look_at(&words[*++flat]);
    }
    for (flat++; flat < end; flat += 2) {
        sum += look_at(&words[flat[0]]) + look_at(&words[flat[1]]);
    }
    return sum;
}

/* The present value of the word of element i, or what stands for it. */
static uint64_t word_of(const struct fm_t_pvar_handle *h, const uint64_t *words, int i)
{
    if (__builtin_expect(h->var->is_derived, 0)) {
        return derived(h, words, i);
    }
    return look_at(&words[(size_t)i * h->var->step]);
}

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
        return minus(h, word_of(h, words, i), state);
    case FM_T_PVAR_AS_IS:
        return word_of(h, words, i);
    default:
        f = atomic_load_explicit(&h->follower, memory_order_relaxed);
        return f ? fm_t_level_mark_of(h->level, f, h->var->mode == FM_T_PVAR_HIGH) : state;
    }
}

/* ---- what one handle does ---- */

/* MPI-5.0 15.3.7.1, of each class: 0, or the present level. */
static uint64_t starting_value(struct fm_t_pvar_handle *h, const uint64_t *words, int i)
{
    if (h->var->mode == FM_T_PVAR_SINCE) {
        return 0; /* of a double as well */
    }
    return h->level ? __atomic_load_n(&h->level->now, __ATOMIC_RELAXED) : word_of(h, words, i);
}

/* One more or one less who wants the variable to be counted; any thread, any signal handler. */
static void want(const struct fm_t_pvar *v, uint64_t by)
{
    if (v->row->on_at) {
        __atomic_fetch_add((uint64_t *)(void *)(v->table->block + v->row->on_at), by,
                           __ATOMIC_RELAXED);
    }
}

uint64_t fm_t_pvar_look(struct fm_t_pvar *v)
{
    const struct fm_t_pvar_handle h = {.var = v};

    /* Relaxed: who comes second need not see it counted yet. */
    if (!atomic_exchange_explicit(&v->is_looked_at, true, memory_order_relaxed)) {
        want(v, 1);
    }
    return word_of(&h, (const uint64_t *)(const void *)(v->table->block + v->word_at), 0);
}

static void start_one(struct fm_t_pvar_handle *h, const uint64_t *words)
{
    struct change c = change_begin(h);
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);
    uint64_t v, mark = 0;
    bool is_first = true;
    int i;

    do {
        if (!is_first && f) {
            fm_t_level_merge(h->level, f, mark); /* it may have been in use already */
        }
        is_first = false;
        if (is_running(c.from)) {
            change_give_up(h, &c);
            return;
        }
        for (i = 0; i < h->count; i++) {
            v = state_of(h, c.from, i);
            if (f) {
                v = c.from & CTL_FRESH ? starting_value(h, words, i) : v;
                mark = fm_t_level_exchange(h->level, f, v);
            } else if (h->var->mode == FM_T_PVAR_SINCE) {
                v = minus(h, word_of(h, words, i), v);
            }
            atomic_store_explicit(&copy_of(h, c.copy)[i], v, memory_order_relaxed);
        }
    } while (!change_end(h, &c, CTL_RUNNING));
    want(h->var, 1);
}

static void stop_one(struct fm_t_pvar_handle *h, const uint64_t *words)
{
    struct change c = change_begin(h);
    uint64_t v;
    int i;

    do {
        if (!is_running(c.from)) {
            change_give_up(h, &c);
            return;
        }
        for (i = 0; i < h->count; i++) {
            v = state_of(h, c.from, i);
            atomic_store_explicit(&copy_of(h, c.copy)[i], value_of(h, words, v, true, i),
                                  memory_order_relaxed);
        }
    } while (!change_end(h, &c, 0));
    want(h->var, (uint64_t)-1);
}

/* Give every element the value in `from`, its starting value if that is NULL; the values before go
   to out_buf unless it is NULL. Of a running watermark it is the follower's mark that changes: what
   was taken away from it, but in vain since another change came first, is in *taken (NULL:
   nothing), and is part of the value before. */
static void assign(struct fm_t_pvar_handle *h, const uint64_t *words, const void *from,
                   void *out_buf, const uint64_t *taken)
{
    struct change c = change_begin(h);
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);
    uint64_t word, v, old, marked;
    bool runs;
    int i;

    do {
        runs = is_running(c.from);
        for (i = 0; i < h->count; i++) {
            v = from ? fm_t_type_load(h->var->type, from, i) : starting_value(h, words, i);
            old = state_of(h, c.from, i);
            if (runs && f) {
                old = fm_t_level_exchange(h->level, f, v);
            } else if (runs) {
                /* One load of the word ends the old count and begins the new: nothing falls
                   between. */
                word = word_of(h, words, i);
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
            atomic_store_explicit(&copy_of(h, c.copy)[i], v, memory_order_relaxed);
        }
    } while (!change_end(h, &c, runs ? CTL_RUNNING : from ? 0 : CTL_FRESH));
}

/* ---- the usual readreset, with one compare-and-swap ---- */

/* Has the handle changed since it was as in ctl? What was read before is from then, if not. */
static inline bool is_past(struct fm_t_pvar_handle *h, uint64_t ctl)
{
    atomic_thread_fence(memory_order_acquire);
    return has_changed(ctl, atomic_load_explicit(&h->ctl, memory_order_relaxed));
}

/* Of a plain one, whose copies lie in the handle. */
static inline uint64_t state_of_plain(struct fm_t_pvar_handle *h, uint64_t ctl)
{
    return atomic_load_explicit(&h->one[ctl & CTL_LIVE], memory_order_relaxed) + (ctl >> CTL_SINCE);
}

/* The present value of the words of a plain one. */
static inline uint64_t number_of(const struct fm_t_pvar_handle *h, const uint64_t *words)
{
    if (__builtin_expect(!h->is_sum, 1)) {
        return look_at(words);
    }
    return h->flat ? flat_sum(h->flat, words) : added(words + h->first, h->n_members, h->step);
}

/* Of a plain handle that runs and shows what came since: *buf gets that, and the handle begins
   anew. False: it is not such a one, or the state must be written as a whole. */
static inline bool take_plain(struct fm_t_pvar_handle *h, const uint64_t *words, void *buf)
{
    uint64_t ctl = atomic_load_explicit(&h->ctl, memory_order_acquire), v;

    do {
        if (!h->is_plain || !h->since || !is_running(ctl)) {
            return false;
        }
        v = number_of(h, words) - state_of_plain(h, ctl);
        if (v > UINT32_MAX || (ctl >> CTL_SINCE) + v > UINT32_MAX) {
            return false;
        }
        if (v == 0 && !is_past(h, ctl)) {
            break; /* there is nothing to take */
        }
    } while (!atomic_compare_exchange_weak_explicit(&h->ctl, &ctl, ctl + (v << CTL_SINCE),
                                                    memory_order_acq_rel, memory_order_acquire));
    memcpy(buf, &v, sizeof(v));
    return true;
}

/* The same of a watermark that runs: its follower changes, and nothing else. */
static inline bool take_mark(struct fm_t_pvar_handle *h, const uint64_t *words, void *buf)
{
    uint64_t ctl = atomic_load_explicit(&h->ctl, memory_order_acquire), from, old;
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);

    if (!f || !is_running(ctl)) {
        return false;
    }
    from = look_at(&h->level->now);
    old = fm_t_level_mark_of(h->level, f, h->var->mode == FM_T_PVAR_HIGH);
    if (old != from || is_past(h, ctl)) {
        old = fm_t_level_exchange(h->level, f, from);
        if (!atomic_compare_exchange_strong_explicit(&h->ctl, &ctl,
                                                     (ctl & CTL_OTHERS) | next_change(ctl),
                                                     memory_order_acq_rel, memory_order_relaxed)) {
            assign(h, words, NULL, buf, &old);
            return true;
        }
    }
    fm_t_type_store(h->var->type, buf, 0, old);
    return true;
}

/* ---- handles ---- */

static __attribute__((cold, noinline)) int not_found(uint64_t session)
{
    return fm_t_session_is_valid(session) ? FM_T_INVALID_HANDLE : FM_T_INVALID_SESSION;
}

/* A live handle of this session, and its words; or the code. */
static inline __attribute__((always_inline)) int
find(uint64_t session, uint64_t handle, struct fm_t_pvar_handle **out_h, uint64_t **out_words)
{
    struct fm_t_pvar_handle *h = fm_t_slots_find(&handles, handle);

    if (__builtin_expect(!h || h->session != session, 0)) {
        return not_found(session);
    }
    /* Pairs with the store in fm_t_pvar_orphan. */
    *out_words = atomic_load_explicit(&h->words, memory_order_acquire);
    *out_h = h;
    return *out_words ? FM_T_OK : FM_T_INVALID_HANDLE;
}

static int take_states(struct fm_t_pvar_handle *h)
{
    h->states = h->one;
    if (h->count > 1) {
        h->states = calloc((size_t)h->count * N_COPIES, sizeof(*h->states));
    }
    return h->states ? 0 : -1;
}

/* Called locked. */
static void handle_end(struct fm_t_pvar_handle *h)
{
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);

    fm_t_slots_hide(h);
    if (is_running(atomic_load_explicit(&h->ctl, memory_order_relaxed))) {
        want(h->var, (uint64_t)-1);
    }
    if (f) {
        fm_t_level_unfollow(h->level, f);
    }
    if (h->states != h->one) {
        free(h->states);
        h->states = h->one;
    }
    fm_t_slots_drop(&handles, h);
    fathom_level_set(&fm_t_counters->handles, handles.n_live);
}

/* A sum of one word of each member? */
static bool is_one_of_each(const struct fathom_pvar *row)
{
    return row->n_terms == 1 && row->terms->count == FATHOM_PER_MEMBER;
}

/* Called locked, with what the handle is bound to. */
static int handle_begin(struct fm_t_pvar_handle *h, const struct fm_t_pvar *v)
{
    char *block = h->object ? h->object->block : v->table->block;
    size_t at = v->word_at;
    int i;

    h->var = v;
    h->n_members = h->object ? h->object->n_members : 0;
    h->count = v->count ? v->count : h->n_members;
    h->is_sum = v->flat || is_one_of_each(v->row);
    h->is_plain = h->count == 1 && (v->mode == FM_T_PVAR_SINCE || v->mode == FM_T_PVAR_AS_IS) &&
                  fm_t_type_is_whole(v->type) && (h->is_sum || !v->is_derived);
    h->is_straight = h->is_plain && (!h->is_sum || v->flat);
    h->since = v->mode == FM_T_PVAR_SINCE ? ~UINT64_C(0) : 0;
    h->flat = v->flat;
    if (h->is_sum && !h->flat) {
        h->first = (v->table->from->object_block_len + v->row->terms->at) / sizeof(uint64_t);
        h->step = v->table->from->member_block_len / sizeof(uint64_t);
    }
    /* The words of a sum begin with the block. */
    atomic_store_explicit(&h->words, (uint64_t *)(void *)(block + at), memory_order_relaxed);
    if (take_states(h) != 0) {
        return FM_T_MEMORY;
    }
    if (v->mode == FM_T_PVAR_HIGH || v->mode == FM_T_PVAR_LOW) {
        h->level = (struct fathom_level *)(void *)(block + at);
        h->follower = fm_t_level_follow(h->level, v->mode == FM_T_PVAR_HIGH);
        if (!h->follower) {
            return FM_T_MEMORY;
        }
    }
    for (i = 0; i < h->count; i++) {
        atomic_store_explicit(&h->states[i], starting_value(h, h->words, i), memory_order_relaxed);
    }
    atomic_store_explicit(&h->ctl, CTL_FRESH, memory_order_relaxed);
    if (v->row->is_continuous) {
        start_one(h, h->words); /* from the beginning (15.3.7.5) */
    }
    return FM_T_OK;
}

int fm_t_pvar_alloc(uint64_t session, int index, const void *obj_handle, uint64_t *out_handle,
                    int *out_count)
{
    const struct fm_t_object *object = NULL;
    const struct fm_t_pvar *v;
    struct fm_t_pvar_handle *h = NULL;
    int rc = FM_T_OK;

    if (!fm_t_session_is_valid(session)) {
        return FM_T_INVALID_SESSION;
    }
    if (index < 0 || index >= fm_t_root.n_pvars) {
        return FM_T_INVALID_INDEX;
    }
    v = &fm_t_root.pvars[index];
    fm_t_lock();
    if (v->bind != FATHOM_BIND_NONE) {
        object = fm_t_object_of_handle(v->table, v->bind, obj_handle);
        rc = object ? FM_T_OK : FM_T_INVALID;
    }
    if (rc == FM_T_OK) {
        h = fm_t_slots_take(&handles);
        rc = h ? FM_T_OK : fm_t_slots_why(&handles);
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
        fm_t_slots_publish(&handles, h);
        fathom_level_set(&fm_t_counters->handles, handles.n_live);
        *out_handle = fm_t_slots_value(&handles, h);
        *out_count = h->count;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_pvar_free(uint64_t session, uint64_t handle)
{
    struct fm_t_pvar_handle *h;
    int rc = FM_T_OK;

    fm_t_lock();
    h = fm_t_slots_find(&handles, handle);
    if (!fm_t_session_is_valid(session)) {
        rc = FM_T_INVALID_SESSION;
    } else if (!h || h->session != session) {
        rc = FM_T_INVALID_HANDLE;
    } else {
        handle_end(h); /* its object may be gone: it can be freed all the same */
    }
    fm_t_unlock();
    return rc;
}

/* The live handles of a session, one after the other: *at is where to go on. Called locked, or in a
   signal handler. */
static struct fm_t_pvar_handle *next_of(uint64_t session, uint32_t *at)
{
    struct fm_t_pvar_handle *h;

    while ((h = fm_t_slots_at(&handles, *at)) != NULL) {
        ++*at;
        if (atomic_load_explicit(&h->slot.value, memory_order_acquire) && h->session == session) {
            return h;
        }
    }
    return NULL;
}

enum verb { START, STOP, RESET };

/* Of all handles, those are passed over that the verb does not fit (15.3.7.5). */
static int do_one(struct fm_t_pvar_handle *h, const uint64_t *words, enum verb verb, bool is_all)
{
    if (verb == RESET) {
        if (h->var->is_readonly) {
            return is_all ? FM_T_OK : FM_T_PVAR_NO_WRITE;
        }
        assign(h, words, NULL, NULL, NULL);
        return FM_T_OK;
    }
    if (h->var->row->is_continuous) {
        return is_all ? FM_T_OK : FM_T_PVAR_NO_STARTSTOP;
    }
    if (verb == START) {
        start_one(h, words);
    } else {
        stop_one(h, words);
    }
    return FM_T_OK;
}

static int walk_all(uint64_t session, enum verb verb)
{
    struct fm_t_pvar_handle *h;
    uint64_t *words;
    uint32_t at = 0;

    if (!fm_t_session_is_valid(session)) {
        return FM_T_INVALID_SESSION;
    }
    while ((h = next_of(session, &at)) != NULL) {
        words = atomic_load_explicit(&h->words, memory_order_relaxed);
        if (words) {
            do_one(h, words, verb, true);
        }
    }
    return FM_T_OK;
}

/* The lock keeps others from ending these handles meanwhile. A callback in a signal handler cannot
   take it, and must be able to do this (15.3.8.2): there the tool sees to it. */
static int do_all(uint64_t session, enum verb verb)
{
    bool is_signal = fm_t_event_context() >= FATHOM_SAFE_SIGNAL;
    int rc;

    if (!is_signal) {
        fm_t_lock();
    }
    rc = walk_all(session, verb);
    if (!is_signal) {
        fm_t_unlock();
    }
    return rc;
}

static int do_verb(uint64_t session, uint64_t handle, enum verb verb)
{
    struct fm_t_pvar_handle *h = NULL;
    uint64_t *words = NULL;
    int rc;

    if (handle == ALL_HANDLES) {
        return do_all(session, verb);
    }
    rc = find(session, handle, &h, &words);
    return rc == FM_T_OK ? do_one(h, words, verb, false) : rc;
}

int fm_t_pvar_start(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, START);
}

int fm_t_pvar_stop(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, STOP);
}

int fm_t_pvar_reset(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, RESET);
}

/* Whole state of a handle that is an array, or that changed while it was read. */
static __attribute__((noinline)) int read_slowly(struct fm_t_pvar_handle *h, const uint64_t *words,
                                                 void *buf)
{
    uint64_t ctl, v;
    int i;

    do {
        ctl = atomic_load_explicit(&h->ctl, memory_order_acquire);
        for (i = 0; i < h->count; i++) {
            v = state_of(h, ctl, i);
            fm_t_type_store(h->var->type, buf, i, value_of(h, words, v, is_running(ctl), i));
        }
    } while (is_past(h, ctl));
    return FM_T_OK;
}

/* A sum over members, one value of another kind, or an array. */
static __attribute__((noinline)) int read_other(struct fm_t_pvar_handle *h, const uint64_t *words,
                                                void *buf)
{
    uint64_t ctl = atomic_load_explicit(&h->ctl, memory_order_acquire), v;

    if (h->count != 1) {
        return read_slowly(h, words, buf);
    }
    v = state_of(h, ctl, 0);
    if (!h->is_plain) {
        v = value_of(h, words, v, is_running(ctl), 0);
    } else if (is_running(ctl)) {
        v = added(words + h->first, h->n_members, h->step) - (v & h->since);
    }
    if (__builtin_expect(is_past(h, ctl), 0)) {
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
    int rc = find(session, handle, &h, &words);

    if (__builtin_expect(rc != FM_T_OK, 0)) {
        return rc;
    }
    if (__builtin_expect(!h->is_straight, 0)) {
        return read_other(h, words, buf);
    }
    ctl = atomic_load_explicit(&h->ctl, memory_order_acquire);
    v = state_of_plain(h, ctl);
    if (is_running(ctl)) {
        v = (h->flat ? flat_sum(h->flat, words) : look_at(words)) - (v & h->since);
    }
    if (__builtin_expect(is_past(h, ctl), 0)) {
        return read_slowly(h, words, buf);
    }
    memcpy(buf, &v, sizeof(v));
    return FM_T_OK;
}

int fm_t_pvar_write(uint64_t session, uint64_t handle, const void *buf)
{
    struct fm_t_pvar_handle *h = NULL;
    uint64_t *words = NULL;
    int rc = find(session, handle, &h, &words);

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
    int rc = find(session, handle, &h, &words);

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

/* Called locked, as what follows. */
void fm_t_pvar_end_session(uint64_t session)
{
    struct fm_t_pvar_handle *h;
    uint32_t at = 0;

    while (handles.n_live && (h = next_of(session, &at)) != NULL) {
        handle_end(h);
    }
}

void fm_t_pvar_orphan(const struct fm_t_object *object)
{
    struct fm_t_pvar_handle *h;
    uint32_t at;

    for (at = 0; handles.n_live && (h = fm_t_slots_at(&handles, at)) != NULL; at++) {
        if (h->object == object) {
            atomic_store_explicit(&h->words, NULL, memory_order_release);
            h->object = NULL;
            h->follower = NULL;
        }
    }
}

void fm_t_pvar_finish(void)
{
    struct fm_t_pvar_handle *h;
    uint32_t at;

    for (at = 0; (h = fm_t_slots_at(&handles, at)) != NULL; at++) {
        if (atomic_load_explicit(&h->slot.value, memory_order_relaxed)) {
            handle_end(h);
        }
    }
    fm_t_slots_finish(&handles);
}
