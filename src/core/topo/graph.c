/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph topologies. */
#include "core/topo/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/comm/comm_make.h"
#include "core/object/group.h"
#include "core/topo/place.h"
#include "util/status.h"

static int make_topo(const struct fm_graph *graph, int rank, struct fm_topo **out_topo)
{
    size_t n_nodes = (size_t)graph->n_nodes, n_edges = (size_t)fm_graph_edges(graph);
    struct fm_topo *topo;
    const int *neighbors;
    int n, rc;

    fm_graph_neighbors(graph, rank, &n);
    rc = fm_topo_create(MPI_GRAPH, n_nodes + n_edges + 2 * (size_t)n, &topo);
    if (rc != 0) {
        return rc;
    }
    memcpy(topo->numbers, graph->index, n_nodes * sizeof(int));
    if (n_edges > 0) {
        memcpy(topo->numbers + n_nodes, graph->edges, n_edges * sizeof(int));
    }
    topo->graph = (struct fm_graph){graph->n_nodes, topo->numbers, topo->numbers + n_nodes};
    neighbors = fm_graph_neighbors(&topo->graph, rank, &n);
    /* 8.6: the same order for sources and destinations. */
    topo->neighbors = (struct fm_neighbors){
        .n_sources = n, .n_dests = n, .sources = neighbors, .dests = neighbors};
    rc = fm_topo_sort_edges(topo, rank, graph->n_nodes, topo->numbers + n_nodes + n_edges);
    if (rc != 0) {
        fm_topo_unref(topo);
        return rc;
    }
    *out_topo = topo;
    return 0;
}

int fm_graph_place(struct fm_comm *comm, const struct fm_graph *graph, bool is_collective,
                   int **out_placed)
{
    const struct fm_place_graph g = {graph->n_nodes, graph->index, graph->edges, NULL};
    int *placed = malloc(((size_t)graph->n_nodes + 1) * sizeof(int));
    int rc;

    if (!placed) {
        return fm_fail(-FM_E_NOMEM, "no memory to place %d nodes", graph->n_nodes);
    }
    rc = is_collective ? fm_place_all(comm, &g, placed) : fm_place_local(comm, &g, placed);
    if (rc != 0) {
        free(placed);
        return rc;
    }
    *out_placed = placed;
    return 0;
}

int fm_graph_map(struct fm_comm *comm, const struct fm_graph *graph, int *out_rank)
{
    int *placed = NULL, rc = fm_graph_place(comm, graph, false, &placed);

    if (rc != 0) {
        return rc;
    }
    *out_rank = MPI_UNDEFINED;
    for (int i = 0; i < graph->n_nodes; i++) {
        *out_rank = placed[i] == comm->rank ? i : *out_rank;
    }
    free(placed);
    return 0;
}

int fm_graph_create(struct fm_comm *comm, const struct fm_graph *graph, bool is_reordered,
                    struct fm_comm **out_comm)
{
    struct fm_comm *made = NULL;
    struct fm_topo *topo = NULL;
    struct fm_group *group = NULL;
    int *placed = NULL;
    int rc = is_reordered ? fm_graph_place(comm, graph, true, &placed) : 0;

    rc = rc == 0 ? fm_place_group(comm, graph->n_nodes, placed, &group) : rc;
    rc = rc == 0 ? fm_comm_make_create(comm, group, &made) : rc;
    fm_group_unref(group);
    free(placed);
    if (rc == 0 && made) {
        rc = make_topo(graph, made->rank, &topo);
    }
    if (rc != 0) {
        fm_comm_unref(made);
        return rc;
    }
    if (made) {
        fm_topo_attach(made, topo);
    }
    *out_comm = made;
    return 0;
}
