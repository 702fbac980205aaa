/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Virtual topologies (MPI-5.0 chapter 8): what a communicator knows of the pattern in which its
 * ranks communicate. A topology is made once and never changes, so that duplicates of a
 * communicator share it. It is the part FM_COMM_TOPO of its communicator, and its edges are the
 * part FM_COMM_NEIGHBORS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "core/object/comm.h"
#include "core/object/neighbors.h"
#include "core/topo/grid.h"

/* A whole graph, as in MPI_Graph_create: the neighbors of rank i end before edges[index[i]]. */
struct fm_graph {
    int n_nodes;
    const int *index;
    const int *edges;
};

/* Weights of the edges, which lie in `neighbors`; NULL: none of that direction. */
struct fm_weights {
    bool is_weighted;
    const int *in, *out;
};

struct fm_topo {
    int n_users;
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    struct fm_neighbors neighbors;
    union {
        struct fm_grid grid;
        struct fm_graph graph;
        struct fm_weights weights; /* of a distributed graph */
    };
    int numbers[]; /* what the arrays above point into */
};

/* A topology without content, with room for n numbers and one user. */
int fm_topo_create(int kind, size_t n_numbers, struct fm_topo **out_topo);
/* A user less. NULL is fine. */
void fm_topo_unref(struct fm_topo *topo);

/*
 * Bring the edges of a rank into order (neighbors.h), `order` being room for as many numbers as
 * there are sources and destinations. The edges of two ranks match in the order of their positions;
 * in a Cartesian topology what is sent in one direction of a dimension is received from the other
 * (8.6.2), which matters where both neighbors are the same process.
 */
int fm_topo_sort_edges(struct fm_topo *topo, int rank, int size, int *order);

/* The topology of a communicator, NULL: it has none. */
struct fm_topo *fm_topo_of(const struct fm_comm *comm);
/* Make it that of a new communicator, which is its user from now on. */
void fm_topo_attach(struct fm_comm *comm, struct fm_topo *topo);
/* A duplicate has the topology of its origin, if there is one (7.4.2). */
void fm_topo_share(const struct fm_comm *origin, struct fm_comm *duplicate);
