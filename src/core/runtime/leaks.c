/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects that are not freed at MPI_Finalize. Only handles of the user count: not predefined ones,
 * nor objects that are part of another, as the group of a communicator.
 */
#include "core/runtime/leaks.h"

#include <stdio.h>

#include "core/dtype/dtype.h"
#include "core/dtype/op.h"
#include "core/object/group.h"
#include "core/object/request.h"
#include "core/rma/win.h"
#include "core/runtime/runtime.h"
#include "util/log.h"

/* Drop (-1) or take again (1) the references of communicators to their parts. */
static void hold_parts(int by)
{
    struct fm_object *o = NULL;

    while ((o = fm_handle_next(FM_KIND_COMM, o)) != NULL) {
        struct fm_comm *c = (struct fm_comm *)o;

        c->group->head.refs += by;
        if (c->remote_group) {
            c->remote_group->head.refs += by;
        }
        if (c->local_comm) {
            c->local_comm->head.refs += by;
        }
    }
}

/* A request has one handle, but for the shared one of sends that completed immediately. */
static int n_requests(const struct fm_request *r)
{
    if (r == fm_channel_main()->sent) {
        return r->head.refs - 1;
    }
    return !r->is_internal;
}

/* How many handles of the user refer to it. */
static int n_users(enum fm_kind kind, const struct fm_object *o)
{
    if (o->handle != 0) {
        return 0;
    }
    switch (kind) {
    case FM_KIND_COMM:
        return o->refs > 0 && (const struct fm_comm *)o != fm_runtime.base &&
               !fm_win_of_context(((const struct fm_comm *)o)->context);
    case FM_KIND_GROUP:
        return o->refs > 0;
    case FM_KIND_DTYPE:
        return ((const struct fm_dtype *)o)->n_handles > 0 &&
               !((const struct fm_dtype *)o)->is_predefined;
    case FM_KIND_OP:
        return !((const struct fm_op *)o)->is_predefined;
    case FM_KIND_REQUEST:
        return n_requests((const struct fm_request *)o);
    default:
        return 1;
    }
}

static unsigned long count(enum fm_kind kind)
{
    struct fm_object *o = NULL;
    unsigned long n = 0;

    while ((o = fm_handle_next(kind, o)) != NULL) {
        n += (unsigned long)n_users(kind, o);
    }
    return n;
}

void fm_leaks_report(void)
{
    char text[512] = "";
    size_t len = 0;

    hold_parts(-1);
    for (enum fm_kind kind = FM_KIND_COMM; kind < FM_KIND_COUNT; kind++) {
        unsigned long n = count(kind);

        if (n > 0) {
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%lu %s%s", len ? ", " : "",
                                    n, fm_kind_name(kind), n > 1 ? "s" : "");
        }
    }
    hold_parts(1);
    if (len > 0) {
        fm_log_warn("the program has not freed at MPI_Finalize: %s", text);
    }
}
