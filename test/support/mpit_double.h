/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry's double, for unit tests of rooms that only need words: blocks with the defaults of
 * the rows, levels that keep their marks, events that are remembered. Link it instead of the
 * registry, never beside it.
 */
#pragma once

#include <fathom/mpit.h>

/* An event that was raised. */
struct fm_double_event {
    const struct fathom_event *event;
    uint64_t values[8];
};

/* A block of the table with the control variables at their defaults; free() it. */
void *fm_double_block(const struct fathom_table *table);

/* Events raised since the last call with clear, oldest first; at most 64 are kept. */
int fm_double_events(const struct fm_double_event **out_events);
void fm_double_events_clear(void);
