/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests. The user's functions run inside the MPI call that completes the request,
 * under the library lock, which is recursive: they may call MPI.
 */
#include "core/object/grequest.h"

#include <string.h>

#include "util/status.h"

struct grequest {
    struct fm_request req;
    struct fm_grequest_fns fns;
};

/* The codes of the user's functions are the results of the call (13.2). */
static int query(struct fm_request *r)
{
    struct grequest *g = (struct grequest *)r;
    MPI_Status st;
    int error = MPI_SUCCESS;

    memset(&st, 0, sizeof(st));
    fm_status_set(&st, &r->status);
    st.MPI_ERROR = MPI_SUCCESS;
    if (g->fns.query) {
        error = g->fns.query(g->fns.extra, &st);
    }
    r->status.source = st.MPI_SOURCE;
    r->status.tag = st.MPI_TAG;
    r->status.n_bytes = fm_status_bytes(&st);
    r->status.is_cancelled = fm_status_is_cancelled(&st);
    if (error != MPI_SUCCESS && !r->why) {
        r->why = strdup("the query function of a generalized request returned an error");
    }
    return error;
}

static int cancel(struct fm_request *r)
{
    struct grequest *g = (struct grequest *)r;

    return g->fns.cancel ? g->fns.cancel(g->fns.extra, r->is_done) : 0;
}

static void release(struct fm_request *r)
{
    struct grequest *g = (struct grequest *)r;
    int error = g->fns.free ? g->fns.free(g->fns.extra) : MPI_SUCCESS;

    if (r->owner) {
        *(int *)r->owner = error; /* fm_request_harvest() wants to know */
    }
}

static const struct fm_request_ops ops = {.name = "grequest",
                                          .cancel = cancel,
                                          .release = release,
                                          .query = query,
                                          .has_release_code = true};

int fm_grequest_start(const struct fm_grequest_fns *fns, struct fm_request **out_req)
{
    struct grequest *g = (struct grequest *)fm_request_new(&ops, NULL);

    if (!g) {
        return -FM_E_NOMEM;
    }
    g->fns = *fns;
    fm_object_ref(&g->req); /* the user's operation holds the other one */
    *out_req = &g->req;
    return 0;
}

bool fm_grequest_is(const struct fm_request *r)
{
    return r->ops == &ops;
}

int fm_grequest_complete(struct fm_request *r)
{
    if (r->is_done) {
        return fm_fail(-FM_E_INVAL, "it is complete already");
    }
    fm_request_complete(r);
    return 0;
}
