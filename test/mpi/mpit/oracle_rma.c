/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication of two ranks, whose calls, bytes and packets this program knows: over
 * each way in turn. Times are held against a clock around the call; what only happens when two
 * processes meet is tried until it does.
 */
#include <time.h>

#include "../rma/ways.h"
#include "oracle.h"

enum { LEN = 1 << 21, FAR = 1 << 20 };

static int rank, other;
static struct window w;
static char far[FAR];

/* Of the window w, bound. */
static const char *const bound_names[] = {
    "rma_window_id",        "rma_window_calls",          "rma_window_bytes", "rma_window_epochs",
    "rma_window_wait_time", "rma_window_lock_conflicts", "rma_window_served"};
enum { ID, CALLS, BYTES, EPOCHS, WAITED, CONFLICTS, SERVED, N_BOUND };
static MPI_T_pvar_handle bound[N_BOUND];

static void open_bound(void)
{
    for (int k = 0; k < N_BOUND; k++) {
        int index, count, n, klass, i = -1;
        char name[64];

        OK(MPI_T_pvar_get_num(&n));
        for (index = 0; index < n && i < 0; index++) {
            int len = sizeof(name);

            OK(MPI_T_pvar_get_info(index, name, &len, NULL, &klass, NULL, NULL, NULL, NULL, NULL,
                                   NULL, NULL, NULL));
            i = strcmp(name, bound_names[k]) == 0 ? index : -1;
        }
        CHECK(i >= 0);
        OK(MPI_T_pvar_handle_alloc(oracle_session, i, &w.win, &bound[k], &count));
        if (k != ID) {
            OK(MPI_T_pvar_start(oracle_session, bound[k]));
        }
    }
}

static ull of_window(int k)
{
    ull v;

    OK(MPI_T_pvar_read(oracle_session, bound[k], &v));
    return v;
}

#define window_has(k, should) ORACLE(bound_names[k], 0, of_window(k), ==, should)

static void close_bound(void)
{
    for (int k = 0; k < N_BOUND; k++) {
        OK(MPI_T_pvar_handle_free(oracle_session, &bound[k]));
    }
}

static ull now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (ull)t.tv_sec * 1000000000u + (ull)t.tv_nsec;
}

/* ---- events ---- */

static struct counted {
    int n;
    ull window;
    int data[3];
    MPI_T_event_registration registration;
} epochs, lock_waits;

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *user_data)
{
    struct counted *c = user_data;

    (void)registration;
    (void)safety;
    c->n++;
    OK(MPI_T_event_read(instance, 0, &c->window));
    OK(MPI_T_event_read(instance, 1, &c->data[0]));
    if (c == &lock_waits) {
        OK(MPI_T_event_read(instance, 2, &c->data[1]));
    }
}

static void watch(const char *name, struct counted *c)
{
    int index;

    OK(MPI_T_event_get_index(name, &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &c->registration));
    OK(MPI_T_event_register_callback(c->registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                     MPI_INFO_NULL, c, on_event));
}

/* ---- operations ---- */

static void operations(const char *calls, const char *bytes)
{
    long one = 1, was;

    OK(MPI_Win_lock_all(0, w.win));
    mark();
    OK(MPI_Put(&one, 8, MPI_BYTE, other, w.at[other], 8, MPI_BYTE, w.win));
    OK(MPI_Put(&one, 3, MPI_BYTE, other, w.at[other], 3, MPI_BYTE, w.win));
    OK(MPI_Put(&one, 0, MPI_BYTE, other, w.at[other], 0, MPI_BYTE, w.win));
    OK(MPI_Win_flush(other, w.win));
    OK(MPI_Get(&was, 8, MPI_BYTE, other, w.at[other] + 8, 8, MPI_BYTE, w.win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, other, w.at[other] + 16, 1, MPI_LONG, MPI_SUM, w.win));
    OK(MPI_Accumulate(&one, 1, MPI_INT, other, w.at[other] + 24, 1, MPI_INT, MPI_SUM, w.win));
    OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, other, w.at[other] + 16, MPI_SUM, w.win));
    OK(MPI_Compare_and_swap(&one, &one, &was, MPI_INT, other, w.at[other] + 24, w.win));
    OK(MPI_Win_flush(other, w.win));
    same("rma_puts", 2);
    same("rma_put_bytes", 11);
    same("rma_gets", 1);
    same("rma_get_bytes", 8);
    same("rma_accumulates", 2);
    same("rma_accumulate_bytes", 12);
    same("rma_fetches", 1);
    same("rma_fetch_bytes", 8);
    same("rma_swaps", 1);
    same("rma_swap_bytes", 4);
    same(calls, 7);
    same(bytes, 43);
    window_has(CALLS, 7);
    window_has(BYTES, 43);
    OK(MPI_Win_unlock_all(w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A put with its flush is one packet and one answer; a get of more than may be owed is queued. */
static void packets(void)
{
    char value = 1;

    mark();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w.win));
        OK(MPI_Put(&value, 1, MPI_BYTE, other, w.at[other], 1, MPI_BYTE, w.win));
        OK(MPI_Win_flush(other, w.win));
        OK(MPI_Win_unlock(other, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    same("rma_packets_sent", rank == 0);
    same("rma_packets_served", rank == 1);
    same("rma_operations_served", rank == 1);
    same("rma_replies_sent", rank == 1);
    same("rma_queued", 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    mark();
    if (rank == 0) {
        ull before = now_ns();

        OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w.win));
        OK(MPI_Get(far, FAR, MPI_BYTE, other, w.at[other], FAR, MPI_BYTE, w.win));
        OK(MPI_Win_flush(other, w.win));
        at_most("rma_flush_time", now_ns() - before);
        at_least("rma_flush_time", 1);
        OK(MPI_Win_unlock(other, w.win));
        same("rma_queued", 1);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* ---- synchronization ---- */

static void count_epochs(void)
{
    ull before = now_ns(), calls = of_window(EPOCHS);
    int n = epochs.n;
    MPI_Group self;

    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    mark();
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    at_most("rma_fence_time", now_ns() - before);
    at_least("rma_fence_time", 1);
    OK(MPI_Win_post(self, 0, w.win));
    OK(MPI_Win_start(self, 0, w.win));
    OK(MPI_Win_complete(w.win));
    OK(MPI_Win_wait(w.win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win));
    OK(MPI_Win_unlock(0, w.win));
    OK(MPI_Win_unlock(1, w.win));
    OK(MPI_Win_lock_all(0, w.win));
    OK(MPI_Win_unlock_all(w.win));
    same("rma_fences", 2);
    same("rma_starts", 1);
    same("rma_posts", 1);
    same("rma_locks", 2);
    same("rma_lock_alls", 1);
    ORACLE(bound_names[EPOCHS], 0, of_window(EPOCHS) - calls, ==, 7);
    ORACLE("rma_epoch_event", 0, (ull)(epochs.n - n), ==, 7);
    window_has(ID, epochs.window);
    CHECK_EQ(epochs.data[0], 4); /* the last one */
    OK(MPI_Group_free(&self));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void spin(void)
{
    ull before = now_ns();

    while (now_ns() - before < 2000000) {
    }
}

/* Rank 1 posts late, and completes late. */
static void be_late(MPI_Group group)
{
    char done = 0;

    if (rank == 0) {
        OK(MPI_Win_start(group, 0, w.win));
        OK(MPI_Win_complete(w.win));
        OK(MPI_Recv(&done, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Win_post(group, 0, w.win));
        OK(MPI_Win_wait(w.win));
        return;
    }
    spin();
    OK(MPI_Win_post(group, 0, w.win));
    OK(MPI_Win_wait(w.win));
    OK(MPI_Send(&done, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD));
    OK(MPI_Win_start(group, 0, w.win));
    spin();
    OK(MPI_Win_complete(w.win));
}

/* Until rank 0 has waited for both: it may itself come late. */
static void late(void)
{
    const int member = other;
    MPI_Group world, group;
    ull before, waited = of_window(WAITED);
    int has_waited = 0;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &member, &group));
    mark();
    before = now_ns();
    while (!has_waited) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        be_late(group);
        has_waited = since("rma_start_time", 0) > 0 && since("rma_wait_time", 0) > 0;
        OK(MPI_Bcast(&has_waited, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    at_most("rma_start_time", now_ns() - before);
    at_most("rma_wait_time", now_ns() - before);
    ORACLE(bound_names[WAITED], 0, of_window(WAITED) - waited, ==,
           since("rma_start_time", 0) + since("rma_wait_time", 0));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Rank 1 wants what rank 0 holds, until rank 0 has found it asleep. */
static void conflict(void)
{
    int woken = 0;
    ull n = 0, conflicts = of_window(CONFLICTS), events = (ull)lock_waits.n, before = 0;

    mark();
    while (!woken) {
        if (rank == 0) {
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        before = now_ns();
        if (rank == 0) {
            while (now_ns() - before < 20000000) {
            }
            OK(MPI_Win_unlock(0, w.win));
            woken = since("rma_wakes", 0) > 0;
        } else {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
            OK(MPI_Win_unlock(0, w.win));
        }
        n++;
        OK(MPI_Bcast(&woken, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    if (rank == 0) {
        at_least("rma_wakes", 1);
        at_most("rma_wakes", n);
        at_most("rma_lock_conflicts", n); /* rank 1 may still be at the last one */
        return;
    }
    /* it may have come when rank 0 was through already */
    at_least("rma_lock_conflicts", 1);
    at_most("rma_lock_conflicts", n);
    at_least("rma_lock_time", 1);
    at_most("rma_lock_time", now_ns() - before + n * 1000000000ull);
    ORACLE(bound_names[CONFLICTS], 0, of_window(CONFLICTS) - conflicts, ==,
           since("rma_lock_conflicts", 0));
    ORACLE("rma_lock_wait_event", 0, (ull)lock_waits.n - events, ==,
           since("rma_lock_conflicts", 0));
    CHECK_EQ(lock_waits.data[0], 0);
    CHECK_EQ(lock_waits.data[1], 0);
}

/* Both add to one word until each has met the other. */
static void crowd(void)
{
    int met = 0, all = 0;
    ull n = 0;
    long one = 1;

    mark();
    OK(MPI_Win_lock_all(0, w.win));
    while (!all) {
        for (int k = 0; k < 100000; k++) {
            OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, w.at[0] + 64, 1, MPI_LONG, MPI_SUM, w.win));
        }
        n += 100000;
        met = since("rma_accumulate_conflicts", 0) > 0;
        OK(MPI_Allreduce(&met, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
    }
    OK(MPI_Win_unlock_all(w.win));
    at_most("rma_accumulate_conflicts", n);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void make(int way)
{
    ull live = value("rma_windows", 0);

    set_way(way);
    mark();
    w = open_window(MPI_WIN_FLAVOR_ALLOCATE, LEN, MPI_COMM_WORLD);
    same("rma_windows_made", 1);
    now_is("rma_windows", live + 1);
    now_is("rma_windows_high", live + 1);
    open_bound();
}

static void end(void)
{
    ull live = value("rma_windows", 0);

    close_bound();
    close_window(&w);
    now_is("rma_windows", live - 1);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    other = 1 - rank;
    oracle_open();
    watch("rma_epoch_event", &epochs);
    watch("rma_lock_wait_event", &lock_waits);
    make(WAY_AUTO);
    operations("rma_direct_calls", "rma_direct_bytes");
    count_epochs();
    late();
    conflict();
    crowd();
    end();
    make(WAY_COPY);
    operations("rma_copy_calls", "rma_copy_bytes");
    end();
    make(WAY_MESSAGE);
    packets();
    end();
    make(WAY_MESSAGE);
    operations("rma_message_calls", "rma_message_bytes");
    window_has(SERVED, 7);
    end();
    OK(MPI_T_event_handle_free(epochs.registration, NULL, NULL));
    OK(MPI_T_event_handle_free(lock_waits.registration, NULL, NULL));
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}
