/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events (MPI-5.0 15.3.8): registrations and the way of an event to its callbacks.
 *
 * An event is raised in a context that demands a safety level of callbacks. For each registration
 * the callback with the lowest sufficient level is called at once; when there is none, or when
 * older events of the ordered source still wait, the event goes into the queue of the process. The
 * queue is drained, oldest first, in the next context whose level suffices for the oldest (most
 * often fathom_mpit_deliver(), which demands nothing). What finds the queue full is counted as
 * dropped, and the handlers of all registrations that lost an event of a source are called before
 * the next event of that source is raised, to whomever.
 *
 * What a callback causes on its thread (the end of a registration, a delivery, another event) asks
 * of further callbacks at least what was asked of it: `context` keeps that.
 *
 * Two sources are ordered: each stamps and raises its events one after the other, the engine under
 * the host's lock or on the only thread in it, the registry under its own, and they are delivered
 * in that order. They are two because below MPI_THREAD_MULTIPLE a tool's thread may write a control
 * variable while another is in the engine. `delivering` lets one thread at a time call callbacks of
 * both, and makes events that a callback causes wait until it has returned. The async source has
 * neither order nor exclusion; it calls only callbacks of level THREAD_SAFE and above by itself.
 *
 * Emitters take no lock. A registration stays in its event's list for good and is used again;
 * `n_inside` counts the threads that are in its callbacks, and the last one out ends a registration
 * that was freed meanwhile (also one that is freed by its own callback).
 */
#include <stdlib.h>
#include <string.h>

#include "mpit/mpit_live.h"

/* Fields that emitters use are atomic. */
struct callback {
    fm_t_any_fn fn;
    void *user_data;
    struct callback *retired; /* chain of those that an emitter may still be in */
};

enum state { DEAD, LIVE, ENDING, ENDED };

#define N_LEVELS 4

struct fm_t_registration {
    struct fm_t_slot slot;
    struct fm_t_registration *next; /* in its event's list, never changes */
    struct fm_t_event *event;
    _Atomic(const void *) object; /* NULL: not bound */
    _Atomic uint32_t state;
    _Atomic uint32_t n_inside;
    _Atomic(struct callback *) callbacks[N_LEVELS];
    _Atomic(fm_t_any_fn) dropped_fn;
    _Atomic uint64_t n_dropped[FM_T_SOURCES];
    struct callback *retired;
    fm_t_any_fn free_fn;
    void *free_data;
    uint64_t free_value;
    bool is_orphan;
};

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_t_slots registrations = {.slot_len = sizeof(struct fm_t_registration),
                                          .kind = FM_T_SLOT_REGISTRATION};

/* Instances on show: valid only while their callback runs. A bit of `free_instances` is the right
   to use the instance with that number. */
struct instance {
    _Atomic uint64_t value;
    uint64_t use;
    const struct fm_t_event *event;
    const struct fm_t_raised *raised;
};

#define N_INSTANCES 64

/* An instance belongs to the thread that has taken its bit. */
static struct instance instances[N_INSTANCES];
static _Atomic uint64_t free_instances = ~UINT64_C(0);

/* 1 while a thread calls callbacks of an ordered source. */
static _Atomic uint32_t delivering;

/* Not 0: some registration has lost events of this source and was not told. Set after the count of
   the registration, taken before it (both sequentially consistent). */
static _Atomic uint32_t lossy[FM_T_SOURCES];

/* What the innermost callback on this thread had to bear. Initial-exec: signal handlers use it. */
static _Thread_local int context __attribute__((tls_model("initial-exec")));

static const int levels[N_LEVELS] = {FATHOM_SAFE_ANY, FATHOM_SAFE_RESTRICTED, FATHOM_SAFE_THREAD,
                                     FATHOM_SAFE_SIGNAL};

static int level_number(int safety)
{
    int i;

    for (i = 0; i < N_LEVELS; i++) {
        if (levels[i] == safety) {
            return i;
        }
    }
    return -1;
}

int fm_t_event_context(void)
{
    return context;
}

/* What a callback has to bear that is called now from a place that asks for `safety`. */
static int demand(int safety)
{
    return safety > context ? safety : context;
}

/* Around a user's function: `before` is what to give back. */
static int context_begin(int safety)
{
    int before = context;

    context = safety;
    return before;
}

static void context_end(int before)
{
    context = before;
}

/* ---- instances ---- */

static struct instance *instance_take(const struct fm_t_event *event,
                                      const struct fm_t_raised *raised)
{
    uint64_t bits = atomic_load_explicit(&free_instances, memory_order_relaxed), lowest;
    struct instance *in;

    do {
        if (bits == 0) {
            return NULL;
        }
        lowest = bits & (~bits + 1);
        /* Pairs with the release in instance_give. */
    } while (!atomic_compare_exchange_weak_explicit(&free_instances, &bits, bits & ~lowest,
                                                    memory_order_acquire, memory_order_relaxed));
    in = &instances[__builtin_ctzll(lowest)];
    in->use++;
    in->event = event;
    in->raised = raised;
    atomic_store_explicit(&in->value,
                          in->use << 32 | (uint64_t)FM_T_SLOT_INSTANCE << 28 |
                              (uint64_t)__builtin_ctzll(lowest),
                          memory_order_release);
    return in;
}

static void instance_give(struct instance *in)
{
    uint64_t bit = UINT64_C(1) << (in - instances);

    atomic_store_explicit(&in->value, 0, memory_order_release);
    atomic_fetch_or_explicit(&free_instances, bit, memory_order_release);
}

static const struct instance *instance_find(uint64_t value)
{
    uint64_t number = value & 0xfffffffu;

    if (value == 0 || number >= N_INSTANCES ||
        atomic_load_explicit(&instances[number].value, memory_order_acquire) != value) {
        return NULL;
    }
    return &instances[number];
}

int fm_t_event_read(uint64_t instance, int item, void *buf)
{
    const struct instance *in = instance_find(instance);

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    if (item < 0 || item >= in->event->row->n_data) {
        return FM_T_INVALID_INDEX;
    }
    fm_t_type_store(in->event->row->data[item].type, buf, 0, in->raised->values[item]);
    return FM_T_OK;
}

int fm_t_event_copy(uint64_t instance, void *buf)
{
    const struct instance *in = instance_find(instance);
    int i;

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    for (i = 0; i < in->event->row->n_data; i++) {
        fm_t_type_store(in->event->row->data[i].type, (char *)buf + in->event->displacements[i], 0,
                        in->raised->values[i]);
    }
    return FM_T_OK;
}

int fm_t_event_when(uint64_t instance, int64_t *out_timestamp)
{
    const struct instance *in = instance_find(instance);

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    *out_timestamp = (int64_t)in->raised->timestamp;
    return FM_T_OK;
}

int fm_t_event_whence(uint64_t instance, int *out_source)
{
    const struct instance *in = instance_find(instance);

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    *out_source = in->raised->source;
    return FM_T_OK;
}

/* ---- calling ---- */

/* The last one out of a freed registration says so to its owner; nobody raises it again. */
static void end_if_last(struct fm_t_registration *r, int safety)
{
    struct fm_t_event *e = r->event;
    uint32_t ending = ENDING;
    fm_t_any_fn fn;
    uint64_t value;
    void *data;
    int before;

    /* Only one can take it from ENDING; the slot may be used again from DEAD on. */
    if (atomic_load(&r->n_inside) != 0 ||
        !atomic_compare_exchange_strong(&r->state, &ending, ENDED)) {
        return;
    }
    fn = r->free_fn;
    data = r->free_data;
    value = r->free_value;
    atomic_store(&r->state, DEAD);
    atomic_fetch_add(&e->n_dead, 1);
    if (fn) {
        before = context_begin(safety);
        fm_t_event_call_free(fn, value, safety, data);
        context_end(before);
    }
}

/* Sequentially consistent with the store of ENDING in fm_t_event_free: either the emitter sees
   that, or fm_t_event_free sees the emitter. */
static bool enter(struct fm_t_registration *r)
{
    atomic_fetch_add(&r->n_inside, 1);
    return atomic_load(&r->state) == LIVE;
}

static void leave(struct fm_t_registration *r, int safety)
{
    if (atomic_fetch_sub(&r->n_inside, 1) == 1) {
        end_if_last(r, safety);
    }
}

/* The callback with the lowest level that is sufficient (15.3.8.3); *out_any: is there one at all?
 */
static struct callback *pick(struct fm_t_registration *r, int safety, bool *out_any)
{
    struct callback *cb, *chosen = NULL;
    int i;

    *out_any = false;
    for (i = N_LEVELS - 1; i >= 0; i--) {
        cb = atomic_load(&r->callbacks[i]);
        *out_any |= cb != NULL;
        if (cb && levels[i] >= safety) {
            chosen = cb;
        }
    }
    return chosen;
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

/* False: its handler cannot be called here, but in another place. The user_data is that of the
   event callback that would be called here. */
static bool report_loss(struct fm_t_registration *r, int source, int safety)
{
    bool is_told = true, is_any;
    struct callback *cb;
    fm_t_any_fn fn;
    uint64_t n, value;
    int before;

    if (enter(r)) {
        fn = atomic_load(&r->dropped_fn);
        value = atomic_load(&r->slot.value);
        cb = pick(r, safety, &is_any);
        is_told = cb || !fn || !is_any;
        n = fn && cb && value ? atomic_exchange(&r->n_dropped[source], 0) : 0;
        if (n > 0) {
            before = context_begin(safety);
            fm_t_event_call_dropped(fn, n < INT64_MAX ? n : INT64_MAX, value, source, safety,
                                    cb->user_data);
            context_end(before);
        }
    }
    leave(r, safety);
    return is_told;
}

/* All who lost events of this source are told before the next one of it is raised (15.3.8.5). */
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

/* r is entered. The handlers may free r or change its callbacks: these are looked up after them. */
static void call(struct fm_t_registration *r, const struct fm_t_raised *raised, int safety)
{
    struct instance *in = NULL;
    struct callback *cb;
    bool is_any;
    int before;

    report_losses(raised->source, safety);
    cb = atomic_load(&r->state) == LIVE ? pick(r, safety, &is_any) : NULL;
    if (cb) {
        in = instance_take(r->event, raised);
    }
    if (!in) {
        drop(r, raised->source);
        return;
    }
    __atomic_fetch_add(&fm_t_counters->n_called, 1, __ATOMIC_RELAXED);
    before = context_begin(safety);
    fm_t_event_call(cb->fn, atomic_load(&in->value), raised->registration, safety, cb->user_data);
    context_end(before);
    instance_give(in);
}

static void wait_in_queue(struct fm_t_registration *r, const struct fm_t_raised *raised)
{
    if (fm_t_queue_push(raised)) {
        __atomic_fetch_add(&fm_t_counters->n_waited, 1, __ATOMIC_RELAXED);
    } else {
        drop(r, raised->source);
    }
}

/* Deliver the oldest waiting event. False: there is none, or its callbacks may not run here. */
static bool deliver_one(int safety)
{
    const struct fm_t_raised *oldest = fm_t_queue_peek();
    struct fm_t_registration *r;
    struct fm_t_raised raised;
    struct callback *cb;
    bool is_any, has_entered;

    if (!oldest) {
        return false;
    }
    raised = *oldest;
    r = fm_t_slots_find(&registrations, raised.registration);
    if (!r) {
        fm_t_queue_pop(); /* freed while it waited */
        return true;
    }
    has_entered = enter(r);
    cb = has_entered ? pick(r, safety, &is_any) : NULL;
    if (has_entered && !cb && is_any) {
        leave(r, safety);
        return false;
    }
    fm_t_queue_pop();
    if (cb) {
        call(r, &raised, safety);
    }
    leave(r, safety);
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
        /* Somebody may have pushed or dropped between the two: that must not be forgotten. */
        if (is_waiting()) {
            __atomic_store_n(&fathom_mpit_waiting, 1, __ATOMIC_SEQ_CST);
        }
    }
}

void fathom_mpit_deliver(void)
{
    int i;

    /* Not in a signal handler, though a callback there called what led here. */
    if (fm_t_queue_room() != 0 && context < FATHOM_SAFE_SIGNAL && take_delivery()) {
        for (i = 0; i < FM_T_SOURCES; i++) {
            report_losses(i, context);
        }
        drain(context);
        end_delivery();
    }
}

static bool is_ordered(int source)
{
    return source != FM_T_SOURCE_ASYNC;
}

/* r is entered. */
static void deliver_to(struct fm_t_registration *r, const struct fm_t_raised *raised, int safety)
{
    bool is_any, is_mine = true;
    struct callback *cb = pick(r, safety, &is_any);

    if (!is_any) {
        return;
    }
    if (is_ordered(raised->source)) {
        is_mine = cb && take_delivery();
    }
    if (!cb || !is_mine || (is_ordered(raised->source) && fm_t_queue_len() != 0)) {
        wait_in_queue(r, raised);
    } else {
        call(r, raised, safety);
    }
    if (is_ordered(raised->source) && cb && is_mine) {
        end_delivery();
    }
}

static void raise_event(struct fm_t_event *e, const void *object, const uint64_t *values,
                        int source, int safety)
{
    struct fm_t_raised raised = {.timestamp = fathom_mpit_clock(), .source = source};
    struct fm_t_registration *r;
    const void *bound;

    safety = demand(safety);
    if (e->row->n_data) {
        memcpy(raised.values, values, (size_t)e->row->n_data * sizeof(*values));
    }
    __atomic_fetch_add(&fm_t_counters->n_raised, 1, __ATOMIC_RELAXED);
    for (r = atomic_load_explicit(&e->registrations, memory_order_acquire); r; r = r->next) {
        if (atomic_load_explicit(&r->state, memory_order_relaxed) != LIVE) {
            continue;
        }
        if (enter(r)) {
            bound = atomic_load(&r->object);
            raised.registration = atomic_load(&r->slot.value);
            if ((!bound || bound == object) && raised.registration) {
                deliver_to(r, &raised, safety);
            }
        }
        leave(r, safety);
    }
    /* What an earlier context had to leave waiting may run here. */
    if (is_ordered(source) && fm_t_queue_len() != 0 && take_delivery()) {
        drain(safety);
        end_delivery();
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

/* ---- registrations ---- */

/* Called locked: the host tests this word. */
static void set_on(struct fm_t_event *e)
{
    uint64_t number = (uint64_t)(e - fm_t_root.events) + 1;

    __atomic_store_n(e->on, e->n_callbacks > 0 ? number : 0, __ATOMIC_RELEASE);
}

/* Called locked: one that is dead, or a new one in front of the list. */
static struct fm_t_registration *unused_of(struct fm_t_event *e)
{
    struct fm_t_registration *r;

    for (r = atomic_load(&e->registrations); r && atomic_load(&e->n_dead) > 0; r = r->next) {
        if (atomic_load(&r->state) == DEAD && atomic_load(&r->n_inside) == 0) {
            atomic_fetch_sub(&e->n_dead, 1);
            fm_t_slots_renew(&registrations, r);
            return r;
        }
    }
    r = fm_t_slots_take(&registrations);
    if (r) {
        r->event = e;
        r->next = atomic_load(&e->registrations);
        atomic_store_explicit(&e->registrations, r, memory_order_release);
    }
    return r;
}

int fm_t_event_alloc(int index, const void *obj_handle, unsigned queue_len,
                     uint64_t *out_registration)
{
    struct fm_t_registration *r;
    const void *object = NULL;
    struct fm_t_event *e;
    int i, rc = FM_T_OK;

    if (index < 0 || index >= fm_t_root.n_events) {
        return FM_T_INVALID_INDEX;
    }
    e = &fm_t_root.events[index];
    fm_t_lock();
    if (e->row->bind > FATHOM_BIND_NONE) {
        object = fm_t_object_host(e->row->bind, obj_handle);
        rc = object ? FM_T_OK : FM_T_INVALID;
    }
    if (rc == FM_T_OK &&
        fm_t_queue_open(queue_len ? queue_len : (unsigned)fm_t_counters->queue_len) != 0) {
        rc = FM_T_MEMORY;
    }
    if (rc == FM_T_OK) {
        r = unused_of(e);
        rc = r ? FM_T_OK : fm_t_slots_why(&registrations);
    }
    if (rc == FM_T_OK) {
        atomic_store(&r->object, object);
        atomic_store(&r->dropped_fn, NULL);
        for (i = 0; i < FM_T_SOURCES; i++) {
            atomic_store(&r->n_dropped[i], 0);
        }
        r->is_orphan = false;
        r->free_fn = NULL;
        fm_t_slots_publish(&registrations, r);
        atomic_store(&r->state, LIVE);
        *out_registration = fm_t_slots_value(&registrations, r);
        fathom_level_add(&fm_t_counters->registrations, 1);
    }
    fm_t_unlock();
    return rc;
}

/* Called locked, as the next: callbacks that were replaced are freed once nobody can be in them. */
static void free_retired(struct fm_t_registration *r)
{
    struct callback *next;

    /* Who enters after this sees the new ones (sequentially consistent). */
    while (r->retired && atomic_load(&r->n_inside) == 0) {
        next = r->retired->retired;
        free(r->retired);
        r->retired = next;
    }
}

static void retire(struct fm_t_registration *r, int level, struct callback *new_one)
{
    struct callback *old = atomic_exchange(&r->callbacks[level], new_one);

    r->event->n_callbacks += (new_one != NULL) - (old != NULL);
    if (old) {
        old->retired = r->retired;
        r->retired = old;
    }
    free_retired(r);
}

int fm_t_event_callback(uint64_t registration, int safety, void *user_data, fm_t_any_fn fn)
{
    struct fm_t_registration *r;
    struct callback *cb = NULL;
    int level = level_number(safety), rc = FM_T_OK;

    if (level < 0) {
        return FM_T_INVALID;
    }
    if (fn) {
        cb = calloc(1, sizeof(*cb));
        if (!cb) {
            return FM_T_MEMORY;
        }
        cb->fn = fn;
        cb->user_data = user_data;
    }
    fm_t_lock();
    r = fm_t_slots_find(&registrations, registration);
    if (!r || r->is_orphan) {
        free(cb);
        rc = FM_T_INVALID_HANDLE;
    } else {
        retire(r, level, cb);
        set_on(r->event);
    }
    fm_t_unlock();
    return rc;
}

int fm_t_event_dropped(uint64_t registration, fm_t_any_fn fn)
{
    struct fm_t_registration *r;
    int i;

    fm_t_lock();
    r = fm_t_slots_find(&registrations, registration);
    if (r) {
        /* Without a handler no loss is recorded; a new one in the place of another inherits. */
        for (i = 0; i < FM_T_SOURCES && (!fn || !atomic_load(&r->dropped_fn)); i++) {
            atomic_store(&r->n_dropped[i], 0);
        }
        atomic_store(&r->dropped_fn, fn);
    }
    fm_t_unlock();
    return r ? FM_T_OK : FM_T_INVALID_HANDLE;
}

int fm_t_event_check(uint64_t registration, int safety)
{
    const struct fm_t_registration *r = fm_t_slots_find(&registrations, registration);
    int level = safety < 0 ? 0 : level_number(safety);

    if (!r) {
        return FM_T_INVALID_HANDLE;
    }
    if (level < 0 || (safety >= 0 && !atomic_load(&r->callbacks[level]))) {
        return FM_T_INVALID;
    }
    return FM_T_OK;
}

/* Called locked: nothing is raised for it after this, but for what is under way. */
static void registration_end(struct fm_t_registration *r, void *user_data, fm_t_any_fn fn)
{
    int i;

    r->free_fn = fn;
    r->free_data = user_data;
    r->free_value = atomic_load(&r->slot.value);
    fm_t_slots_hide(r);
    atomic_store(&r->state, ENDING);
    for (i = 0; i < N_LEVELS; i++) {
        retire(r, i, NULL);
    }
    set_on(r->event);
    fathom_level_add(&fm_t_counters->registrations, -1);
}

int fm_t_event_free(uint64_t registration, void *user_data, fm_t_any_fn fn)
{
    struct fm_t_registration *r;

    fm_t_lock();
    r = fm_t_slots_find(&registrations, registration);
    if (r) {
        registration_end(r, user_data, fn);
    }
    fm_t_unlock();
    if (!r) {
        return FM_T_INVALID_HANDLE;
    }
    end_if_last(r, context);
    return FM_T_OK;
}

/* Called locked, as what follows: the registrations of an object that ended raise nothing more. */
void fm_t_event_orphan(const void *object)
{
    struct fm_t_registration *r;
    uint32_t at;
    int i;

    for (at = 0; (r = fm_t_slots_at(&registrations, at)) != NULL; at++) {
        if (atomic_load(&r->state) == LIVE && object && atomic_load(&r->object) == object) {
            r->is_orphan = true;
            for (i = 0; i < N_LEVELS; i++) {
                retire(r, i, NULL);
            }
            set_on(r->event);
        }
    }
}

/* Emitters without the host's lock may still walk the lists, so registrations stay for the next
   tool; the queue goes when nobody can be at it. */
void fm_t_event_finish(void)
{
    struct fm_t_registration *r;
    bool is_quiet = take_delivery(), is_mine = is_quiet;
    uint32_t at;

    for (at = 0; (r = fm_t_slots_at(&registrations, at)) != NULL; at++) {
        if (atomic_load(&r->state) == LIVE) {
            registration_end(r, NULL, NULL);
            end_if_last(r, context);
        }
        free_retired(r);
        is_quiet = is_quiet && atomic_load(&r->n_inside) == 0;
    }
    /* Else a callback calls MPI_T_finalize, or one runs on another thread. */
    if (is_quiet) {
        fm_t_queue_close();
    }
    if (is_mine) {
        end_delivery();
    }
}
