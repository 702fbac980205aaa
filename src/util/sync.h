/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock around the library at MPI_THREAD_MULTIPLE, and small helpers for waiting.
 *
 * fm_lock is recursive and costs one predictable branch while `is_on` is false, which is the case
 * at every thread level below MPI_THREAD_MULTIPLE. It is switched on once, before a second thread
 * may call MPI.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "util/compiler.h"

/* Written by the holder of the lock. */
struct fm_lock_counters {
    uint64_t n_contended; /* times that another thread held it */
    uint64_t waited_ns;   /* time until it was taken then */
};

struct fm_lock {
    bool is_on;
    pthread_mutex_t mutex; /* PTHREAD_MUTEX_RECURSIVE */
    /* Threads in fm_lock_wait(). A hint for a holder that loops: it orders nothing. */
    _Atomic int n_wanting;
    struct fm_lock_counters *counters; /* NULL: not counted */
};

/* Take a lock that another thread holds: spins briefly, then sleeps. */
void fm_lock_wait(struct fm_lock *l);

static inline void fm_lock_take(struct fm_lock *l)
{
    if (FM_UNLIKELY(l->is_on) && pthread_mutex_trylock(&l->mutex) != 0) {
        fm_lock_wait(l);
    }
}

/* Does another thread wait for it now? */
static inline bool fm_lock_is_wanted(const struct fm_lock *l)
{
    return atomic_load_explicit(&l->n_wanting, memory_order_relaxed) != 0;
}

static inline void fm_lock_drop(struct fm_lock *l)
{
    if (FM_UNLIKELY(l->is_on)) {
        pthread_mutex_unlock(&l->mutex);
    }
}

/* The hint of a spin loop to the processor. */
static inline void fm_cpu_relax(void)
{
    FM_CPU_RELAX();
}

/* ThreadSanitizer does not model fences, and gcc warns at each of them. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
/* A full barrier: no access of memory passes it in either direction. */
static inline void fm_sync_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/* Nanoseconds of CLOCK_MONOTONIC; not settable, the same for all processes of one host. */
static inline uint64_t fm_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
