/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates at their target's memory, by whichever process does it: the origin or the target
   (win.h has the ways). */
#pragma once

#include "core/dtype/op.h"
#include "core/dtype/pack.h"
#include "core/rma/win.h"

/* What is done to each element. */
struct fm_acc {
    const struct fm_op *op;      /* NULL: compare and swap */
    const void *compare;         /* ... one element */
    const struct fm_dtype *elem; /* predefined */
};

/* Elements of a predefined type lie one behind the other in the packed form, `size` bytes each.
   In the window pairs may have gaps: they are met one by one. */
struct fm_acc_run {
    uint64_t at;    /* of the first element: bytes from the target's base */
    size_t n;       /* elements */
    const char *in; /* packed; NULL: MPI_NO_OP needs none */
    char *out;      /* packed: what was there before; NULL: not wanted */
};

/* Update the elements of a run, each atomically. Way DIRECT or COPY. 0, a failure, or a positive
   MPI error class. */
int fm_acc_apply(struct fm_win *w, struct fm_win_target *t, const struct fm_acc *a,
                 const struct fm_acc_run *run);

/* A walk over the elements of `count` target elements: runs of n <= max that lie one behind the
   other. */
struct fm_acc_walk {
    struct fm_pack pack; /* over the layout, from address 0 */
    const struct fm_dtype *elem;
};

void fm_acc_walk_begin(struct fm_acc_walk *walk, MPI_Count count, const struct fm_dtype *t);
/* How many elements, and where the first is from displacement 0; 0 at the end. */
size_t fm_acc_walk_next(struct fm_acc_walk *walk, size_t max, int64_t *out_at);
