/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of each flavor, over each way: every kind of operation under every kind of
   synchronization, with known results. */
#include "ways.h"

static int rank, size;

/* Each rank puts its number into its place at all, and finds those of all. */
static void fence(struct window *w)
{
    int me = rank + 1, *at = (int *)w->base;

    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    for (int r = 0; r < size; r++) {
        OK(MPI_Put(&me, 1, MPI_INT, r, w->at[r] + 4 * rank, 1, MPI_INT, w->win));
    }
    OK(MPI_Win_fence(0, w->win));
    for (int r = 0; r < size; r++) {
        CHECK_EQ(at[r], r + 1);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
}

/* Everybody adds to one word of everybody. */
static void lock(struct window *w, int type)
{
    long long one = 1, old = -1, got = 0;

    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int r = 0; r < size; r++) {
        OK(MPI_Win_lock(type, r, 0, w->win));
        for (int k = 0; k < 10; k++) {
            OK(MPI_Accumulate(&one, 1, MPI_LONG_LONG, r, w->at[r] + 64, 1, MPI_LONG_LONG, MPI_SUM,
                              w->win));
            OK(MPI_Fetch_and_op(&one, &old, MPI_LONG_LONG, r, w->at[r] + 64, MPI_SUM, w->win));
            OK(MPI_Win_flush(r, w->win));
            CHECK(old >= 2 * k + 1 && old < 20 * size);
        }
        OK(MPI_Win_unlock(r, w->win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, w->win));
    for (int r = 0; r < size; r++) {
        OK(MPI_Get(&got, 1, MPI_LONG_LONG, r, w->at[r] + 64, 1, MPI_LONG_LONG, w->win));
        OK(MPI_Win_flush_local(r, w->win));
        CHECK_EQ(got, 20 * size);
    }
    OK(MPI_Win_unlock_all(w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
    memset(w->base + 64, 0, 8);
    OK(MPI_Win_unlock(rank, w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Exactly one rank wins each word. */
static void swap(struct window *w)
{
    int won = 0, all = 0, zero = 0, me = rank + 1, was;

    OK(MPI_Win_lock_all(0, w->win));
    for (int k = 0; k < 8; k++) {
        OK(MPI_Compare_and_swap(&me, &zero, &was, MPI_INT, k % size, w->at[k % size] + 128 + 4 * k,
                                w->win));
        OK(MPI_Win_flush_all(w->win));
        won += was == 0;
    }
    OK(MPI_Win_unlock_all(w->win));
    OK(MPI_Allreduce(&won, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(all, 8);
}

/* Around the ring: to the right put, from the left get. */
static void ring(struct window *w)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got = 0, flag = 0;
    int neighbors[2] = {left, right}, n = left == right ? 1 : 2;
    MPI_Group world, group;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, n, neighbors, &group));
    for (int k = 0; k < 5; k++) {
        int value = 100 * k + rank;

        *(int *)(w->base + 256) = -1;
        *(int *)(w->base + 260) = 1000 * k + rank;
        OK(MPI_Win_post(group, 0, w->win));
        OK(MPI_Win_start(group, 0, w->win));
        OK(MPI_Put(&value, 1, MPI_INT, right, w->at[right] + 256, 1, MPI_INT, w->win));
        OK(MPI_Get(&got, 1, MPI_INT, left, w->at[left] + 260, 1, MPI_INT, w->win));
        OK(MPI_Win_complete(w->win));
        CHECK_EQ(got, 1000 * k + left);
        if (k % 2) {
            OK(MPI_Win_wait(w->win));
        } else {
            for (flag = 0; !flag;) {
                OK(MPI_Win_test(w->win, &flag));
            }
        }
        CHECK_EQ(*(int *)(w->base + 256), 100 * k + left);
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
}

/* Long ones, by request, and with gaps on both sides. */
static void lengths(struct window *w)
{
    enum { N = 40000 };
    int right = (rank + 1) % size, *from = malloc(N * sizeof(int)), *to = malloc(N * sizeof(int));
    MPI_Datatype odd, run;
    MPI_Request r[2];
    MPI_Status st;

    for (int k = 0; k < N; k++) {
        from[k] = k * 7 + rank;
        to[k] = -1;
    }
    OK(MPI_Type_vector(N / 4, 1, 2, MPI_INT, &odd));
    OK(MPI_Type_contiguous(N / 4, MPI_INT, &run));
    OK(MPI_Type_commit(&odd));
    OK(MPI_Type_commit(&run));
    OK(MPI_Win_lock_all(0, w->win));
    OK(MPI_Rput(from, N, MPI_INT, right, w->at[right] + 1024, N, MPI_INT, w->win, &r[0]));
    OK(MPI_Wait(&r[0], &st));
    OK(MPI_Win_flush(right, w->win));
    OK(MPI_Rget(to, N, MPI_INT, right, w->at[right] + 1024, N, MPI_INT, w->win, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    CHECK(memcmp(from, to, N * sizeof(int)) == 0);
    /* every second one of the first half, from a packed buffer and into one */
    OK(MPI_Rput(from, 1, run, right, w->at[right] + 1024, 1, odd, w->win, &r[0]));
    OK(MPI_Waitall(1, r, MPI_STATUSES_IGNORE));
    OK(MPI_Win_flush(right, w->win));
    OK(MPI_Rget(to, 1, odd, right, w->at[right] + 1024, 1, odd, w->win, &r[0]));
    OK(MPI_Rget(to + N / 2, N / 2, MPI_INT, right, w->at[right] + 1024 + 2 * N, N / 2, MPI_INT,
                w->win, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k < N; k++) {
        CHECK_EQ(to[k], k < N / 2 && k % 2 == 0 ? from[k / 2] : from[k]);
    }
    OK(MPI_Win_unlock_all(w->win));
    OK(MPI_Type_free(&odd));
    OK(MPI_Type_free(&run));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(from);
    free(to);
}

/* Predefined types without a name (MPI-5.0 6.9.4, 19.1.5). */
static void unnamed(struct window *w)
{
    struct {
        double value;
        int64_t index;
    } mine = {rank, 100 + rank}, best = {0, 0};
    int64_t one = 1, sum = -1;
    MPI_Datatype pair, number;

    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair));
    OK(MPI_Type_create_f90_integer(18, &number));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
    memset(w->base + 512, 0, 64);
    OK(MPI_Win_unlock(rank, w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, w->win));
    OK(MPI_Accumulate(&mine, 1, pair, 0, w->at[0] + 512, 1, pair, MPI_MAXLOC, w->win));
    OK(MPI_Fetch_and_op(&one, &sum, number, 0, w->at[0] + 544, MPI_SUM, w->win));
    OK(MPI_Win_flush_all(w->win));
    CHECK(sum >= 0 && sum < size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Get_accumulate(NULL, 0, pair, &best, 1, pair, 0, w->at[0] + 512, 1, pair, MPI_NO_OP,
                          w->win));
    OK(MPI_Get(&sum, 1, number, 0, w->at[0] + 544, 1, number, w->win));
    OK(MPI_Win_unlock_all(w->win));
    CHECK(best.value == size - 1 && best.index == (size > 1 ? 100 + size - 1 : 0));
    CHECK_EQ(sum, size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void attributes(struct window *w)
{
    int *number, flag;
    MPI_Aint *len;
    char *base;

    OK(MPI_Win_get_attr(w->win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
    CHECK(flag && *number == w->flavor);
    OK(MPI_Win_get_attr(w->win, MPI_WIN_MODEL, &number, &flag));
    CHECK(flag && *number == MPI_WIN_UNIFIED);
    OK(MPI_Win_get_attr(w->win, MPI_WIN_DISP_UNIT, &number, &flag));
    CHECK(flag && *number == 1);
    OK(MPI_Win_get_attr(w->win, MPI_WIN_SIZE, &len, &flag));
    CHECK(flag && *len == (w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : w->len));
    OK(MPI_Win_get_attr(w->win, MPI_WIN_BASE, &base, &flag));
    CHECK(flag && base == (w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_BOTTOM : w->base));
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int way = 0; way < N_WAYS; way++) {
        set_way(way);
        for (int f = 0; f < N_FLAVORS; f++) {
            struct window w = open_window(flavors[f], 200000, MPI_COMM_WORLD);

            attributes(&w);
            fence(&w);
            lock(&w, MPI_LOCK_SHARED);
            lock(&w, MPI_LOCK_EXCLUSIVE);
            swap(&w);
            ring(&w);
            lengths(&w);
            unnamed(&w);
            close_window(&w);
        }
    }
    OK(MPI_Finalize());
    OK(MPI_T_finalize());
    return 0;
}
