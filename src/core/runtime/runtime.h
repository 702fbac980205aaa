/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime: brings the library up and down, and owns what there is one of.
 *
 * Two layers. The ground (process manager, channel, transports, datatypes, operations) is up while
 * anybody uses MPI: the world model between MPI_Init and MPI_Finalize, and each session. The world
 * is MPI_COMM_WORLD and MPI_COMM_SELF on top of it. Both may use the ground one after the other or
 * at the same time (MPI-5.0 11.2, 11.3).
 *
 * One root, fm_runtime; the rooms below get what they need from it as arguments. Guarded by the
 * library lock.
 */
#pragma once

#include <pthread.h>

#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/runtime/pm.h"

struct fm_process;

struct fm_runtime {
    struct fm_pm *pm;
    struct fm_channel *ch;
    struct fm_process *process;
    struct fm_comm *world;
    struct fm_comm *self;
    int thread_level; /* MPI_THREAD_*; -1 before the first init */
    pthread_t main_thread;
    int n_users;      /* of the ground */
    uint64_t init_ns; /* fm_now_ns() at init */
    enum fm_phase world_phase;
};

extern struct fm_runtime fm_runtime;

/* The ground comes up for a first user, at this thread level; counted. 0 or a failure. */
int fm_runtime_open(int thread_level);
/* A user of the ground goes; the last one takes it down. */
void fm_runtime_close(void);

/* MPI_Init_thread. 0, or a failure with its reason. */
int fm_runtime_init(int required, int *out_provided);
/* MPI_Finalize. */
int fm_runtime_finish(void);
/* MPI_Abort and fatal errors: end the job. Does not return. */
_Noreturn void fm_runtime_abort(int exit_status, const char *text);
