/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounds of a two-phase access; for file_coll.c, whose header has the model. */
#pragma once

#include "core/io/file_access.h"

struct fm_file_phase {
    const struct fm_file_access *a;
    MPI_Offset low;       /* where the first domain begins */
    MPI_Count domain_len; /* bytes of a domain */
    MPI_Count window_len; /* bytes of a window */
    MPI_Count n_rounds;
    int n_aggregators;
};

/* All rounds. 0 or this process's failure; *out_done: bytes of its own data that were moved. */
int fm_file_phase_run(const struct fm_file_phase *p, MPI_Count *out_done);
