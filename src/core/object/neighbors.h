/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of one rank in its communicator's topology: what neighborhood collectives run over
 * (MPI-5.0 8.6). An edge has a position in the list of sources or of destinations, which is the
 * position of its block in the buffer. The same rank may have several, and may be the caller's own.
 *
 * The edges from one rank to another match in order: the k-th one in the sender's `send_order` is
 * the k-th one in the receiver's `recv_order`. In these lists the edges of one rank lie together.
 */
#pragma once

struct fm_neighbors {
    int n_sources, n_dests;
    const int *sources; /* ranks, or MPI_PROC_NULL: a block that nothing is received for */
    const int *dests;   /* ranks, or MPI_PROC_NULL: a block that is not sent */
    int n_recv, n_send; /* edges that are not of MPI_PROC_NULL */
    const int *recv_order, *send_order; /* their positions */
};
