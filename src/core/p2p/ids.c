/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of requests on the wire. */
#include "core/p2p/ids.h"

#include <stdlib.h>

#define N_FIRST 64
#define N_MAX   (1u << 28)

static bool grow(struct fm_ids *ids)
{
    uint32_t n = ids->n_slots ? ids->n_slots * 2 : N_FIRST;
    struct fm_id_slot *slots;

    if (n > N_MAX) {
        return false;
    }
    slots = realloc(ids->slots, n * sizeof(*slots));
    if (!slots) {
        return false;
    }
    ids->slots = slots;
    for (uint32_t k = n; k-- > ids->n_slots;) {
        slots[k] = (struct fm_id_slot){.gen = 1, .next = ids->free};
        ids->free = k + 1;
    }
    ids->n_slots = n;
    return true;
}

uint64_t fm_ids_put(struct fm_ids *ids, uint16_t kind, void *obj)
{
    struct fm_id_slot *s;
    uint32_t k;

    if (!ids->free && !grow(ids)) {
        return 0;
    }
    k = ids->free - 1;
    s = &ids->slots[k];
    ids->free = s->next;
    s->obj = obj;
    s->kind = kind;
    ids->n_live++;
    return (uint64_t)s->gen << 32 | k;
}

void fm_ids_drop(struct fm_ids *ids, uint64_t id)
{
    uint32_t k = (uint32_t)id;
    struct fm_id_slot *s;

    if (id == 0 || k >= ids->n_slots || ids->slots[k].gen != (uint32_t)(id >> 32)) {
        return;
    }
    s = &ids->slots[k];
    s->obj = NULL;
    s->gen = s->gen + 1 ? s->gen + 1 : 1; /* never 0, so no id is 0 */
    s->next = ids->free;
    ids->free = k + 1;
    ids->n_live--;
}

void fm_ids_finish(struct fm_ids *ids)
{
    free(ids->slots);
    *ids = (struct fm_ids){0};
}
