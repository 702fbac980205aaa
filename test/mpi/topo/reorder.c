/* SPDX-License-Identifier: BSD-3-Clause */
/* What `reorder` does (MPI-5.0 8.5): edges between hosts, as MPI_Comm_split_type tells them,
   against those of the same topology in the order of ranks. Run on one host and over groups of
   ranks that stand for two. Any number of ranks. */
#include "../check.h"

enum { MAX_RANKS = 128 };

static int size, rank, n_hosts;
static int host_of_world[MAX_RANKS];

static void find_hosts(void)
{
    MPI_Comm host;
    int first = rank;

    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host));
    MPI_Bcast(&first, 1, MPI_INT, 0, host);
    OK(MPI_Comm_free(&host));
    MPI_Allgather(&first, 1, MPI_INT, host_of_world, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        n_hosts += host_of_world[i] == i;
    }
}

/* Edges from this communicator's ranks to ranks of other hosts, all together. */
static int count_crossing(MPI_Comm comm, int n, const int dests[])
{
    int crossing = 0, all = 0, host[MAX_RANKS], mine = host_of_world[rank];

    OK(MPI_Allgather(&mine, 1, MPI_INT, host, 1, MPI_INT, comm));
    for (int i = 0; i < n; i++) {
        crossing += dests[i] != MPI_PROC_NULL && host[dests[i]] != mine;
    }
    OK(MPI_Allreduce(&crossing, &all, 1, MPI_INT, MPI_SUM, comm));
    return all;
}

static int cart_crossing(int n, const int dims[], const int periods[], int reorder)
{
    int dests[8], crossing;
    MPI_Comm cart;

    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, reorder, &cart));
    for (int i = 0; i < n; i++) {
        OK(MPI_Cart_shift(cart, i, 1, &dests[2 * i], &dests[2 * i + 1]));
    }
    crossing = count_crossing(cart, 2 * n, dests);
    OK(MPI_Comm_free(&cart));
    return crossing;
}

static void grids(void)
{
    for (int n = 1; n <= 3; n++) {
        int dims[3] = {0}, periods[3] = {1, 0, 1}, plain, placed;

        OK(MPI_Dims_create(size, n, dims));
        plain = cart_crossing(n, dims, periods, 0);
        placed = cart_crossing(n, dims, periods, 1);
        CHECK(placed <= plain);
        if (n == 1 && n_hosts > 1 && size >= 2 * n_hosts && size % n_hosts == 0) {
            CHECK_EQ(placed, 2 * n_hosts); /* a ring: each host is a stretch of it */
        }
    }
}

/* A ring of ranks of one parity, and weak edges between the two. */
static int dist_crossing(int reorder)
{
    int next = (rank + 2) % size, other = (rank + 1) % size;
    int prev = (rank + size - 2) % size, before = (rank + size - 1) % size;
    int sources[2] = {prev, before}, dests[2] = {next, other}, weights[2] = {10, 1};
    int n_in, n_out, weighted, in[2], out[2], in_weights[2], out_weights[2], me, crossing;
    MPI_Comm graph;

    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, sources, weights, 2, dests, weights,
                                      MPI_INFO_NULL, reorder, &graph));
    /* The lists go with the rank (8.5.5). */
    MPI_Comm_rank(graph, &me);
    OK(MPI_Dist_graph_neighbors_count(graph, &n_in, &n_out, &weighted));
    CHECK(n_in == 2 && n_out == 2 && weighted);
    OK(MPI_Dist_graph_neighbors(graph, 2, in, in_weights, 2, out, out_weights));
    CHECK_EQ(out[0], (me + 2) % size);
    CHECK_EQ(out[1], (me + 1) % size);
    CHECK_EQ(in[0], (me + size - 2) % size);
    CHECK_EQ(out_weights[0], 10);
    CHECK_EQ(in_weights[1], 1);
    crossing = count_crossing(graph, 1, out);
    /* It works. */
    int sent = me, got[2] = {-1, -1};

    OK(MPI_Neighbor_allgather(&sent, 1, MPI_INT, got, 1, MPI_INT, graph));
    CHECK_EQ(got[0], in[0]);
    CHECK_EQ(got[1], in[1]);
    OK(MPI_Comm_free(&graph));
    return crossing;
}

static void graphs(void)
{
    int plain = dist_crossing(0);

    CHECK(dist_crossing(1) <= plain);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MAX_RANKS);
    find_hosts();
    grids();
    graphs();
    MPI_Finalize();
    return 0;
}
