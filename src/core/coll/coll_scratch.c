/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of free blocks by length. */
#include "core/coll/coll_scratch.h"

#include <stdlib.h>

#include "core/coll/coll_vars.h"

enum { SMALLEST = 9, N_ORDERS = 48 };

/* Free blocks of 1 << (SMALLEST + i) bytes. Guarded by the library lock; memory is of the process,
   not of a channel, and all calls use it. */
static struct fm_coll_scratch *kept[N_ORDERS];

static int order_of(size_t len)
{
    int order = SMALLEST;

    while (order < SMALLEST + N_ORDERS && (size_t)1 << order < len) {
        order++;
    }
    return order;
}

struct fm_coll_scratch *fm_coll_scratch_take(size_t len)
{
    int order = order_of(len);
    struct fm_coll_scratch *block;

    if (order == SMALLEST + N_ORDERS) {
        return NULL;
    }
    block = kept[order - SMALLEST];
    if (block) {
        kept[order - SMALLEST] = block->next;
        fathom_level_add(&fm_coll_counters->scratch, -((int64_t)1 << order));
        return block;
    }
    block = aligned_alloc(FM_CACHE_LINE, sizeof(*block) + ((size_t)1 << order));
    if (block) {
        FM_STAT(fm_coll_counters->n_scratch_misses++);
        block->order = order;
    }
    return block;
}

void fm_coll_scratch_give(struct fm_coll_scratch *block)
{
    size_t len;

    if (!block) {
        return;
    }
    len = (size_t)1 << block->order;
    if (len + fm_coll_counters->scratch.now > fm_coll_counters->scratch_max) {
        free(block);
        return;
    }
    block->next = kept[block->order - SMALLEST];
    kept[block->order - SMALLEST] = block;
    fathom_level_add(&fm_coll_counters->scratch, (int64_t)len);
}

void fm_coll_scratch_finish(void)
{
    for (int i = 0; i < N_ORDERS; i++) {
        struct fm_coll_scratch *next;

        for (struct fm_coll_scratch *block = kept[i]; block; block = next) {
            next = block->next;
            fathom_level_add(&fm_coll_counters->scratch, -((int64_t)1 << block->order));
            free(block);
        }
        kept[i] = NULL;
    }
}
