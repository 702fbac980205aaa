/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of collective calls. */
#include "core/coll/coll_call.h"

#include "util/status.h"

/* Bytes of the first n_blocks blocks of a side, -1 when that is more than can be. */
static MPI_Count side_len(const struct fm_side *side, int n_blocks)
{
    MPI_Count total = 0;

    for (int i = 0; i < n_blocks; i++) {
        struct fm_dtype *t = side->dtypes ? side->dtypes[i] : side->dtype;
        MPI_Count len = fm_dtype_bytes(t, fm_side_count(side, i));

        if (len < 0 || __builtin_add_overflow(total, len, &total)) {
            return -1;
        }
    }
    return total;
}

/* All blocks that this rank sends or receives; a side without a type means nothing here. */
static MPI_Count inter_len(const struct fm_coll *c)
{
    int n = c->kind == FM_COLL_REDUCE_SCATTER ? c->comm->size : c->comm->n_remote;
    MPI_Count send = c->send.dtype && c->send.buf ? side_len(&c->send, c->send.counts ? n : 1) : 0;
    MPI_Count recv = c->recv.dtype ? side_len(&c->recv, c->recv.counts ? n : 1) : 0;
    MPI_Count all;

    return send < 0 || recv < 0 || __builtin_mul_overflow(send + recv, (MPI_Count)n + 1, &all)
               ? -1
               : send + recv;
}

/* All blocks of the receive side; the other one must be possible. */
static MPI_Count neighborhood_len(const struct fm_coll *c)
{
    const struct fm_neighbors *near = fm_coll_neighbors(c->comm);
    bool is_alltoall = c->kind == FM_COLL_NEIGHBOR_ALLTOALL;

    return side_len(&c->send, is_alltoall ? near->n_dests : 1) < 0
               ? -1
               : side_len(&c->recv, near->n_sources);
}

static MPI_Count call_len(const struct fm_coll *c)
{
    bool is_root = c->comm->rank == c->root;

    if (c->comm->is_inter) {
        return inter_len(c);
    }

    switch (c->kind) {
    case FM_COLL_BARRIER:
        return 0;
    case FM_COLL_GATHER:
        return is_root ? side_len(&c->recv, c->is_varying ? c->comm->size : 1)
                       : side_len(&c->send, 1);
    case FM_COLL_SCATTER:
        return is_root ? side_len(&c->send, c->is_varying ? c->comm->size : 1)
                       : side_len(&c->recv, 1);
    case FM_COLL_ALLGATHER:
    case FM_COLL_REDUCE_SCATTER:
        return side_len(&c->recv, c->comm->size);
    case FM_COLL_ALLTOALL:
        return side_len(&c->recv, c->is_varying ? c->comm->size : 1);
    case FM_COLL_NEIGHBOR_ALLGATHER:
    case FM_COLL_NEIGHBOR_ALLTOALL:
        return neighborhood_len(c);
    default:
        return side_len(&c->recv, 1);
    }
}

int fm_coll_len(const struct fm_coll *c, MPI_Count *out_len)
{
    MPI_Count len = call_len(c), all;

    if (len < 0 ||
        (!c->comm->is_inter && __builtin_mul_overflow(len, (MPI_Count)c->comm->size + 1, &all))) {
        return fm_fail(-FM_E_INVAL, "the buffers are longer than an address space");
    }
    *out_len = len;
    return 0;
}

MPI_Count fm_coll_contribution_len(const struct fm_coll *c, MPI_Count len)
{
    MPI_Count longest = 0;

    switch (c->kind) {
    case FM_COLL_ALLTOALL:
        return c->is_varying ? len : len * c->comm->size;
    case FM_COLL_ALLGATHER:
        if (!c->is_varying) {
            return len / c->comm->size;
        }
        for (int r = 0; r < c->comm->size; r++) {
            MPI_Count one = fm_dtype_bytes(c->recv.dtype, fm_side_count(&c->recv, r));

            longest = one > longest ? one : longest;
        }
        return longest;
    default:
        return len;
    }
}
