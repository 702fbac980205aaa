/* SPDX-License-Identifier: BSD-3-Clause */
/* A send and a receive as one operation. */
#include "core/p2p/sendrecv.h"

#include <stdlib.h>

#include "core/dtype/pack.h"
#include "core/p2p/send.h"
#include "util/status.h"

/* The two, and the copy that is sent. */
struct both {
    struct fm_request req;
    struct fm_request *send, *recv;
    int n_left;
    void *copy; /* NULL: none */
};

static void both_release(struct fm_request *r)
{
    struct both *b = (struct both *)r;

    fm_request_unref(b->send);
    fm_request_unref(b->recv);
    free(b->copy);
}

static void both_about(const struct fm_request *r, struct fm_request_about *out_about)
{
    const struct both *b = (const struct both *)r;
    const struct fm_request *waits = b->recv && !b->recv->is_done ? b->recv : b->send;

    if (waits && waits->ops->about) {
        waits->ops->about(waits, out_about);
    }
}

static const struct fm_request_ops both_ops = {
    .name = "sendrecv", .release = both_release, .about = both_about};

/* The receive's result counts; the send's only when it failed. */
static void finish(struct both *b)
{
    struct fm_request *worse = b->recv->status.error ? b->recv : b->send;

    b->req.status = b->recv->status;
    if (worse->status.error) {
        fm_request_fail(&b->req, worse->status.error, "%s", worse->why ? worse->why : "");
    } else {
        fm_request_complete(&b->req);
    }
}

static void one_done(struct fm_request *r)
{
    struct both *b = r->owner;

    if (--b->n_left == 0) {
        finish(b);
    }
}

/* Watch one of the two; it may be complete already. */
static void watch(struct both *b, struct fm_request *r)
{
    r->owner = b;
    if (r->is_done) {
        one_done(r);
    } else {
        r->on_done = one_done;
    }
}

static int start_both(const struct fm_msg *send, const struct fm_msg *recv, void *copy,
                      struct fm_request **out_req)
{
    struct both *b = (struct both *)fm_request_new(&both_ops, recv->comm);
    int rc;

    if (!b) {
        return -FM_E_NOMEM;
    }
    rc = fm_irecv(recv, &b->recv);
    if (rc == 0) {
        rc = fm_isend(send, FM_SEND_STANDARD, &b->send);
    }
    if (rc != 0) {
        if (b->recv) {
            fm_request_cancel(b->recv);
        }
        fm_request_unref(&b->req);
        return rc;
    }
    b->copy = copy;
    b->n_left = 2;
    fm_object_ref(&b->req); /* the engine's */
    watch(b, b->send);
    watch(b, b->recv);
    *out_req = &b->req;
    return 0;
}

int fm_isendrecv(const struct fm_msg *send, const struct fm_msg *recv, struct fm_request **out_req)
{
    return start_both(send, recv, NULL, out_req);
}

/* The data of the buffer as it is now. */
static int copy_of(const struct fm_msg *m, void **out_copy, MPI_Count *out_len)
{
    MPI_Count len = fm_dtype_bytes(m->dtype, m->count);
    void *copy = len < 0 ? NULL : malloc(len ? (size_t)len : 1);

    if (!copy) {
        return fm_fail(-FM_E_NOMEM, "no memory to copy %lld elements of %lld bytes",
                       (long long)m->count, (long long)m->dtype->size);
    }
    fm_pack_all(copy, m->buf, m->count, m->dtype);
    *out_copy = copy;
    *out_len = len;
    return 0;
}

static struct fm_msg bytes_of(const struct fm_msg *send, void *copy, MPI_Count len)
{
    struct fm_msg m = *send;

    m.buf = copy;
    m.count = len;
    m.dtype = fm_dtype_byte();
    return m;
}

int fm_sendrecv_replace(const struct fm_msg *send, const struct fm_msg *recv,
                        struct fm_status *out_status)
{
    struct fm_msg copied;
    MPI_Count len = 0;
    void *copy = NULL;
    int rc = copy_of(recv, &copy, &len);

    if (rc != 0) {
        return rc;
    }
    copied = bytes_of(send, copy, len);
    rc = fm_sendrecv(&copied, recv, out_status);
    free(copy);
    return rc;
}

int fm_isendrecv_replace(const struct fm_msg *send, const struct fm_msg *recv,
                         struct fm_request **out_req)
{
    struct fm_msg copied;
    MPI_Count len = 0;
    void *copy = NULL;
    int rc = copy_of(recv, &copy, &len);

    if (rc != 0) {
        return rc;
    }
    copied = bytes_of(send, copy, len);
    rc = start_both(&copied, recv, copy, out_req);
    if (rc != 0) {
        free(copy);
    }
    return rc;
}
