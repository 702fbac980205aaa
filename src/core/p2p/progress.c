/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of progress; wait.c decides how many of them a wait makes. */
#include "core/p2p/progress.h"

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "util/sync.h"

/* Flush each peer with something in its queues once. */
static int flush_waiting(struct fm_channel *ch)
{
    int n = 0;

    for (int k = ch->n_waiting; k > 0; k--) {
        struct fm_list *first = fm_list_first(&ch->waiting);
        struct fm_peer_queues *q;

        if (!first) {
            break;
        }
        fm_list_remove(first);
        fm_list_push(&ch->waiting, first);
        q = fm_container_of(first, struct fm_peer_queues, link);
        n += fm_peer_flush(ch, q->peer);
    }
    return n;
}

FM_COLD static int poll_failed(struct fm_channel *ch, const struct fm_transport *tp, int rc)
{
    return fm_channel_fail(ch, rc, "transport %s: %s", tp->ops->name, fm_why());
}

static FM_INLINE int one_round(struct fm_channel *ch)
{
    struct fm_progress_counters *w = ch->progress_counters;
    int n = 0;

    FM_STAT(w->n_polls++);
    for (int k = 0; k < ch->n_transports; k++) {
        int rc = fm_transport_poll(ch->transports[k]);

        if (FM_UNLIKELY(rc < 0)) {
            return poll_failed(ch, ch->transports[k], rc);
        }
        n += rc;
    }
    if (FM_UNLIKELY(ch->n_waiting)) {
        n += flush_waiting(ch);
    }
    if (FM_UNLIKELY(ch->n_hooks)) {
        n += fm_hook_call_all(ch);
    }
    if (n > 0) {
        FM_STAT(w->n_events += (uint64_t)n);
    } else {
        FM_STAT(w->n_empty_polls++);
    }
    return n;
}

/* One round of FM_TIMED_ROUNDS, which stands for all of them. */
static __attribute__((noinline)) int timed_round(struct fm_channel *ch)
{
    struct fm_progress_counters *w = ch->progress_counters;
    uint64_t began;
    int n;

    ch->n_untimed = FM_TIMED_ROUNDS;
    if (!__atomic_load_n(&w->n_timers, __ATOMIC_RELAXED)) { /* tools start handles on any thread */
        return one_round(ch);
    }
    began = fm_now_ns();
    n = one_round(ch);
    FM_STAT(w->round_ns += (fm_now_ns() - began) * FM_TIMED_ROUNDS);
    return n;
}

int fm_progress(struct fm_channel *ch)
{
    /* Counting down costs the same whether a tool wants the times or not. */
    return FM_STATS && FM_UNLIKELY(--ch->n_untimed == 0) ? timed_round(ch) : one_round(ch);
}

bool fm_progress_is_crowded(const struct fm_channel *ch)
{
    return ch->n_local > ch->n_processors;
}
