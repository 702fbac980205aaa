/* SPDX-License-Identifier: BSD-3-Clause */
/* Flushes (MPI-5.0 12.5.4), and what epochs have in common. */
#include "core/p2p/channel.h"
#include "core/p2p/progress.h"
#include "core/rma/rma_copy.h"
#include "core/rma/rma_stream.h"
#include "core/rma/win_sync.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

/* ---- epochs ---- */

int fm_win_take_error(struct fm_win *w)
{
    int error = w->error;

    if (FM_LIKELY(error == 0)) {
        return 0;
    }
    w->error = 0;
    return fm_fail(error, "an operation of this epoch failed at its target");
}

void fm_win_open_all(struct fm_win *w, int access)
{
    for (int r = 0; r < w->comm->size; r++) {
        w->targets[r].is_open = (uint8_t)access;
    }
}

static int refuse(const char *what, const char *why)
{
    return fm_fail(MPI_ERR_RMA_SYNC, "%s %s", what, why);
}

int fm_win_check_begin(struct fm_win *w, const char *what)
{
    switch (w->epoch) {
    case FM_WIN_FENCE:
        if (w->is_used) {
            return refuse(what, "inside of an epoch of MPI_Win_fence: end that with another fence");
        }
        /* A fence that no operation follows begins no epoch (12.5.1). */
        fm_win_open_all(w, FM_WIN_CLOSED);
        w->epoch = FM_WIN_NO_EPOCH;
        return 0;
    case FM_WIN_STARTED:
        return refuse(what, "inside of an epoch of MPI_Win_start: call MPI_Win_complete first");
    case FM_WIN_LOCKED:
        return refuse(what, "while a lock is held: call MPI_Win_unlock first");
    case FM_WIN_LOCKED_ALL:
        return refuse(what, "while all locks are held: call MPI_Win_unlock_all first");
    default:
        return 0;
    }
}

/* ---- flushes ---- */

/* Processes that only read each other's memory must serve messages now and then, too. A power of
   two. */
#define CALLS_PER_ROUND 64

int fm_win_progress(struct fm_win *w)
{
    int rc = 0;

    if (FM_UNLIKELY(++w->n_flushes % CALLS_PER_ROUND == 0)) {
        rc = fm_progress(w->comm->ch);
    }
    return rc < 0 ? rc : 0;
}

/* What was sent as messages, or is being copied. */
FM_COLD static int wait_for_rest(struct fm_win *w, int rank, bool is_local)
{
    uint64_t since = fm_now_ns();
    int rc = fm_rma_copy_wait(w);

    for (int r = 0; r < w->comm->size && rc == 0; r++) {
        if ((rank < 0 || r == rank) && w->targets[r].stream) {
            rc = fm_rma_stream_flush(w->targets[r].stream, is_local);
        }
    }
    fm_rma_count_wait(w, FM_RMA_WAIT_FLUSH, since);
    return rc;
}

/* rank -1: all. The barrier is for what comes next: it must find what was put (12.7). */
static FM_INLINE int flush(struct fm_win *w, int rank, bool is_local)
{
    int rc = 0;

    if (FM_UNLIKELY(w->n_copies || w->n_streams)) {
        rc = wait_for_rest(w, rank, is_local);
    }
    if (!is_local) {
        fm_sync_fence();
    }
    return rc;
}

int fm_win_flush_target(struct fm_win *w, int rank)
{
    return flush(w, rank, false);
}

int fm_win_flush_all(struct fm_win *w)
{
    return flush(w, -1, false);
}

static FM_INLINE int checked_flush(struct fm_win *w, int rank, bool is_local)
{
    bool is_locked = w->epoch == FM_WIN_LOCKED_ALL ||
                     (w->epoch == FM_WIN_LOCKED && (rank < 0 || w->targets[rank].is_open));
    int rc;

    if (FM_UNLIKELY(!is_locked)) {
        return fm_fail(MPI_ERR_RMA_SYNC, "the target is not locked: flushes are for epochs of "
                                         "MPI_Win_lock and MPI_Win_lock_all");
    }
    rc = flush(w, rank, is_local);
    rc = rc ? rc : fm_win_progress(w);
    return rc ? rc : fm_win_take_error(w);
}

int fm_win_flush(struct fm_win *w, int rank)
{
    return checked_flush(w, rank, false);
}

int fm_win_flush_everything(struct fm_win *w)
{
    return checked_flush(w, -1, false);
}

int fm_win_flush_local(struct fm_win *w, int rank)
{
    return checked_flush(w, rank, true);
}

int fm_win_flush_local_everything(struct fm_win *w)
{
    return checked_flush(w, -1, true);
}
