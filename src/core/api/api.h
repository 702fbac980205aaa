/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The face of the standard: how a function begins and ends.
 *
 * Each function of the standard has its body under the P-name and one alias line under it:
 *
 *     int PMPI_Comm_size(MPI_Comm comm, int *size)
 *     {
 *         struct fm_comm *c;
 *         int rc;
 *
 *         fm_api_enter(FM_CALL);
 *         rc = fm_find_comm_for(FM_CALL, comm, "size", size, &c);
 *         if (rc == MPI_SUCCESS) {
 *             *size = c->size;
 *         }
 *         fm_api_leave();
 *         return rc;
 *     }
 *     FM_ALIAS(Comm_size)
 *
 * Functions that only read one word, such as MPI_Initialized, and those that work on memory of the
 * user alone, such as MPI_Status_set_tag, enter nothing. Those that start or end the library take
 * the lock of initialization around the entry (core/runtime/runtime.h).
 *
 * mpi.h carries no visibility marks and the library is built with hidden visibility, so it is
 * included here between push and pop.
 */
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include <fathom/mpit.h>

#include "core/object/errhandler.h"
#include "core/object/handle.h"

/* MPI_x as a weak name for PMPI_x (MPI-5.0 15.2). */
#define FM_ALIAS(x) extern __typeof(PMPI_##x) MPI_##x __attribute__((weak, alias("PMPI_" #x)));

/* The name of the MPI function that this is the body of: "MPI_Send" in PMPI_Send. */
#define FM_CALL (&__func__[1])

/* First act of every call: take the library lock, which costs one branch below
   MPI_THREAD_MULTIPLE, and note the name of the call for the reports of waits. A body shared by
   several functions is given the name by them and passes it on. */
static FM_INLINE void fm_api_enter(const char *call)
{
    fm_lock_take(&fm_root.lock);
    fm_handle_note_call(call);
}

/* Last act: drop the lock, then run the callbacks of events that were deferred to a place where
   they may call MPI (MPI-5.0 15.3.8). */
static FM_INLINE void fm_api_leave(void)
{
    fm_handle_leave();
    fathom_mpit_poll();
}

/* The only other entry: infos, error handlers and error codes, which any thread may use at any
   thread level (MPI-5.0 11.4.1). The call takes their own lock (handle.h), waits for no message,
   and leaves the noted name alone, which may be that of a call waiting in another thread. */
static FM_INLINE void fm_api_enter_any(void)
{
    fm_lock_take(&fm_root.lock);
    fm_handle_lock_lasting();
}

static FM_INLINE void fm_api_leave_any(void)
{
    fm_handle_unlock_lasting();
    fm_lock_drop(&fm_root.lock);
}
