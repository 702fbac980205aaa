/* SPDX-License-Identifier: BSD-3-Clause */
/* What all topologies have in common (MPI-5.0 8.5.2, 8.5.5). */
#include "core/api/topo_args.h"

#include "core/topo/dims.h"

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "status", status, &c);
    if (rc == MPI_SUCCESS) {
        const struct fm_topo *topo = fm_topo_of(c);

        *status = topo ? topo->kind : MPI_UNDEFINED;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Topo_test)

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
    int rc = MPI_SUCCESS;

    fm_api_enter(FM_CALL);
    if (ndims < 0) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_DIMS, "ndims is %d, it must not be negative", ndims);
    } else {
        rc = fm_topo_args_array(NULL, FM_CALL, "dims", dims, ndims);
    }
    if (rc == MPI_SUCCESS && fm_dims_create(nnodes, ndims, dims) != 0) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_DIMS, "%s", fm_why());
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Dims_create)
