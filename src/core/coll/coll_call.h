/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The description of a collective call (MPI-5.0 chapter 6), the same for blocking, nonblocking and
 * persistent forms and for the v and w variants.
 */
#pragma once

#include "core/dtype/dtype.h"
#include "core/dtype/op.h"
#include "core/object/comm.h"
#include "core/object/neighbors.h"

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
    FM_COLL_NEIGHBOR_ALLGATHER,
    FM_COLL_NEIGHBOR_ALLTOALL,
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
    bool is_large;                  /* counts are MPI_Count */
    bool has_large_displs;          /* displs are MPI_Aint */
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

/*
 * What the choice of an algorithm looks at and the counters count, in bytes: one contribution, one
 * block, or all blocks where these may differ. 0, or a failure when it is more than an address
 * space.
 */
int fm_coll_len(const struct fm_coll *c, MPI_Count *out_len);
/* Bytes of the longest contribution that one rank makes to a call of fm_coll_len() bytes. */
MPI_Count fm_coll_contribution_len(const struct fm_coll *c, MPI_Count len);

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
        at = s->has_large_displs ? ((const MPI_Aint *)s->displs)[i] : ((const int *)s->displs)[i];
    }
    b.buf = (char *)s->buf + at * unit;
    return b;
}

static FM_INLINE struct fm_buf fm_buf_of(const void *buf, MPI_Count count, struct fm_dtype *dtype)
{
    return (struct fm_buf){.buf = (void *)buf, .count = count, .dtype = dtype};
}

static FM_INLINE struct fm_buf fm_buf_bytes(const void *buf, MPI_Count len)
{
    return fm_buf_of(buf, len, fm_dtype_byte());
}

/* Elements [from, from + count) of a buffer. */
static FM_INLINE struct fm_buf fm_buf_part(struct fm_buf b, MPI_Count from, MPI_Count count)
{
    return fm_buf_of((char *)b.buf + from * b.dtype->extent, count, b.dtype);
}

static FM_INLINE bool fm_coll_is_reduction(enum fm_coll_kind kind)
{
    return kind == FM_COLL_REDUCE || kind == FM_COLL_ALLREDUCE || kind == FM_COLL_REDUCE_SCATTER ||
           kind == FM_COLL_SCAN || kind == FM_COLL_EXSCAN;
}

/* A side that is one block. */
static FM_INLINE struct fm_buf fm_side_whole(const struct fm_side *s)
{
    return fm_buf_of(s->buf, s->count, s->dtype);
}

/* This rank's contribution to a reduction: the send side, or the receive side when in place. */
static FM_INLINE struct fm_buf fm_coll_contribution(const struct fm_coll *c)
{
    const void *from = c->send.buf == MPI_IN_PLACE ? c->recv.buf : c->send.buf;

    return fm_buf_of(from, c->recv.count, c->recv.dtype);
}

/* The edges of a neighborhood collective; NULL: the communicator has no topology. */
static FM_INLINE const struct fm_neighbors *fm_coll_neighbors(const struct fm_comm *comm)
{
    return comm->parts[FM_COMM_NEIGHBORS].state;
}

static FM_INLINE bool fm_coll_is_neighborhood(enum fm_coll_kind kind)
{
    return kind == FM_COLL_NEIGHBOR_ALLGATHER || kind == FM_COLL_NEIGHBOR_ALLTOALL;
}

/* The largest power of two that is at most n. */
static FM_INLINE int fm_coll_pof2_below(int n)
{
    int p = 1;

    while (p <= n / 2) {
        p *= 2;
    }
    return p;
}
