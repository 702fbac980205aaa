/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs and distributed graphs (MPI-5.0 8.5.3 - 8.5.5): random ones with multiple edges and edges
   to oneself against the list that they were made of, degenerate ones, bad arguments. Any number of
   ranks. */
#include "../check.h"

#include <string.h>

#define MAX_EDGES 256

static int rank, size;

/* A graph that all ranks draw from the same numbers. */
struct list {
    int n;
    int source[MAX_EDGES], dest[MAX_EDGES], weight[MAX_EDGES], owner[MAX_EDGES];
};

static struct list draw(uint64_t seed, int n)
{
    struct list l = {.n = n};

    for (int i = 0; i < n; i++) {
        l.source[i] = random_below(&seed, size);
        l.dest[i] = random_below(&seed, size);
        l.weight[i] = random_below(&seed, 100);
        l.owner[i] = random_below(&seed, size);
    }
    return l;
}

/* How many edges are the same as one. */
static int count(const struct list *l, int source, int dest, int weight)
{
    int n = 0;

    for (int i = 0; i < l->n; i++) {
        n += l->source[i] == source && l->dest[i] == dest && l->weight[i] == weight;
    }
    return n;
}

static int count_in(int n, const int ranks[], const int weights[], int r, int weight)
{
    int found = 0;

    for (int i = 0; i < n; i++) {
        found += ranks[i] == r && weights[i] == weight;
    }
    return found;
}

static void check_dist(MPI_Comm graph, const struct list *l, int is_weighted)
{
    int sources[MAX_EDGES], dests[MAX_EDGES], in_weights[MAX_EDGES], out_weights[MAX_EDGES];
    int n_in = -1, n_out = -1, weighted = -1, want_in = 0, want_out = 0, status = -1, me;

    MPI_Comm_rank(graph, &me);
    for (int i = 0; i < l->n; i++) {
        want_in += l->dest[i] == me;
        want_out += l->source[i] == me;
    }
    OK(MPI_Topo_test(graph, &status));
    CHECK_EQ(status, MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(graph, &n_in, &n_out, &weighted));
    CHECK_EQ(n_in, want_in);
    CHECK_EQ(n_out, want_out);
    CHECK_EQ(weighted, is_weighted);
    for (int i = 0; i < MAX_EDGES; i++) {
        in_weights[i] = out_weights[i] = sources[i] = dests[i] = -1;
    }
    OK(MPI_Dist_graph_neighbors(graph, n_in, sources, in_weights, n_out, dests, out_weights));
    for (int i = 0; i < n_in && is_weighted; i++) {
        CHECK_EQ(count_in(n_in, sources, in_weights, sources[i], in_weights[i]),
                 count(l, sources[i], me, in_weights[i]));
    }
    for (int i = 0; i < n_out && is_weighted; i++) {
        CHECK_EQ(count_in(n_out, dests, out_weights, dests[i], out_weights[i]),
                 count(l, me, dests[i], out_weights[i]));
    }
    CHECK_EQ(sources[n_in], -1);
    CHECK_EQ(is_weighted ? -1 : in_weights[0], -1);
    /* Only a part of them, without weights. */
    if (n_in > 0) {
        int first = -1;

        OK(MPI_Dist_graph_neighbors(graph, 1, &first, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
        CHECK_EQ(first, sources[0]);
        FAILS(MPI_Dist_graph_neighbors(graph, 1, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED),
              MPI_ERR_ARG);
    }
    FAILS(MPI_Dist_graph_neighbors(graph, -1, sources, in_weights, n_out, dests, out_weights),
          MPI_ERR_ARG);
}

/* Each rank gives the edges that it was drawn as the owner of, each as a list of its own or joined
   with the next one. */
static MPI_Comm create(const struct list *l, int is_weighted, int reorder)
{
    int sources[MAX_EDGES], degrees[MAX_EDGES], dests[MAX_EDGES], weights[MAX_EDGES];
    int n = 0, n_edges = 0;
    MPI_Comm graph;

    for (int i = 0; i < l->n; i++) {
        if (l->owner[i] != rank) {
            continue;
        }
        if (n > 0 && sources[n - 1] == l->source[i]) {
            degrees[n - 1]++;
        } else {
            sources[n] = l->source[i];
            degrees[n++] = 1;
        }
        dests[n_edges] = l->dest[i];
        weights[n_edges++] = l->weight[i];
    }
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, dests,
                             !is_weighted   ? MPI_UNWEIGHTED
                             : n_edges == 0 ? MPI_WEIGHTS_EMPTY
                                            : weights,
                             MPI_INFO_NULL, reorder, &graph));
    return graph;
}

static MPI_Comm create_adjacent(const struct list *l, int is_weighted, int reorder)
{
    int sources[MAX_EDGES], dests[MAX_EDGES], in_weights[MAX_EDGES], out_weights[MAX_EDGES];
    int n_in = 0, n_out = 0, me, again[MAX_EDGES], dest_again[MAX_EDGES];
    MPI_Comm graph;

    for (int i = 0; i < l->n; i++) {
        if (l->dest[i] == rank) {
            sources[n_in] = l->source[i];
            in_weights[n_in++] = l->weight[i];
        }
        if (l->source[i] == rank) {
            dests[n_out] = l->dest[i];
            out_weights[n_out++] = l->weight[i];
        }
    }
    OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, n_in, sources,
        !is_weighted ? MPI_UNWEIGHTED : (n_in ? in_weights : MPI_WEIGHTS_EMPTY), n_out, dests,
        !is_weighted ? MPI_UNWEIGHTED : (n_out ? out_weights : MPI_WEIGHTS_EMPTY), MPI_INFO_NULL,
        reorder, &graph));
    MPI_Comm_rank(graph, &me);
    if (!reorder) {
        /* The order is that of the arguments (8.5.5). */
        CHECK_EQ(me, rank);
        OK(MPI_Dist_graph_neighbors(graph, n_in, again, MPI_UNWEIGHTED, n_out, dest_again,
                                    MPI_UNWEIGHTED));
        CHECK(memcmp(again, sources, (size_t)n_in * sizeof(int)) == 0);
        CHECK(memcmp(dest_again, dests, (size_t)n_out * sizeof(int)) == 0);
    }
    return graph;
}

static void check_all(MPI_Comm graph, const struct list *l, int is_weighted)
{
    MPI_Comm dup;

    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    check_dist(graph, l, is_weighted);
    OK(MPI_Comm_dup(graph, &dup));
    OK(MPI_Comm_free(&graph));
    check_dist(dup, l, is_weighted);
    OK(MPI_Comm_free(&dup));
}

static void distributed(void)
{
    for (int i = 0; i < 24; i++) {
        struct list l = draw((uint64_t)i + 1, i * 5);

        check_all(create(&l, i & 1, i & 2), &l, i & 1);
        check_all(create_adjacent(&l, i & 1, i & 2), &l, i & 1);
    }
}

/* A list as MPI_Graph_create wants it, symmetric or not. */
static void whole(int n_nodes, const struct list *l, int reorder)
{
    int index[64], edges[MAX_EDGES], got_index[64], got_edges[MAX_EDGES], n = 0;
    int got_nodes = -1, got_n = -1, status = -1, new_rank = -7, me;
    MPI_Comm graph;

    for (int node = 0; node < n_nodes; node++) {
        for (int i = 0; i < l->n; i++) {
            if (l->source[i] == node && l->dest[i] < n_nodes) {
                edges[n++] = l->dest[i];
            }
        }
        index[node] = n;
    }
    OK(MPI_Graph_map(MPI_COMM_WORLD, n_nodes, index, edges, &new_rank));
    CHECK(new_rank == MPI_UNDEFINED || (new_rank >= 0 && new_rank < n_nodes));
    OK(MPI_Graph_create(MPI_COMM_WORLD, n_nodes, index, edges, reorder, &graph));
    if (!reorder) {
        CHECK_EQ(graph != MPI_COMM_NULL, rank < n_nodes);
    }
    if (graph == MPI_COMM_NULL) {
        return;
    }
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    MPI_Comm_rank(graph, &me);
    OK(MPI_Topo_test(graph, &status));
    CHECK_EQ(status, MPI_GRAPH);
    OK(MPI_Graphdims_get(graph, &got_nodes, &got_n));
    CHECK_EQ(got_nodes, n_nodes);
    CHECK_EQ(got_n, n);
    OK(MPI_Graph_get(graph, 64, MAX_EDGES, got_index, got_edges));
    CHECK(memcmp(index, got_index, (size_t)n_nodes * sizeof(int)) == 0);
    CHECK(memcmp(edges, got_edges, (size_t)n * sizeof(int)) == 0);
    for (int node = 0; node < n_nodes; node++) {
        int first = node > 0 ? index[node - 1] : 0, degree = index[node] - first;

        OK(MPI_Graph_neighbors_count(graph, node, &got_n));
        CHECK_EQ(got_n, degree);
        OK(MPI_Graph_neighbors(graph, node, degree, got_edges));
        CHECK(memcmp(edges + first, got_edges, (size_t)degree * sizeof(int)) == 0);
        if (degree > 0) {
            FAILS(MPI_Graph_neighbors(graph, node, degree - 1, got_edges), MPI_ERR_ARG);
            FAILS(MPI_Graph_neighbors(graph, node, degree, NULL), MPI_ERR_ARG);
        }
    }
    FAILS(MPI_Graph_neighbors_count(graph, n_nodes, &got_n), MPI_ERR_RANK);
    FAILS(MPI_Graph_neighbors(graph, -1, MAX_EDGES, got_edges), MPI_ERR_RANK);
    FAILS(MPI_Graph_get(graph, n_nodes - 1, MAX_EDGES, got_index, got_edges), MPI_ERR_ARG);
    FAILS(MPI_Graphdims_get(graph, NULL, &got_n), MPI_ERR_ARG);
    OK(MPI_Comm_free(&graph));
}

static void graphs(void)
{
    for (int i = 0; i < 12; i++) {
        struct list l = draw((uint64_t)i + 100, i * 7);

        whole(size, &l, i & 1);
        whole((size + 1) / 2, &l, i & 1);
        whole(1, &l, 0);
        whole(0, &l, 0);
    }
}

static void refused(void)
{
    int index[1] = {1}, edge[1] = {0}, bad_edge[1] = {1}, falling[1] = {-1}, one[1] = {0}, far[1];
    int minus[1] = {-1}, out, n = -1;
    MPI_Comm graph;

    far[0] = size;
    FAILS(MPI_Graph_create(MPI_COMM_NULL, 1, index, edge, 0, &graph), MPI_ERR_COMM);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, -1, index, edge, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edge, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, bad_edge, 0, &graph), MPI_ERR_RANK);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, falling, edge, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, edge, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, NULL, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(MPI_COMM_WORLD, 1, index, edge, 0, NULL), MPI_ERR_ARG);
    FAILS(MPI_Graph_map(MPI_COMM_WORLD, 1, index, bad_edge, &out), MPI_ERR_RANK);
    FAILS(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &out), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graph_get(MPI_COMM_WORLD, 1, 1, index, edge), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &n), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graph_neighbors(MPI_COMM_WORLD, 0, 1, edge), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &n, &n), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Dist_graph_neighbors(MPI_COMM_WORLD, 1, one, one, 1, one, one), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, -1, one, index, one, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                0, &graph),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, far, index, one, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                0, &graph),
          MPI_ERR_RANK);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, index, minus, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                0, &graph),
          MPI_ERR_RANK);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, minus, one, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                0, &graph),
          MPI_ERR_ARG);
    FAILS(
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, index, one, minus, MPI_INFO_NULL, 0, &graph),
        MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, index, one, MPI_WEIGHTS_EMPTY,
                                MPI_INFO_NULL, 0, &graph),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, one, index, one, NULL, MPI_INFO_NULL, 0, &graph),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, one, one, 0, one, one, MPI_INFO_NULL,
                                         0, &graph),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, far, one, 0, one, one, MPI_INFO_NULL, 0,
                                         &graph),
          MPI_ERR_RANK);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, one, MPI_UNWEIGHTED, 1, one, one,
                                         MPI_INFO_NULL, 0, &graph),
          MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, one, one, 1, one, one, (MPI_Info)&n, 0,
                                         &graph),
          MPI_ERR_INFO);
}

/* What only the ranks together can see is refused in all of them. */
static void disagreeing(void)
{
    int zero[1] = {0}, weight[1] = {rank};
    MPI_Comm graph;

    /* Rank 0 has no edge into it, but each rank one to it; or of another weight. */
    FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 1, zero,
                                         MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
          MPI_ERR_TOPOLOGY);
    CHECK(graph == MPI_COMM_NULL);
    if (size > 1) {
        int next[1] = {(rank + 1) % size}, prev[1] = {(rank + size - 1) % size};

        FAILS(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, prev, weight, 1, next, weight,
                                             MPI_INFO_NULL, 0, &graph),
              MPI_ERR_TOPOLOGY);
        FAILS(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL,
                                    rank == 0 ? MPI_UNWEIGHTED : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                    0, &graph),
              MPI_ERR_TOPOLOGY);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    distributed();
    graphs();
    refused();
    disagreeing();
    MPI_Finalize();
    return 0;
}
