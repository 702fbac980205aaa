/* SPDX-License-Identifier: BSD-3-Clause */
/* The base of the runtime. */
#include "core/runtime/runtime_base.h"

#include "core/coll/coll.h"
#include "core/coll/coll_scratch.h"
#include "core/coll/coll_shm.h"
#include "core/coll/coll_vars.h"
#include "core/dtype/dtype.h"
#include "core/dtype/op.h"
#include "core/io/file.h"
#include "core/object/group.h"
#include "core/rma/win.h"
#include "core/runtime/host.h"
#include "core/runtime/process.h"
#include "core/runtime/runtime.h"
#include "util/log.h"

/* Show the state of the process in its page. */
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

int fm_runtime_base_open(void)
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

void fm_runtime_base_leave(void)
{
    fm_root.phase = FM_PHASE_AFTER;
    show_state(FATHOM_PAGE_DONE);
    fm_runtime.pm->ops->finished(fm_runtime.pm);
}

int fm_runtime_base_enter(void)
{
    int rc = start_registry();

    if (!rc) {
        show_state(FATHOM_PAGE_RUNNING);
        rc = fm_runtime.pm->ops->started(fm_runtime.pm);
        fm_root.phase = FM_PHASE_RUNNING;
    }
    return rc;
}

void fm_runtime_base_close(void)
{
    fm_file_finish();
    fm_comm_unref(fm_runtime.base);
    fm_runtime.base = NULL;
    close_channel();
    close_rooms();
    close_pm();
}
