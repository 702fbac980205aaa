/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress hooks: functions that every round of progress calls, for rooms that have work which no
 * message completes (schedules that can go on, one-sided operations, lost peers).
 *
 * A hook lies in the object that it serves, so adding cannot fail and there may be any number of
 * them. A hook may add and remove hooks, itself included, while hooks run; one that is added
 * meanwhile may have to wait for the next round. Guarded by the library lock.
 *
 *     static int go_on(struct fm_hook *hook)
 *     {
 *         struct run *run = fm_container_of(hook, struct run, hook);
 *
 *         fm_hook_remove(run->ch, hook);
 *         ...
 *         return 1;
 *     }
 */
#pragma once

#include "util/list.h"

struct fm_channel;

struct fm_hook {
    struct fm_list link; /* the engine's; self-linked or NULL while the hook is not added */
    /* Returns the number of events: 0 where there was no work. It may free the hook once it has
       removed it. */
    int (*fn)(struct fm_hook *hook);
};

void fm_hook_add(struct fm_channel *ch, struct fm_hook *hook);
/* Does nothing for a hook that is not added. */
void fm_hook_remove(struct fm_channel *ch, struct fm_hook *hook);
/* Call each once: part of a round. Returns the sum of their events. */
int fm_hook_call_all(struct fm_channel *ch);

static FM_INLINE bool fm_hook_is_added(const struct fm_hook *hook)
{
    return hook->link.next && !fm_list_is_empty(&hook->link);
}
