/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of control variables; reading and writing (MPI-5.0 15.3.6).
 *
 * A value of the process lies in its word. A value of one object lies in the object's word as value
 * + 1, where 0 says that the object follows the process.
 */
#include <string.h>

#include "mpit/mpit_live.h"

struct cvar_handle {
    struct fm_t_slot slot;
    int index;
    const struct fm_t_object *object; /* NULL: the value of the process */
    bool is_orphan;                   /* its object is gone */
};

/* Found without a lock, changed with the registry's (mpit_slots.h). */
static struct fm_t_slots handles = {.slot_len = sizeof(struct cvar_handle),
                                    .kind = FM_T_SLOT_CVAR_HANDLE};

int fathom_mpit_cvar_source(int cvar_index, const char **out_unit, const char **out_environment)
{
    static _Thread_local char env[FM_T_NAME_LEN + 64]; /* valid until the thread's next call */
    const struct fm_t_cvar *v;

    if (cvar_index < 0 || cvar_index >= fm_t_root.n_cvars) {
        return -1;
    }
    v = &fm_t_root.cvars[cvar_index];
    if (out_unit) {
        *out_unit = v->row->unit ? v->row->unit : "";
    }
    if (out_environment) {
        env[0] = '\0';
        if (v->bind == FATHOM_BIND_NONE) {
            fm_t_env_name(env, sizeof(env), v->name);
        }
        *out_environment = env;
    }
    return (int)v->source;
}

int fm_t_cvar_alloc(int index, const void *obj_handle, uint64_t *out_handle, int *out_count)
{
    const struct fm_t_object *object = NULL;
    struct cvar_handle *h;
    const struct fm_t_cvar *v;
    int rc = FM_T_OK;

    if (index < 0 || index >= fm_t_root.n_cvars) {
        return FM_T_INVALID_INDEX;
    }
    v = &fm_t_root.cvars[index];
    fm_t_lock();
    if (v->bind != FATHOM_BIND_NONE) {
        object = fm_t_object_of_handle(v->table, v->bind, obj_handle);
    }
    if (v->bind != FATHOM_BIND_NONE && !object) {
        rc = FM_T_INVALID;
    } else if ((h = fm_t_slots_take(&handles)) == NULL) {
        rc = fm_t_slots_why(&handles);
    } else {
        h->index = index;
        h->object = object;
        fm_t_slots_publish(&handles, h);
        *out_handle = fm_t_slots_value(&handles, h);
        *out_count = v->row->type == FATHOM_CHAR ? v->row->count : 1;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_cvar_free(uint64_t handle)
{
    struct cvar_handle *h;

    fm_t_lock();
    h = fm_t_slots_find(&handles, handle);
    if (h) {
        fm_t_slots_drop(&handles, h);
    }
    fm_t_unlock();
    return h ? FM_T_OK : FM_T_INVALID_HANDLE;
}

static uint64_t *word_of(const struct cvar_handle *h)
{
    const struct fm_t_cvar *v = &fm_t_root.cvars[h->index];

    return h->object ? (uint64_t *)(void *)(h->object->block + v->row->object_at)
                     : (uint64_t *)(void *)(v->table->block + v->row->at);
}

/* Called locked, with a live handle. */
static void cvar_read(const struct cvar_handle *h, void *buf)
{
    const struct fm_t_cvar *v = &fm_t_root.cvars[h->index];
    uint64_t word;

    if (v->row->type == FATHOM_CHAR) {
        memcpy(buf, v->table->block + v->row->at, (size_t)v->row->count);
        return;
    }
    word = __atomic_load_n(word_of(h), __ATOMIC_RELAXED);
    if (h->object) {
        word = word ? word - 1
                    : __atomic_load_n((uint64_t *)(void *)(v->table->block + v->row->at),
                                      __ATOMIC_RELAXED);
    }
    fm_t_type_store(v->row->type, buf, 0, word);
}

int fm_t_cvar_read(uint64_t handle, void *buf)
{
    const struct cvar_handle *h;
    int rc = FM_T_INVALID_HANDLE;

    fm_t_lock();
    h = fm_t_slots_find(&handles, handle);
    if (h && !h->is_orphan) {
        cvar_read(h, buf);
        rc = FM_T_OK;
    }
    fm_t_unlock();
    return rc;
}

static int may_write(const struct fathom_cvar *row)
{
    if (row->scope == FATHOM_SCOPE_CONSTANT || row->scope == FATHOM_SCOPE_READONLY) {
        return FM_T_CVAR_SET_NEVER;
    }
    if (row->fixed_after_init && fm_t_root.host && fm_t_root.host->is_before_init &&
        !fm_t_root.host->is_before_init()) {
        return FM_T_CVAR_SET_NOT_NOW;
    }
    return FM_T_OK;
}

/* Called locked. The row's `changed` sees the new value in place and may refuse it. */
static int write_text(const struct fm_t_cvar *v, const char *text)
{
    char *at = v->table->block + v->row->at, old[FM_T_TEXT_MAX];
    size_t room = (size_t)v->row->count, len = strnlen(text, room);

    if (len == room) {
        return FM_T_INVALID;
    }
    memcpy(old, at, room);
    memset(at, 0, room);
    memcpy(at, text, len);
    if (v->row->changed && v->row->changed(v->table->block, NULL) != 0) {
        memcpy(at, old, room);
        return FM_T_CVAR_SET_NOT_NOW;
    }
    return FM_T_OK;
}

static int write_word(const struct cvar_handle *h, const struct fm_t_cvar *v, uint64_t value)
{
    uint64_t *word = word_of(h), old = *word;
    double real;

    if (v->row->type == FATHOM_DOUBLE) {
        memcpy(&real, &value, sizeof(real));
        if (!(real >= v->row->min_real && real <= v->row->max_real)) {
            return FM_T_INVALID;
        }
    } else if (!fm_t_param_in_bounds(v->row, (int64_t)value)) {
        return FM_T_INVALID;
    }
    __atomic_store_n(word, h->object ? value + 1 : value, __ATOMIC_RELAXED);
    if (v->row->changed &&
        v->row->changed(v->table->block, h->object ? (void *)h->object->link.key : NULL) != 0) {
        __atomic_store_n(word, old, __ATOMIC_RELAXED);
        return FM_T_CVAR_SET_NOT_NOW;
    }
    return FM_T_OK;
}

static int cvar_write(const struct cvar_handle *h, const void *buf)
{
    struct fm_t_cvar *v = &fm_t_root.cvars[h->index];
    uint64_t value = 0;
    int rc = may_write(v->row);

    if (rc != FM_T_OK) {
        return rc;
    }
    if (v->row->type == FATHOM_CHAR) {
        rc = write_text(v, buf);
    } else {
        value = fm_t_type_load(v->row->type, buf, 0);
        rc = write_word(h, v, value);
    }
    if (rc == FM_T_OK) {
        v->source = FATHOM_FROM_TOOL;
        if (v->page_row) {
            v->page_row->source = FATHOM_FROM_TOOL;
        }
        fm_t_cvar_written(h->index, value);
    }
    return rc;
}

int fm_t_cvar_write(uint64_t handle, const void *buf)
{
    const struct cvar_handle *h;
    int rc = FM_T_INVALID_HANDLE;

    fm_t_lock();
    h = fm_t_slots_find(&handles, handle);
    if (h && !h->is_orphan) {
        rc = cvar_write(h, buf);
    }
    fm_t_unlock();
    fathom_mpit_poll();
    return rc;
}

void fm_t_cvar_orphan(const struct fm_t_object *object)
{
    struct cvar_handle *h;
    uint32_t i;

    for (i = 0; handles.n_live && (h = fm_t_slots_at(&handles, i)) != NULL; i++) {
        if (h->object == object) {
            h->object = NULL;
            h->is_orphan = true;
        }
    }
}

void fm_t_cvar_finish(void)
{
    fm_t_slots_finish(&handles);
}
