/* SPDX-License-Identifier: BSD-3-Clause */
/* Completing, testing, starting and ending one request (MPI-5.0 3.7.3, 3.7.4, 3.7.6, 3.8.4, 3.9).
   MPI_Startall is here too; the other functions of arrays are in mpi_request_array.c. */
#include "core/api/req_args.h"

void fm_req_set_empty(MPI_Status *status)
{
    static const struct fm_status empty = {.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};

    fm_status_set(status, &empty);
    if (status != MPI_STATUS_IGNORE) {
        status->MPI_ERROR = MPI_SUCCESS;
    }
}

int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_req_find_at(FM_CALL, request, &r);
    if (FM_UNLIKELY(rc != MPI_SUCCESS)) {
        goto out;
    }
    if (fm_req_is_idle(r)) {
        fm_req_set_empty(status);
        goto out;
    }
    rc = fm_wait_done(fm_req_channel(r), r);
    rc = FM_UNLIKELY(rc != 0) ? fm_raise_status(r->comm, FM_CALL, rc)
                              : fm_req_finish_one(FM_CALL, r, request, status);
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Wait)

/* Make progress unless it is complete already. 0 or a failure. */
static FM_INLINE int try_one(struct fm_request *r)
{
    int rc;

    if (r->is_done) {
        return 0;
    }
    rc = fm_wait_test(fm_req_channel(r));
    return rc < 0 ? rc : 0;
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_req_find_at(FM_CALL, request, &r);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    if (FM_UNLIKELY(rc != MPI_SUCCESS)) {
        goto out;
    }
    if (fm_req_is_idle(r)) {
        *flag = 1;
        fm_req_set_empty(status);
        goto out;
    }
    rc = try_one(r);
    if (FM_UNLIKELY(rc != 0)) {
        rc = fm_raise_status(r->comm, FM_CALL, rc);
        goto out;
    }
    *flag = r->is_done;
    if (r->is_done) {
        rc = fm_req_finish_one(FM_CALL, r, request, status);
    }
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Test)

int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    struct fm_request *r;
    struct fm_status st;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_req_find(FM_CALL, request, &r);
    rc = fm_pt2pt_out(rc, FM_CALL, "flag", flag);
    if (rc != MPI_SUCCESS) {
        goto out;
    }
    if (fm_req_is_idle(r)) {
        *flag = 1;
        fm_req_set_empty(status);
        goto out;
    }
    rc = try_one(r);
    if (rc != 0) {
        rc = fm_raise_status(r->comm, FM_CALL, rc);
        goto out;
    }
    *flag = r->is_done;
    if (r->is_done) {
        fm_request_peek(r, &st);
        fm_status_set(status, &st);
    }
out:
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_get_status)

/* ---- freeing, cancelling, starting ---- */

/* The request that is to be freed or cancelled. */
static int find_loose(const char *call, const MPI_Request *request, struct fm_request **out_req)
{
    int rc = fm_req_find_at(call, request, out_req);
    const struct fm_request *r;

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    r = *out_req;
    if (!r) {
        return fm_raise_handle(FM_KIND_REQUEST, call, MPI_REQUEST_NULL, "request");
    }
    if (r->ops->must_complete && r->is_active && !(r->is_persistent && r->is_done)) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request of a collective or partitioned operation (%s) is active: "
                        "complete it with MPI_Wait or MPI_Test",
                        r->ops->name);
    }
    return MPI_SUCCESS;
}

/* The operation of a freed request has completed. No call can return its error, so it is fatal
   (MPI-5.0 3.7.3); errors of operations that MPI_Finalize cuts off are ignored. */
static void freed_completed(struct fm_request *r)
{
    if (r->status.error != MPI_SUCCESS && fm_root.phase == FM_PHASE_RUNNING) {
        fm_raise_fatal("MPI_Request_free", r->status.error, "the %s of a freed request failed: %s",
                       r->ops->name, r->why ? r->why : fm_error_string(r->status.error));
    }
}

int PMPI_Request_free(MPI_Request *request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_loose(FM_CALL, request, &r);
    if (rc == MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;
        if (r->is_active && !r->is_done) {
            r->on_done = freed_completed;
        }
        fm_request_unref(r);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Request_free)

int PMPI_Cancel(MPI_Request *request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_loose(FM_CALL, request, &r);
    if (rc == MPI_SUCCESS) {
        rc = fm_request_cancel(r);
        rc = rc != 0 ? fm_raise_status(r->comm, FM_CALL, rc) : MPI_SUCCESS;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Cancel)

/* May it be started? `which` is its place in the array. */
static int check_start(const char *call, MPI_Request handle, int which)
{
    const struct fm_request *r = fm_request_get(handle);

    if (!r) {
        return fm_raise_handle(FM_KIND_REQUEST, call, handle, "request");
    }
    if (!r->is_persistent) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request (entry %d) is not persistent: only those of MPI_Send_init "
                        "and the like can be started",
                        which);
    }
    if (r->is_active) {
        return fm_raise(r->comm, call, MPI_ERR_REQUEST,
                        "the request (entry %d) is active: complete it with MPI_Wait or MPI_Test "
                        "before it is started again",
                        which);
    }
    return MPI_SUCCESS;
}

static int start(const char *call, MPI_Request handle, int which)
{
    int rc = check_start(call, handle, which); /* an array may name it twice */

    if (rc == MPI_SUCCESS) {
        struct fm_request *r = fm_request_get(handle);
        int status = fm_request_start(r);

        rc = status != 0 ? fm_raise_status(r->comm, call, status) : MPI_SUCCESS;
    }
    return rc;
}

int PMPI_Start(MPI_Request *request)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_out(MPI_SUCCESS, FM_CALL, "request", request);
    rc = rc == MPI_SUCCESS ? start(FM_CALL, *request, 0) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Start)

int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_req_check_array(FM_CALL, count, array_of_requests);
    for (int k = 0; rc == MPI_SUCCESS && k < count; k++) { /* all of them, or none */
        rc = check_start(FM_CALL, array_of_requests[k], k);
    }
    for (int k = 0; rc == MPI_SUCCESS && k < count; k++) {
        rc = start(FM_CALL, array_of_requests[k], k);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Startall)
