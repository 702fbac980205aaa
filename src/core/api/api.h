/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The face of the standard: how every file of this room begins, and what every MPI function does
 * first and last.
 *
 * Each function of the standard has its body under the P-name and one alias line under it:
 *
 *     int PMPI_Barrier(MPI_Comm comm)
 *     {
 *         struct fm_comm *c;
 *         int rc;
 *
 *         FM_ENTER();
 *         rc = find_comm("MPI_Barrier", comm, &c);
 *         ...
 *         FM_LEAVE();
 *         return rc;
 *     }
 *     FM_ALIAS(Barrier)
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

/* Around every body: the library lock, free below MPI_THREAD_MULTIPLE; and the name of the call,
   which is the body's without its P, for whoever waits in it. At the end, outside of the lock,
   the callbacks of events that wait for a place where they may call MPI (MPI-5.0 15.3.8). */
#define FM_ENTER() (fm_lock_take(&fm_root.lock), fm_handle_note_call(&__func__[1]))
#define FM_LEAVE() (fm_handle_leave(), fathom_mpit_poll())

/* The same for functions that any thread may call at any thread level (MPI-5.0 11.4.1): they hold
   the lock of what lasts (handle.h), wait for nothing, and are not noted. */
#define FM_ENTER_ANY() (fm_lock_take(&fm_root.lock), fm_handle_lock_lasting())
#define FM_LEAVE_ANY() (fm_handle_unlock_lasting(), fm_lock_drop(&fm_root.lock))
