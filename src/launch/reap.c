/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that have ended or have aborted. */
#include "launch/reap.h"

#include <sys/wait.h>

#include "launch/rank_exit.h"
#include "launch/terminate.h"
#include "util/sync.h"

/* A rank that fails because a peer has ended may be noticed before the end of that peer. */
#define BLAME_WAIT_NS UINT64_C(500000000)

static struct fm_keytable_slot *slot_of(const struct fm_local *l, const struct fm_local_rank *r)
{
    return fm_keytable_slot(l->table, r->rank);
}

/* Another value than these was written by mistake. */
static enum fm_place_abort aborted_of(const struct fm_local *l, const struct fm_local_rank *r)
{
    /* Acquire: pairs with own_abort() of the rank. */
    uint32_t aborted = atomic_load_explicit(&slot_of(l, r)->aborted, memory_order_acquire);

    return aborted == FM_PLACE_ABORT || aborted == FM_PLACE_ABORT_BY_PEER
               ? (enum fm_place_abort)aborted
               : FM_PLACE_NO_ABORT;
}

/* Is another rank between MPI_Init and MPI_Finalize? Pairs with own_started() of the ranks. */
static bool has_peers_in_mpi(const struct fm_local *l, const struct fm_local_rank *r)
{
    for (int i = 0; i < l->n_ranks; i++) {
        const struct fm_local_rank *other = &l->ranks[i];

        if (other != r && !other->is_ended &&
            atomic_load(&slot_of(l, other)->phase) == FM_PLACE_INIT) {
            return true;
        }
    }
    return false;
}

static void explain(struct fm_local *l, const struct fm_local_rank *r, struct fm_rank_exit *out)
{
    struct fm_keytable_slot *slot = slot_of(l, r);
    struct fm_rank_end end = {.wait_status = r->wait_status};

    end.phase = (enum fm_place_phase)atomic_load(&slot->phase);
    end.is_aborted = aborted_of(l, r) != FM_PLACE_NO_ABORT;
    end.abort_status = slot->abort_status;
    if (end.phase == FM_PLACE_STARTED && !end.is_aborted) {
        uint32_t none = 0;

        /* Before the phases are read; see own_started(). */
        atomic_compare_exchange_strong(&l->table->live->left_early, &none, (uint32_t)r->rank + 1);
        fm_keytable_notify(l->table);
        end.has_peers_in_mpi = has_peers_in_mpi(l, r);
    }
    fm_rank_exit_of(&end, out);
}

/* Does the user know the cause? A signal was forwarded, or the reader of the output has gone. */
static bool is_expected(const struct fm_local *l, const struct fm_local_rank *r)
{
    int sig = r->is_ended && WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;

    return (sig && (l->forwarded >> sig & 1)) ||
           (sig == SIGPIPE &&
            (fm_writer_is_broken(&l->writers[1]) || fm_writer_is_broken(&l->writers[2])));
}

/* Settle what the end of a rank, or its MPI_Abort, means for the job. */
static void judge(struct fm_local *l, struct fm_local_rank *r)
{
    int n_others = l->n_alive - !r->is_ended;
    struct fm_rank_exit e;
    bool is_quiet;

    r->is_judged = true;
    explain(l, r, &e);
    if (e.exit_status == 0 || l->is_terminating) {
        return;
    }
    fm_terminate_status(l, e.exit_status);
    is_quiet = is_expected(l, r);
    if (e.text[0] != '\0' && !is_quiet) {
        fm_local_say(l, r, e.text);
    }
    if (!e.must_end_job || l->n_alive == 0) {
        return;
    }
    if (!is_quiet && !l->interrupt_ns && n_others > 0) {
        fprintf(l->err, "mpiexec: terminating the other %d rank%s\n", n_others,
                n_others == 1 ? "" : "s");
    }
    fm_terminate_job(l);
}

/* How much the end of a rank, or its MPI_Abort, explains. */
enum cause { CAUSE_NONE, CAUSE_PEER, CAUSE_OWN, CAUSE_SIGNAL };

static enum cause cause_of(const struct fm_local *l, const struct fm_local_rank *r)
{
    enum fm_place_abort aborted = aborted_of(l, r);

    if (r->pid == 0 || r->is_judged || (!r->is_ended && aborted == FM_PLACE_NO_ABORT)) {
        return CAUSE_NONE;
    }
    if (aborted == FM_PLACE_ABORT_BY_PEER) {
        return CAUSE_PEER;
    }
    return aborted == FM_PLACE_NO_ABORT && WIFSIGNALED(r->wait_status) ? CAUSE_SIGNAL : CAUSE_OWN;
}

/* May a rank be judged that only names a peer? Not while the end of the peer may still come. */
static bool is_blame_due(struct fm_local *l)
{
    uint64_t now = fm_now_ns();

    if (l->is_terminating || l->n_alive == 0) {
        return true;
    }
    if (!l->blame_ns) {
        l->blame_ns = now + BLAME_WAIT_NS;
    }
    return now >= l->blame_ns;
}

/* The rank whose end explains the others: one killed by a signal, else the first that does not only
   name a peer. NULL: none. */
static struct fm_local_rank *first_cause(struct fm_local *l)
{
    struct fm_local_rank *best = NULL;
    enum cause best_cause = CAUSE_NONE;

    for (int i = 0; i < l->n_ranks; i++) {
        enum cause cause = cause_of(l, &l->ranks[i]);

        if (cause > best_cause) {
            best = &l->ranks[i];
            best_cause = cause;
        }
    }
    return best_cause == CAUSE_PEER && !is_blame_due(l) ? NULL : best;
}

static void note_end(struct fm_local *l, pid_t pid, int wait_status)
{
    for (int i = 0; i < l->n_ranks; i++) {
        struct fm_local_rank *r = &l->ranks[i];

        if (r->pid == pid && !r->is_ended) {
            r->is_ended = true;
            r->wait_status = wait_status;
            l->n_alive--;
            return;
        }
    }
}

/* Publish the ends only after they were judged: a failure that follows from an end must not be
   taken for its cause. */
static void publish_ends(struct fm_local *l)
{
    for (int i = 0; i < l->n_ranks; i++) {
        if (l->ranks[i].is_ended) {
            fm_keytable_mark_gone(l->table, l->ranks[i].rank);
        }
    }
    fm_keytable_notify(l->table);
}

/* A rank ended without MPI_Init when no rank was in MPI, and now one is. */
static void judge_early_leaver(struct fm_local *l)
{
    uint32_t left = atomic_load(&l->table->live->left_early);

    for (int i = 0; i < l->n_ranks && left > 0 && !l->is_terminating; i++) {
        struct fm_local_rank *r = &l->ranks[i];

        if ((uint32_t)r->rank + 1 == left && r->is_ended && has_peers_in_mpi(l, r)) {
            judge(l, r);
        }
    }
}

void fm_reap(struct fm_local *l)
{
    struct fm_local_rank *r;
    int wait_status;
    pid_t pid;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        note_end(l, pid, wait_status);
        l->watchdog = pid == l->watchdog ? 0 : l->watchdog;
    }
    while ((r = first_cause(l))) {
        judge(l, r);
    }
    publish_ends(l);
    judge_early_leaver(l);
}

void fm_reap_check(struct fm_local *l)
{
    if (l->blame_ns && fm_now_ns() >= l->blame_ns) {
        fm_reap(l);
        l->blame_ns = 0;
    }
}
