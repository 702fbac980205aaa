/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed graph topologies, of which a rank knows its own edges (MPI-5.0 8.5.4). */
#pragma once

#include "core/topo/topo.h"

/* Edges of one direction at the calling rank. */
struct fm_edges {
    int n;
    const int *ranks;
    const int *weights; /* NULL: not weighted */
};

/* MPI_Dist_graph_create_adjacent: collective over comm. -FM_E_INVAL in all ranks: what they say
   does not make one graph. */
int fm_dist_graph_adjacent(struct fm_comm *comm, const struct fm_edges *in,
                           const struct fm_edges *out, bool is_weighted, bool is_reordered,
                           struct fm_comm **out_comm);

/* Any edges of the graph: from sources[i] to the next degrees[i] of destinations. */
struct fm_edge_list {
    int n;
    const int *sources;
    const int *degrees;
    const int *destinations;
    const int *weights; /* NULL: not weighted */
};

/* MPI_Dist_graph_create: collective over comm. -FM_E_INVAL as above. */
int fm_dist_graph_create(struct fm_comm *comm, const struct fm_edge_list *list, bool is_weighted,
                         bool is_reordered, struct fm_comm **out_comm);
