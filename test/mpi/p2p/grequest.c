/* SPDX-License-Identifier: BSD-3-Clause */
/* Generalized requests and what may be set in a status (MPI-5.0 13.2, 13.3). */
#include "../check.h"

struct op {
    int n_query, n_free, n_cancel, was_complete, code;
};

static int query(void *extra, MPI_Status *st)
{
    struct op *op = extra;

    op->n_query++;
    OK(MPI_Status_set_elements(st, MPI_INT, 17));
    OK(MPI_Status_set_cancelled(st, 0));
    OK(MPI_Status_set_source(st, 3));
    OK(MPI_Status_set_tag(st, 4));
    return op->code;
}

static int free_op(void *extra)
{
    ((struct op *)extra)->n_free++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    ((struct op *)extra)->n_cancel++;
    ((struct op *)extra)->was_complete = complete;
    return MPI_SUCCESS;
}

static void one(void)
{
    struct op op = {0};
    MPI_Request r, copy;
    MPI_Status st;
    int flag = 1, n, x;

    OK(MPI_Grequest_start(query, free_op, cancel, &op, &r));
    OK(MPI_Test(&r, &flag, &st));
    CHECK_EQ(flag, 0);
    OK(MPI_Cancel(&r));
    CHECK_EQ(op.n_cancel, 1);
    CHECK_EQ(op.was_complete, 0);
    copy = r;
    OK(MPI_Grequest_complete(copy));
    OK(MPI_Request_get_status(r, &flag, &st));
    CHECK_EQ(flag, 1);
    CHECK_EQ(op.n_free, 0);
    OK(MPI_Wait(&r, &st));
    CHECK(r == MPI_REQUEST_NULL);
    CHECK(op.n_query >= 1);
    CHECK_EQ(op.n_free, 1);
    OK(MPI_Get_count(&st, MPI_INT, &n));
    CHECK_EQ(n, 17);
    OK(MPI_Status_get_source(&st, &x));
    CHECK_EQ(x, 3);
    OK(MPI_Status_get_tag(&st, &x));
    CHECK_EQ(x, 4);
}

static void freed_early(void)
{
    struct op op = {0};
    MPI_Request r, copy;

    OK(MPI_Grequest_start(query, free_op, cancel, &op, &r));
    copy = r;
    OK(MPI_Request_free(&r));
    CHECK_EQ(op.n_free, 0);
    OK(MPI_Grequest_complete(copy));
    CHECK_EQ(op.n_free, 1);
}

static void with_errors(void)
{
    struct op op = {.code = MPI_ERR_OTHER};
    MPI_Request r;

    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Grequest_start(query, free_op, cancel, &op, &r));
    OK(MPI_Grequest_complete(r));
    FAILS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    CHECK_EQ(op.n_free, 1);
    FAILS(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    FAILS(MPI_Grequest_start(query, free_op, cancel, &op, NULL), MPI_ERR_ARG);
    CHECK_EQ(op.n_free, 1);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    one();
    freed_early();
    with_errors();
    OK(MPI_Finalize());
    return 0;
}
