/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives on intercommunicators (MPI-5.0 6.2.3): data of one group goes
 * directly to the other. Where a group needs a result of the other's data, its rank 0 computes it
 * and distributes it in its own group.
 */
#include "core/coll/coll_algo.h"

static struct fm_buf whole(const struct fm_side *side)
{
    return fm_buf_of(side->buf, side->count, side->dtype);
}

/* All ranks of this group get a token when all ranks of the other have arrived. */
static void barrier(struct fm_sched *s, const struct fm_coll *c)
{
    struct fm_buf none = fm_buf_bytes(NULL, 0);

    fm_step_send(s, none, 0);
    for (int i = 0; c->comm->rank == 0 && i < c->comm->n_remote; i++) {
        fm_step_recv(s, none, i);
    }
    fm_step_fence(s);
    for (int i = 0; c->comm->rank == 0 && i < c->comm->n_remote; i++) {
        fm_step_send(s, none, i);
    }
    fm_step_recv(s, none, 0);
    fm_step_fence(s);
}

/* The root is on the other side, or here: then it is the one that passed MPI_ROOT. */
static void bcast(struct fm_sched *s, const struct fm_coll *c)
{
    if (c->root == MPI_ROOT) {
        for (int i = 0; i < c->comm->n_remote; i++) {
            fm_step_send(s, whole(&c->recv), i);
        }
    } else if (c->root != MPI_PROC_NULL) {
        fm_step_recv(s, whole(&c->recv), c->root);
    }
    fm_step_fence(s);
}

static void gather(struct fm_sched *s, const struct fm_coll *c)
{
    if (c->root == MPI_ROOT) {
        for (int i = 0; i < c->comm->n_remote; i++) {
            fm_step_recv(s, fm_side_block(&c->recv, i), i);
        }
    } else if (c->root != MPI_PROC_NULL) {
        fm_step_send(s, whole(&c->send), c->root);
    }
    fm_step_fence(s);
}

static void scatter(struct fm_sched *s, const struct fm_coll *c)
{
    if (c->root == MPI_ROOT) {
        for (int i = 0; i < c->comm->n_remote; i++) {
            fm_step_send(s, fm_side_block(&c->send, i), i);
        }
    } else if (c->root != MPI_PROC_NULL) {
        fm_step_recv(s, whole(&c->recv), c->root);
    }
    fm_step_fence(s);
}

static void allgather(struct fm_sched *s, const struct fm_coll *c)
{
    for (int i = 0; i < c->comm->n_remote; i++) {
        fm_step_recv(s, fm_side_block(&c->recv, i), i);
        fm_step_send(s, whole(&c->send), i);
    }
    fm_step_fence(s);
}

static void alltoall(struct fm_sched *s, const struct fm_coll *c)
{
    for (int i = 0; i < c->comm->n_remote; i++) {
        fm_step_recv(s, fm_side_block(&c->recv, i), i);
        fm_step_send(s, fm_side_block(&c->send, i), i);
    }
    fm_step_fence(s);
}

/* What the other group contributes, reduced in the order of its ranks, in temporary memory. Its
   rank 0 does the same for `ours`, if there is one: it goes out beside the receive from that rank,
   the last of both sides; any sooner, each rank 0 would wait for the other to receive. */
static struct fm_buf reduce_remote(struct fm_sched *s, const struct fm_coll *c, MPI_Count count,
                                   const struct fm_buf *ours)
{
    struct fm_accu a = {fm_step_temp_typed(s, count, c->recv.dtype),
                        fm_step_temp_typed(s, count, c->recv.dtype)};
    int last = c->comm->n_remote - 1;

    for (int i = last; i >= 0; i--) {
        fm_step_recv(s, i == last ? a.mine : a.other, i);
        if (i == 0 && ours) {
            fm_step_send(s, *ours, 0);
        }
        fm_step_fence(s);
        if (i < last) {
            fm_accu_combine(s, &a, c->op, true);
        }
    }
    return a.mine;
}

static void reduce(struct fm_sched *s, const struct fm_coll *c)
{
    if (c->root == MPI_ROOT) {
        fm_step_copy(s, whole(&c->recv), reduce_remote(s, c, c->recv.count, NULL));
    } else if (c->root != MPI_PROC_NULL) {
        fm_step_send(s, fm_coll_contribution(c), c->root);
        fm_step_fence(s);
    }
}

/* Rank 0 reduces what the other group contributes, and distributes it in its own group: to each
   rank all of it, or, with counts, a block. */
static void reduce_and_spread(struct fm_sched *s, const struct fm_coll *c, MPI_Count count)
{
    bool is_block = c->kind == FM_COLL_REDUCE_SCATTER;
    int size = c->comm->size, rank = c->comm->rank;
    struct fm_buf own = fm_buf_of(c->recv.buf, fm_side_count(&c->recv, rank), c->recv.dtype);
    struct fm_buf ours = fm_buf_of(c->send.buf, count, c->recv.dtype), made;
    MPI_Count at = is_block ? fm_side_count(&c->recv, 0) : 0;

    if (rank != 0) {
        fm_step_send(s, ours, 0);
        fm_step_fence(s);
        fm_sched_talk(s, c->comm->local_comm);
        fm_step_recv(s, own, 0);
        fm_step_fence(s);
        return;
    }
    made = reduce_remote(s, c, count, &ours);
    fm_sched_talk(s, c->comm->local_comm);
    for (int i = 1; i < size; i++) {
        MPI_Count n = fm_side_count(&c->recv, i);

        fm_step_send(s, fm_buf_part(made, at, n), i);
        at += is_block ? n : 0;
    }
    fm_step_copy(s, own, fm_buf_part(made, 0, own.count));
    fm_step_fence(s);
}

static void allreduce(struct fm_sched *s, const struct fm_coll *c)
{
    reduce_and_spread(s, c, c->recv.count);
}

/* The counts of both groups add up to the same sum (MPI-5.0 6.10.2). */
static void reduce_scatter(struct fm_sched *s, const struct fm_coll *c)
{
    MPI_Count total = 0;

    for (int i = 0; i < c->comm->size; i++) {
        total += fm_side_count(&c->recv, i);
    }
    reduce_and_spread(s, c, total);
}

void fm_algo_inter(struct fm_sched *s, const struct fm_coll *c)
{
    static const fm_coll_algo_fn algos[FM_COLL_COUNT] = {
        [FM_COLL_BARRIER] = barrier,
        [FM_COLL_BCAST] = bcast,
        [FM_COLL_REDUCE] = reduce,
        [FM_COLL_ALLREDUCE] = allreduce,
        [FM_COLL_GATHER] = gather,
        [FM_COLL_SCATTER] = scatter,
        [FM_COLL_ALLGATHER] = allgather,
        [FM_COLL_ALLTOALL] = alltoall,
        [FM_COLL_REDUCE_SCATTER] = reduce_scatter,
    };

    algos[c->kind](s, c);
}
