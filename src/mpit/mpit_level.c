/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watermarks: one level, many observers, two compares on the hot path.
 *
 *     level ---followers---> F1 ---> F2 ---> F3        (grows only, while the level lives)
 *                            high    high    high
 *
 * hi_mark is the lowest of all high watermarks (of the process and of the followers in use),
 * lo_mark the highest of all low ones. A level between them changes no watermark. One outside of
 * them calls fathom_mpit_mark(), which updates all watermarks and sets both marks again.
 *
 * fathom_mpit_mark runs on the thread that owns the level, or in a signal handler on it; handles
 * start and reset on any thread. None of them takes a lock: followers are linked once and reused,
 * and refit() reads the watermarks again after it has stored the marks. A peak at the very moment
 * of a start may count as before it. Reading a watermark includes the present level.
 */
#include <stdlib.h>

#include "mpit/mpit_live.h"

enum follower_use { FREE, HIGH, LOW };

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_t_slots followers = {.slot_len = sizeof(struct fm_t_follower),
                                      .kind = FM_T_SLOT_FOLLOWER};

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static struct fm_t_follower *first_of(const struct fathom_level *level)
{
    /* Pairs with the release store in link_new. */
    uint64_t n = __atomic_load_n(&level->followers, __ATOMIC_ACQUIRE);

    return n ? fm_t_slots_at(&followers, (uint32_t)n - 1) : NULL;
}

static struct fm_t_follower *next_of(const struct fm_t_follower *f)
{
    return f->next ? fm_t_slots_at(&followers, f->next - 1) : NULL;
}

static void raise_to(_Atomic uint64_t *mark, uint64_t now)
{
    uint64_t old = atomic_load(mark);

    while (now > old && !atomic_compare_exchange_weak(mark, &old, now)) {
    }
}

static void lower_to(_Atomic uint64_t *mark, uint64_t now)
{
    uint64_t old = atomic_load(mark);

    while (now < old && !atomic_compare_exchange_weak(mark, &old, now)) {
    }
}

/* The marks as they should be. */
static void marks_of(const struct fathom_level *l, uint64_t *out_hi, uint64_t *out_lo)
{
    struct fm_t_follower *f;
    uint64_t hi = load(&l->high), lo = load(&l->low), mark;
    uint32_t use;

    for (f = first_of(l); f; f = next_of(f)) {
        use = atomic_load(&f->use);
        mark = atomic_load(&f->mark);
        if (use == HIGH && mark < hi) {
            hi = mark;
        } else if (use == LOW && mark > lo) {
            lo = mark;
        }
    }
    *out_hi = hi;
    *out_lo = lo;
}

static void set(uint64_t *mark, uint64_t to)
{
    if (load(mark) != to) {
        __atomic_store_n(mark, to, __ATOMIC_SEQ_CST);
    }
}

/*
 * Two threads may be here. The one that stores last reads the watermarks again and sees what the
 * other had changed before its store (all of this is sequentially consistent), so a mark that is
 * too wide does not stay.
 */
static void refit(struct fathom_level *l)
{
    uint64_t hi, lo, hi_again, lo_again;

    do {
        marks_of(l, &hi, &lo);
        set(&l->hi_mark, hi);
        set(&l->lo_mark, lo);
        marks_of(l, &hi_again, &lo_again);
    } while (hi_again < hi || lo_again > lo);
}

void fathom_mpit_mark(struct fathom_level *l)
{
    struct fm_t_follower *f;
    uint64_t now = load(&l->now);
    uint32_t use;

    /* Only the owner's thread writes these two. */
    if (now > load(&l->high)) {
        __atomic_store_n(&l->high, now, __ATOMIC_SEQ_CST);
    }
    if (now < load(&l->low)) {
        __atomic_store_n(&l->low, now, __ATOMIC_SEQ_CST);
    }
    for (f = first_of(l); f; f = next_of(f)) {
        use = atomic_load(&f->use);
        if (use == HIGH) {
            raise_to(&f->mark, now);
        } else if (use == LOW) {
            lower_to(&f->mark, now);
        }
    }
    refit(l);
}

/* A follower that an ended handle left, or a new one in front of the list. Called locked, as the
   two functions below. */
static struct fm_t_follower *unused_of(struct fathom_level *level)
{
    struct fm_t_follower *f;

    for (f = first_of(level); f; f = next_of(f)) {
        if (atomic_load(&f->use) == FREE) {
            return f;
        }
    }
    f = fm_t_slots_take(&followers);
    if (f) {
        f->next = (uint32_t)load(&level->followers);
        __atomic_store_n(&level->followers, (uint64_t)f->slot.number + 1, __ATOMIC_RELEASE);
    }
    return f;
}

struct fm_t_follower *fm_t_level_follow(struct fathom_level *level, bool is_high)
{
    struct fm_t_follower *f = unused_of(level);

    if (f) {
        atomic_store(&f->mark, load(&level->now));
        atomic_store(&f->use, is_high ? HIGH : LOW);
        refit(level);
    }
    return f;
}

void fm_t_level_unfollow(struct fathom_level *level, struct fm_t_follower *f)
{
    atomic_store(&f->use, FREE);
    refit(level);
}

uint64_t fm_t_level_exchange(struct fathom_level *level, struct fm_t_follower *f, uint64_t from)
{
    uint64_t now = load(&level->now), mark = atomic_exchange(&f->mark, from);

    refit(level);
    return fm_t_level_further(atomic_load(&f->use) == HIGH, now, mark);
}

void fm_t_level_merge(struct fathom_level *level, struct fm_t_follower *f, uint64_t mark)
{
    if (atomic_load(&f->use) == HIGH) {
        raise_to(&f->mark, mark);
    } else {
        lower_to(&f->mark, mark);
    }
    refit(level);
}

void fm_t_level_finish(struct fathom_level *level)
{
    struct fm_t_follower *f = first_of(level), *next;

    level->followers = 0;
    for (; f; f = next) {
        next = next_of(f);
        atomic_store(&f->use, FREE);
        fm_t_slots_drop(&followers, f);
    }
}
