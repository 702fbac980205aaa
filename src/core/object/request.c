/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests and statuses, whoever made them. */
#include "core/object/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/object/comm.h"
#include "util/status.h"

#define MAX_REQUESTS ((size_t)1 << 24)

int fm_request_init(struct fm_request_counters *w)
{
    struct fm_pool *pool = &fm_root.pools[FM_KIND_REQUEST];
    int rc = fm_handle_pool(FM_KIND_REQUEST, FM_REQUEST_LEN, MAX_REQUESTS);

    if (rc != 0) {
        return rc;
    }
    fm_root.request_counters = w ? w : &fm_request_nowhere;
    fm_pool_count_in(pool, &fm_root.request_counters->live.now);
    return 0;
}

struct fm_request *fm_request_new(const struct fm_request_ops *ops, struct fm_comm *comm)
{
    struct fm_request *r = fm_request_new_bare(ops, comm, 1);

    if (r) {
        memset(r + 1, 0, FM_REQUEST_LEN - sizeof(*r));
    }
    return r;
}

struct fm_request *fm_request_new_done(const struct fm_request_ops *ops)
{
    struct fm_request *r = fm_object_new_bare(FM_KIND_REQUEST, 1);

    if (r) {
        memset(&r->head + 1, 0, FM_REQUEST_LEN - sizeof(r->head));
        r->ops = ops;
        r->is_active = true;
        r->is_done = true;
        r->status = FM_STATUS_EMPTY;
        --*fm_root.pools[FM_KIND_REQUEST].n_live;
    }
    return r;
}

void fm_request_free_done(struct fm_request *r)
{
    if (r) {
        ++*fm_root.pools[FM_KIND_REQUEST].n_live;
        fm_object_free_bare(r);
    }
}

void fm_request_persist(struct fm_request *r)
{
    r->is_persistent = true;
    r->is_active = false;
}

int fm_request_start(struct fm_request *r)
{
    int rc;

    free(r->why);
    r->why = NULL;
    r->is_active = true;
    r->is_done = false;
    r->status = FM_STATUS_EMPTY;
    fm_object_ref(r); /* the maker's, until it is complete */
    rc = r->ops->start(r);
    if (rc != 0) {
        r->is_active = false;
        fm_request_unref(r);
    }
    return rc;
}

void fm_request_release(struct fm_request *r)
{
    struct fm_comm *comm = r->comm;

    if (r->ops->release) {
        r->ops->release(r);
    }
    if (FM_UNLIKELY(r->why)) {
        free(r->why);
    }
    fm_object_free_bare(r);
    if (comm) {
        fm_comm_unref(comm);
    }
}

void fm_request_fail(struct fm_request *r, int klass, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    free(r->why);
    r->why = strdup(text); /* without memory the class must do */
    r->status.error = klass;
    FM_STAT(fm_root.request_counters->n_failed++);
    fm_request_complete(r);
}

int fm_request_peek(struct fm_request *r, struct fm_status *out_status)
{
    int error = r->ops->query ? r->ops->query(r) : MPI_SUCCESS;

    if (error != MPI_SUCCESS) {
        r->status.error = error;
    }
    error = r->status.error;
    if (FM_UNLIKELY(error != MPI_SUCCESS)) {
        fm_fail(-FM_E_INVAL, "%s", r->why ? r->why : "the operation failed");
    }
    if (out_status) {
        *out_status = r->status;
    }
    return error;
}

/* Give the handle's reference back, and tell what the release had to say. */
FM_COLD static int release_code(struct fm_request *r, int error)
{
    int code = MPI_SUCCESS;

    r->owner = &code;
    if (r->head.refs > 1) {
        r->owner = NULL; /* somebody else will be the last */
    }
    fm_request_unref(r);
    if (code != MPI_SUCCESS && error == MPI_SUCCESS) {
        fm_fail(-FM_E_INVAL, "the free function of a generalized request returned an error");
    }
    return error ? error : code;
}

int fm_request_harvest(struct fm_request *r, struct fm_status *out_status)
{
    int error = fm_request_peek(r, out_status);

    FM_STAT(fm_root.request_counters->n_cancelled += r->status.is_cancelled);
    if (r->is_persistent) {
        r->is_active = false;
        return error;
    }
    if (FM_UNLIKELY(r->ops->has_release_code)) {
        return release_code(r, error);
    }
    fm_request_unref(r);
    return error;
}

int fm_request_cancel(struct fm_request *r)
{
    return r->ops->cancel && r->is_active ? r->ops->cancel(r) : 0;
}

/*
 * The five integers that the ABI leaves to the library: the byte count in two, whether cancelled in
 * the third.
 */
void fm_status_set_bytes(MPI_Status *s, MPI_Count n_bytes)
{
    memcpy(&s->MPI_internal[0], &n_bytes, sizeof(n_bytes));
}

void fm_status_set_cancelled(MPI_Status *s, bool is_cancelled)
{
    s->MPI_internal[2] = is_cancelled;
}

void fm_status_set(MPI_Status *out, const struct fm_status *s)
{
    if (out == MPI_STATUS_IGNORE) {
        return;
    }
    out->MPI_SOURCE = s->source;
    out->MPI_TAG = s->tag;
    fm_status_set_bytes(out, s->n_bytes);
    fm_status_set_cancelled(out, s->is_cancelled);
}

MPI_Count fm_status_bytes(const MPI_Status *s)
{
    MPI_Count n_bytes;

    memcpy(&n_bytes, &s->MPI_internal[0], sizeof(n_bytes));
    return n_bytes;
}

bool fm_status_is_cancelled(const MPI_Status *s)
{
    return s->MPI_internal[2] != 0;
}
