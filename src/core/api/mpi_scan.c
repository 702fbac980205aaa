/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans, in all forms (MPI-5.0 6.11 - 6.13). */
#include "core/api/coll_args.h"

static int scan(struct fm_coll_form form, const void *sendbuf, struct fm_side_args recv, MPI_Op op,
                MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_SCAN,
                                   .comm = comm,
                                   .send.buf = sendbuf,
                                   .recv = recv,
                                   .op = op};

    return fm_coll_args_call(&a);
}

int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    return scan(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Scan)

int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    return scan(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Scan_c)

int PMPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request *request)
{
    return scan(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Iscan)

int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return scan(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Iscan_c)

int PMPI_Scan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return scan(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                comm);
}
FM_ALIAS(Scan_init)

int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return scan(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                comm);
}
FM_ALIAS(Scan_init_c)

static int exscan(struct fm_coll_form form, const void *sendbuf, struct fm_side_args recv,
                  MPI_Op op, MPI_Comm comm)
{
    const struct fm_coll_args a = {.form = form,
                                   .kind = FM_COLL_EXSCAN,
                                   .comm = comm,
                                   .send.buf = sendbuf,
                                   .recv = recv,
                                   .op = op};

    return fm_coll_args_call(&a);
}

int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    return exscan(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Exscan)

int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    return exscan(FM_FORM_BLOCKING, sendbuf, FM_SIDE(recvbuf, count, datatype), op, comm);
}
FM_ALIAS(Exscan_c)

int PMPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request *request)
{
    return exscan(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  comm);
}
FM_ALIAS(Iexscan)

int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return exscan(FM_FORM_NONBLOCKING(request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  comm);
}
FM_ALIAS(Iexscan_c)

int PMPI_Exscan_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return exscan(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  comm);
}
FM_ALIAS(Exscan_init)

int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return exscan(FM_FORM_PERSISTENT(info, request), sendbuf, FM_SIDE(recvbuf, count, datatype), op,
                  comm);
}
FM_ALIAS(Exscan_init_c)
