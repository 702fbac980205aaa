/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data access as the standard has it (MPI-5.0 14.4): positioning, individual file pointers,
 * statuses, blocking, nonblocking and split forms.
 */
#pragma once

#include "core/io/file_access.h"
#include "core/object/request.h"

/* Where an access begins. */
enum fm_file_position { FM_FILE_EXPLICIT, FM_FILE_INDIVIDUAL, FM_FILE_SHARED };

/* One call. */
struct fm_file_op {
    struct fm_file *file;
    int error; /* class of what is wrong with buffer, count and type, with its reason; 0: nothing */
    enum fm_file_position position;
    MPI_Offset offset; /* explicit: in etypes of the view */
    void *buf;
    MPI_Count count;
    struct fm_dtype *dtype;
    bool is_write;
    bool is_coll;
};

/* Blocking. 0, a failure or an error class; the status is filled on success. */
int fm_file_rw(const struct fm_file_op *op, struct fm_status *out_status);
/* Nonblocking: the data has been moved when it returns; what is wrong is in the request, but for
   arguments. */
int fm_file_rw_start(const struct fm_file_op *op, struct fm_request **out_req);
/* Split collectives: the access takes place in the begin. `call` is the name of the begin function,
   a static text; the end names the begin that it belongs to. */
int fm_file_rw_begin(const struct fm_file_op *op, const char *call);
int fm_file_rw_end(struct fm_file *f, const char *begin, const void *buf,
                   struct fm_status *out_status);

/* Individual file pointer (MPI_File_seek): whence as in mpi.h. */
int fm_file_rw_seek(struct fm_file *f, MPI_Offset offset, int whence);
/* Shared file pointer: collective (MPI_File_seek_shared), and local. */
int fm_file_rw_seek_shared(struct fm_file *f, MPI_Offset offset, int whence);
int fm_file_rw_position_shared(struct fm_file *f, MPI_Offset *out_at);
