/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of objects of one size that never moves and never shrinks.
 *
 * The whole range is reserved in one mapping when the pool is made (no memory is used until an
 * object is touched), so taking and returning is pointer work, there is no system call after
 * fm_pool_init(), and fm_pool_owns() can tell in three instructions whether an arbitrary pointer is
 * an object of the pool: this is how a handle that a user made up is refused instead of followed.
 *
 * A returned object keeps its memory readable. Its first 8 bytes are left as they are (a freed
 * handle's kind, set to 0 by its owner, stays visible); the link of the free list lies behind them.
 *
 * Not thread-safe: guarded by the library lock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/compiler.h"

struct fm_pool {
    char *base;
    size_t stride;    /* bytes, a power of two, >= 64 */
    size_t used_len;  /* bytes from base that were ever handed out */
    size_t max_len;   /* bytes reserved */
    void *free;       /* first returned object */
    uint64_t *n_live; /* how many are handed out: the pool's own word, or see fm_pool_count_in() */
    uint64_t own;
};

/*
 * Reserve room for max_objects objects of obj_len bytes. Returns 0 or -FM_E_NOMEM.
 * An ended pool is all zero and owns nothing.
 */
int fm_pool_init(struct fm_pool *p, size_t obj_len, size_t max_objects);
void fm_pool_finish(struct fm_pool *p);
/* Count the objects that are handed out in this word from now on; it is the caller's, and outlasts
   the pool. */
void fm_pool_count_in(struct fm_pool *p, uint64_t *word);

/* Slow half of fm_pool_get(): the first use of a slot. NULL when the reserved range is full, or the
   pool is none. */
FM_COLD void *fm_pool_grow(struct fm_pool *p);

/* An object, its content undefined, or NULL when the pool is full. */
static inline void *fm_pool_get(struct fm_pool *p)
{
    char *obj = p->free;

    if (FM_UNLIKELY(!obj)) {
        return fm_pool_grow(p);
    }
    p->free = *(void **)(obj + 8);
    ++*p->n_live;
    return obj;
}

static inline void fm_pool_put(struct fm_pool *p, void *obj)
{
    *(void **)((char *)obj + 8) = p->free;
    p->free = obj;
    --*p->n_live;
}

/* True when `obj` is the address of an object that this pool has handed out at some time. */
static inline bool fm_pool_owns(const struct fm_pool *p, const void *obj)
{
    size_t at = (size_t)((const char *)obj - p->base);

    return at < p->used_len && (at & (p->stride - 1)) == 0;
}
