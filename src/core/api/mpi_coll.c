/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking collectives (MPI-5.0 6.3 - 6.11). */
#include "core/api/coll_args.h"

int PMPI_Barrier(MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Barrier", .kind = FM_COLL_BARRIER, .comm = comm};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Barrier)

int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Bcast",
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = {buffer, .count = count, .type = datatype},
                                   .root = root};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Bcast)

int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Bcast_c",
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = {buffer, .count = count, .type = datatype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Bcast_c)

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce",
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .root = root};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Reduce)

int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_c",
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Reduce_c)

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Allreduce",
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Allreduce)

int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Allreduce_c",
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Allreduce_c)

int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Gather",
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Gather)

int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Gather_c",
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Gather_c)

int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Gatherv",
        .kind = FM_COLL_GATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .root = root,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Gatherv)

int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Gatherv_c",
        .kind = FM_COLL_GATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .root = root,
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Gatherv_c)

int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Scatter",
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Scatter)

int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Scatter_c",
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Scatter_c)

int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Scatterv",
        .kind = FM_COLL_SCATTER,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype},
        .recv = {recvbuf, .count = recvcount, .type = recvtype},
        .root = root,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Scatterv)

int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Scatterv_c",
        .kind = FM_COLL_SCATTER,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype},
        .recv = {recvbuf, .count = recvcount, .type = recvtype},
        .root = root,
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Scatterv_c)

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Allgather",
                                   .kind = FM_COLL_ALLGATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype}};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Allgather)

int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Allgather_c",
                                   .kind = FM_COLL_ALLGATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Allgather_c)

int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Allgatherv",
        .kind = FM_COLL_ALLGATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Allgatherv)

int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Allgatherv_c",
        .kind = FM_COLL_ALLGATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Allgatherv_c)

int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Alltoall",
                                   .kind = FM_COLL_ALLTOALL,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype}};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Alltoall)

int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Alltoall_c",
                                   .kind = FM_COLL_ALLTOALL,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Alltoall_c)

int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallv",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype},
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Alltoallv)

int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallv_c",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Alltoallv_c)

int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                   const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallw",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes},
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Alltoallw)

int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallw_c",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Alltoallw_c)

int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .counts = recvcounts, .type = datatype},
                                   .op = op,
                                   .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Reduce_scatter)

int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_c",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .counts = recvcounts, .type = datatype},
                                   .op = op,
                                   .is_large = true,
                                   .is_varying = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Reduce_scatter_c)

int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_block",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = recvcount, .type = datatype},
                                   .op = op};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Reduce_scatter_block)

int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_block_c",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = recvcount, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Reduce_scatter_block_c)

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Scan",
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Scan)

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Scan_c",
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Scan_c)

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Exscan",
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Exscan)

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.call = "MPI_Exscan_c",
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_run(&a);
}
FM_ALIAS(Exscan_c)
