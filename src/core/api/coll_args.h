/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of collectives as the user gave them, in one form for all.
 *
 * Each collective has one builder, which fills in a struct fm_coll_args; the functions of the
 * standard (blocking, nonblocking and persistent, each with int and MPI_Count counts) are thin
 * faces over it. The checks, the look-ups of handles and the call itself are made here.
 */
#pragma once

#include "core/api/api.h"
#include "core/coll/coll.h"

/* The form of a collective (MPI-5.0 6.12, 6.13). */
struct fm_coll_form {
    const char *call; /* "MPI_Ibcast" */
    enum { FM_BLOCKING, FM_NONBLOCKING, FM_PERSISTENT } kind;
    MPI_Info info;        /* persistent: the user's hints */
    MPI_Request *request; /* nonblocking, persistent: the user's output */
};

#define FM_FORM_BLOCKING ((struct fm_coll_form){FM_CALL, .kind = FM_BLOCKING})
#define FM_FORM_NONBLOCKING(req)                                                                   \
    ((struct fm_coll_form){FM_CALL, .kind = FM_NONBLOCKING, .request = (req)})
#define FM_FORM_PERSISTENT(hints, req)                                                             \
    ((struct fm_coll_form){FM_CALL, .kind = FM_PERSISTENT, .info = (hints), .request = (req)})

/* One side; what the function has no argument for stays zero. */
struct fm_side_args {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    const void *counts; /* v, w: int or MPI_Count per rank */
    const void *displs; /* v, w: int or MPI_Aint per rank */
    const MPI_Datatype *types;
    bool is_varying;       /* of a v or w form */
    bool is_large;         /* counts are MPI_Count */
    bool has_large_displs; /* displs are MPI_Aint */
};

/* A side as arguments of a function list it. The types of the arrays tell the int form from the
   large one. */
#define FM_SIDE(b, n, t) ((struct fm_side_args){.buf = (b), .count = (n), .type = (t)})
#define FM_SIDE_V(b, n, at, t)                                                                     \
    ((struct fm_side_args){.buf = (b),                                                             \
                           .counts = (n),                                                          \
                           .displs = (at),                                                         \
                           .type = (t),                                                            \
                           .is_varying = true,                                                     \
                           .is_large = sizeof(*(n)) == sizeof(MPI_Count),                          \
                           .has_large_displs = sizeof(*(at)) == sizeof(MPI_Aint)})
#define FM_SIDE_W(b, n, at, t)                                                                     \
    ((struct fm_side_args){.buf = (b),                                                             \
                           .counts = (n),                                                          \
                           .displs = (at),                                                         \
                           .types = (t),                                                           \
                           .is_varying = true,                                                     \
                           .is_large = sizeof(*(n)) == sizeof(MPI_Count),                          \
                           .has_large_displs = sizeof(*(at)) == sizeof(MPI_Aint)})

struct fm_coll_args {
    struct fm_coll_form form;
    enum fm_coll_kind kind;
    MPI_Comm comm;
    struct fm_side_args send; /* reductions: the buffer only */
    struct fm_side_args recv; /* bcast: the buffer; reductions: result, count and type */
    MPI_Op op;
    int root;
};

/* Check the arguments, and run or start the collective or make its persistent request. Returns what
   the MPI function returns. */
int fm_coll_args_call(const struct fm_coll_args *a);
