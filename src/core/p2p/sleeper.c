/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping threads, and those who wake them. */
#include "core/p2p/sleeper.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/object/handle.h"

/* All that sleep; guarded by the library lock. */
static struct fm_sleeper *sleepers;

/* Called with the lock, by a thread that is about to drop it: fm_root.wake. */
static void wake(void)
{
    for (struct fm_sleeper *s = sleepers; s; s = s->next) {
        uint64_t one = 1;

        if (atomic_load_explicit(&s->woken, memory_order_relaxed) || !s->fn(s->ctx)) {
            continue;
        }
        atomic_store_explicit(&s->woken, 1, memory_order_release); /* see fm_sleeper.woken */
        if (s->fd < 0) {
            syscall(SYS_futex, &s->woken, FUTEX_WAKE, 1, NULL, NULL, 0);
        } else if (write(s->fd, &one, sizeof(one)) < 0) {
            continue; /* it sleeps to the end of its time then */
        }
    }
}

void fm_sleeper_begin(struct fm_sleeper *s, fm_until_fn fn, void *ctx, bool is_by_fd)
{
    *s = (struct fm_sleeper){.next = sleepers, .fn = fn, .ctx = ctx, .fd = -1};
    if (is_by_fd) {
        s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    sleepers = s;
    fm_root.wake = wake;
}

void fm_sleeper_end(struct fm_sleeper *s)
{
    struct fm_sleeper **at = &sleepers;

    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    if (!sleepers) {
        fm_root.wake = NULL;
    }
    if (s->fd >= 0) {
        close(s->fd);
    }
}

#ifdef SYS_futex_waitv
bool fm_sleeper_wait(struct fm_sleeper *s, const struct fm_sleep *on, uint64_t max_us)
{
    struct futex_waitv waits[2] = {
        {.uaddr = (uintptr_t)&s->woken, .val = 0, .flags = FUTEX_32},
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
