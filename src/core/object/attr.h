/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keyvals and cached attributes (MPI-5.0 7.7) of communicators, windows and datatypes: one table of
 * keyvals, one small list per object.
 */
#pragma once

#include <stdbool.h>

#include "core/object/handle.h"

struct fm_attrs; /* the attributes of one object; NULL is an empty one */

/* The user's functions, as MPI_*_create_keyval gets them; called with the object's handle. */
struct fm_keyval_fns {
    void *copy;   /* MPI_Comm_copy_attr_function * and the like, or the ABI's NULL/DUP constants */
    void *delete; /* MPI_Comm_delete_attr_function * and the like */
    void *extra;
};

/* A keyval for objects of a kind; *out_keyval > 0 and outside the predefined ones. */
int fm_keyval_create(enum fm_kind kind, const struct fm_keyval_fns *fns, int *out_keyval);
/* 0, or -FM_E_NOENT when it is none of this kind. Lives on, and may be named in all calls, freed
   again too, while attributes use it (7.7.2). */
int fm_keyval_free(enum fm_kind kind, int keyval);

/* All return 0, -FM_E_NOENT (not a keyval of this kind), -FM_E_NOMEM, or a positive MPI error code
   that a callback of the user returned. `object` is the fm_comm etc. whose attrs these are. */
int fm_attr_set(enum fm_kind kind, void *object, struct fm_attrs **attrs, int keyval, void *value);
int fm_attr_get(enum fm_kind kind, struct fm_attrs *attrs, int keyval, void **out_value,
                bool *out_found);
int fm_attr_delete(enum fm_kind kind, void *object, struct fm_attrs **attrs, int keyval);
/* For dup: copy callbacks in order. For free: delete callbacks in reverse order of setting. */
int fm_attr_copy_all(enum fm_kind kind, void *old_object, struct fm_attrs *from,
                     struct fm_attrs **to);
int fm_attr_delete_all(enum fm_kind kind, void *object, struct fm_attrs **attrs);
/* Forget them without calling anybody: of objects that the user has left behind. */
void fm_attr_drop(struct fm_attrs **attrs);
