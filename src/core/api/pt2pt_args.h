/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the arguments of point-to-point calls, and what they all do first and last. */
#pragma once

#include "core/api/api.h"
#include "core/p2p/probe.h"
#include "core/p2p/recv.h"
#include "core/p2p/send.h"

/* The arguments of a message as the user gave them, for fm_pt2pt_check(). */
struct fm_pt2pt_args {
    const char *call;
    MPI_Datatype type;
    MPI_Comm comm;
    bool is_recv;
    const char *names[5]; /* of buf, count, type, peer and tag; NULL: those of MPI_Send, MPI_Recv */
};

/*
 * Complete a message whose buf, count, peer and tag are set: comm and datatype from their handles.
 * MPI_SUCCESS, or the code of the error that was raised.
 */
int fm_pt2pt_check(const struct fm_pt2pt_args *a, struct fm_msg *m);

/* Only communicator, peer and tag (probes). */
int fm_pt2pt_check_peer(const char *call, MPI_Comm comm, int peer, int tag,
                        struct fm_comm **out_comm);

/* The lock, and the name of the call for those who wait in it. */
FM_INLINE void fm_pt2pt_enter(const char *call)
{
    fm_lock_take(&fm_root.lock);
    fm_root.call = call;
}

/* The name of the function that this stands in. */
#define FM_CALL (&__func__[1])
