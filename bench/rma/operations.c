/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations of rank 0 on a window of rank 1, each with its flush, in windows of
 * MPI_Win_allocate and of MPI_Win_create; then synchronization of both, and a get from a target
 * that computes without calling MPI. `swap` as first argument adds MPI_Compare_and_swap, with which
 * some libraries crash.
 */
#include "../harness/bench.h"

enum { N_BATCHES = 15, LEN = 1 << 20, WINDOW = 64, COMPUTE_MS = 200 };

static int rank;
static MPI_Win win;
static char *mine;
static long one = 1, was;

static void put(int len)
{
    MPI_Put(mine, len, MPI_BYTE, 1, 0, len, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get(int len)
{
    MPI_Get(mine, len, MPI_BYTE, 1, 0, len, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void accumulate(int len)
{
    MPI_Accumulate(mine, len / 8, MPI_LONG, 1, 0, len / 8, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void fetch(int len)
{
    (void)len;
    MPI_Fetch_and_op(&one, &was, MPI_LONG, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void swap(int len)
{
    (void)len;
    MPI_Compare_and_swap(&one, &one, &was, MPI_LONG, 1, 0, win);
    MPI_Win_flush(1, win);
}

static void puts_in_window(int len)
{
    for (int k = 0; k < WINDOW; k++) {
        MPI_Put(mine, len, MPI_BYTE, 1, len * k, len, MPI_BYTE, win);
    }
    MPI_Win_flush(1, win);
}

static void fence(int len)
{
    if (rank == 0) {
        MPI_Put(mine, len, MPI_BYTE, 1, 0, len, MPI_BYTE, win);
    }
    MPI_Win_fence(0, win);
}

static MPI_Group other;

static void expose(int len)
{
    if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Put(mine, len, MPI_BYTE, 1, 0, len, MPI_BYTE, win);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
    }
}

/* ns of one call; `is_both`: rank 1 calls it, too. */
static double measure(void (*fn)(int), int len, int n, int is_both)
{
    double samples[N_BATCHES] = {0};

    for (int b = -2; b < N_BATCHES; b++) {
        double began;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        for (int i = 0; i < n && (rank == 0 || is_both); i++) {
            fn(len);
        }
        if (b >= 0) {
            samples[b] = (now_ns() - began) / n;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return quiet(samples, N_BATCHES);
}

static void row(const char *kind, const char *what, int len, double value, const char *unit)
{
    char name[64];

    snprintf(name, sizeof(name), "rma_%s_%s", kind, what);
    if (rank == 0) {
        report(name, len, value, unit);
    }
}

static void passive(const char *kind, int has_swap)
{
    MPI_Win_lock_all(0, win);
    row(kind, "put", 8, measure(put, 8, 2000, 0), "ns");
    row(kind, "get", 8, measure(get, 8, 2000, 0), "ns");
    row(kind, "accumulate", 8, measure(accumulate, 8, 1000, 0), "ns");
    row(kind, "fetch_and_op", 8, measure(fetch, 8, 1000, 0), "ns");
    if (has_swap) {
        row(kind, "compare_and_swap", 8, measure(swap, 8, 1000, 0), "ns");
    }
    row(kind, "put_rate", 8, WINDOW * 1e3 / measure(puts_in_window, 8, 50, 0), "M/s");
    for (int len = 1 << 16; len <= LEN; len *= 16) {
        row(kind, "put_bandwidth", len, 1e3 * len / measure(put, len, 40, 0), "MB/s");
        row(kind, "get_bandwidth", len, 1e3 * len / measure(get, len, 40, 0), "MB/s");
    }
    row(kind, "accumulate", 1 << 16, measure(accumulate, 1 << 16, 40, 0), "ns");
    MPI_Win_unlock_all(win);
}

static void active(const char *kind)
{
    const int peer = 1 - rank;
    MPI_Group world;

    MPI_Win_fence(0, win);
    row(kind, "fence", 8, measure(fence, 8, 500, 1), "ns");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    row(kind, "post_start", 8, measure(expose, 8, 500, 1), "ns");
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

/* The target computes; how long does the shortest of some gets take meanwhile? */
static void busy(const char *kind)
{
    double until, best = 1e12;

    MPI_Barrier(MPI_COMM_WORLD);
    until = now_ns() + COMPUTE_MS * 1e6;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        for (int k = 0; k < 20; k++) {
            double began = now_ns();

            get(8);
            best = now_ns() - began < best && now_ns() < until ? now_ns() - began : best;
            if (now_ns() >= until && best > 1e11) {
                best = now_ns() - began;
            }
        }
        MPI_Win_unlock(1, win);
    }
    while (rank == 1 && now_ns() < until) {
    }
    MPI_Barrier(MPI_COMM_WORLD);
    row(kind, "get_from_busy", 8, best, "ns");
}

int main(int argc, char **argv)
{
    int has_swap = argc > 1 && strcmp(argv[1], "swap") == 0;
    char *base;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    mine = aligned_alloc(4096, LEN);
    memset(mine, 0, LEN);
    for (int k = 0; k < 2; k++) {
        const char *kind = k == 0 ? "allocate" : "create";

        if (k == 0) {
            MPI_Win_allocate(LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        } else {
            base = aligned_alloc(4096, LEN);
            MPI_Win_create(base, LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        }
        memset(base, 0, LEN);
        MPI_Barrier(MPI_COMM_WORLD);
        passive(kind, has_swap);
        active(kind);
        busy(kind);
        MPI_Win_free(&win);
        if (k == 1) {
            free(base);
        }
    }
    free(mine);
    MPI_Finalize();
    return 0;
}
