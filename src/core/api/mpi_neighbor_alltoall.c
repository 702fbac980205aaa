/* SPDX-License-Identifier: BSD-3-Clause */
/* A block per edge, in all forms (MPI-5.0 8.6.2, 8.7.2, 8.8.2). */
#include "core/api/coll_args.h"

static int neighbor_alltoall(struct fm_coll_form form, struct fm_side_args send,
                             struct fm_side_args recv, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .form = form, .kind = FM_COLL_NEIGHBOR_ALLTOALL, .comm = comm, .send = send, .recv = recv};

    return fm_coll_args_call(&a);
}

int PMPI_Neighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return neighbor_alltoall(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                             FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoall)

int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    return neighbor_alltoall(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                             FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoall_c)

int PMPI_Ineighbor_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                             FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Ineighbor_alltoall)

int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                             FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Ineighbor_alltoall_c)

int PMPI_Neighbor_alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_PERSISTENT(info, request),
                             FM_SIDE(sendbuf, sendcount, sendtype),
                             FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoall_init)

int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_PERSISTENT(info, request),
                             FM_SIDE(sendbuf, sendcount, sendtype),
                             FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoall_init_c)

int PMPI_Neighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return neighbor_alltoall(FM_FORM_BLOCKING, FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                             FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoallv)

int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    return neighbor_alltoall(FM_FORM_BLOCKING, FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                             FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoallv_c)

int PMPI_Ineighbor_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_NONBLOCKING(request),
                             FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                             FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Ineighbor_alltoallv)

int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_NONBLOCKING(request),
                             FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                             FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Ineighbor_alltoallv_c)

int PMPI_Neighbor_alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_PERSISTENT(info, request),
                             FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                             FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoallv_init)

int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_PERSISTENT(info, request),
                             FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                             FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Neighbor_alltoallv_init_c)

int PMPI_Neighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return neighbor_alltoall(FM_FORM_BLOCKING, FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                             FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Neighbor_alltoallw)

int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return neighbor_alltoall(FM_FORM_BLOCKING, FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                             FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Neighbor_alltoallw_c)

int PMPI_Ineighbor_alltoallw(const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_NONBLOCKING(request),
                             FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                             FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Ineighbor_alltoallw)

int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_NONBLOCKING(request),
                             FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                             FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Ineighbor_alltoallw_c)

int PMPI_Neighbor_alltoallw_init(const void *sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_PERSISTENT(info, request),
                             FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                             FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Neighbor_alltoallw_init)

int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return neighbor_alltoall(FM_FORM_PERSISTENT(info, request),
                             FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                             FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Neighbor_alltoallw_init_c)
