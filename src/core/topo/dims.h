/* SPDX-License-Identifier: BSD-3-Clause */
/* Balanced grids (MPI_Dims_create, MPI-5.0 8.5.2). */
#pragma once

/*
 * Replace the zeros of dims so that the product of all n_dims entries is n_nodes. The entries set
 * are as close to each other as the factors allow: the difference between the largest and the
 * smallest is minimal; of several such choices the one with the smallest largest entry is taken,
 * then the one with the smallest second entry, and so on. They are in non-increasing order.
 * -FM_E_INVAL: a negative entry, or one that leaves no such grid.
 */
int fm_dims_create(int n_nodes, int n_dims, int dims[]);
