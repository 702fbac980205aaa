/* SPDX-License-Identifier: BSD-3-Clause */
/* From a type's program to a description that travels, and back. */
#include "core/dtype/pack_runs.h"

MPI_Count fm_pack_n_pieces(MPI_Count count, const struct fm_dtype *t)
{
    MPI_Count n;

    if (t->is_contig) {
        return 1;
    }
    return __builtin_mul_overflow(count, t->prog->n_runs, &n) ? INT64_MAX : n;
}

/* ---------------------------------------------------------------- describing */

struct list {
    struct fm_pack_run *runs;
    int n, max;
    MPI_Count first, end;
};

static MPI_Count lesser(MPI_Count a, MPI_Count b)
{
    return a < b ? a : b;
}

static bool add(struct list *l, const struct fm_pack_run *r)
{
    MPI_Count d0 = (r->n0 - 1) * r->s0;
    MPI_Count d1 = (r->n1 - 1) * r->s1;
    MPI_Count first = r->off + lesser(d0, 0) + lesser(d1, 0);
    MPI_Count end = r->off + (d0 > 0 ? d0 : 0) + (d1 > 0 ? d1 : 0) + r->len;

    if (l->n == l->max) {
        return false;
    }
    l->first = l->n == 0 ? first : lesser(l->first, first);
    l->end = l->n == 0 || end > l->end ? end : l->end;
    l->runs[l->n++] = *r;
    return true;
}

/* Each row of blocks on its own, unless a block is all that there is in a row. */
static bool add_tab(struct list *l, const struct fm_dtype_prog *t, MPI_Count base)
{
    for (MPI_Count row = 0; row < t->u.tab.n1; row++) {
        for (MPI_Count i = 0; i < t->u.tab.n; i++) {
            MPI_Count len = t->u.tab.pos ? t->u.tab.pos[i + 1] - t->u.tab.pos[i] : t->u.tab.blk;
            struct fm_pack_run r = {.off = base + t->off + row * t->u.tab.s1 + t->u.tab.offs[i],
                                    .len = len,
                                    .n0 = 1,
                                    .n1 = 1};

            if (!add(l, &r)) {
                return false;
            }
        }
    }
    return true;
}

static bool add_leaf(struct list *l, const struct fm_dtype_prog *node, MPI_Count base)
{
    struct fm_pack_run r = {.off = base + node->off,
                            .len = node->u.vec.blk,
                            .n0 = node->u.vec.n0,
                            .s0 = node->u.vec.s0,
                            .n1 = node->u.vec.n1,
                            .s1 = node->u.vec.s1};

    return node->kind == FM_PROG_VEC ? add(l, &r) : add_tab(l, node, base);
}

/* Every node adds at least one run, so this ends after `max` of them however long the loops are;
   programs are at most FM_DTYPE_PROG_DEPTH deep. */
static bool add_node(struct list *l, const struct fm_dtype_prog *node, MPI_Count base) // NOLINT
{
    bool is_loop = node->kind == FM_PROG_LOOP;
    MPI_Count n = is_loop ? node->u.loop.n : node->u.seq.n;

    if (node->kind == FM_PROG_VEC || node->kind == FM_PROG_TAB) {
        return add_leaf(l, node, base);
    }
    for (MPI_Count i = 0; i < n; i++) {
        bool fits = is_loop
                        ? add_node(l, node->u.loop.body, base + node->off + i * node->u.loop.stride)
                        : add_node(l, node->u.seq.parts[i].body,
                                   base + node->off + node->u.seq.parts[i].off);

        if (!fits) {
            return false;
        }
    }
    return true;
}

int fm_pack_describe(MPI_Count count, const struct fm_dtype *t, int max,
                     struct fm_pack_run *out_runs, MPI_Count *out_first, MPI_Count *out_end)
{
    struct list l = {.runs = out_runs, .max = max};
    struct fm_pack p;

    fm_pack_begin(&p, NULL, count, t);
    if (p.len == 0) {
        return 0;
    }
    if (t->is_contig) {
        fm_dtype_prog_run(&p.top, t->true_lb, p.len);
    }
    if (!add_node(&l, &p.top, 0)) {
        return 0;
    }
    *out_first = l.first;
    *out_end = l.end;
    return l.n;
}

/* ---------------------------------------------------------------- walking */

/* Do all its pieces have offsets that can be said, and how many bytes has it? */
static bool is_sound(const struct fm_pack_run *r, MPI_Count *out_size)
{
    MPI_Count d0, d1, at, size;

    if (r->len < 1 || r->n0 < 1 || r->n1 < 1 || __builtin_mul_overflow(r->n0 - 1, r->s0, &d0) ||
        __builtin_mul_overflow(r->n1 - 1, r->s1, &d1) || __builtin_add_overflow(r->off, d1, &at) ||
        __builtin_add_overflow(at, d0, &at) || __builtin_mul_overflow(r->len, r->n0, &size) ||
        __builtin_mul_overflow(size, r->n1, &size)) {
        return false;
    }
    *out_size = size;
    return true;
}

/* Not contiguous, which is all that fm_pack_piece() asks of a type. */
static const struct fm_dtype described;

bool fm_pack_layout_begin(struct fm_pack_layout *l, void *buf, const struct fm_pack_run *runs,
                          int n, MPI_Count len)
{
    MPI_Count at = 0;

    if (n < 1 || n > FM_PACK_RUNS_MAX) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        const struct fm_pack_run *r = &runs[i];
        MPI_Count size;

        if (!is_sound(r, &size)) {
            return false;
        }
        l->parts[i] = (struct fm_dtype_part){.pos = at, .body = &l->nodes[i]};
        l->nodes[i] = (struct fm_dtype_prog){
            .kind = FM_PROG_VEC,
            .size = size,
            .off = r->off,
            .u.vec = {.n0 = r->n0, .s0 = r->s0, .n1 = r->n1, .s1 = r->s1, .blk = r->len}};
        if (__builtin_add_overflow(at, size, &at)) {
            return false;
        }
    }
    l->pack = (struct fm_pack){.buf = buf, .dtype = &described, .len = len};
    l->pack.top = l->nodes[0];
    if (n > 1) {
        l->pack.top = (struct fm_dtype_prog){
            .kind = FM_PROG_SEQ, .size = at, .u.seq = {.n = n, .parts = l->parts}};
    }
    return at == len;
}
