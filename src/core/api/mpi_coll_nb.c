/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives (MPI-5.0 6.12). */
#include "core/api/coll_args.h"

int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ibarrier", .kind = FM_COLL_BARRIER, .comm = comm};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ibarrier)

int PMPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ibcast",
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = {buffer, .count = count, .type = datatype},
                                   .root = root};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ibcast)

int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ibcast_c",
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = {buffer, .count = count, .type = datatype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ibcast_c)

int PMPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ireduce",
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .root = root};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ireduce)

int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ireduce_c",
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ireduce_c)

int PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iallreduce",
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iallreduce)

int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iallreduce_c",
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iallreduce_c)

int PMPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                 MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Igather",
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Igather)

int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Igather_c",
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Igather_c)

int PMPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                  MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Igatherv",
        .kind = FM_COLL_GATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .root = root,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Igatherv)

int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Igatherv_c",
        .kind = FM_COLL_GATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .root = root,
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Igatherv_c)

int PMPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iscatter",
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iscatter)

int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iscatter_c",
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iscatter_c)

int PMPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Iscatterv",
        .kind = FM_COLL_SCATTER,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype},
        .recv = {recvbuf, .count = recvcount, .type = recvtype},
        .root = root,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iscatterv)

int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Iscatterv_c",
        .kind = FM_COLL_SCATTER,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype},
        .recv = {recvbuf, .count = recvcount, .type = recvtype},
        .root = root,
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iscatterv_c)

int PMPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iallgather",
                                   .kind = FM_COLL_ALLGATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype}};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iallgather)

int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iallgather_c",
                                   .kind = FM_COLL_ALLGATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iallgather_c)

int PMPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                     MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Iallgatherv",
        .kind = FM_COLL_ALLGATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iallgatherv)

int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Iallgatherv_c",
        .kind = FM_COLL_ALLGATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iallgatherv_c)

int PMPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ialltoall",
                                   .kind = FM_COLL_ALLTOALL,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype}};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ialltoall)

int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ialltoall_c",
                                   .kind = FM_COLL_ALLTOALL,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ialltoall_c)

int PMPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                    const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Ialltoallv",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype},
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ialltoallv)

int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Ialltoallv_c",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ialltoallv_c)

int PMPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Ialltoallw",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes},
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ialltoallw)

int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Ialltoallw_c",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ialltoallw_c)

int PMPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ireduce_scatter",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .counts = recvcounts, .type = datatype},
                                   .op = op,
                                   .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ireduce_scatter)

int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ireduce_scatter_c",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .counts = recvcounts, .type = datatype},
                                   .op = op,
                                   .is_large = true,
                                   .is_varying = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ireduce_scatter_c)

int PMPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ireduce_scatter_block",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = recvcount, .type = datatype},
                                   .op = op};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ireduce_scatter_block)

int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Ireduce_scatter_block_c",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = recvcount, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Ireduce_scatter_block_c)

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iscan",
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iscan)

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iscan_c",
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iscan_c)

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iexscan",
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iexscan)

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Iexscan_c",
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_start(&a, request);
}
FM_ALIAS(Iexscan_c)
