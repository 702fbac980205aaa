/* SPDX-License-Identifier: BSD-3-Clause */
/* Halo exchange of a periodic 3-D block with its 26 neighbors, faces, edges and corners by derived
   types: hand-written Isend/Irecv, MPI_Neighbor_alltoallw, and its persistent form. Mean time of
   one exchange. Any number of ranks. */
#include "../harness/bench.h"

#include <string.h>

enum { CELLS = 32, WIDE = CELLS + 2, NEIGHBORS = 26 };

static double block[WIDE][WIDE][WIDE];
static int ranks[NEIGHBORS], ones[NEIGHBORS], opposite[NEIGHBORS];
static MPI_Datatype out[NEIGHBORS], in[NEIGHBORS];
static MPI_Aint zeros[NEIGHBORS];

static MPI_Datatype part(const int far[3], int is_out)
{
    int all[3] = {WIDE, WIDE, WIDE}, n[3], at[3];
    MPI_Datatype type;

    for (int i = 0; i < 3; i++) {
        n[i] = far[i] ? 1 : CELLS;
        at[i] = far[i] < 0 ? (is_out ? 1 : 0) : far[i] > 0 ? (is_out ? CELLS : CELLS + 1) : 1;
    }
    MPI_Type_create_subarray(3, all, n, at, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The k-th source lies opposite to the k-th destination: what arrives from it was sent in the same
   direction as what leaves, so that equal positions match, by hand and in the collective. */
static MPI_Comm make_graph(MPI_Comm cart)
{
    int sources[NEIGHBORS], coords[3], rank, k = 0;
    MPI_Comm graph;

    MPI_Comm_rank(cart, &rank);
    MPI_Cart_coords(cart, rank, 3, coords);
    for (int cell = 0; cell < 27; cell++) {
        int far[3] = {cell / 9 - 1, cell / 3 % 3 - 1, cell % 3 - 1}, there[3], back[3];

        if (cell == 13) {
            continue;
        }
        for (int i = 0; i < 3; i++) {
            there[i] = coords[i] + far[i];
            back[i] = -far[i];
        }
        MPI_Cart_rank(cart, there, &ranks[k]);
        out[k] = part(far, 1);
        for (int i = 0; i < 3; i++) {
            there[i] = coords[i] - far[i];
        }
        MPI_Cart_rank(cart, there, &sources[k]);
        in[k] = part(back, 0); /* sent in direction `far`, it arrives on the other side */
        opposite[k] = sources[k];
        ones[k++] = 1;
    }
    MPI_Dist_graph_create_adjacent(cart, NEIGHBORS, sources, MPI_UNWEIGHTED, NEIGHBORS, ranks,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    return graph;
}

static void by_hand(MPI_Comm graph)
{
    MPI_Request reqs[2 * NEIGHBORS];

    for (int k = 0; k < NEIGHBORS; k++) {
        MPI_Irecv(block, 1, in[k], opposite[k], k, graph, &reqs[k]);
    }
    for (int k = 0; k < NEIGHBORS; k++) {
        MPI_Isend(block, 1, out[k], ranks[k], k, graph, &reqs[NEIGHBORS + k]);
    }
    MPI_Waitall(2 * NEIGHBORS, reqs, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int dims[3] = {0}, periods[3] = {1, 1, 1}, rank, size, n = 0;
    double hand = 0, collective = 0, persistent = 0;
    MPI_Comm cart, graph;
    MPI_Request req;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    graph = make_graph(cart);
    memset(block, 1, sizeof(block));
    MPI_Neighbor_alltoallw_init(block, ones, zeros, out, block, ones, zeros, in, graph,
                                MPI_INFO_NULL, &req);
    for (int round = 0; round < 40; round++) {
        double began = now_ns();

        for (int i = 0; i < 20; i++) {
            by_hand(graph);
        }
        hand += round ? now_ns() - began : 0;
        began = now_ns();
        for (int i = 0; i < 20; i++) {
            MPI_Neighbor_alltoallw(block, ones, zeros, out, block, ones, zeros, in, graph);
        }
        collective += round ? now_ns() - began : 0;
        began = now_ns();
        for (int i = 0; i < 20; i++) {
            MPI_Start(&req);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        }
        persistent += round ? now_ns() - began : 0;
        n += round ? 20 : 0;
    }
    if (rank == 0) {
        report("halo_by_hand", size, hand / n / 1e3, "us");
        report("halo_neighbor_alltoallw", size, collective / n / 1e3, "us");
        report("halo_persistent", size, persistent / n / 1e3, "us");
        report("halo_neighbor_to_hand", size, collective / hand, "times");
        report("halo_persistent_to_hand", size, persistent / hand, "times");
    }
    MPI_Request_free(&req);
    for (int k = 0; k < NEIGHBORS; k++) {
        MPI_Type_free(&out[k]);
        MPI_Type_free(&in[k]);
    }
    MPI_Comm_free(&graph);
    MPI_Comm_free(&cart);
    MPI_Finalize();
    return 0;
}
