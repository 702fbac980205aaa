/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialization and finalization: the world, users of the base, abort. */
#include "core/runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/p2p/wait.h"
#include "core/runtime/host.h"
#include "core/runtime/leaks.h"
#include "core/runtime/locality.h"
#include "core/runtime/process.h"
#include "core/runtime/runtime_base.h"
#include "core/topo/place.h"
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

/* Report output that could not be written: programs seldom check it. */
static void check_output(void)
{
    if (fcntl(fileno(stdout), F_GETFD) < 0 || ftrylockfile(stdout) != 0) {
        return; /* closed by the program, or in use by another thread */
    }
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fm_pm_own_lost_output(errno ? errno : EIO);
    }
    funlockfile(stdout);
}

/* Transports may have files to remove; not in a child that the program has forked. */
static void close_at_exit(void)
{
    if (fm_runtime.pid != getpid()) {
        return;
    }
    check_output();
    if (fm_runtime.n_users == 0 && fm_runtime.pm) {
        fm_runtime_base_close();
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
        rc = rt->pm ? fm_runtime_base_enter() : fm_runtime_base_open();
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
    /* Never switched off: another thread may be inside a call. Written once: other threads may read
       it while a session is opened. */
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
        fm_runtime_base_leave();
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

int fm_runtime_base_comm(struct fm_comm **out_comm)
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
    fm_root.node_of = fm_process_nodes(rt->process);
    fm_place_cache = fm_locality_cache;
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
    fm_runtime.main_thread = pthread_self(); /* a session may have come first */
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
        fm_runtime_base_close();
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
