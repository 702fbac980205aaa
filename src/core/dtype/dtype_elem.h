/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over the basic elements of typed data, in the order in which they are packed. */
#pragma once

#include "core/dtype/dtype_make.h"

struct fm_dtype_level;

struct fm_dtype_elem {
    struct fm_dtype_level *levels;
    uint32_t depth;
};

/* Before the first element of `count` of t. 0, or -FM_E_NOMEM. */
int fm_dtype_elem_begin(struct fm_dtype_elem *w, const struct fm_dtype *t, MPI_Count count);
/* The next elements that are of one predefined type, and how many; 0 at the end. */
MPI_Count fm_dtype_elem_next(struct fm_dtype_elem *w, const struct fm_dtype **out_elem);
void fm_dtype_elem_end(struct fm_dtype_elem *w);
