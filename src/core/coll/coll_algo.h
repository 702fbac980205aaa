/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms of the folder, one function each: it writes the steps of one call on this rank.
 * Intracommunicators of two ranks and more; MPI_IN_PLACE is in the sides as the user gave it.
 */
#pragma once

#include "core/coll/coll_sched.h"

/* The functions of the rows that use messages. */
#define FM_COLL_DECLARE_MSG(algo) void algo(struct fm_sched *s, const struct fm_coll *c);
#define FM_COLL_DECLARE_SHM(algo)
#define FM_COLL_DECLARE_DIRECT(algo)
#define FM_COLL_DECLARE(KIND, kind, name, item, way, ...)                                          \
    FM_COLL_DECLARE_##way(fm_algo_##kind##_##name)
FM_COLL_ALGOS(FM_COLL_DECLARE)

/* All kinds that intercommunicators have (all but scan and exscan). */
void fm_algo_inter(struct fm_sched *s, const struct fm_coll *c);

/*
 * An accumulator of reductions that keeps the order of operands: `mine` holds the result so far,
 * `other` is temporary memory for what arrives.
 */
struct fm_accu {
    struct fm_buf mine;
    struct fm_buf other;
    bool is_borrowed; /* `mine` is the user's contribution, only read; else temporary memory */
};
/* mine = other op mine, or mine op other when `other` is the right operand. */
void fm_accu_combine(struct fm_sched *s, struct fm_accu *a, struct fm_op *op, bool other_is_left);
/* `mine` is this rank's contribution to a reduction, where it lies. */
struct fm_accu fm_accu_begin(struct fm_sched *s, const struct fm_coll *c);
