/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives of ranks of one host through memory that they share (node_cell.h), instead of
 * messages: one pass instead of log2(p) rounds, in each of which somebody has to be woken.
 *
 * A communicator gets its memory in one of its blocking collectives, when it has made a few: rank
 * 0 makes the segment and tells the others; if all of them can attach it, they use it from then on.
 * What depends on the machine is decided by rank 0 alone, so that all make the same choice.
 * Nonblocking and persistent calls go by messages; the two ways do not disturb each other, since
 * the standard does not let them match (MPI-5.0 6.12).
 *
 * Results are combined by the last one to arrive, in the order in which messages would do it: the
 * same bits at each run, and whichever way a call goes.
 * Waiting goes through fm_wait_shared(), which serves all other traffic meanwhile.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/coll/coll.h"

extern const struct fathom_table fm_node_vars;

struct fm_node;

/* Take the block of fm_node_vars (NULL: no registry). */
void fm_node_init(void *counters);

/*
 * The memory of the communicator: NULL when it has none (yet). May make it, which is a collective
 * act: called at the beginning of each blocking call of certain kinds, in the same order in all
 * ranks. `is_wanted`: now, whether or not it looks worthwhile. 0 or a failure.
 */
int fm_node_find(struct fm_comm *comm, bool is_wanted, struct fm_node **out_node);

/* Longest contribution that it takes, bytes. */
MPI_Count fm_node_max_len(const struct fm_node *node);

/* Barrier, bcast, reduce, allreduce, allgather without counts; `len` bytes of one contribution, at
   most fm_node_max_len(). 0 or a failure. */
int fm_node_run(struct fm_node *node, const struct fm_coll *c, MPI_Count len);
