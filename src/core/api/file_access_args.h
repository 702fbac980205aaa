/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of all calls that access files, and the arguments that they share. */
#pragma once

#include "core/api/file_args.h"
#include "core/io/file_rw.h"

/* A call as the user made it. */
struct fm_file_args {
    const char *call;
    MPI_File fh;
    enum fm_file_position position;
    MPI_Offset offset; /* explicit offsets only */
    void *buf;
    MPI_Count count;
    MPI_Datatype type;
    bool is_write;
    bool is_coll;
};

/* Whole functions: they enter, check, do it, raise errors, leave. */
int fm_file_args_run(const struct fm_file_args *a, MPI_Status *status);
int fm_file_args_start(const struct fm_file_args *a, MPI_Request *request);
/* begin: name of the begin function without _c, a static text. */
int fm_file_args_begin(const struct fm_file_args *a, const char *begin);
int fm_file_args_end(const char *call, MPI_File fh, const char *begin, const void *buf,
                     MPI_Status *status);
