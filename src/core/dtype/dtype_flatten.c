/* SPDX-License-Identifier: BSD-3-Clause */
/* From a datatype's environment to its program: runs of bytes with loops. */
#include "core/dtype/dtype_make.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

void fm_dtype_prog_run(struct fm_dtype_prog *out, MPI_Count off, MPI_Count len)
{
    *out = (struct fm_dtype_prog){
        .kind = FM_PROG_VEC,
        .size = len,
        .off = off,
        .n_runs = 1,
        .u.vec = {.n0 = 1, .s0 = len, .n1 = 1, .s1 = len, .blk = len},
    };
}

/* Does a loop of this stride go on where n steps of s end? */
static bool goes_on(MPI_Count stride, MPI_Count n, MPI_Count s)
{
    MPI_Count end;

    return !__builtin_mul_overflow(n, s, &end) && stride == end;
}

/* Fold the loop into a VEC: as its blocks, its rows, or more rows. */
static bool fold_vec(struct fm_dtype_prog *v, MPI_Count n, MPI_Count stride)
{
    if (v->u.vec.n0 == 1 && v->u.vec.n1 == 1) {
        if (stride == v->u.vec.blk) { /* the blocks touch: one run */
            fm_dtype_prog_run(v, v->off, n * v->u.vec.blk);
            return true;
        }
        v->u.vec.n0 = n;
        v->u.vec.s0 = stride;
    } else if (v->u.vec.n1 == 1) {
        if (goes_on(stride, v->u.vec.n0, v->u.vec.s0)) {
            v->u.vec.n0 *= n;
        } else {
            v->u.vec.n1 = n;
            v->u.vec.s1 = stride;
        }
    } else if (goes_on(stride, v->u.vec.n1, v->u.vec.s1)) {
        v->u.vec.n1 *= n;
    } else {
        return false;
    }
    return true;
}

static bool fold_tab(struct fm_dtype_prog *t, MPI_Count n, MPI_Count stride)
{
    if (t->u.tab.n1 == 1) {
        t->u.tab.n1 = n;
        t->u.tab.s1 = stride;
    } else if (goes_on(stride, t->u.tab.n1, t->u.tab.s1)) {
        t->u.tab.n1 *= n;
    } else {
        return false;
    }
    return true;
}

static bool fold_loop(struct fm_dtype_prog *l, MPI_Count n, MPI_Count stride)
{
    if (!goes_on(stride, l->u.loop.n, l->u.loop.stride)) {
        return false;
    }
    l->u.loop.n *= n;
    return true;
}

void fm_dtype_prog_loop(struct fm_dtype_prog *out, MPI_Count n, MPI_Count stride,
                        const struct fm_dtype_prog *body)
{
    struct fm_dtype_prog p = *body;
    bool is_folded = n == 1;

    if (n > 1 && p.kind == FM_PROG_VEC) {
        is_folded = fold_vec(&p, n, stride);
    } else if (n > 1 && p.kind == FM_PROG_TAB) {
        is_folded = fold_tab(&p, n, stride);
    } else if (n > 1 && p.kind == FM_PROG_LOOP) {
        is_folded = fold_loop(&p, n, stride);
    }
    if (!is_folded) {
        p = (struct fm_dtype_prog){.kind = FM_PROG_LOOP,
                                   .u.loop = {.n = n, .stride = stride, .body = body}};
    }
    p.size = n * body->size;
    if (__builtin_mul_overflow(n, body->n_runs, &p.n_runs)) {
        p.n_runs = INT64_MAX;
    }
    if (p.kind == FM_PROG_VEC && p.u.vec.blk == p.size) {
        p.n_runs = 1;
    }
    *out = p;
}

/* ---------------------------------------------------------------- building a program */

#define FM_EXPAND_RUNS 8 /* a block of so few runs joins the table instead of being a part */
#define FM_LOOP_CACHE  64

/*
 * Parts are gathered in the order of the type map. Runs wait in (offs, lens), where those that
 * touch become one, until a part that is more than a run comes, or the end; then they become a VEC
 * or TAB part. Arrays are as large as a first pass over the blocks found necessary.
 */
struct builder {
    struct fm_dtype *t;
    MPI_Count *offs; /* of the type; tables point into it */
    MPI_Count *lens; /* ours */
    struct fm_dtype_part *parts;
    MPI_Count n_runs, first_run, n_parts;
    MPI_Count at;
    bool is_failed;
    struct {
        MPI_Count n;
        const struct fm_dtype_prog *body, *loop;
    } cache[FM_LOOP_CACHE];
};

/* What `n` bodies `stride` apart will be in the builder. */
enum fate { FATE_NOTHING, FATE_RUN, FATE_RUNS, FATE_SEQ, FATE_LOOP };

static enum fate fate_of(MPI_Count n, MPI_Count stride, const struct fm_dtype_prog *body)
{
    MPI_Count runs;

    if (n == 0 || !body) {
        return FATE_NOTHING;
    }
    if (body->kind == FM_PROG_VEC && body->n_runs == 1 && (n == 1 || stride == body->u.vec.blk)) {
        return FATE_RUN;
    }
    if (!__builtin_mul_overflow(n, body->n_runs, &runs) && runs <= FM_EXPAND_RUNS) {
        return FATE_RUNS;
    }
    return n == 1 && body->kind == FM_PROG_SEQ ? FATE_SEQ : FATE_LOOP;
}

static void add_run(struct builder *b, MPI_Count off, MPI_Count len)
{
    MPI_Count i = b->n_runs - 1;

    b->at += len;
    if (i >= b->first_run && b->offs[i] + b->lens[i] == off) {
        b->lens[i] += len;
        return;
    }
    b->offs[b->n_runs] = off;
    b->lens[b->n_runs++] = len;
}

/* All runs of a small program; its depth is at most 3, since each level doubles the runs. */
static void add_runs(struct builder *b, MPI_Count off, const struct fm_dtype_prog *p)
{
    off += p->off;
    switch (p->kind) {
    case FM_PROG_VEC:
        for (MPI_Count i = 0; i < p->u.vec.n1 * p->u.vec.n0; i++) {
            MPI_Count row = i / p->u.vec.n0;

            add_run(b, off + row * p->u.vec.s1 + (i - row * p->u.vec.n0) * p->u.vec.s0,
                    p->u.vec.blk);
        }
        return;
    case FM_PROG_TAB:
        for (MPI_Count i = 0; i < p->u.tab.n1 * p->u.tab.n; i++) {
            MPI_Count row = i / p->u.tab.n;
            MPI_Count j = i - row * p->u.tab.n;

            add_run(b, off + row * p->u.tab.s1 + p->u.tab.offs[j],
                    p->u.tab.pos ? p->u.tab.pos[j + 1] - p->u.tab.pos[j] : p->u.tab.blk);
        }
        return;
    case FM_PROG_LOOP:
        for (MPI_Count i = 0; i < p->u.loop.n; i++) {
            add_runs(b, off + i * p->u.loop.stride, p->u.loop.body);
        }
        return;
    case FM_PROG_SEQ:
        for (MPI_Count i = 0; i < p->u.seq.n; i++) {
            add_runs(b, off + p->u.seq.parts[i].off, p->u.seq.parts[i].body);
        }
    }
}

/* Do n >= 2 runs lie evenly? */
static bool is_even(const MPI_Count *offs, MPI_Count n)
{
    MPI_Count step;

    if (__builtin_sub_overflow(offs[1], offs[0], &step)) {
        return false;
    }
    for (MPI_Count i = 2; i < n; i++) {
        if (offs[i] - offs[i - 1] != step) { /* all lie within the true extent */
            return false;
        }
    }
    return true;
}

static bool has_one_length(const MPI_Count *lens, MPI_Count n)
{
    for (MPI_Count i = 1; i < n; i++) {
        if (lens[i] != lens[0]) {
            return false;
        }
    }
    return true;
}

/* A leaf for n runs. */
static int make_leaf(struct fm_dtype *t, struct fm_dtype_prog *out, MPI_Count *offs,
                     const MPI_Count *lens, MPI_Count n)
{
    MPI_Count *pos;

    fm_dtype_prog_run(out, offs[0], lens[0]);
    if (n == 1) {
        return 0;
    }
    if (has_one_length(lens, n)) {
        if (is_even(offs, n)) {
            struct fm_dtype_prog run = *out;

            fm_dtype_prog_loop(out, n, offs[1] - offs[0], &run);
            return 0;
        }
        *out = (struct fm_dtype_prog){.kind = FM_PROG_TAB,
                                      .size = n * lens[0],
                                      .n_runs = n,
                                      .u.tab = {.n = n, .n1 = 1, .blk = lens[0], .offs = offs}};
        return 0;
    }
    pos = fm_dtype_alloc(t, ((size_t)n + 1) * sizeof(*pos));
    if (!pos) {
        return -FM_E_NOMEM;
    }
    pos[0] = 0;
    for (MPI_Count i = 0; i < n; i++) {
        pos[i + 1] = pos[i] + lens[i];
    }
    *out = (struct fm_dtype_prog){.kind = FM_PROG_TAB,
                                  .size = pos[n],
                                  .n_runs = n,
                                  .u.tab = {.n = n, .n1 = 1, .offs = offs, .pos = pos}};
    return 0;
}

static struct fm_dtype_prog *new_node(struct builder *b)
{
    struct fm_dtype_prog *p = b->is_failed ? NULL : fm_dtype_alloc(b->t, sizeof(*p));

    b->is_failed |= !p;
    return p;
}

/* The waiting runs become a part. */
static void flush(struct builder *b)
{
    MPI_Count n = b->n_runs - b->first_run;
    struct fm_dtype_prog *p = n > 0 ? new_node(b) : NULL;

    if (!p) {
        return;
    }
    if (make_leaf(b->t, p, b->offs + b->first_run, b->lens + b->first_run, n) != 0) {
        b->is_failed = true;
        return;
    }
    b->parts[b->n_parts++] = (struct fm_dtype_part){.pos = b->at - p->size, .body = p};
    b->first_run = b->n_runs;
}

static void add_part(struct builder *b, MPI_Count off, const struct fm_dtype_prog *body)
{
    flush(b);
    if (!b->is_failed) {
        b->parts[b->n_parts++] = (struct fm_dtype_part){.off = off, .pos = b->at, .body = body};
        b->at += body->size;
    }
}

/* Blocks of one length share their loop. */
static const struct fm_dtype_prog *shared_loop(struct builder *b, MPI_Count n, MPI_Count stride,
                                               const struct fm_dtype_prog *body)
{
    struct fm_dtype_prog *p;
    size_t i = ((size_t)n ^ ((uintptr_t)body >> 6)) % FM_LOOP_CACHE;

    if (n == 1) {
        return body;
    }
    if (b->cache[i].n == n && b->cache[i].body == body) {
        return b->cache[i].loop;
    }
    p = new_node(b);
    if (p) {
        fm_dtype_prog_loop(p, n, stride, body);
        b->cache[i].n = n;
        b->cache[i].body = body;
        b->cache[i].loop = p;
    }
    return p;
}

static void add_block(struct builder *b, MPI_Count off, MPI_Count n, MPI_Count stride,
                      const struct fm_dtype_prog *body)
{
    switch (fate_of(n, stride, body)) {
    case FATE_NOTHING:
        return;
    case FATE_RUN:
        add_run(b, off + body->off, n * body->u.vec.blk);
        return;
    case FATE_RUNS:
        for (MPI_Count i = 0; i < n; i++) {
            add_runs(b, off + i * stride, body);
        }
        return;
    case FATE_SEQ:
        for (MPI_Count i = 0; i < body->u.seq.n; i++) {
            add_part(b, off + body->off + body->u.seq.parts[i].off, body->u.seq.parts[i].body);
        }
        return;
    case FATE_LOOP:
        body = shared_loop(b, n, stride, body);
        if (body) {
            add_part(b, off, body);
        }
    }
}

/* What a block adds to the arrays; at most one part of waiting runs goes before each other part. */
static void count_block(MPI_Count n, MPI_Count stride, const struct fm_dtype_prog *body,
                        MPI_Count *n_runs, MPI_Count *n_parts)
{
    switch (fate_of(n, stride, body)) {
    case FATE_NOTHING:
        return;
    case FATE_RUN:
        *n_runs += 1;
        return;
    case FATE_RUNS:
        *n_runs += n * body->n_runs;
        return;
    case FATE_SEQ:
        *n_parts += 1 + body->u.seq.n;
        return;
    case FATE_LOOP:
        *n_parts += 2;
    }
}

static int builder_init(struct builder *b, struct fm_dtype *t, MPI_Count n_runs, MPI_Count n_parts)
{
    memset(b, 0, sizeof(*b));
    b->t = t;
    b->lens = malloc((size_t)n_runs * sizeof(*b->lens) + 1);
    b->offs = b->lens ? fm_dtype_alloc(t, (size_t)n_runs * sizeof(*b->offs)) : NULL;
    b->parts = b->offs ? fm_dtype_alloc(t, ((size_t)n_parts + 1) * sizeof(*b->parts)) : NULL;
    if (!b->parts) {
        free(b->lens);
        return fm_fail(-FM_E_NOMEM, "no memory for a datatype of %lld blocks",
                       (long long)(n_runs + n_parts));
    }
    return 0;
}

/* The program of all parts; NULL when there is no data. */
static int builder_finish(struct builder *b, const struct fm_dtype_prog **out)
{
    struct fm_dtype_prog *p;

    flush(b);
    free(b->lens);
    p = b->n_parts > 0 ? new_node(b) : NULL;
    if (b->is_failed) {
        return -FM_E_NOMEM;
    }
    if (b->n_parts == 1) {
        *p = *b->parts[0].body;
        p->off += b->parts[0].off;
    } else if (p) {
        *p = (struct fm_dtype_prog){
            .kind = FM_PROG_SEQ, .size = b->at, .u.seq = {.n = b->n_parts, .parts = b->parts}};
        for (MPI_Count i = 0; i < b->n_parts; i++) {
            if (__builtin_add_overflow(p->n_runs, b->parts[i].body->n_runs, &p->n_runs)) {
                p->n_runs = INT64_MAX;
            }
        }
    }
    *out = p;
    return 0;
}

/* ---------------------------------------------------------------- per combiner */

static int flatten_blocks(struct fm_dtype *t, const struct fm_dtype_prog **out)
{
    MPI_Count n = fm_dtype_n_blocks(t->env);
    MPI_Count n_runs = 0, n_parts = 0;
    struct fm_dtype_block blk;
    struct builder b;
    int rc;

    for (MPI_Count i = 0; i < n; i++) {
        fm_dtype_block_get(t->env, i, &blk);
        count_block(blk.n, blk.type->extent, blk.type->prog, &n_runs, &n_parts);
    }
    rc = builder_init(&b, t, n_runs, n_parts);
    if (rc != 0) {
        return rc;
    }
    for (MPI_Count i = 0; i < n; i++) {
        fm_dtype_block_get(t->env, i, &blk);
        add_block(&b, blk.disp, blk.n, blk.type->extent, blk.type->prog);
    }
    return builder_finish(&b, out);
}

/* A node of the type's own: n bodies `stride` apart. NULL when out of memory. */
static struct fm_dtype_prog *own_loop(struct fm_dtype *t, MPI_Count n, MPI_Count stride,
                                      const struct fm_dtype_prog *body)
{
    struct fm_dtype_prog *p = fm_dtype_alloc(t, sizeof(*p));

    if (p) {
        fm_dtype_prog_loop(p, n, stride, body);
    }
    return p;
}

static int flatten_vector(struct fm_dtype *t, const struct fm_dtype_prog **out)
{
    const struct fm_dtype *part = t->env->types[0];
    const MPI_Count *v = t->env->values;
    MPI_Count unit = t->env->combiner == MPI_COMBINER_VECTOR ? part->extent : 1;
    MPI_Count stride = v[0] > 1 ? v[2] * unit : 0;
    struct fm_dtype_prog *row = own_loop(t, v[1], part->extent, part->prog);

    *out = row ? own_loop(t, v[0], stride, row) : NULL;
    return *out ? 0 : -FM_E_NOMEM;
}

/* One dimension of an array over what the faster ones make. */
static int flatten_dim(struct fm_dtype *t, const struct fm_dtype_dim *d,
                       const struct fm_dtype_prog **body)
{
    MPI_Count off = d->start * d->stride;
    const struct fm_dtype_prog *all = *body;
    const struct fm_dtype_prog *rest = *body;
    MPI_Count n_runs = 0, n_parts = 0;
    struct builder b;
    int rc;

    if (d->n > 0 && d->k > 1) {
        all = own_loop(t, d->k, d->stride, all);
    }
    if (d->rem > 1) {
        rest = own_loop(t, d->rem, d->stride, rest);
    }
    if (!all || !rest) {
        return -FM_E_NOMEM;
    }
    count_block(d->n, d->step * d->stride, all, &n_runs, &n_parts);
    count_block(d->rem > 0, 0, rest, &n_runs, &n_parts);
    rc = builder_init(&b, t, n_runs, n_parts);
    if (rc != 0) {
        return rc;
    }
    add_block(&b, off, d->n, d->step * d->stride, all);
    if (d->rem > 0) {
        add_block(&b, off + d->n * d->step * d->stride, 1, 0, rest);
    }
    return builder_finish(&b, body);
}

static int flatten_array(struct fm_dtype *t, const struct fm_dtype_prog **out)
{
    const struct fm_dtype_prog *body = t->env->types[0]->prog;
    struct fm_dtype_dim *dims;
    MPI_Count n_dims, extent;
    int rc = fm_dtype_dims_get(t->env, &dims, &n_dims, &extent);

    if (rc != 0) {
        return rc;
    }
    for (MPI_Count i = 0; i < n_dims && rc == 0; i++) {
        rc = flatten_dim(t, &dims[i], &body);
    }
    free(dims);
    if (rc == 0) {
        *out = body;
    }
    return rc;
}

int fm_dtype_flatten(struct fm_dtype *t)
{
    const struct fm_dtype_prog *p = NULL;
    int rc = 0;

    if (t->prog || t->size == 0) {
        t->is_contig |= t->size == 0;
        return 0;
    }
    switch (t->env->combiner) {
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        rc = flatten_vector(t, &p);
        break;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
        rc = flatten_array(t, &p);
        break;
    default:
        rc = flatten_blocks(t, &p);
    }
    if (rc == 0) {
        t->prog = p;
        t->is_contig = p->kind == FM_PROG_VEC && p->n_runs == 1 && t->extent == t->size;
    }
    return rc;
}

int fm_dtype_commit(struct fm_dtype *t)
{
    int rc = fm_dtype_flatten(t);

    t->is_committed |= rc == 0;
    return rc;
}
