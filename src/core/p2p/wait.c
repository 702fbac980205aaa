/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting. A wait polls for as long as giving the processor away costs (wait_cost.h), then sleeps
 * until a transport wakes it; where processes outnumber processors it yields first (D11). What
 * follows the polling is a slow wait: it publishes what the process is blocked in, and asks whether
 * a process has ended.
 */
#include "core/p2p/wait.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/p2p/loss.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/progress_vars.h"
#include "core/p2p/sleep.h"
#include "core/p2p/sleeper.h"
#include "core/p2p/stall.h"

void fm_wait_init(struct fm_channel *ch)
{
    cpu_set_t cpus;

    fm_wait_cost_init(&ch->wait_cost, &ch->progress_counters->sleep_cost_ns);
    ch->n_processors = 1;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
        ch->n_processors = CPU_COUNT(&cpus);
    }
    if (ch->n_processors == 1) {
        /* Bound to a core of its own, as the other ranks are to theirs. */
        ch->n_processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    }
}

void fm_wait_finish(struct fm_channel *ch)
{
    fm_wait_cost_finish(&ch->wait_cost);
}

/* ---- a slow wait ---- */

/* After a round: at MPI_THREAD_MULTIPLE, let in threads that want the lock, and those that were
   woken, which may have to run on this processor. */
static void share_lock(struct fm_channel *ch)
{
    if (!ch->lock->is_on) {
        fm_cpu_relax();
    } else if ((fm_root.wake && fm_root.wake(fm_root.wake_ctx)) || fm_lock_is_wanted(ch->lock)) {
        fm_sleep_yield(ch);
    } else {
        fm_cpu_relax();
    }
}

/* Publish what the process is blocked in. */
static void note_blocked(struct fm_channel *ch, const struct fm_request *r, uint64_t now)
{
    struct fathom_page_blocked *b = &ch->page->blocked;
    struct fm_request_about about = {.peer = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};

    if (r && r->ops->about) {
        r->ops->about(r, &about);
    }
    snprintf(b->call, sizeof(b->call), "%s", fm_root.call ? fm_root.call : "");
    b->peer = about.peer;
    b->tag = about.tag;
    b->bytes = about.bytes;
    b->comm = r && r->comm ? r->comm->id : 0;
    __atomic_store_n(&b->since_ns, now, __ATOMIC_RELEASE); /* pairs with the reader's acquire */
}

static void note_free(struct fm_channel *ch)
{
    __atomic_store_n(&ch->page->blocked.since_ns, 0, __ATOMIC_RELEASE); /* as in note_blocked() */
}

struct slow_wait {
    enum fm_wait_kind kind;
    uint64_t since;
    uint64_t polled_ns; /* before that */
    bool is_reported;   /* as a stall */
    struct fathom_page_blocked
        blocked; /* a copy: another thread may have published its own since */
};

/* Whether the wait has just become a stall, which is counted and emitted as an event. */
static bool maybe_report_stall(struct fm_channel *ch, struct slow_wait *wait, uint64_t now)
{
    struct fm_progress_counters *w = ch->progress_counters;
    uint64_t ns = now - wait->since;

    if (wait->is_reported || w->stall_ms == 0 || ns < w->stall_ms * 1000000u) {
        return false;
    }
    wait->is_reported = true;
    FM_STAT(w->n_stalls++);
    if (FM_UNLIKELY(w->on_stalled)) {
        fm_progress_emit_stalled(w, wait->kind, &wait->blocked, ns);
    }
    return true;
}

/* Attempts to sleep in a row that end immediately before a wait sleeps for a fixed time: messages
   that wait for room have no wait object, and that of a provider may stay readable. */
#define IMMEDIATE_SLEEPS 16

/* An idle period of a slow wait: since the last event. */
struct idle {
    uint64_t since;        /* 0: the clock was not read yet */
    uint64_t asleep_since; /* first sleep; 0: none */
    uint64_t n_rounds;
    uint64_t n_immediate; /* sleeps in a row that ended immediately */
};

/* It is over, by an event or since the condition holds. */
static void end_idle(struct fm_channel *ch, struct idle *idle)
{
    if (idle->asleep_since) {
        fm_wait_cost_learn(&ch->wait_cost, fm_now_ns() - idle->asleep_since,
                           ch->progress_counters->short_sleep_us * 1000);
    }
    *idle = (struct idle){0};
}

/* How long a wait polls before it gives the processor away. */
static FM_INLINE uint64_t spin_ns(const struct fm_channel *ch)
{
    const struct fm_progress_counters *w = ch->progress_counters;

    return fm_wait_cost_spin(&ch->wait_cost, w->spin_us * 1000, w->spin_max_us * 1000);
}

/* A round brought nothing: poll on, or yield where processes outnumber processors? Sleeping is what
   lets this process preempt another one when its event comes; a process that has yielded waits
   for the end of the other one's time slice. */
static bool keeps_polling(struct fm_channel *ch, struct idle *idle, uint64_t now)
{
    idle->since = idle->since ? idle->since : now;
    if (fm_progress_is_crowded(ch)) {
        if (idle->n_rounds++ >= ch->progress_counters->yield) {
            return false;
        }
        fm_sleep_yield(ch);
        return true;
    }
    if (now - idle->since >= spin_ns(ch)) {
        return false;
    }
    share_lock(ch);
    return true;
}

/* Sleep until something happens. 0 or a failure. */
static int sleep_idle(struct fm_wait_cond *c, struct idle *idle, uint64_t now)
{
    int rc;

    idle->asleep_since = idle->asleep_since ? idle->asleep_since : now;
    rc = fm_sleep_once(c);
    if (rc < 0) {
        return rc;
    }
    idle->n_immediate = rc == FM_AGAIN ? idle->n_immediate + 1 : 0;
    if (idle->n_immediate > IMMEDIATE_SLEEPS) {
        fm_sleep_short(c->ch, idle->n_immediate - IMMEDIATE_SLEEPS);
    }
    return 0;
}

static int slow_rounds(struct fm_wait_cond *c, struct slow_wait *wait)
{
    struct fm_channel *ch = c->ch;
    struct idle idle = {.since = wait->since - wait->polled_ns};

    while (!c->is_done(c->ctx)) {
        int rc = fm_progress(ch);
        uint64_t now;

        if (rc < 0) {
            return rc;
        }
        if (ch->has_failed) {
            return fm_fail(-FM_E_INTERNAL, "%s", ch->why);
        }
        if (rc > 0) {
            end_idle(ch, &idle);
            continue;
        }
        now = fm_now_ns();
        if (keeps_polling(ch, &idle, now)) {
            continue;
        }
        if (maybe_report_stall(ch, wait, now)) {
            fm_stall_report(ch, c->request, wait->blocked.call, now - wait->since);
        }
        fm_loss_check(ch, now);
        if (c->is_done(c->ctx)) {
            break;
        }
        rc = sleep_idle(c, &idle, now);
        if (rc != 0) {
            return rc;
        }
    }
    end_idle(ch, &idle);
    return 0;
}

/* Count a slow wait that has ended. */
static void note_slow(struct fm_progress_counters *w, enum fm_wait_kind kind, uint64_t ns)
{
    FM_STAT(w->state = FM_PROGRESS_OUTSIDE);
    FM_STAT(w->n_slow_waits++);
    FM_STAT(w->blocked_ns += ns);
    FM_STAT(w->kind_ns[kind] += ns);
    FM_STAT(w->wait_times[fm_hist_bin(ns)]++);
}

/* A wait that became slow at t0, after it has polled in vain, and may take long. */
FM_COLD static int wait_slowly(struct fm_wait_cond *c, uint64_t t0, uint64_t polled_ns)
{
    struct fm_channel *ch = c->ch;
    struct fm_progress_counters *w = ch->progress_counters;
    /* Read now: other threads call MPI meanwhile. */
    struct slow_wait wait = {
        .kind = fm_progress_kind(fm_root.call), .since = t0, .polled_ns = polled_ns};
    uint64_t now;
    int rc;

    note_blocked(ch, c->request, t0);
    wait.blocked = ch->page->blocked;
    FM_STAT(w->state = FM_PROGRESS_YIELD);
    rc = slow_rounds(c, &wait);
    now = fm_now_ns();
    maybe_report_stall(ch, &wait, now);
    note_slow(w, wait.kind, now - t0);
    note_free(ch);
    return rc;
}

/* ---- more processes than processors ---- */

/* Tests in a row that find nothing between two yields, so that a program that computes between its
   tests does not pay a context switch for each. A power of two. */
#define EMPTY_TESTS 16

int fm_wait_test(struct fm_channel *ch)
{
    int n = fm_progress(ch);

    if (FM_LIKELY(n != 0 || !fm_progress_is_crowded(ch))) {
        ch->n_empty_tests = 0;
    } else if (++ch->n_empty_tests % EMPTY_TESTS == 0) {
        fm_sleep_yield(ch);
    }
    return n;
}

/*
 * Polling would only keep the processor from the process that this one waits for. A yield goes
 * round all processes that share the processor, which most often ends the wait and costs a third of
 * a sleep with its wake-up. FM_AGAIN: the wait takes longer.
 */
static int yield_rounds(struct fm_wait_cond *c)
{
    uint64_t n_idle = 0;

    while (n_idle < c->ch->progress_counters->yield) {
        int n;

        fm_sleep_yield(c->ch);
        if (c->is_done(c->ctx)) {
            return 0;
        }
        n = fm_progress(c->ch);
        if (FM_UNLIKELY(n < 0)) {
            return n;
        }
        if (c->is_done(c->ctx)) {
            return 0;
        }
        n_idle = n > 0 ? 0 : n_idle + 1;
    }
    return FM_AGAIN;
}

static __attribute__((noinline)) int wait_crowded(struct fm_wait_cond *c)
{
    struct fm_progress_counters *w = c->ch->progress_counters;
    enum fm_wait_kind kind;
    uint64_t t0;
    int rc;

    do { /* taking in what has arrived is no wait */
        rc = fm_progress(c->ch);
        if (FM_UNLIKELY(rc < 0) || c->is_done(c->ctx)) {
            return rc < 0 ? rc : 0;
        }
    } while (rc > 0);
    kind = fm_progress_kind(fm_root.call);
    t0 = fm_now_ns();
    FM_STAT(w->state = FM_PROGRESS_YIELD);
    rc = yield_rounds(c);
    if (rc == FM_AGAIN) {
        return wait_slowly(c, t0, 0);
    }
    note_slow(w, kind, fm_now_ns() - t0);
    return rc;
}

/* ---- polling ---- */

/* Rounds between two readings of the clock. */
#define SPIN_ROUNDS 16

static FM_INLINE int poll_until(struct fm_wait_cond *c)
{
    struct fm_channel *ch = c->ch;
    struct fm_progress_counters *w = ch->progress_counters;
    uint64_t since = 0; /* of the first idle rounds; 0: the clock was not read yet */

    if (fm_progress_is_crowded(ch)) {
        return c->is_done(c->ctx) ? 0 : wait_crowded(c);
    }
    for (unsigned k = 1;; k++) {
        int n;

        if (c->is_done(c->ctx)) {
            FM_STAT(if (FM_UNLIKELY(w->state)) w->state = FM_PROGRESS_OUTSIDE);
            return 0;
        }
        n = fm_progress(ch);
        if (FM_UNLIKELY(n < 0)) {
            return n;
        }
        if (n > 0) {
            k = 0;
            since = 0;
        } else if (FM_UNLIKELY(k % SPIN_ROUNDS == 0)) {
            uint64_t now = fm_now_ns();

            since = since ? since : now;
            if (now - since >= spin_ns(ch)) {
                return wait_slowly(c, now, now - since);
            }
            FM_STAT(w->state = FM_PROGRESS_SPIN);
        }
        if (FM_UNLIKELY(ch->lock->is_on)) {
            share_lock(ch);
        } else if (n == 0) { /* an event may have made the condition true */
            fm_cpu_relax();
        }
    }
}

/* ---- more than one thread that waits ---- */

/* Another thread polls. 0 when the condition holds, FM_AGAIN when that thread has left first. */
static int wait_behind(struct fm_wait_cond *c)
{
    struct fm_channel *ch = c->ch;
    struct fm_progress_counters *w = ch->progress_counters;
    enum fm_wait_kind kind = fm_progress_kind(fm_root.call);
    uint64_t t0 = fm_now_ns();
    struct fm_sleeper me;

    fm_sleeper_begin(ch, &me, c->is_done, c->ctx, false);
    if (c->announce) {
        c->announce(c->ctx, true);
    }
    while (!c->is_done(c->ctx) && ch->poller) {
        uint64_t n_yields;

        fm_sleeper_again(&me);
        fm_sleep_drop_lock(ch);
        n_yields = fm_sleeper_rest(&me, w->yield, w->sleep_us);
        fm_lock_take(ch->lock);
        FM_STAT(w->n_yields += n_yields);
    }
    if (c->announce) {
        c->announce(c->ctx, false);
    }
    fm_sleeper_end(ch, &me);
    note_slow(w, kind, fm_now_ns() - t0);
    return c->is_done(c->ctx) ? 0 : FM_AGAIN;
}

/*
 * One thread polls for all. No wake-up is lost: a thread that makes a condition true holds the
 * lock, and checks the conditions of the sleepers before it drops it; a thread that begins to sleep
 * has checked its own under the same hold. The thread that stops polling wakes one that goes on.
 */
static __attribute__((noinline)) int wait_among(struct fm_wait_cond *c)
{
    struct fm_channel *ch = c->ch;
    bool is_nested = ch->poller == fm_sleeper_this_thread();
    int rc = FM_AGAIN;

    while (rc == FM_AGAIN && ch->poller && !is_nested) {
        rc = c->is_done(c->ctx) ? 0 : wait_behind(c);
    }
    if (rc == FM_AGAIN) {
        ch->poller = fm_sleeper_this_thread();
        rc = poll_until(c);
        ch->poller = is_nested ? ch->poller : NULL;
    }
    if (!ch->poller) {
        fm_sleeper_hand_over(ch);
    }
    return rc;
}

static FM_INLINE int wait_for(struct fm_wait_cond *c)
{
    FM_STAT(c->ch->progress_counters->n_waits++);
    return FM_UNLIKELY(c->ch->lock->is_on) ? wait_among(c) : poll_until(c);
}

int fm_wait_until(struct fm_channel *ch, fm_until_fn is_done, void *ctx)
{
    return wait_for(&(struct fm_wait_cond){.ch = ch, .is_done = is_done, .ctx = ctx});
}

int fm_wait_shared(struct fm_channel *ch, fm_until_fn is_done, fm_announce_fn announce, void *ctx)
{
    return wait_for(
        &(struct fm_wait_cond){.ch = ch, .is_done = is_done, .ctx = ctx, .announce = announce});
}

/* ---- requests ---- */

static bool request_is_done(void *ctx)
{
    return ((const struct fm_request *)ctx)->is_done;
}

/* The first rounds did not complete it. */
static __attribute__((noinline)) int wait_longer(struct fm_channel *ch, struct fm_request *r)
{
    struct fm_wait_cond c = {.ch = ch, .is_done = request_is_done, .ctx = r, .request = r};

    return FM_UNLIKELY(ch->lock->is_on) ? wait_among(&c) : poll_until(&c);
}

/* Rounds of the shortest kind before a wait checks anything but its request. */
#define FIRST_ROUNDS 32

/* Does another thread poll, wait behind the one that does, or want the lock? */
static FM_INLINE bool must_share(const struct fm_channel *ch)
{
    return FM_UNLIKELY(ch->lock->is_on) &&
           (fm_root.wake || ch->poller || fm_lock_is_wanted(ch->lock));
}

/* 0, FM_AGAIN, or a failure. The lock is held all the time. */
static FM_INLINE int first_rounds(struct fm_channel *ch, const struct fm_request *r)
{
    if (FM_UNLIKELY(fm_progress_is_crowded(ch))) {
        return FM_AGAIN;
    }
    for (int k = 0; k < FIRST_ROUNDS && !must_share(ch); k++) {
        int n = fm_progress(ch);

        if (FM_UNLIKELY(n < 0) || r->is_done) {
            return n < 0 ? n : 0;
        }
    }
    return FM_AGAIN;
}

int fm_wait_done(struct fm_channel *ch, struct fm_request *r)
{
    int rc;

    if (r->is_done) {
        return 0;
    }
    FM_STAT(ch->progress_counters->n_waits++);
    /* Another thread that waits here meanwhile may end it early: then polls go on for longer. */
    ch->enough = &r->is_done;
    rc = first_rounds(ch, r);
    if (rc == FM_AGAIN) {
        rc = wait_longer(ch, r);
    }
    ch->enough = &ch->never;
    return rc;
}

int fm_wait(struct fm_request *r, struct fm_status *out_status)
{
    int rc = fm_wait_done(r->comm ? r->comm->ch : fm_channel_main(), r);

    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    rc = fm_request_harvest(r, out_status);
    return out_status ? 0 : rc;
}

int fm_wait_all(int n, struct fm_request **reqs)
{
    int first = 0;

    for (int k = 0; k < n; k++) {
        int rc = reqs[k] ? fm_wait(reqs[k], NULL) : 0;

        reqs[k] = NULL;
        if (rc < 0) {
            return rc;
        }
        first = first ? first : rc;
    }
    return first;
}
