/* SPDX-License-Identifier: BSD-3-Clause */
/* Going to sleep without losing a wake-up; the protocol is in shm_doorbell.h. */
#include "transport/shm/shm.h"
#include "transport/shm/shm_doorbell.h"
#include "util/sync.h"

/*
 * Announce a sleep; a last poll follows. Only a sender resets the doorbell: another thread of this
 * process may be asleep on the word. A doorbell that is still set while we are awake costs the next
 * sender one call.
 */
static void announce(struct fm_shm_transport *t)
{
    bool has_pipe = t->wakeup[0] >= 0;

    if (has_pipe) {
        fm_shm_doorbell_drain(t);
    }
    /* Still set: no sender has reset it, and all have seen it since then. */
    if (atomic_load_explicit(&t->header->doorbell, memory_order_relaxed) == FM_SHM_AWAKE) {
        atomic_store_explicit(&t->header->doorbell,
                              has_pipe ? FM_SHM_ASLEEP_PIPE : FM_SHM_ASLEEP_FUTEX,
                              memory_order_relaxed);
        t->announced_ns = fm_now_ns();
    }
    fm_sync_fence(); /* with the fence in fm_shm_doorbell_ring(), or for settle() */
}

/* Does a message arrive, also from senders that had not seen the doorbell? The age is that of the
   announcement before the last poll: taken after it, it would say nothing of what came since. */
static bool settle(struct fm_shm_transport *t, uint64_t *out_age_ns)
{
    do {
        *out_age_ns = fm_now_ns() - t->announced_ns;
        if (fm_shm_poll_has_work(t)) {
            return true;
        }
    } while (!t->fences && *out_age_ns < FM_SHM_SETTLE_NS);
    return false;
}

int fm_shm_sleep_arm(struct fm_transport *tp, struct fm_sleep *out_sleep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    uint64_t age_ns;
    bool is_short;

    if (t->n_jobs || t->n_assists || fm_shm_poll_has_work(t)) {
        return FM_AGAIN;
    }
    announce(t);
    if (settle(t, &age_ns)) {
        return FM_AGAIN;
    }
    FM_STAT(t->counters->n_sleeps++);
    is_short = !t->fences && age_ns < FM_SHM_SHORT_US * UINT64_C(1000);
    *out_sleep = (struct fm_sleep){.fd = t->wakeup[0], .max_us = is_short ? FM_SHM_SHORT_US : 0};
    if (out_sleep->fd < 0) {
        out_sleep->word = &t->header->doorbell;
        out_sleep->seen = FM_SHM_ASLEEP_FUTEX;
    }
    return 0;
}
