/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler's attributes under short names; the only header that may ask which compiler it is.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FM_LIKELY(x)   __builtin_expect(!!(x), 1)
#define FM_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A slow branch of a hot file: never inlined, placed away from the hot text. */
#define FM_COLD         __attribute__((cold, noinline))
#define FM_INLINE       inline __attribute__((always_inline))
#define FM_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define FM_EXPORT       __attribute__((visibility("default")))

/* Loops over arrays that should become vector code at any level of optimization. */
#if defined(__GNUC__) && !defined(__clang__)
#define FM_FAST_LOOPS __attribute__((optimize("O3")))
#else
#define FM_FAST_LOOPS
#endif

#define FM_CACHE_LINE 64
#define FM_ALIGNED(n) __attribute__((aligned(n)))

#define FM_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* A counter or an event in hot code: one statement that -Dstats=false removes. The compiler still
   sees the names in it as used. */
#define FM_STAT(x)                                                                                 \
    do {                                                                                           \
        if (FM_STATS) {                                                                            \
            x;                                                                                     \
        }                                                                                          \
    } while (0)

/* The processor's hint for spin loops. */
#if defined(__x86_64__) || defined(__i386__)
#define FM_CPU_RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define FM_CPU_RELAX() __asm__ volatile("yield")
#else
#define FM_CPU_RELAX() ((void)0)
#endif

/* From a member's address to the struct that holds it. */
#define fm_container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* For our own mistakes only, never for what a user or a peer sends. */
#ifdef NDEBUG
#define fm_assert(x) ((void)sizeof(!(x)))
#else
#include <assert.h>
#define fm_assert(x) assert(x)
#endif
