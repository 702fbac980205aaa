/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators over grids. */
#include "core/topo/cart.h"

#include <stdlib.h>

#include "core/comm/comm_make.h"
#include "core/object/group.h"
#include "core/topo/graph.h"
#include "core/topo/place.h"
#include "util/status.h"

/* 8.6: in the order of the dimensions, first the neighbor in negative, then the one in positive
   direction, both as source and as destination. */
static void find_neighbors(struct fm_topo *topo, int rank, int *ranks)
{
    int n = topo->grid.n_dims;

    for (int i = 0; i < n; i++) {
        ranks[2 * i] = fm_grid_shift(&topo->grid, rank, i, -1);
        ranks[2 * i + 1] = fm_grid_shift(&topo->grid, rank, i, 1);
    }
    topo->neighbors = (struct fm_neighbors){
        .n_sources = 2 * n, .n_dests = 2 * n, .sources = ranks, .dests = ranks};
}

static int make_topo(const struct fm_grid *grid, int rank, struct fm_topo **out_topo)
{
    size_t n = (size_t)grid->n_dims;
    struct fm_topo *topo;
    int *dims, *periods;
    int rc = fm_topo_create(MPI_CART, 8 * n, &topo);

    if (rc != 0) {
        return rc;
    }
    dims = topo->numbers;
    periods = dims + n;
    for (size_t i = 0; i < n; i++) {
        dims[i] = grid->dims[i];
        periods[i] = grid->periods[i] != 0;
    }
    topo->grid = (struct fm_grid){grid->n_dims, dims, periods};
    find_neighbors(topo, rank, periods + n);
    rc = fm_topo_sort_edges(topo, rank, fm_grid_size(grid), periods + 3 * n);
    if (rc != 0) {
        fm_topo_unref(topo);
        return rc;
    }
    *out_topo = topo;
    return 0;
}

/* The communicator of a grid is made, if the caller is in it. */
static int finish(struct fm_comm *made, const struct fm_grid *grid, struct fm_comm **out_comm)
{
    struct fm_topo *topo;
    int rc = made ? make_topo(grid, made->rank, &topo) : 0;

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

/* The grid as a graph; *out_numbers, which it points into, is to be freed. */
static int graph_of(const struct fm_grid *grid, struct fm_graph *out_graph, int **out_numbers)
{
    int n = fm_grid_size(grid), n_edges = 0;
    int *numbers = malloc(((size_t)n * (size_t)(1 + 2 * grid->n_dims) + 1) * sizeof(int));
    int *edges = numbers + n;

    if (!numbers) {
        return fm_fail(-FM_E_NOMEM, "no memory for a grid of %d ranks", n);
    }
    for (int rank = 0; rank < n; rank++) {
        for (int i = 0; i < 2 * grid->n_dims; i++) {
            int neighbor = fm_grid_shift(grid, rank, i / 2, i % 2 ? 1 : -1);

            if (neighbor != MPI_PROC_NULL) {
                edges[n_edges++] = neighbor;
            }
        }
        numbers[rank] = n_edges;
    }
    *out_graph = (struct fm_graph){n, numbers, edges};
    *out_numbers = numbers;
    return 0;
}

int fm_cart_map(struct fm_comm *comm, const struct fm_grid *grid, int *out_rank)
{
    struct fm_graph graph;
    int *numbers, rc = graph_of(grid, &graph, &numbers);

    if (rc == 0) {
        rc = fm_graph_map(comm, &graph, out_rank);
        free(numbers);
    }
    return rc;
}

static int place(struct fm_comm *comm, const struct fm_grid *grid, int **out_placed)
{
    struct fm_graph graph;
    int *numbers, rc = graph_of(grid, &graph, &numbers);

    if (rc == 0) {
        rc = fm_graph_place(comm, &graph, true, out_placed);
        free(numbers);
    }
    return rc;
}

int fm_cart_create(struct fm_comm *comm, const struct fm_grid *grid, bool is_reordered,
                   struct fm_comm **out_comm)
{
    struct fm_comm *made = NULL;
    struct fm_group *group = NULL;
    int *placed = NULL;
    int rc = is_reordered ? place(comm, grid, &placed) : 0;

    rc = rc == 0 ? fm_place_group(comm, fm_grid_size(grid), placed, &group) : rc;
    rc = rc == 0 ? fm_comm_make_create(comm, group, &made) : rc;
    fm_group_unref(group);
    free(placed);
    return rc == 0 ? finish(made, grid, out_comm) : rc;
}

int fm_cart_sub(struct fm_comm *comm, const int remain[], struct fm_comm **out_comm)
{
    const struct fm_grid *all = &fm_topo_of(comm)->grid;
    int *numbers = malloc((3 * (size_t)all->n_dims + 1) * sizeof(int));
    int *coords = numbers, *dims = numbers + all->n_dims, *periods = dims + all->n_dims;
    struct fm_grid grid = {.dims = dims, .periods = periods};
    struct fm_comm *made = NULL;
    int color = 0, key = 0, rc;

    if (!numbers) {
        return fm_fail(-FM_E_NOMEM, "no memory for a grid of %d dimensions", all->n_dims);
    }
    fm_grid_coords(all, comm->rank, coords);
    for (int i = 0; i < all->n_dims; i++) {
        if (remain[i]) {
            dims[grid.n_dims] = all->dims[i];
            periods[grid.n_dims++] = all->periods[i];
            key = key * all->dims[i] + coords[i];
        } else {
            color = color * all->dims[i] + coords[i];
        }
    }
    rc = fm_comm_make_split(comm, color, key, &made);
    rc = rc == 0 ? finish(made, &grid, out_comm) : rc;
    free(numbers);
    return rc;
}
