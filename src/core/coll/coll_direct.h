/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On-node collectives by single copy, for long data: the ranks exchange the addresses of their
 * buffers through shared memory (coll_shm.h), copy straight from buffer to buffer, and meet once
 * more before they return, so that no buffer is touched by its owner while another rank copies.
 *
 * Work is divided so that all ranks copy at the same time: of a reduction each rank combines a
 * slice of the vector; a root reads or writes its share of each block. Results are combined in the
 * order in which messages would do it (coll_combine.h).
 */
#pragma once

#include "core/coll/coll_shm.h"

/* Can all ranks reach each other's memory? Collective in its first call on a communicator; later
   the answer is kept. 0 or a failure. */
int fm_coll_direct_find(struct fm_coll_shm *shm, bool *out_is_possible);

/* A call that the table of algorithms gives to single copy. 0 or a failure, the same in all
   ranks. */
int fm_coll_direct_run(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len);
