/* SPDX-License-Identifier: BSD-3-Clause */
/* Bodies of the calls that access files. */
#include "core/api/file_access_args.h"

#include "core/api/dtype_args.h"
#include "util/status.h"

/* What is wrong with buffer, count and type: an error class with its reason, 0: nothing. Collective
   calls tell it to all processes before it is raised. */
static int check_buffer(const struct fm_file_args *a, struct fm_file_op *op)
{
    if (!op->dtype) {
        return fm_fail(MPI_ERR_TYPE, "datatype is no datatype: null, never made, or freed already");
    }
    if (!op->dtype->is_committed) {
        return fm_fail(MPI_ERR_TYPE, "datatype is not committed: call MPI_Type_commit first");
    }
    if (a->count < 0) {
        return fm_fail(MPI_ERR_COUNT, "count is %lld, it must not be negative",
                       (long long)a->count);
    }
    if (!a->buf && a->count > 0 && op->dtype->is_predefined && op->dtype->size > 0) {
        return fm_fail(MPI_ERR_BUFFER,
                       "buf is NULL, but count is %lld: pass the address of the data",
                       (long long)a->count);
    }
    return 0;
}

/* The operation that the arguments describe. MPI_SUCCESS, or the code of what was raised. */
static int find_op(const struct fm_file_args *a, struct fm_file_op *op)
{
    struct fm_file *f;
    int rc = fm_find_file(a->call, a->fh, &f);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    *op = (struct fm_file_op){.file = f,
                              .position = a->position,
                              .offset = a->offset,
                              .buf = a->buf,
                              .count = a->count,
                              .dtype = dtype_find(a->type),
                              .is_write = a->is_write,
                              .is_coll = a->is_coll};
    op->error = check_buffer(a, op);
    return MPI_SUCCESS;
}

int fm_file_args_run(const struct fm_file_args *a, MPI_Status *status)
{
    struct fm_file_op op;
    struct fm_status st;
    int rc;

    fm_api_enter(a->call);
    rc = find_op(a, &op);
    if (rc == MPI_SUCCESS) {
        rc = fm_file_rw(&op, &st);
        fm_status_set(status, &st);
        rc = fm_raise_status(op.file, a->call, rc);
    }
    fm_api_leave();
    return rc;
}

int fm_file_args_start(const struct fm_file_args *a, MPI_Request *request)
{
    struct fm_file_op op;
    struct fm_request *r = NULL;
    int rc;

    fm_api_enter(a->call);
    rc = find_op(a, &op);
    rc = rc == MPI_SUCCESS ? fm_find_out(op.file, a->call, "request", request) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(op.file, a->call, fm_file_rw_start(&op, &r));
    }
    if (rc == MPI_SUCCESS) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int fm_file_args_begin(const struct fm_file_args *a, const char *begin)
{
    struct fm_file_op op;
    int rc;

    fm_api_enter(a->call);
    rc = find_op(a, &op);
    rc = rc == MPI_SUCCESS ? fm_raise_status(op.file, a->call, fm_file_rw_begin(&op, begin)) : rc;
    fm_api_leave();
    return rc;
}

int fm_file_args_end(const char *call, MPI_File fh, const char *begin, const void *buf,
                     MPI_Status *status)
{
    struct fm_file *f;
    struct fm_status st;
    int rc;

    fm_api_enter(call);
    rc = fm_find_file(call, fh, &f);
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(f, call, fm_file_rw_end(f, begin, buf, &st));
    }
    if (rc == MPI_SUCCESS) {
        fm_status_set(status, &st);
    }
    fm_api_leave();
    return rc;
}
