/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for the lock around the library. */
#include "util/sync.h"

/* Tries before sleeping: about as long as a short call of another thread takes. */
#define TRIES 100

void fm_lock_wait(struct fm_lock *l)
{
    uint64_t since = FM_STATS ? fm_now_ns() : 0;

    atomic_fetch_add_explicit(&l->n_wanting, 1, memory_order_relaxed);
    for (int k = 0; k < TRIES; k++) {
        fm_cpu_relax();
        if (pthread_mutex_trylock(&l->mutex) == 0) {
            goto out;
        }
    }
    pthread_mutex_lock(&l->mutex);
out:
    atomic_fetch_sub_explicit(&l->n_wanting, 1, memory_order_relaxed);
    if (l->counters) {
        FM_STAT(l->counters->n_contended++);
        FM_STAT(l->counters->waited_ns += fm_now_ns() - since);
    }
}
