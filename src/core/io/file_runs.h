/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of runs of a file as they travel between the processes of a two-phase access: runs of one
 * length and one distance are one item, so that regular views need few bytes whatever their size.
 */
#pragma once

#include "core/io/file_view.h"

#define FM_FILE_RUNS_INLINE 6

/* n runs of `len` bytes, `stride` apart, the first at `off` in the file. */
struct fm_file_strided {
    MPI_Offset off;
    MPI_Count len, stride, n;
};

/* What is sent first: the sums, and the items themselves where these are few. */
struct fm_file_runs_head {
    MPI_Count n_bytes;
    MPI_Count n; /* items */
    struct fm_file_strided first[FM_FILE_RUNS_INLINE];
};

/* A list in the order of the file. Zeroed: empty. */
struct fm_file_runs {
    struct fm_file_strided *items; /* owned; NULL: all are in head.first */
    MPI_Count room;
    struct fm_file_runs_head head;
};

static inline struct fm_file_strided *fm_file_runs_items(struct fm_file_runs *l)
{
    return l->items ? l->items : l->head.first;
}

/* Append a run that lies behind all others. 0 or -FM_E_NOMEM. */
int fm_file_runs_add(struct fm_file_runs *l, struct fm_file_run run);
void fm_file_runs_clear(struct fm_file_runs *l);
/* Does a list that came from another process lie in [low, high), and is its sum right? */
bool fm_file_runs_is_within(struct fm_file_runs *l, MPI_Offset low, MPI_Offset high);
/* Bytes of the list that lie below an offset of the file. */
MPI_Count fm_file_runs_below(struct fm_file_runs *l, MPI_Offset end);
/* Write the single runs to `out` (NULL: only count them). Returns how many. */
MPI_Count fm_file_runs_expand(struct fm_file_runs *l, struct fm_file_run *out);

/* Copy the first `limit` bytes between a window, whose byte 0 is at `low` of the file, and a packed
   block; the direction is given by is_into. */
void fm_file_runs_copy(struct fm_file_runs *l, char *window, MPI_Offset low, char *block,
                       MPI_Count limit, bool is_into_window);
