/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the arguments of point-to-point calls. */
#pragma once

#include "core/api/find.h"
#include "core/object/comm.h"
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

/*
 * The same for the arguments of nearly all calls, in one expression: true and complete, or false
 * and fm_pt2pt_check() must check them one by one; it may accept them.
 */
static FM_INLINE bool fm_pt2pt_is_plain(MPI_Datatype type, MPI_Comm comm, struct fm_msg *m)
{
    m->space = FM_SPACE_USER;
    m->comm = fm_comm_get(comm);
    m->dtype = fm_dtype_get(type);
    return m->comm && m->dtype && (unsigned)m->peer < (unsigned)m->comm->n_remote && m->tag >= 0 &&
           m->count >= 0 && m->dtype->is_committed && (m->buf || m->count == 0);
}

/* Only communicator, peer and tag (probes). */
int fm_pt2pt_check_peer(const char *call, MPI_Comm comm, int peer, int tag,
                        struct fm_comm **out_comm);

/* An output argument must be there. MPI_SUCCESS or the code raised; `rc` is that of the checks
   before, which stands. The object is used only if those checks have found it. */
static FM_INLINE int fm_pt2pt_out_on(void *object, int rc, const char *call, const char *name,
                                     const void *out)
{
    return FM_CHECKS && FM_UNLIKELY(!out) && rc == MPI_SUCCESS
               ? fm_find_out(object, call, name, out)
               : rc;
}

/* The same where no argument is an object that errors belong to. */
static FM_INLINE int fm_pt2pt_out(int rc, const char *call, const char *name, const void *out)
{
    return fm_pt2pt_out_on(NULL, rc, call, name, out);
}
