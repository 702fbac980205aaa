/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to give the processor away, and how long a wait polls before it does (D11).
 *
 * The rule is that of renting or buying: a wait that polls for as long as giving the processor away
 * costs is never more than twice as expensive as one that knew the future. That cost is not a
 * constant: waking a process takes some 5 us on an idle processor, 100 us where a virtual one has
 * to be scheduled first, and milliseconds where another process runs that is not preempted. If it
 * is underestimated, two ranks send each other to sleep in turns: each takes longer to wake than
 * the other one polls. progress_spin_max bounds the rule: beside busy processes a rank that polls
 * for milliseconds uses up its time slice before its peer runs (8 B ping-pong beside one to ten of
 * them: 3 to 20 us at 200 us, 8 us to 7 ms at 3 ms).
 *
 * So it is measured at each sleep that an event ended. Of a long sleep, the cost is the time that
 * this thread was runnable and did not run (/proc/thread-self/schedstat). A short sleep
 * (progress_short_sleep) should not have been one at all: its whole length is taken. The estimate
 * rises by a quarter of the difference and falls by a sixteenth.
 */
#pragma once

#include <stdint.h>

struct fm_channel;

struct fm_wait_cost {
    uint64_t *sleep_ns; /* the estimate, a counter in the page */
    int fd;             /* schedstat of the thread below; -1: not open, -2: not available */
    const void *thread; /* as in fm_channel.poller */
    uint64_t delay_ns;  /* schedstat when the last sleep began, and how much it grew in it */
    uint64_t last_delay_ns;
};

void fm_wait_cost_init(struct fm_wait_cost *c, uint64_t *sleep_ns);
void fm_wait_cost_finish(struct fm_wait_cost *c);

/* Around a sleep of the thread with this identity. */
void fm_wait_cost_asleep(struct fm_wait_cost *c, const void *thread);
/* Returns for how long it was runnable and did not run, ns; 0 where the kernel does not say. */
uint64_t fm_wait_cost_awake(struct fm_wait_cost *c);

/* An event came away_ns after the processor was given away. */
void fm_wait_cost_learn(struct fm_wait_cost *c, uint64_t away_ns, uint64_t short_ns);

/* How long to poll, between the bounds; not at all where the lower one is 0. */
static inline uint64_t fm_wait_cost_spin(const struct fm_wait_cost *c, uint64_t min_ns,
                                         uint64_t max_ns)
{
    uint64_t ns = *c->sleep_ns;

    ns = ns > max_ns ? max_ns : ns;
    return ns < min_ns || min_ns == 0 ? min_ns : ns;
}
