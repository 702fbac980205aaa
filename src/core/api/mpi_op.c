/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the user, and reductions within a process (MPI-5.0 6.9.5, 6.9.7). */
#include "core/api/dtype_args.h"
#include "core/dtype/op.h"

static int op_arg(MPI_Op handle, struct fm_op **out)
{
    *out = fm_op_get(handle);
    return *out ? 0 : fm_raise_handle(FM_KIND_OP, fm_root.call, handle, "op");
}

static int check_create(bool has_fn, const MPI_Op *op)
{
    if (!has_fn) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "user_fn is NULL");
    }
    return out_arg(op, "op");
}

static int created(struct fm_op *o, MPI_Op *op)
{
    if (!o) {
        return fm_raise_status(NULL, fm_root.call, -FM_E_NOMEM);
    }
    *op = o->handle;
    return MPI_SUCCESS;
}

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = check_create(user_fn != NULL, op);
    rc = rc ? rc : created(fm_op_create(user_fn, commute != 0), op);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Op_create)

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = check_create(user_fn != NULL, op);
    rc = rc ? rc : created(fm_op_create_large(user_fn, commute != 0), op);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Op_create_c)

int PMPI_Op_free(MPI_Op *op)
{
    struct fm_op *o;
    int rc;

    fm_api_enter(FM_CALL);
    rc = out_arg(op, "op");
    rc = rc ? rc : op_arg(*op, &o);
    if (!rc && o->is_predefined) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_OP, "%s is predefined and cannot be freed",
                      o->name);
    }
    if (!rc) {
        fm_op_unref(o);
        *op = MPI_OP_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Op_free)

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
    struct fm_op *o;
    int rc;

    fm_api_enter(FM_CALL);
    rc = op_arg(op, &o);
    rc = rc ? rc : out_arg(commute, "commute");
    if (!rc) {
        *commute = o->is_commutative;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Op_commutative)

static int check_buffers(const void *inbuf, const void *inoutbuf, MPI_Count bytes)
{
    if (bytes == 0) {
        return 0;
    }
    if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_BUFFER,
                        "MPI_IN_PLACE has no meaning here: pass two buffers");
    }
    if (!inbuf || !inoutbuf) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_BUFFER, "%s is NULL",
                        inbuf ? "inoutbuf" : "inbuf");
    }
    if (inbuf == inoutbuf) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_BUFFER,
                        "inbuf and inoutbuf are the same: they must not overlap");
    }
    return 0;
}

static int reduce_local(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    struct fm_dtype *t;
    struct fm_op *o;
    int rc = count_arg(count, "count");

    rc = rc ? rc : dtype_arg_committed(datatype, "datatype", &t);
    rc = rc ? rc : op_arg(op, &o);
    if (rc) {
        return rc;
    }
    if (fm_op_check(o, t) != 0) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_OP, "%s", fm_why());
    }
    rc = check_buffers(inbuf, inoutbuf, count > 0 ? t->size : 0);
    if (!rc) {
        fm_op_apply(o, inbuf, inoutbuf, count, t);
    }
    return rc;
}

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = reduce_local(inbuf, inoutbuf, count, datatype, op);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Reduce_local)

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = reduce_local(inbuf, inoutbuf, count, datatype, op);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Reduce_local_c)
