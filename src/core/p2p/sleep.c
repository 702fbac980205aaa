/* SPDX-License-Identifier: BSD-3-Clause */
/* How a wait leaves the processor. */
#include "core/p2p/sleep.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/progress_vars.h"
#include "core/p2p/sleeper.h"

/* What a sleep ends by: the descriptors of all transports, or the futex of the only one. */
struct sleep_set {
    struct pollfd fds[FM_MAX_TRANSPORTS + 1]; /* one for other threads */
    int n_fds;
    struct fm_sleep on; /* .word NULL: none */
    uint64_t max_us;
};

/* Arm all transports. 0, FM_AGAIN when one has work, or a failure. */
static int arm_all(struct fm_channel *ch, struct sleep_set *set)
{
    *set = (struct sleep_set){.max_us = ch->progress_counters->sleep_us};
    for (int k = 0; k < ch->n_transports; k++) {
        struct fm_transport *tp = ch->transports[k];
        struct fm_sleep s = {.fd = -1};
        int rc = tp->ops->arm(tp, &s);

        if (rc != 0) {
            return rc;
        }
        if (s.fd >= 0) {
            set->fds[set->n_fds++] = (struct pollfd){.fd = s.fd, .events = POLLIN};
        }
        if (s.word) {
            set->on = s;
        }
        if (s.max_us && s.max_us < set->max_us) {
            set->max_us = s.max_us;
        }
    }
    return 0;
}

/* Longest sleep that not every source of events can end. */
#define BLIND_US 1000

/* `me` is NULL where there is one thread. */
static void sleep_now(struct sleep_set *set, struct fm_sleeper *me)
{
    bool is_by_word = !me && set->on.word;
    bool is_blind = !is_by_word && (set->n_fds == 0 || (me && me->fd < 0));
    uint64_t us = is_blind && set->max_us > BLIND_US ? BLIND_US : set->max_us;
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    if (me && set->n_fds == 0 && fm_sleeper_wait(me, &set->on, set->max_us)) {
        return;
    }
    if (is_by_word) {
        syscall(SYS_futex, set->on.word, FUTEX_WAIT, set->on.seen, &t, NULL, 0);
    } else {
        ppoll(set->fds, (nfds_t)set->n_fds, &t, NULL);
    }
}

void fm_sleep_drop_lock(struct fm_channel *ch)
{
    if (FM_UNLIKELY(ch->lock->is_on && fm_root.wake)) {
        fm_root.wake(fm_root.wake_ctx);
    }
    fm_lock_drop(ch->lock);
}

/* One yield in so many is timed, since reading the clock twice costs a tenth of one. */
#define TIMED_YIELDS 16

void fm_sleep_yield(struct fm_channel *ch)
{
    struct fm_progress_counters *w = ch->progress_counters;
    bool is_timed = FM_STATS && ++w->n_yields % TIMED_YIELDS == 0;
    uint64_t since = is_timed ? fm_now_ns() : 0;

    fm_sleep_drop_lock(ch);
    sched_yield();
    fm_lock_take(ch->lock);
    if (is_timed) {
        int64_t more = (int64_t)(fm_now_ns() - since - w->yield_cost_ns);

        w->yield_cost_ns += (uint64_t)(more / 4);
    }
}

/* What ends the sleep of the thread that polls: its own condition, messages of other threads that
   found no room (no transport reports when there is some), and hooks that other threads added. */
static bool is_needed(void *ctx)
{
    const struct fm_wait_cond *c = ctx;

    return c->ch->n_waiting || c->ch->is_hook_due || c->is_done(c->ctx);
}

/* Begin to sleep, without the lock. Returns the time. */
static uint64_t note_asleep(struct fm_channel *ch)
{
    struct fm_progress_counters *w = ch->progress_counters;
    uint64_t now = fm_now_ns();

    FM_STAT(w->state = FM_PROGRESS_SLEEP);
    if (FM_UNLIKELY(w->on_slept)) {
        fm_progress_emit(w, false, 0);
    }
    fm_wait_cost_asleep(&ch->wait_cost, fm_sleeper_this_thread());
    fm_sleep_drop_lock(ch);
    return now;
}

/* Returns how long the sleep was. */
static uint64_t note_awake(struct fm_channel *ch, uint64_t since)
{
    struct fm_progress_counters *w = ch->progress_counters;
    uint64_t ns;

    fm_lock_take(ch->lock);
    ns = fm_now_ns() - since;
    FM_STAT(w->n_sleeps++);
    FM_STAT(w->slept_ns += ns);
    w->delayed_ns += fm_wait_cost_awake(&ch->wait_cost);
    FM_STAT(w->state = FM_PROGRESS_YIELD);
    if (FM_UNLIKELY(w->on_woke)) {
        fm_progress_emit(w, true, ns);
    }
    return ns;
}

/* A shorter sleep ended immediately. */
#define IMMEDIATE_NS 20000

static int sleep_armed(struct sleep_set *set, struct fm_wait_cond *c)
{
    struct fm_channel *ch = c->ch;
    bool is_shared = ch->lock->is_on;
    struct fm_sleeper me;
    uint64_t t0, ns;

    if (is_shared) {
        fm_sleeper_begin(ch, &me, is_needed, c, set->n_fds > 0);
        if (me.fd >= 0) {
            set->fds[set->n_fds++] = (struct pollfd){.fd = me.fd, .events = POLLIN};
        }
    }
    t0 = note_asleep(ch);
    sleep_now(set, is_shared ? &me : NULL);
    ns = note_awake(ch, t0);
    if (is_shared) {
        fm_sleeper_end(ch, &me);
    }
    return ns < IMMEDIATE_NS ? FM_AGAIN : 0;
}

/*
 * The order loses no wake-up: first the process announces its sleep in shared memory, then it arms
 * the transports, then it reads the condition for the last time. A process that makes the condition
 * true after that read finds the announcement and sends a wake-up, which ends the sleep of an armed
 * transport.
 */
int fm_sleep_once(struct fm_wait_cond *c)
{
    struct sleep_set set;
    int rc;

    if (c->ch->n_waiting || c->ch->is_hook_due) {
        return FM_AGAIN;
    }
    if (c->announce) {
        c->announce(c->ctx, true);
    }
    rc = arm_all(c->ch, &set);
    if (rc == 0 && !(c->announce && c->is_done(c->ctx))) {
        rc = sleep_armed(&set, c);
    }
    if (c->announce) {
        c->announce(c->ctx, false);
    }
    return rc;
}

/* Longest short sleep. */
#define MAX_SHORT_US 500

void fm_sleep_short(struct fm_channel *ch, uint64_t n_attempts)
{
    uint64_t us = n_attempts < MAX_SHORT_US ? n_attempts : MAX_SHORT_US;
    struct timespec t = {0, (long)us * 1000};
    uint64_t t0 = note_asleep(ch);

    nanosleep(&t, NULL);
    note_awake(ch, t0);
}
