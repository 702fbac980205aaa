/* SPDX-License-Identifier: BSD-3-Clause */
/* The key table of a job: published values, fences, waiting. */
#include "util/keytable.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct fm_keytable_slot *fm_keytable_slot(struct fm_keytable *t, int rank)
{
    return rank >= 0 && rank < t->head.n_ranks ? &t->slots[rank] : NULL;
}

void fm_keytable_mark_gone(struct fm_keytable *t, int rank)
{
    /* Release: pairs with fm_keytable_is_gone(). */
    atomic_store_explicit(&t->slots[rank].gone, t->gone_mark, memory_order_release);
}

bool fm_keytable_is_gone(struct fm_keytable *t, int rank)
{
    /* Acquire: pairs with the store of the launcher after it saw the process end. */
    return atomic_load_explicit(&t->slots[rank].gone, memory_order_acquire) == t->gone_mark;
}

/* a >= b for numbers of fences, which may wrap around. */
static bool has_come(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) >= 0;
}

/* Acquire: pairs with the release in forget(), so that the new generation is seen. */
static bool is_withdrawn(const struct fm_keytable *t, const struct fm_keytable_slot *slot)
{
    uint32_t leaving = atomic_load_explicit(&slot->leaving, memory_order_acquire);

    return leaving != 0 && has_come(t->n_complete, leaving);
}

static uint32_t n_entries(const struct fm_keytable_slot *slot)
{
    uint32_t n = atomic_load_explicit(&slot->n_entries, memory_order_acquire);

    return n < FM_KEYTABLE_KEYS ? n : FM_KEYTABLE_KEYS;
}

/* Did the earlier program of a rank leave MPI, and withdraw its values by a fence? */
static bool has_left(const struct fm_keytable_slot *slot)
{
    uint32_t leaving = atomic_load(&slot->leaving);

    return atomic_load(&slot->phase) != FM_PLACE_INIT &&
           (n_entries(slot) == 0 || (leaving != 0 && has_come(atomic_load(&slot->fence), leaving)));
}

int fm_keytable_claim(struct fm_keytable *t, int rank, int pid)
{
    struct fm_keytable_slot *slot = &t->slots[rank];
    int32_t seen = 0;

    /* Pairs with itself in other processes: exactly one finds 0. */
    if (!atomic_compare_exchange_strong(&slot->claim, &seen, pid)) {
        if (seen != pid && (kill(seen, 0) == 0 || errno == EPERM)) {
            return FM_AGAIN;
        }
        if (!has_left(slot)) {
            return fm_fail(-FM_E_PEER,
                           "process %d was this rank of the job and ended without MPI_Finalize: "
                           "another MPI program can follow in its place only after all ranks have "
                           "called it",
                           (int)seen);
        }
        /* Of several that follow, one finds the process that was before. */
        if (!atomic_compare_exchange_strong(&slot->claim, &seen, pid)) {
            return FM_AGAIN;
        }
    }
    /* Fences are counted on from where the earlier program has left. */
    t->n_entered = t->n_complete = atomic_load(&slot->fence);
    return 0;
}

/* A rank that has withdrawn its values publishes again. */
static void forget(struct fm_keytable_slot *slot)
{
    atomic_fetch_add_explicit(&slot->generation, 1, memory_order_relaxed);
    /* Release: a reader of the new values finds the new generation (see copy_entry()). */
    atomic_store_explicit(&slot->n_entries, 0, memory_order_release);
    atomic_store_explicit(&slot->leaving, 0, memory_order_release);
}

int fm_keytable_put(struct fm_keytable *t, int rank, const char *key, const void *value, size_t len)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(t, rank);
    struct fm_keytable_entry *e;
    uint32_t n;

    if (is_withdrawn(t, slot)) {
        forget(slot);
    }
    n = n_entries(slot);
    if (n == FM_KEYTABLE_KEYS || strlen(key) >= FM_KEYTABLE_KEY_LEN ||
        len > FM_KEYTABLE_VALUE_MAX) {
        return fm_fail(-FM_E_INVAL, "cannot publish \"%s\" (%zu bytes, %u keys already)", key, len,
                       n);
    }
    e = &slot->entries[n];
    snprintf(e->key, sizeof(e->key), "%s", key);
    memcpy(e->value, value, len);
    e->len = (uint32_t)len;
    /* Release: a reader of the new number (n_entries() above) sees the entry. */
    atomic_store_explicit(&slot->n_entries, n + 1, memory_order_release);
    fm_keytable_notify(t);
    return 0;
}

/* Copy the value of an entry. FM_AGAIN: its rank overwrites it, for it was withdrawn. */
static int copy_entry(struct fm_keytable_slot *slot, uint32_t i, uint32_t generation,
                      void *out_value, size_t *len)
{
    const struct fm_keytable_entry *e = &slot->entries[i];
    size_t e_len = __atomic_load_n(&e->len, __ATOMIC_RELAXED); /* read once: a peer may write it */

    if (e_len > *len || e_len > FM_KEYTABLE_VALUE_MAX) {
        return fm_fail(-FM_E_INVAL, "a published value has %zu bytes, there is room for %zu", e_len,
                       *len);
    }
    memcpy(out_value, e->value, e_len);
    /* Acquire fence: the generation is read after the value; pairs with forget(). */
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&slot->generation, memory_order_relaxed) != generation) {
        return FM_AGAIN;
    }
    *len = e_len;
    return 0;
}

int fm_keytable_find(struct fm_keytable *t, int rank, const char *key, void *out_value, size_t *len)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(t, rank);
    uint32_t generation, n;

    if (is_withdrawn(t, slot)) {
        return FM_AGAIN;
    }
    generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    n = n_entries(slot);
    for (uint32_t i = 0; i < n; i++) {
        if (strncmp(slot->entries[i].key, key, FM_KEYTABLE_KEY_LEN) == 0) {
            return copy_entry(slot, i, generation, out_value, len);
        }
    }
    return FM_AGAIN;
}

bool fm_keytable_has_entries(struct fm_keytable *t, int rank)
{
    const struct fm_keytable_slot *slot = fm_keytable_slot(t, rank);

    return !is_withdrawn(t, slot) && n_entries(slot) > 0;
}

void fm_keytable_withdraw(struct fm_keytable *t, int rank)
{
    uint32_t next = t->n_entered + 1;

    /* Relaxed: ordered by the release of the fence that this rank enters next. */
    atomic_store_explicit(&t->slots[rank].leaving, next ? next : 1, memory_order_relaxed);
}

void fm_keytable_enter(struct fm_keytable *t, int rank)
{
    t->n_entered++;
    /* Release: pairs with fm_keytable_missing() of the others. */
    atomic_store_explicit(&t->slots[rank].fence, t->n_entered, memory_order_release);
    fm_keytable_notify(t);
}

int fm_keytable_missing(struct fm_keytable *t, int rank)
{
    struct fm_keytable_slot *own = &t->slots[rank];

    if (atomic_load_explicit(&own->fence, memory_order_relaxed) != t->n_entered) {
        atomic_store_explicit(&own->fence, t->n_entered, memory_order_release);
        fm_keytable_notify(t);
    }
    for (int r = 0; r < t->head.n_ranks; r++) {
        /* Acquire: pairs with fm_keytable_enter() of that rank. */
        if (!has_come(atomic_load_explicit(&t->slots[r].fence, memory_order_acquire),
                      t->n_entered)) {
            return r;
        }
    }
    t->n_complete = t->n_entered;
    return -1;
}

void fm_keytable_notify(struct fm_keytable *t)
{
    /* Release: pairs with fm_keytable_seen(). */
    atomic_fetch_add_explicit(&t->live->change, 1, memory_order_release);
    syscall(SYS_futex, &t->live->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t fm_keytable_seen(const struct fm_keytable *t)
{
    /* Acquire: pairs with fm_keytable_notify(). */
    return atomic_load_explicit(&t->live->change, memory_order_acquire);
}

void fm_keytable_sleep(struct fm_keytable *t, uint32_t seen, int at_most_ms)
{
    struct timespec limit = {at_most_ms / 1000, (long)(at_most_ms % 1000) * 1000000L};

    syscall(SYS_futex, &t->live->change, FUTEX_WAIT, seen, &limit, NULL, 0);
}
