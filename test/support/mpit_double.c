/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's double; see the header. One thread. */
#include "support/mpit_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS 64

/* What tests read afterwards. */
static struct fm_double_event events[MAX_EVENTS];
static int n_events;

void fathom_mpit_mark(struct fathom_level *l)
{
    l->high = l->now > l->high ? l->now : l->high;
    l->low = l->now < l->low ? l->now : l->low;
    l->hi_mark = l->high;
    l->lo_mark = l->low;
}

void fathom_mpit_emit(const struct fathom_event *event, const void *block, const void *object,
                      const uint64_t *values)
{
    struct fm_double_event *e;

    (void)block;
    (void)object;
    if (n_events == MAX_EVENTS) {
        return;
    }
    e = &events[n_events++];
    memset(e, 0, sizeof(*e));
    e->event = event;
    memcpy(e->values, values, (size_t)event->n_data * sizeof(*values));
}

void *fm_double_block(const struct fathom_table *table)
{
    char *block = aligned_alloc(64, (table->block_len + 63) & ~(size_t)63);

    if (!block) {
        abort();
    }
    memset(block, 0, table->block_len);
    for (int k = 0; k < table->n_cvars; k++) {
        const struct fathom_cvar *c = &table->cvars[k];

        if (c->type == FATHOM_CHAR) {
            snprintf(block + c->at, (size_t)c->count, "%s", c->def_text ? c->def_text : "");
        } else if (c->type == FATHOM_DOUBLE) {
            memcpy(block + c->at, &c->def_real, sizeof(double));
        } else {
            memcpy(block + c->at, &c->def, sizeof(int64_t));
        }
    }
    for (int k = 0; k < table->n_pvars; k++) {
        const struct fathom_pvar *p = &table->pvars[k];

        if (p->klass == FATHOM_LOWWATERMARK && p->whole_at) { /* all is left */
            uint64_t all = *(const uint64_t *)(const void *)(block + p->whole_at);

            *(struct fathom_level *)(void *)(block + p->at) = (struct fathom_level){
                .now = all, .hi_mark = all, .lo_mark = all, .high = all, .low = all};
        }
    }
    return block;
}

int fm_double_events(const struct fm_double_event **out_events)
{
    *out_events = events;
    return n_events;
}

void fm_double_events_clear(void)
{
    n_events = 0;
}
