/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raising and delivering events (MPI-5.0 15.3.8).
 *
 * An event is raised in a context that demands a safety level of callbacks. For each registration
 * the callback with the lowest sufficient level is called immediately. The event goes into the
 * queue of the process when there is none, or when older events of an ordered source still wait.
 * The queue is drained, oldest first, in the next context whose level suffices for the oldest: most
 * often fathom_mpit_deliver(), which demands nothing. An event that finds the queue full is counted
 * as dropped. The handlers of all registrations that lost an event of a source are called before
 * the next event of that source is raised (15.3.8.5).
 *
 * Two sources are ordered: each stamps and raises its events one after the other, the engine under
 * the host's lock or on the only thread in it, the registry under its own lock, and they are
 * delivered in that order. They are two because below MPI_THREAD_MULTIPLE a tool's thread may write
 * a control variable while another is in the engine. `delivering` lets one thread at a time call
 * callbacks of both, and makes events that a callback causes wait until it has returned. The async
 * source has neither order nor exclusion; by itself it calls only callbacks of level THREAD_SAFE
 * and above.
 */
#include <string.h>

#include "mpit/mpit_instance.h"
#include "mpit/mpit_registration.h"

/* 1 while a thread calls callbacks of an ordered source. */
static _Atomic uint32_t delivering;

/* Not 0: the handler of some registration must be called for lost events of this source. Set after
   the count of the registration, taken before it (both sequentially consistent). */
static _Atomic uint32_t lossy[FM_T_SOURCES];

/* Safety level of callbacks that are called now, in a context that demands `safety`. */
static int demand(int safety)
{
    return safety > fm_t_context.safety ? safety : fm_t_event_context();
}

/* Losses are kept only for a handler (15.3.8.5). */
static void drop(struct fm_t_registration *r, int source)
{
    if (atomic_load(&r->dropped_fn)) {
        atomic_fetch_add(&r->n_dropped[source], 1);
        atomic_store(&lossy[source], 1);
        __atomic_store_n(&fathom_mpit_waiting, 1, __ATOMIC_SEQ_CST);
    }
    __atomic_fetch_add(&fm_t_counters->n_dropped, 1, __ATOMIC_RELAXED);
}

/* Call the handler of a registration that lost events. False: no callback of it may run at this
   safety level. The user_data is that of the event callback that would be called here. */
static bool report_loss(struct fm_t_registration *r, int source, int safety)
{
    bool is_told = true, is_any;
    struct fm_t_callback *cb;
    fm_t_any_fn fn;
    uint64_t n, value;
    struct fm_t_context before;

    if (fm_t_registration_enter(r)) {
        fn = atomic_load(&r->dropped_fn);
        value = atomic_load(&r->slot.value);
        cb = fm_t_registration_pick(r, safety, &is_any);
        is_told = cb || !fn || !is_any;
        n = fn && cb && value ? atomic_exchange(&r->n_dropped[source], 0) : 0;
        if (n > 0) {
            before = fm_t_context_begin(safety, NULL);
            r->callers->dropped(fn, n < INT64_MAX ? n : INT64_MAX, value, source, safety,
                                cb->user_data);
            fm_t_context_end(before);
        }
    }
    fm_t_registration_leave(r, safety);
    return is_told;
}

/* Call the handlers of all registrations that lost events of this source, before the next event of
   it is raised (15.3.8.5). */
static void report_losses(int source, int safety)
{
    struct fm_t_registration *r;
    bool is_left = false;
    int i;

    if (atomic_load_explicit(&lossy[source], memory_order_relaxed) == 0 ||
        atomic_exchange(&lossy[source], 0) == 0) {
        return;
    }
    for (i = 0; i < fm_t_root.n_events; i++) {
        r = atomic_load_explicit(&fm_t_root.events[i].registrations, memory_order_acquire);
        for (; r; r = r->next) {
            if (atomic_load(&r->n_dropped[source]) > 0) {
                is_left |= !report_loss(r, source, safety);
            }
        }
    }
    if (is_left) {
        atomic_store(&lossy[source], 1);
    }
}

static bool is_ordered(int source)
{
    return source != FM_T_SOURCE_ASYNC;
}

/* Count one in the word of a source: those that are ordered have one writer at a time. */
static void count(uint64_t *words, int source)
{
    if (is_ordered(source)) {
        fathom_word_add(&words[source], 1);
    } else {
        __atomic_fetch_add(&words[source], 1, __ATOMIC_RELAXED);
    }
}

/* Call the callback, picked at this safety level. r is entered; delivery is taken if the source is
   ordered. */
static void call(struct fm_t_registration *r, struct fm_t_callback *cb, struct fm_t_raised *raised,
                 int safety)
{
    struct fm_t_context before;
    struct fm_t_instance *in;
    bool is_any;

    if (__builtin_expect(atomic_load(&lossy[raised->source]) != 0, 0)) {
        report_losses(raised->source, safety);
        /* The handlers may have freed r or changed its callbacks. */
        cb = atomic_load(&r->state) == FM_T_REGISTRATION_LIVE
                 ? fm_t_registration_pick(r, safety, &is_any)
                 : NULL;
    }
    in = cb ? fm_t_instance_show(r->event, raised, &r->wants_time, is_ordered(raised->source))
            : NULL;
    if (!in) {
        drop(r, raised->source);
        return;
    }
    count(fm_t_counters->n_called, raised->source);
    before = fm_t_context_begin(safety, raised);
    r->callers->event(cb->fn, atomic_load_explicit(&in->value, memory_order_relaxed),
                      raised->registration, safety, cb->user_data);
    fm_t_context_end(before);
    fm_t_instance_give(in);
}

static void wait_in_queue(struct fm_t_registration *r, struct fm_t_raised *raised)
{
    fm_t_raised_stamp(raised);
    if (fm_t_queue_push(raised)) {
        __atomic_fetch_add(&fm_t_counters->n_waited, 1, __ATOMIC_RELAXED);
    } else {
        drop(r, raised->source);
    }
}

/* Deliver the oldest waiting event. False: there is none, or its callbacks may not run here. */
static bool deliver_one(int safety)
{
    uint64_t values[FM_T_EVENT_MAX];
    struct fm_t_registration *r;
    struct fm_t_raised raised;
    struct fm_t_callback *cb;
    bool is_any, has_entered;

    if (!fm_t_queue_peek(&raised, values)) {
        return false;
    }
    r = fm_t_registration_find(raised.registration);
    if (!r) {
        fm_t_queue_pop(); /* freed while it waited */
        return true;
    }
    has_entered = fm_t_registration_enter(r);
    cb = has_entered ? fm_t_registration_pick(r, safety, &is_any) : NULL;
    if (has_entered && !cb && is_any) {
        fm_t_registration_leave(r, safety);
        return false;
    }
    fm_t_queue_pop();
    if (cb) {
        call(r, cb, &raised, safety);
    }
    fm_t_registration_leave(r, safety);
    return true;
}

static bool take_delivery(void)
{
    return atomic_exchange_explicit(&delivering, 1, memory_order_acquire) == 0;
}

static void end_delivery(void)
{
    atomic_store_explicit(&delivering, 0, memory_order_release);
}

static bool is_waiting(void)
{
    int i;

    for (i = 0; i < FM_T_SOURCES; i++) {
        if (atomic_load(&lossy[i]) != 0) {
            return true;
        }
    }
    return fm_t_queue_len() != 0;
}

/* At most what waits now: what callbacks cause meanwhile is for the next time. Delivery is taken.
 */
static void drain(int safety)
{
    unsigned n = fm_t_queue_len();

    while (n-- > 0 && deliver_one(safety)) {
    }
    if (!is_waiting()) {
        __atomic_store_n(&fathom_mpit_waiting, 0, __ATOMIC_SEQ_CST);
        /* Another thread may have pushed or dropped an event between the two. */
        if (is_waiting()) {
            __atomic_store_n(&fathom_mpit_waiting, 1, __ATOMIC_SEQ_CST);
        }
    }
}

void fathom_mpit_deliver(void)
{
    int i;

    /* Not in a signal handler, though a callback there called what led here. */
    if (fm_t_queue_room() != 0 && fm_t_event_context() < FATHOM_SAFE_SIGNAL && take_delivery()) {
        for (i = 0; i < FM_T_SOURCES; i++) {
            report_losses(i, fm_t_event_context());
        }
        drain(fm_t_event_context());
        end_delivery();
    }
}

/* r is entered. */
static void deliver_to(struct fm_t_registration *r, struct fm_t_raised *raised, int safety)
{
    bool is_any, has_order = is_ordered(raised->source);
    struct fm_t_callback *cb = fm_t_registration_pick(r, safety, &is_any);

    if (!is_any) {
        return;
    }
    if (!has_order && cb) {
        call(r, cb, raised, safety);
    } else if (has_order && cb && take_delivery()) {
        if (__builtin_expect(fm_t_queue_len() == 0, 1)) {
            call(r, cb, raised, safety);
        } else {
            wait_in_queue(r, raised);
        }
        end_delivery();
    } else {
        wait_in_queue(r, raised);
    }
}

/* Raise it for one registration, if it is of that object. */
static void raise_for(struct fm_t_registration *r, const void *object, struct fm_t_raised *raised,
                      int safety)
{
    const void *bound;

    if (fm_t_registration_enter(r)) {
        bound = atomic_load_explicit(&r->object, memory_order_relaxed);
        raised->registration = atomic_load_explicit(&r->slot.value, memory_order_relaxed);
        if ((!bound || bound == object) && raised->registration) {
            if (atomic_load_explicit(&r->wants_time, memory_order_relaxed) || r->next) {
                fm_t_raised_stamp(raised);
            }
            deliver_to(r, raised, safety);
        }
    }
    fm_t_registration_leave(r, safety);
}

static void raise_event(struct fm_t_event *e, const void *object, const uint64_t *values,
                        int source, int safety)
{
    struct fm_t_raised raised = {
        .source = source, .n_values = e->row->n_data, .values = values, .timestamp = 0};
    struct fm_t_registration *r;

    /* A callback has caused this event: the one that it is shown came before. */
    fm_t_event_stamp_shown();
    safety = demand(safety);
    count(fm_t_counters->n_raised, source);
    for (r = atomic_load_explicit(&e->registrations, memory_order_acquire); r; r = r->next) {
        if (atomic_load_explicit(&r->state, memory_order_relaxed) == FM_T_REGISTRATION_LIVE) {
            raise_for(r, object, &raised, safety);
        }
    }
    /* Events that an earlier context could not deliver may be delivered here. */
    if (is_ordered(source) && fm_t_queue_len() != 0 && take_delivery()) {
        drain(safety);
        end_delivery();
    }
}

void fm_t_event_stamp_shown(void)
{
    if (fm_t_context.shown) {
        fm_t_raised_stamp(fm_t_context.shown);
    }
}

/* The event of this row, if a callback is registered for it. */
static struct fm_t_event *wanted(const struct fathom_event *row, const void *block)
{
    const uint64_t *on = (const uint64_t *)(const void *)((const char *)block + row->at);
    uint64_t n = __atomic_load_n(on, __ATOMIC_ACQUIRE);

    if (n > 0 && n <= (uint64_t)fm_t_root.n_events && fm_t_root.events[n - 1].row == row) {
        return &fm_t_root.events[n - 1];
    }
    return NULL;
}

void fathom_mpit_emit_from(const struct fathom_event *event, const void *block, const void *object,
                           const uint64_t *values, enum fathom_safety safety)
{
    struct fm_t_event *e = wanted(event, block);

    if (e) {
        raise_event(e, object, values,
                    safety <= FATHOM_SAFE_RESTRICTED ? FM_T_SOURCE_ENGINE : FM_T_SOURCE_ASYNC,
                    (int)safety);
    }
}

void fm_t_event_raise(const struct fathom_event *event, const void *block, const uint64_t *values)
{
    struct fm_t_event *e = wanted(event, block);

    if (e) {
        raise_event(e, NULL, values, FM_T_SOURCE_REGISTRY, FATHOM_SAFE_RESTRICTED);
    }
}

void fathom_mpit_emit(const struct fathom_event *event, const void *block, const void *object,
                      const uint64_t *values)
{
    fathom_mpit_emit_from(event, block, object, values, FATHOM_SAFE_RESTRICTED);
}

/* Emitters without the host's lock may still walk the lists, so registrations stay for the next
   tool. The queue is closed when no thread can be using it: not if a callback calls
   MPI_T_finalize, or one runs on another thread. */
void fm_t_event_finish(void)
{
    bool is_mine = take_delivery(), is_quiet = fm_t_registration_finish() && is_mine;

    if (is_quiet) {
        fm_t_queue_close();
    }
    if (is_mine) {
        end_delivery();
    }
}
