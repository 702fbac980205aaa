/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the buffers of a collective overlap (MPI-5.0 6.2), as far as its arguments show it. */
#pragma once

#include "core/api/api.h"
#include "core/coll/coll.h"

/*
 * The number of blocks of each side is given; 1 with the total count for a vector. Two blocks
 * overlap when their data begin at the same byte, or when both types are without gaps and their
 * bytes meet. Where both sides have blocks with displacements, only the blocks of the same rank
 * are compared, which keeps the check linear.
 */
bool fm_coll_alias_check(const struct fm_side *send, int n_send, const struct fm_side *recv,
                         int n_recv);
