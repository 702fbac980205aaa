/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses (MPI-5.0 3.2.5, 3.8.4, 13.3). Usable at any time, since they hold no handle. */
#include "core/api/pt2pt_args.h"

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    *flag = fm_status_is_cancelled(status);
    return MPI_SUCCESS;
}
FM_ALIAS(Test_cancelled)

int PMPI_Status_get_error(const MPI_Status *status, int *error)
{
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}
FM_ALIAS(Status_get_error)

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}
FM_ALIAS(Status_get_source)

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}
FM_ALIAS(Status_get_tag)

int PMPI_Status_set_error(MPI_Status *status, int error)
{
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}
FM_ALIAS(Status_set_error)

int PMPI_Status_set_source(MPI_Status *status, int source)
{
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}
FM_ALIAS(Status_set_source)

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}
FM_ALIAS(Status_set_tag)

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    fm_status_set_cancelled(status, flag != 0);
    return MPI_SUCCESS;
}
FM_ALIAS(Status_set_cancelled)
