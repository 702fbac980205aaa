/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keyvals and attributes. A keyval is used by its handle (the number that the user holds) and by
 * each attribute that is set; when the last user is gone its number may be given out again. Till
 * then the number serves, though freed: 7.7.2 has the program delete what is still set under it.
 *
 * Callbacks of the user may set and delete attributes of the very object: nothing found in a list
 * before a callback is trusted after it.
 */
#include "core/object/attr.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

/* Above all predefined keyvals of the ABI. */
#define FIRST_KEYVAL 0x1000

struct keyval {
    enum fm_kind kind;
    struct fm_keyval_fns fns;
    int n_users;   /* 0: the slot is free */
    bool is_freed; /* by the user: only attributes use it now */
};

struct attr {
    int keyval;
    void *value;
};

struct fm_attrs {
    int n, n_room;
    struct attr items[];
};

/* One table for the process, like the user's numbers that index it; guarded by the library lock. */
static struct {
    struct keyval *slots;
    int n;
} keyvals;

static struct keyval *slot_of(int keyval)
{
    return &keyvals.slots[keyval - FIRST_KEYVAL];
}

static bool is_live(enum fm_kind kind, int keyval)
{
    return keyval >= FIRST_KEYVAL && keyval - FIRST_KEYVAL < keyvals.n &&
           slot_of(keyval)->n_users > 0 && slot_of(keyval)->kind == kind;
}

static int no_keyval(enum fm_kind kind, int keyval)
{
    return fm_fail(-FM_E_NOENT, "keyval %d is none of a %s: never made, or freed already", keyval,
                   fm_kind_name(kind));
}

static int free_slot(void)
{
    int n = keyvals.n ? 2 * keyvals.n : 16;
    struct keyval *slots;
    int at = 0;

    while (at < keyvals.n && keyvals.slots[at].n_users > 0) {
        at++;
    }
    if (at < keyvals.n) {
        return at;
    }
    slots = realloc(keyvals.slots, (size_t)n * sizeof(*slots));
    if (!slots) {
        return fm_fail(-FM_E_NOMEM, "no memory for a keyval");
    }
    memset(slots + keyvals.n, 0, (size_t)(n - keyvals.n) * sizeof(*slots));
    keyvals.slots = slots;
    keyvals.n = n;
    return at;
}

int fm_keyval_create(enum fm_kind kind, const struct fm_keyval_fns *fns, int *out_keyval)
{
    int at = free_slot();

    if (at < 0) {
        return at;
    }
    keyvals.slots[at] = (struct keyval){.kind = kind, .fns = *fns, .n_users = 1};
    *out_keyval = FIRST_KEYVAL + at;
    return 0;
}

int fm_keyval_free(enum fm_kind kind, int keyval)
{
    if (!is_live(kind, keyval)) {
        return no_keyval(kind, keyval);
    }
    if (!slot_of(keyval)->is_freed) {
        slot_of(keyval)->is_freed = true;
        slot_of(keyval)->n_users--;
    }
    return 0;
}

static int find(const struct fm_attrs *attrs, int keyval)
{
    for (int i = 0; attrs && i < attrs->n; i++) {
        if (attrs->items[i].keyval == keyval) {
            return i;
        }
    }
    return -1;
}

static int append(struct fm_attrs **attrs, int keyval, void *value)
{
    struct fm_attrs *a = *attrs;

    if (!a || a->n == a->n_room) {
        int n_room = a ? 2 * a->n_room : 4;

        a = realloc(a, sizeof(*a) + (size_t)n_room * sizeof(struct attr));
        if (!a) {
            return fm_fail(-FM_E_NOMEM, "no memory for an attribute");
        }
        a->n = *attrs ? a->n : 0;
        a->n_room = n_room;
        *attrs = a;
    }
    a->items[a->n++] = (struct attr){.keyval = keyval, .value = value};
    slot_of(keyval)->n_users++;
    return 0;
}

static void take_out(struct fm_attrs **attrs, int keyval)
{
    struct fm_attrs *a = *attrs;
    int at = find(a, keyval);

    if (at < 0) {
        return;
    }
    a->n--;
    memmove(&a->items[at], &a->items[at + 1], (size_t)(a->n - at) * sizeof(a->items[0]));
    slot_of(keyval)->n_users--;
    if (a->n == 0) {
        free(a);
        *attrs = NULL;
    }
}

/* MPI_SUCCESS, or what the user's function returned. */
static int call_delete(enum fm_kind kind, void *object, int keyval, void *value)
{
    const struct fm_keyval_fns fns = slot_of(keyval)->fns;
    void *handle = fm_handle_of(object);

    if (!fns.delete) { /* the ABI's NULL_DELETE_FN */
        return MPI_SUCCESS;
    }
    switch (kind) {
    case FM_KIND_WIN:
        return ((MPI_Win_delete_attr_function *)fns.delete)(handle, keyval, value, fns.extra);
    case FM_KIND_DTYPE:
        return ((MPI_Type_delete_attr_function *)fns.delete)(handle, keyval, value, fns.extra);
    default:
        return ((MPI_Comm_delete_attr_function *)fns.delete)(handle, keyval, value, fns.extra);
    }
}

static int call_copy(enum fm_kind kind, void *object, const struct attr *from, void **out_value,
                     int *out_flag)
{
    const struct fm_keyval_fns fns = slot_of(from->keyval)->fns;
    void *handle = fm_handle_of(object);

    *out_flag = 0;
    if (!fns.copy) { /* the ABI's NULL_COPY_FN */
        return MPI_SUCCESS;
    }
    if (fns.copy == (void *)MPI_COMM_DUP_FN) { /* 0x1 for all kinds */
        *out_value = from->value;
        *out_flag = 1;
        return MPI_SUCCESS;
    }
    switch (kind) {
    case FM_KIND_WIN:
        return ((MPI_Win_copy_attr_function *)fns.copy)(handle, from->keyval, fns.extra,
                                                        from->value, out_value, out_flag);
    case FM_KIND_DTYPE:
        return ((MPI_Type_copy_attr_function *)fns.copy)(handle, from->keyval, fns.extra,
                                                         from->value, out_value, out_flag);
    default:
        return ((MPI_Comm_copy_attr_function *)fns.copy)(handle, from->keyval, fns.extra,
                                                         from->value, out_value, out_flag);
    }
}

int fm_attr_set(enum fm_kind kind, void *object, struct fm_attrs **attrs, int keyval, void *value)
{
    int at, rc;

    if (!is_live(kind, keyval)) {
        return no_keyval(kind, keyval);
    }
    at = find(*attrs, keyval);
    if (at >= 0) {
        rc = call_delete(kind, object, keyval, (*attrs)->items[at].value);
        if (rc != MPI_SUCCESS) {
            return rc;
        }
        at = find(*attrs, keyval);
    }
    if (at >= 0) {
        (*attrs)->items[at].value = value;
        return 0;
    }
    return append(attrs, keyval, value);
}

int fm_attr_get(enum fm_kind kind, struct fm_attrs *attrs, int keyval, void **out_value,
                bool *out_found)
{
    int at;

    if (!is_live(kind, keyval)) {
        return no_keyval(kind, keyval);
    }
    at = find(attrs, keyval);
    if (at >= 0) {
        *out_value = attrs->items[at].value;
    }
    *out_found = at >= 0;
    return 0;
}

static int delete_at(enum fm_kind kind, void *object, struct fm_attrs **attrs, int at)
{
    const struct attr a = (*attrs)->items[at];
    int rc;

    slot_of(a.keyval)->n_users++; /* the callback may free the keyval */
    rc = call_delete(kind, object, a.keyval, a.value);
    if (rc == MPI_SUCCESS) {
        take_out(attrs, a.keyval);
    }
    slot_of(a.keyval)->n_users--;
    return rc;
}

int fm_attr_delete(enum fm_kind kind, void *object, struct fm_attrs **attrs, int keyval)
{
    int at;

    if (!is_live(kind, keyval)) {
        return no_keyval(kind, keyval);
    }
    at = find(*attrs, keyval);
    return at >= 0 ? delete_at(kind, object, attrs, at) : 0;
}

int fm_attr_copy_all(enum fm_kind kind, void *old_object, struct fm_attrs *from,
                     struct fm_attrs **to)
{
    struct fm_attrs *list = from; /* the callbacks work on the old object: take a snapshot */
    size_t len = from ? sizeof(*from) + (size_t)from->n * sizeof(struct attr) : 0;
    int rc = 0;

    if (!from) {
        return 0;
    }
    list = malloc(len);
    if (!list) {
        return fm_fail(-FM_E_NOMEM, "no memory for the attributes of a copy");
    }
    memcpy(list, from, len);
    for (int i = 0; rc == 0 && i < list->n; i++) {
        void *value = NULL;
        int flag;

        rc = call_copy(kind, old_object, &list->items[i], &value, &flag);
        if (rc == MPI_SUCCESS && flag) {
            rc = append(to, list->items[i].keyval, value);
        }
    }
    free(list);
    return rc;
}

int fm_attr_delete_all(enum fm_kind kind, void *object, struct fm_attrs **attrs)
{
    while (*attrs) {
        int rc = delete_at(kind, object, attrs, (*attrs)->n - 1);

        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

void fm_attr_drop(struct fm_attrs **attrs)
{
    free(*attrs);
    *attrs = NULL;
}
