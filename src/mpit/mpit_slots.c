/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks of slots, their free list and the values that are valid for them. */
#include "mpit/mpit_slots.h"

#include <stdlib.h>
#include <string.h>

static void *slot_new(struct fm_t_slots *slots)
{
    uint32_t number = atomic_load_explicit(&slots->n_made, memory_order_relaxed);
    uint32_t c = number / FM_T_SLOTS_PER_CHUNK;
    char *chunk;
    struct fm_t_slot *slot;

    if (c >= FM_T_SLOTS_CHUNKS) {
        return NULL;
    }
    chunk = atomic_load_explicit(&slots->chunks[c], memory_order_relaxed);
    if (!chunk) {
        chunk = calloc(FM_T_SLOTS_PER_CHUNK, slots->slot_len);
        if (!chunk) {
            return NULL;
        }
        /* Pairs with the acquire load in fm_t_slots_find: the chunk is seen cleared. */
        atomic_store_explicit(&slots->chunks[c], chunk, memory_order_release);
    }
    slot = (struct fm_t_slot *)(void *)(chunk + number % FM_T_SLOTS_PER_CHUNK * slots->slot_len);
    slot->number = number;
    slot->use = slots->first_use;
    /* Pairs with the acquire load in fm_t_slots_at: the slot and its chunk are seen filled. */
    atomic_store_explicit(&slots->n_made, number + 1, memory_order_release);
    return slot;
}

bool fm_t_slots_is_full(const struct fm_t_slots *slots)
{
    return slots->n_live >= FM_T_SLOTS_CHUNKS * FM_T_SLOTS_PER_CHUNK;
}

void *fm_t_slots_take(struct fm_t_slots *slots)
{
    struct fm_t_slot *slot;

    if (slots->free_head) {
        slot = fm_t_slots_at(slots, slots->free_head - 1);
        slots->free_head = slot->next_free;
        memset((char *)slot + sizeof(*slot), 0, slots->slot_len - sizeof(*slot));
    } else {
        slot = slot_new(slots);
        if (!slot) {
            return NULL;
        }
    }
    fm_t_slots_renew(slots, slot);
    slots->n_live++;
    return slot;
}

void fm_t_slots_renew(struct fm_t_slots *slots, void *slot)
{
    struct fm_t_slot *s = slot;

    s->use++;
    if (s->use > slots->last_use) {
        slots->last_use = s->use;
    }
}

uint64_t fm_t_slots_value(const struct fm_t_slots *slots, const void *slot)
{
    const struct fm_t_slot *s = slot;

    return (uint64_t)s->use << 32 | (uint64_t)slots->kind << 28 | s->number;
}

void fm_t_slots_publish(struct fm_t_slots *slots, void *slot)
{
    struct fm_t_slot *s = slot;

    atomic_store_explicit(&s->value, fm_t_slots_value(slots, slot), memory_order_release);
}

void fm_t_slots_hide(void *slot)
{
    struct fm_t_slot *s = slot;

    atomic_store_explicit(&s->value, 0, memory_order_release);
}

void fm_t_slots_drop(struct fm_t_slots *slots, void *slot)
{
    struct fm_t_slot *s = slot;

    fm_t_slots_hide(slot);
    s->next_free = slots->free_head;
    slots->free_head = s->number + 1;
    slots->n_live--;
}

void *fm_t_slots_at(const struct fm_t_slots *slots, uint32_t number)
{
    char *chunk;

    /* Pairs with the release store in slot_new. */
    if (number >= atomic_load_explicit(&slots->n_made, memory_order_acquire)) {
        return NULL;
    }
    chunk =
        atomic_load_explicit(&slots->chunks[number / FM_T_SLOTS_PER_CHUNK], memory_order_acquire);
    return chunk + number % FM_T_SLOTS_PER_CHUNK * slots->slot_len;
}

void fm_t_slots_finish(struct fm_t_slots *slots)
{
    uint32_t c;
    char *chunk;

    for (c = 0; c < FM_T_SLOTS_CHUNKS; c++) {
        chunk = atomic_exchange_explicit(&slots->chunks[c], NULL, memory_order_acq_rel);
        if (!chunk) {
            break;
        }
        free(chunk);
    }
    slots->first_use = slots->last_use;
    atomic_store_explicit(&slots->n_made, 0,
                          memory_order_relaxed); /* no thread reads it any more */
    slots->free_head = slots->n_live = 0;
}
