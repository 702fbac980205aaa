/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On-node collectives through shared memory (coll_shm_slot.h), instead of messages: one meeting of
 * all ranks in the place of log2(p) rounds, each of which may have to wake a rank.
 *
 * A communicator gets its memory in one of its blocking collectives, when it has made a few: rank
 * 0 makes the segment and sends its address to the others; if all of them can attach it, they use
 * it from then on. What depends on the machine is decided by rank 0 alone, so that all make the
 * same choice. Nonblocking and persistent calls use messages; the two do not disturb each other,
 * since the standard does not let them match (MPI-5.0 6.12).
 *
 * Results are combined by the last rank to arrive, in the order in which messages would do it: the
 * same bits at each run, and by either way.
 * Waiting uses fm_wait_shared(), which serves all other traffic meanwhile.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/coll/coll_call.h"

extern const struct fathom_table fm_coll_shm_vars;

struct fm_coll_shm;

/* Take the block of fm_coll_shm_vars (NULL: no registry). */
void fm_coll_shm_init(void *counters);

/*
 * The memory of the communicator: NULL when it has none (yet). May make it, which is a collective
 * act: called at the beginning of each blocking call of certain kinds, in the same order in all
 * ranks. `is_wanted`: make it now, even if the defaults would wait or use none. 0 or a failure.
 */
int fm_coll_shm_find(struct fm_comm *comm, bool is_wanted, struct fm_coll_shm **out_shm);

/* Longest contribution that it takes, bytes. */
MPI_Count fm_coll_shm_max_len(const struct fm_coll_shm *shm);

/* A call that the table of algorithms gives to shared memory; `len` as fm_coll_len() has it. 0 or a
   failure. */
int fm_coll_shm_run(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len);
