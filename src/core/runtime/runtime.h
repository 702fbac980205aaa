/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The runtime: initialization and finalization, and the objects of which there is one.
 *
 * Two layers. The base (runtime_base.h) is up while MPI is used: by the world model between
 * MPI_Init and MPI_Finalize, and by each session. The world is MPI_COMM_WORLD and MPI_COMM_SELF.
 * World and sessions may use the base one after the other or at the same time (MPI-5.0 11.2,
 * 11.3).
 *
 * Each process opens and closes sessions independently, so a peer may send to it between two of
 * them: when the last session ends, the base stays up and idle. MPI_Finalize, which synchronises
 * all processes, closes it if it has no other user; so does the end of the program.
 *
 * One root, fm_runtime; the rooms below get what they need from it as arguments. Guarded by the
 * library lock.
 */
#pragma once

#include <pthread.h>
#include <sys/types.h>

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
    struct fm_comm *base; /* all processes, for agreements of sessions; NULL: not used yet */
    int thread_level;     /* MPI_THREAD_*; -1 before the first init */
    pthread_t main_thread;
    pid_t pid;                 /* of the process that has opened the base */
    int n_users;               /* of the base: the world, and each session */
    uint64_t init_ns;          /* fm_now_ns() at init */
    enum fm_phase world_phase; /* any thread may ask, through fm_runtime_world_phase() */
};

extern struct fm_runtime fm_runtime;

static FM_INLINE enum fm_phase fm_runtime_world_phase(void)
{
    return __atomic_load_n(&fm_runtime.world_phase, __ATOMIC_ACQUIRE); /* set_world_phase() */
}

/* Add a user of the base, which is opened for the first one, at a thread level. 0 or a failure. */
int fm_runtime_open(int thread_level);
/* Remove a user of the base. */
void fm_runtime_close(void);

/*
 * The lock of initialization and finalization, of the world and of sessions; always on, taken
 * before the library lock. Where fm_runtime_open() switches the library lock on, it also takes it,
 * so that these calls enter and leave as all others do.
 */
void fm_runtime_lock_init(void);
void fm_runtime_unlock_init(void);

/* The communicator of all processes, for sessions. Local. */
int fm_runtime_base_comm(struct fm_comm **out_comm);

/* MPI_Init_thread. 0, or a failure with its reason. */
int fm_runtime_init(int required, int *out_provided);
/* MPI_Finalize. */
int fm_runtime_finish(void);
/* MPI_Abort and fatal errors: end the job. is_by_peer: a peer has ended. Does not return. */
_Noreturn void fm_runtime_abort(int exit_status, const char *text, bool is_by_peer);
