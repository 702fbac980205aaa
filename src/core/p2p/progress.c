/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress and waiting. A wait spins while that pays, then gives the processor away, then sleeps
 * until a transport wakes it (D11). Only the last two, the slow wait, look at clocks, note in the
 * page what the process is blocked in, and ask whether a process has died.
 */
#include "core/p2p/progress.h"

#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/p2p/engine.h"
#include "core/p2p/progress_state.h"
#include "core/p2p/sleeper.h"

struct fm_progress {
    struct fm_progress_counters *counters;
    int n_processors;
    uint32_t n_vain_tests; /* in a row */
    uint32_t n_untimed;    /* rounds until one is timed, if somebody wants that then */
    uint64_t gone_at;      /* when to ask again who has died */
    const void *poller;    /* the thread that polls for all that wait; NULL: none. Needs the lock */
};

int fm_progress_create(struct fm_progress_counters *counters, struct fm_progress **out_progress)
{
    struct fm_progress *p = calloc(1, sizeof(*p));
    cpu_set_t cpus;

    if (!p) {
        return fm_fail(-FM_E_NOMEM, "no memory for the progress engine");
    }
    p->counters = counters;
    p->n_untimed = FM_TIMED_ROUNDS;
    p->n_processors = 1;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
        p->n_processors = CPU_COUNT(&cpus);
    }
    if (p->n_processors == 1) {
        /* Bound to a core of its own, as the other ranks are to theirs. */
        p->n_processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    }
    *out_progress = p;
    return 0;
}

void fm_progress_destroy(struct fm_progress *p)
{
    free(p);
}

/* ---- one round ---- */

/* Each peer with something in its queues once. */
static int flush_waiting(struct fm_channel *ch)
{
    int n = 0;

    for (int k = ch->n_waiting; k > 0; k--) {
        struct fm_list *first = fm_list_first(&ch->waiting);
        struct fm_peer_queues *q;

        if (!first) {
            break;
        }
        fm_list_remove(first);
        fm_list_push(&ch->waiting, first);
        q = fm_container_of(first, struct fm_peer_queues, link);
        n += fm_peer_flush(ch, q->peer);
    }
    return n;
}

FM_COLD static int poll_failed(struct fm_channel *ch, const struct fm_transport *tp, int rc)
{
    return fm_channel_fail(ch, rc, "transport %s: %s", tp->ops->name, fm_why());
}

static FM_INLINE int bare_round(struct fm_channel *ch)
{
    struct fm_progress *p = ch->progress;
    int n = 0;

    FM_STAT(p->counters->n_polls++);
    for (int k = 0; k < ch->n_transports; k++) {
        int rc = fm_transport_poll(ch->transports[k]);

        if (FM_UNLIKELY(rc < 0)) {
            return poll_failed(ch, ch->transports[k], rc);
        }
        n += rc;
    }
    if (FM_UNLIKELY(ch->n_waiting)) {
        n += flush_waiting(ch);
    }
    if (FM_UNLIKELY(ch->n_hooks)) {
        n += fm_hook_call_all(ch);
    }
    if (n > 0) {
        FM_STAT(p->counters->n_events += (uint64_t)n);
    } else {
        FM_STAT(p->counters->n_empty_polls++);
    }
    return n;
}

/* One of many. */
static __attribute__((noinline)) int timed_round(struct fm_channel *ch)
{
    struct fm_progress *p = ch->progress;
    uint64_t began;
    int n;

    p->n_untimed = FM_TIMED_ROUNDS;
    if (!__atomic_load_n(&p->counters->n_timers,
                         __ATOMIC_RELAXED)) { /* tools start on any thread */
        return bare_round(ch);
    }
    began = fm_now_ns();
    n = bare_round(ch);
    FM_STAT(p->counters->round_ns += (fm_now_ns() - began) * FM_TIMED_ROUNDS);
    return n;
}

/* Counting down costs the same whether somebody wants the times or not. */
static FM_INLINE int round_over(struct fm_channel *ch)
{
    return FM_STATS && FM_UNLIKELY(--ch->progress->n_untimed == 0) ? timed_round(ch)
                                                                   : bare_round(ch);
}

int fm_progress(struct fm_channel *ch)
{
    return round_over(ch);
}

/* ---- who has died ---- */

FM_COLD static void ask_gone(struct fm_channel *ch, uint64_t now)
{
    uint64_t grace = ch->progress->counters->gone_ms * 1000000u;

    FM_STAT(ch->progress->counters->n_gone_checks++);
    for (int proc = 0; proc < ch->n_peers; proc++) {
        struct fm_peer *peer = fm_peer_of(ch, proc);

        if (proc == ch->self || peer->is_gone || !ch->is_gone(ch->resolve_ctx, proc)) {
            continue;
        }
        /* What it sent before may still be on its way: a further round must bring nothing. */
        if (peer->q->gone_ns == 0) {
            peer->q->gone_ns = now;
        } else if (now - peer->q->gone_ns >= grace) {
            fm_peer_fail(ch, proc, "the process has ended");
        }
    }
}

static void maybe_ask_gone(struct fm_channel *ch, uint64_t now)
{
    struct fm_progress *p = ch->progress;

    if (ch->is_gone && now >= p->gone_at) {
        p->gone_at = now + p->counters->gone_ms * 1000000u;
        ask_gone(ch, now);
    }
}

/* ---- sleeping ---- */

/* What is waited for. */
struct until {
    struct fm_channel *ch;
    fm_until_fn fn;
    void *ctx;
    const struct fm_request *about; /* NULL: not a request */
    fm_announce_fn doze;            /* NULL: what is waited for comes by a transport */
};

/* Descriptors, or the word of the only transport. */
struct sleep_set {
    struct pollfd fds[FM_MAX_TRANSPORTS + 1]; /* one for other threads */
    int n_fds;
    struct fm_sleep on; /* .word NULL: none */
    uint64_t max_us;
};

/* 0, FM_AGAIN when there is something to do, or a failure. */
static int arm_all(struct fm_channel *ch, struct sleep_set *set)
{
    *set = (struct sleep_set){.max_us = ch->progress->counters->sleep_us};
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

/* A sleep from which not everybody can wake us. */
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

static void drop_lock(struct fm_channel *ch)
{
    if (FM_UNLIKELY(ch->lock->is_on && fm_root.wake)) {
        fm_root.wake();
    }
    fm_lock_drop(ch->lock);
}

/* What wakes the thread that polls: its own condition, messages of other threads that found no room
   (no transport reports when there is some), and hooks that other threads have added. */
static bool is_needed(void *ctx)
{
    const struct until *u = ctx;

    return u->ch->n_waiting || u->ch->is_hook_due || u->fn(u->ctx);
}

/* Begin to sleep, without the lock. The time. */
static uint64_t note_asleep(struct fm_channel *ch)
{
    struct fm_progress_counters *w = ch->progress->counters;
    uint64_t now = fm_now_ns();

    FM_STAT(w->state = FM_PROGRESS_SLEEP);
    if (FM_UNLIKELY(w->on_slept)) {
        fm_progress_emit(w, false, 0);
    }
    drop_lock(ch);
    return now;
}

/* How long it was. */
static uint64_t note_awake(struct fm_channel *ch, uint64_t since)
{
    struct fm_progress_counters *w = ch->progress->counters;
    uint64_t ns;

    fm_lock_take(ch->lock);
    ns = fm_now_ns() - since;
    FM_STAT(w->n_sleeps++);
    FM_STAT(w->slept_ns += ns);
    FM_STAT(w->state = FM_PROGRESS_YIELD);
    if (FM_UNLIKELY(w->on_woke)) {
        fm_progress_emit(w, true, ns);
    }
    return ns;
}

/* A sleep that was none. */
#define VAIN_NS 20000

/* FM_AGAIN when it ended at once, else 0. */
static int sleep_armed(struct fm_channel *ch, struct sleep_set *set, struct until *u)
{
    bool is_shared = ch->lock->is_on;
    struct fm_sleeper me;
    uint64_t t0, ns;

    if (is_shared) {
        fm_sleeper_begin(&me, is_needed, u, set->n_fds > 0);
        if (me.fd >= 0) {
            set->fds[set->n_fds++] = (struct pollfd){.fd = me.fd, .events = POLLIN};
        }
    }
    t0 = note_asleep(ch);
    sleep_now(set, is_shared ? &me : NULL);
    ns = note_awake(ch, t0);
    if (is_shared) {
        fm_sleeper_end(&me);
    }
    return ns < VAIN_NS ? FM_AGAIN : 0;
}

/*
 * 0, FM_AGAIN when it ended at once, or a failure of a transport. Whoever wakes us, or nobody: the
 * caller polls again. The order loses no wake-up: first we say in shared memory that we sleep
 * (doze), then the transports are armed, then comes the last look. Who makes the condition true
 * after that look finds us dozing and sends a nudge, which an armed transport does not sleep
 * through.
 */
static int sleep_once(struct fm_channel *ch, struct until *u)
{
    struct sleep_set set;
    int rc;

    if (ch->n_waiting || ch->is_hook_due) {
        return FM_AGAIN;
    }
    if (u->doze) {
        u->doze(u->ctx, true);
    }
    rc = arm_all(ch, &set);
    if (rc == 0 && !(u->doze && u->fn(u->ctx))) {
        rc = sleep_armed(ch, &set, u);
    }
    if (u->doze) {
        u->doze(u->ctx, false);
    }
    return rc;
}

static void give_way(struct fm_channel *ch)
{
    FM_STAT(ch->progress->counters->n_yields++);
    drop_lock(ch);
    sched_yield();
    fm_lock_take(ch->lock);
}

/* ---- waiting ---- */

/* What the process is blocked in, for those who look from outside. */
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

/* So many vain attempts to sleep in a row, and we nap; a nap at most. */
#define VAIN_SLEEPS 16
#define MAX_NAP_US  500

/*
 * What waits to be sent has no wait object, and that of a provider may stay readable while nothing
 * comes: then each sleep ends at once. Leave the processor to those we wait for all the same.
 */
static void nap(struct fm_channel *ch, uint64_t n_vain)
{
    uint64_t us = n_vain < MAX_NAP_US ? n_vain : MAX_NAP_US;
    struct timespec t = {0, (long)us * 1000};
    uint64_t t0 = note_asleep(ch);

    nanosleep(&t, NULL);
    note_awake(ch, t0);
}

/* A wait that may stall. */
struct slow_wait {
    enum fm_wait_kind kind;
    uint64_t since;
    bool is_told;
    struct fathom_page_blocked
        about; /* ours: another thread may wait since, and the page tell of it */
};

static void maybe_tell_stall(struct fm_channel *ch, struct slow_wait *wait, uint64_t now)
{
    struct fm_progress_counters *w = ch->progress->counters;
    uint64_t ns = now - wait->since;

    if (wait->is_told || w->stall_ms == 0 || ns < w->stall_ms * 1000000u) {
        return;
    }
    wait->is_told = true;
    FM_STAT(w->n_stalls++);
    if (FM_UNLIKELY(w->on_stalled)) {
        fm_progress_emit_stalled(w, wait->kind, &wait->about, ns);
    }
}

static int slow_rounds(struct fm_channel *ch, struct until *u, struct slow_wait *wait)
{
    struct fm_progress_counters *w = ch->progress->counters;
    uint64_t n_idle = 0;
    uint64_t n_vain = 0, now;

    while (!u->fn(u->ctx)) {
        int n = fm_progress(ch);

        if (n < 0) {
            return n;
        }
        if (ch->has_failed) {
            return fm_fail(-FM_E_INTERNAL, "%s", ch->why);
        }
        if (n > 0) {
            n_idle = n_vain = 0;
            continue;
        }
        if (n_idle++ < w->yield) {
            give_way(ch);
            continue;
        }
        now = fm_now_ns();
        maybe_tell_stall(ch, wait, now);
        maybe_ask_gone(ch, now);
        if (u->fn(u->ctx)) {
            return 0;
        }
        n = sleep_once(ch, u);
        if (n < 0) {
            return n;
        }
        n_vain = n == FM_AGAIN ? n_vain + 1 : 0;
        if (n_vain > VAIN_SLEEPS) {
            nap(ch, n_vain - VAIN_SLEEPS);
        }
    }
    return 0;
}

/* A wait is over. */
static void note_slow(struct fm_progress_counters *w, enum fm_wait_kind kind, uint64_t ns)
{
    FM_STAT(w->state = FM_PROGRESS_OUTSIDE);
    FM_STAT(w->n_slow_waits++);
    FM_STAT(w->blocked_ns += ns);
    FM_STAT(w->kind_ns[kind] += ns);
    FM_STAT(w->wait_times[fm_hist_bin(ns)]++);
}

/* A wait that began at t0 and may take long. */
FM_COLD static int wait_slowly(struct fm_channel *ch, struct until *u, uint64_t t0)
{
    struct fm_progress_counters *w = ch->progress->counters;
    /* The kind now: others call meanwhile. */
    struct slow_wait wait = {.kind = fm_progress_kind(fm_root.call), .since = t0};
    uint64_t now;
    int rc;

    note_blocked(ch, u->about, t0);
    wait.about = ch->page->blocked;
    FM_STAT(w->state = FM_PROGRESS_YIELD);
    rc = slow_rounds(ch, u, &wait);
    now = fm_now_ns();
    maybe_tell_stall(ch, &wait, now);
    note_slow(w, wait.kind, now - t0);
    note_free(ch);
    return rc;
}

/* Rounds between two looks at the clock. */
#define SPIN_ROUNDS 16

bool fm_progress_is_crowded(const struct fm_channel *ch)
{
    return ch->n_local > ch->progress->n_processors;
}

/* Of tests that fail in a row this many pass before the processor is given away, each time: who
   computes between his tests shall not pay a switch for each. A power of two. */
#define VAIN_TESTS 16

int fm_progress_test(struct fm_channel *ch)
{
    struct fm_progress *p = ch->progress;
    int n = fm_progress(ch);

    if (FM_LIKELY(n != 0 || !fm_progress_is_crowded(ch))) {
        p->n_vain_tests = 0;
    } else if (++p->n_vain_tests % VAIN_TESTS == 0) {
        give_way(ch);
    }
    return n;
}

/*
 * More processes than processors: spinning only keeps from running the one that we wait for. Giving
 * the processor away goes round all that share it, which most often ends the wait, and is three
 * times cheaper than to sleep and be woken. FM_AGAIN: it takes longer.
 */
static int yield_rounds(struct fm_channel *ch, struct until *u)
{
    uint64_t n_idle = 0;

    while (n_idle < ch->progress->counters->yield) {
        int n;

        give_way(ch);
        if (u->fn(u->ctx)) {
            return 0;
        }
        n = fm_progress(ch);
        if (FM_UNLIKELY(n < 0)) {
            return n;
        }
        if (u->fn(u->ctx)) {
            return 0;
        }
        n_idle = n > 0 ? 0 : n_idle + 1;
    }
    return FM_AGAIN;
}

static __attribute__((noinline)) int wait_crowded(struct fm_channel *ch, struct until *u)
{
    struct fm_progress_counters *w = ch->progress->counters;
    enum fm_wait_kind kind;
    uint64_t t0;
    int rc;

    do { /* what has come already is no wait */
        rc = fm_progress(ch);
        if (FM_UNLIKELY(rc < 0) || u->fn(u->ctx)) {
            return rc < 0 ? rc : 0;
        }
    } while (rc > 0);
    kind = fm_progress_kind(fm_root.call);
    t0 = fm_now_ns();
    FM_STAT(w->state = FM_PROGRESS_YIELD);
    rc = yield_rounds(ch, u);
    if (rc == FM_AGAIN) {
        return wait_slowly(ch, u, t0);
    }
    note_slow(w, kind, fm_now_ns() - t0);
    return rc;
}

/* A round of polling at MPI_THREAD_MULTIPLE: make room for who wants the lock, and for who has been
   woken, but may have to run where we do. */
FM_COLD static void share(struct fm_channel *ch)
{
    if ((fm_root.wake && fm_root.wake()) || fm_lock_is_wanted(ch->lock)) {
        give_way(ch);
    } else {
        fm_cpu_relax();
    }
}

static FM_INLINE int poll_until(struct fm_channel *ch, struct until *u)
{
    struct fm_progress_counters *w = ch->progress->counters;
    uint64_t end_ns = 0;

    if (fm_progress_is_crowded(ch)) {
        return u->fn(u->ctx) ? 0 : wait_crowded(ch, u);
    }
    for (unsigned k = 1;; k++) {
        int n;

        if (u->fn(u->ctx)) {
            FM_STAT(if (FM_UNLIKELY(w->state)) w->state = FM_PROGRESS_OUTSIDE);
            return 0;
        }
        n = fm_progress(ch);
        if (FM_UNLIKELY(n < 0)) {
            return n;
        }
        if (n > 0) {
            k = 0;
            end_ns = 0;
        } else if (FM_UNLIKELY(k % SPIN_ROUNDS == 0)) {
            uint64_t now = fm_now_ns();

            end_ns = end_ns ? end_ns : now + w->spin_us * 1000;
            if (now >= end_ns) {
                return wait_slowly(ch, u, now);
            }
            FM_STAT(w->state = FM_PROGRESS_SPIN);
        }
        if (FM_UNLIKELY(ch->lock->is_on)) {
            share(ch);
        } else if (n == 0) { /* else look first: what came may be what we wait for */
            fm_cpu_relax();
        }
    }
}

/* ---- more than one thread that waits ---- */

static const void *this_thread(void)
{
    static _Thread_local char here;

    return &here;
}

/* Another thread polls: 0 when it has brought what we wait for, FM_AGAIN when it has left first. */
static int wait_behind(struct fm_channel *ch, struct until *u)
{
    struct fm_progress *p = ch->progress;
    enum fm_wait_kind kind = fm_progress_kind(fm_root.call);
    uint64_t t0 = fm_now_ns();
    struct fm_sleeper me;

    fm_sleeper_begin(&me, u->fn, u->ctx, false);
    if (u->doze) {
        u->doze(u->ctx, true);
    }
    while (!u->fn(u->ctx) && p->poller) {
        uint64_t n_yields;

        fm_sleeper_again(&me);
        drop_lock(ch);
        n_yields = fm_sleeper_rest(&me, p->counters->yield, p->counters->sleep_us);
        fm_lock_take(ch->lock);
        FM_STAT(p->counters->n_yields += n_yields);
    }
    if (u->doze) {
        u->doze(u->ctx, false);
    }
    fm_sleeper_end(&me);
    note_slow(p->counters, kind, fm_now_ns() - t0);
    return u->fn(u->ctx) ? 0 : FM_AGAIN;
}

/*
 * One thread polls for all. No wake-up is lost: whoever makes a condition true holds the lock, and
 * looks at the conditions of those who sleep before it drops it; whoever begins to sleep has looked
 * at its own under the same hold. Who stops polling wakes one who goes on.
 */
static __attribute__((noinline)) int wait_among(struct fm_channel *ch, struct until *u)
{
    struct fm_progress *p = ch->progress;
    bool is_nested = p->poller == this_thread();
    int rc = FM_AGAIN;

    while (rc == FM_AGAIN && p->poller && !is_nested) {
        rc = u->fn(u->ctx) ? 0 : wait_behind(ch, u);
    }
    if (rc == FM_AGAIN) {
        p->poller = this_thread();
        rc = poll_until(ch, u);
        p->poller = is_nested ? p->poller : NULL;
    }
    if (!p->poller) {
        fm_sleeper_hand_over();
    }
    return rc;
}

static FM_INLINE int wait_for(struct fm_channel *ch, struct until *u)
{
    FM_STAT(ch->progress->counters->n_waits++);
    return FM_UNLIKELY(ch->lock->is_on) ? wait_among(ch, u) : poll_until(ch, u);
}

int fm_wait_until(struct fm_channel *ch, fm_until_fn is_done, void *ctx)
{
    return wait_for(ch, &(struct until){.ch = ch, .fn = is_done, .ctx = ctx});
}

int fm_wait_shared(struct fm_channel *ch, fm_until_fn is_done, fm_announce_fn doze, void *ctx)
{
    return wait_for(ch, &(struct until){.ch = ch, .fn = is_done, .ctx = ctx, .doze = doze});
}

static bool request_is_done(void *ctx)
{
    return ((const struct fm_request *)ctx)->is_done;
}

/* What did not come in the first rounds. */
static __attribute__((noinline)) int wait_on(struct fm_channel *ch, struct fm_request *r)
{
    struct until u = {.ch = ch, .fn = request_is_done, .ctx = r, .about = r};

    return FM_UNLIKELY(ch->lock->is_on) ? wait_among(ch, &u) : poll_until(ch, &u);
}

/* Rounds of the shortest kind before a wait looks at anything else. */
#define FIRST_ROUNDS 32

/* Does another thread poll, wait behind the one that does, or want the lock? */
static FM_INLINE bool must_share(const struct fm_channel *ch)
{
    return FM_UNLIKELY(ch->lock->is_on) &&
           (fm_root.wake || ch->progress->poller || fm_lock_is_wanted(ch->lock));
}

/* 0, FM_AGAIN, or a failure. The lock is held all the time. */
static FM_INLINE int first_rounds(struct fm_channel *ch, const struct fm_request *r)
{
    if (FM_UNLIKELY(fm_progress_is_crowded(ch))) {
        return FM_AGAIN;
    }
    for (int k = 0; k < FIRST_ROUNDS && !must_share(ch); k++) {
        int n = round_over(ch);

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
    FM_STAT(ch->progress->counters->n_waits++);
    /* Another thread that waits here meanwhile may end it early: then polls go on for longer. */
    ch->enough = &r->is_done;
    rc = first_rounds(ch, r);
    if (rc == FM_AGAIN) {
        rc = wait_on(ch, r);
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
