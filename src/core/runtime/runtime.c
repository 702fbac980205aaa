/* SPDX-License-Identifier: BSD-3-Clause */
/* Bringing the library up and down. */
#include "core/runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/coll/coll.h"
#include "core/coll/coll_scratch.h"
#include "core/coll/coll_shm.h"
#include "core/coll/coll_vars.h"
#include "core/dtype/dtype.h"
#include "core/dtype/op.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/io/file.h"
#include "core/object/group.h"
#include "core/p2p/wait.h"
#include "core/rma/win.h"
#include "core/runtime/host.h"
#include "core/runtime/leaks.h"
#include "core/runtime/process.h"
#include "util/log.h"

/* The one root of the library; see runtime.h for what guards it. */
struct fm_runtime fm_runtime = {.thread_level = -1};

/* Serialises init and finalize of the world and of sessions; taken before the library lock. */
static pthread_mutex_t init_mutex = PTHREAD_MUTEX_INITIALIZER;

void fm_runtime_lock_init(void)
{
    pthread_mutex_lock(&init_mutex);
}

void fm_runtime_unlock_init(void)
{
    pthread_mutex_unlock(&init_mutex);
}

static void end_job(int exit_status, bool is_by_peer)
{
    fm_runtime_abort(exit_status, "", is_by_peer);
}

/* What the page says of us, for those who look from outside. */
static void show_state(uint32_t state)
{
    struct fathom_page *page = fathom_mpit_page_get();

    page->rank = fm_runtime.pm->rank;
    page->size = fm_runtime.pm->size;
    /* Release: pairs with the acquire load of readers: rank and size are set. */
    __atomic_store_n(&page->state, state, __ATOMIC_RELEASE);
}

static int open_rooms(void)
{
    int rc = fm_group_init();

    rc = rc ? rc : fm_comm_init(fm_host_counters()->comm);
    rc = rc ? rc : fm_dtype_init();
    rc = rc ? rc : fm_op_init(fm_host_counters()->op);
    rc = rc ? rc : fm_win_init(fm_host_counters()->rma);
    if (!rc) {
        fm_coll_vars_init(fm_host_counters()->coll);
        fm_coll_shm_init(fm_host_counters()->coll_shm);
    }
    return rc ? rc : fm_file_init(fm_host_counters()->io);
}

static void close_rooms(void)
{
    fm_win_finish();
    fm_coll_scratch_finish();
    fm_op_finish();
    fm_dtype_finish();
    fm_handle_finish();
}

static void close_channel(void)
{
    fm_channel_destroy(fm_runtime.ch);
    fm_runtime.ch = NULL;
    fm_process_close(fm_runtime.process);
    fm_runtime.process = NULL;
}

static int open_channel(void)
{
    struct fm_runtime *rt = &fm_runtime;
    const struct fm_host_counters *counters = fm_host_counters();
    int rc = fm_channel_create(rt->pm->size, rt->pm->rank, &counters->channel, &rt->ch);

    if (rc) {
        return rc;
    }
    fm_win_open(rt->ch);
    rt->ch->page = fathom_mpit_page_get();
    rt->ch->lock = &fm_root.lock;
    rt->ch->n_local = rt->pm->n_local;
    rc = fm_process_open(rt->ch, rt->pm, counters->process, &counters->transports, &rt->process);
    if (rc) {
        fm_channel_destroy(rt->ch);
        rt->ch = NULL;
        return rc;
    }
    if (rt->pm->needs_fence) {
        rc = rt->pm->ops->fence(rt->pm, NULL, NULL);
    }
    if (rc) {
        close_channel();
    }
    return rc;
}

static int open_pm(void)
{
    int rc = fm_pm_open(&fm_runtime.pm);

    if (!rc) {
        fm_log_identify(fm_runtime.pm->rank, fm_runtime.pm->size);
        fm_root.rank = fm_runtime.pm->rank;
        fm_root.size = fm_runtime.pm->size;
    }
    return rc;
}

static void close_pm(void)
{
    fm_runtime.pm->ops->close(fm_runtime.pm);
    fm_runtime.pm = NULL;
}

/* A process that uses MPI takes its place in the job, and with it the page that mpiexec made. */
static int start_registry(void)
{
    int rc = fm_pm_own_claim();

    if (rc < 0) {
        return rc;
    }
    if (fathom_mpit_start() != 0) {
        return fm_fail(-FM_E_INTERNAL, "the registry of variables cannot start");
    }
    fm_host_share_page();
    return 0;
}

/* The ground, from the bottom up. */
static int open_ground(void)
{
    int rc = start_registry();

    if (rc) {
        return rc;
    }
    rc = open_pm();
    if (rc) {
        return rc;
    }
    rc = open_rooms();
    if (rc) {
        goto err_rooms;
    }
    rc = open_channel();
    if (rc) {
        goto err_rooms;
    }
    show_state(FATHOM_PAGE_RUNNING);
    rc = fm_runtime.pm->ops->started(fm_runtime.pm);
    if (rc) {
        goto err_channel;
    }
    fm_root.phase = FM_PHASE_RUNNING;
    fathom_mpit_warn_unknown();
    return 0;

err_channel:
    close_channel();
err_rooms:
    close_rooms();
    close_pm();
    return rc;
}

/* Nobody uses the ground, but it can be used again. */
static void leave_ground(void)
{
    fm_root.phase = FM_PHASE_AFTER;
    show_state(FATHOM_PAGE_DONE);
    fm_runtime.pm->ops->finished(fm_runtime.pm);
}

static int enter_ground(void)
{
    int rc = start_registry();

    if (!rc) {
        show_state(FATHOM_PAGE_RUNNING);
        rc = fm_runtime.pm->ops->started(fm_runtime.pm);
        fm_root.phase = FM_PHASE_RUNNING;
    }
    return rc;
}

/* It is idle, and nobody comes back. */
static void close_ground(void)
{
    fm_file_finish();
    fm_comm_unref(fm_runtime.base);
    fm_runtime.base = NULL;
    close_channel();
    close_rooms();
    close_pm();
}

/* Programs seldom look whether their results fitted on the disk. */
static void check_output(void)
{
    if (fcntl(fileno(stdout), F_GETFD) < 0 || ftrylockfile(stdout) != 0) {
        return; /* closed on purpose, or another thread is amid it */
    }
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fm_pm_own_lost_output(errno ? errno : EIO);
    }
    funlockfile(stdout);
}

/* Transports may have files to remove; a child that the user forked has no part in that. */
static void close_at_exit(void)
{
    if (fm_runtime.pid != getpid()) {
        return;
    }
    check_output();
    if (fm_runtime.n_users == 0 && fm_runtime.pm) {
        close_ground();
    }
}

/* The job, its peers and all locks belong to the parent. World is over: MPI_Finalized says so to
   exit handlers that the child has inherited. */
static void after_fork_in_child(void)
{
    fm_runtime.pm = NULL; /* an error ends this process alone */
    fm_runtime.world_phase = FM_PHASE_AFTER;
    fm_root.phase = FM_PHASE_FORKED;
    fm_root.wake = NULL;
    fm_root.lock.mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    fm_root.lock.n_wanting = 0;
    init_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    fm_errhandler_outlive();
    fm_handle_abandon();
}

int fm_runtime_open(int thread_level)
{
    struct fm_runtime *rt = &fm_runtime;
    struct fm_process_counters *counters;
    int rc = 0;

    if (fm_root.phase == FM_PHASE_FORKED) {
        return fm_fail(-FM_E_UNSUPPORTED, "%s", fm_handle_why_not_running());
    }
    if (rt->n_users == 0) {
        fm_root.abort = end_job;
        rc = rt->pm ? enter_ground() : open_ground();
    }
    if (rc) {
        return rc;
    }
    rt->n_users++;
    if (rt->thread_level < 0) {
        rt->main_thread = pthread_self();
        rt->pid = getpid();
        atexit(close_at_exit);
        pthread_atfork(NULL, NULL, after_fork_in_child);
    }
    if (thread_level > rt->thread_level) {
        rt->thread_level = thread_level;
    }
    /* Never switched off again: another thread may be inside a call. Not written twice: others may
       look at it while a session is opened. */
    if (rt->thread_level == MPI_THREAD_MULTIPLE && !fm_root.lock.is_on) {
        counters = fm_host_counters()->process;
        fm_root.lock.counters = counters ? &counters->lock : NULL;
        fm_root.lock.is_on = true;
        fm_lock_take(&fm_root.lock); /* the caller's entry found it off; its exit drops it */
    }
    return 0;
}

void fm_runtime_close(void)
{
    if (--fm_runtime.n_users == 0) {
        leave_ground();
    }
}

static int make_comm(int size, const int *procs, int rank, uint32_t context, const char *name,
                     struct fm_comm **out_comm)
{
    struct fm_group *group;
    int rc = fm_group_create(size, procs, fm_runtime.pm->rank, &group);

    if (rc) {
        return rc;
    }
    rc = fm_comm_create(fm_runtime.ch, group, NULL, rank, context, out_comm);
    fm_group_unref(group);
    return rc ? rc : fm_comm_set_name(*out_comm, name);
}

int fm_runtime_ground_comm(struct fm_comm **out_comm)
{
    struct fm_runtime *rt = &fm_runtime;
    int rc = 0;

    if (!rt->base) {
        rc = make_comm(rt->pm->size, NULL, rt->pm->rank, FM_CONTEXT_BASE, "sessions", &rt->base);
    }
    if (!rc) {
        *out_comm = rt->base;
    }
    return rc;
}

static void drop_world(void)
{
    struct fm_runtime *rt = &fm_runtime;

    fm_handle_predefine(MPI_COMM_WORLD, NULL);
    fm_handle_predefine(MPI_COMM_SELF, NULL);
    fm_comm_unref(rt->self);
    fm_comm_unref(rt->world);
    rt->self = rt->world = NULL;
}

static int make_world(void)
{
    struct fm_runtime *rt = &fm_runtime;
    struct fm_pm *pm = rt->pm;
    int rc = make_comm(pm->size, NULL, pm->rank, FM_CONTEXT_WORLD, "MPI_COMM_WORLD", &rt->world);

    if (!rc) {
        rc = make_comm(1, &pm->rank, 0, FM_CONTEXT_SELF, "MPI_COMM_SELF", &rt->self);
    }
    if (rc) {
        drop_world();
        return rc;
    }
    fm_root.node_of = pm->node_of;
    fm_handle_predefine(MPI_COMM_WORLD, rt->world);
    fm_handle_predefine(MPI_COMM_SELF, rt->self);
    return 0;
}

/* Release: pairs with fm_runtime_world_phase() in any thread. */
static void set_world_phase(enum fm_phase phase)
{
    __atomic_store_n(&fm_runtime.world_phase, phase, __ATOMIC_RELEASE);
}

int fm_runtime_init(int required, int *out_provided)
{
    struct fm_process_counters *counters;
    uint64_t start = fm_now_ns();
    int rc = fm_runtime_open(required);

    if (rc) {
        return rc;
    }
    rc = make_world();
    if (rc) {
        fm_runtime_close();
        return rc;
    }
    fm_runtime.main_thread = pthread_self(); /* a session may have been there before */
    set_world_phase(FM_PHASE_RUNNING);
    fm_runtime.init_ns = start;
    counters = fm_host_counters()->process;
    counters->init_ns = fm_now_ns() - start;
    *out_provided = fm_runtime.thread_level;
    return 0;
}

static void serve(void *ctx)
{
    fm_progress(ctx);
}

/* The fence of MPI_Finalize, shown in the page as the call that blocks. */
static int wait_for_all(struct fm_runtime *rt)
{
    struct fathom_page_blocked *b = &rt->ch->page->blocked;
    int rc;

    snprintf(b->call, sizeof(b->call), "MPI_Finalize");
    b->peer = MPI_PROC_NULL;
    b->tag = MPI_PROC_NULL;
    b->comm = 0;
    b->bytes = 0;
    /* Release: pairs with the acquire load of readers; the call is set. */
    __atomic_store_n(&b->since_ns, fm_now_ns(), __ATOMIC_RELEASE);
    rc = rt->pm->ops->fence(rt->pm, serve, rt->ch);
    __atomic_store_n(&b->since_ns, 0, __ATOMIC_RELEASE);
    return rc;
}

int fm_runtime_finish(void)
{
    struct fm_runtime *rt = &fm_runtime;
    struct fm_process_counters *counters = fm_host_counters()->process;
    uint64_t start = fm_now_ns();
    bool is_last = rt->n_users == 1;
    int rc;

    /* As if MPI_COMM_SELF were freed first: its delete callbacks may use MPI (MPI-5.0 11.2.4). */
    rc = fm_attr_delete_all(FM_KIND_COMM, rt->self, &rt->self->attrs);
    rc = rc ? rc : fm_attr_delete_all(FM_KIND_COMM, rt->world, &rt->world->attrs);
    if (rc) {
        return rc;
    }
    rc = fm_channel_drain(rt->ch);
    if (is_last) {
        rt->pm->ops->withdraw(rt->pm);
    }
    rc = rc ? rc : wait_for_all(rt);
    counters->finalize_ns = fm_now_ns() - start;
    if (rc) {
        return rc;
    }
    set_world_phase(FM_PHASE_AFTER);
    drop_world();
    if (is_last && counters->report_live) {
        fm_leaks_report();
    }
    fm_runtime_close();
    if (is_last) {
        close_ground();
    }
    return 0;
}

void fm_runtime_abort(int exit_status, const char *text, bool is_by_peer)
{
    struct fm_pm *pm = fm_runtime.pm;

    fflush(stdout);
    if (pm) {
        pm->ops->abort(pm, exit_status, text, is_by_peer);
    } else {
        fm_pm_own_abort(exit_status);
    }
    /* Never 0: the job has failed, whatever the low 8 bits of the code say. */
    _exit((exit_status & 0xff) != 0 ? exit_status & 0xff : 1);
}
