/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of mostly short data, in steps of 8 bytes. Wider steps would be fewer, but the data was
 * often written just before in words of 8 bytes: store-to-load forwarding serves only loads that
 * are no wider than the store. A wider load waits until all earlier stores have reached the cache,
 * which takes the transfer of a cache line where one of them went to shared memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/compiler.h"

#define FM_COPY_SHORT 64 /* bytes; longer copies call memcpy() */

/* Copy n words of 8 bytes, at most 7. No loop: compilers would turn it into wider steps. */
static FM_INLINE void fm_copy_words(char *t, const char *f, size_t n)
{
    switch (n) {
    case 7:
        memcpy(t + 48, f + 48, 8); /* fallthrough */
    case 6:
        memcpy(t + 40, f + 40, 8); /* fallthrough */
    case 5:
        memcpy(t + 32, f + 32, 8); /* fallthrough */
    case 4:
        memcpy(t + 24, f + 24, 8); /* fallthrough */
    case 3:
        memcpy(t + 16, f + 16, 8); /* fallthrough */
    case 2:
        memcpy(t + 8, f + 8, 8); /* fallthrough */
    case 1:
        memcpy(t, f, 8); /* fallthrough */
    default:
        break;
    }
}

/* Copy at most FM_COPY_SHORT bytes. */
static FM_INLINE void fm_copy_short(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;

    if (n >= 8) {
        if (n > 8) {
            fm_copy_words(t, f, (n - 1) / 8);
        }
        memcpy(t + n - 8, f + n - 8, 8);
    } else if (n >= 4) {
        uint32_t first, last;

        memcpy(&first, f, 4);
        memcpy(&last, f + n - 4, 4);
        memcpy(t, &first, 4);
        memcpy(t + n - 4, &last, 4);
    } else {
        for (size_t k = 0; k < n; k++) {
            t[k] = f[k];
        }
    }
}

static FM_INLINE void fm_copy(void *to, const void *from, size_t n)
{
    if (FM_UNLIKELY(n > FM_COPY_SHORT)) {
        memcpy(to, from, n);
    } else {
        fm_copy_short(to, from, n);
    }
}
