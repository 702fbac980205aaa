/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control block of a window (win_ctl.h): the order in which its lock is given, and races of
 * threads that each stand for a rank, so that ThreadSanitizer sees all of them. Threads sleep on a
 * futex of their own as soon as they have to wait; a wake-up that is lost ends the test by its time
 * limit.
 */
#include <check.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/rma/win_ctl.h"
#include "support/suite.h"

enum { RANKS = 4, ROUNDS = 20000 };

static struct fm_win_ctl *ctl[RANKS]; /* the lock of rank 0 is used */

static void make(void)
{
    for (int r = 0; r < RANKS; r++) {
        ctl[r] = aligned_alloc(FM_CACHE_LINE, fm_win_ctl_len(RANKS));
        memset(ctl[r], 0, fm_win_ctl_len(RANKS));
    }
}

static void drop(void)
{
    for (int r = 0; r < RANKS; r++) {
        free(ctl[r]);
    }
}

START_TEST(tickets_are_served_in_order)
{
    struct fm_win_ctl *c = ctl[0];
    uint32_t r1 = fm_win_ticket(c), r2 = fm_win_ticket(c), w1 = fm_win_ticket(c);
    uint32_t r3 = fm_win_ticket(c), w2 = fm_win_ticket(c);

    ck_assert(fm_win_may_read(c, r1) && !fm_win_may_read(c, r2));
    ck_assert(!fm_win_read_begin(c));
    ck_assert(fm_win_may_read(c, r2)); /* together with the first */
    fm_win_read_begin(c);
    ck_assert(!fm_win_may_write(c, w1) && !fm_win_may_read(c, r3));
    fm_win_read_end(c);
    ck_assert(!fm_win_may_write(c, w1));
    fm_win_read_end(c);
    ck_assert(fm_win_may_write(c, w1) && !fm_win_may_read(c, r3));
    fm_win_write_end(c);
    ck_assert(fm_win_may_read(c, r3) && !fm_win_may_write(c, w2));
    fm_win_read_begin(c);
    fm_win_read_end(c);
    ck_assert(fm_win_may_write(c, w2));
    fm_win_sleep_on(c, true); /* one waits */
    ck_assert(fm_win_write_end(c));
    fm_win_sleep_on(c, false);
    ck_assert(fm_win_may_write(c, fm_win_ticket(c)));
}
END_TEST

START_TEST(tickets_wrap)
{
    struct fm_win_ctl *c = ctl[0];

    c->next = c->serving_readers = c->serving_writers = UINT32_MAX;
    for (int k = 0; k < 3; k++) {
        uint32_t t = fm_win_ticket(c);

        ck_assert(k % 2 ? fm_win_may_read(c, t) : fm_win_may_write(c, t));
        if (k % 2) {
            fm_win_read_begin(c);
            fm_win_read_end(c);
        } else {
            fm_win_write_end(c);
        }
    }
}
END_TEST

START_TEST(stripes_are_taken_once)
{
    struct fm_win_stripe *s = fm_win_stripe_of(ctl[0], 12345);

    ck_assert_ptr_eq(s, fm_win_stripe_of(ctl[0], 12288));
    ck_assert_ptr_ne(s, fm_win_stripe_of(ctl[0], 12287));
    ck_assert_ptr_eq(s, fm_win_stripe_of(ctl[0], 12345 + FM_WIN_STRIPES * FM_WIN_STRIPE_BYTES));
    ck_assert(fm_win_stripe_try(s, 0));
    ck_assert(!fm_win_stripe_try(s, 0) && !fm_win_stripe_try(s, 1));
    ck_assert_uint_eq(s->owner, 1);
    fm_win_stripe_unlock(s);
    ck_assert(fm_win_stripe_try(s, 1));
}
END_TEST

/* ---- races ---- */

static _Atomic uint32_t bells[RANKS]; /* a wake-up's exchange to 1 -> the sleeper's to 0 */
static long guarded[2];               /* plain: only the lock keeps threads apart */
static long striped;

static void wake_all(int me)
{
    for (int r = 0; r < RANKS; r++) {
        if (r != me && atomic_load_explicit(&ctl[r]->n_sleeping, memory_order_seq_cst)) {
            atomic_exchange_explicit(&bells[r], 1, memory_order_acq_rel);
            syscall(SYS_futex, &bells[r], FUTEX_WAKE, 1, NULL, NULL, 0);
        }
    }
}

static bool is_served(uint32_t ticket, bool is_writer)
{
    return is_writer ? fm_win_may_write(ctl[0], ticket) : fm_win_may_read(ctl[0], ticket);
}

static void take(int me, bool is_writer)
{
    uint32_t ticket = fm_win_ticket(ctl[0]);

    while (!is_served(ticket, is_writer)) {
        fm_win_sleep_on(ctl[0], true);
        fm_win_sleep(ctl[me], true);
        if (!is_served(ticket, is_writer) &&
            atomic_exchange_explicit(&bells[me], 0, memory_order_acq_rel) == 0) {
            syscall(SYS_futex, &bells[me], FUTEX_WAIT, 0, NULL, NULL, 0);
        }
        fm_win_sleep_on(ctl[0], false);
        fm_win_sleep(ctl[me], false);
    }
    if (!is_writer && fm_win_read_begin(ctl[0])) {
        wake_all(me);
    }
}

static void give(int me, bool is_writer)
{
    if (is_writer ? fm_win_write_end(ctl[0]) : fm_win_read_end(ctl[0])) {
        wake_all(me);
    }
}

static void *contend(void *arg)
{
    int me = (int)(intptr_t)arg;
    struct fm_win_stripe *s = fm_win_stripe_of(ctl[0], 0);

    for (int k = 0; k < ROUNDS; k++) {
        bool is_writer = (k + me) % 3 == 0;

        take(me, is_writer);
        if (is_writer) {
            guarded[0]++;
            guarded[1]++;
        }
        ck_assert_int_eq(guarded[0], guarded[1]);
        give(me, is_writer);
        while (!fm_win_stripe_try(s, me)) {
            sched_yield();
        }
        striped++;
        fm_win_stripe_unlock(s);
    }
    return NULL;
}

START_TEST(locks_keep_threads_apart)
{
    pthread_t threads[RANKS];
    long n_writes = 0;

    guarded[0] = guarded[1] = striped = 0;
    for (intptr_t r = 0; r < RANKS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, contend, (void *)r), 0);
    }
    for (int r = 0; r < RANKS; r++) {
        pthread_join(threads[r], NULL);
        for (int k = 0; k < ROUNDS; k++) {
            n_writes += (k + r) % 3 == 0;
        }
    }
    ck_assert_int_eq(guarded[0], n_writes);
    ck_assert_int_eq(striped, (long)RANKS * ROUNDS);
    ck_assert_uint_eq(ctl[0]->n_waiting, 0);
    ck_assert_uint_eq(ctl[0]->next, ctl[0]->serving_readers);
    ck_assert_uint_eq(ctl[0]->next, ctl[0]->serving_writers);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("win_ctl");
    TCase *tc = tcase_create("lock");

    tcase_set_timeout(tc, 0); /* meson's limit counts */
    tcase_add_checked_fixture(tc, make, drop);
    tcase_add_test(tc, tickets_are_served_in_order);
    tcase_add_test(tc, tickets_wrap);
    tcase_add_test(tc, stripes_are_taken_once);
    tcase_add_test(tc, locks_keep_threads_apart);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
