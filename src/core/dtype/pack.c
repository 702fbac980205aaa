/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pack engine: walks the program of a type (dtype_prog.h) and copies.
 *
 * A call descends once to the leaf that holds its position, then goes from leaf to leaf with a
 * stack of its own; the work is done leaf by leaf in the loops of pack_copy.c.
 */
#include "core/dtype/pack.h"

#include <string.h>

#include "core/dtype/pack_copy.h"

#define FM_COPY_CHUNK 16384 /* bounce buffer between two typed buffers: half of a usual L1 cache */

struct level {
    const struct fm_dtype_prog *node;
    MPI_Count i;
    char *base;
};

struct walk {
    const struct fm_dtype_prog *leaf;
    char *base;    /* what leaf->off counts from */
    MPI_Count rem; /* bytes of the leaf that lie behind */
    int depth;
    struct level levels[FM_DTYPE_PROG_DEPTH];
};

static MPI_Count part_of(const struct fm_dtype_prog *node, MPI_Count rem)
{
    const struct fm_dtype_part *parts = node->u.seq.parts;
    MPI_Count lo = 0;
    MPI_Count hi = node->u.seq.n;

    while (hi - lo > 1) {
        MPI_Count mid = lo + (hi - lo) / 2;

        if (parts[mid].pos <= rem) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* Go into child i of the level on top. */
static const struct fm_dtype_prog *enter(const struct level *lv, char **out_base)
{
    const struct fm_dtype_prog *node = lv->node;

    if (node->kind == FM_PROG_LOOP) {
        *out_base = fm_shift(lv->base, node->off + lv->i * node->u.loop.stride);
        return node->u.loop.body;
    }
    *out_base = fm_shift(lv->base, node->off + node->u.seq.parts[lv->i].off);
    return node->u.seq.parts[lv->i].body;
}

/* From a node down to the leaf that holds byte `rem` of it. */
static void descend(struct walk *w, const struct fm_dtype_prog *node, char *base, MPI_Count rem)
{
    while (node->kind == FM_PROG_LOOP || node->kind == FM_PROG_SEQ) {
        struct level *lv = &w->levels[w->depth++];

        *lv = (struct level){.node = node, .base = base};
        if (rem != 0) {
            if (node->kind == FM_PROG_LOOP) {
                lv->i = rem / node->u.loop.body->size;
                rem -= lv->i * node->u.loop.body->size;
            } else {
                lv->i = part_of(node, rem);
                rem -= node->u.seq.parts[lv->i].pos;
            }
        }
        node = enter(lv, &base);
    }
    w->leaf = node;
    w->base = base;
    w->rem = rem;
}

/* To the next leaf, which must exist. */
static void advance(struct walk *w)
{
    struct level *lv = &w->levels[w->depth - 1];
    const struct fm_dtype_prog *node;
    char *base;

    while (++lv->i == (lv->node->kind == FM_PROG_LOOP ? lv->node->u.loop.n : lv->node->u.seq.n)) {
        w->depth--;
        lv--;
    }
    node = enter(lv, &base);
    descend(w, node, base, 0);
}

/* ---------------------------------------------------------------- leaves */

/* n1 rows of n0 blocks of a VEC. */
static void vec_grid(const struct fm_dtype_prog *v, char *row, char *packed, MPI_Count n0,
                     MPI_Count n1, MPI_Count s1, bool is_out)
{
    MPI_Count blk = v->u.vec.blk;
    struct fm_copy_grid g = {.len = (size_t)blk,
                             .n0 = (size_t)n0,
                             .n1 = (size_t)n1,
                             .ps0 = blk,
                             .ps1 = n0 * blk,
                             .ts0 = v->u.vec.s0,
                             .ts1 = s1};

    if (n0 < n1 && n0 < 8) { /* short rows: column by column */
        g = (struct fm_copy_grid){.len = (size_t)blk,
                                  .n0 = (size_t)n1,
                                  .n1 = (size_t)n0,
                                  .ps0 = n0 * blk,
                                  .ps1 = blk,
                                  .ts0 = s1,
                                  .ts1 = v->u.vec.s0};
    }
    fm_copy_grid(&g, packed, row, is_out);
}

/* Part of one row of a VEC: bytes r .. r + len - 1 of its data. */
static void vec_row(const struct fm_dtype_prog *v, char *row, MPI_Count r, char *packed,
                    MPI_Count len, bool is_out)
{
    MPI_Count blk = v->u.vec.blk;
    MPI_Count i = r / blk;
    MPI_Count in = r - i * blk;
    MPI_Count n;

    row = fm_shift(row, i * v->u.vec.s0);
    if (in != 0) {
        n = len < blk - in ? len : blk - in;
        fm_copy_run(packed, row + in, (size_t)n, is_out);
        packed += n;
        len -= n;
        row = fm_shift(row, v->u.vec.s0);
    }
    n = len / blk;
    vec_grid(v, row, packed, n, 1, 0, is_out);
    row = fm_shift(row, n * v->u.vec.s0);
    packed += n * blk;
    len -= n * blk;
    if (len > 0) {
        fm_copy_run(packed, row, (size_t)len, is_out);
    }
}

/* Part of a VEC: len bytes of its data from byte rem on. */
static void vec_copy(const struct fm_dtype_prog *v, char *base, MPI_Count rem, char *packed,
                     MPI_Count len, bool is_out)
{
    MPI_Count row_len = v->u.vec.n0 * v->u.vec.blk;
    char *row = fm_shift(base, v->off);
    MPI_Count left = len;
    MPI_Count n;

    if (rem != 0) {
        MPI_Count i = rem / row_len;

        rem -= i * row_len;
        row = fm_shift(row, i * v->u.vec.s1);
        if (rem != 0) {
            n = left < row_len - rem ? left : row_len - rem;
            vec_row(v, row, rem, packed, n, is_out);
            packed += n;
            left -= n;
            row = fm_shift(row, v->u.vec.s1);
        }
    }
    n = left / row_len;
    vec_grid(v, row, packed, v->u.vec.n0, n, v->u.vec.s1, is_out);
    row = fm_shift(row, n * v->u.vec.s1);
    packed += n * row_len;
    left -= n * row_len;
    if (left > 0) {
        vec_row(v, row, 0, packed, left, is_out);
    }
}

/* The last entry from lo on of a TAB's pos, but for its end, that is not beyond byte r. */
static MPI_Count tab_find(const struct fm_dtype_prog *t, MPI_Count lo, MPI_Count r)
{
    MPI_Count hi = t->u.tab.n;

    while (hi - lo > 1) {
        MPI_Count mid = lo + (hi - lo) / 2;

        if (t->u.tab.pos[mid] <= r) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* The block of a TAB row that holds byte r, and what is left of r in it. */
static MPI_Count tab_block(const struct fm_dtype_prog *t, MPI_Count *r)
{
    MPI_Count i;

    if (!t->u.tab.pos) {
        i = *r / t->u.tab.blk;
        *r -= i * t->u.tab.blk;
    } else {
        i = tab_find(t, 0, *r);
        *r -= t->u.tab.pos[i];
    }
    return i;
}

static MPI_Count tab_len(const struct fm_dtype_prog *t, MPI_Count i)
{
    return t->u.tab.pos ? t->u.tab.pos[i + 1] - t->u.tab.pos[i] : t->u.tab.blk;
}

/* Blocks i to i + n - 1 of one row of a TAB. */
static void tab_blocks(const struct fm_dtype_prog *t, char *row, MPI_Count i, MPI_Count n,
                       char *packed, bool is_out)
{
    const MPI_Count *offs = t->u.tab.offs + i;

    if (t->u.tab.pos) {
        fm_copy_pieces(packed, row, offs, t->u.tab.pos + i, (size_t)n, is_out);
    } else {
        fm_copy_blocks(packed, row, offs, (size_t)n, (size_t)t->u.tab.blk, is_out);
    }
}

/* Part of one row of a TAB: bytes r .. r + len - 1 of its data. */
static void tab_row(const struct fm_dtype_prog *t, char *row, MPI_Count r, char *packed,
                    MPI_Count len, bool is_out)
{
    MPI_Count end = r + len;
    MPI_Count i = tab_block(t, &r);
    MPI_Count last, n;

    if (r != 0) {
        n = tab_len(t, i) - r;
        n = len < n ? len : n;
        fm_copy_run(packed, fm_shift(row, t->u.tab.offs[i] + r), (size_t)n, is_out);
        packed += n;
        len -= n;
        i++;
    }
    if (len == 0) {
        return;
    }
    last = tab_block(t, &end); /* end: bytes of it */
    tab_blocks(t, row, i, last - i, packed, is_out);
    if (end > 0) {
        packed += len - end;
        fm_copy_run(packed, fm_shift(row, t->u.tab.offs[last]), (size_t)end, is_out);
    }
}

/* n whole rows of a TAB with few blocks: block by block over some rows at a time, so that each
   inner loop has one length and the rows stay in the cache. */
static void tab_rows(const struct fm_dtype_prog *t, char *row, char *packed, MPI_Count n,
                     MPI_Count row_len, MPI_Count s1, bool is_out)
{
    MPI_Count step = row_len <= 32 ? 256 : row_len <= 256 ? 64 : 8;
    struct fm_copy_grid g = {.n1 = 1, .ps0 = row_len, .ts0 = s1};

    while (n > 0) {
        MPI_Count m = n < step ? n : step;

        g.n0 = (size_t)m;
        for (MPI_Count i = 0; i < t->u.tab.n; i++) {
            MPI_Count at = t->u.tab.pos ? t->u.tab.pos[i] : i * t->u.tab.blk;

            g.len = (size_t)tab_len(t, i);
            fm_copy_grid(&g, packed + at, fm_shift(row, t->u.tab.offs[i]), is_out);
        }
        packed += m * row_len;
        row = fm_shift(row, m * s1);
        n -= m;
    }
}

/* n whole rows of a TAB, s1 apart. */
static void tab_all(const struct fm_dtype_prog *t, char *row, char *packed, MPI_Count n,
                    MPI_Count s1, bool is_out)
{
    MPI_Count row_len = t->u.tab.pos ? t->u.tab.pos[t->u.tab.n] : t->u.tab.n * t->u.tab.blk;

    if (n >= 4 && t->u.tab.n <= 64) {
        tab_rows(t, row, packed, n, row_len, s1, is_out);
        return;
    }
    for (; n > 0; n--) {
        tab_blocks(t, row, 0, t->u.tab.n, packed, is_out);
        packed += row_len;
        row = fm_shift(row, s1);
    }
}

/* Part of a TAB. */
static void tab_copy(const struct fm_dtype_prog *t, char *base, MPI_Count rem, char *packed,
                     MPI_Count len, bool is_out)
{
    MPI_Count row_len = t->u.tab.pos ? t->u.tab.pos[t->u.tab.n] : t->u.tab.n * t->u.tab.blk;
    MPI_Count i = rem / row_len;
    char *row = fm_shift(base, t->off + i * t->u.tab.s1);
    MPI_Count left = len;
    MPI_Count n;

    rem -= i * row_len;
    while (left > 0) {
        n = left / row_len;
        if (rem == 0 && n > 0) {
            tab_all(t, row, packed, n, t->u.tab.s1, is_out);
            row = fm_shift(row, n * t->u.tab.s1);
            n *= row_len;
        } else {
            n = left < row_len - rem ? left : row_len - rem;
            tab_row(t, row, rem, packed, n, is_out);
            row = fm_shift(row, t->u.tab.s1);
        }
        rem = 0;
        packed += n;
        left -= n;
    }
}

/* A leaf as a whole, n times s1 apart if it has one row, else once. */
static void leaf_all(const struct fm_dtype_prog *leaf, char *base, char *packed, MPI_Count n,
                     MPI_Count s1, bool is_out)
{
    char *row = fm_shift(base, leaf->off);
    MPI_Count n0;

    if (leaf->kind == FM_PROG_TAB) {
        tab_all(leaf, row, packed, n, s1, is_out);
        return;
    }
    n0 = leaf->u.vec.n0;
    if (s1 == n0 * leaf->u.vec.s0) { /* all rows are one */
        n0 *= n;
        n = 1;
    }
    vec_grid(leaf, row, packed, n0, n, s1, is_out);
}

static MPI_Count leaf_rows(const struct fm_dtype_prog *leaf)
{
    return leaf->kind == FM_PROG_VEC ? leaf->u.vec.n1 : leaf->u.tab.n1;
}

static MPI_Count leaf_s1(const struct fm_dtype_prog *leaf)
{
    return leaf->kind == FM_PROG_VEC ? leaf->u.vec.s1 : leaf->u.tab.s1;
}

/* ---------------------------------------------------------------- cursors */

void fm_pack_begin(struct fm_pack *p, const void *buf, MPI_Count count, const struct fm_dtype *t)
{
    p->buf = (char *)buf;
    p->count = count;
    p->dtype = t;
    p->at = 0;
    p->len = count * t->size;
    p->leaf = NULL;
    p->is_leaf_top = false;
    if (p->len > 0 && !t->is_contig) {
        fm_dtype_prog_loop(&p->top, count, t->extent, t->prog);
    }
}

/* The address of byte p->at of a contiguous buffer. */
static FM_INLINE char *contig_at(const struct fm_pack *p)
{
    return fm_shift(p->buf, p->dtype->true_lb + p->at);
}

static size_t pack_move(struct fm_pack *p, char *packed, size_t max, bool is_out)
{
    MPI_Count left = p->len - p->at;
    MPI_Count n;
    struct walk w;

    if ((uint64_t)left > max) {
        left = (MPI_Count)max;
    }
    if (left <= 0) {
        return 0;
    }
    max = (size_t)left;
    if (p->dtype->is_contig) {
        fm_copy_run(packed, contig_at(p), max, is_out);
        p->at += left;
        return max;
    }
    w.depth = 0;
    descend(&w, &p->top, p->buf, p->at);
    p->at += left;
    for (;;) {
        n = w.leaf->size - w.rem;
        n = left < n ? left : n;
        if (n == w.leaf->size) {
            leaf_all(w.leaf, w.base, packed, leaf_rows(w.leaf), leaf_s1(w.leaf), is_out);
        } else if (w.leaf->kind == FM_PROG_VEC) {
            vec_copy(w.leaf, w.base, w.rem, packed, n, is_out);
        } else {
            tab_copy(w.leaf, w.base, w.rem, packed, n, is_out);
        }
        packed += n;
        left -= n;
        if (left == 0) {
            return max;
        }
        advance(&w);
    }
}

size_t fm_pack_out(struct fm_pack *p, void *dst, size_t len)
{
    return pack_move(p, dst, len, true);
}

size_t fm_pack_in(struct fm_pack *p, const void *src, size_t len)
{
    return pack_move(p, (char *)src, len, false);
}

/* The block of a leaf that holds its byte r: where that byte lies, and how many follow in it. */
static MPI_Count leaf_piece(const struct fm_dtype_prog *leaf, char *base, MPI_Count r,
                            char **out_addr)
{
    MPI_Count row_len;
    MPI_Count i;

    if (leaf->kind == FM_PROG_VEC) {
        row_len = leaf->u.vec.n0 * leaf->u.vec.blk;
        i = r / row_len;
        base = fm_shift(base, leaf->off + i * leaf->u.vec.s1);
        r -= i * row_len;
        i = r / leaf->u.vec.blk;
        r -= i * leaf->u.vec.blk;
        *out_addr = fm_shift(base, i * leaf->u.vec.s0 + r);
        return leaf->u.vec.blk - r;
    }
    row_len = leaf->size / leaf->u.tab.n1;
    i = r / row_len;
    base = fm_shift(base, leaf->off + i * leaf->u.tab.s1);
    r -= i * row_len;
    i = tab_block(leaf, &r);
    *out_addr = fm_shift(base, leaf->u.tab.offs[i] + r);
    return tab_len(leaf, i) - r;
}

size_t fm_pack_piece(struct fm_pack *p, size_t max, void **out_addr)
{
    MPI_Count left = p->len - p->at;
    const struct fm_dtype_prog *leaf;
    char *addr;
    MPI_Count n;

    if (left <= 0 || max == 0) {
        return 0;
    }
    if (p->dtype->is_contig) {
        addr = contig_at(p);
        n = left;
    } else {
        leaf = p->is_leaf_top ? &p->top : p->leaf;
        if (!p->leaf || p->at < p->leaf_at || p->at - p->leaf_at >= leaf->size) {
            struct walk w;

            w.depth = 0;
            descend(&w, &p->top, p->buf, p->at);
            leaf = p->leaf = w.leaf;
            p->is_leaf_top = leaf == &p->top;
            p->leaf_base = w.base;
            p->leaf_at = p->at - w.rem;
        }
        n = leaf_piece(leaf, p->leaf_base, p->at - p->leaf_at, &addr);
    }
    if ((uint64_t)n > max) {
        n = (MPI_Count)max;
    }
    p->at += n;
    *out_addr = addr;
    return (size_t)n;
}

/* All bytes of count elements. Types that are one leaf need no cursor. */
static void move_all(char *packed, char *typed, MPI_Count count, const struct fm_dtype *t,
                     bool is_out)
{
    const struct fm_dtype_prog *prog = t->prog;
    struct fm_pack p;

    if (t->is_contig) {
        fm_copy_run(packed, fm_shift(typed, t->true_lb), (size_t)(count * t->size), is_out);
    } else if (prog->kind > FM_PROG_TAB || (count != 1 && leaf_rows(prog) != 1)) {
        fm_pack_begin(&p, typed, count, t);
        pack_move(&p, packed, (size_t)p.len, is_out);
    } else if (count == 1) {
        leaf_all(prog, typed, packed, leaf_rows(prog), leaf_s1(prog), is_out);
    } else {
        leaf_all(prog, typed, packed, count, t->extent, is_out);
    }
}

void fm_pack_all(void *dst, const void *buf, MPI_Count count, const struct fm_dtype *t)
{
    move_all(dst, (char *)buf, count, t, true);
}

void fm_unpack_all(void *buf, MPI_Count count, const struct fm_dtype *t, const void *src,
                   MPI_Count len)
{
    struct fm_pack p;

    if (len >= count * t->size) {
        move_all((char *)src, buf, count, t, false);
        return;
    }
    fm_pack_begin(&p, buf, count, t);
    fm_pack_in(&p, src, (size_t)len);
}

void fm_copy_typed(void *dst, MPI_Count dst_count, const struct fm_dtype *dst_type, const void *src,
                   MPI_Count src_count, const struct fm_dtype *src_type)
{
    struct fm_pack in;
    struct fm_pack out;
    char chunk[FM_COPY_CHUNK];
    size_t n;

    fm_pack_begin(&out, src, src_count, src_type);
    fm_pack_begin(&in, dst, dst_count, dst_type);
    if (src_type->is_contig) {
        fm_pack_in(&in, contig_at(&out), (size_t)out.len);
        return;
    }
    if (dst_type->is_contig) {
        fm_pack_out(&out, contig_at(&in), (size_t)in.len);
        return;
    }
    while (in.at < in.len && (n = fm_pack_out(&out, chunk, sizeof(chunk))) > 0) {
        fm_pack_in(&in, chunk, n);
    }
}
