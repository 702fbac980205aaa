/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: opening, sizes, hints, views, consistency (MPI-5.0 14.2, 14.3, 14.6). */
#include "core/api/file_args.h"

#include <string.h>

#include "core/api/dtype_args.h"
#include "core/dtype/dtype_make.h"
#include "core/io/file_rw.h"
#include "core/object/comm.h"
#include "core/object/group.h"
#include "core/object/info.h"

/* ---- open, close, delete ---- */

/* Errors before there is a file belong to MPI_FILE_NULL (14.7). */
static int open_file(const char *call, MPI_Comm comm, const char *filename, int amode,
                     MPI_Info info, MPI_File *fh)
{
    struct fm_comm *c = fm_comm_get(comm);
    struct fm_file *f = NULL;
    struct fm_info *i = NULL;
    int rc;

    if (!c || c->is_freed) {
        return fm_raise_handle_on(&fm_file_null, FM_KIND_COMM, call, comm, "comm");
    }
    if (c->is_inter) {
        return fm_raise(&fm_file_null, call, MPI_ERR_COMM,
                        "comm is an intercommunicator, which this function does not take");
    }
    rc = fm_find_out(&fm_file_null, call, "filename", filename);
    rc = rc == MPI_SUCCESS ? fm_find_out(&fm_file_null, call, "fh", fh) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_info(&fm_file_null, call, info, true, &i) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fm_raise_status(&fm_file_null, call, fm_file_open(c, filename, amode, i, &f));
    if (rc == MPI_SUCCESS) {
        *fh = fm_handle_of(f);
    }
    return rc;
}

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = open_file(FM_CALL, comm, filename, amode, info, fh);
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_open)

static int close_file(const char *call, MPI_File *fh)
{
    struct fm_file *f;
    int rc = fm_find_out(&fm_file_null, call, "fh", fh);

    rc = rc == MPI_SUCCESS ? fm_find_file(call, *fh, &f) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (f->split.call) {
        return fm_raise(f, call, MPI_ERR_OTHER, "%s is under way: end it first", f->split.call);
    }
    rc = fm_file_close(f);
    *fh = MPI_FILE_NULL;
    return fm_raise_status(&fm_file_null, call, rc);
}

int PMPI_File_close(MPI_File *fh)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = close_file(FM_CALL, fh);
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_close)

int PMPI_File_delete(const char *filename, MPI_Info info)
{
    struct fm_info *i = NULL;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(&fm_file_null, FM_CALL, "filename", filename);
    rc = rc == MPI_SUCCESS ? fm_find_info(&fm_file_null, FM_CALL, info, true, &i) : rc;
    rc = rc == MPI_SUCCESS ? fm_raise_status(&fm_file_null, FM_CALL, fm_file_delete(filename)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_delete)

/* ---- sizes and consistency ---- */

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_set_size(f, size)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_set_size)

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_preallocate(f, size)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_preallocate)

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "size", size, &f);
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_get_size(f, size)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_size)

int PMPI_File_sync(MPI_File fh)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_sync(f)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_sync)

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_set_atomicity(f, flag != 0)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_set_atomicity)

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "flag", flag, &f);
    if (rc == MPI_SUCCESS) {
        *flag = f->is_atomic;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_atomicity)

/* ---- what a file is ---- */

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "amode", amode, &f);
    if (rc == MPI_SUCCESS) {
        *amode = f->amode;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_amode)

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "group", group, &f);
    if (rc == MPI_SUCCESS) {
        *group = fm_handle_of(fm_object_ref(f->comm->group));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_group)

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct fm_file *f;
    struct fm_info *i = NULL;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_find_info(f, FM_CALL, info, true, &i) : rc;
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_hints_set(f, i)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_set_info)

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    struct fm_file *f;
    struct fm_info *i;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "info_used", info_used, &f);
    if (rc == MPI_SUCCESS) {
        i = fm_file_hints_get(f);
        rc = fm_raise_status(f, FM_CALL, i ? 0 : -FM_E_NOMEM);
        *info_used = i ? fm_handle_of(i) : MPI_INFO_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_info)

/* ---- views ---- */

/* The class of what is wrong with the types, which all processes are told of; nothing is raised. */
static int view_types(MPI_Datatype etype, MPI_Datatype filetype, struct fm_dtype **out_etype,
                      struct fm_dtype **out_filetype)
{
    *out_etype = dtype_find(etype);
    *out_filetype = dtype_find(filetype);
    if (!*out_etype || !*out_filetype) {
        return fm_fail(MPI_ERR_TYPE, "%s is no datatype", *out_etype ? "filetype" : "etype");
    }
    if (!(*out_etype)->is_committed || !(*out_filetype)->is_committed) {
        return fm_fail(MPI_ERR_TYPE, "%s is not committed: call MPI_Type_commit first",
                       (*out_etype)->is_committed ? "filetype" : "etype");
    }
    return 0;
}

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    struct fm_dtype *e, *t;
    struct fm_info *i = NULL;
    struct fm_file *f;
    int rc, error;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_find_info(f, FM_CALL, info, true, &i) : rc;
    if (rc == MPI_SUCCESS) {
        error = view_types(etype, filetype, &e, &t);
        if (!error && !datarep) {
            error = fm_fail(MPI_ERR_ARG, "datarep is NULL: pass a name, such as \"native\"");
        }
        rc = fm_raise_status(f, FM_CALL, fm_file_set_view(f, disp, e, t, datarep, error));
    }
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_hints_set(f, i)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_set_view)

/* Named types come back as themselves, others as copies that the user frees (14.3). */
static int give_type(struct fm_dtype *t, MPI_Datatype *out)
{
    struct fm_dtype *copy;
    int rc;

    if (t->is_predefined) {
        *out = t->handle;
        return 0;
    }
    rc = fm_dtype_dup(t, &copy);
    if (!rc) {
        copy->n_handles = 1;
        *out = copy->handle;
    }
    return rc;
}

static int get_view(struct fm_file *f, MPI_Offset *disp, MPI_Datatype *etype,
                    MPI_Datatype *filetype, char *datarep)
{
    int rc = give_type(f->view.etype, etype);

    rc = rc ? rc : give_type(f->view.filetype, filetype);
    if (!rc) {
        *disp = f->view.disp;
        strcpy(datarep, fm_file_rep_name(f->view.rep));
    }
    return rc;
}

int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "disp", disp, &f);
    rc = rc == MPI_SUCCESS ? fm_find_out(f, FM_CALL, "etype", etype) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(f, FM_CALL, "filetype", filetype) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(f, FM_CALL, "datarep", datarep) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(f, FM_CALL, get_view(f, disp, etype, filetype, datarep));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_view)

/* In native, internal and external32 files, as far as views support these, extents are those in
   memory (14.5.1). */
static int type_extent(const char *call, MPI_File fh, MPI_Datatype datatype, const void *extent,
                       MPI_Count *out)
{
    struct fm_dtype *t;
    struct fm_file *f;
    int rc = fm_find_file_for(call, fh, "extent", extent, &f);

    rc = rc == MPI_SUCCESS ? dtype_arg_on(f, datatype, "datatype", &t) : rc;
    if (rc == MPI_SUCCESS) {
        *out = t->extent;
    }
    return rc;
}

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Count n;
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_extent(FM_CALL, fh, datatype, extent, &n);
    if (rc == MPI_SUCCESS) {
        *extent = n;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_type_extent)

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype, MPI_Count *extent)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_extent(FM_CALL, fh, datatype, extent, extent);
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_type_extent_c)

/* ---- positions ---- */

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_raise_status(f, FM_CALL, fm_file_rw_seek(f, offset, whence)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_seek)

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "offset", offset, &f);
    if (rc == MPI_SUCCESS && (f->amode & MPI_MODE_SEQUENTIAL)) {
        rc = fm_raise(f, FM_CALL, MPI_ERR_UNSUPPORTED_OPERATION,
                      "'%s' was opened with MPI_MODE_SEQUENTIAL", f->path);
    } else if (rc == MPI_SUCCESS) {
        *offset = f->at;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_position)

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file(FM_CALL, fh, &f);
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(f, FM_CALL, fm_file_rw_seek_shared(f, offset, whence));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_seek_shared)

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "offset", offset, &f);
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(f, FM_CALL, fm_file_rw_position_shared(f, offset));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_position_shared)

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_file_for(FM_CALL, fh, "disp", disp, &f);
    if (rc == MPI_SUCCESS && offset < 0) {
        rc = fm_raise(f, FM_CALL, MPI_ERR_ARG, "offset is %lld, it must not be negative",
                      (long long)offset);
    } else if (rc == MPI_SUCCESS) {
        *disp = fm_file_view_offset(&f->view, offset * f->view.etype->size);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_get_byte_offset)
