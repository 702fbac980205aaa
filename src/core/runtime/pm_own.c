/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under our own mpiexec: everything lies in the key table of the job, which we have mapped, so
 * nothing here talks to anyone. The launcher is only woken (SIGCHLD) when a rank gives up.
 */
#include "core/runtime/pm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/keytable.h"
#include "util/segment.h"

/* How long to sleep before looking whether the launcher still lives. */
#define LOOK_AGAIN_MS 100
/* How long the launcher is given to end a job that cannot go on. */
#define LAUNCHER_ENDS_US_MS 1000

struct own {
    struct fm_pm pm; /* first */
    struct fm_keytable *table;
    struct fm_keytable_slot *slot;
};

/*
 * The place of this process, found once: the page is asked for before MPI_Init, and a process that
 * has left MPI may come back (sessions). Written under the library lock.
 */
static struct {
    bool is_known, is_claimed;
    int status; /* of finding it */
    int claim_status;
    struct fm_keytable_place place;
    struct fm_keytable *table;
} mine;

/* Is the process a child of `parent`, with one thread only? */
static bool is_simple_child(pid_t pid, pid_t parent)
{
    int its_parent = 0, n_threads = 0;
    char path[32];
    char line[128];
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "PPid: %d", &its_parent) != 1) {
            sscanf(line, "Threads: %d", &n_threads);
        }
    }
    if (f) {
        fclose(f);
    }
    return its_parent == parent && n_threads == 1;
}

/*
 * A rank dies with mpiexec. If it is a shell (or a debugger) and we are its child, we die with it.
 * The kernel means the thread that started us, so a parent with threads is left out: it may end the
 * thread and live on.
 */
static void die_with_parent(pid_t launcher)
{
    pid_t parent = getppid();

    if (parent != launcher && is_simple_child(parent, launcher)) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
}

/* A container may have process numbers of its own, by which nobody can be reached or watched. */
static int check_pid_space(const struct fm_keytable *t)
{
    uint64_t ours = fm_segment_pid_space();

    if (!t->pid_space || !ours || t->pid_space == ours) {
        return 0;
    }
    return fm_fail(-FM_E_UNSUPPORTED,
                   "this process is in another PID namespace than mpiexec: run mpiexec inside the "
                   "container, or start the container with the PID namespace of the host "
                   "(--pid=host)");
}

static int find_place(void)
{
    const char *text = getenv(FM_KEYTABLE_ENV);
    int rc;

    if (!text) {
        return FM_AGAIN;
    }
    rc = fm_keytable_place_parse(text, &mine.place);
    if (!rc) {
        rc = fm_keytable_map(&mine.place, &mine.table);
    }
    if (!rc) {
        rc = check_pid_space(mine.table);
    }
    if (rc && mine.table) {
        fm_keytable_unmap(mine.table);
        mine.table = NULL;
    }
    return rc;
}

static int know_place(void)
{
    if (!mine.is_known) {
        mine.is_known = true;
        mine.status = find_place();
    }
    return mine.status;
}

int fm_pm_own_claim(void)
{
    int rc = know_place();

    if (!rc && !mine.is_claimed) {
        mine.is_claimed = true;
        mine.claim_status =
            fm_keytable_claim(fm_keytable_slot(mine.table, mine.place.rank), getpid());
        if (mine.claim_status == 0) {
            die_with_parent(mine.table->launcher);
        }
    }
    return rc ? rc : mine.claim_status;
}

bool fm_pm_own_is_claimed(void)
{
    return mine.is_claimed && mine.claim_status == 0;
}

int fm_pm_own_page(int *out_fd)
{
    int rc = know_place();

    return rc ? rc : fm_keytable_page_fd(&mine.place, out_fd);
}

int fm_pm_own_rank(void)
{
    return know_place() == 0 ? mine.place.rank : -1;
}

void fm_pm_own_lost_output(int error)
{
    if (fm_pm_own_is_claimed()) {
        /* Relaxed: the launcher looks when this process has ended. */
        atomic_store_explicit(&fm_keytable_slot(mine.table, mine.place.rank)->lost_output, error,
                              memory_order_relaxed);
    }
}

static bool is_launcher_gone(struct own *o)
{
    return kill(o->table->launcher, 0) != 0 && errno == ESRCH;
}

static int own_put(struct fm_pm *pm, const char *key, const void *value, size_t len)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    return fm_keytable_put(o->table, pm->rank, key, value, len);
}

static bool own_is_gone(struct fm_pm *pm, int rank)
{
    struct own *o = fm_container_of(pm, struct own, pm);
    struct fm_keytable_slot *slot = fm_keytable_slot(o->table, rank);

    /* Acquire: pairs with the launcher's store after it saw that process end. */
    return !slot || atomic_load_explicit(&slot->is_gone, memory_order_acquire) ||
           is_launcher_gone(o);
}

static int own_get(struct fm_pm *pm, int rank, const char *key, void *out_value, size_t *len)
{
    struct own *o = fm_container_of(pm, struct own, pm);
    struct fm_keytable_slot *slot = fm_keytable_slot(o->table, rank);
    int rc;

    if (!slot) {
        return fm_fail(-FM_E_INVAL, "the job has no rank %d", rank);
    }
    for (;;) {
        /* All three before the look: what changes after it also changes the word we sleep on. */
        uint32_t seen = atomic_load_explicit(&o->table->change, memory_order_acquire);
        bool is_gone = own_is_gone(pm, rank);
        /* Acquire: pairs with own_started(), before which everything is published. */
        uint32_t phase = atomic_load_explicit(&slot->phase, memory_order_acquire);

        rc = fm_keytable_find(o->table, rank, key, out_value, len);
        if (rc != FM_AGAIN) {
            return rc;
        }
        if (is_gone) {
            return fm_fail(-FM_E_PEER, "rank %d has ended", rank);
        }
        /* One that has withdrawn its keys (MPI_Finalize) may come back with a session. */
        if (phase == FM_PLACE_INIT && atomic_load(&slot->n_entries) > 0) {
            return fm_fail(-FM_E_NOENT, "rank %d has published no \"%s\"", rank, key);
        }
        fm_keytable_sleep(o->table, seen, LOOK_AGAIN_MS);
    }
}

static void own_withdraw(struct fm_pm *pm)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    /* Relaxed: the fence orders it. Until all are there, somebody may talk to us for the first
       time: to tell what he has received meanwhile. */
    atomic_store_explicit(&o->slot->is_leaving, 1, memory_order_relaxed);
}

/* All ranks are in the fence. */
static void take_back(struct fm_pm *pm)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    for (int r = 0; r < pm->size; r++) {
        struct fm_keytable_slot *slot = fm_keytable_slot(o->table, r);

        if (atomic_exchange_explicit(&slot->is_leaving, 0, memory_order_relaxed)) {
            atomic_store_explicit(&slot->n_entries, 0, memory_order_release);
        }
    }
}

/* The first rank that has ended, -1: all live. */
static int first_gone(struct fm_pm *pm)
{
    for (int r = 0; r < pm->size; r++) {
        if (own_is_gone(pm, r)) {
            return r;
        }
    }
    return -1;
}

static int own_fence(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx)
{
    struct own *o = fm_container_of(pm, struct own, pm);
    struct fm_keytable *t = o->table;
    uint32_t gen = atomic_load_explicit(&t->fence, memory_order_acquire);
    int nap_ms = 1;

    /* Acquire-release: the last to come has seen what all others did before. */
    if (atomic_fetch_add_explicit(&t->n_arrived, 1, memory_order_acq_rel) + 1 ==
        (uint32_t)pm->size) {
        atomic_store_explicit(&t->n_arrived, 0, memory_order_relaxed);
        take_back(pm);
        /* Release: pairs with the acquire loads of those who wait below. */
        atomic_fetch_add_explicit(&t->fence, 1, memory_order_release);
        fm_keytable_notify(t);
        return 0;
    }
    for (;;) {
        uint32_t seen = atomic_load_explicit(&t->change, memory_order_acquire);
        int gone = first_gone(pm);

        if (atomic_load_explicit(&t->fence, memory_order_acquire) != gen) {
            return 0;
        }
        if (gone >= 0) {
            return fm_fail(-FM_E_PEER, "rank %d has ended", gone);
        }
        fm_keytable_sleep(t, seen, idle ? nap_ms : LOOK_AGAIN_MS);
        nap_ms = nap_ms < LOOK_AGAIN_MS ? nap_ms * 2 : nap_ms;
        if (idle) {
            idle(ctx);
        }
    }
}

static int own_started(struct fm_pm *pm)
{
    struct own *o = fm_container_of(pm, struct own, pm);
    uint32_t left;

    /*
     * Sequentially consistent, as the launcher's store to left_early and its look at the phases:
     * of a rank that left without MPI_Init, either it or we take notice.
     */
    atomic_store(&o->slot->phase, FM_PLACE_INIT);
    left = atomic_load(&o->table->left_early);
    fm_keytable_notify(o->table);
    if (left) {
        /* The launcher says it once for all and ends us; only if it cannot, each says it. */
        kill(o->table->launcher, SIGCHLD);
        for (int i = 0; i < LAUNCHER_ENDS_US_MS / LOOK_AGAIN_MS; i++) {
            fm_keytable_sleep(o->table, atomic_load(&o->table->change), LOOK_AGAIN_MS);
        }
        return fm_fail(-FM_E_PEER, "rank %u has exited without calling MPI_Init", left - 1);
    }
    return 0;
}

static int own_finished(struct fm_pm *pm)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    /* Release: pairs with the launcher's look when this process has ended. */
    atomic_store_explicit(&o->slot->phase, FM_PLACE_FINALIZED, memory_order_release);
    fm_keytable_notify(o->table);
    return 0;
}

static void own_abort(struct fm_pm *pm, int exit_status, const char *text, bool is_by_peer)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    o->slot->abort_status = exit_status;
    snprintf(o->slot->abort_text, sizeof(o->slot->abort_text), "%s", text ? text : "");
    /* Release: pairs with the launcher's look after the signal. */
    atomic_store_explicit(&o->slot->aborted, is_by_peer ? FM_PLACE_ABORT_BY_PEER : FM_PLACE_ABORT,
                          memory_order_release);
    fm_keytable_notify(o->table);
    kill(o->table->launcher, SIGCHLD);
}

static void own_close(struct fm_pm *pm)
{
    free(fm_container_of(pm, struct own, pm));
}

static const struct fm_pm_ops own_ops = {
    .name = "own",
    .put = own_put,
    .get = own_get,
    .fence = own_fence,
    .withdraw = own_withdraw,
    .is_gone = own_is_gone,
    .started = own_started,
    .finished = own_finished,
    .abort = own_abort,
    .close = own_close,
};

int fm_pm_own_open(struct fm_pm **out_pm)
{
    int rc = fm_pm_own_claim();
    struct own *o;

    if (rc) {
        return rc;
    }
    o = calloc(1, sizeof(*o));
    if (!o) {
        return fm_fail(-FM_E_NOMEM, "no memory for the process manager");
    }
    o->table = mine.table;
    o->slot = fm_keytable_slot(mine.table, mine.place.rank);
    o->pm = (struct fm_pm){.ops = &own_ops,
                           .rank = mine.place.rank,
                           .size = mine.table->n_ranks,
                           .appnum = o->slot->appnum,
                           .universe_size = mine.table->universe_size,
                           .local_rank = mine.place.rank,
                           .n_local = mine.table->n_ranks};
    snprintf(o->pm.job, sizeof(o->pm.job), "%s", mine.table->name);
    *out_pm = &o->pm;
    return 0;
}
