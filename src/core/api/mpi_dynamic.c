/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are not of this job (MPI-5.0 11.7 - 11.10). */
#include "core/api/find.h"

/* MPI_Comm_spawn is not supported, so no process has a parent (11.8.2). */
int PMPI_Comm_get_parent(MPI_Comm *parent)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "parent", parent);
    if (rc == MPI_SUCCESS) {
        *parent = MPI_COMM_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_get_parent)
