/* SPDX-License-Identifier: BSD-3-Clause */
/* Copy with the non-temporal stores of SSE2, which every x86-64 has. */
#include <emmintrin.h>
#include <string.h>

#include "transport/shm/shm_bulk.h"

void fm_shm_stream_copy(void *to, const void *from, size_t len)
{
    const char *f = from;
    char *t = to;

    for (; len >= FM_CACHE_LINE; len -= FM_CACHE_LINE) {
        __m128i a = _mm_loadu_si128((const __m128i *)f);
        __m128i b = _mm_loadu_si128((const __m128i *)(f + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(f + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(f + 48));

        _mm_stream_si128((__m128i *)t, a);
        _mm_stream_si128((__m128i *)(t + 16), b);
        _mm_stream_si128((__m128i *)(t + 32), c);
        _mm_stream_si128((__m128i *)(t + 48), d);
        t += FM_CACHE_LINE;
        f += FM_CACHE_LINE;
    }
    memcpy(t, f, len);
    _mm_sfence(); /* nothing else orders non-temporal stores */
}
