/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings in shared memory: arrival, publication, waiting, and what goes wrong. */
#include "core/coll/coll_shm_sync.h"

#include "core/coll/coll_shm_vars.h"
#include "core/p2p/channel.h"
#include "core/p2p/credit.h"
#include "core/p2p/wait.h"
#include "util/status.h"

/* ---- waiting and waking -------------------------------------------------------------------- */

struct waiting {
    struct fm_coll_shm *shm;
    uint32_t n; /* the call */
    bool (*is_done)(const struct fm_coll_slots *v, uint32_t n);
};

static void wake_sleepers(struct fm_coll_shm *shm)
{
    const struct fm_comm *comm = shm->comm;

    for (int r = 0; r < comm->size; r++) {
        if (r != comm->rank && fm_coll_slots_take_sleeper(&shm->view, (uint32_t)r)) {
            FM_STAT(fm_coll_shm_counters->n_wakeups++);
            fm_peer_wake(comm->ch, fm_comm_proc(comm, r));
        }
    }
}

static void publish(struct fm_coll_shm *shm, uint32_t n)
{
    if (FM_UNLIKELY(fm_coll_slot_publish(&shm->view, n))) {
        wake_sleepers(shm);
    }
}

/* End all waits in this memory, here and in other ranks. */
FM_COLD static void break_up(struct fm_coll_shm *shm)
{
    atomic_store_explicit(&shm->view.head->broken, 1, memory_order_release);
    fm_sync_fence(); /* as in fm_coll_slot_publish() */
    wake_sleepers(shm);
}

static bool is_broken(const struct fm_coll_shm *shm)
{
    return atomic_load_explicit(&shm->view.head->broken, memory_order_acquire) != 0;
}

static bool is_over(void *ctx)
{
    const struct waiting *w = ctx;

    return w->is_done(&w->shm->view, w->n) || is_broken(w->shm);
}

static void look_for_lost(struct fm_coll_shm *shm)
{
    const struct fm_comm *comm = shm->comm;

    for (int r = 0; r < comm->size && !shm->is_lost; r++) {
        shm->is_lost = fm_peer_of(comm->ch, fm_comm_proc(comm, r))->is_gone;
    }
    if (shm->is_lost) {
        break_up(shm);
    }
}

static void announce(void *ctx, bool is_sleeping)
{
    const struct waiting *w = ctx;

    if (is_sleeping) {
        look_for_lost(w->shm);
        FM_STAT(fm_coll_shm_counters->n_sleeps++);
    }
    fm_coll_slots_announce(&w->shm->view, (uint32_t)w->shm->comm->rank, is_sleeping);
}

/* ---- errors -------------------------------------------------------------------------------- */

FM_COLD static int broken(const struct fm_coll_shm *shm)
{
    return shm->is_lost
               ? fm_fail(-FM_E_PEER, "a process of the communicator has ended")
               : fm_fail(-FM_E_PEER, "a process of the communicator has ended, or has called "
                                     "another collective than the others");
}

int fm_coll_shm_check(const struct fm_coll_shm *shm)
{
    return FM_UNLIKELY(is_broken(shm)) ? broken(shm) : 0;
}

FM_COLD static int mismatch(struct fm_coll_shm *shm, bool is_other_call)
{
    if (is_other_call) {
        break_up(shm);
        return fm_fail(-FM_E_INVAL, "the ranks of the communicator have called different "
                                    "collectives, or with different roots");
    }
    return fm_fail(-FM_E_TRUNCATE, "the ranks of the communicator have called the collective with "
                                   "different lengths");
}

FM_COLD static int failed(struct fm_coll_shm *shm, int error)
{
    switch (error) {
    case -FM_E_INVAL:
    case -FM_E_TRUNCATE:
        return mismatch(shm, error == -FM_E_INVAL);
    case -FM_E_NOMEM:
        return fm_fail(-FM_E_NOMEM, "no memory to combine the contributions");
    default:
        return fm_fail(error, "a rank of the communicator could not do its part");
    }
}

static bool is_other_call(uint64_t a, uint64_t b)
{
    return (a ^ b) >> 32 != 0;
}

/* Have all ranks made the same call, without errors? 0 or -FM_E... for the result. */
static int compare(const struct fm_coll_slots *v, uint32_t n, uint64_t stamp)
{
    int error = 0;

    for (uint32_t r = 0; r < v->size; r++) {
        const struct fm_coll_entry *entry = fm_coll_slot_entry(v, n, r);

        if (FM_UNLIKELY(entry->stamp != stamp)) {
            if (is_other_call(entry->stamp, stamp)) {
                return -FM_E_INVAL;
            }
            error = -FM_E_TRUNCATE;
        }
        error = error ? error : entry->error;
    }
    return error;
}

/* ---- a meeting ----------------------------------------------------------------------------- */

uint32_t fm_coll_shm_next(struct fm_coll_shm *shm)
{
    uint32_t n = ++shm->view.n;

    if (n % FM_COLL_SLOTS == 0) {
        fm_progress(shm->comm->ch);
    }
    return n;
}

void fm_coll_shm_arrive(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp,
                        fm_coll_shm_combine_fn combine, void *ctx)
{
    struct fm_coll_entry *result = fm_coll_slot_result(&shm->view, n);
    int error;

    if (shm->view.is_flat) {
        if (FM_UNLIKELY(fm_coll_slot_mark(&shm->view, n, (uint32_t)shm->comm->rank))) {
            wake_sleepers(shm);
        }
        return;
    }
    if (!fm_coll_slot_arrive(&shm->view, n)) {
        return;
    }
    error = compare(&shm->view, n, stamp);
    if (error == 0 && combine) {
        error = combine(shm, n, ctx);
    }
    result->error = error;
    result->stamp = stamp;
    publish(shm, n);
}

void fm_coll_shm_publish(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp)
{
    struct fm_coll_entry *result = fm_coll_slot_result(&shm->view, n);

    result->error = 0;
    result->stamp = stamp;
    publish(shm, n);
}

static bool is_done(const struct fm_coll_slots *v, uint32_t n)
{
    return fm_coll_slot_is_done(v, n);
}

static bool all_marked(const struct fm_coll_slots *v, uint32_t n)
{
    /* A root that publishes has made another call: it will not mark its entry. */
    return fm_coll_slot_all_marked(v, n) || fm_coll_slot_is_done(v, n);
}

static int wait_until(struct waiting w)
{
    int rc;

    if (FM_LIKELY(w.is_done(&w.shm->view, w.n))) {
        return 0;
    }
    rc = fm_wait_shared(w.shm->comm->ch, is_over, announce, &w);
    if (rc == 0 && !w.is_done(&w.shm->view, w.n)) {
        rc = broken(w.shm);
    }
    return rc;
}

int fm_coll_shm_wait_root(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp)
{
    const struct fm_coll_entry *result = fm_coll_slot_result(&shm->view, n);
    int rc = wait_until((struct waiting){shm, n, is_done});

    if (rc != 0) {
        return rc;
    }
    if (FM_UNLIKELY(result->stamp != stamp)) {
        return mismatch(shm, is_other_call(result->stamp, stamp));
    }
    return FM_UNLIKELY(result->error) ? failed(shm, result->error) : 0;
}

int fm_coll_shm_wait_all(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp)
{
    int rc;

    if (!shm->view.is_flat) {
        return fm_coll_shm_wait_root(shm, n, stamp);
    }
    rc = wait_until((struct waiting){shm, n, all_marked});
    if (rc == 0 && FM_UNLIKELY(!fm_coll_slot_all_marked(&shm->view, n))) {
        return mismatch(shm, true);
    }
    if (rc == 0) {
        rc = compare(&shm->view, n, stamp);
        rc = FM_UNLIKELY(rc) ? failed(shm, rc) : 0;
    }
    return rc;
}
