/* SPDX-License-Identifier: BSD-3-Clause */
/* The library as the host of the MPI_T registry. */
#include "core/runtime/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/coll/coll_shm.h"
#include "core/coll/coll_vars.h"
#include "core/io/file.h"
#include "core/dtype/op.h"
#include "core/object/comm.h"
#include "core/object/info.h"
#include "core/p2p/match.h"
#include "core/rma/win_vars.h"
#include "core/runtime/process.h"
#include "core/runtime/runtime.h"
#include "transport/transports.h"
#include "util/log.h"
#include "util/page_socket.h"
#include "util/segment.h"

/* Written by host_start() alone, which the registry calls once, under its lock. */
static struct fm_host_counters counters;

/* The page is one that tools can see from outside. Written as `counters`, and under the lock of
   initialization. */
static bool is_shared;

static const char *const environment[] = {
    "FATHOM_JOB",           "FATHOM_RANK",         "FATHOM_SIZE", "FATHOM_LOCAL_RANK",
    "FATHOM_LOCAL_SIZE",    FM_PAGE_SOCKET_ENV,    "FATHOM_CC",   "FATHOM_CXX",
    "FATHOM_PMIX_RANK_PID", "FATHOM_PMI_RANK_PID", NULL,
};

/* Descriptor of the page that mpiexec made for this place, empty and with its length; -1: there is
   none. An earlier program in this place may have left its variables there. */
static int page_of_launcher(size_t *out_len)
{
    struct stat st;
    int fd;

    if (fm_pm_own_page(&fd) != 0) {
        return -1;
    }
    if (fstat(fd, &st) != 0) {
        close(fd);
        return -1;
    }
    *out_len = (size_t)st.st_size;
    return fd;
}

static void warn_no_page(void)
{
    fm_log_warn("the shared page cannot be used (%s): tools see this process from inside only",
                strerror(errno));
}

/*
 * The page is the launcher's in a process that called MPI_Init. A process that mpiexec started but
 * that only uses MPI_T (a tool before exec, a child) must not write there: it gets memory that
 * fm_host_share_page() can move. Any other process gets a page of its own, with a descriptor that
 * tools can open below /proc.
 */
static void open_page(void)
{
    size_t len = FATHOM_PAGE_LEN;
    int fd = page_of_launcher(&len), flags = MAP_SHARED;
    void *page;

    if (fd >= 0 && !fm_pm_own_is_claimed()) {
        close(fd);
        fd = -1;
        flags |= MAP_ANONYMOUS;
    } else if (fd >= 0) {
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)len);
    } else {
        fd = fm_segment_sealed("fathom-page", len);
        if (fd < 0) {
            return; /* the registry makes an anonymous one */
        }
        fm_pm_single_page(fd);
    }
    is_shared = !(flags & MAP_ANONYMOUS);
    page = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (page == MAP_FAILED || fathom_mpit_page(page, len) != 0) {
        warn_no_page();
    }
}

void fm_host_share_page(void)
{
    size_t len;
    int fd;

    if (is_shared || !fm_pm_own_is_claimed()) {
        return;
    }
    is_shared = true;
    fd = page_of_launcher(&len);
    if (fd < 0) {
        return;
    }
    /* Without the lock of infos and error handlers, which comes after the registry's (host_start):
       what other threads count during the move is added by it. */
    if (fathom_mpit_page_move(fd, len) != 0) {
        warn_no_page();
    }
}

static void host_start(void)
{
    open_page();
    fathom_mpit_add(&fm_process_vars, &counters.process);
    fathom_mpit_add(&fm_p2p_vars, &counters.channel.p2p);
    fathom_mpit_add(&fm_match_vars, &counters.channel.match);
    fathom_mpit_add(&fm_progress_vars, &counters.channel.progress);
    fathom_mpit_add(&fm_object_vars, &counters.objects);
    fm_handle_count_in(counters.objects);
    fathom_mpit_add(&fm_comm_vars, &counters.comm);
    fathom_mpit_add(&fm_op_vars, &counters.op);
    fathom_mpit_add(&fm_coll_vars, &counters.coll);
    fathom_mpit_add(&fm_coll_shm_vars, &counters.coll_shm);
    fathom_mpit_add(&fm_io_vars, &counters.io);
    fathom_mpit_add(&fm_rma_vars, &counters.rma);
    for (int k = 0; k < FM_N_TRANSPORTS; k++) {
        fathom_mpit_add(fm_transports[k].vars, &counters.transports.of[k]);
    }
}

const struct fm_host_counters *fm_host_counters(void)
{
    return &counters;
}

static void host_lock(void)
{
    fm_lock_take(&fm_root.lock);
}

static void host_unlock(void)
{
    fm_lock_drop(&fm_root.lock);
}

/* MPI handles are pointers of one size, whatever they refer to (MPI-5.0 20.3.1). Tools that give no
   object for any variable (gyan) mean all of the program. */
static void *host_object(enum fathom_bind bind, const void *obj_handle)
{
    const void *handle = obj_handle ? *(void *const *)obj_handle : MPI_COMM_WORLD;

    switch (bind) {
    case FATHOM_BIND_COMM:
        return fm_handle_get(handle, FM_KIND_COMM);
    case FATHOM_BIND_FILE:
        return fm_handle_get(handle, FM_KIND_FILE);
    case FATHOM_BIND_WIN:
        return fm_handle_get(handle, FM_KIND_WIN);
    case FATHOM_BIND_SESSION:
        return fm_handle_get(handle, FM_KIND_SESSION);
    default:
        return NULL;
    }
}

static bool host_info_is_valid(const void *info)
{
    return fm_info_get(*(void *const *)info) != NULL;
}

static bool host_info_get(const void *info, const char *key, char *value, int len)
{
    const struct fm_info *i = fm_info_get(*(void *const *)info);
    const char *found = i ? fm_info_find(i, key) : NULL;

    if (!found || len <= 0) {
        return false;
    }
    strncpy(value, found, (size_t)len - 1);
    value[len - 1] = '\0';
    return true;
}

static int host_info_create(void *info, int n, const char *const *keys, const char *const *values)
{
    struct fm_info *made = fm_info_create();

    for (int i = 0; made && i < n; i++) {
        if (fm_info_set(made, keys[i], values[i]) != 0) {
            fm_info_unref(made);
            made = NULL;
        }
    }
    if (!made) {
        return -1;
    }
    *(void **)info = fm_handle_of(made);
    return 0;
}

static bool host_is_before_init(void)
{
    return fm_runtime.n_users == 0;
}

static int host_thread_level(void)
{
    return fm_runtime.thread_level;
}

/* Settings are most often the same in all ranks: one of them speaks of what is wrong with them. */
static bool host_is_quiet(void)
{
    return fm_pm_own_rank() > 0;
}

const struct fathom_host fm_host = {
    .name = "fathom",
    .start = host_start,
    .lock = host_lock,
    .unlock = host_unlock,
    .object = host_object,
    .info_is_valid = host_info_is_valid,
    .info_get = host_info_get,
    .info_create = host_info_create,
    .is_before_init = host_is_before_init,
    .thread_level = host_thread_level,
    .is_quiet = host_is_quiet,
    .environment = environment,
};

__attribute__((constructor)) static void name_host(void)
{
    fathom_mpit_host(&fm_host);
}
