/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checked handles: what a tool holds is a number, never an address, so a made-up or stale one is
 * found out and not followed.
 *
 *     63            32 31   28 27                 0
 *     +---------------+-------+--------------------+
 *     | use of slot   | kind  | number of slot     |
 *     +---------------+-------+--------------------+
 *
 * A slot lies in a chunk that keeps its address until the registry closes. It begins with the value
 * that is valid for it now (0: none); a handle is good if it equals that value. The upper half
 * counts the uses of a slot, so an old handle to a slot in new use is refused. It is never 0, hence
 * no value equals one of the small constants of the standard.
 *
 * fm_t_slots_find is lock-free and async-signal-safe; all others are called with the registry's
 * lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_T_SLOTS_PER_CHUNK 64u
#define FM_T_SLOTS_CHUNKS    4096u

enum fm_t_slot_kind {
    FM_T_SLOT_ENUM = 1,
    FM_T_SLOT_CVAR_HANDLE,
    FM_T_SLOT_SESSION,
    FM_T_SLOT_PVAR_HANDLE,
    FM_T_SLOT_REGISTRATION,
    FM_T_SLOT_INSTANCE,
    FM_T_SLOT_FOLLOWER,
};

/* First member of what lies in a slot. */
struct fm_t_slot {
    /* Stored with release order when the slot is ready; pairs with the acquire load in
       fm_t_slots_find, which therefore sees what was written before. */
    _Atomic uint64_t value;
    uint32_t use;
    uint32_t number;
    uint32_t next_free;
};

struct fm_t_slots {
    size_t slot_len;
    enum fm_t_slot_kind kind;
    _Atomic uint32_t n_made; /* slots that were ever used; stored when the last one is filled */
    uint32_t free_head;      /* 1 + number of the first free one, 0: none */
    uint32_t n_live;         /* taken and not dropped */
    uint32_t last_use;  /* the highest use of any slot, and what new slots begin after, so that */
    uint32_t first_use; /* values stay unique over fm_t_slots_finish */
    _Atomic(char *) chunks[FM_T_SLOTS_CHUNKS];
};

/* A slot of one's own: cleared but for its head, not yet found by anyone. NULL: memory or numbers
   are out; fm_t_slots_is_full tells which. */
void *fm_t_slots_take(struct fm_t_slots *slots);
/* Are all numbers in use? */
bool fm_t_slots_is_full(const struct fm_t_slots *slots);

/* The value that the slot will have, and the store that makes it valid. */
uint64_t fm_t_slots_value(const struct fm_t_slots *slots, const void *slot);
void fm_t_slots_publish(struct fm_t_slots *slots, void *slot);

/* Give a slot that one holds a new value, to be published. */
void fm_t_slots_renew(struct fm_t_slots *slots, void *slot);

/* Make the value invalid; the slot still belongs to the caller. */
void fm_t_slots_hide(void *slot);
/* Give the slot back (hides it too). */
void fm_t_slots_drop(struct fm_t_slots *slots, void *slot);

/* The slot with this number if it was ever made, else NULL; for walking over all. */
void *fm_t_slots_at(const struct fm_t_slots *slots, uint32_t number);

/* Free all memory. Every value is then invalid for good. */
void fm_t_slots_finish(struct fm_t_slots *slots);

static inline void *fm_t_slots_find(const struct fm_t_slots *slots, uint64_t value)
{
    uint32_t number = (uint32_t)(value & 0xfffffffu);
    uint32_t c = number / FM_T_SLOTS_PER_CHUNK;
    char *chunk;
    struct fm_t_slot *slot;

    if (c >= FM_T_SLOTS_CHUNKS || value == 0) {
        return NULL;
    }
    chunk = atomic_load_explicit(&slots->chunks[c], memory_order_acquire);
    if (!chunk) {
        return NULL;
    }
    slot = (struct fm_t_slot *)(void *)(chunk + number % FM_T_SLOTS_PER_CHUNK * slots->slot_len);
    return atomic_load_explicit(&slot->value, memory_order_acquire) == value ? slot : NULL;
}
