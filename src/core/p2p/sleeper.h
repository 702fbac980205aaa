/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that sleep while others work (MPI_THREAD_MULTIPLE). What a sleeper waits for may come
 * about by another thread, which takes a message off the transport or sends to the process itself:
 * whoever drops the library lock looks whether that is so, and wakes it. Guarded by that lock.
 *
 * Of the threads that wait, one polls the transports; the others wait behind it. When it leaves, it
 * wakes one of them to go on in its place, unless one is awake already: while there are threads
 * behind, somebody polls, or is on its way to.
 */
#pragma once

#include <poll.h>
#include <stdint.h>

#include "core/p2p/wait.h"
#include "transport/transport.h"

enum { FM_SLEEPER_ASLEEP, FM_SLEEPER_LOOKS, FM_SLEEPER_WOKEN };

/* One sleeping thread, on its stack. */
struct fm_sleeper {
    struct fm_sleeper *next;
    fm_until_fn fn; /* what it waits for */
    void *ctx;
    /* FM_SLEEPER_... Woken by a release of the waker, under the lock; the kernel compares it. */
    _Atomic uint32_t state;
    int fd; /* an eventfd to wake it by; -1: by the word */
};

/* What tells this thread from all others. */
const void *fm_sleeper_this_thread(void);

/* Make the thread known before it drops the lock; is_by_fd: it is going to sleep in poll(2). */
void fm_sleeper_begin(struct fm_channel *ch, struct fm_sleeper *s, fm_until_fn fn, void *ctx,
                      bool is_by_fd);
/* It has woken, and has the lock again. */
void fm_sleeper_end(struct fm_channel *ch, struct fm_sleeper *s);

/* It was woken for nothing, and rests again; with the lock. */
void fm_sleeper_again(struct fm_sleeper *s);

/* Wait behind the thread that polls until woken, or max_us have passed; without the lock. Gives the
   processor away at most n_yields times first; how often it did. */
uint64_t fm_sleeper_rest(struct fm_sleeper *s, uint64_t n_yields, uint64_t max_us);

/* The thread that polled has left: see that another one does. With the lock. */
void fm_sleeper_hand_over(struct fm_channel *ch);

/* Sleep until the transport's word changes (`on`; it may have none), another thread wakes us, or
   max_us have passed. False: this kernel cannot wait for several words. */
bool fm_sleeper_wait(struct fm_sleeper *s, const struct fm_sleep *on, uint64_t max_us);
