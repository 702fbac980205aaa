/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of an origin: puts, gets, accumulates (MPI-5.0 12.3). */
#pragma once

#include "core/dtype/op.h"
#include "core/rma/rma_req.h"

enum fm_rma_kind {
    FM_RMA_CALL_PUT,
    FM_RMA_CALL_GET,
    FM_RMA_CALL_ACC,     /* MPI_Accumulate */
    FM_RMA_CALL_GET_ACC, /* MPI_Get_accumulate, MPI_Fetch_and_op */
    FM_RMA_CALL_CAS,     /* MPI_Compare_and_swap */
    FM_RMA_CALL_KINDS
};

/* A buffer of the origin. */
struct fm_rma_side {
    void *buf;
    MPI_Count count;
    struct fm_dtype *dtype;
};

/* An operation; its arguments are checked, and it moves at least one byte. Passed by address,
   copied where it must last. */
struct fm_rma_call {
    enum fm_rma_kind kind;
    int rank;    /* of the target */
    uint64_t at; /* bytes from the target's base: the displacement, scaled */
    MPI_Count target_count;
    struct fm_dtype *target_type;
    struct fm_rma_side origin; /* put, accumulates (dtype NULL: MPI_NO_OP, nothing is read) */
    struct fm_rma_side result; /* get, fetching accumulates */
    const struct fm_op *op;    /* accumulates but CAS */
    const void *compare;       /* CAS */
};

/* Start it; NULL: one that moves nothing. *out_req is not NULL for the R forms: a request with the
   handle's reference. 0, a failure, or a positive MPI error class. */
int fm_rma_start(struct fm_win *w, const struct fm_rma_call *call, struct fm_request **out_req);
