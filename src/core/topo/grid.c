/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of grids. */
#include "core/topo/grid.h"

#include <mpi.h>

int fm_grid_size(const struct fm_grid *grid)
{
    int size = 1;

    for (int i = 0; i < grid->n_dims; i++) {
        if (__builtin_mul_overflow(size, grid->dims[i], &size)) {
            return -1;
        }
    }
    return size;
}

/* MPI-5.0 8.5.5: coordinates of periodic dimensions are taken modulo their size. */
static int wrap(int64_t at, int size)
{
    return (int)((at % size + size) % size);
}

int fm_grid_rank(const struct fm_grid *grid, const int coords[], int *out_dim)
{
    int rank = 0;

    for (int i = 0; i < grid->n_dims; i++) {
        if (!grid->periods[i] && (coords[i] < 0 || coords[i] >= grid->dims[i])) {
            *out_dim = i;
            return -1;
        }
        rank = rank * grid->dims[i] + wrap(coords[i], grid->dims[i]);
    }
    return rank;
}

void fm_grid_coords(const struct fm_grid *grid, int rank, int out_coords[])
{
    for (int i = grid->n_dims - 1; i >= 0; i--) {
        out_coords[i] = rank % grid->dims[i];
        rank /= grid->dims[i];
    }
}

int fm_grid_shift(const struct fm_grid *grid, int rank, int dim, int64_t far)
{
    int stride = 1, here;
    int64_t there;

    for (int i = dim + 1; i < grid->n_dims; i++) {
        stride *= grid->dims[i];
    }
    here = rank / stride % grid->dims[dim];
    there = here + far;
    if (!grid->periods[dim] && (there < 0 || there >= grid->dims[dim])) {
        return MPI_PROC_NULL;
    }
    return rank + (wrap(there, grid->dims[dim]) - here) * stride;
}
