/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather-to-all, in all forms (MPI-5.0 6.7, 6.12, 6.13). */
#include "core/api/coll_args.h"

static int allgather(struct fm_coll_form form, struct fm_side_args send, struct fm_side_args recv,
                     MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .form = form, .kind = FM_COLL_ALLGATHER, .comm = comm, .send = send, .recv = recv};

    return fm_coll_args_call(&a);
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Allgather)

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Allgather_c)

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Iallgather)

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Iallgather_c)

int PMPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return allgather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Allgather_init)

int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    return allgather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Allgather_init_c)

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    return allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Allgatherv)

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    return allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Allgatherv_c)

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    return allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Iallgatherv)

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Iallgatherv_c)

int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return allgather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Allgatherv_init)

int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    return allgather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                     FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Allgatherv_init_c)
