/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of races between two or more threads: each on a processor of its own as far as there
 * are any (the scheduler likes to put one that wakes another beside it, where they never meet), and
 * random delays, so that they meet at every point.
 */
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/sync.h"

/* ThreadSanitizer takes ten times as long for each. */
#if defined(__SANITIZE_THREAD__)
#define RACE_ROUNDS(n) ((n) / 10)
#else
#define RACE_ROUNDS(n) (n)
#endif

/* The calling thread runs on the k-th of its processors from now on. */
static inline void race_pin(int k)
{
    cpu_set_t all, one;

    if (pthread_getaffinity_np(pthread_self(), sizeof(all), &all) != 0) {
        return;
    }
    k %= CPU_COUNT(&all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && k-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
        }
    }
}

/* Most often some tens of nanoseconds, from time to time long enough for the others to sleep. */
static inline void race_delay(uint64_t *state)
{
    uint64_t r;

    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    r = *state >> 33;
    for (uint64_t n = r >> 8 & (r % 64 ? 7 : 255); n > 0; n--) {
        fm_cpu_relax();
    }
}

/*
 * Sleep while *word == seen; the waker changes it before it calls futex(2). The sleep begins as a
 * loop, since real sleeps and wake-ups take so long that a test would see few of them.
 * False: not woken within so many microseconds.
 */
static inline bool race_sleep(_Atomic uint32_t *word, uint32_t seen, uint64_t us)
{
    struct timespec limit = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    for (int n = 0; n < 200; n++) {
        if (atomic_load_explicit(word, memory_order_acquire) != seen) {
            return true;
        }
        fm_cpu_relax();
    }
    return syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0) == 0 || errno != ETIMEDOUT;
}
