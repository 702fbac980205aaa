/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of calls that wait, and the events of waiting; for the files of this room. */
#pragma once

#include "core/p2p/p2p_counters.h"

/* The kind of a call by its name ("MPI_Send"); NULL is fine. */
FM_COLD enum fm_wait_kind fm_progress_kind(const char *call);

/* The process went to sleep, or woke after `ns`. */
FM_COLD void fm_progress_emit(const struct fm_progress_counters *counters, bool has_woken,
                              uint64_t ns);
/* A wait of that kind, for what `b` says, has lasted so long. */
FM_COLD void fm_progress_emit_stalled(const struct fm_progress_counters *counters,
                                      enum fm_wait_kind kind, const struct fathom_page_blocked *b,
                                      uint64_t ns);
