/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The innermost copy loops of the pack engine.
 *
 * Packing and unpacking are one text, made twice by inlining with a constant direction. Blocks of a
 * size that is a machine word are copied by loops of their own, since the compiler makes one load
 * and one store of a memcpy of a constant size. Which loop it is is asked once per call; the loops
 * are made here once and nowhere inlined further, for each is made of many.
 */
#include "core/dtype/pack_copy.h"

/* From this stride on few blocks share a page. */
#define WIDE 1024

/* So many blocks that their lines do not stay in the innermost cache from one time to the next. */
#define MANY 500

/* Blocks from here on take long enough to fetch the beginning of the next one meanwhile. */
#define LONG 512

/* half <= len <= 2 * half bytes by two moves that may overlap. */
static FM_INLINE void copy_halves(char *packed, char *typed, size_t len, size_t half, bool is_out)
{
    fm_copy_run(packed, typed, half, is_out);
    fm_copy_run(packed + len - half, typed + len - half, half, is_out);
}

static FM_INLINE void copy_small(char *packed, char *typed, size_t len, bool is_out)
{
    if (len > 32) {
        if (len > 64) {
            fm_copy_run(packed, typed, len, is_out);
        } else {
            copy_halves(packed, typed, len, 32, is_out);
        }
    } else if (len >= 16) {
        copy_halves(packed, typed, len, 16, is_out);
    } else if (len >= 8) {
        copy_halves(packed, typed, len, 8, is_out);
    } else if (len >= 4) {
        copy_halves(packed, typed, len, 4, is_out);
    } else if (len >= 2) {
        copy_halves(packed, typed, len, 2, is_out);
    } else {
        fm_copy_run(packed, typed, len, is_out);
    }
}

typedef uint64_t words8 __attribute__((vector_size(16)));
typedef uint32_t words4 __attribute__((vector_size(16)));

/*
 * Four words at four places, one behind the other when packed: joined in vector registers, so that
 * the packed side sees 16 bytes at a time.
 */
static FM_INLINE void copy_four_8(char *packed, char *a, char *b, char *c, char *d, bool is_out)
{
    uint64_t w[4];
    words8 v[2];

    if (is_out) {
        memcpy(&w[0], a, 8);
        memcpy(&w[1], b, 8);
        memcpy(&w[2], c, 8);
        memcpy(&w[3], d, 8);
        v[0] = (words8){w[0], w[1]};
        v[1] = (words8){w[2], w[3]};
        memcpy(packed, &v[0], 16);
        memcpy(packed + 16, &v[1], 16);
    } else {
        memcpy(&v[0], packed, 16);
        memcpy(&v[1], packed + 16, 16);
        memcpy(a, &v[0], 8);
        memcpy(b, (char *)&v[0] + 8, 8);
        memcpy(c, &v[1], 8);
        memcpy(d, (char *)&v[1] + 8, 8);
    }
}

static FM_INLINE void copy_four_4(char *packed, char *a, char *b, char *c, char *d, bool is_out)
{
    uint32_t w[4];
    words4 v;

    if (is_out) {
        memcpy(&w[0], a, 4);
        memcpy(&w[1], b, 4);
        memcpy(&w[2], c, 4);
        memcpy(&w[3], d, 4);
        v = (words4){w[0], w[1], w[2], w[3]};
        memcpy(packed, &v, 16);
    } else {
        memcpy(a, packed, 4);
        memcpy(b, packed + 4, 4);
        memcpy(c, packed + 8, 4);
        memcpy(d, packed + 12, 4);
    }
}

/* Four blocks of `len` bytes that are one behind the other when packed. */
static FM_INLINE void copy_four(char *packed, char *a, char *b, char *c, char *d, size_t len,
                                bool is_out)
{
    if (len == 8) {
        copy_four_8(packed, a, b, c, d, is_out);
    } else if (len == 4) {
        copy_four_4(packed, a, b, c, d, is_out);
    } else {
        fm_copy_run(packed, a, len, is_out);
        fm_copy_run(packed + len, b, len, is_out);
        fm_copy_run(packed + 2 * len, c, len, is_out);
        fm_copy_run(packed + 3 * len, d, len, is_out);
    }
}

/* ---------------------------------------------------------------- rows */

/*
 * A row of n blocks of `len` bytes, constant where inlined: packed without gaps, ts apart typed.
 *
 * Four at a time, but not for all wide strides. Those that are multiples of WIDE fall into few sets
 * of the caches, and what the processor fetches ahead by itself comes late: one block at a time
 * with a little help is faster. Stores that leap do best one by one.
 */
static FM_INLINE void row_dense(char *packed, char *typed, ptrdiff_t ts, size_t n, size_t len,
                                bool is_out)
{
    bool is_wide = ts >= WIDE || ts <= -WIDE;
    bool is_odd = is_out && ts % WIDE != 0;
    size_t fours = !is_wide || is_odd ? n / 4 : 0;

    n -= 4 * fours;
    for (; fours > 0; fours--) {
        copy_four(packed, typed, typed + ts, typed + 2 * ts, typed + 3 * ts, len, is_out);
        packed += 4 * len;
        typed += 4 * ts;
    }
    for (; is_out && n > MANY; n--) {
        __builtin_prefetch(fm_shift(typed, 3 * ts));
        fm_copy_run(packed, typed, len, is_out);
        packed += len;
        typed += ts;
    }
    for (; n > 0; n--) {
        fm_copy_run(packed, typed, len, is_out);
        packed += len;
        typed += ts;
    }
}

/* The same, but ps apart packed. */
static FM_INLINE void row_loose(char *packed, ptrdiff_t ps, char *typed, ptrdiff_t ts, size_t n,
                                size_t len, bool is_out)
{
    for (; n >= 4; n -= 4) {
        fm_copy_run(packed, typed, len, is_out);
        fm_copy_run(packed + ps, typed + ts, len, is_out);
        fm_copy_run(packed + 2 * ps, typed + 2 * ts, len, is_out);
        fm_copy_run(packed + 3 * ps, typed + 3 * ts, len, is_out);
        packed += 4 * ps;
        typed += 4 * ts;
    }
    for (; n > 0; n--) {
        fm_copy_run(packed, typed, len, is_out);
        packed += ps;
        typed += ts;
    }
}

/* A grid of blocks of a constant size. */
static FM_INLINE void grid_const(const struct fm_copy_grid *g, char *packed, char *typed,
                                 size_t len, bool is_out)
{
    bool is_dense = (len == 8 || len == 4) && g->ps0 == (ptrdiff_t)len;

    for (size_t n = g->n1; n > 0; n--) {
        if (is_dense) {
            row_dense(packed, typed, g->ts0, g->n0, len, is_out);
        } else {
            row_loose(packed, g->ps0, typed, g->ts0, g->n0, len, is_out);
        }
        packed += g->ps1;
        typed += g->ts1;
    }
}

/* A grid of blocks of any length. The next one is asked for while one is copied: wide strides wait
   for memory at the beginning of each. */
static FM_INLINE void grid_long(const struct fm_copy_grid *g, char *packed, char *typed,
                                bool is_out)
{
    for (size_t n = g->n1; n > 0; n--) {
        char *p = packed, *t = typed;

        for (size_t i = g->n0; i > 0; i--) {
            char *next = fm_shift(t, g->ts0);

            if (g->len >= LONG) {
                __builtin_prefetch(next, is_out ? 0 : 1);
            }
            fm_copy_run(p, t, g->len, is_out);
            p += g->ps0;
            t = next;
        }
        packed += g->ps1;
        typed += g->ts1;
    }
}

/* A grid of blocks of half to 2 * half bytes, half being constant where inlined. */
static FM_INLINE void grid_odd(const struct fm_copy_grid *g, char *packed, char *typed, size_t half,
                               bool is_out)
{
    for (size_t n = g->n1; n > 0; n--) {
        char *p = packed, *t = typed;

        for (size_t i = g->n0; i > 0; i--) {
            copy_halves(p, t, g->len, half, is_out);
            p += g->ps0;
            t += g->ts0;
        }
        packed += g->ps1;
        typed += g->ts1;
    }
}

static FM_INLINE void grid(const struct fm_copy_grid *g, char *packed, char *typed, bool is_out)
{
    if (g->len == 8) {
        grid_const(g, packed, typed, 8, is_out);
    } else if (g->len == 4) {
        grid_const(g, packed, typed, 4, is_out);
    } else if (g->len == 16) {
        grid_const(g, packed, typed, 16, is_out);
    } else if (g->len > 128) {
        grid_long(g, packed, typed, is_out);
    } else if (g->len > 64) {
        grid_odd(g, packed, typed, 64, is_out);
    } else if (g->len > 32) {
        grid_odd(g, packed, typed, 32, is_out);
    } else if (g->len > 16) {
        grid_odd(g, packed, typed, 16, is_out);
    } else if (g->len > 8) {
        grid_odd(g, packed, typed, 8, is_out);
    } else if (g->len > 4) {
        grid_odd(g, packed, typed, 4, is_out);
    } else if (g->len > 1) {
        grid_odd(g, packed, typed, 2, is_out);
    } else {
        grid_const(g, packed, typed, 1, is_out);
    }
}

void fm_copy_grid(const struct fm_copy_grid *of, char *packed, char *typed, bool is_out)
{
    struct fm_copy_grid g =
        *of; /* into registers: the bytes copied might be *of, for all one knows */

    if (is_out) {
        grid(&g, packed, typed, true);
    } else {
        grid(&g, packed, typed, false);
    }
}

/* ---------------------------------------------------------------- blocks at offsets */

/* n blocks of `len` bytes, constant where inlined. */
static FM_INLINE void blocks_const(char *packed, char *typed, const int64_t *offs, size_t n,
                                   size_t len, bool is_out)
{
    size_t i = 0;

    for (; is_out && i + 4 <= n; i += 4) {
        copy_four(packed, fm_shift(typed, offs[i]), fm_shift(typed, offs[i + 1]),
                  fm_shift(typed, offs[i + 2]), fm_shift(typed, offs[i + 3]), len, is_out);
        packed += 4 * len;
    }
    for (; i < n; i++) {
        fm_copy_run(packed, fm_shift(typed, offs[i]), len, is_out);
        packed += len;
    }
}

static FM_INLINE void blocks(char *packed, char *typed, const int64_t *offs, size_t n, size_t len,
                             bool is_out)
{
    if (len == 8) {
        blocks_const(packed, typed, offs, n, 8, is_out);
    } else if (len == 4) {
        blocks_const(packed, typed, offs, n, 4, is_out);
    } else if (len == 16) {
        blocks_const(packed, typed, offs, n, 16, is_out);
    } else if (len == 24) {
        blocks_const(packed, typed, offs, n, 24, is_out);
    } else if (len == 32) {
        blocks_const(packed, typed, offs, n, 32, is_out);
    } else {
        for (size_t i = 0; i < n; i++) {
            copy_small(packed, fm_shift(typed, offs[i]), len, is_out);
            packed += len;
        }
    }
}

void fm_copy_blocks(char *packed, char *typed, const int64_t *offs, size_t n, size_t len,
                    bool is_out)
{
    if (is_out) {
        blocks(packed, typed, offs, n, len, true);
    } else {
        blocks(packed, typed, offs, n, len, false);
    }
}

static FM_INLINE void pieces(char *packed, char *typed, const int64_t *offs, const int64_t *pos,
                             size_t n, bool is_out)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(pos[i + 1] - pos[i]);

        copy_small(packed, fm_shift(typed, offs[i]), len, is_out);
        packed += len;
    }
}

void fm_copy_pieces(char *packed, char *typed, const int64_t *offs, const int64_t *pos, size_t n,
                    bool is_out)
{
    if (is_out) {
        pieces(packed, typed, offs, pos, n, true);
    } else {
        pieces(packed, typed, offs, pos, n, false);
    }
}
