/* SPDX-License-Identifier: BSD-3-Clause */
/* Gather and scatter, in all forms (MPI-5.0 6.5, 6.6, 6.12, 6.13). */
#include "core/api/coll_args.h"

static int gather(struct fm_coll_form form, struct fm_side_args send, struct fm_side_args recv,
                  int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = send,
                                   .recv = recv,
                                   .root = root};

    return fm_coll_args_call(&a);
}

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return gather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Gather)

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return gather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Gather_c)

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    return gather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Igather)

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    return gather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Igather_c)

int PMPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    return gather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Gather_init)

int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return gather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Gather_init_c)

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    return gather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), root, comm);
}
FM_ALIAS(Gatherv)

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    return gather(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), root, comm);
}
FM_ALIAS(Gatherv_c)

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    return gather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), root, comm);
}
FM_ALIAS(Igatherv)

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    return gather(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), root, comm);
}
FM_ALIAS(Igatherv_c)

int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return gather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), root, comm);
}
FM_ALIAS(Gatherv_init)

int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    return gather(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                  FM_SIDE_V(recvbuf, recvcounts, displs, recvtype), root, comm);
}
FM_ALIAS(Gatherv_init_c)

static int scatter(struct fm_coll_form form, struct fm_side_args send, struct fm_side_args recv,
                   int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = send,
                                   .recv = recv,
                                   .root = root};

    return fm_coll_args_call(&a);
}

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatter)

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter(FM_FORM_BLOCKING, FM_SIDE(sendbuf, sendcount, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatter_c)

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    return scatter(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Iscatter)

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    return scatter(FM_FORM_NONBLOCKING(request), FM_SIDE(sendbuf, sendcount, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Iscatter_c)

int PMPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    return scatter(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatter_init)

int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return scatter(FM_FORM_PERSISTENT(info, request), FM_SIDE(sendbuf, sendcount, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatter_init_c)

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    return scatter(FM_FORM_BLOCKING, FM_SIDE_V(sendbuf, sendcounts, displs, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatterv)

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return scatter(FM_FORM_BLOCKING, FM_SIDE_V(sendbuf, sendcounts, displs, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatterv_c)

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    return scatter(FM_FORM_NONBLOCKING(request), FM_SIDE_V(sendbuf, sendcounts, displs, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Iscatterv)

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return scatter(FM_FORM_NONBLOCKING(request), FM_SIDE_V(sendbuf, sendcounts, displs, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Iscatterv_c)

int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                       MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return scatter(FM_FORM_PERSISTENT(info, request),
                   FM_SIDE_V(sendbuf, sendcounts, displs, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatterv_init)

int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    return scatter(FM_FORM_PERSISTENT(info, request),
                   FM_SIDE_V(sendbuf, sendcounts, displs, sendtype),
                   FM_SIDE(recvbuf, recvcount, recvtype), root, comm);
}
FM_ALIAS(Scatterv_init_c)
