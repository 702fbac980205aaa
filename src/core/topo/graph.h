/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph topologies, known whole in every rank (MPI-5.0 8.5.3, 8.5.5). */
#pragma once

#include "core/topo/topo.h"

/* MPI_Graph_create: collective over comm, which has enough ranks. NULL for a caller that is not in
   the graph. */
int fm_graph_create(struct fm_comm *comm, const struct fm_graph *graph, bool is_reordered,
                    struct fm_comm **out_comm);

/* Nodes to ranks of comm (place.h), by all that is known of the processes (collective), or by what
   every process knows; *out_placed is to be freed. */
int fm_graph_place(struct fm_comm *comm, const struct fm_graph *graph, bool is_collective,
                   int **out_placed);
/* MPI_Graph_map: the node of the calling rank, MPI_UNDEFINED: none. Local. */
int fm_graph_map(struct fm_comm *comm, const struct fm_graph *graph, int *out_rank);

/* The neighbors of a rank: *out_n of them. */
static inline const int *fm_graph_neighbors(const struct fm_graph *graph, int rank, int *out_n)
{
    int first = rank > 0 ? graph->index[rank - 1] : 0;

    *out_n = graph->index[rank] - first;
    return graph->edges + first;
}

static inline int fm_graph_edges(const struct fm_graph *graph)
{
    return graph->n_nodes > 0 ? graph->index[graph->n_nodes - 1] : 0;
}
