/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool of objects of one size that never moves and never shrinks.
 *
 * fm_pool_init() reserves the whole range of addresses without access (PROT_NONE) and excludes it
 * from core files. fm_pool_grow() makes it accessible in steps, each as long as all before it up to
 * 4 MiB, so that a process has no more writable address space than it needs (ulimit -v, mlockall,
 * overcommit_memory=2). Get and put are pointer operations. One range per pool lets fm_pool_owns()
 * tell in three instructions whether a pointer is an object of the pool: a handle that a user made
 * up is refused, not followed.
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
    size_t open_len;  /* bytes from base that are accessible */
    size_t max_len;   /* bytes reserved */
    void *free;       /* first returned object */
    uint64_t *n_live; /* how many are handed out: the pool's own word, or see fm_pool_count_in() */
    uint64_t own;
};

/*
 * Reserve space for max_objects objects of obj_len bytes; for fewer where RLIMIT_AS (ulimit -v) is
 * set, so that all pools of a process take a third of it at most. Returns 0 or -FM_E_NOMEM. A
 * finished pool is all zero and owns nothing.
 */
int fm_pool_init(struct fm_pool *p, size_t obj_len, size_t max_objects);
void fm_pool_finish(struct fm_pool *p);
/* Count the objects that are handed out in this word from now on; it is the caller's, and outlasts
   the pool. */
void fm_pool_count_in(struct fm_pool *p, uint64_t *word);

/* Slow half of fm_pool_get(): the first use of a slot. NULL when the reserved range is full, the
   system has no memory, or the pool is finished. */
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
