/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the memory model promises (MPI-5.0 12.4, 12.7), tried many times: messages pass through
 * flushes, no two processes hold an exclusive lock, of two that store and then load at least one
 * sees the other, and no accumulate is lost.
 */
#include "ways.h"

static int rank, size;
static struct window w;

/* Rank 0 puts data, flushes, and raises a flag; the last rank sees the flag, then the data. */
static void message(int n)
{
    int from = 0, to = size - 1, flag = 0, data = 0, home = size > 2 ? 1 : 0;

    OK(MPI_Win_lock_all(0, w.win));
    for (int k = 1; k <= n && rank == from; k++) {
        OK(MPI_Put(&k, 1, MPI_INT, home, w.at[home], 1, MPI_INT, w.win));
        OK(MPI_Win_flush(home, w.win));
        OK(MPI_Accumulate(&k, 1, MPI_INT, home, w.at[home] + 64, 1, MPI_INT, MPI_REPLACE, w.win));
        OK(MPI_Win_flush(home, w.win));
    }
    while (rank == to && flag < n) {
        OK(MPI_Fetch_and_op(NULL, &flag, MPI_INT, home, w.at[home] + 64, MPI_NO_OP, w.win));
        OK(MPI_Win_flush(home, w.win));
        OK(MPI_Get(&data, 1, MPI_INT, home, w.at[home], 1, MPI_INT, w.win));
        OK(MPI_Win_flush(home, w.win));
        CHECK(data >= flag);
    }
    OK(MPI_Win_unlock_all(w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A counter that is read and written by put and get alone, under the exclusive lock. */
static void hand_over(int n)
{
    long value, total = (long)n * size;

    for (int k = 0; k < n; k++) {
        int home = k % size;

        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, w.win));
        OK(MPI_Get(&value, 1, MPI_LONG, home, w.at[home] + 128, 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(home, w.win));
        value++;
        OK(MPI_Put(&value, 1, MPI_LONG, home, w.at[home] + 128, 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(home, w.win));
        if (k % 7 == 0) { /* readers in between see the whole of it */
            OK(MPI_Win_lock(MPI_LOCK_SHARED, home, 0, w.win));
            OK(MPI_Get(&value, 1, MPI_LONG, home, w.at[home] + 128, 1, MPI_LONG, w.win));
            OK(MPI_Win_unlock(home, w.win));
            CHECK(value > 0 && value <= total);
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
    value = *(long *)(w.base + 128);
    OK(MPI_Win_unlock(rank, w.win));
    OK(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(value, total);
}

/* Store buffering: each of two puts its own word, flushes, and gets the other's. */
static void store_buffer(int n)
{
    int home = size - 1, mine = rank, other = 1 - rank, both[2], one = 1, zero = 0, seen = 1;

    for (int k = 0; k < n; k++) {
        OK(MPI_Win_lock_all(0, w.win));
        if (rank < 2) {
            OK(MPI_Put(&one, 1, MPI_INT, home, w.at[home] + 256 + 64 * mine, 1, MPI_INT, w.win));
            OK(MPI_Win_flush(home, w.win));
            OK(MPI_Get(&seen, 1, MPI_INT, home, w.at[home] + 256 + 64 * other, 1, MPI_INT, w.win));
            OK(MPI_Win_flush(home, w.win));
        }
        OK(MPI_Win_unlock_all(w.win));
        both[0] = rank == 0 ? seen : 0;
        both[1] = rank == 1 ? seen : 0;
        OK(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(both[0] || both[1]);
        OK(MPI_Win_lock_all(0, w.win));
        if (rank < 2) {
            OK(MPI_Put(&zero, 1, MPI_INT, home, w.at[home] + 256 + 64 * mine, 1, MPI_INT, w.win));
        }
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

/* All accumulate to one element, by several operations that can be told apart at the end. */
static void sums(int n)
{
    struct {
        double value;
        int index;
    } pair = {rank + 1, rank}, best;
    long long one = 1, was = 0, sum;
    long double real = 1, got;

    OK(MPI_Win_lock_all(0, w.win));
    for (int k = 0; k < n; k++) {
        long long before = was;

        OK(MPI_Accumulate(&one, 1, MPI_LONG_LONG, 0, w.at[0] + 512, 1, MPI_LONG_LONG, MPI_SUM,
                          w.win));
        OK(MPI_Accumulate(&real, 1, MPI_LONG_DOUBLE, 0, w.at[0] + 528, 1, MPI_LONG_DOUBLE, MPI_SUM,
                          w.win));
        if (k % 5 == 0) {
            OK(MPI_Fetch_and_op(&one, &was, MPI_LONG_LONG, 0, w.at[0] + 560, MPI_SUM, w.win));
            OK(MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, w.at[0] + 576, 1, MPI_DOUBLE_INT,
                              MPI_MAXLOC, w.win));
            OK(MPI_Win_flush(0, w.win));
            CHECK(k == 0 || was > before);
        }
    }
    OK(MPI_Win_unlock_all(w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    OK(MPI_Get(&sum, 1, MPI_LONG_LONG, 0, w.at[0] + 512, 1, MPI_LONG_LONG, w.win));
    OK(MPI_Get(&got, 1, MPI_LONG_DOUBLE, 0, w.at[0] + 528, 1, MPI_LONG_DOUBLE, w.win));
    OK(MPI_Get(&was, 1, MPI_LONG_LONG, 0, w.at[0] + 560, 1, MPI_LONG_LONG, w.win));
    OK(MPI_Get(&best, 1, MPI_DOUBLE_INT, 0, w.at[0] + 576, 1, MPI_DOUBLE_INT, w.win));
    OK(MPI_Win_unlock(0, w.win));
    CHECK_EQ(sum, (long long)n * size);
    CHECK((long long)got == (long long)n * size);
    CHECK_EQ(was, (long long)((n + 4) / 5) * size);
    CHECK(best.value == size && best.index == size - 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 200, provided;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int way = 0; way < N_WAYS; way++) {
        set_way(way);
        for (int f = 0; f < 2; f++) {
            w = open_window(flavors[f], 4096, MPI_COMM_WORLD);
            OK(MPI_Barrier(MPI_COMM_WORLD));
            message(n);
            hand_over(n);
            store_buffer(size > 1 ? n / 4 : 0);
            sums(5 * n);
            close_window(&w);
        }
    }
    OK(MPI_Finalize());
    OK(MPI_T_finalize());
    return 0;
}
