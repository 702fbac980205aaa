/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of one rank in its communicator's topology: what neighborhood collectives run over
 * (MPI-5.0 8.6). An edge has a position in the list of sources or of destinations, which is the
 * position of its block in the buffer. The same rank may have several, and may be the caller's own.
 *
 * Messages between two ranks match in order: the k-th edge to a rank in its sender's `dests` is the
 * k-th edge from that sender in the receiver's `sources`, taken in the order of `recv_order`.
 */
#pragma once

struct fm_neighbors {
    int n_sources, n_dests;
    const int *sources; /* ranks, or MPI_PROC_NULL: a block that nothing is received for */
    const int *dests;   /* ranks, or MPI_PROC_NULL: a block that is not sent */
    /* Positions in `sources` in the order in which they match; NULL: 0, 1, 2, ... In a Cartesian
       topology what is sent in one direction is received from the other (8.6.2), which matters
       where both neighbors in a dimension are the same process. */
    const int *recv_order;
};
