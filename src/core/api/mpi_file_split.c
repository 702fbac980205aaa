/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Split collective data access (MPI-5.0 14.4.5).
 *
 * The int form and its _c twin share one body on MPI_Count.
 */
#include "core/api/file_access_args.h"

int PMPI_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void *buf, int count,
                                MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              "MPI_File_read_at_all_begin");
}
FM_ALIAS(File_read_at_all_begin)

int PMPI_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                                  MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              "MPI_File_read_at_all_begin");
}
FM_ALIAS(File_read_at_all_begin_c)

int PMPI_File_read_at_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return fm_file_args_end(FM_CALL, fh, "MPI_File_read_at_all_begin", buf, status);
}
FM_ALIAS(File_read_at_all_end)

int PMPI_File_read_all_begin(MPI_File fh, void *buf, int count, MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              "MPI_File_read_all_begin");
}
FM_ALIAS(File_read_all_begin)

int PMPI_File_read_all_begin_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              "MPI_File_read_all_begin");
}
FM_ALIAS(File_read_all_begin_c)

int PMPI_File_read_all_end(MPI_File fh, void *buf, MPI_Status *status)
{
    return fm_file_args_end(FM_CALL, fh, "MPI_File_read_all_begin", buf, status);
}
FM_ALIAS(File_read_all_end)

int PMPI_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                                 MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              "MPI_File_write_at_all_begin");
}
FM_ALIAS(File_write_at_all_begin)

int PMPI_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                   MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              "MPI_File_write_at_all_begin");
}
FM_ALIAS(File_write_at_all_begin_c)

int PMPI_File_write_at_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return fm_file_args_end(FM_CALL, fh, "MPI_File_write_at_all_begin", buf, status);
}
FM_ALIAS(File_write_at_all_end)

int PMPI_File_write_all_begin(MPI_File fh, const void *buf, int count, MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              "MPI_File_write_all_begin");
}
FM_ALIAS(File_write_all_begin)

int PMPI_File_write_all_begin_c(MPI_File fh, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    return fm_file_args_begin(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              "MPI_File_write_all_begin");
}
FM_ALIAS(File_write_all_begin_c)

int PMPI_File_write_all_end(MPI_File fh, const void *buf, MPI_Status *status)
{
    return fm_file_args_end(FM_CALL, fh, "MPI_File_write_all_begin", buf, status);
}
FM_ALIAS(File_write_all_end)
