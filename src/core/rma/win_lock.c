/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive target synchronization: locks (MPI-5.0 12.5.3). */
#include "core/p2p/channel.h"
#include "core/p2p/progress.h"
#include "core/p2p/wait.h"
#include "core/rma/rma_stream.h"
#include "core/rma/rma_target.h"
#include "core/rma/win_sync.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

/* ---- a lock on this host ---- */

struct lock_wait {
    struct fm_win *w;
    struct fm_win_ctl *ctl;
    uint32_t ticket;
    bool is_exclusive;
    int lost; /* rank that has ended with the lock, or a wish for it, in its hand */
};

static bool is_served(const struct lock_wait *l)
{
    return l->is_exclusive ? fm_win_may_write(l->ctl, l->ticket)
                           : fm_win_may_read(l->ctl, l->ticket);
}

static bool is_over(void *ctx)
{
    const struct lock_wait *l = ctx;

    return is_served(l) || fm_win_is_broken(l->ctl);
}

/* A ticket that nobody will give on: the lock is of no use any more. */
static void look_for_lost(struct lock_wait *l)
{
    struct fm_win *w = l->w;

    for (int r = 0; r < w->comm->size; r++) {
        if (atomic_load_explicit(&l->ctl->marks[r].hold, memory_order_relaxed) &&
            w->comm->ch->peers[w->targets[r].proc].is_gone) {
            l->lost = r;
            atomic_store_explicit(&l->ctl->broken, 1, memory_order_seq_cst);
            fm_win_wake_waiting(w);
        }
    }
}

static void announce(void *ctx, bool is_sleeping)
{
    struct lock_wait *l = ctx;

    fm_win_sleep_on(l->ctl, is_sleeping);
    fm_win_sleep(l->w->own, is_sleeping);
    if (is_sleeping) {
        look_for_lost(l);
    }
}

FM_COLD static int broken(const struct lock_wait *l)
{
    if (l->lost >= 0) {
        return fm_fail(-FM_E_PEER,
                       "rank %d of the window has ended while it held the lock, or "
                       "waited for it",
                       l->lost);
    }
    return fm_fail(-FM_E_PEER, "a process has ended while it held the lock, or waited for it");
}

FM_COLD static int wait_for_lock(struct lock_wait *l, int rank)
{
    uint64_t since = fm_now_ns();
    int rc;

    fm_rma_count_conflict(l->w, rank, l->is_exclusive);
    rc = fm_wait_shared(l->w->comm->ch, is_over, announce, l);
    fm_rma_count_wait(l->w, FM_RMA_WAIT_LOCK, since);
    if (rc != 0) {
        return rc;
    }
    return is_served(l) ? 0 : broken(l);
}

static int take_here(struct fm_win *w, int rank, bool is_exclusive)
{
    struct lock_wait l = {
        .w = w, .ctl = w->targets[rank].ctl, .is_exclusive = is_exclusive, .lost = -1};
    int rc = 0;

    if (FM_UNLIKELY(fm_win_is_broken(l.ctl))) {
        return broken(&l);
    }
    fm_win_hold_set(l.ctl, w->comm->rank, FM_WIN_WAITS);
    l.ticket = fm_win_ticket(l.ctl);
    if (FM_UNLIKELY(!is_served(&l))) {
        rc = wait_for_lock(&l, rank);
    }
    if (FM_UNLIKELY(rc != 0)) {
        return rc; /* the mark stays: the ticket is lost */
    }
    fm_win_hold_set(l.ctl, w->comm->rank, is_exclusive ? FM_WIN_EXCLUSIVE : FM_WIN_SHARED);
    if (!is_exclusive && FM_UNLIKELY(fm_win_read_begin(l.ctl))) {
        fm_win_wake_waiting(w);
    }
    return 0;
}

static void drop_here(struct fm_win *w, int rank, bool is_exclusive)
{
    struct fm_win_ctl *c = w->targets[rank].ctl;

    fm_win_hold_set(c, w->comm->rank, 0);
    if (FM_UNLIKELY(is_exclusive ? fm_win_write_end(c) : fm_win_read_end(c))) {
        fm_win_wake_waiting(w);
    }
    if (rank == w->comm->rank) {
        fm_target_grant(w);
    }
}

/* ---- any target ---- */

static int take(struct fm_win *w, int rank, bool is_exclusive, int assertion)
{
    struct fm_win_target *t = &w->targets[rank];
    int rc = 0;

    if (assertion & MPI_MODE_NOCHECK) {
        t->is_open = FM_WIN_OPEN_NOCHECK;
        return 0;
    }
    rc = t->ctl ? take_here(w, rank, is_exclusive) : fm_rma_stream_lock(w, t, is_exclusive);
    if (FM_LIKELY(rc == 0)) {
        t->is_open = is_exclusive ? FM_WIN_OPEN_EXCLUSIVE : FM_WIN_OPEN_SHARED;
    }
    return rc;
}

/* All operations are complete at the target before the lock goes. */
static int drop(struct fm_win *w, int rank)
{
    struct fm_win_target *t = &w->targets[rank];
    uint8_t access = t->is_open;
    int rc = 0;

    t->is_open = FM_WIN_CLOSED;
    if (t->ctl || access == FM_WIN_OPEN_NOCHECK) {
        rc = fm_win_flush_target(w, rank);
    }
    if (access != FM_WIN_OPEN_NOCHECK && t->ctl) {
        drop_here(w, rank, access == FM_WIN_OPEN_EXCLUSIVE);
    } else if (access != FM_WIN_OPEN_NOCHECK) {
        rc = fm_rma_stream_unlock(w, t);
    }
    return rc;
}

static int no_locks(void)
{
    return fm_fail(MPI_ERR_RMA_SYNC, "the window was made with the hint no_locks: it cannot be "
                                     "locked");
}

int fm_win_lock(struct fm_win *w, bool is_exclusive, int rank, int assertion)
{
    int rc = 0;

    if (FM_UNLIKELY(w->no_locks)) {
        return no_locks();
    }
    if (w->epoch != FM_WIN_LOCKED) {
        rc = fm_win_check_begin(w, "MPI_Win_lock");
    } else if (w->targets[rank].is_open) {
        rc =
            fm_fail(MPI_ERR_RMA_SYNC, "rank %d is locked already: call MPI_Win_unlock first", rank);
    }
    rc = rc ? rc : take(w, rank, is_exclusive, assertion);
    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    w->epoch = FM_WIN_LOCKED;
    w->n_locks++;
    fm_rma_count_epoch(w, FM_RMA_EPOCH_LOCK);
    return 0;
}

int fm_win_unlock(struct fm_win *w, int rank)
{
    int rc;

    if (FM_UNLIKELY(w->epoch != FM_WIN_LOCKED || !w->targets[rank].is_open)) {
        return fm_fail(MPI_ERR_RMA_SYNC, "rank %d is not locked by MPI_Win_lock", rank);
    }
    rc = drop(w, rank);
    if (--w->n_locks == 0) {
        w->epoch = FM_WIN_NO_EPOCH;
    }
    return rc ? rc : fm_win_take_error(w);
}

/* In the order of ranks, so that two processes that lock all never wait for each other. */
int fm_win_lock_all(struct fm_win *w, int assertion)
{
    int n = 0, rc;

    if (FM_UNLIKELY(w->no_locks)) {
        return no_locks();
    }
    rc = fm_win_check_begin(w, "MPI_Win_lock_all");
    if (rc != 0) {
        return rc;
    }
    while (n < w->comm->size && rc == 0) {
        rc = take(w, n, false, assertion);
        n += rc == 0;
    }
    if (rc != 0) {
        while (n-- > 0) {
            drop(w, n);
        }
        return rc;
    }
    w->epoch = FM_WIN_LOCKED_ALL;
    fm_rma_count_epoch(w, FM_RMA_EPOCH_LOCK_ALL);
    return 0;
}

int fm_win_unlock_all(struct fm_win *w)
{
    int rc = 0;

    if (FM_UNLIKELY(w->epoch != FM_WIN_LOCKED_ALL)) {
        return fm_fail(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all was not called");
    }
    for (int r = 0; r < w->comm->size; r++) {
        int rc_one = drop(w, r);

        rc = rc ? rc : rc_one;
    }
    w->epoch = FM_WIN_NO_EPOCH;
    return rc ? rc : fm_win_take_error(w);
}
