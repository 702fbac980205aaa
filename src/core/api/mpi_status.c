/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses (MPI-5.0 3.2.5, 3.8.4, 13.3). Usable at any time, since they hold no handle. */
#include "core/api/pt2pt_args.h"

static int check(const char *call, const MPI_Status *status, const char *name, const void *out)
{
    if (FM_CHECKS && status == MPI_STATUS_IGNORE) {
        return fm_raise(NULL, call, MPI_ERR_ARG,
                        "status is MPI_STATUS_IGNORE: pass the address of a status");
    }
    return fm_pt2pt_out(MPI_SUCCESS, call, name, out);
}

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
    int rc = check(FM_CALL, status, "flag", flag);

    if (rc == MPI_SUCCESS) {
        *flag = fm_status_is_cancelled(status);
    }
    return rc;
}
FM_ALIAS(Test_cancelled)

int PMPI_Status_get_error(const MPI_Status *status, int *error)
{
    int rc = check(FM_CALL, status, "error", error);

    if (rc == MPI_SUCCESS) {
        *error = status->MPI_ERROR;
    }
    return rc;
}
FM_ALIAS(Status_get_error)

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
    int rc = check(FM_CALL, status, "source", source);

    if (rc == MPI_SUCCESS) {
        *source = status->MPI_SOURCE;
    }
    return rc;
}
FM_ALIAS(Status_get_source)

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
    int rc = check(FM_CALL, status, "tag", tag);

    if (rc == MPI_SUCCESS) {
        *tag = status->MPI_TAG;
    }
    return rc;
}
FM_ALIAS(Status_get_tag)

int PMPI_Status_set_error(MPI_Status *status, int error)
{
    int rc = check(FM_CALL, status, "status", status);

    if (rc == MPI_SUCCESS) {
        status->MPI_ERROR = error;
    }
    return rc;
}
FM_ALIAS(Status_set_error)

int PMPI_Status_set_source(MPI_Status *status, int source)
{
    int rc = check(FM_CALL, status, "status", status);

    if (rc == MPI_SUCCESS) {
        status->MPI_SOURCE = source;
    }
    return rc;
}
FM_ALIAS(Status_set_source)

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
    int rc = check(FM_CALL, status, "status", status);

    if (rc == MPI_SUCCESS) {
        status->MPI_TAG = tag;
    }
    return rc;
}
FM_ALIAS(Status_set_tag)

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
    int rc = check(FM_CALL, status, "status", status);

    if (rc == MPI_SUCCESS) {
        fm_status_set_cancelled(status, flag != 0);
    }
    return rc;
}
FM_ALIAS(Status_set_cancelled)
