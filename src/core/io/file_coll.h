/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses (MPI-5.0 14.4.2): each process on its own where that is as good, else two-
 * phase.
 *
 * Two-phase: the range of the file that all processes touch is cut into one domain per aggregator,
 * a domain into windows of cb_buffer_size bytes. In a round each process tells each aggregator
 * which bytes of the aggregator's window it has or wants, as strided runs, and the data travels in
 * one message; the aggregator moves the window by few large system calls:
 *
 *     process  --- runs, data --->  aggregator  --- pwrite --->  file      (write)
 *     process  --- runs ----------> aggregator  <-- pread -----  file      (read)
 *     process  <-- data ----------  aggregator
 *
 * An aggregator writes only bytes that were given to it, never a gap. A failure does not end the
 * exchange: all processes go through all rounds and agree on the outcome at the end.
 */
#pragma once

#include "core/io/file_access.h"

/* Collective: as fm_file_access_run(), with an outcome that all processes agree on. error: the
   class of what is wrong with this process's arguments, 0: nothing; only the file is looked at
   then. */
int fm_file_coll_run(const struct fm_file_access *a, int error, MPI_Count *out_done);
