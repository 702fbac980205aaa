/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping threads, and those who wake them. */
#include "core/p2p/sleeper.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/object/handle.h"
#include "core/p2p/channel.h"

const void *fm_sleeper_this_thread(void)
{
    static _Thread_local char here;

    return &here;
}

static bool is_awake(const struct fm_sleeper *s)
{
    return atomic_load_explicit(&s->state, memory_order_relaxed) == FM_SLEEPER_WOKEN;
}

static void wake_one(struct fm_sleeper *s)
{
    uint32_t was = atomic_exchange_explicit(&s->state, FM_SLEEPER_WOKEN, memory_order_release);
    uint64_t one = 1;

    if (was == FM_SLEEPER_LOOKS) {
        return; /* it will see */
    }
    if (s->fd < 0) {
        syscall(SYS_futex, &s->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    } else if (write(s->fd, &one, sizeof(one)) < 0) {
        return; /* it sleeps to the end of its time then */
    }
}

/* Called with the lock, by a thread that is about to drop it: fm_root.wake. */
static bool wake(void *ctx)
{
    const struct fm_channel *ch = ctx;
    bool is_any = false;

    for (struct fm_sleeper *s = ch->sleepers; s; s = s->next) {
        if (!is_awake(s) && s->fn(s->ctx)) {
            wake_one(s);
        }
        is_any |= is_awake(s);
    }
    return is_any;
}

void fm_sleeper_hand_over(struct fm_channel *ch)
{
    struct fm_sleeper *first = NULL; /* to have come: the list begins with the last */

    for (struct fm_sleeper *s = ch->sleepers; s; s = s->next) {
        if (is_awake(s)) {
            return;
        }
        first = s;
    }
    if (first) {
        wake_one(first);
    }
}

void fm_sleeper_begin(struct fm_channel *ch, struct fm_sleeper *s, fm_until_fn fn, void *ctx,
                      bool is_by_fd)
{
    *s = (struct fm_sleeper){.next = ch->sleepers, .fn = fn, .ctx = ctx, .fd = -1};
    if (is_by_fd) {
        s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    ch->sleepers = s;
    fm_root.wake = wake;
    fm_root.wake_ctx = ch;
}

void fm_sleeper_end(struct fm_channel *ch, struct fm_sleeper *s)
{
    struct fm_sleeper **at = &ch->sleepers;

    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    if (!ch->sleepers) {
        fm_root.wake = NULL;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
}

void fm_sleeper_again(struct fm_sleeper *s)
{
    atomic_store_explicit(&s->state, FM_SLEEPER_LOOKS, memory_order_relaxed); /* under the lock */
}

uint64_t fm_sleeper_rest(struct fm_sleeper *s, uint64_t n_yields, uint64_t max_us)
{
    struct timespec t = {(time_t)(max_us / 1000000), (long)(max_us % 1000000) * 1000};
    uint32_t looks = FM_SLEEPER_LOOKS;

    for (uint64_t k = 0; k < n_yields; k++) {
        /* Nothing is read on the strength of it before the lock is taken. */
        if (atomic_load_explicit(&s->state, memory_order_relaxed) == FM_SLEEPER_WOKEN) {
            return k;
        }
        sched_yield();
    }
    if (atomic_compare_exchange_strong_explicit(&s->state, &looks, FM_SLEEPER_ASLEEP,
                                                memory_order_relaxed, memory_order_relaxed)) {
        syscall(SYS_futex, &s->state, FUTEX_WAIT_PRIVATE, FM_SLEEPER_ASLEEP, &t, NULL, 0);
    }
    return n_yields;
}

#ifdef SYS_futex_waitv
bool fm_sleeper_wait(struct fm_sleeper *s, const struct fm_sleep *on, uint64_t max_us)
{
    struct futex_waitv waits[2] = {
        {.uaddr = (uintptr_t)&s->state,
         .val = FM_SLEEPER_ASLEEP,
         .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG},
        {.uaddr = (uintptr_t)on->word, .val = on->seen, .flags = FUTEX_32},
    };
    uint64_t end_ns = fm_now_ns() + max_us * 1000;
    struct timespec until = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};

    return syscall(SYS_futex_waitv, waits, on->word ? 2 : 1, 0, &until, CLOCK_MONOTONIC) >= 0 ||
           errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
}
#else
bool fm_sleeper_wait(struct fm_sleeper *s, const struct fm_sleep *on, uint64_t max_us)
{
    return false;
}
#endif
