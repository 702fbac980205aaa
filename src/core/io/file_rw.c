/* SPDX-License-Identifier: BSD-3-Clause */
/* Data access: positions and forms of calls. */
#include "core/io/file_rw.h"

#include <string.h>

#include "core/io/file_coll.h"
#include "core/io/file_shared.h"
#include "core/object/errhandler.h"
#include "util/status.h"

/* ---- arguments ---- */

static int check_mode(const struct fm_file_op *op)
{
    const struct fm_file *f = op->file;

    if (op->is_write && (f->amode & MPI_MODE_RDONLY)) {
        return fm_fail(MPI_ERR_READ_ONLY, "'%s' was opened with MPI_MODE_RDONLY", f->path);
    }
    if (!op->is_write && (f->amode & MPI_MODE_WRONLY)) {
        return fm_fail(MPI_ERR_ACCESS, "'%s' was opened with MPI_MODE_WRONLY", f->path);
    }
    if (op->position != FM_FILE_SHARED && (f->amode & MPI_MODE_SEQUENTIAL)) {
        return fm_fail(
            MPI_ERR_UNSUPPORTED_OPERATION,
            "'%s' was opened with MPI_MODE_SEQUENTIAL: only the shared file pointer may be "
            "used",
            f->path);
    }
    return 0;
}

static int check_op(const struct fm_file_op *op)
{
    const struct fm_dtype *etype = op->file->view.etype;
    MPI_Count len;
    int rc = op->error ? op->error : check_mode(op);

    if (rc) {
        return rc;
    }
    len = fm_dtype_bytes(op->dtype, op->count);
    if (op->position == FM_FILE_EXPLICIT && op->offset < 0) {
        return fm_fail(MPI_ERR_ARG, "offset is %lld, it must not be negative",
                       (long long)op->offset);
    }
    if (len < 0) {
        return fm_fail(MPI_ERR_COUNT, "count is %lld: more bytes than MPI_Count can hold",
                       (long long)op->count);
    }
    if (len % etype->size != 0) {
        return fm_fail(MPI_ERR_ARG, "%lld bytes are no whole number of etypes of %lld bytes",
                       (long long)len, (long long)etype->size);
    }
    return 0;
}

static struct fm_file_access access_at(const struct fm_file_op *op, MPI_Offset at)
{
    struct fm_file *f = op->file;

    return (struct fm_file_access){.file = f,
                                   .at = at * f->view.etype->size,
                                   .buf = op->buf,
                                   .count = op->count,
                                   .dtype = op->dtype,
                                   .is_write = op->is_write};
}

/* Where the access begins, in etypes. Pointers move by what was asked for (14.4.3, 14.4.4),
   whatever comes of it. `error`: of the arguments; all processes take part in ordered accesses. */
static int begin_at(const struct fm_file_op *op, int error, MPI_Offset *out_at)
{
    struct fm_file *f = op->file;
    MPI_Offset n = error ? 0 : op->count * op->dtype->size / f->view.etype->size;
    int rc = error;

    *out_at = op->offset;
    if (op->position == FM_FILE_INDIVIDUAL) {
        *out_at = f->at;
        f->at += n;
    } else if (op->position == FM_FILE_SHARED && op->is_coll) {
        rc = fm_file_shared_add_ordered(f, n, out_at);
    } else if (op->position == FM_FILE_SHARED && !error) {
        rc = fm_file_shared_add(f, n, out_at);
    }
    return error ? error : rc;
}

/* ---- forms ---- */

static int run(const struct fm_file_op *op, bool is_coll, MPI_Count *out_done)
{
    struct fm_file_access a;
    MPI_Offset at;
    int rc = begin_at(op, check_op(op), &at);

    *out_done = 0;
    a = access_at(op, at);
    if (is_coll) {
        return fm_file_coll_run(&a, rc, out_done);
    }
    return rc ? rc : fm_file_access_run(&a, out_done);
}

int fm_file_rw(const struct fm_file_op *op, struct fm_status *out_status)
{
    MPI_Count done;
    int rc = run(op, op->is_coll, &done);

    *out_status = FM_STATUS_EMPTY;
    out_status->n_bytes = done;
    return rc;
}

static const struct fm_request_ops read_ops = {.name = "file read", .must_complete = true};
static const struct fm_request_ops write_ops = {.name = "file write", .must_complete = true};

/* A nonblocking collective call must not wait for other processes (14.4.5), hence each process
   moves its own data. */
int fm_file_rw_start(const struct fm_file_op *op, struct fm_request **out_req)
{
    struct fm_file_access a;
    struct fm_request *r;
    MPI_Count done;
    MPI_Offset at;
    int rc = check_op(op);

    rc = rc ? rc : begin_at(op, 0, &at);
    if (rc) {
        return rc;
    }
    a = access_at(op, at);
    r = fm_request_new(op->is_write ? &write_ops : &read_ops, op->file->comm);
    if (!r) {
        return -FM_E_NOMEM;
    }
    fm_object_ref(r); /* one for the handle, one until it is complete */
    rc = fm_file_access_run(&a, &done);
    r->status.n_bytes = done;
    *out_req = r;
    if (rc) {
        char why[512];

        strncpy(why, fm_why(), sizeof(why) - 1);
        why[sizeof(why) - 1] = '\0';
        fm_request_fail(r, rc > 0 ? rc : fm_error_class_of(rc), "%s", why);
        return 0;
    }
    fm_request_complete(r);
    return 0;
}

int fm_file_rw_begin(const struct fm_file_op *op, const char *call)
{
    struct fm_file_split *split = &op->file->split;
    MPI_Count done;
    int rc;

    if (split->call) {
        return fm_fail(MPI_ERR_OTHER, "%s is under way on '%s': end it first", split->call,
                       op->file->path);
    }
    rc = run(op, true, &done);
    if (!rc) {
        *split = (struct fm_file_split){call, op->buf, done};
    }
    return rc;
}

int fm_file_rw_end(struct fm_file *f, const char *begin, const void *buf,
                   struct fm_status *out_status)
{
    struct fm_file_split *split = &f->split;

    if (!split->call || strcmp(split->call, begin) != 0) {
        return fm_fail(MPI_ERR_OTHER, "%s%s is under way on '%s'",
                       split->call ? split->call : "no ",
                       split->call ? ", which has another end function," : begin, f->path);
    }
    if (split->buf != buf) {
        return fm_fail(MPI_ERR_BUFFER, "buf is not the one of %s", begin);
    }
    *out_status = FM_STATUS_EMPTY;
    out_status->n_bytes = split->n_bytes;
    split->call = NULL;
    return 0;
}

/* ---- positions ---- */

/* The end of the file in etypes of the view: the first one that does not begin before it
   (14.4.3). */
static int end_of(struct fm_file *f, MPI_Offset *out_end)
{
    MPI_Offset size;
    MPI_Count below, etype = f->view.etype->size;
    int rc = fm_file_get_size(f, &size);

    if (rc) {
        return rc;
    }
    below = f->view.is_ascending ? fm_file_view_below(&f->view, size) : 0;
    *out_end = below / etype + (below % etype != 0);
    return 0;
}

/* The new position of a pointer that stands at `now`. */
static int seek_from(struct fm_file *f, MPI_Offset now, MPI_Offset offset, int whence,
                     MPI_Offset *out_at)
{
    MPI_Offset at = 0;
    int rc = 0;

    if (f->amode & MPI_MODE_SEQUENTIAL) {
        return fm_fail(MPI_ERR_UNSUPPORTED_OPERATION, "'%s' was opened with MPI_MODE_SEQUENTIAL",
                       f->path);
    }
    switch (whence) {
    case MPI_SEEK_SET:
        break;
    case MPI_SEEK_CUR:
        at = now;
        break;
    case MPI_SEEK_END:
        rc = end_of(f, &at);
        break;
    default:
        return fm_fail(MPI_ERR_ARG,
                       "whence is %d: it must be MPI_SEEK_SET, MPI_SEEK_CUR or "
                       "MPI_SEEK_END",
                       whence);
    }
    if (!rc && __builtin_add_overflow(at, offset, &at)) {
        return fm_fail(MPI_ERR_ARG, "offset is %lld: beyond what MPI_Offset can hold",
                       (long long)offset);
    }
    if (!rc && at < 0) {
        return fm_fail(MPI_ERR_ARG, "the position would be %lld, before the beginning of the view",
                       (long long)at);
    }
    *out_at = at;
    return rc;
}

int fm_file_rw_seek(struct fm_file *f, MPI_Offset offset, int whence)
{
    MPI_Offset at;
    int rc = seek_from(f, f->at, offset, whence, &at);

    f->at = rc ? f->at : at;
    return rc;
}

int fm_file_rw_position_shared(struct fm_file *f, MPI_Offset *out_at)
{
    if (f->amode & MPI_MODE_SEQUENTIAL) {
        return fm_fail(MPI_ERR_UNSUPPORTED_OPERATION, "'%s' was opened with MPI_MODE_SEQUENTIAL",
                       f->path);
    }
    return fm_file_shared_add(f, 0, out_at);
}

int fm_file_rw_seek_shared(struct fm_file *f, MPI_Offset offset, int whence)
{
    MPI_Offset now = 0, at = 0;
    int rc = fm_file_same(f, offset, "offset");

    rc = rc ? rc : fm_file_same(f, whence, "whence");
    if (rc) {
        return rc;
    }
    rc = fm_file_rw_position_shared(f, &now);
    rc = rc ? rc : seek_from(f, now, offset, whence, &at);
    rc = fm_file_agree(f, rc);
    return rc ? rc : fm_file_shared_set(f, at);
}
