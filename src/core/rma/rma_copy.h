/* SPDX-License-Identifier: BSD-3-Clause */
/* Single copy between the memory of this process and that of a target on the same host. Short ones
   are complete when the call returns, long ones go on while this process makes progress. */
#pragma once

#include "core/rma/rma_op.h"

/* Does the transport to this process copy from memory to memory, without help of the process and
   without registration? */
bool fm_rma_copy_works(struct fm_channel *ch, int proc);

/* Move `len` bytes between `local` and the target's memory, `at` bytes from its base, before it
   returns. 0, a failure, or MPI_ERR_RMA_RANGE: there is no such memory. */
int fm_rma_copy_now(struct fm_win *w, struct fm_win_target *t, enum fm_rma_op op, uint64_t at,
                    void *local, size_t len);

/* A put or a get, of any layout on both sides. `req` (NULL: none) gets a part for each transfer
   that goes on. */
int fm_rma_copy(struct fm_win *w, struct fm_win_target *t, const struct fm_rma_call *call,
                struct fm_rma_req *req);

/* Until all of the window's single copies are complete. 0 or a failure. */
int fm_rma_copy_wait(struct fm_win *w);
