/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that sleep while others work (MPI_THREAD_MULTIPLE). What a sleeper waits for may come
 * about by another thread, which takes a message off the transport or sends to the process itself:
 * whoever drops the library lock looks whether that is so, and wakes it. Guarded by that lock.
 */
#pragma once

#include <poll.h>
#include <stdint.h>

#include "core/p2p/progress.h"
#include "transport/transport.h"

/* One sleeping thread, on its stack. */
struct fm_sleeper {
    struct fm_sleeper *next;
    fm_until_fn fn; /* what it waits for */
    void *ctx;
    /* 1: woken. Release of the waker, under the lock; the kernel compares it, outside. */
    _Atomic uint32_t woken;
    int fd; /* an eventfd to wake it by; -1: by the word */
};

/* Make the thread known before it drops the lock; is_by_fd: it is going to sleep in poll(2). */
void fm_sleeper_begin(struct fm_sleeper *s, fm_until_fn fn, void *ctx, bool is_by_fd);
/* It has woken, and has the lock again. */
void fm_sleeper_end(struct fm_sleeper *s);

/* Sleep until the transport's word changes (`on`; it may have none), another thread wakes us, or
   max_us have passed. False: this kernel cannot wait for several words. */
bool fm_sleeper_wait(struct fm_sleeper *s, const struct fm_sleep *on, uint64_t max_us);
