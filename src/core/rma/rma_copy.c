/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts and gets by the transport's single copy. */
#include "core/rma/rma_copy.h"

#include <stdlib.h>

#include "core/dtype/pack.h"
#include "core/object/errhandler.h"
#include "core/p2p/channel.h"
#include "core/p2p/progress.h"
#include "core/p2p/wait.h"
#include "util/status.h"

/* Pieces of one transfer. */
#define MAX_PIECES 32

struct transfer {
    struct fm_rma rma;
    struct fm_win *win;
    struct fm_rma_req *req;
    int status;
    bool is_done;
    bool is_waited; /* the caller looks at it, and frees it */
    struct fm_rma_piece pieces[MAX_PIECES];
};

bool fm_rma_copy_works(struct fm_channel *ch, int proc)
{
    struct fm_peer *peer;

    if (fm_peer_resolve(ch, proc, &peer) != 0) {
        return false;
    }
    return peer->ep->tp->has_rma && !peer->ep->tp->needs_expose && !peer->ep->no_rma;
}

/* The kernel found no memory there: the displacement is wrong, or nothing is attached. */
static int explain(int rc)
{
    return rc == -FM_E_PROTO
               ? fm_fail(MPI_ERR_RMA_RANGE, "the target has no memory where the operation goes")
               : rc;
}

static void landed(struct fm_rma *rma, int status)
{
    struct transfer *x = fm_container_of(rma, struct transfer, rma);
    int error;

    x->status = explain(status);
    x->is_done = true;
    if (x->is_waited) {
        return;
    }
    error = x->status < 0 ? fm_error_class_of(x->status) : x->status;
    x->win->n_copies--;
    x->win->error = error ? error : x->win->error;
    if (x->req) {
        fm_rma_req_part_done(x->req, error);
    }
    free(x);
}

/* Hand it to the transport; where it has no room, its own transfers must end first, for which no
   other process is needed. 0 or a failure. */
static int submit(struct fm_win *w, const struct fm_win_target *t, struct transfer *x)
{
    struct fm_peer *peer;
    int rc = fm_peer_resolve(w->comm->ch, t->proc, &peer);

    while (rc == 0 && (rc = peer->ep->ops->rma(peer->ep, &x->rma)) == FM_AGAIN) {
        rc = fm_progress(w->comm->ch);
        rc = rc < 0 ? rc : 0;
    }
    return rc;
}

static bool is_landed(void *ctx)
{
    return ((const struct transfer *)ctx)->is_done;
}

int fm_rma_copy_now(struct fm_win *w, struct fm_win_target *t, enum fm_rma_op op, uint64_t at,
                    void *local, size_t len)
{
    struct transfer x = {.rma = {.op = op,
                                 .local = local,
                                 .len = len,
                                 .remote.addr = (uintptr_t)t->base,
                                 .remote_at = at,
                                 .done = landed},
                         .win = w,
                         .is_waited = true};
    int rc = submit(w, t, &x);

    if (rc == 0 && !x.is_done) {
        rc = fm_wait_until(w->comm->ch, is_landed, &x);
    }
    return rc ? rc : x.status;
}

/* ---- layouts ---- */

/* Both sides of a transfer as runs of bytes. */
struct sides {
    struct fm_pack local, remote;
    uint64_t at; /* of displacement 0 of the remote layout */
};

/* The next pieces, contiguous on both sides. Their bytes; 0 at the end. */
static size_t next_pieces(struct sides *s, struct transfer *x, uint32_t max)
{
    size_t sum = 0;
    uint32_t n = 0;

    while (n < max && s->remote.at < s->remote.len) {
        void *local, *remote;
        size_t len = fm_pack_piece(&s->remote, SIZE_MAX / 2, &remote);
        uint64_t at = s->at + (uint64_t)(uintptr_t)remote;

        while (len && n < max) {
            size_t part = fm_pack_piece(&s->local, len, &local);

            x->pieces[n++] = (struct fm_rma_piece){.local = local, .remote_at = at, .len = part};
            sum += part;
            at += part;
            len -= part;
        }
        fm_pack_seek(&s->remote, s->remote.at - (MPI_Count)len);
    }
    x->rma.n_pieces = n;
    x->rma.len = sum;
    return sum;
}

/* One piece needs no list. */
static void fold(struct transfer *x)
{
    if (x->rma.n_pieces == 1) {
        x->rma.local = x->pieces[0].local;
        x->rma.remote_at = x->pieces[0].remote_at;
        x->rma.n_pieces = 0;
    } else {
        x->rma.pieces = x->pieces;
    }
}

/* Begin a transfer that is ours until it has landed. */
static int launch(struct fm_win *w, const struct fm_win_target *t, struct transfer *x)
{
    int rc;

    x->is_waited = true;
    rc = submit(w, t, x);
    if (rc != 0 || x->is_done) {
        rc = rc ? rc : x->status;
        free(x);
        return rc;
    }
    x->is_waited = false;
    w->n_copies++;
    if (x->req) {
        fm_rma_req_part(x->req);
    }
    return 0;
}

int fm_rma_copy(struct fm_win *w, struct fm_win_target *t, const struct fm_rma_call *call,
                struct fm_rma_req *req)
{
    const struct fm_rma_side *mine = call->kind == FM_RMA_CALL_PUT ? &call->origin : &call->result;
    struct fm_peer *peer;
    struct sides s = {.at = call->at};
    int rc = fm_peer_resolve(w->comm->ch, t->proc, &peer);
    uint32_t max = 1;

    if (rc == 0) {
        max = peer->ep->tp->max_pieces < MAX_PIECES ? peer->ep->tp->max_pieces : MAX_PIECES;
        max = max ? max : 1;
    }
    fm_pack_begin(&s.local, mine->buf, mine->count, mine->dtype);
    fm_pack_begin(&s.remote, NULL, call->target_count, call->target_type);
    while (rc == 0 && s.remote.at < s.remote.len) {
        struct transfer *x = malloc(sizeof(*x));

        if (!x) {
            return fm_fail(-FM_E_NOMEM, "no memory for a transfer");
        }
        *x =
            (struct transfer){.rma = {.op = call->kind == FM_RMA_CALL_PUT ? FM_RMA_PUT : FM_RMA_GET,
                                      .remote.addr = (uintptr_t)t->base,
                                      .done = landed},
                              .win = w,
                              .req = req};
        next_pieces(&s, x, max);
        fold(x);
        rc = launch(w, t, x);
    }
    return rc;
}

static bool is_quiet(void *ctx)
{
    return ((const struct fm_win *)ctx)->n_copies == 0;
}

int fm_rma_copy_wait(struct fm_win *w)
{
    return w->n_copies == 0 ? 0 : fm_wait_until(w->comm->ch, is_quiet, w);
}
