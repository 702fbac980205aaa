/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do all ranks make the same collective call? With coll_check set, each call is preceded by an
 * exchange of records: which function, root, operation, signature and count. Every rank compares
 * all records, so that every rank notices a mismatch, and can name both sides, before any data
 * moves (MPI-5.0 6.1, 6.2.2).
 *
 * A nonblocking or persistent call may not wait: its exchange runs beside it. A mismatch ends the
 * job then if the error handler of the communicator is fatal, else it is a line on stderr.
 *
 * What is not compared: counts per rank of MPI_Alltoallv and MPI_Alltoallw, those at the root of
 * MPI_Gatherv and MPI_Scatterv, and roots and signatures across an intercommunicator.
 */
#pragma once

#include "core/api/coll_args.h"

/* `c` is the call of `a`, whose arguments are valid. MPI_SUCCESS, or the code of the error that was
   raised on all ranks. */
int fm_coll_check(const struct fm_coll_args *a, const struct fm_coll *c);
