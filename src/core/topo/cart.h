/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies (MPI-5.0 8.5.1, 8.5.5 - 8.5.8). Callers have checked that a grid is one. */
#pragma once

#include "core/topo/topo.h"

/* MPI_Cart_create: collective over comm. NULL for a caller that is not in the grid, which must not
   have more than comm->size nodes. */
int fm_cart_create(struct fm_comm *comm, const struct fm_grid *grid, bool is_reordered,
                   struct fm_comm **out_comm);

/* MPI_Cart_map: the node of the calling rank, MPI_UNDEFINED: none. Local. */
int fm_cart_map(struct fm_comm *comm, const struct fm_grid *grid, int *out_rank);

/* MPI_Cart_sub: collective over comm, which is Cartesian. remain[i] not 0: dimension i stays. */
int fm_cart_sub(struct fm_comm *comm, const int remain[], struct fm_comm **out_comm);
