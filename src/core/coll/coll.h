/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives (MPI-5.0 chapter 6): entry, choice of algorithm, and the algorithms behind it.
 *
 * Arguments are checked. Counts are MPI_Count, sendbuf or recvbuf may be MPI_IN_PLACE where the
 * standard allows it. Messages travel in the communicator's collective space with the tag of the
 * call's number, so that calls cannot mix.
 */
#pragma once

#include "core/dtype/dtype.h"
#include "core/dtype/op.h"
#include "core/object/comm.h"

extern const struct fathom_table fm_coll_vars;

/* One side of a collective: count elements of a type at buf. */
struct fm_buf {
    void *buf;
    MPI_Count count;
    struct fm_dtype *dtype;
};

/* Take the block of fm_coll_vars. */
void fm_coll_init(void *words);

int fm_barrier(struct fm_comm *comm);
int fm_bcast(const struct fm_buf *data, int root, struct fm_comm *comm);
int fm_reduce(const void *sendbuf, const struct fm_buf *recv, struct fm_op *op, int root,
              struct fm_comm *comm);
int fm_allreduce(const void *sendbuf, const struct fm_buf *recv, struct fm_op *op,
                 struct fm_comm *comm);
int fm_gather(const struct fm_buf *send, const struct fm_buf *recv, int root, struct fm_comm *comm);
int fm_scatter(const struct fm_buf *send, const struct fm_buf *recv, int root,
               struct fm_comm *comm);
int fm_allgather(const struct fm_buf *send, const struct fm_buf *recv, struct fm_comm *comm);
int fm_alltoall(const struct fm_buf *send, const struct fm_buf *recv, struct fm_comm *comm);
