/* SPDX-License-Identifier: BSD-3-Clause */
/* The same block to all neighbors, in all forms (MPI-5.0 8.6.1, 8.7.1, 8.8.1). */
#include "core/api/coll_args.h"

static int neighbor_allgather(struct fm_coll_form form, struct fm_side_args send,
                              struct fm_side_args recv, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .form = form, .kind = FM_COLL_NEIGHBOR_ALLGATHER, .comm = comm, .send = send, .recv = recv};

    return fm_coll_args_call(&a);
}

int PMPI_Neighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return neighbor_allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_allgather)

int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    return neighbor_allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_allgather_c)

int PMPI_Ineighbor_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Ineighbor_allgather)

int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Ineighbor_allgather_c)

int PMPI_Neighbor_allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_PERSISTENT(info, request),
                              FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_allgather_init)

int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_PERSISTENT(info, request),
                              FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_allgather_init_c)

int PMPI_Neighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm)
{
    return neighbor_allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Neighbor_allgatherv)

int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    return neighbor_allgather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Neighbor_allgatherv_c)

int PMPI_Ineighbor_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Ineighbor_allgatherv)

int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Ineighbor_allgatherv_c)

int PMPI_Neighbor_allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_PERSISTENT(info, request),
                              FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Neighbor_allgatherv_init)

int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    return neighbor_allgather(FM_FORM_PERSISTENT(info, request),
                              FM_SIDE(sendbuf, sendcount, sendtype),
                              FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), comm);
}
FM_ALIAS(Neighbor_allgatherv_init_c)
