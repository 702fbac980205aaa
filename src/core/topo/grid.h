/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic of grids: ranks, coordinates and distances (MPI-5.0 8.5.5, 8.5.6). */
#pragma once

#include <stdint.h>

/* A grid; ranks are in row-major order (8.2). All dims are positive. */
struct fm_grid {
    int n_dims;
    const int *dims;
    const int *periods; /* not 0: the dimension is periodic */
};

/* The number of nodes, -1 when it is more than an int holds. */
int fm_grid_size(const struct fm_grid *grid);
/* The rank of coordinates, of which periodic ones may be any; -1: another one is out of range, its
   dimension being *out_dim. */
int fm_grid_rank(const struct fm_grid *grid, const int coords[], int *out_dim);
void fm_grid_coords(const struct fm_grid *grid, int rank, int out_coords[]);
/* The rank that is `far` steps away in a dimension; MPI_PROC_NULL: none is there. */
int fm_grid_shift(const struct fm_grid *grid, int rank, int dim, int64_t far);
