/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files (MPI-5.0 chapter 14): what an open file is, and its life.
 *
 * Each process opens the file by itself, so that it has an open file description, and thereby
 * record locks, of its own. A file keeps a communicator of its own for what its collective calls
 * agree on. Data moves by file_access.c (one process) and file_coll.c (two-phase); file_view.c
 * says where in the file the bytes of a view lie.
 *
 * Functions return 0, a failure, or a positive MPI error class whose reason is in fm_why(). Errors
 * of collective calls are agreed on: all processes return one.
 */
#pragma once

#include "core/io/file_view.h"
#include "core/object/handle.h"

struct fm_comm;
struct fm_errhandler;
struct fm_info;
struct fm_io_counters;
struct fm_win;

/* When collective accesses go through aggregators; items of romio_cb_read and romio_cb_write. */
enum fm_file_cb { FM_FILE_CB_AUTO, FM_FILE_CB_ENABLE, FM_FILE_CB_DISABLE };

/* Hints in force (MPI-5.0 14.2.8). The names of the others are kept in struct fm_file.info. */
struct fm_file_hints {
    int cb_nodes;             /* aggregators; 0: one per processor of a host that has ranks */
    MPI_Count cb_buffer_size; /* bytes that an aggregator holds at a time */
    enum fm_file_cb cb_read;
    enum fm_file_cb cb_write;
};

/* The split collective that is under way (MPI-5.0 14.4.5), one at most. */
struct fm_file_split {
    const char *call; /* "MPI_File_read_all_begin"; NULL: none */
    const void *buf;
    MPI_Count n_bytes; /* result of the access, for the status */
};

struct fm_file {
    struct fm_object head;
    uint64_t pool_link;
    struct fm_comm *comm; /* its own: same group as the user's */
    struct fm_errhandler *errhandler;
    struct fm_info *info; /* hints as the user gave them, those that are known */
    struct fm_file_hints hints;
    struct fm_file_view view;
    struct fm_file_split split;
    MPI_Offset at;         /* individual file pointer, in etypes of the view */
    struct fm_win *shared; /* holds the shared file pointer (file_shared.h) */
    char *path;
    int amode;
    int fd;
    int n_pending; /* nonblocking accesses under way */
    bool is_atomic;
    bool is_dirty; /* written since the last sync */
};

/* The object behind MPI_FILE_NULL: it has an error handler and nothing else (14.7). */
extern struct fm_file fm_file_null;
extern const struct fathom_table fm_io_vars;

/* Take the block of fm_io_vars (NULL: private counters), make the pool. Twice is fine. */
int fm_file_init(void *block);
/* Drops what is left at finalize. */
void fm_file_finish(void);

/* Collective over comm. The path is copied. */
int fm_file_open(struct fm_comm *comm, const char *path, int amode, const struct fm_info *info,
                 struct fm_file **out_file);
/* Collective; the object is gone afterwards, whatever is returned. */
int fm_file_close(struct fm_file *f);
/* Local (MPI_File_delete). */
int fm_file_delete(const char *path);

/* Collective; sizes in bytes, the same in all processes. */
int fm_file_set_size(struct fm_file *f, MPI_Offset size);
int fm_file_preallocate(struct fm_file *f, MPI_Offset size);
int fm_file_sync(struct fm_file *f);
int fm_file_set_atomicity(struct fm_file *f, bool is_atomic);
/* Local. */
int fm_file_get_size(const struct fm_file *f, MPI_Offset *out_size);

/* Collective (MPI_File_set_view): disp may be MPI_DISPLACEMENT_CURRENT. `error`: class of what is
   wrong with this process's arguments already, 0: nothing. File pointers go to 0. */
int fm_file_set_view(struct fm_file *f, MPI_Offset disp, struct fm_dtype *etype,
                     struct fm_dtype *filetype, const char *datarep, int error);

/* Take over the hints of an info that are known (NULL: none). */
int fm_file_hints_set(struct fm_file *f, const struct fm_info *info);
/* A new info with all hints in force; NULL without memory. */
struct fm_info *fm_file_hints_get(const struct fm_file *f);

/* The error class of an errno, with a reason that names what was tried and the path. */
FM_COLD int fm_file_errno(int error, const char *what, const char *path);
/* Collective: one outcome for all; `rc` is this process's. */
int fm_file_agree(const struct fm_file *f, int rc);
/* Collective: MPI_ERR_NOT_SAME unless all processes gave the same value of `what`. */
int fm_file_same(const struct fm_file *f, MPI_Count value, const char *what);
