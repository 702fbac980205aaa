/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking data access (MPI-5.0 14.4.2, 14.4.3).
 *
 * The int form and its _c twin share one body on MPI_Count.
 */
#include "core/api/file_access_args.h"

int PMPI_File_read_at(MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_read_at)

int PMPI_File_read_at_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_read_at_c)

int PMPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int count,
                          MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_read_at_all)

int PMPI_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_read_at_all_c)

int PMPI_File_read(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_read)

int PMPI_File_read_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_read_c)

int PMPI_File_read_all(MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_read_all)

int PMPI_File_read_all_c(MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = false,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_read_all_c)

int PMPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_write_at)

int PMPI_File_write_at_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_write_at_c)

int PMPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int count,
                           MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_write_at_all)

int PMPI_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                             MPI_Datatype datatype, MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_EXPLICIT,
                                                   .offset = offset,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_write_at_all_c)

int PMPI_File_write(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                    MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_write)

int PMPI_File_write_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = false},
                            status);
}
FM_ALIAS(File_write_c)

int PMPI_File_write_all(MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_write_all)

int PMPI_File_write_all_c(MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    return fm_file_args_run(&(struct fm_file_args){.call = FM_CALL,
                                                   .fh = fh,
                                                   .position = FM_FILE_INDIVIDUAL,
                                                   .buf = (void *)buf,
                                                   .count = count,
                                                   .type = datatype,
                                                   .is_write = true,
                                                   .is_coll = true},
                            status);
}
FM_ALIAS(File_write_all_c)
