/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views (MPI-5.0 14.3): which bytes of a file a process sees, and where they lie.
 *
 * The bytes of a view are numbered from 0; `disp` is byte 0 of the first filetype, and filetypes
 * follow each other without end. The datatype engine walks a view: a cursor over a buffer of many
 * filetypes whose address is an offset into the file (core/dtype/pack.h), so that nothing is
 * unrolled and any place is found in one walk down the type.
 */
#pragma once

#include "core/dtype/pack.h"

/* Representations of data in a file (14.5). */
enum fm_file_rep { FM_FILE_NATIVE, FM_FILE_INTERNAL, FM_FILE_EXTERNAL32 };

struct fm_file_view {
    MPI_Offset disp;
    struct fm_dtype *etype;    /* a reference is held */
    struct fm_dtype *filetype; /* a reference is held */
    enum fm_file_rep rep;
    bool is_contig;    /* one run of bytes from disp on */
    bool is_ascending; /* offsets grow with the bytes of the view, over filetypes as well */
};

/* A place in a view, which steps over runs of the file. */
struct fm_file_cursor {
    const struct fm_file_view *view;
    struct fm_pack pack;
    MPI_Count at; /* next byte of the view */
};

struct fm_file_run {
    MPI_Offset off; /* in the file */
    MPI_Count len;
};

/* The view that a file has when it is opened: bytes from 0 on. */
void fm_file_view_default(struct fm_file_view *v);
void fm_file_view_finish(struct fm_file_view *v);
/* 0 and the view, which takes references; or an MPI error class and the reason. Local. */
int fm_file_view_make(MPI_Offset disp, struct fm_dtype *etype, struct fm_dtype *filetype,
                      const char *datarep, bool may_write, struct fm_file_view *out_view);

/* "native" and so on; and back, -1: no such representation. */
const char *fm_file_rep_name(enum fm_file_rep rep);
int fm_file_rep_find(const char *name);

/* Stand at a byte of the view. */
void fm_file_cursor_begin(struct fm_file_cursor *c, const struct fm_file_view *v, MPI_Count at);
/* The next run, at most max bytes long, and step over it. max must not be 0. */
struct fm_file_run fm_file_cursor_next(struct fm_file_cursor *c, MPI_Count max);
/* Where in the file a byte of the view lies. */
MPI_Offset fm_file_view_offset(const struct fm_file_view *v, MPI_Count at);
/* How many bytes of the view lie below an offset of the file (ascending views). */
MPI_Count fm_file_view_below(const struct fm_file_view *v, MPI_Offset off);
