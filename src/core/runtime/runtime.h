/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime: brings the library up and down, and owns what there is one of.
 *
 * One root, fm_runtime; the rooms below get what they need from it as arguments. Guarded by the
 * library lock.
 */
#pragma once

#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/runtime/pm.h"

struct fm_runtime {
    struct fm_pm *pm;
    struct fm_channel *ch;
    struct fm_comm *world;
    struct fm_comm *self;
    int thread_level; /* MPI_THREAD_*; -1 before init */
    bool is_main_thread_known;
    pthread_t main_thread;
    int n_sessions;   /* live MPI sessions */
    uint64_t init_ns; /* fm_now_ns() at init */
};

extern struct fm_runtime fm_runtime;

/* The host of the registry; see fathom/mpit.h. The constructor of the library names it. */
extern const struct fathom_host fm_mpit_host;

/* MPI_Init_thread. 0, or a failure with its reason. */
int fm_runtime_init(int required, int *out_provided);
/* MPI_Finalize. */
int fm_runtime_finish(void);
/* MPI_Abort and fatal errors: end the job. Does not return. */
_Noreturn void fm_runtime_abort(int exit_status, const char *text);
