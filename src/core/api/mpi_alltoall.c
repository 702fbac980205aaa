/* SPDX-License-Identifier: BSD-3-Clause */
/* All-to-all scatter and gather, in all forms (MPI-5.0 6.8, 6.12, 6.13). */
#include "core/api/coll_args.h"

static int alltoall(struct fm_coll_form form, struct fm_side_args send, struct fm_side_args recv,
                    MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .form = form, .kind = FM_COLL_ALLTOALL, .comm = comm, .send = send, .recv = recv};

    return fm_coll_args_call(&a);
}

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                    FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Alltoall)

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                    FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Alltoall_c)

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoall(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                    FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Ialltoall)

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    return alltoall(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                    FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Ialltoall_c)

int PMPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    return alltoall(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                    FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Alltoall_init)

int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    return alltoall(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                    FM_SIDE(recvbuf, recvcount, recvtype), comm);
}
FM_ALIAS(Alltoall_init_c)

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall(FM_FORM_BLOCKING, FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                    FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Alltoallv)

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return alltoall(FM_FORM_BLOCKING, FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                    FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Alltoallv_c)

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return alltoall(FM_FORM_NONBLOCKING(request), FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                    FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Ialltoallv)

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    return alltoall(FM_FORM_NONBLOCKING(request), FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                    FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Ialltoallv_c)

int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return alltoall(FM_FORM_PERSISTENT(info, request),
                    FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                    FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Alltoallv_init)

int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return alltoall(FM_FORM_PERSISTENT(info, request),
                    FM_SIDE_V(sendbuf, sendcounts, sdispls, sendtype),
                    FM_SIDE_V(recvbuf, recvcounts, rdispls, recvtype), comm);
}
FM_ALIAS(Alltoallv_init_c)

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoall(FM_FORM_BLOCKING, FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                    FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Alltoallw)

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return alltoall(FM_FORM_BLOCKING, FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                    FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Alltoallw_c)

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    return alltoall(FM_FORM_NONBLOCKING(request),
                    FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                    FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Ialltoallw)

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    return alltoall(FM_FORM_NONBLOCKING(request),
                    FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                    FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Ialltoallw_c)

int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    return alltoall(FM_FORM_PERSISTENT(info, request),
                    FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                    FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Alltoallw_init)

int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    return alltoall(FM_FORM_PERSISTENT(info, request),
                    FM_SIDE_W(sendbuf, sendcounts, sdispls, sendtypes),
                    FM_SIDE_W(recvbuf, recvcounts, rdispls, recvtypes), comm);
}
FM_ALIAS(Alltoallw_init_c)
