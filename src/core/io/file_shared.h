/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared file pointer (MPI-5.0 14.4.4): one number of etypes for all processes of a file.
 *
 * It is a word in a window of the file's own, at rank 0: processes of one host update it in shared
 * memory, others by one-sided fetch and add. No process waits for another.
 */
#pragma once

#include "core/io/file.h"

/* Collective: make the pointer, and take it away. `at`: where it stands, used at rank 0. */
int fm_file_shared_open(struct fm_file *f, MPI_Offset at);
int fm_file_shared_close(struct fm_file *f);
/* Local, for a file that is given up. */
void fm_file_shared_drop(struct fm_file *f);

/* Add n etypes; *out_old: where it stood before. 0 or a failure. Local. */
int fm_file_shared_add(struct fm_file *f, MPI_Offset n, MPI_Offset *out_old);
/* Collective: each process's n etypes, in the order of ranks (ordered access); *out_at: where this
   process begins. All take part whatever happened to them before. */
int fm_file_shared_add_ordered(struct fm_file *f, MPI_Offset n, MPI_Offset *out_at);
/* Collective: set it; all processes see it when the call returns. */
int fm_file_shared_set(struct fm_file *f, MPI_Offset at);
