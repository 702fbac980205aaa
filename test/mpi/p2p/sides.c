/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that sleep are woken from every side: rank 0 receives from ranks that reach it over
 * different transports (run with `mixed`: 1 and 3 by libfabric, 2 by shared memory), each sending
 * at a random moment around that at which rank 0 goes to sleep. Where the library has a control
 * variable for the length of a sleep it is set to its highest value, so that a lost wake-up shows
 * as a test that does not end in time. A rank that is kept waiting for long sleeps for long: it
 * uses no processor, and does not wake up again and again to look: neither its library nor the
 * kernel (voluntary context switches) has counted that.
 */
#include "../knob.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

enum { N_EACH = 1500, RACE = 1, ANSWER, TOKEN };

static const double kept_waiting = 0.2; /* seconds */
static int rank, size;

static void pass_time(int n)
{
    for (volatile int k = 0; k < n; k++) {
    }
}

/* Up to some 100 us. */
static void dawdle(uint64_t *random)
{
    pass_time(random_below(random, 60000));
}

static void answer_all(int n_each)
{
    uint64_t random = 0;
    int *n_from = calloc((size_t)size, sizeof(int)), value;
    MPI_Status st;

    CHECK(n_from);
    for (int n = n_each * (size - 1); n > 0; n--) {
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, RACE, MPI_COMM_WORLD, &st));
        CHECK_EQ(value, n_from[st.MPI_SOURCE]++);
        dawdle(&random);
        OK(MPI_Send(&value, 1, MPI_INT, st.MPI_SOURCE, ANSWER, MPI_COMM_WORLD));
    }
    free(n_from);
}

static void ask(int n_each)
{
    uint64_t random = (uint64_t)rank;

    for (int k = 0; k < n_each; k++) {
        int value;

        dawdle(&random);
        OK(MPI_Send(&k, 1, MPI_INT, 0, RACE, MPI_COMM_WORLD));
        OK(MPI_Recv(&value, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(value, k);
    }
}

static double processor_time(long *out_n_switches)
{
    struct rusage u;

    CHECK(getrusage(RUSAGE_SELF, &u) == 0);
    *out_n_switches = u.ru_nvcsw;
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* `from` makes all others wait in calls of two kinds. Do they sleep for as long? */
static int has_slept(int from, const struct gauge *sleeps)
{
    double began, used, took;
    long before, after;
    unsigned long long n;
    int value = 0;

    OK(MPI_Barrier(MPI_COMM_WORLD));
    began = MPI_Wtime();
    used = processor_time(&before);
    n = gauge_read(sleeps);
    if (rank == from) {
        while (MPI_Wtime() < began + kept_waiting) {
            sched_yield();
        }
        OK(MPI_Send(&value, 1, MPI_INT, 0, TOKEN, MPI_COMM_WORLD));
    } else if (rank == 0) {
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (rank != 0) {
        OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    took = MPI_Wtime() - began;
    used = processor_time(&after) - used;
    n = gauge_read(sleeps) - n;
    if (rank == 0) {
        OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    if (!gauge_is_there(sleeps) || rank == from || took < kept_waiting) {
        return 1;
    }
    /* Awake for a small part, and not every few milliseconds. */
    return used < took / 4 && (double)n < took / 0.004 && (double)(after - before) < took / 0.004;
}

/* Whoever polls, or wakes too often, does so each time; a machine that stands still does not. */
static void keep_waiting(int from, const struct gauge *sleeps)
{
    int good = 0, all = 0;

    for (int k = 0; k < 5 && !all; k++) {
        good = has_slept(from, sleeps);
        OK(MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    }
    CHECK(good);
}

int main(int argc, char **argv)
{
    int n_each = argc > 1 ? atoi(argv[1]) : N_EACH, provided;
    struct gauge sleeps;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    knob("progress_sleep", 60000000);
    knob("progress_spin", 0);
    knob("progress_yield", 0);
    sleeps = gauge_open("progress_sleeps");
    if (size > 1) {
        if (rank == 0) {
            answer_all(n_each);
        } else {
            ask(n_each);
        }
        for (int from = 1; from < size; from++) {
            keep_waiting(from, &sleeps);
        }
    }
    gauge_close(&sleeps);
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
