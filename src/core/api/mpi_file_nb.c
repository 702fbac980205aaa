/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking data access (MPI-5.0 14.4.2, 14.4.3).
 *
 * The int form and its _c twin share one body on MPI_Count.
 */
#include "core/api/file_access_args.h"

int PMPI_File_iread_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iread_at)

int PMPI_File_iread_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iread_at_c)

int PMPI_File_iread_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                           MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iread_at_all)

int PMPI_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iread_at_all_c)

int PMPI_File_iread(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iread)

int PMPI_File_iread_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iread_c)

int PMPI_File_iread_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype,
                        MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iread_all)

int PMPI_File_iread_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = false,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iread_all_c)

int PMPI_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                        MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iwrite_at)

int PMPI_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iwrite_at_c)

int PMPI_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                            MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iwrite_at_all)

int PMPI_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                              MPI_Datatype datatype, MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_EXPLICIT,
                                                     .offset = offset,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iwrite_at_all_c)

int PMPI_File_iwrite(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                     MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iwrite)

int PMPI_File_iwrite_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = false},
                              request);
}
FM_ALIAS(File_iwrite_c)

int PMPI_File_iwrite_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iwrite_all)

int PMPI_File_iwrite_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request *request)
{
    return fm_file_args_start(&(struct fm_file_args){.call = FM_CALL,
                                                     .fh = fh,
                                                     .position = FM_FILE_INDIVIDUAL,
                                                     .buf = (void *)buf,
                                                     .count = count,
                                                     .type = datatype,
                                                     .is_write = true,
                                                     .is_coll = true},
                              request);
}
FM_ALIAS(File_iwrite_all_c)
