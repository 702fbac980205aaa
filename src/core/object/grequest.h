/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests (MPI-5.0 13.2): operations that the user carries out. */
#pragma once

#include "core/object/request.h"

/* The user's functions. */
struct fm_grequest_fns {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
};

/* Started, with the handle's reference. 0 or -FM_E_NOMEM. */
int fm_grequest_start(const struct fm_grequest_fns *fns, struct fm_request **out_req);
bool fm_grequest_is(const struct fm_request *r);
/* The user's operation has ended. -FM_E_INVAL: it had before. */
int fm_grequest_complete(struct fm_request *r);
