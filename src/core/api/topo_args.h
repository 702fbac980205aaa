/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups and checks that the functions of topologies share. */
#pragma once

#include "core/api/find.h"
#include "core/topo/topo.h"

/* A communicator with a topology of this kind (MPI_CART, ...). Other communicators raise
   MPI_ERR_TOPOLOGY. */
int fm_topo_args_find(const char *call, MPI_Comm comm, int kind, struct fm_comm **out_comm,
                      struct fm_topo **out_topo);

/* Arrays of the user for n elements: NULL raises MPI_ERR_ARG unless n is 0. */
int fm_topo_args_array(struct fm_comm *comm, const char *call, const char *name, const void *array,
                       int n);
/* The user's array for `n` results has `max` elements, which must be enough. */
int fm_topo_args_space(struct fm_comm *comm, const char *call, const char *max_name, int max,
                       int n);

/* The result of a constructor: the handle of `made` or MPI_COMM_NULL, or the error raised. */
int fm_topo_args_finish(struct fm_comm *origin, const char *call, int rc, struct fm_comm *made,
                        MPI_Comm *newcomm);
