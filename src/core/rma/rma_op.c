/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of an origin: each goes the way of its target (win.h). */
#include "core/rma/rma_op.h"

#include <string.h>

#include "core/dtype/op_kernels.h"
#include "core/dtype/pack.h"
#include "core/p2p/channel.h"
#include "core/rma/rma_acc.h"
#include "core/rma/rma_copy.h"
#include "core/rma/rma_stream.h"
#include "core/rma/win_vars.h"
#include "util/copy.h"

/* ---- load and store ---- */

static void put_direct(const struct fm_win_target *t, const struct fm_rma_call *c)
{
    char *at = fm_win_at(t, c->at);

    if (FM_LIKELY(c->origin.dtype->is_contig && c->target_type->is_contig)) {
        fm_copy(at + c->target_type->true_lb,
                (const char *)c->origin.buf + c->origin.dtype->true_lb,
                (size_t)(c->target_count * c->target_type->size));
        return;
    }
    fm_copy_typed(at, c->target_count, c->target_type, c->origin.buf, c->origin.count,
                  c->origin.dtype);
}

static void get_direct(const struct fm_win_target *t, const struct fm_rma_call *c)
{
    const char *at = fm_win_at(t, c->at);

    if (FM_LIKELY(c->result.dtype->is_contig && c->target_type->is_contig)) {
        fm_copy((char *)c->result.buf + c->result.dtype->true_lb, at + c->target_type->true_lb,
                (size_t)(c->target_count * c->target_type->size));
        return;
    }
    fm_copy_typed(c->result.buf, c->result.count, c->result.dtype, at, c->target_count,
                  c->target_type);
}

/* ---- accumulates by the origin ---- */

/* Packed bytes that are met at a time where a buffer has to be packed or unpacked. */
#define CHUNK 4096

/* All of one element or more, from and to buffers of any layout. */
static int accumulate_in_chunks(struct fm_win *w, struct fm_win_target *t,
                                const struct fm_rma_call *c, const struct fm_acc *a)
{
    size_t elem_len = (size_t)a->elem->size, max = CHUNK / elem_len, n;
    char in[CHUNK] FM_ALIGNED(16), out[CHUNK] FM_ALIGNED(16);
    struct fm_pack origin, result;
    struct fm_acc_walk walk;
    int64_t at;
    int rc = 0;

    if (c->origin.dtype) {
        fm_pack_begin(&origin, c->origin.buf, c->origin.count, c->origin.dtype);
    }
    if (c->result.dtype) {
        fm_pack_begin(&result, c->result.buf, c->result.count, c->result.dtype);
    }
    fm_acc_walk_begin(&walk, c->target_count, c->target_type);
    while (rc == 0 && (n = fm_acc_walk_next(&walk, max, &at)) != 0) {
        struct fm_acc_run run = {c->at + (uint64_t)at, n, c->origin.dtype ? in : NULL,
                                 c->result.dtype ? out : NULL};

        if (run.in) {
            fm_pack_out(&origin, in, n * elem_len);
        }
        rc = fm_acc_apply(w, t, a, &run);
        if (run.out) {
            fm_pack_in(&result, out, n * elem_len);
        }
    }
    return rc;
}

static FM_INLINE bool is_flat(const struct fm_rma_side *s)
{
    return !s->dtype || s->dtype->is_contig;
}

static int accumulate(struct fm_win *w, struct fm_win_target *t, const struct fm_rma_call *c)
{
    const struct fm_acc a = {c->op, c->compare, c->target_type->elem};

    if (FM_LIKELY(is_flat(&c->origin) && is_flat(&c->result) && c->target_type->is_contig &&
                  !a.elem->pair)) {
        struct fm_acc_run run = {.at = c->at + (uint64_t)c->target_type->true_lb};

        run.n = (size_t)(c->target_count * c->target_type->size / a.elem->size);
        run.in = c->origin.dtype ? (const char *)c->origin.buf + c->origin.dtype->true_lb : NULL;
        run.out = c->result.dtype ? (char *)c->result.buf + c->result.dtype->true_lb : NULL;
        return fm_acc_apply(w, t, &a, &run);
    }
    return accumulate_in_chunks(w, t, c, &a);
}

/* ---- all ---- */

static int start(struct fm_win *w, struct fm_win_target *t, const struct fm_rma_call *c,
                 struct fm_rma_req *req)
{
    if (FM_UNLIKELY(t->way == FM_WIN_MESSAGE)) {
        return fm_rma_stream_call(w, t, c, req);
    }
    if (c->kind >= FM_RMA_CALL_ACC) {
        return accumulate(w, t, c);
    }
    if (FM_UNLIKELY(t->way == FM_WIN_COPY)) {
        return fm_rma_copy(w, t, c, req);
    }
    if (c->kind == FM_RMA_CALL_PUT) {
        put_direct(t, c);
    } else {
        get_direct(t, c);
    }
    return 0;
}

static int empty_request(struct fm_win *w, struct fm_request **out_req)
{
    struct fm_rma_req *r = fm_rma_req_new(w);

    if (!r) {
        return -FM_E_NOMEM;
    }
    fm_rma_req_part_done(r, MPI_SUCCESS);
    *out_req = &r->req;
    return 0;
}

/* The R forms hold one part of their request while they start. */
static int start_with_request(struct fm_win *w, struct fm_win_target *t,
                              const struct fm_rma_call *c, struct fm_request **out_req)
{
    struct fm_rma_req *r = fm_rma_req_new(w);
    int rc;

    if (!r) {
        return -FM_E_NOMEM;
    }
    rc = start(w, t, c, r);
    if (rc != 0) {
        /* Parts that are under way complete it without a user. */
        fm_request_unref(&r->req);
        fm_rma_req_part_done(r, MPI_ERR_OTHER);
        return rc;
    }
    fm_rma_req_part_done(r, MPI_SUCCESS);
    *out_req = &r->req;
    return 0;
}

int fm_rma_start(struct fm_win *w, const struct fm_rma_call *call, struct fm_request **out_req)
{
    struct fm_win_target *t;

    if (FM_UNLIKELY(!call)) {
        return out_req ? empty_request(w, out_req) : 0;
    }
    t = &w->targets[call->rank];
    w->is_used = true;
    FM_STAT(fm_rma_count(w, call->kind, t->way,
                         (uint64_t)(call->target_count * call->target_type->size)));
    return FM_LIKELY(!out_req) ? start(w, t, call, NULL) : start_with_request(w, t, call, out_req);
}
