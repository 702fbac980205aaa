/* SPDX-License-Identifier: BSD-3-Clause */
/* Active target synchronization (MPI-5.0 12.5.1, 12.5.2). */
#include "core/rma/win_sync.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/object/group.h"
#include "core/p2p/channel.h"
#include "core/p2p/progress.h"
#include "core/p2p/wait.h"
#include "core/rma/rma_stream.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

static int refuse(const char *what, const char *why)
{
    return fm_fail(MPI_ERR_RMA_SYNC, "%s %s", what, why);
}

/* ---- fence ---- */

static int meet(struct fm_win *w)
{
    uint64_t since = 0;
    int rc;

    if (FM_UNLIKELY(fm_rma_counters->n_fence_timers)) {
        since = fm_now_ns();
    }
    rc = fm_barrier(w->comm);
    if (FM_UNLIKELY(since)) {
        fm_rma_count_wait(w, FM_RMA_WAIT_FENCE, since);
    }
    return rc;
}

/* MPI_MODE_NOSTORE and _NOPUT save nothing here: memory is one (12.4). A fence that ends no epoch
   still waits for all, since what the others do next may meet what this process did before. */
int fm_win_fence(struct fm_win *w, int assertion)
{
    const int idle = MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    bool was_fence = w->epoch == FM_WIN_FENCE;
    int rc = was_fence ? 0 : fm_win_check_begin(w, "MPI_Win_fence");

    if (rc == 0 && w->is_posted) {
        rc = refuse("MPI_Win_fence", "while the window is exposed: call MPI_Win_wait first");
    }
    if (rc == 0 && (assertion & MPI_MODE_NOPRECEDE) && was_fence && w->is_used) {
        rc = refuse("MPI_MODE_NOPRECEDE", "is wrong: operations were called since the last fence");
    }
    if (rc != 0) {
        return rc;
    }
    if ((assertion & idle) != idle) {
        rc = assertion & MPI_MODE_NOPRECEDE ? 0 : fm_win_flush_all(w);
        fm_sync_fence();
        rc = rc < 0 ? rc : meet(w);
    }
    w->is_used = false;
    w->epoch = assertion & MPI_MODE_NOSUCCEED ? FM_WIN_NO_EPOCH : FM_WIN_FENCE;
    if (was_fence != (w->epoch == FM_WIN_FENCE)) {
        fm_win_open_all(w, was_fence ? FM_WIN_CLOSED : FM_WIN_OPEN_FENCE);
    }
    fm_rma_count_epoch(w, FM_RMA_EPOCH_FENCE);
    return rc ? rc : fm_win_take_error(w);
}

/* ---- post, start, complete, wait ---- */

/* The ranks in the window of a group's members; to be freed. NULL when out of memory. */
static int *ranks_of(const struct fm_win *w, const struct fm_group *group)
{
    size_t n = (size_t)group->size + 1;
    int *ranks = malloc(2 * n * sizeof(int));

    if (!ranks) {
        fm_fail(-FM_E_NOMEM, "no memory for a group of %d ranks", group->size);
        return NULL;
    }
    for (int k = 0; k < group->size; k++) {
        ranks[k] = fm_group_rank_of(w->comm->group, fm_group_proc(group, k));
    }
    return ranks;
}

/* Tell a rank that we have posted, or completed. */
static int notify(struct fm_win *w, int rank, bool is_post)
{
    struct fm_win_target *t = &w->targets[rank];
    struct fm_win_mark *mark;

    if (!t->ctl) {
        return fm_rma_stream_notify(w, t, is_post);
    }
    mark = &t->ctl->marks[w->comm->rank];
    if (fm_win_mark_add(t->ctl, is_post ? &mark->posted : &mark->completed) &&
        rank != w->comm->rank) {
        fm_win_wake(w, rank);
    }
    return 0;
}

/* A wait for marks of several ranks. */
struct marks_wait {
    struct fm_win *w;
    const int *ranks;
    int n;
    int lost; /* a rank that has ended; -1: none */
    bool is_post;
};

static bool has_mark(const struct marks_wait *m, int rank)
{
    const struct fm_win_mark *mark = &m->w->own->marks[rank];

    return m->is_post ? fm_win_mark_get(&mark->posted) != m->w->n_started[rank]
                      : fm_win_mark_get(&mark->completed) != m->w->n_waited[rank];
}

static bool all_marked(void *ctx)
{
    struct marks_wait *m = ctx;

    /* In any order: what was found is not looked at again. */
    while (m->n > 0 && has_mark(m, m->ranks[m->n - 1])) {
        m->n--;
    }
    return m->n == 0 || m->lost >= 0;
}

static void announce(void *ctx, bool is_sleeping)
{
    struct marks_wait *m = ctx;

    fm_win_sleep(m->w->own, is_sleeping);
    for (int k = 0; is_sleeping && k < m->n; k++) {
        if (m->w->comm->ch->peers[m->w->targets[m->ranks[k]].proc].is_gone &&
            !has_mark(m, m->ranks[k])) {
            m->lost = m->ranks[k];
        }
    }
}

static int wait_marks(struct marks_wait *m, enum fm_rma_wait kind)
{
    uint64_t since;
    int rc;

    m->lost = -1;
    if (all_marked(m)) {
        return 0;
    }
    since = fm_now_ns();
    rc = fm_wait_shared(m->w->comm->ch, all_marked, announce, m);
    fm_rma_count_wait(m->w, kind, since);
    if (rc == 0 && m->lost >= 0) {
        rc = fm_fail(-FM_E_PEER, "rank %d of the window has ended", m->lost);
    }
    return rc;
}

int fm_win_post(struct fm_win *w, struct fm_group *group, int assertion)
{
    int *ranks, rc = 0;

    if (w->is_posted) {
        return refuse("MPI_Win_post", "twice: call MPI_Win_wait first");
    }
    if (w->epoch == FM_WIN_FENCE) {
        rc = fm_win_check_begin(w, "MPI_Win_post");
    }
    ranks = rc ? NULL : ranks_of(w, group);
    if (!ranks) {
        return rc ? rc : -FM_E_NOMEM;
    }
    fm_sync_fence();
    for (int k = 0; k < group->size && rc == 0 && !(assertion & MPI_MODE_NOCHECK); k++) {
        rc = notify(w, ranks[k], true);
    }
    free(ranks);
    if (rc != 0) {
        return rc;
    }
    w->post_group = fm_object_ref(group);
    w->is_posted = true;
    fm_rma_count_epoch(w, FM_RMA_EPOCH_POST);
    return 0;
}

int fm_win_start(struct fm_win *w, struct fm_group *group, int assertion)
{
    struct marks_wait m = {.w = w, .n = group->size, .is_post = true};
    int rc = fm_win_check_begin(w, "MPI_Win_start");
    int *ranks = rc ? NULL : ranks_of(w, group);

    if (!ranks) {
        return rc ? rc : -FM_E_NOMEM;
    }
    if (!(assertion & MPI_MODE_NOCHECK)) {
        m.ranks = ranks;
        rc = wait_marks(&m, FM_RMA_WAIT_START);
    }
    for (int k = 0; k < group->size && rc == 0; k++) {
        w->n_started[ranks[k]] += !(assertion & MPI_MODE_NOCHECK);
        w->targets[ranks[k]].is_open = FM_WIN_OPEN_START;
    }
    free(ranks);
    if (rc != 0) {
        return rc;
    }
    w->start_group = fm_object_ref(group);
    w->epoch = FM_WIN_STARTED;
    fm_rma_count_epoch(w, FM_RMA_EPOCH_START);
    return 0;
}

int fm_win_complete(struct fm_win *w)
{
    int *ranks, rc;

    if (w->epoch != FM_WIN_STARTED) {
        return refuse("MPI_Win_complete", "without an epoch of MPI_Win_start");
    }
    ranks = ranks_of(w, w->start_group);
    if (!ranks) {
        return -FM_E_NOMEM;
    }
    rc = fm_win_flush_all(w);
    for (int k = 0; k < w->start_group->size; k++) {
        int rc_one = notify(w, ranks[k], false);

        rc = rc ? rc : rc_one;
        w->targets[ranks[k]].is_open = FM_WIN_CLOSED;
    }
    free(ranks);
    fm_group_unref(w->start_group);
    w->start_group = NULL;
    w->epoch = FM_WIN_NO_EPOCH;
    return rc ? rc : fm_win_take_error(w);
}

static void end_exposure(struct fm_win *w, const int *ranks, int n)
{
    for (int k = 0; k < n; k++) {
        w->n_waited[ranks[k]]++;
    }
    fm_group_unref(w->post_group);
    w->post_group = NULL;
    w->is_posted = false;
}

/* `is_test`: look once. */
static int wait_exposure(struct fm_win *w, bool is_test, bool *out_done)
{
    struct marks_wait m = {.w = w, .lost = -1};
    int *ranks, rc, n;

    if (!w->is_posted) {
        return refuse(is_test ? "MPI_Win_test" : "MPI_Win_wait",
                      "without an epoch of MPI_Win_post");
    }
    n = w->post_group->size;
    ranks = ranks_of(w, w->post_group);
    if (!ranks) {
        return -FM_E_NOMEM;
    }
    m.ranks = ranks;
    m.n = n;
    if (is_test) {
        rc = all_marked(&m) ? 0 : fm_wait_test(w->comm->ch);
        rc = rc < 0 ? rc : 0;
        *out_done = rc == 0 && all_marked(&m);
    } else {
        rc = wait_marks(&m, FM_RMA_WAIT_POST);
        *out_done = rc == 0;
    }
    if (*out_done) {
        end_exposure(w, ranks, n);
    }
    free(ranks);
    return rc;
}

int fm_win_wait(struct fm_win *w)
{
    bool is_done = false;

    return wait_exposure(w, false, &is_done);
}

int fm_win_test(struct fm_win *w, bool *out_done)
{
    return wait_exposure(w, true, out_done);
}
