/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Races of the shared memory of short collectives (coll_shm_slot.h): each thread is a rank, so that
 * ThreadSanitizer sees all of them. Ranks sleep as soon as they have to wait, on a futex of their
 * own, which a wake-up ends; one that is lost ends the test by its time limit. It counts how often
 * a rank has announced that it is about to sleep. An argument multiplies the rounds.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/coll/coll_shm_slot.h"
#include "support/race.h"
#include "support/suite.h"

#define MAX_RANKS 5
#define STRIDE    64

static struct {
    struct fm_coll_slots view; /* as each begins */
    uint32_t n_calls;
    unsigned looks;                   /* before a rank sleeps */
    _Atomic uint32_t bell[MAX_RANKS]; /* the wake-up's exchange to 1 -> the sleeper's to 0 */
    _Atomic uint64_t n_announced;     /* numbers, no data */
    _Atomic uint64_t n_asleep;        /* of them, the last look found nothing */
} job;

static uint32_t factor = 1;

static void wake(const struct fm_coll_slots *v, uint32_t rank)
{
    for (uint32_t r = 0; r < v->size; r++) {
        if (r != rank && fm_coll_slots_take_sleeper(v, r)) {
            atomic_exchange_explicit(&job.bell[r], 1, memory_order_acq_rel);
            syscall(SYS_futex, &job.bell[r], FUTEX_WAKE, 1, NULL, NULL, 0);
        }
    }
}

static void sleep_once(const struct fm_coll_slots *v, uint32_t n, uint32_t rank,
                       bool (*is_ready)(const struct fm_coll_slots *v, uint32_t n))
{
    atomic_fetch_add_explicit(&job.n_announced, 1, memory_order_relaxed);
    fm_coll_slots_announce(v, rank, true);
    if (!is_ready(v, n)) {
        atomic_fetch_add_explicit(&job.n_asleep, 1, memory_order_relaxed);
        while (!race_sleep(&job.bell[rank], 0, 10000000)) {
        }
        atomic_exchange_explicit(&job.bell[rank], 0, memory_order_acq_rel);
    }
    fm_coll_slots_announce(v, rank, false);
}

static void wait_for(const struct fm_coll_slots *v, uint32_t n, uint32_t rank,
                     bool (*is_ready)(const struct fm_coll_slots *v, uint32_t n))
{
    for (unsigned k = 0; !is_ready(v, n); k++) {
        if (k >= job.looks) {
            sleep_once(v, n, rank, is_ready);
        }
    }
}

static void linger(void)
{
}

#include "slot_calls.h"

static void *thread(void *arg)
{
    uint32_t rank = (uint32_t)(uintptr_t)arg, random = 12345;
    struct fm_coll_slots v = job.view;
    uint64_t own_random = rank;

    if (v.size == 2) {
        race_pin((int)rank);
    }
    for (uint32_t k = 0; k < job.n_calls; k++) {
        uint32_t root;

        race_delay(&own_random);
        random = random * 1664525 + 1013904223; /* the same in all ranks */
        root = (random >> 16) % (v.size + 2);
        root = root < v.size ? root : TO_ALL;
        if (root != TO_ALL && fm_coll_slots_are_full(&v)) {
            call_reduce(&v, rank, TO_ALL);
        }
        if (random >> 28 < 8 && root != TO_ALL) {
            call_bcast(&v, rank, root);
        } else {
            call_reduce(&v, rank, root);
        }
    }
    return NULL;
}

static void run(uint32_t size, uint32_t n_calls, unsigned looks, bool is_flat)
{
    size_t len = fm_coll_slots_len(size, STRIDE);
    void *memory = aligned_alloc(FM_CACHE_LINE, len);
    pthread_t ids[MAX_RANKS];

    ck_assert_ptr_nonnull(memory);
    memset(memory, 0, len);
    memset(job.bell, 0, sizeof(job.bell));
    job.n_announced = job.n_asleep = 0;
    job.view = fm_coll_slots(memory, size, STRIDE);
    job.view.is_flat = is_flat;
    job.view.n = job.view.last_all = UINT32_MAX - n_calls / 2; /* numbers wrap */
    job.n_calls = n_calls * factor;
    job.looks = looks;
    for (uint32_t r = 0; r < size; r++) {
        ck_assert_int_eq(pthread_create(&ids[r], NULL, thread, (void *)(uintptr_t)r), 0);
    }
    for (uint32_t r = 0; r < size; r++) {
        pthread_join(ids[r], NULL);
    }
    ck_assert_uint_eq(job.view.head->n_sleeping, 0);
    printf("%u ranks, %u polls: announced %llu times, asleep %llu\n", size, looks,
           (unsigned long long)job.n_announced, (unsigned long long)job.n_asleep);
    ck_assert_uint_gt(job.n_announced, 0); /* without any the test shows nothing */
    free(memory);
}

START_TEST(two_ranks_that_sleep_at_once)
{
    run(2, RACE_ROUNDS(750000), 0, false);
    run(2, RACE_ROUNDS(400000), 0, true);
}
END_TEST

START_TEST(two_ranks_that_look_first)
{
    run(2, RACE_ROUNDS(250000), 50, false);
    run(2, RACE_ROUNDS(250000), 50, true);
}
END_TEST

START_TEST(more_ranks_than_processors)
{
    run(MAX_RANKS, 20000, 0, false);
    run(3, 30000, 20, false);
    run(MAX_RANKS, 4000, 0, true);
    run(3, 10000, 20, true);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("coll_shm_threads");
    TCase *tc = tcase_create("races");

    factor = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
    tcase_set_timeout(tc, 0); /* meson's limit counts */
    tcase_add_test(tc, two_ranks_that_sleep_at_once);
    tcase_add_test(tc, two_ranks_that_look_first);
    tcase_add_test(tc, more_ranks_than_processors);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
