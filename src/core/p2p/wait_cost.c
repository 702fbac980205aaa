/* SPDX-License-Identifier: BSD-3-Clause */
/* What it costs to give the processor away. */
#include "core/p2p/wait_cost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { CLOSED = -1, UNAVAILABLE = -2 };

void fm_wait_cost_init(struct fm_wait_cost *c, uint64_t *sleep_ns)
{
    *c = (struct fm_wait_cost){.sleep_ns = sleep_ns, .fd = CLOSED};
}

void fm_wait_cost_finish(struct fm_wait_cost *c)
{
    if (c->fd >= 0) {
        close(c->fd);
    }
    c->fd = UNAVAILABLE;
}

/* The file belongs to the thread that opened it. */
static void open_for(struct fm_wait_cost *c, const void *thread)
{
    if (c->fd >= 0 && c->thread != thread) {
        close(c->fd);
        c->fd = CLOSED;
    }
    if (c->fd == CLOSED) {
        c->fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
        c->fd = c->fd < 0 ? UNAVAILABLE : c->fd;
        c->thread = thread;
    }
}

/* The second number of the file: ns that the thread has spent on a run queue without running. */
static uint64_t read_delay(struct fm_wait_cost *c)
{
    char text[80], *end;
    ssize_t n = c->fd < 0 ? 0 : pread(c->fd, text, sizeof(text) - 1, 0);

    if (n <= 0) {
        return 0;
    }
    text[n] = '\0';
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
}

void fm_wait_cost_asleep(struct fm_wait_cost *c, const void *thread)
{
    open_for(c, thread);
    c->delay_ns = read_delay(c);
}

uint64_t fm_wait_cost_awake(struct fm_wait_cost *c)
{
    uint64_t now = read_delay(c);

    c->last_delay_ns = now > c->delay_ns ? now - c->delay_ns : 0;
    return c->last_delay_ns;
}

void fm_wait_cost_learn(struct fm_wait_cost *c, uint64_t away_ns, uint64_t short_ns)
{
    uint64_t sample = away_ns < short_ns ? away_ns : c->last_delay_ns;
    uint64_t cost = *c->sleep_ns;

    if (sample > cost) {
        cost += (sample - cost + 3) / 4;
    } else {
        cost -= (cost - sample) / 16;
    }
    *c->sleep_ns = cost;
}
