/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent sends and receives (MPI-5.0 3.9). */
#include "core/api/pt2pt_args.h"
#include "core/p2p/bsend.h"

static int do_init(const char *call, const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                   int tag, MPI_Comm comm, MPI_Request *request, enum fm_send_mode mode)
{
    const struct fm_pt2pt_args a = {.call = call, .type = type, .comm = comm};
    struct fm_msg m = {.buf = (void *)buf, .count = count, .peer = dest, .tag = tag};
    struct fm_request *r;
    int rc;

    fm_api_enter(call);
    rc = fm_pt2pt_check(&a, &m);
    rc = fm_pt2pt_out_on(m.comm, rc, call, "request", request);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = mode == FM_SEND_BUFFERED ? fm_bsend_init(&m, &r) : fm_send_init(&m, mode, &r);
        rc = FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(m.comm, call, rc);
    }
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                   MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_STANDARD);
}
FM_ALIAS(Send_init)

int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_STANDARD);
}
FM_ALIAS(Send_init_c)

int PMPI_Bsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_BUFFERED);
}
FM_ALIAS(Bsend_init)

int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_BUFFERED);
}
FM_ALIAS(Bsend_init_c)

int PMPI_Ssend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_SYNC);
}
FM_ALIAS(Ssend_init)

int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_SYNC);
}
FM_ALIAS(Ssend_init_c)

int PMPI_Rsend_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_READY);
}
FM_ALIAS(Rsend_init)

int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return do_init(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_READY);
}
FM_ALIAS(Rsend_init_c)

static int recv_init(const char *call, void *buf, MPI_Count count, MPI_Datatype type, int source,
                     int tag, MPI_Comm comm, MPI_Request *request)
{
    const struct fm_pt2pt_args a = {.call = call, .type = type, .comm = comm, .is_recv = true};
    struct fm_msg m = {.buf = buf, .count = count, .peer = source, .tag = tag};
    struct fm_request *r;
    int rc;

    fm_api_enter(call);
    rc = fm_pt2pt_check(&a, &m);
    rc = fm_pt2pt_out_on(m.comm, rc, call, "request", request);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = fm_recv_init(&m, &r);
        rc = FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(m.comm, call, rc);
    }
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                   MPI_Request *request)
{
    return recv_init(FM_CALL, buf, count, datatype, source, tag, comm, request);
}
FM_ALIAS(Recv_init)

int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return recv_init(FM_CALL, buf, count, datatype, source, tag, comm, request);
}
FM_ALIAS(Recv_init_c)
