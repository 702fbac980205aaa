/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wait leaves the processor: yielding, sleeping until a transport wakes it, a short sleep. */
#pragma once

#include "core/p2p/wait.h"

/* Drop the library lock, and wake threads whose condition this one has made true. */
void fm_sleep_drop_lock(struct fm_channel *ch);

/* sched_yield() without the lock. */
void fm_sleep_yield(struct fm_channel *ch);

/*
 * Sleep until a transport or another thread wakes this one, for progress_sleep at most. 0; FM_AGAIN
 * when there was something to do, or the sleep ended immediately; or a failure of a transport. The
 * caller polls again in any case.
 */
int fm_sleep_once(struct fm_wait_cond *c);

/* After so many attempts to sleep in a row that ended immediately: sleep for a short fixed time. */
void fm_sleep_short(struct fm_channel *ch, uint64_t n_attempts);
