/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress hooks. */
#include "core/p2p/hook.h"

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"

void fm_hook_add(struct fm_channel *ch, struct fm_hook *hook)
{
    fm_assert(!fm_hook_is_added(hook));
    fm_list_push(&ch->hooks, &hook->link);
    ch->n_hooks++;
    ch->is_hook_due = true;
    FM_STAT(fathom_level_add(&ch->progress_counters->hooks, 1));
}

void fm_hook_remove(struct fm_channel *ch, struct fm_hook *hook)
{
    if (fm_hook_is_added(hook)) {
        fm_list_remove(&hook->link);
        ch->n_hooks--;
        FM_STAT(fathom_level_add(&ch->progress_counters->hooks, -1));
    }
}

/* Each hook goes to the end of the list before it is called, so no position in the list has to
   survive what the hook adds, removes and frees. */
int fm_hook_call_all(struct fm_channel *ch)
{
    struct fm_list *first;
    int n = 0;

    ch->is_hook_due = false;
    for (int k = ch->n_hooks; k > 0 && (first = fm_list_pop(&ch->hooks)); k--) {
        struct fm_hook *hook = fm_container_of(first, struct fm_hook, link);

        fm_list_push(&ch->hooks, first);
        n += hook->fn(hook);
        FM_STAT(ch->progress_counters->n_hook_calls++);
    }
    FM_STAT(ch->progress_counters->n_hook_events += (uint64_t)n);
    return n;
}
