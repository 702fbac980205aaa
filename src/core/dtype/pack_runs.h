/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts that travel: what a typed buffer looks like, as few numbers, so that another process can
 * fetch its pieces from where they lie.
 */
#pragma once

#include "core/dtype/pack.h"

#define FM_PACK_RUNS_MAX 64

/* n1 rows, s1 apart, of n0 pieces, s0 apart, of `len` bytes; the first at `off`. In the order of
   the packed form. On the wire, too. */
struct fm_pack_run {
    int64_t off, len, n0, s0, n1, s1;
};

/* How many contiguous pieces `count` elements of t have at most (neighbours may touch). */
MPI_Count fm_pack_n_pieces(MPI_Count count, const struct fm_dtype *t);

/*
 * Describe `count` elements of t, displacements from where the buffer begins. The number of runs;
 * 0 when there would be more than `max` of them. *out_first and *out_end: where the lowest byte and
 * the one after the highest lie.
 */
int fm_pack_describe(MPI_Count count, const struct fm_dtype *t, int max,
                     struct fm_pack_run *out_runs, MPI_Count *out_first, MPI_Count *out_end);

/* A cursor over such a layout, for fm_pack_piece() only. */
struct fm_pack_layout {
    struct fm_pack pack;
    struct fm_dtype_prog nodes[FM_PACK_RUNS_MAX];
    struct fm_dtype_part parts[FM_PACK_RUNS_MAX];
};

/* Stand at byte 0 of a layout of n runs, whose origin is at `buf` (which may be NULL: addresses are
   offsets then). Nothing in it is trusted: false if it does not have exactly `len` bytes. */
bool fm_pack_layout_begin(struct fm_pack_layout *l, void *buf, const struct fm_pack_run *runs,
                          int n, MPI_Count len);
