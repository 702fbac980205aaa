/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of collectives as the user gave them, in one form for all: each MPI function fills one
 * in and hands it over; checks, look-ups of handles and the call itself are made here.
 */
#pragma once

#include "core/api/api.h"
#include "core/coll/coll.h"

/* One side; what the function has no argument for stays zero. */
struct fm_side_args {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    const void *counts; /* v, w: int or MPI_Count per rank */
    const void *displs; /* v, w: int or MPI_Aint per rank */
    const MPI_Datatype *types;
};

struct fm_coll_args {
    const char *call; /* "MPI_Bcast" */
    enum fm_coll_kind kind;
    MPI_Comm comm;
    struct fm_side_args send; /* reductions: the buffer only */
    struct fm_side_args recv; /* bcast: the buffer; reductions: result, count and type */
    MPI_Op op;
    int root;
    bool is_large;   /* counts are MPI_Count, displs MPI_Aint */
    bool is_varying; /* v or w form */
};

/* Check and run. Returns what the MPI function returns. */
int fm_coll_args_run(const struct fm_coll_args *a);
/* Check and start: *request is the user's output. */
int fm_coll_args_start(const struct fm_coll_args *a, MPI_Request *request);
/* Check and make a persistent request. */
int fm_coll_args_persist(const struct fm_coll_args *a, MPI_Info info, MPI_Request *request);
