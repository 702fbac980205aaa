/* SPDX-License-Identifier: BSD-3-Clause */
/* Live communicators by context id. Linear probing; removal closes the gap. */
#include "core/p2p/contexts.h"

#include <stdlib.h>

#include "core/object/comm.h"
#include "util/status.h"

#define N_FIRST 16

static uint32_t home(const struct fm_contexts *t, uint32_t context)
{
    return ((context >> 1) * 2654435769u >> 7) & (t->n_slots - 1);
}

static void put(struct fm_contexts *t, struct fm_comm *comm)
{
    uint32_t k = home(t, comm->context);

    while (t->slots[k]) {
        k = (k + 1) & (t->n_slots - 1);
    }
    t->slots[k] = comm;
    t->n_used++;
}

int fm_contexts_add(struct fm_contexts *t, struct fm_comm *comm)
{
    if (t->n_used * 2 >= t->n_slots) {
        struct fm_contexts bigger = {.n_slots = t->n_slots ? t->n_slots * 2 : N_FIRST};

        bigger.slots = calloc(bigger.n_slots, sizeof(struct fm_comm *));
        if (!bigger.slots) {
            return fm_fail(-FM_E_NOMEM, "no memory for a table of %u communicators",
                           bigger.n_slots);
        }
        for (uint32_t k = 0; k < t->n_slots; k++) {
            if (t->slots[k]) {
                put(&bigger, t->slots[k]);
            }
        }
        free(t->slots);
        *t = bigger;
    }
    put(t, comm);
    return 0;
}

void fm_contexts_remove(struct fm_contexts *t, struct fm_comm *comm)
{
    uint32_t mask = t->n_slots - 1;
    uint32_t hole;

    if (t->n_slots == 0) {
        return;
    }
    hole = home(t, comm->context);
    while (t->slots[hole] && t->slots[hole] != comm) {
        hole = (hole + 1) & mask;
    }
    if (!t->slots[hole]) {
        return;
    }
    for (uint32_t k = (hole + 1) & mask; t->slots[k]; k = (k + 1) & mask) {
        uint32_t from = home(t, t->slots[k]->context);

        /* Whoever sits beyond the hole, counted from his home, may move into it. */
        if (((k - from) & mask) >= ((k - hole) & mask)) {
            t->slots[hole] = t->slots[k];
            hole = k;
        }
    }
    t->slots[hole] = NULL;
    t->n_used--;
}

struct fm_comm *fm_contexts_find(const struct fm_contexts *t, uint32_t context)
{
    uint32_t k;

    if (t->n_slots == 0) {
        return NULL;
    }
    for (k = home(t, context); t->slots[k]; k = (k + 1) & (t->n_slots - 1)) {
        if (t->slots[k]->context == (context & ~1u)) {
            return t->slots[k];
        }
    }
    return NULL;
}

void fm_contexts_finish(struct fm_contexts *t)
{
    free(t->slots);
    *t = (struct fm_contexts){0};
}
