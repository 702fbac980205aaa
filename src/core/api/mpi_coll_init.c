/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent collectives (MPI-5.0 6.13). */
#include "core/api/coll_args.h"

int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Barrier_init", .kind = FM_COLL_BARRIER, .comm = comm};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Barrier_init)

int PMPI_Bcast_init(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Bcast_init",
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = {buffer, .count = count, .type = datatype},
                                   .root = root};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Bcast_init)

int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Bcast_init_c",
                                   .kind = FM_COLL_BCAST,
                                   .comm = comm,
                                   .recv = {buffer, .count = count, .type = datatype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Bcast_init_c)

int PMPI_Reduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_init",
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .root = root};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Reduce_init)

int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_init_c",
                                   .kind = FM_COLL_REDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Reduce_init_c)

int PMPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Allreduce_init",
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Allreduce_init)

int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Allreduce_init_c",
                                   .kind = FM_COLL_ALLREDUCE,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Allreduce_init_c)

int PMPI_Gather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                     MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Gather_init",
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Gather_init)

int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Gather_init_c",
                                   .kind = FM_COLL_GATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Gather_init_c)

int PMPI_Gatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                      MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Gatherv_init",
        .kind = FM_COLL_GATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .root = root,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Gatherv_init)

int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Gatherv_init_c",
        .kind = FM_COLL_GATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .root = root,
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Gatherv_init_c)

int PMPI_Scatter_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                      int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                      MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Scatter_init",
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Scatter_init)

int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Scatter_init_c",
                                   .kind = FM_COLL_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .root = root,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Scatter_init_c)

int PMPI_Scatterv_init(const void *sendbuf, const int sendcounts[], const int displs[],
                       MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                       int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Scatterv_init",
        .kind = FM_COLL_SCATTER,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype},
        .recv = {recvbuf, .count = recvcount, .type = recvtype},
        .root = root,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Scatterv_init)

int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Scatterv_init_c",
        .kind = FM_COLL_SCATTER,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = displs, .type = sendtype},
        .recv = {recvbuf, .count = recvcount, .type = recvtype},
        .root = root,
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Scatterv_init_c)

int PMPI_Allgather_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Allgather_init",
                                   .kind = FM_COLL_ALLGATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype}};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Allgather_init)

int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Allgather_init_c",
                                   .kind = FM_COLL_ALLGATHER,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Allgather_init_c)

int PMPI_Allgatherv_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Allgatherv_init",
        .kind = FM_COLL_ALLGATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Allgatherv_init)

int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Allgatherv_init_c",
        .kind = FM_COLL_ALLGATHER,
        .comm = comm,
        .send = {sendbuf, .count = sendcount, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = displs, .type = recvtype},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Allgatherv_init_c)

int PMPI_Alltoall_init(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Alltoall_init",
                                   .kind = FM_COLL_ALLTOALL,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype}};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Alltoall_init)

int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Alltoall_init_c",
                                   .kind = FM_COLL_ALLTOALL,
                                   .comm = comm,
                                   .send = {sendbuf, .count = sendcount, .type = sendtype},
                                   .recv = {recvbuf, .count = recvcount, .type = recvtype},
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Alltoall_init_c)

int PMPI_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                        const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallv_init",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype},
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Alltoallv_init)

int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallv_init_c",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .type = sendtype},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .type = recvtype},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Alltoallv_init_c)

int PMPI_Alltoallw_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                        const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                        const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallw_init",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes},
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Alltoallw_init)

int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    const struct fm_coll_args a = {
        .call = "MPI_Alltoallw_init_c",
        .kind = FM_COLL_ALLTOALL,
        .comm = comm,
        .send = {sendbuf, .counts = sendcounts, .displs = sdispls, .types = sendtypes},
        .recv = {recvbuf, .counts = recvcounts, .displs = rdispls, .types = recvtypes},
        .is_large = true,
        .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Alltoallw_init_c)

int PMPI_Reduce_scatter_init(const void *sendbuf, void *recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_init",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .counts = recvcounts, .type = datatype},
                                   .op = op,
                                   .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Reduce_scatter_init)

int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_init_c",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .counts = recvcounts, .type = datatype},
                                   .op = op,
                                   .is_large = true,
                                   .is_varying = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Reduce_scatter_init_c)

int PMPI_Reduce_scatter_block_init(const void *sendbuf, void *recvbuf, int recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_block_init",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = recvcount, .type = datatype},
                                   .op = op};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Reduce_scatter_block_init)

int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Reduce_scatter_block_init_c",
                                   .kind = FM_COLL_REDUCE_SCATTER,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = recvcount, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Reduce_scatter_block_init_c)

int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Scan_init",
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Scan_init)

int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Scan_init_c",
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Scan_init_c)

int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Exscan_init",
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Exscan_init)

int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct fm_coll_args a = {.call = "MPI_Exscan_init_c",
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send = {sendbuf},
                                   .recv = {recvbuf, .count = count, .type = datatype},
                                   .op = op,
                                   .is_large = true};

    return fm_coll_args_persist(&a, info, request);
}
FM_ALIAS(Exscan_init_c)
