/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of one process: a typed buffer on one side, bytes of a view on the other.
 *
 * Both sides are walked as runs. A run of the file moves by one system call, from or to the user's
 * memory where that has long pieces, through a buffer where it has short ones. Reads of many short
 * runs read the gaps along (data sieving). Writes never do: bytes in gaps belong to others, who
 * may be writing them at the same time, and a file has no lock that everybody takes.
 */
#pragma once

#include "core/io/file.h"

struct fm_file_access {
    struct fm_file *file;
    MPI_Count at; /* first byte, in bytes of the view */
    void *buf;    /* not written to by writes */
    MPI_Count count;
    struct fm_dtype *dtype;
    bool is_write;
};

/* Move the data. *out_done: bytes of the program's data that were moved, also when it fails
   half-way; a read ends early at the end of the file. In atomic mode under a lock of the range. */
int fm_file_access_run(const struct fm_file_access *a, MPI_Count *out_done);

/* One contiguous piece, until all is done or a read meets the end of the file. *out_done as
   above. */
int fm_file_access_bytes(struct fm_file *f, bool is_write, void *buf, MPI_Count len, MPI_Offset off,
                         MPI_Count *out_done);
