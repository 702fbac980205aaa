/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed-size object pools in a reserved range. */
#include "util/pool.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "util/status.h"

#define FIRST_STEP ((size_t)64 << 10)
#define LAST_STEP  ((size_t)4 << 20)

/* Part of a limited address space that one pool may take; a process has about ten pools. */
#define MAX_SHARE 32

/* `len` bytes, or less where the address space is limited; at least one step, whole pages. */
static size_t limit_len(size_t len)
{
    struct rlimit space;

    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        len > space.rlim_cur / MAX_SHARE) {
        size_t most = (size_t)space.rlim_cur / MAX_SHARE / LAST_STEP * LAST_STEP;

        return most < LAST_STEP && len > LAST_STEP ? LAST_STEP : most < len ? most : len;
    }
    return len;
}

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
    len = limit_len(len);
    base = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return fm_fail(-FM_E_NOMEM, "cannot reserve %zu bytes of address space (see ulimit -v)",
                       len);
    }
    (void)madvise(base, len, MADV_DONTDUMP); /* a hint: older kernels dump the range as a hole */
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

/* Make more of the range accessible. False: the range is used up, or there is no memory. */
static bool open_step(struct fm_pool *p)
{
    size_t step = p->open_len < FIRST_STEP ? FIRST_STEP : p->open_len;
    size_t left = p->max_len - p->open_len;

    step = step > LAST_STEP ? LAST_STEP : step;
    step = step > left ? left : step;
    if (step == 0 || mprotect(p->base + p->open_len, step, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    (void)madvise(p->base + p->open_len, step, MADV_DODUMP);
    p->open_len += step;
    return true;
}

void *fm_pool_grow(struct fm_pool *p)
{
    void *obj;

    if (!p->base || p->used_len + p->stride > p->max_len) {
        return NULL;
    }
    while (p->used_len + p->stride > p->open_len) {
        if (!open_step(p)) {
            return NULL;
        }
    }
    obj = p->base + p->used_len;
    p->used_len += p->stride;
    ++*p->n_live;
    return obj;
}
