/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data access with the shared file pointer (MPI-5.0 14.4.4).
 *
 * The int form and its _c twin share one body on MPI_Count.
 */
#include "core/api/file_access_args.h"

int PMPI_File_read_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_read_shared)

int PMPI_File_read_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_read_shared_c)

int PMPI_File_iread_shared(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iread_shared)

int PMPI_File_iread_shared_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iread_shared_c)

int PMPI_File_read_ordered(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_read_ordered)

int PMPI_File_read_ordered_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_read_ordered_c)

int PMPI_File_read_ordered_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              "MPI_File_read_ordered_begin");
}
FM_ALIAS(File_read_ordered_begin)

int PMPI_File_read_ordered_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              "MPI_File_read_ordered_begin");
}
FM_ALIAS(File_read_ordered_begin_c)

int PMPI_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return fm_file_args_end(FM_CALL, fh, "MPI_File_read_ordered_begin", buf, status);
}
FM_ALIAS(File_read_ordered_end)

int PMPI_File_write_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                           MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_write_shared)

int PMPI_File_write_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                             MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_write_shared_c)

int PMPI_File_iwrite_shared(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iwrite_shared)

int PMPI_File_iwrite_shared_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iwrite_shared_c)

int PMPI_File_write_ordered(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                            MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_write_ordered)

int PMPI_File_write_ordered_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_SHARED,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_write_ordered_c)

int PMPI_File_write_ordered_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              "MPI_File_write_ordered_begin");
}
FM_ALIAS(File_write_ordered_begin)

int PMPI_File_write_ordered_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                    MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_SHARED,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              "MPI_File_write_ordered_begin");
}
FM_ALIAS(File_write_ordered_begin_c)

int PMPI_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return fm_file_args_end(FM_CALL, fh, "MPI_File_write_ordered_begin", buf, status);
}
FM_ALIAS(File_write_ordered_end)
