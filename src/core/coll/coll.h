/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives (MPI-5.0 chapter 6): entry, choice of algorithm, and the algorithms behind it.
 *
 * A call is described by one struct fm_coll, the same for blocking, nonblocking and persistent
 * forms and for the v and w variants. Arguments are checked by the caller (core/api). Messages
 * travel in the communicator's collective space with the tag of the call's number, so that calls
 * cannot mix.
 */
#pragma once

#include "core/dtype/dtype.h"
#include "core/dtype/op.h"
#include "core/object/comm.h"

struct fm_request;

extern const struct fathom_table fm_coll_vars;

/*
 * Tags of a communicator's collective space: the number of the call; above it acts of some of its
 * ranks only (MPI_Comm_create_group), and those that serve an intercommunicator: its making, in the
 * peer's, and the local part of its collectives, in its local_comm.
 */
#define FM_COLL_TAG_MASK  0x1fffffff
#define FM_COLL_TAG_GROUP 0x40000000
#define FM_COLL_TAG_INTER 0x20000000

enum fm_coll_kind {
    FM_COLL_BARRIER,
    FM_COLL_BCAST,
    FM_COLL_REDUCE,
    FM_COLL_ALLREDUCE,
    FM_COLL_GATHER,
    FM_COLL_SCATTER,
    FM_COLL_ALLGATHER,
    FM_COLL_ALLTOALL,
    FM_COLL_REDUCE_SCATTER,
    FM_COLL_SCAN,
    FM_COLL_EXSCAN,
    FM_COLL_COUNT
};

/* One side of a point: count elements of a type at buf. */
struct fm_buf {
    void *buf;
    MPI_Count count;
    struct fm_dtype *dtype;
};

/*
 * One side of a collective: a buffer with one block, or with one per position. A position is a rank
 * of the communicator or of the remote group; in neighborhood collectives it is the place of an
 * edge in the list of sources (receive side) or of destinations (send side). Without `counts` all
 * blocks are alike and lie one behind the other.
 */
struct fm_side {
    void *buf; /* or MPI_IN_PLACE where the standard allows it */
    MPI_Count count;
    struct fm_dtype *dtype;
    const void *counts;             /* v: int or MPI_Count per position */
    const void *displs;             /* v: int or MPI_Aint per position, in extents; w: in bytes */
    struct fm_dtype *const *dtypes; /* w: per position */
    bool is_large;                  /* counts are MPI_Count, displs MPI_Aint */
};

struct fm_coll {
    enum fm_coll_kind kind;
    struct fm_comm *comm;
    struct fm_side send;
    struct fm_side recv; /* bcast: the buffer; reductions: result, count and type of both */
    struct fm_op *op;
    int root;
    bool is_varying; /* a v or w form; the counts may be known at the root only */
    bool is_users;   /* an error goes to the communicator's error handler */
};

/* Take the block of fm_coll_vars (NULL: no registry). */
void fm_coll_init(void *counters);

/* Blocking. 0, a failure, or a positive MPI error class. */
int fm_coll_run(const struct fm_coll *c);
/* Nonblocking: *out_req holds the handle's reference. Arrays of the sides are not needed after. */
int fm_coll_start(const struct fm_coll *c, struct fm_request **out_req);
/* Persistent: the same, inactive; to be started with fm_request_start(). */
int fm_coll_persist(const struct fm_coll *c, struct fm_request **out_req);

/* What other rooms need, blocking. `data` and `recv` may not be MPI_IN_PLACE, sendbuf may. */
int fm_barrier(struct fm_comm *comm);
int fm_bcast(const struct fm_buf *data, int root, struct fm_comm *comm);
int fm_allreduce(const void *sendbuf, const struct fm_buf *recv, struct fm_op *op,
                 struct fm_comm *comm);
int fm_gather(const struct fm_buf *send, const struct fm_buf *recv, int root, struct fm_comm *comm);
int fm_allgather(const struct fm_buf *send, const struct fm_buf *recv, struct fm_comm *comm);

static FM_INLINE MPI_Count fm_side_count(const struct fm_side *s, int i)
{
    if (!s->counts) {
        return s->count;
    }
    return s->is_large ? ((const MPI_Count *)s->counts)[i] : ((const int *)s->counts)[i];
}

/* The block at position i. */
static FM_INLINE struct fm_buf fm_side_block(const struct fm_side *s, int i)
{
    struct fm_buf b = {s->buf, fm_side_count(s, i), s->dtypes ? s->dtypes[i] : s->dtype};
    MPI_Count unit = s->dtypes ? 1 : b.dtype->extent;
    MPI_Count at = i * s->count;

    if (s->displs) {
        at = s->is_large ? ((const MPI_Aint *)s->displs)[i] : ((const int *)s->displs)[i];
    }
    b.buf = (char *)s->buf + at * unit;
    return b;
}
