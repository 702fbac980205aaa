/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of requests on the wire: an index into a table and a generation, so that what a peer sends
 * is looked up, never followed, and a name that was used up is recognised.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

struct fm_id_slot {
    void *obj;     /* NULL: free */
    uint32_t gen;  /* counts uses of the slot */
    uint16_t kind; /* what obj is: the caller's number */
    uint32_t next; /* free list */
};

/* Zeroed before first use. Not thread-safe: under the library lock. */
struct fm_ids {
    struct fm_id_slot *slots;
    uint32_t n_slots;
    uint32_t free; /* index + 1 of the first free slot, 0: none */
    uint32_t n_live;
};

/* Name an object. The id is never 0; 0 means out of memory. */
uint64_t fm_ids_put(struct fm_ids *ids, uint16_t kind, void *obj);
/* The name is used up; 0 is fine. */
void fm_ids_drop(struct fm_ids *ids, uint64_t id);
void fm_ids_finish(struct fm_ids *ids);

/* Was this once a name? */
static FM_INLINE bool fm_ids_was_used(const struct fm_ids *ids, uint64_t id)
{
    uint32_t k = (uint32_t)id, gen = (uint32_t)(id >> 32);

    return k < ids->n_slots && gen != 0 && (int32_t)(ids->slots[k].gen - gen) > 0;
}

/* The object of this kind that has the name, or NULL. */
static FM_INLINE void *fm_ids_get(const struct fm_ids *ids, uint16_t kind, uint64_t id)
{
    uint32_t k = (uint32_t)id;
    const struct fm_id_slot *s;

    if (k >= ids->n_slots) {
        return NULL;
    }
    s = &ids->slots[k];
    return s->obj && s->gen == (uint32_t)(id >> 32) && s->kind == kind ? s->obj : NULL;
}
