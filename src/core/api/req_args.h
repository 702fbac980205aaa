/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups of requests, and how their results reach the user; for mpi_request*.c. */
#pragma once

#include "core/api/pt2pt_args.h"
#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/p2p/wait.h"

/* The request behind a handle: NULL for MPI_REQUEST_NULL. MPI_SUCCESS or the code raised. */
static FM_INLINE int fm_req_find(const char *call, MPI_Request handle, struct fm_request **out_req)
{
    struct fm_request *r = fm_request_get(handle);

    *out_req = r;
    if (FM_UNLIKELY(!r) && handle != MPI_REQUEST_NULL) {
        return fm_raise_handle(FM_KIND_REQUEST, call, handle, "request");
    }
    return MPI_SUCCESS;
}

/* The same where the handle is to be changed. */
static FM_INLINE int fm_req_find_at(const char *call, const MPI_Request *handle,
                                    struct fm_request **out_req)
{
    int rc = fm_pt2pt_out(MPI_SUCCESS, call, "request", handle);

    return FM_LIKELY(rc == MPI_SUCCESS) ? fm_req_find(call, *handle, out_req) : rc;
}

/* Nothing is under way for it: it is null, or persistent and not started. */
static FM_INLINE bool fm_req_is_idle(const struct fm_request *r)
{
    return !r || !r->is_active;
}

/* Give the user an empty status (MPI-5.0 3.7.3); its MPI_ERROR is MPI_SUCCESS. */
void fm_req_set_empty(MPI_Status *status);

/*
 * Give the result of a complete request to the user; a request that is not persistent ends and its
 * handle becomes null. Returns the error class of the result; *out_comm is its communicator then,
 * with a reference.
 */
static FM_INLINE int fm_req_finish(struct fm_request *r, MPI_Request *handle, MPI_Status *status,
                                   struct fm_comm **out_comm)
{
    struct fm_comm *comm = r->comm;
    bool is_persistent = r->is_persistent;
    struct fm_status st;
    int error;

    if (FM_LIKELY(fm_request_is_plain(r))) {
        if (status != MPI_STATUS_IGNORE) {
            fm_status_set(status, &r->status);
        }
        *handle = MPI_REQUEST_NULL;
        fm_request_drop(r);
        return MPI_SUCCESS;
    }
    if (comm) {
        fm_object_ref(comm);
    }
    error = fm_request_harvest(r, &st);
    if (!is_persistent) {
        *handle = MPI_REQUEST_NULL;
    }
    fm_status_set(status, &st);
    if (FM_LIKELY(error == MPI_SUCCESS)) {
        fm_comm_unref(comm);
    } else {
        *out_comm = comm;
    }
    return error;
}

/* The same for calls on one request: errors are raised. */
static FM_INLINE int fm_req_finish_one(const char *call, struct fm_request *r, MPI_Request *handle,
                                       MPI_Status *status)
{
    struct fm_comm *comm;
    int error = fm_req_finish(r, handle, status, &comm);

    if (FM_UNLIKELY(error != MPI_SUCCESS)) {
        error = fm_raise_status(comm, call, error);
        fm_comm_unref(comm);
    }
    return error;
}

static inline struct fm_channel *fm_req_channel(const struct fm_request *r)
{
    return r->comm ? r->comm->ch : fm_channel_main();
}

/* The count and the handles of an array: MPI_SUCCESS, or the code raised. */
int fm_req_check_array(const char *call, int n, const MPI_Request *handles);
