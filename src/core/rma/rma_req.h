/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the R forms (MPI-5.0 12.3.5). */
#pragma once

#include "core/object/request.h"
#include "core/rma/win.h"

/* Complete when its parts are. */
struct fm_rma_req {
    struct fm_request req;
    int n_parts;
    int error; /* class of the first part that failed */
};

/* A request with one part and two references, of the handle and of the engine. NULL: no room. */
struct fm_rma_req *fm_rma_req_new(struct fm_win *w);
/* A part more is under way; one has ended, with this MPI error class or 0. */
void fm_rma_req_part(struct fm_rma_req *r);
void fm_rma_req_part_done(struct fm_rma_req *r, int error);
