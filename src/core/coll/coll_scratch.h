/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Temporary memory of collectives, kept from call to call. Memory that is fresh from the kernel
 * costs a page fault per 4 KiB, more than all else that a reduction does with it; malloc gives long
 * blocks back to the kernel when they are freed.
 *
 * Blocks have lengths of powers of two. Freed ones are kept up to coll_scratch_max bytes in all.
 * Guarded by the library lock.
 */
#pragma once

#include <stddef.h>

#include "util/compiler.h"

/* Header of a block; `next` is the owner's while the block is in use. */
struct fm_coll_scratch {
    struct fm_coll_scratch *next;
    int order; /* 1 << order bytes */
    char bytes[] FM_ALIGNED(FM_CACHE_LINE);
};

/* At least len bytes, uninitialized; NULL: out of memory. */
struct fm_coll_scratch *fm_coll_scratch_take(size_t len);
/* NULL is fine. */
void fm_coll_scratch_give(struct fm_coll_scratch *block);
/* Free all that is kept. */
void fm_coll_scratch_finish(void);
