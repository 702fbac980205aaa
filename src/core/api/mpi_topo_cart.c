/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies (MPI-5.0 8.5.1, 8.5.5 - 8.5.8). */
#include "core/api/topo_args.h"

#include "core/topo/cart.h"

/* A grid that fits into comm. */
static int check_grid(const char *call, struct fm_comm *c, const struct fm_grid *grid)
{
    int rc, size;

    if (grid->n_dims < 0) {
        return fm_raise(c, call, MPI_ERR_DIMS, "ndims is %d, it must not be negative",
                        grid->n_dims);
    }
    rc = fm_topo_args_array(c, call, "dims", grid->dims, grid->n_dims);
    rc = rc == MPI_SUCCESS ? fm_topo_args_array(c, call, "periods", grid->periods, grid->n_dims)
                           : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    for (int i = 0; i < grid->n_dims; i++) {
        if (grid->dims[i] < 1) {
            return fm_raise(c, call, MPI_ERR_DIMS, "dims[%d] is %d, it must be positive", i,
                            grid->dims[i]);
        }
    }
    size = fm_grid_size(grid);
    if (size < 0 || size > c->size) {
        return fm_raise(c, call, MPI_ERR_DIMS,
                        "the grid has more nodes than communicator '%s' has ranks (%d)", c->name,
                        c->size);
    }
    return MPI_SUCCESS;
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, MPI_Comm *comm_cart)
{
    const struct fm_grid grid = {ndims, dims, periods};
    struct fm_comm *c, *made = NULL;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm_old, "comm_cart", comm_cart, &c);
    rc = rc == MPI_SUCCESS ? check_grid(FM_CALL, c, &grid) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_cart_create(c, &grid, reorder != 0, &made);
        rc = fm_topo_args_finish(c, FM_CALL, rc, made, comm_cart);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_create)

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank)
{
    const struct fm_grid grid = {ndims, dims, periods};
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm, "newrank", newrank, &c);
    rc = rc == MPI_SUCCESS ? check_grid(FM_CALL, c, &grid) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(c, FM_CALL, fm_cart_map(c, &grid, newrank));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_map)

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_CART, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "ndims", ndims) : rc;
    if (rc == MPI_SUCCESS) {
        *ndims = topo->grid.n_dims;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cartdim_get)

/* A grid without dimensions leaves all outputs alone (8.5.5). */
static int get(const char *call, struct fm_comm *c, const struct fm_grid *grid, int dims[],
               int periods[], int coords[])
{
    int n = grid->n_dims;
    int rc = fm_topo_args_array(c, call, "dims", dims, n);

    rc = rc == MPI_SUCCESS ? fm_topo_args_array(c, call, "periods", periods, n) : rc;
    rc = rc == MPI_SUCCESS ? fm_topo_args_array(c, call, "coords", coords, n) : rc;
    if (rc == MPI_SUCCESS && n > 0) {
        memcpy(dims, grid->dims, (size_t)n * sizeof(int));
        memcpy(periods, grid->periods, (size_t)n * sizeof(int));
        fm_grid_coords(grid, c->rank, coords);
    }
    return rc;
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[])
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_CART, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_topo_args_space(c, FM_CALL, "maxdims", maxdims, topo->grid.n_dims)
                           : rc;
    rc = rc == MPI_SUCCESS ? get(FM_CALL, c, &topo->grid, dims, periods, coords) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_get)

static int find_rank(const char *call, struct fm_comm *c, const struct fm_grid *grid,
                     const int coords[], int *out_rank)
{
    int dim = 0, rank;
    int rc = fm_topo_args_array(c, call, "coords", coords, grid->n_dims);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rank = fm_grid_rank(grid, coords, &dim);
    if (rank < 0) {
        return fm_raise(c, call, MPI_ERR_ARG,
                        "coords[%d] is %d, but dimension %d has coordinates 0..%d and is not "
                        "periodic",
                        dim, coords[dim], dim, grid->dims[dim] - 1);
    }
    *out_rank = rank;
    return MPI_SUCCESS;
}

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_CART, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "rank", rank) : rc;
    rc = rc == MPI_SUCCESS ? find_rank(FM_CALL, c, &topo->grid, coords, rank) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_rank)

static int find_coords(const char *call, struct fm_comm *c, const struct fm_grid *grid, int rank,
                       int maxdims, int coords[])
{
    int rc;

    if (rank < 0 || rank >= c->size) {
        return fm_raise(c, call, MPI_ERR_RANK, "rank is %d but communicator '%s' has ranks 0..%d",
                        rank, c->name, c->size - 1);
    }
    rc = fm_topo_args_space(c, call, "maxdims", maxdims, grid->n_dims);
    rc = rc == MPI_SUCCESS ? fm_topo_args_array(c, call, "coords", coords, grid->n_dims) : rc;
    if (rc == MPI_SUCCESS) {
        fm_grid_coords(grid, rank, coords);
    }
    return rc;
}

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_CART, &c, &topo);
    rc = rc == MPI_SUCCESS ? find_coords(FM_CALL, c, &topo->grid, rank, maxdims, coords) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_coords)

/* No direction is valid in a grid without dimensions (8.5.6). */
static int shift(const char *call, struct fm_comm *c, const struct fm_grid *grid, int direction,
                 int disp, int *rank_source, int *rank_dest)
{
    if (direction < 0 || direction >= grid->n_dims) {
        return fm_raise(c, call, MPI_ERR_DIMS, "direction is %d, but the grid has %d dimensions",
                        direction, grid->n_dims);
    }
    *rank_source = fm_grid_shift(grid, c->rank, direction, -(int64_t)disp);
    *rank_dest = fm_grid_shift(grid, c->rank, direction, disp);
    return MPI_SUCCESS;
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest)
{
    struct fm_comm *c;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_CART, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "rank_source", rank_source) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "rank_dest", rank_dest) : rc;
    rc = rc == MPI_SUCCESS ? shift(FM_CALL, c, &topo->grid, direction, disp, rank_source, rank_dest)
                           : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_shift)

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
    struct fm_comm *c, *made = NULL;
    struct fm_topo *topo;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_topo_args_find(FM_CALL, comm, MPI_CART, &c, &topo);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "newcomm", newcomm) : rc;
    rc = rc == MPI_SUCCESS
             ? fm_topo_args_array(c, FM_CALL, "remain_dims", remain_dims, topo->grid.n_dims)
             : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_cart_sub(c, remain_dims, &made);
        rc = fm_topo_args_finish(c, FM_CALL, rc, made, newcomm);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cart_sub)
