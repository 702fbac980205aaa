/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmark programs share. They include nothing but mpi.h and libc, so that the same
 * source is measured on every MPI. One output format, a line per figure, printed by rank 0:
 *
 *     NAME PARAMETER VALUE UNIT                      e.g.  latency 8 172.4 ns
 *     NAME PARAMETER VALUE UNIT line BEFORE AFTER    with what glance() has seen
 */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Ranks 0 and 1 send each other 8 bytes, n times: one way. */
static inline double pingpong_ns(int rank, int n)
{
    double began = now_ns();
    char bytes[8] = "";

    for (int i = 0; i < n; i++) {
        if (rank == 0) {
            MPI_Send(bytes, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(bytes, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bytes, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(bytes, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (now_ns() - began) / n / 2;
}

/* Rank r on core r modulo the number of cores, unless BENCH_PIN=0. */
static inline void pin(int rank)
{
    const char *how = getenv("BENCH_PIN");
    cpu_set_t set;

    if (how && strcmp(how, "0") == 0) {
        return;
    }
    CPU_ZERO(&set);
    CPU_SET(rank % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

/* The page of the file that this environment variable names, shared by the processes of a run;
   NULL: there is none. */
static inline void *shared_page(const char *variable)
{
    const char *path = getenv(variable);
    int fd = path ? open(path, O_RDWR) : -1;
    void *at = MAP_FAILED;

    if (fd >= 0) {
        at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    return at == MAP_FAILED ? NULL : at;
}

/*
 * Jobs that are compared with one another run at once on the same cores, and take turns of some
 * milliseconds: what the machine does meanwhile then happens to all of them. BENCH_TURNS names the
 * page, BENCH_TURN is the place of this job, BENCH_JOBS how many there are. All take the same
 * number of turns. Without BENCH_TURNS both functions do nothing.
 */
static struct {
    atomic_int *number; /* of the turn, over all jobs; NULL: no turns */
    int place, n_jobs;
} turns;

/* Wait for the next turn of this job; called by all its ranks. Ends the job when the others make no
   turn in ten seconds. */
static inline void take_turn(void)
{
    const struct timespec patience = {.tv_sec = 10};
    int now;

    if (!turns.n_jobs) {
        turns.number = shared_page("BENCH_TURNS");
        turns.place = turns.number ? atoi(getenv("BENCH_TURN")) : 0;
        turns.n_jobs = turns.number ? atoi(getenv("BENCH_JOBS")) : 1;
    }
    while (turns.number && (now = atomic_load(turns.number)) % turns.n_jobs != turns.place) {
        if (syscall(SYS_futex, turns.number, FUTEX_WAIT, now, &patience, NULL, 0) < 0 &&
            errno == ETIMEDOUT) {
            fprintf(stderr, "another job does not pass its turn\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

/* The turn is over, for all ranks of the job: called by one of them. */
static inline void pass_turn(void)
{
    if (turns.number) {
        atomic_fetch_add(turns.number, 1);
        syscall(SYS_futex, turns.number, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}

enum { BEFORE, AFTER };
static double line_ns[2]; /* as glance() has seen it; 0: unknown */

/*
 * Ranks 0 and 1, before and after a figure: how long a bare cache line takes from one to the other
 * just now, without any MPI. On a virtual machine that changes within seconds.
 */
static inline void glance(int rank, int when)
{
    enum { BOUNCES = 300, PATIENCE_NS = 20000000 };
    static atomic_long *line;
    static long first;
    static int is_off;
    double began = 0;

    line = line ? line : shared_page("BENCH_LINE");
    line_ns[when] = 0;
    if (!line || is_off || rank > 1) {
        return;
    }
    for (long i = first + rank; i < first + 2 * BOUNCES; i += 2) {
        double since = now_ns();

        for (long n = 1; atomic_load_explicit(line, memory_order_acquire) != i; n++) {
            if (n % 4096 == 0 && now_ns() - since > PATIENCE_NS) {
                is_off = 1; /* the other does not come */
                return;
            }
        }
        atomic_store_explicit(line, i + 1, memory_order_release);
        began = i / 2 == first / 2 + BOUNCES / 3 ? now_ns() : began; /* both are warm */
    }
    line_ns[when] = (now_ns() - began) / (BOUNCES - BOUNCES / 3 - 1) / 2;
    first += 2 * BOUNCES;
}

static inline void report(const char *name, long long parameter, double value, const char *unit)
{
    printf("%s %lld %.6g %s", name, parameter, value, unit);
    if (line_ns[BEFORE] > 0 && line_ns[AFTER] > 0) {
        printf(" line %.0f %.0f", line_ns[BEFORE], line_ns[AFTER]);
    }
    printf("\n");
    fflush(stdout);
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The lower quartile: what the machine does when it is left alone, without trusting a single
 * sample. */
static inline double quiet(double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof(*samples), by_value);
    return samples[n / 4];
}

#endif
