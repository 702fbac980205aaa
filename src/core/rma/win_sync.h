/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronization (MPI-5.0 12.5). All return 0, a failure (-FM_E_PEER: a process that is waited for
 * has ended), MPI_ERR_RMA_SYNC (the call does not fit the epoch), or the error class of an
 * operation that failed at its target after it had been called. Ranks, groups and assertions are
 * checked by the caller.
 */
#pragma once

#include "core/rma/win.h"

struct fm_group;

int fm_win_fence(struct fm_win *w, int assertion);

int fm_win_post(struct fm_win *w, struct fm_group *group, int assertion);
int fm_win_start(struct fm_win *w, struct fm_group *group, int assertion);
int fm_win_complete(struct fm_win *w);
int fm_win_wait(struct fm_win *w);
/* The same without waiting: *out_done tells whether the epoch has ended. */
int fm_win_test(struct fm_win *w, bool *out_done);

int fm_win_lock(struct fm_win *w, bool is_exclusive, int rank, int assertion);
int fm_win_unlock(struct fm_win *w, int rank);
int fm_win_lock_all(struct fm_win *w, int assertion);
int fm_win_unlock_all(struct fm_win *w);

/* In passive epochs: operations to a rank, or to all, are complete at origin and target. */
int fm_win_flush(struct fm_win *w, int rank);
int fm_win_flush_everything(struct fm_win *w);
/* The same whatever the epoch. */
int fm_win_flush_all(struct fm_win *w);
int fm_win_flush_target(struct fm_win *w, int rank);
/* Complete at the origin: its buffers may be used again. */
int fm_win_flush_local(struct fm_win *w, int rank);
int fm_win_flush_local_everything(struct fm_win *w);

/* A round of progress now and then, for calls that loops are made of. */
int fm_win_progress(struct fm_win *w);

/* ---- for this folder ---- */

/* All targets get this access (enum fm_win_access). */
void fm_win_open_all(struct fm_win *w, int access);
/* May an access epoch other than a fence's begin? 0 or MPI_ERR_RMA_SYNC. */
int fm_win_check_begin(struct fm_win *w, const char *what);
/* The error of an operation that failed after its call, once. */
int fm_win_take_error(struct fm_win *w);
