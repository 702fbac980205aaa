/* SPDX-License-Identifier: BSD-3-Clause */
/* Event registrations: see mpit_registration.h. */
#include "mpit/mpit_registration.h"

#include <stdlib.h>

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_t_slots registrations = {.slot_len = sizeof(struct fm_t_registration),
                                          .kind = FM_T_SLOT_REGISTRATION};

_Thread_local struct fm_t_context fm_t_context __attribute__((tls_model("initial-exec")));

static const int levels[FM_T_LEVELS] = {FATHOM_SAFE_ANY, FATHOM_SAFE_RESTRICTED, FATHOM_SAFE_THREAD,
                                        FATHOM_SAFE_SIGNAL};

static int level_number(int safety)
{
    int i;

    for (i = 0; i < FM_T_LEVELS; i++) {
        if (levels[i] == safety) {
            return i;
        }
    }
    return -1;
}

int fm_t_event_context(void)
{
    return fm_t_context.safety;
}

struct fm_t_registration *fm_t_registration_find(uint64_t value)
{
    return fm_t_slots_find(&registrations, value);
}

struct fm_t_registration *fm_t_registration_at(uint32_t n)
{
    return fm_t_slots_at(&registrations, n);
}

void fm_t_registration_end_unused(struct fm_t_registration *r, int safety)
{
    struct fm_t_event *e = r->event;
    uint32_t ending = FM_T_REGISTRATION_ENDING;
    const struct fm_t_callers *callers;
    fm_t_any_fn fn;
    uint64_t value;
    void *data;
    struct fm_t_context before;

    /* One thread alone takes it from ENDING to ENDED; from DEAD on it may be used again. */
    if (atomic_load(&r->n_inside) != 0 ||
        !atomic_compare_exchange_strong(&r->state, &ending, FM_T_REGISTRATION_ENDED)) {
        return;
    }
    callers = r->callers;
    fn = r->free_fn;
    data = r->free_data;
    value = r->free_value;
    atomic_store(&r->state, FM_T_REGISTRATION_DEAD);
    atomic_fetch_add(&e->n_dead, 1);
    if (fn) {
        before = fm_t_context_begin(safety, NULL);
        callers->free(fn, value, safety, data);
        fm_t_context_end(before);
    }
}

/* The callback with the lowest level that is sufficient (15.3.8.3); *out_any: is there one at all?
 */
struct fm_t_callback *fm_t_registration_pick(struct fm_t_registration *r, int safety, bool *out_any)
{
    struct fm_t_callback *cb, *chosen = NULL;
    int i;

    *out_any = false;
    for (i = FM_T_LEVELS - 1; i >= 0; i--) {
        cb = atomic_load(&r->callbacks[i]);
        *out_any |= cb != NULL;
        if (cb && levels[i] >= safety) {
            chosen = cb;
        }
    }
    return chosen;
}

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
        if (atomic_load(&r->state) == FM_T_REGISTRATION_DEAD && atomic_load(&r->n_inside) == 0) {
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
                     const struct fm_t_callers *callers, uint64_t *out_registration)
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
        r->callers = callers;
        atomic_store(&r->wants_time, false);
        atomic_store(&r->object, object);
        atomic_store(&r->dropped_fn, NULL);
        for (i = 0; i < FM_T_SOURCES; i++) {
            atomic_store(&r->n_dropped[i], 0);
        }
        r->is_orphan = false;
        r->free_fn = NULL;
        fm_t_slots_publish(&registrations, r);
        atomic_store(&r->state, FM_T_REGISTRATION_LIVE);
        *out_registration = fm_t_slots_value(&registrations, r);
        fathom_level_add(&fm_t_counters->registrations, 1);
    }
    fm_t_unlock();
    return rc;
}

/* Free callbacks that were replaced, once no thread uses the registration. Called locked, as the
   next function. */
static void free_retired(struct fm_t_registration *r)
{
    struct fm_t_callback *next;

    /* A thread that enters after this sees the new ones (sequentially consistent). */
    while (r->retired && atomic_load(&r->n_inside) == 0) {
        next = r->retired->retired;
        free(r->retired);
        r->retired = next;
    }
}

static void retire(struct fm_t_registration *r, int level, struct fm_t_callback *new_one)
{
    struct fm_t_callback *old = atomic_exchange(&r->callbacks[level], new_one);

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
    struct fm_t_callback *cb = NULL;
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
    atomic_store(&r->state, FM_T_REGISTRATION_ENDING);
    for (i = 0; i < FM_T_LEVELS; i++) {
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
    fm_t_registration_end_unused(r, fm_t_context.safety);
    return FM_T_OK;
}

/* Called locked, as what follows: the registrations of an object that ended raise nothing more. */
void fm_t_event_orphan(const void *object)
{
    struct fm_t_registration *r;
    uint32_t at;
    int i;

    for (at = 0; (r = fm_t_slots_at(&registrations, at)) != NULL; at++) {
        if (atomic_load(&r->state) == FM_T_REGISTRATION_LIVE && object &&
            atomic_load(&r->object) == object) {
            r->is_orphan = true;
            for (i = 0; i < FM_T_LEVELS; i++) {
                retire(r, i, NULL);
            }
            set_on(r->event);
        }
    }
}

bool fm_t_registration_finish(void)
{
    struct fm_t_registration *r;
    bool is_quiet = true;
    uint32_t at;

    for (at = 0; (r = fm_t_slots_at(&registrations, at)) != NULL; at++) {
        if (atomic_load(&r->state) == FM_T_REGISTRATION_LIVE) {
            registration_end(r, NULL, NULL);
            fm_t_registration_end_unused(r, fm_t_context.safety);
        }
        free_retired(r);
        is_quiet = is_quiet && atomic_load(&r->n_inside) == 0;
    }
    return is_quiet;
}
