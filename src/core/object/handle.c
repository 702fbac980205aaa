/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, predefined and dynamic. */
#include "core/object/handle.h"

#include <string.h>

#include "util/status.h"

/* The one root of the object room; see handle.h for what guards it. */
struct fm_root fm_root = {.rank = -1, .lock = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP}};

int fm_handle_pool(enum fm_kind kind, size_t obj_len, size_t max_objects)
{
    if (fm_root.pools[kind].base) {
        return 0;
    }
    return fm_pool_init(&fm_root.pools[kind], obj_len, max_objects);
}

void fm_handle_finish(void)
{
    for (int kind = 0; kind < FM_KIND_COUNT; kind++) {
        fm_pool_finish(&fm_root.pools[kind]);
    }
    memset(fm_root.predefined, 0, sizeof(fm_root.predefined));
}

void *fm_object_new(enum fm_kind kind)
{
    struct fm_pool *pool = &fm_root.pools[kind];
    struct fm_object *o = pool->base ? fm_pool_get(pool) : NULL;

    if (!o) {
        fm_fail(-FM_E_NOMEM, "too many live objects of one kind (%llu)",
                (unsigned long long)pool->n_live);
        return NULL;
    }
    memset(o, 0, pool->stride);
    o->kind = (uint32_t)kind;
    o->refs = 1;
    return o;
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
}

void *fm_handle_of(const void *object)
{
    for (size_t i = 0; i < FM_HANDLE_RESERVED; i++) {
        if (fm_root.predefined[i] == object) {
            return (void *)i;
        }
    }
    return (void *)object;
}
