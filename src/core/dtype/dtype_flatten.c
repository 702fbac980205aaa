/* SPDX-License-Identifier: BSD-3-Clause */
/* From a datatype's environment to its program: runs of bytes with loops. */
#include "core/dtype/dtype_make.h"

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
