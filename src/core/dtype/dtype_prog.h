/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of a datatype: its bytes as runs with loops, in the order of the type map.
 *
 * Made by dtype_flatten.c, walked by pack.c; opaque to all other files. A node stands for `size`
 * bytes of data, found at displacements from an origin that its parent hands down:
 *
 *     VEC   n1 x n0 blocks of `blk` bytes, rows s1 apart, blocks within a row s0 apart     (leaf)
 *     TAB   n1 rows s1 apart of `n` blocks at offs[]; all of `blk` bytes, or of
 *           pos[i + 1] - pos[i] bytes where pos is given                                   (leaf)
 *     LOOP  n bodies, `stride` apart
 *     SEQ   parts one behind the other, each with its own displacement and body
 *
 * Invariants: no node has size 0; a LOOP has n >= 2; a SEQ has n >= 2 and no SEQ directly below.
 * So each LOOP at least doubles the size, and since sizes are at most 2^63 - 1, no program is
 * deeper than FM_DTYPE_PROG_DEPTH, however deep the user nests types.
 *
 * Nodes are immutable. They may point into the programs of the types that a type was made of,
 * which its environment keeps alive.
 */
#pragma once

#include "core/object/handle.h"

#define FM_DTYPE_PROG_DEPTH 130

enum fm_dtype_prog_kind { FM_PROG_VEC, FM_PROG_TAB, FM_PROG_LOOP, FM_PROG_SEQ };

struct fm_dtype_prog;

struct fm_dtype_part {
    MPI_Count off;
    MPI_Count pos; /* bytes of data of the parts before */
    const struct fm_dtype_prog *body;
};

struct fm_dtype_prog {
    enum fm_dtype_prog_kind kind;
    MPI_Count size;
    MPI_Count off;
    MPI_Count n_runs; /* contiguous pieces, as far as they do not happen to touch; MPI_Count max
                         when more */
    union {
        struct {
            MPI_Count n0, s0, n1, s1, blk;
        } vec;
        struct {
            MPI_Count n, n1, s1, blk; /* blk 0: pos is given */
            const MPI_Count *offs;
            const MPI_Count *pos; /* n + 1 entries */
        } tab;
        struct {
            MPI_Count n, stride;
            const struct fm_dtype_prog *body;
        } loop;
        struct {
            MPI_Count n;
            const struct fm_dtype_part *parts;
        } seq;
    } u;
};

/* A node for one run. */
void fm_dtype_prog_run(struct fm_dtype_prog *out, MPI_Count off, MPI_Count len);

/* A node for n >= 1 bodies `stride` apart, folded into the body's own loops where possible. Their
   size must fit into MPI_Count. */
void fm_dtype_prog_loop(struct fm_dtype_prog *out, MPI_Count n, MPI_Count stride,
                        const struct fm_dtype_prog *body);
