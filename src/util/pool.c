/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed-size object pools in a reserved range. */
#include "util/pool.h"

#include <string.h>
#include <sys/mman.h>

#include "util/status.h"

int fm_pool_init(struct fm_pool *p, size_t obj_len, size_t max_objects)
{
    size_t stride = FM_CACHE_LINE;
    size_t len;
    void *base;

    while (stride < obj_len) {
        stride *= 2;
    }
    if (__builtin_mul_overflow(stride, max_objects, &len)) {
        return fm_fail(-FM_E_NOMEM, "a pool of %zu objects of %zu bytes is too large", max_objects,
                       obj_len);
    }
    base =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return fm_fail(-FM_E_NOMEM, "cannot reserve %zu bytes of address space (see ulimit -v)",
                       len);
    }
    memset(p, 0, sizeof(*p));
    p->base = base;
    p->stride = stride;
    p->max_len = len;
    p->n_live = &p->own;
    return 0;
}

void fm_pool_finish(struct fm_pool *p)
{
    if (p->base) {
        *p->n_live = 0;
        munmap(p->base, p->max_len);
    }
    memset(p, 0, sizeof(*p));
}

void fm_pool_count_in(struct fm_pool *p, uint64_t *word)
{
    *word = *p->n_live;
    p->n_live = word;
}

void *fm_pool_grow(struct fm_pool *p)
{
    void *obj;

    if (!p->base || p->used_len + p->stride > p->max_len) {
        return NULL;
    }
    obj = p->base + p->used_len;
    p->used_len += p->stride;
    ++*p->n_live;
    return obj;
}
