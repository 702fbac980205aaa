/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the end of a rank means for its job.
 *
 * The exit status of mpiexec is that of the first rank that failed: its own, or 128 + N when signal
 * N killed it. It is never 0 when a rank failed, ended without MPI_Finalize, ended without MPI_Init
 * while other ranks are in MPI, or when output of the ranks was lost.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/keytable.h"

#define FM_EXIT_USAGE          2   /* wrong options */
#define FM_EXIT_TIMEOUT        124 /* as of timeout(1) */
#define FM_EXIT_NOT_EXECUTABLE 126 /* as of a shell */
#define FM_EXIT_NOT_FOUND      127

/* How a rank has ended, as far as the launcher knows. */
struct fm_rank_end {
    int wait_status; /* as waitpid() gives it */
    enum fm_place_phase phase;
    bool is_aborted; /* by MPI_Abort or a fatal error */
    int abort_status;
    bool has_peers_in_mpi; /* another rank is between MPI_Init and MPI_Finalize */
};

struct fm_rank_exit {
    int exit_status;   /* 0: no failure */
    bool must_end_job; /* the other ranks cannot go on */
    char text[192];    /* "was killed by signal 9 (Killed) ..."; "" for no report */
};

void fm_rank_exit_of(const struct fm_rank_end *end, struct fm_rank_exit *out_exit);
