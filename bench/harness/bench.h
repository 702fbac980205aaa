/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmark programs share. They include nothing but mpi.h and libc, so that the same
 * source is measured on every MPI. One output format, a line per figure, printed by rank 0:
 *
 *     NAME PARAMETER VALUE UNIT          e.g.  latency 8 172.4 ns
 */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static inline void report(const char *name, long long parameter, double value, const char *unit)
{
    printf("%s %lld %.6g %s\n", name, parameter, value, unit);
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
