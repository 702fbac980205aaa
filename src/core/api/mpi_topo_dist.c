/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed graph topologies (MPI-5.0 8.5.4, 8.5.5). */
#include "core/api/topo_args.h"

#include "core/object/info.h"
#include "core/topo/dist_graph.h"

static int check_count(const char *call, struct fm_comm *c, const char *name, int n)
{
    return n >= 0 ? MPI_SUCCESS
                  : fm_raise(c, call, MPI_ERR_ARG, "%s is %d, it must not be negative", name, n);
}

static int check_ranks(const char *call, struct fm_comm *c, const char *name, const int ranks[],
                       int n)
{
    int rc = fm_topo_args_array(c, call, name, ranks, n);

    for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
        if (ranks[i] < 0 || ranks[i] >= c->size) {
            rc = fm_raise(c, call, MPI_ERR_RANK,
                          "%s[%d] is %d but communicator '%s' has ranks 0..%d", name, i, ranks[i],
                          c->name, c->size - 1);
        }
    }
    return rc;
}

/* No numbers to be read: MPI_UNWEIGHTED, or what stands for an empty array. */
static bool is_no_array(const int weights[])
{
    return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY;
}

static int check_weights(const char *call, struct fm_comm *c, const char *name, const int weights[],
                         int n)
{
    if (weights == MPI_WEIGHTS_EMPTY && n > 0) {
        return fm_raise(c, call, MPI_ERR_ARG, "%s is MPI_WEIGHTS_EMPTY, but there are %d edges",
                        name, n);
    }
    if (is_no_array(weights)) {
        return MPI_SUCCESS;
    }
    int rc = fm_topo_args_array(c, call, name, weights, n);

    for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
        if (weights[i] < 0) {
            rc = fm_raise(c, call, MPI_ERR_ARG, "%s[%d] is %d, it must not be negative", name, i,
                          weights[i]);
        }
    }
    return rc;
}

/* The result of both constructors. What only the ranks together know is a failure of all. */
static int finish(struct fm_comm *c, const char *call, int rc, struct fm_comm *made,
                  MPI_Comm *newcomm)
{
    if (rc == -FM_E_INVAL) {
        *newcomm = MPI_COMM_NULL;
        return fm_raise(c, call, MPI_ERR_TOPOLOGY, "%s", fm_why());
    }
    return fm_topo_args_finish(c, call, rc, made, newcomm);
}

/* One direction of adjacent edges. */
static int take_edges(const char *call, struct fm_comm *c, const char *const names[3], int n,
                      const int ranks[], const int weights[], struct fm_edges *out_edges)
{
    int rc = check_count(call, c, names[0], n);

    rc = rc == MPI_SUCCESS ? check_ranks(call, c, names[1], ranks, n) : rc;
    rc = rc == MPI_SUCCESS ? check_weights(call, c, names[2], weights, n) : rc;
    *out_edges = (struct fm_edges){n, ranks, is_no_array(weights) ? NULL : weights};
    return rc;
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree,
                                    const int destinations[], const int destweights[],
                                    MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    static const char *const in_names[] = {"indegree", "sources", "sourceweights"};
    static const char *const out_names[] = {"outdegree", "destinations", "destweights"};
    bool is_weighted = sourceweights != MPI_UNWEIGHTED;
    struct fm_comm *c, *made = NULL;
    struct fm_edges in, out;
    struct fm_info *hints;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm_old, "comm_dist_graph", comm_dist_graph, &c);
    rc = rc == MPI_SUCCESS ? fm_find_info(c, FM_CALL, info, true, &hints) : rc;
    rc = rc == MPI_SUCCESS ? take_edges(FM_CALL, c, in_names, indegree, sources, sourceweights, &in)
                           : rc;
    rc = rc == MPI_SUCCESS
             ? take_edges(FM_CALL, c, out_names, outdegree, destinations, destweights, &out)
             : rc;
    if (rc == MPI_SUCCESS && is_weighted != (destweights != MPI_UNWEIGHTED)) {
        rc = fm_raise(c, FM_CALL, MPI_ERR_ARG,
                      "one of sourceweights and destweights is MPI_UNWEIGHTED: both must be, or "
                      "none");
    } else if (rc == MPI_SUCCESS) {
        rc = fm_dist_graph_adjacent(c, &in, &out, is_weighted, reorder != 0, &made);
        rc = finish(c, FM_CALL, rc, made, comm_dist_graph);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Dist_graph_create_adjacent)

static int check_degrees(const char *call, struct fm_comm *c, const int degrees[], int n,
                         int *out_n_edges)
{
    int n_edges = 0, rc = fm_topo_args_array(c, call, "degrees", degrees, n);

    for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
        if (degrees[i] < 0 || __builtin_add_overflow(n_edges, degrees[i], &n_edges)) {
            rc =
                fm_raise(c, call, MPI_ERR_ARG,
                         "degrees[%d] is %d: degrees must not be negative, nor their sum more than "
                         "an int",
                         i, degrees[i]);
        }
    }
    *out_n_edges = n_edges;
    return rc;
}

static int check_list(const char *call, struct fm_comm *c, const struct fm_edge_list *list)
{
    int n_edges = 0, rc = check_count(call, c, "n", list->n);

    rc = rc == MPI_SUCCESS ? check_ranks(call, c, "sources", list->sources, list->n) : rc;
    rc = rc == MPI_SUCCESS ? check_degrees(call, c, list->degrees, list->n, &n_edges) : rc;
    rc = rc == MPI_SUCCESS ? check_ranks(call, c, "destinations", list->destinations, n_edges) : rc;
    return rc == MPI_SUCCESS ? check_weights(call, c, "weights", list->weights, n_edges) : rc;
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info,
                           int reorder, MPI_Comm *comm_dist_graph)
{
    struct fm_edge_list list = {n, sources, degrees, destinations, weights};
    struct fm_comm *c, *made = NULL;
    struct fm_info *hints;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm_old, "comm_dist_graph", comm_dist_graph, &c);
    rc = rc == MPI_SUCCESS ? fm_find_info(c, FM_CALL, info, true, &hints) : rc;
    rc = rc == MPI_SUCCESS ? check_list(FM_CALL, c, &list) : rc;
    if (rc == MPI_SUCCESS) {
        list.weights = is_no_array(weights) ? NULL : weights;
        rc = fm_dist_graph_create(c, &list, weights != MPI_UNWEIGHTED, reorder != 0, &made);
        rc = finish(c, FM_CALL, rc, made, comm_dist_graph);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Dist_graph_create)

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_DIST_GRAPH, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "indegree", indegree) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "outdegree", outdegree) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "weighted", weighted) : rc;
    if (rc == MPI_SUCCESS) {
        *indegree = topo->neighbors.n_sources;
        *outdegree = topo->neighbors.n_dests;
        *weighted = topo->weights.is_weighted;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Dist_graph_neighbors_count)

/* The first of n neighbors, as many as there is room for (8.5.5); weights if the graph has some and
   the user wants them. */
static int give(const char *call, struct fm_comm *c, const char *const names[3], int max, int n,
                int to[], const int ranks[], int to_weights[], const int weights[])
{
    int rc = check_count(call, c, names[0], max);

    n = n < max ? n : max;
    rc = rc == MPI_SUCCESS ? fm_topo_args_array(c, call, names[1], to, n) : rc;
    if (rc == MPI_SUCCESS && weights && !is_no_array(to_weights)) {
        rc = fm_topo_args_array(c, call, names[2], to_weights, n);
    } else {
        weights = NULL;
    }
    if (rc == MPI_SUCCESS && n > 0) {
        memcpy(to, ranks, (size_t)n * sizeof(int));
    }
    if (rc == MPI_SUCCESS && weights && n > 0) {
        memcpy(to_weights, weights, (size_t)n * sizeof(int));
    }
    return rc;
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[])
{
    static const char *const in_names[] = {"maxindegree", "sources", "sourceweights"};
    static const char *const out_names[] = {"maxoutdegree", "destinations", "destweights"};
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_DIST_GRAPH, &c, &topo);
    if (rc == MPI_SUCCESS) {
        const struct fm_neighbors *near = &topo->neighbors;
        const struct fm_weights none = {false, NULL, NULL};
        const struct fm_weights *w = topo->weights.is_weighted ? &topo->weights : &none;

        rc = give(FM_CALL, c, in_names, maxindegree, near->n_sources, sources, near->sources,
                  sourceweights, w->in);
        rc = rc == MPI_SUCCESS ? give(FM_CALL, c, out_names, maxoutdegree, near->n_dests,
                                      destinations, near->dests, destweights, w->out)
                               : rc;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Dist_graph_neighbors)
