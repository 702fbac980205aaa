/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of performance variables by session and number (MPI-5.0 15.3.7.3): allocation, the verbs
 * that also go to all handles of a session, and the end of handles with their session or object.
 */
#include "mpit/mpit_pvar.h"
#include "mpit/mpit_registration.h"

/* See mpit_pvar.h. */
struct fm_t_slots fm_t_pvar_handles = {.slot_len = sizeof(struct fm_t_pvar_handle),
                                       .kind = FM_T_SLOT_PVAR_HANDLE};

#define ALL_HANDLES 1u /* MPI_T_PVAR_ALL_HANDLES */

/* Called locked. */
static void handle_end(struct fm_t_pvar_handle *h)
{
    struct fm_t_follower *f = atomic_load_explicit(&h->follower, memory_order_relaxed);

    fm_t_slots_hide(h);
    if (fm_t_state_is_running(fm_t_state_load(&h->state))) {
        fm_t_value_demand(h->var, -1);
    }
    if (f) {
        fm_t_level_unfollow(h->level, f);
    }
    fm_t_state_finish(&h->state);
    fm_t_slots_drop(&fm_t_pvar_handles, h);
    fathom_level_set(&fm_t_counters->handles, fm_t_pvar_handles.n_live);
}

/* A sum of one word of each member? */
static bool is_one_of_each(const struct fathom_pvar *row)
{
    return row->n_terms == 1 && row->terms->count == FATHOM_PER_MEMBER;
}

/* How the handle reads its variable. */
static void choose_way(struct fm_t_pvar_handle *h, const struct fm_t_pvar *v)
{
    h->var = v;
    h->n_members = h->object ? h->object->n_members : 0;
    h->count = v->count ? v->count : h->n_members;
    h->is_sum = v->flat || is_one_of_each(v->row);
    h->is_plain = h->count == 1 && (v->mode == FM_T_PVAR_SINCE || v->mode == FM_T_PVAR_AS_IS) &&
                  fm_t_type_is_whole(v->type) && (h->is_sum || !v->is_derived);
    h->is_fixed = h->is_plain && (!h->is_sum || v->flat);
    h->since = v->mode == FM_T_PVAR_SINCE ? ~UINT64_C(0) : 0;
    h->flat = v->flat;
    if (h->is_sum && !h->flat) {
        h->first = (v->table->from->object_block_len + v->row->terms->at) / sizeof(uint64_t);
        h->step = v->table->from->member_block_len / sizeof(uint64_t);
    }
}

/* Called locked, with the object that the handle is bound to. */
static int handle_begin(struct fm_t_pvar_handle *h, const struct fm_t_pvar *v)
{
    char *block = h->object ? h->object->block : v->table->block;
    size_t at = v->word_at;
    int i;

    choose_way(h, v);
    /* The counters of a sum begin with the block. */
    atomic_store_explicit(&h->words, (uint64_t *)(void *)(block + at), memory_order_relaxed);
    if (fm_t_state_begin(&h->state, (size_t)h->count, FM_T_STATE_FRESH) != 0) {
        return FM_T_MEMORY;
    }
    if (v->mode == FM_T_PVAR_HIGH || v->mode == FM_T_PVAR_LOW) {
        h->level = (struct fathom_level *)(void *)(block + at);
        h->follower = fm_t_level_follow(h->level, v->mode == FM_T_PVAR_HIGH);
        if (!h->follower) {
            return FM_T_MEMORY;
        }
    }
    for (i = 0; i < h->count; i++) {
        atomic_store_explicit(fm_t_state_element(&h->state, 0, i), fm_t_value_start(h, h->words, i),
                              memory_order_relaxed);
    }
    if (v->row->is_continuous) {
        fm_t_pvar_start_one(h, h->words); /* from the beginning (15.3.7.5) */
    }
    return FM_T_OK;
}

int fm_t_pvar_alloc(uint64_t session, int index, const void *obj_handle, uint64_t *out_handle,
                    int *out_count)
{
    const struct fm_t_object *object = NULL;
    const struct fm_t_pvar *v;
    struct fm_t_pvar_handle *h = NULL;
    int rc = FM_T_OK;

    if (!fm_t_session_is_valid(session)) {
        return FM_T_INVALID_SESSION;
    }
    if (index < 0 || index >= fm_t_root.n_pvars) {
        return FM_T_INVALID_INDEX;
    }
    v = &fm_t_root.pvars[index];
    fm_t_lock();
    if (v->bind != FATHOM_BIND_NONE) {
        object = fm_t_object_of_handle(v->table, v->bind, obj_handle);
        rc = object ? FM_T_OK : FM_T_INVALID;
    }
    if (rc == FM_T_OK) {
        h = fm_t_slots_take(&fm_t_pvar_handles);
        rc = h ? FM_T_OK : fm_t_slots_why(&fm_t_pvar_handles);
    }
    if (rc == FM_T_OK) {
        h->session = session;
        h->object = object;
        rc = handle_begin(h, v);
        if (rc != FM_T_OK) {
            handle_end(h);
        }
    }
    if (rc == FM_T_OK) {
        fm_t_slots_publish(&fm_t_pvar_handles, h);
        fathom_level_set(&fm_t_counters->handles, fm_t_pvar_handles.n_live);
        *out_handle = fm_t_slots_value(&fm_t_pvar_handles, h);
        *out_count = h->count;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_pvar_free(uint64_t session, uint64_t handle)
{
    struct fm_t_pvar_handle *h;
    int rc = FM_T_OK;

    fm_t_lock();
    h = fm_t_slots_find(&fm_t_pvar_handles, handle);
    if (!fm_t_session_is_valid(session)) {
        rc = FM_T_INVALID_SESSION;
    } else if (!h || h->session != session) {
        rc = FM_T_INVALID_HANDLE;
    } else {
        handle_end(h); /* its object may be gone: it can be freed all the same */
    }
    fm_t_unlock();
    return rc;
}

/* The live handles of a session, one after the other: *at is where to go on. Called locked, or in a
   signal handler. */
static struct fm_t_pvar_handle *next_of(uint64_t session, uint32_t *at)
{
    struct fm_t_pvar_handle *h;

    while ((h = fm_t_slots_at(&fm_t_pvar_handles, *at)) != NULL) {
        ++*at;
        if (atomic_load_explicit(&h->slot.value, memory_order_acquire) && h->session == session) {
            return h;
        }
    }
    return NULL;
}

enum verb { START, STOP, RESET };

/* MPI_T_PVAR_ALL_HANDLES skips the handles that the verb does not fit (15.3.7.5). */
static int do_one(struct fm_t_pvar_handle *h, const uint64_t *words, enum verb verb, bool is_all)
{
    if (verb == RESET) {
        if (h->var->is_readonly) {
            return is_all ? FM_T_OK : FM_T_PVAR_NO_WRITE;
        }
        fm_t_pvar_reset_one(h, words);
        return FM_T_OK;
    }
    if (h->var->row->is_continuous) {
        return is_all ? FM_T_OK : FM_T_PVAR_NO_STARTSTOP;
    }
    if (verb == START) {
        fm_t_pvar_start_one(h, words);
    } else {
        fm_t_pvar_stop_one(h, words);
    }
    return FM_T_OK;
}

static int walk_all(uint64_t session, enum verb verb)
{
    struct fm_t_pvar_handle *h;
    uint64_t *words;
    uint32_t at = 0;

    if (!fm_t_session_is_valid(session)) {
        return FM_T_INVALID_SESSION;
    }
    while ((h = next_of(session, &at)) != NULL) {
        words = atomic_load_explicit(&h->words, memory_order_relaxed);
        if (words) {
            do_one(h, words, verb, true);
        }
    }
    return FM_T_OK;
}

/* The lock keeps other threads from ending these handles meanwhile. A callback in a signal handler
   cannot take it and may make this call (15.3.8.2): there the tool must not free handles. */
static int do_all(uint64_t session, enum verb verb)
{
    bool is_signal = fm_t_event_context() >= FATHOM_SAFE_SIGNAL;
    int rc;

    if (!is_signal) {
        fm_t_lock();
    }
    rc = walk_all(session, verb);
    if (!is_signal) {
        fm_t_unlock();
    }
    return rc;
}

static int do_verb(uint64_t session, uint64_t handle, enum verb verb)
{
    struct fm_t_pvar_handle *h = NULL;
    uint64_t *words = NULL;
    int rc;

    if (handle == ALL_HANDLES) {
        return do_all(session, verb);
    }
    rc = fm_t_pvar_find(session, handle, &h, &words);
    return rc == FM_T_OK ? do_one(h, words, verb, false) : rc;
}

int fm_t_pvar_start(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, START);
}

int fm_t_pvar_stop(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, STOP);
}

int fm_t_pvar_reset(uint64_t session, uint64_t handle)
{
    return do_verb(session, handle, RESET);
}

/* Called locked, as what follows. */
void fm_t_pvar_end_session(uint64_t session)
{
    struct fm_t_pvar_handle *h;
    uint32_t at = 0;

    while (fm_t_pvar_handles.n_live && (h = next_of(session, &at)) != NULL) {
        handle_end(h);
    }
}

void fm_t_pvar_orphan(const struct fm_t_object *object)
{
    struct fm_t_pvar_handle *h;
    uint32_t at;

    for (at = 0; fm_t_pvar_handles.n_live && (h = fm_t_slots_at(&fm_t_pvar_handles, at)) != NULL;
         at++) {
        if (h->object == object) {
            atomic_store_explicit(&h->words, NULL, memory_order_release);
            h->object = NULL;
            h->follower = NULL;
        }
    }
}

void fm_t_pvar_finish(void)
{
    struct fm_t_pvar_handle *h;
    uint32_t at;

    for (at = 0; (h = fm_t_slots_at(&fm_t_pvar_handles, at)) != NULL; at++) {
        if (atomic_load_explicit(&h->slot.value, memory_order_relaxed)) {
            handle_end(h);
        }
    }
    fm_t_slots_finish(&fm_t_pvar_handles);
}
