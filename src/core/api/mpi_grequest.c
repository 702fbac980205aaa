/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests (MPI-5.0 13.2). */
#include "core/api/pt2pt_args.h"
#include "core/object/grequest.h"
#include "core/p2p/channel.h"

int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        MPI_Request *request)
{
    const struct fm_grequest_fns fns = {query_fn, free_fn, cancel_fn, extra_state};
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_out(MPI_SUCCESS, FM_CALL, "request", request);
    if (rc == MPI_SUCCESS && !fm_channel_main()) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_OTHER, "MPI is not initialized");
    } else if (rc == MPI_SUCCESS) {
        rc = fm_grequest_start(&fns, &r);
        rc = rc != 0 ? fm_raise_status(NULL, FM_CALL, rc) : MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Grequest_start)

int PMPI_Grequest_complete(MPI_Request request)
{
    struct fm_request *r;
    int rc;

    fm_api_enter(FM_CALL);
    r = fm_request_get(request);
    if (!r) {
        rc = fm_raise_handle(FM_KIND_REQUEST, FM_CALL, request, "request");
    } else if (!fm_grequest_is(r) || fm_grequest_complete(r) != 0) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_REQUEST,
                      "the request is not a generalized one, or is complete already");
    } else {
        rc = MPI_SUCCESS;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Grequest_complete)
