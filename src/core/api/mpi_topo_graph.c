/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph topologies (MPI-5.0 8.5.3, 8.5.5, 8.5.8). */
#include "core/api/topo_args.h"

#include "core/topo/graph.h"

static int check_edges(const char *call, struct fm_comm *c, const struct fm_graph *graph)
{
    int n = fm_graph_edges(graph);
    int rc = fm_topo_args_array(c, call, "edges", graph->edges, n);

    for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
        if (graph->edges[i] < 0 || graph->edges[i] >= graph->n_nodes) {
            rc = fm_raise(c, call, MPI_ERR_RANK, "edges[%d] is %d but the graph has nodes 0..%d", i,
                          graph->edges[i], graph->n_nodes - 1);
        }
    }
    return rc;
}

/* A graph that fits into comm. */
static int check_graph(const char *call, struct fm_comm *c, const struct fm_graph *graph)
{
    int rc = MPI_SUCCESS;

    if (graph->n_nodes < 0 || graph->n_nodes > c->size) {
        return fm_raise(c, call, MPI_ERR_ARG,
                        "nnodes is %d, it must be at least 0 and at most the number of ranks of "
                        "communicator '%s' (%d)",
                        graph->n_nodes, c->name, c->size);
    }
    rc = fm_topo_args_array(c, call, "index", graph->index, graph->n_nodes);
    for (int i = 0; rc == MPI_SUCCESS && i < graph->n_nodes; i++) {
        if (graph->index[i] < (i > 0 ? graph->index[i - 1] : 0)) {
            rc = fm_raise(c, call, MPI_ERR_ARG,
                          "index[%d] is %d, less than what comes before: it must be the sum of the "
                          "degrees of nodes 0..%d",
                          i, graph->index[i], i);
        }
    }
    return rc == MPI_SUCCESS ? check_edges(call, c, graph) : rc;
}

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
                      int reorder, MPI_Comm *comm_graph)
{
    const struct fm_graph graph = {nnodes, indx, edges};
    struct fm_comm *c, *made = NULL;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm_old, "comm_graph", comm_graph, &c);
    rc = rc == MPI_SUCCESS ? check_graph(FM_CALL, c, &graph) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_graph_create(c, &graph, reorder != 0, &made);
        rc = fm_topo_args_finish(c, FM_CALL, rc, made, comm_graph);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Graph_create)

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    const struct fm_graph graph = {nnodes, indx, edges};
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm, "newrank", newrank, &c);
    rc = rc == MPI_SUCCESS ? check_graph(FM_CALL, c, &graph) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(c, FM_CALL, fm_graph_map(c, &graph, newrank));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Graph_map)

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_GRAPH, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "nnodes", nnodes) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "nedges", nedges) : rc;
    if (rc == MPI_SUCCESS) {
        *nnodes = topo->graph.n_nodes;
        *nedges = fm_graph_edges(&topo->graph);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Graphdims_get)

/* n numbers into an array of the user with room for max. */
static int give(const char *call, struct fm_comm *c, const char *max_name, int max,
                const char *name, int to[], const int from[], int n)
{
    int rc = fm_topo_args_space(c, call, max_name, max, n);

    rc = rc == MPI_SUCCESS ? fm_topo_args_array(c, call, name, to, n) : rc;
    if (rc == MPI_SUCCESS && n > 0) {
        memcpy(to, from, (size_t)n * sizeof(int));
    }
    return rc;
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_GRAPH, &c, &topo);
    rc = rc == MPI_SUCCESS ? give(FM_CALL, c, "maxindex", maxindex, "index", indx,
                                  topo->graph.index, topo->graph.n_nodes)
                           : rc;
    rc = rc == MPI_SUCCESS ? give(FM_CALL, c, "maxedges", maxedges, "edges", edges,
                                  topo->graph.edges, fm_graph_edges(&topo->graph))
                           : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Graph_get)

/* The neighbors of any rank of a graph. */
static int find_neighbors(const char *call, MPI_Comm comm, int rank, struct fm_comm **out_comm,
                          const int **out_neighbors, int *out_n)
{
    struct fm_topo *topo;
    int rc = fm_topo_args_find(call, comm, MPI_GRAPH, out_comm, &topo);

    if (rc == MPI_SUCCESS && (rank < 0 || rank >= (*out_comm)->size)) {
        return fm_raise(*out_comm, call, MPI_ERR_RANK,
                        "rank is %d but communicator '%s' has ranks 0..%d", rank, (*out_comm)->name,
                        (*out_comm)->size - 1);
    }
    if (rc == MPI_SUCCESS) {
        *out_neighbors = fm_graph_neighbors(&topo->graph, rank, out_n);
    }
    return rc;
}

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    struct fm_comm *c;
    const int *neighbors = NULL;
    int n = 0, rc;

    fm_api_enter(FM_CALL);
    rc = find_neighbors(FM_CALL, comm, rank, &c, &neighbors, &n);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "nneighbors", nneighbors) : rc;
    if (rc == MPI_SUCCESS) {
        *nneighbors = n;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Graph_neighbors_count)

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    struct fm_comm *c;
    const int *from = NULL;
    int n = 0, rc;

    fm_api_enter(FM_CALL);
    rc = find_neighbors(FM_CALL, comm, rank, &c, &from, &n);
    rc = rc == MPI_SUCCESS
             ? give(FM_CALL, c, "maxneighbors", maxneighbors, "neighbors", neighbors, from, n)
             : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Graph_neighbors)
