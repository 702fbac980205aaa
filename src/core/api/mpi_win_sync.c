/* SPDX-License-Identifier: BSD-3-Clause */
/* Synchronization of windows (MPI-5.0 12.5). */
#include "core/api/win_args.h"
#include "core/object/group.h"
#include "core/rma/win_sync.h"

static int check_assert(const char *call, struct fm_win *w, int assertion, int allowed)
{
    if (FM_UNLIKELY(assertion & ~allowed)) {
        return fm_raise(w, call, MPI_ERR_ASSERT,
                        "assert is %d: %d of it is no MPI_MODE_ constant of this function",
                        assertion, assertion & ~allowed);
    }
    return MPI_SUCCESS;
}

static int end(const char *call, struct fm_win *w, int rc)
{
    return FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(w, call, rc);
}

int PMPI_Win_fence(int assert, MPI_Win win)
{
    const int allowed = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? check_assert(FM_CALL, w, assert, allowed) : rc;
    rc = rc == MPI_SUCCESS ? end(FM_CALL, w, fm_win_fence(w, assert)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_fence)

/* ---- post, start, complete, wait ---- */

static int check_group(const char *call, struct fm_win *w, MPI_Group group,
                       struct fm_group **out_group)
{
    int rc = fm_find_group_on(w, call, group, "group", out_group);

    for (int k = 0; rc == MPI_SUCCESS && k < (*out_group)->size; k++) {
        if (fm_group_rank_of(w->comm->group, fm_group_proc(*out_group, k)) == MPI_UNDEFINED) {
            return fm_raise(w, call, MPI_ERR_GROUP,
                            "member %d of group is none of the window's group", k);
        }
    }
    return rc;
}

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    const int allowed = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
    struct fm_group *g;
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? check_group(FM_CALL, w, group, &g) : rc;
    rc = rc == MPI_SUCCESS ? check_assert(FM_CALL, w, assert, allowed) : rc;
    rc = rc == MPI_SUCCESS ? end(FM_CALL, w, fm_win_post(w, g, assert)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_post)

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    struct fm_group *g;
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? check_group(FM_CALL, w, group, &g) : rc;
    rc = rc == MPI_SUCCESS ? check_assert(FM_CALL, w, assert, MPI_MODE_NOCHECK) : rc;
    rc = rc == MPI_SUCCESS ? end(FM_CALL, w, fm_win_start(w, g, assert)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_start)

/* A call that has the window alone. */
static int on_window(const char *call, MPI_Win win, int (*fn)(struct fm_win *))
{
    struct fm_win *w;
    int rc;

    fm_api_enter(call);
    rc = fm_find_win(call, win, &w);
    rc = rc == MPI_SUCCESS ? end(call, w, fn(w)) : rc;
    fm_api_leave();
    return rc;
}

int PMPI_Win_complete(MPI_Win win)
{
    return on_window(FM_CALL, win, fm_win_complete);
}
FM_ALIAS(Win_complete)

int PMPI_Win_wait(MPI_Win win)
{
    return on_window(FM_CALL, win, fm_win_wait);
}
FM_ALIAS(Win_wait)

int PMPI_Win_test(MPI_Win win, int *flag)
{
    bool is_done = false;
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win_for(FM_CALL, win, "flag", flag, &w);
    rc = rc == MPI_SUCCESS ? end(FM_CALL, w, fm_win_test(w, &is_done)) : rc;
    if (rc == MPI_SUCCESS) {
        *flag = is_done;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_test)

/* ---- locks ---- */

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    if (rc == MPI_SUCCESS && lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED) {
        rc = fm_raise(w, FM_CALL, MPI_ERR_LOCKTYPE,
                      "lock_type is %d: it must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED",
                      lock_type);
    }
    rc = rc == MPI_SUCCESS ? fm_win_args_check_rank(FM_CALL, w, rank) : rc;
    rc = rc == MPI_SUCCESS ? check_assert(FM_CALL, w, assert, MPI_MODE_NOCHECK) : rc;
    if (rc == MPI_SUCCESS) {
        rc = end(FM_CALL, w, fm_win_lock(w, lock_type == MPI_LOCK_EXCLUSIVE, rank, assert));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_lock)

int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? check_assert(FM_CALL, w, assert, MPI_MODE_NOCHECK) : rc;
    rc = rc == MPI_SUCCESS ? end(FM_CALL, w, fm_win_lock_all(w, assert)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_lock_all)

/* A call that has a rank and the window. */
static int on_rank(const char *call, int rank, MPI_Win win, int (*fn)(struct fm_win *, int))
{
    struct fm_win *w;
    int rc;

    fm_api_enter(call);
    rc = fm_find_win(call, win, &w);
    rc = rc == MPI_SUCCESS ? fm_win_args_check_rank(call, w, rank) : rc;
    rc = rc == MPI_SUCCESS ? end(call, w, fn(w, rank)) : rc;
    fm_api_leave();
    return rc;
}

int PMPI_Win_unlock(int rank, MPI_Win win)
{
    return on_rank(FM_CALL, rank, win, fm_win_unlock);
}
FM_ALIAS(Win_unlock)

int PMPI_Win_unlock_all(MPI_Win win)
{
    return on_window(FM_CALL, win, fm_win_unlock_all);
}
FM_ALIAS(Win_unlock_all)

int PMPI_Win_flush(int rank, MPI_Win win)
{
    return on_rank(FM_CALL, rank, win, fm_win_flush);
}
FM_ALIAS(Win_flush)

int PMPI_Win_flush_all(MPI_Win win)
{
    return on_window(FM_CALL, win, fm_win_flush_everything);
}
FM_ALIAS(Win_flush_all)

int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    return on_rank(FM_CALL, rank, win, fm_win_flush_local);
}
FM_ALIAS(Win_flush_local)

int PMPI_Win_flush_local_all(MPI_Win win)
{
    return on_window(FM_CALL, win, fm_win_flush_local_everything);
}
FM_ALIAS(Win_flush_local_all)

/* Private and public copy are one (12.4): only the order of loads and stores matters. Loops that
   wait for another process this way serve messages, too. */
static int sync_memory(struct fm_win *w)
{
    fm_sync_fence();
    return fm_win_progress(w);
}

int PMPI_Win_sync(MPI_Win win)
{
    return on_window(FM_CALL, win, sync_memory);
}
FM_ALIAS(Win_sync)
