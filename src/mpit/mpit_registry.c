/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life cycle: the registry starts with its first user, handles end with the last tool or with the
 * object that they are bound to.
 *
 * Variables and their numbers stay until the process ends, so a tool may come again, before
 * MPI_Init and after MPI_Finalize as well.
 */
#include "mpit/mpit_live.h"

#include <pthread.h>

static void before_fork(void)
{
    fm_t_lock_before_fork();
}

static void after_fork_in_parent(void)
{
    fm_t_lock_after_fork(false);
}

/* The child may use MPI_T, on a page of its own: the counters belong to the parent. */
static void after_fork_in_child(void)
{
    fm_t_remap_private();
    fm_t_lock_after_fork(true);
}

/* Called locked. The first user ever adds the tables; after that the set does not change. */
static int first_start(void)
{
    if (fm_t_root.is_fixed) {
        return fm_t_root.is_short ? -1 : 0;
    }
    if (!fm_t_root.is_started_once) {
        fm_t_root.is_started_once = true;
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        /* The host first: it may bring the page, which must be there before any table. */
        if (fm_t_root.host && fm_t_root.host->start) {
            fm_t_root.host->start();
        }
        fm_t_self_add();
    }
    fm_t_fix();
    fm_t_root.default_queue = (unsigned)fm_t_counters->queue_len;
    if (fm_t_page_open() != 0 || fm_t_root.is_short) {
        return -1;
    }
    fm_t_sde_open();
    return 0;
}

int fathom_mpit_start(void)
{
    int rc;

    fm_t_lock();
    rc = first_start();
    if (rc == 0 && fm_t_root.page->state == FATHOM_PAGE_EMPTY) {
        fm_t_root.page->state = FATHOM_PAGE_STARTED;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_tool_start(void)
{
    int rc;

    fm_t_lock();
    rc = fathom_mpit_start();
    if (rc == 0) {
        atomic_fetch_add_explicit(&fm_t_root.n_tools, 1, memory_order_release);
    }
    fm_t_unlock();
    return rc == 0 ? FM_T_OK : FM_T_CANNOT_INIT;
}

int fm_t_tool_stop(void)
{
    fm_t_lock();
    if (!fm_t_is_ready()) {
        fm_t_unlock();
        return FM_T_NOT_INITIALIZED;
    }
    if (atomic_fetch_sub_explicit(&fm_t_root.n_tools, 1, memory_order_release) == 1) {
        fm_t_event_finish();
        fm_t_pvar_finish();
        fm_t_session_finish();
        fm_t_cvar_finish();
    }
    fm_t_unlock();
    return FM_T_OK;
}

/* Handles bound to the object become invalid before its counters go. */
static void end_handles(const struct fm_t_object *o)
{
    const struct fathom_table *t = o->table->from;
    int i;

    fm_t_pvar_orphan(o);
    fm_t_cvar_orphan(o);
    for (i = 0; i < t->n_pvars; i++) {
        const struct fathom_pvar *row = &t->pvars[i];

        if (row->bind > FATHOM_BIND_NONE &&
            (row->klass == FATHOM_HIGHWATERMARK || row->klass == FATHOM_LOWWATERMARK)) {
            fm_t_level_finish((struct fathom_level *)(void *)(o->block + row->at));
        }
    }
}

void fathom_mpit_object_remove(void *object)
{
    struct fm_t_object *o;

    fm_t_lock();
    while ((o = fm_t_object_first(object)) != NULL) {
        end_handles(o);
        fm_t_object_end(o);
    }
    fm_t_event_orphan(object);
    fm_t_unlock();
}
