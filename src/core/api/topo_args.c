/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups and checks that the functions of topologies share. */
#include "core/api/topo_args.h"

static const char *name_of(int kind)
{
    return kind == MPI_CART ? "Cartesian" : kind == MPI_GRAPH ? "graph" : "distributed graph";
}

int fm_topo_args_find(const char *call, MPI_Comm comm, int kind, struct fm_comm **out_comm,
                      struct fm_topo **out_topo)
{
    int rc = fm_find_comm(call, comm, out_comm);
    struct fm_topo *topo;

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    topo = fm_topo_of(*out_comm);
    if (!topo || topo->kind != kind) {
        return fm_raise(*out_comm, call, MPI_ERR_TOPOLOGY,
                        "communicator '%s' has %s%s topology, this function needs a %s one",
                        (*out_comm)->name, topo ? "a " : "no", topo ? name_of(topo->kind) : "",
                        name_of(kind));
    }
    *out_topo = topo;
    return MPI_SUCCESS;
}

int fm_topo_args_array(struct fm_comm *comm, const char *call, const char *name, const void *array,
                       int n)
{
    if (n > 0 && !array) {
        return fm_raise(comm, call, MPI_ERR_ARG, "%s is NULL: pass an array of %d elements", name,
                        n);
    }
    return MPI_SUCCESS;
}

int fm_topo_args_space(struct fm_comm *comm, const char *call, const char *max_name, int max, int n)
{
    if (max < n) {
        return fm_raise(comm, call, MPI_ERR_ARG, "%s is %d, but there are %d elements to return",
                        max_name, max, n);
    }
    return MPI_SUCCESS;
}

int fm_topo_args_finish(struct fm_comm *origin, const char *call, int rc, struct fm_comm *made,
                        MPI_Comm *newcomm)
{
    *newcomm = rc == 0 && made ? fm_handle_of(made) : MPI_COMM_NULL;
    return rc != 0 ? fm_raise_status(origin, call, rc) : MPI_SUCCESS;
}
