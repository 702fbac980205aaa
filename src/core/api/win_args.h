/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that many functions of chapter 12 have. Each returns MPI_SUCCESS, or the code of the
   error that was raised. */
#pragma once

#include "core/api/find.h"
#include "core/rma/win.h"

/* A window, whose errors go to itself from then on (MPI-5.0 12.6). */
int fm_find_win(const char *call, MPI_Win win, struct fm_win **out_win);
/* The same for a function that has an output. */
int fm_find_win_for(const char *call, MPI_Win win, const char *name, const void *out,
                    struct fm_win **out_win);

/* A rank of the window. */
int fm_win_args_check_rank(const char *call, struct fm_win *w, int rank);
