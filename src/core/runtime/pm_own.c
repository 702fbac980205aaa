/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process manager of Fathom's mpiexec: all is in the key table of the job, which each rank has
 * mapped, so no message is sent. The launcher is woken (SIGCHLD) only when a rank aborts.
 */
#include "core/runtime/pm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/keytable.h"
#include "util/segment.h"

/* How often a waiting rank checks that the launcher lives. */
#define CHECK_MS 100
/* How long the launcher may take to end a job that cannot go on. */
#define LAUNCHER_ENDS_JOB_MS 1000

struct own {
    struct fm_pm pm; /* first */
    struct fm_keytable *table;
    struct fm_keytable_slot *slot;
};

/*
 * The place of this process, found once: the page is needed before MPI_Init, and a process that has
 * left MPI may return (sessions). Written under the library lock.
 */
static struct {
    bool is_known, is_claimed;
    int status; /* of finding it */
    int claim_status;
    struct fm_keytable_place place;
    struct fm_keytable *table;
} mine;

/* Is the process a child of `parent` with one thread? */
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
 * A rank is killed when mpiexec ends. Where it is a shell or a debugger and this process its child,
 * this process is killed with it. The kernel watches the thread that started the child, so a parent
 * with several threads is left out: it may end the thread and continue.
 */
static void die_with_parent(pid_t launcher)
{
    pid_t parent = getppid();

    if (parent != launcher && is_simple_child(parent, launcher)) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
}

/* In a PID namespace of its own a process can neither reach others by their ids nor watch them. */
static int check_pid_space(const struct fm_keytable *t)
{
    uint64_t ours = fm_segment_pid_space();

    if (!t->head.pid_space || !ours || t->head.pid_space == ours) {
        return 0;
    }
    return fm_fail(-FM_E_UNSUPPORTED,
                   "this process is in another PID namespace than mpiexec: run mpiexec inside the "
                   "container, or start the container with the PID namespace of the host "
                   "(--pid=host)");
}

/* Share memory with the other ranks through the file that all have inherited. */
static int use_arena(void)
{
    const struct fm_keytable_head *h = &mine.table->head;
    int fd = h->arena_len ? fm_keytable_file(&mine.place) : -1;

    return fd < 0 ? 0 : fm_arena_use(fd, h->arena_at, h->arena_len);
}

static int find_place(void)
{
    const char *text = secure_getenv(FM_KEYTABLE_ENV);
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
        mine.claim_status = fm_keytable_claim(mine.table, mine.place.rank, getpid());
        if (mine.claim_status == 0) {
            mine.claim_status = use_arena();
        }
        if (mine.claim_status == 0) {
            die_with_parent(mine.table->head.launcher);
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
        /* Relaxed: the launcher reads it when this process has ended. */
        atomic_store_explicit(&fm_keytable_slot(mine.table, mine.place.rank)->lost_output, error,
                              memory_order_relaxed);
    }
}

static bool is_launcher_gone(struct own *o)
{
    return kill(o->table->head.launcher, 0) != 0 && errno == ESRCH;
}

static int own_put(struct fm_pm *pm, const char *key, const void *value, size_t len)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    return fm_keytable_put(o->table, pm->rank, key, value, len);
}

static bool own_is_gone(struct fm_pm *pm, int rank)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    return !fm_keytable_slot(o->table, rank) || fm_keytable_is_gone(o->table, rank) ||
           is_launcher_gone(o);
}

static int own_get(struct fm_pm *pm, const struct fm_pm_proc *proc, const char *key,
                   void *out_value, size_t *len)
{
    struct own *o = fm_container_of(pm, struct own, pm);
    struct fm_keytable_slot *slot = fm_keytable_slot(o->table, proc->rank);
    int rank = proc->rank, rc;

    if (!fm_pm_is_own_job(pm, proc)) {
        return fm_fail(-FM_E_NOENT, "the job %.64s is not known here", proc->job);
    }
    if (!slot) {
        return fm_fail(-FM_E_INVAL, "the job has no rank %d", rank);
    }
    for (;;) {
        /* All three before the values are read: a later change also changes `seen`. */
        uint32_t seen = fm_keytable_seen(o->table);
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
        /* A rank that has withdrawn its values (MPI_Finalize) may return with a session. */
        if (phase == FM_PLACE_INIT && fm_keytable_has_entries(o->table, rank)) {
            return fm_fail(-FM_E_NOENT, "rank %d has published no \"%s\"", rank, key);
        }
        fm_keytable_sleep(o->table, seen, CHECK_MS);
    }
}

static void own_withdraw(struct fm_pm *pm)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    fm_keytable_withdraw(o->table, pm->rank);
}

static int own_fence(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx)
{
    struct own *o = fm_container_of(pm, struct own, pm);
    int sleep_ms = 1;

    fm_keytable_enter(o->table, pm->rank);
    for (;;) {
        uint32_t seen = fm_keytable_seen(o->table);
        int missing = fm_keytable_missing(o->table, pm->rank);

        if (missing < 0) {
            return 0;
        }
        /* It may have entered before it ended. */
        if (own_is_gone(pm, missing) && fm_keytable_missing(o->table, pm->rank) == missing) {
            return fm_fail(-FM_E_PEER, "rank %d has ended", missing);
        }
        fm_keytable_sleep(o->table, seen, idle ? sleep_ms : CHECK_MS);
        sleep_ms = sleep_ms < CHECK_MS ? sleep_ms * 2 : sleep_ms;
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
     * Sequentially consistent, as the store of the launcher to left_early and its loads of the
     * phases: a rank that left without MPI_Init is noticed by the launcher or by this rank.
     */
    atomic_store(&o->slot->phase, FM_PLACE_INIT);
    left = atomic_load(&o->table->live->left_early);
    fm_keytable_notify(o->table);
    if (left > 0 && left <= (uint32_t)pm->size) {
        /* The launcher reports it once and ends the job. Where it cannot, each rank reports it. */
        kill(o->table->head.launcher, SIGCHLD);
        for (int i = 0; i < LAUNCHER_ENDS_JOB_MS / CHECK_MS; i++) {
            fm_keytable_sleep(o->table, fm_keytable_seen(o->table), CHECK_MS);
        }
        return fm_fail(-FM_E_PEER, "rank %u has exited without calling MPI_Init", left - 1);
    }
    return 0;
}

static int own_finished(struct fm_pm *pm)
{
    struct own *o = fm_container_of(pm, struct own, pm);

    /* Release: pairs with the load of the launcher when this process has ended. */
    atomic_store_explicit(&o->slot->phase, FM_PLACE_FINALIZED, memory_order_release);
    fm_keytable_notify(o->table);
    return 0;
}

static void request_abort(struct fm_keytable *table, int rank, int exit_status, bool is_by_peer)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(table, rank);

    slot->abort_status = exit_status;
    /* Release: pairs with the acquire load of the launcher after the signal. */
    atomic_store_explicit(&slot->aborted, is_by_peer ? FM_PLACE_ABORT_BY_PEER : FM_PLACE_ABORT,
                          memory_order_release);
    fm_keytable_notify(table);
    kill(table->head.launcher, SIGCHLD);
}

static void own_abort(struct fm_pm *pm, int exit_status, const char *text, bool is_by_peer)
{
    request_abort(fm_container_of(pm, struct own, pm)->table, pm->rank, exit_status, is_by_peer);
}

void fm_pm_own_abort(int exit_status)
{
    /* Not in a child that the rank has forked. */
    if (fm_pm_own_claim() == 0 &&
        atomic_load(&fm_keytable_slot(mine.table, mine.place.rank)->claim) == getpid()) {
        request_abort(mine.table, mine.place.rank, exit_status, false);
    }
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
                           .size = mine.table->head.n_ranks,
                           .appnum = o->slot->appnum,
                           .universe_size = mine.table->head.universe_size,
                           .local_rank = mine.place.rank,
                           .n_local = mine.table->head.n_ranks};
    snprintf(o->pm.job, sizeof(o->pm.job), "%s", mine.table->head.name);
    *out_pm = &o->pm;
    return 0;
}
