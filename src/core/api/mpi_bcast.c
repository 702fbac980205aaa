/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier and broadcast, in all forms (MPI-5.0 6.3, 6.4, 6.12, 6.13). */
#include "core/api/coll_args.h"

static int barrier(struct fm_coll_form form, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form, .kind = FM_COLL_BARRIER, .comm = comm};

    return fm_coll_args_call(&a);
}

int PMPI_Barrier(MPI_Comm comm)
{
    return barrier(FM_FORM_BLOCKING, comm);
}
FM_ALIAS(Barrier)

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return barrier(FM_FORM_NONBLOCKING(request), comm);
}
FM_ALIAS(Ibarrier)

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return barrier(FM_FORM_PERSISTENT(info, request), comm);
}
FM_ALIAS(Barrier_init)

static int bcast(struct fm_coll_form form, void *buffer, MPI_Count count, MPI_Datatype datatype,
                 int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = FM_SIDE(buffer, count, datatype),
                                   .root = root};

    return fm_coll_args_call(&a);
}

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return bcast(FM_FORM_BLOCKING, buffer, count, datatype, root, comm);
}
FM_ALIAS(Bcast)

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return bcast(FM_FORM_BLOCKING, buffer, count, datatype, root, comm);
}
FM_ALIAS(Bcast_c)

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request *request)
{
    return bcast(FM_FORM_NONBLOCKING(request), buffer, count, datatype, root, comm);
}
FM_ALIAS(Ibcast)

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return bcast(FM_FORM_NONBLOCKING(request), buffer, count, datatype, root, comm);
}
FM_ALIAS(Ibcast_c)

int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    return bcast(FM_FORM_PERSISTENT(info, request), buffer, count, datatype, root, comm);
}
FM_ALIAS(Bcast_init)

int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    return bcast(FM_FORM_PERSISTENT(info, request), buffer, count, datatype, root, comm);
}
FM_ALIAS(Bcast_init_c)
