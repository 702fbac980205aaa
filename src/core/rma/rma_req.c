/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the R forms. */
#include "core/rma/rma_req.h"

static const struct fm_request_ops request_ops = {.name = "rma"};

_Static_assert(sizeof(struct fm_rma_req) <= FM_REQUEST_LEN, "fits the pool");

struct fm_rma_req *fm_rma_req_new(struct fm_win *w)
{
    struct fm_rma_req *r = (struct fm_rma_req *)fm_request_new(&request_ops, w->comm);

    if (r) {
        fm_object_ref(r); /* the engine's */
        fm_rma_req_part(r);
    }
    return r;
}

void fm_rma_req_part(struct fm_rma_req *r)
{
    r->n_parts++;
}

void fm_rma_req_part_done(struct fm_rma_req *r, int error)
{
    r->error = r->error ? r->error : error;
    if (--r->n_parts > 0) {
        return;
    }
    if (r->error) {
        fm_request_fail(&r->req, r->error, "the operation failed at its target");
    } else {
        fm_request_complete(&r->req);
    }
}
