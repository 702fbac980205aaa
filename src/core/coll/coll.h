/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry of collectives (MPI-5.0 chapter 6). Arguments are checked by the caller (core/api).
 * Messages travel in the communicator's collective space with the tag of the call's number, so that
 * calls cannot mix.
 */
#pragma once

#include "core/coll/coll_call.h"

struct fm_request;

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
