/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions, in all forms (MPI-5.0 6.9, 6.10, 6.12, 6.13). */
#include "core/api/coll_args.h"

static int reduce(struct fm_coll_form form, const void *sendbuf, struct fm_side_args recv,
                  MPI_Op op, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send.buf = sendbuf,
                                   .recv = recv,
                                   .op = op,
                                   .root = root};

    return fm_coll_args_call(&a);
}

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm)
{
    return reduce(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, root, comm);
}
FM_ALIAS(Reduce)

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    return reduce(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, root, comm);
}
FM_ALIAS(Reduce_c)

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    return reduce(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  root, comm);
}
FM_ALIAS(Ireduce)

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    return reduce(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  root, comm);
}
FM_ALIAS(Ireduce_c)

int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return reduce(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  root, comm);
}
FM_ALIAS(Reduce_init)

int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return reduce(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  root, comm);
}
FM_ALIAS(Reduce_init_c)

static int allreduce(struct fm_coll_form form, const void *sendbuf, struct fm_side_args recv,
                     MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send.buf = sendbuf,
                                   .recv = recv,
                                   .op = op};

    return fm_coll_args_call(&a);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    return allreduce(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Allreduce)

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    return allreduce(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Allreduce_c)

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    return allreduce(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                     comm);
}
FM_ALIAS(Iallreduce)

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return allreduce(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                     comm);
}
FM_ALIAS(Iallreduce_c)

int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return allreduce(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype),
                     op, comm);
}
FM_ALIAS(Allreduce_init)

int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    return allreduce(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype),
                     op, comm);
}
FM_ALIAS(Allreduce_init_c)

static int reduce_scatter(struct fm_coll_form form, const void *sendbuf, struct fm_side_args recv,
                          MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send.buf = sendbuf,
                                   .recv = recv,
                                   .op = op};

    return fm_coll_args_call(&a);
}

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, recvcount, datatype), op,
                          comm);
}
FM_ALIAS(Reduce_scatter_block)

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, recvcount, datatype), op,
                          comm);
}
FM_ALIAS(Reduce_scatter_block_c)

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request *request)
{
    return reduce_scatter(FM_FORM_NONBLOCKING(request), sendbuf,
                          FM_SIDE(recvbuf, recvcount, datatype), op, comm);
}
FM_ALIAS(Ireduce_scatter_block)

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    return reduce_scatter(FM_FORM_NONBLOCKING(request), sendbuf,
                          FM_SIDE(recvbuf, recvcount, datatype), op, comm);
}
FM_ALIAS(Ireduce_scatter_block_c)

int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    return reduce_scatter(FM_FORM_PERSISTENT(info, request), sendbuf,
                          FM_SIDE(recvbuf, recvcount, datatype), op, comm);
}
FM_ALIAS(Reduce_scatter_block_init)

int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    return reduce_scatter(FM_FORM_PERSISTENT(info, request), sendbuf,
                          FM_SIDE(recvbuf, recvcount, datatype), op, comm);
}
FM_ALIAS(Reduce_scatter_block_init_c)

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter(FM_FORM_BLOCKING, sendbuf, FM_SIDE_V(recvbuf, recvcounts, NULL, datatype),
                          op, comm);
}
FM_ALIAS(Reduce_scatter)

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter(FM_FORM_BLOCKING, sendbuf, FM_SIDE_V(recvbuf, recvcounts, NULL, datatype),
                          op, comm);
}
FM_ALIAS(Reduce_scatter_c)

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_scatter(FM_FORM_NONBLOCKING(request), sendbuf,
                          FM_SIDE_V(recvbuf, recvcounts, NULL, datatype), op, comm);
}
FM_ALIAS(Ireduce_scatter)

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_scatter(FM_FORM_NONBLOCKING(request), sendbuf,
                          FM_SIDE_V(recvbuf, recvcounts, NULL, datatype), op, comm);
}
FM_ALIAS(Ireduce_scatter_c)

int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request *request)
{
    return reduce_scatter(FM_FORM_PERSISTENT(info, request), sendbuf,
                          FM_SIDE_V(recvbuf, recvcounts, NULL, datatype), op, comm);
}
FM_ALIAS(Reduce_scatter_init)

int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    return reduce_scatter(FM_FORM_PERSISTENT(info, request), sendbuf,
                          FM_SIDE_V(recvbuf, recvcounts, NULL, datatype), op, comm);
}
FM_ALIAS(Reduce_scatter_init_c)
