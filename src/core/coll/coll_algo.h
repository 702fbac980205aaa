/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms of the folder, one function each: it writes the steps of one call on this rank.
 * Intracommunicators of two ranks and more; MPI_IN_PLACE is in the sides as the user gave it.
 */
#pragma once

#include "core/coll/coll_sched.h"

typedef void (*fm_algo_fn)(struct fm_sched *s, const struct fm_coll *c);

void fm_algo_barrier_dissemination(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_bcast_binomial(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_bcast_scatter_ring(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_reduce_binomial(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_reduce_halving(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_allreduce_doubling(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_allreduce_halving(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_gather_binomial(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_gather_linear(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_scatter_binomial(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_scatter_linear(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_allgather_bruck(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_allgather_doubling(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_allgather_ring(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_alltoall_bruck(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_alltoall_pairwise(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_alltoall_window(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_reduce_scatter_by_reduce(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_reduce_scatter_pairwise(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_scan_doubling(struct fm_sched *s, const struct fm_coll *c);
void fm_algo_exscan_doubling(struct fm_sched *s, const struct fm_coll *c);

/* All kinds that intercommunicators have (all but scan and exscan). */
void fm_algo_inter(struct fm_sched *s, const struct fm_coll *c);

/*
 * An accumulator of reductions that keeps the order of operands: `mine` holds the result so far,
 * `other` takes what arrives. Both lie in temporary memory.
 */
struct fm_accu {
    struct fm_buf mine;
    struct fm_buf other;
};
/* mine = other op mine, or mine op other when the other operand stands right of ours. */
void fm_accu_combine(struct fm_sched *s, struct fm_accu *a, struct fm_op *op, bool other_is_left);
/* With mine a copy of this rank's contribution to a reduction. */
struct fm_accu fm_accu_begin(struct fm_sched *s, const struct fm_coll *c);

/* This rank's contribution to a reduction: the send side, or the receive side when in place. */
struct fm_buf fm_coll_contribution(const struct fm_coll *c);

static FM_INLINE int fm_pof2_below(int n)
{
    int p = 1;

    while (p <= n / 2) {
        p *= 2;
    }
    return p;
}
