/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock that the library looks at, on its way to libc: when it was looked at first and last in
 * a stretch, and what it shows is the test's to move. A jump of a second is much more than a test
 * takes, so that a timer which has it once, twice or not at all is told apart without a word about
 * how fast the machine is.
 */
#ifndef TEST_MPI_MPIT_CLOCK_H
#define TEST_MPI_MPIT_CLOCK_H

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull

static unsigned long long clock_ahead; /* ns that have been added */
static unsigned long long clock_first, clock_last;
static int clock_n_looks;
static int clock_jump_at; /* the look before which it jumps; 0: none */
static unsigned long long clock_jump_by;

static inline unsigned long long clock_real(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * SECOND + (unsigned long long)t.tv_nsec;
}

/* What the library would see now. */
static inline unsigned long long clock_now(void)
{
    return clock_real() + clock_ahead;
}

/* A stretch begins; before its look number n (from 1; 0: never) the clock jumps. */
static inline void clock_begin(int n, unsigned long long by)
{
    clock_n_looks = 0;
    clock_first = clock_last = 0;
    clock_jump_at = n;
    clock_jump_by = by;
}

#define CLOCK_TAKEN __attribute__((visibility("default"))) /* from libc, for the library too */

static void clock_looked_at(void); /* the program's: nothing, or more */

CLOCK_TAKEN int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, id, t);
    }
    clock_looked_at();
    if (++clock_n_looks == clock_jump_at) {
        clock_ahead += clock_jump_by;
    }
    clock_last = clock_now();
    clock_first = clock_first ? clock_first : clock_last;
    t->tv_sec = (time_t)(clock_last / SECOND);
    t->tv_nsec = (long)(clock_last % SECOND);
    return 0;
}

#endif
