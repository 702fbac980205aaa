/* SPDX-License-Identifier: BSD-3-Clause */
/* From the arguments of file functions to objects, as find.h does for the others. Errors of a
   handle that is none go to the error handler of MPI_FILE_NULL (MPI-5.0 14.7). */
#pragma once

#include "core/api/find.h"
#include "core/io/file.h"

static inline int fm_find_file(const char *call, MPI_File fh, struct fm_file **out_file)
{
    *out_file = fm_file_get(fh);
    return FM_LIKELY(*out_file) ? MPI_SUCCESS
                                : fm_raise_handle_on(&fm_file_null, FM_KIND_FILE, call, fh, "fh");
}

/* The same for a function that has an output. */
static inline int fm_find_file_for(const char *call, MPI_File fh, const char *name, const void *out,
                                   struct fm_file **out_file)
{
    int rc = fm_find_file(call, fh, out_file);

    return rc == MPI_SUCCESS ? fm_find_out(*out_file, call, name, out) : rc;
}
