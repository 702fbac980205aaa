/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared file pointer. */
#include "core/io/file_shared.h"

#include <stdlib.h>

#include "core/coll/coll.h"
#include "core/rma/rma_op.h"
#include "core/rma/win.h"
#include "core/rma/win_sync.h"
#include "util/status.h"

/* One atomic operation on the word at rank 0; *out_old: its value before. */
static int update(struct fm_file *f, MPI_Op op, MPI_Offset operand, MPI_Offset *out_old)
{
    struct fm_dtype *type = fm_dtype_get(MPI_OFFSET);
    const struct fm_rma_call call = {.kind = FM_RMA_CALL_GET_ACC,
                                     .target_count = 1,
                                     .target_type = type,
                                     .origin = {&operand, 1, type},
                                     .result = {out_old, 1, type},
                                     .op = fm_op_get(op)};
    int rc = fm_rma_start(f->shared, &call, NULL);

    return rc ? rc : fm_win_flush(f->shared, 0);
}

int fm_file_shared_open(struct fm_file *f, MPI_Offset at)
{
    const struct fm_win_args args = {.flavor = MPI_WIN_FLAVOR_ALLOCATE,
                                     .comm = f->comm,
                                     .size = f->comm->rank == 0 ? sizeof(MPI_Offset) : 0,
                                     .unit = 1};
    int rc = fm_win_make(&args, &f->shared);

    rc = rc ? rc : fm_win_lock_all(f->shared, MPI_MODE_NOCHECK);
    return fm_file_agree(f, rc) ? rc : fm_file_shared_set(f, at);
}

int fm_file_shared_close(struct fm_file *f)
{
    bool is_gone = false;
    int rc = fm_win_unlock_all(f->shared);

    rc = rc ? rc : fm_win_free(f->shared, &is_gone);
    if (is_gone) {
        f->shared = NULL;
    }
    return rc;
}

void fm_file_shared_drop(struct fm_file *f)
{
    if (f->shared) {
        fm_win_drop(f->shared);
        f->shared = NULL;
    }
}

int fm_file_shared_add(struct fm_file *f, MPI_Offset n, MPI_Offset *out_old)
{
    return update(f, MPI_SUM, n, out_old);
}

int fm_file_shared_add_ordered(struct fm_file *f, MPI_Offset n, MPI_Offset *out_at)
{
    struct fm_dtype *type = fm_dtype_get(MPI_OFFSET);
    int size = f->comm->size, rc, failed = 0;
    MPI_Offset *all = malloc((size_t)size * sizeof(*all)), first = 0, before = 0, total = 0;

    if (!all) {
        return fm_fail(-FM_E_NOMEM, "no memory for the parts of %d processes", size);
    }
    rc = fm_allgather(&(struct fm_buf){&n, 1, type}, &(struct fm_buf){all, 1, type}, f->comm);
    for (int r = 0; !rc && r < size; r++) {
        before += r < f->comm->rank ? all[r] : 0;
        total += all[r];
    }
    free(all);
    if (!rc && f->comm->rank == 0) {
        failed = fm_file_shared_add(f, total, &first);
    }
    rc = rc ? rc : fm_bcast(&(struct fm_buf){&first, 1, type}, 0, f->comm);
    *out_at = first + before;
    return rc ? rc : failed;
}

int fm_file_shared_set(struct fm_file *f, MPI_Offset at)
{
    MPI_Offset ignored;
    int rc = f->comm->rank == 0 ? update(f, MPI_REPLACE, at, &ignored) : 0;

    return fm_file_agree(f, rc);
}
