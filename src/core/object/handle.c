/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, predefined and dynamic. */
#include "core/object/handle.h"

#include <stdbool.h>
#include <string.h>

#include "core/object/request.h"
#include "util/status.h"

struct fm_request_words fm_request_nowhere; /* guarded by the library lock */

/* The one root of the object room; see handle.h for what guards it. */
struct fm_root fm_root = {.rank = -1,
                          .lock = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP},
                          .lasting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                          .request_words = &fm_request_nowhere};

void fm_handle_leave_shared(void)
{
    if (fm_root.wake) {
        fm_root.wake();
    }
    fm_lock_drop(&fm_root.lock);
}

int fm_handle_pool(enum fm_kind kind, size_t obj_len, size_t max_objects)
{
    if (fm_root.pools[kind].base) {
        return 0;
    }
    return fm_pool_init(&fm_root.pools[kind], obj_len, max_objects);
}

/* MPI-5.0 11.4: these work before MPI_Init and after MPI_Finalize. */
static bool is_lasting(unsigned kind)
{
    return kind == FM_KIND_INFO || kind == FM_KIND_ERRHANDLER;
}

void fm_handle_finish(void)
{
    /* First the table: what it names may lie in the pools. */
    for (size_t i = 0; i < FM_HANDLE_RESERVED; i++) {
        if (fm_root.predefined[i] && !is_lasting(fm_root.predefined[i]->kind)) {
            fm_root.predefined[i] = NULL;
        }
    }
    for (unsigned kind = 0; kind < FM_KIND_COUNT; kind++) {
        if (!is_lasting(kind)) {
            fm_pool_finish(&fm_root.pools[kind]);
        }
    }
}

void *fm_object_new(enum fm_kind kind)
{
    struct fm_object *o = fm_object_new_bare(kind);

    if (o) {
        memset(o + 1, 0, fm_root.pools[kind].stride - sizeof(*o));
    }
    return o;
}

void *fm_object_no_room(enum fm_kind kind)
{
    fm_fail(-FM_E_NOMEM, "too many live objects of one kind (%llu)",
            (unsigned long long)fm_root.pools[kind].n_live);
    return NULL;
}

void fm_object_free(void *object)
{
    struct fm_object *o = object;
    struct fm_pool *pool = &fm_root.pools[o->kind];

    o->kind = FM_KIND_NONE;
    o->refs = 0;
    fm_pool_put(pool, o);
}

void fm_handle_predefine(const void *handle, void *object)
{
    fm_assert((uintptr_t)handle < FM_HANDLE_RESERVED);
    fm_root.predefined[(uintptr_t)handle] = object;
    if (object) {
        ((struct fm_object *)object)->handle = (uint16_t)(uintptr_t)handle;
    }
}

/* What messages say about a kind. */
static const struct {
    const char *name;
    const char *null_name;
    const void *null;
} kinds[FM_KIND_COUNT] = {
    [FM_KIND_NONE] = {"object", "NULL", NULL},
    [FM_KIND_COMM] = {"communicator", "MPI_COMM_NULL", MPI_COMM_NULL},
    [FM_KIND_GROUP] = {"group", "MPI_GROUP_NULL", MPI_GROUP_NULL},
    [FM_KIND_REQUEST] = {"request", "MPI_REQUEST_NULL", MPI_REQUEST_NULL},
    [FM_KIND_MESSAGE] = {"message", "MPI_MESSAGE_NULL", MPI_MESSAGE_NULL},
    [FM_KIND_DTYPE] = {"datatype", "MPI_DATATYPE_NULL", MPI_DATATYPE_NULL},
    [FM_KIND_OP] = {"operation", "MPI_OP_NULL", MPI_OP_NULL},
    [FM_KIND_INFO] = {"info object", "MPI_INFO_NULL", MPI_INFO_NULL},
    [FM_KIND_ERRHANDLER] = {"error handler", "MPI_ERRHANDLER_NULL", MPI_ERRHANDLER_NULL},
    [FM_KIND_WIN] = {"window", "MPI_WIN_NULL", MPI_WIN_NULL},
    [FM_KIND_FILE] = {"file", "MPI_FILE_NULL", MPI_FILE_NULL},
    [FM_KIND_SESSION] = {"session", "MPI_SESSION_NULL", MPI_SESSION_NULL},
};

const char *fm_kind_name(enum fm_kind kind)
{
    return kinds[kind].name;
}

const char *fm_kind_null_name(enum fm_kind kind)
{
    return kinds[kind].null_name;
}

bool fm_handle_is_null(enum fm_kind kind, const void *handle)
{
    return !handle || handle == kinds[kind].null;
}
