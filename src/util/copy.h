/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying of what is mostly short. In steps of 8 bytes, although wider ones would be fewer: what
 * is copied was often written a moment ago in pieces of 8, and a processor hands those over from
 * its store buffer only to loads that are no wider; others wait until all stores before them have
 * reached the cache, which takes a transfer of a line when one of them went to shared memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/compiler.h"

#define FM_COPY_SHORT 64 /* bytes up to which no call is made */

FM_INLINE void fm_copy(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;

    if (FM_UNLIKELY(n > FM_COPY_SHORT)) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        for (size_t k = 0; k + 8 < n; k += 8) {
            memcpy(t + k, f + k, 8);
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
