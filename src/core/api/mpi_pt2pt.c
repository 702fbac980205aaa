/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives (MPI-5.0 3.2, 3.4, 3.7, 3.10). */
#include "core/api/pt2pt_args.h"
#include "core/p2p/bsend.h"

/* The slow path of argument checks. MPI_SUCCESS, or the code of the error that was raised. */
static __attribute__((noinline)) int check(const char *call, MPI_Datatype type, MPI_Comm comm,
                                           bool is_recv, struct fm_msg *m)
{
    const struct fm_pt2pt_args a = {.call = call, .type = type, .comm = comm, .is_recv = is_recv};

    return fm_pt2pt_check(&a, m);
}

/* The remaining fields are set by fm_pt2pt_is_plain(). */
static FM_INLINE void set_message(struct fm_msg *m, void *buf, MPI_Count count, int peer, int tag)
{
    m->buf = buf;
    m->count = count;
    m->peer = peer;
    m->tag = tag;
}

static FM_INLINE int do_send(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                             int dest, int tag, MPI_Comm comm, enum fm_send_mode mode)
{
    struct fm_msg m;
    int rc;

    fm_api_enter(call);
    set_message(&m, (void *)buf, count, dest, tag);
    rc = FM_LIKELY(fm_pt2pt_is_plain(type, comm, &m)) ? MPI_SUCCESS
                                                      : check(call, type, comm, false, &m);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = mode == FM_SEND_BUFFERED ? fm_bsend(&m) : fm_send(&m, mode);
        rc = FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(m.comm, call, rc);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_STANDARD);
}
FM_ALIAS(Send)

int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_STANDARD);
}
FM_ALIAS(Send_c)

int PMPI_Bsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_BUFFERED);
}
FM_ALIAS(Bsend)

int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_BUFFERED);
}
FM_ALIAS(Bsend_c)

int PMPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_SYNC);
}
FM_ALIAS(Ssend)

int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_SYNC);
}
FM_ALIAS(Ssend_c)

int PMPI_Rsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_READY);
}
FM_ALIAS(Rsend)

int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    return do_send(FM_CALL, buf, count, datatype, dest, tag, comm, FM_SEND_READY);
}
FM_ALIAS(Rsend_c)

static FM_INLINE int do_isend(const char *call, const void *buf, MPI_Count count, MPI_Datatype type,
                              int dest, int tag, MPI_Comm comm, MPI_Request *request,
                              enum fm_send_mode mode)
{
    struct fm_msg m;
    struct fm_request *r;
    int rc;

    fm_api_enter(call);
    set_message(&m, (void *)buf, count, dest, tag);
    rc = FM_LIKELY(fm_pt2pt_is_plain(type, comm, &m)) ? MPI_SUCCESS
                                                      : check(call, type, comm, false, &m);
    rc = fm_pt2pt_out_on(m.comm, rc, call, "request", request);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = mode == FM_SEND_BUFFERED ? fm_ibsend(&m, &r) : fm_isend(&m, mode, &r);
        rc = FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(m.comm, call, rc);
    }
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_STANDARD);
}
FM_ALIAS(Isend)

int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_STANDARD);
}
FM_ALIAS(Isend_c)

int PMPI_Ibsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_BUFFERED);
}
FM_ALIAS(Ibsend)

int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_BUFFERED);
}
FM_ALIAS(Ibsend_c)

int PMPI_Issend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_SYNC);
}
FM_ALIAS(Issend)

int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_SYNC);
}
FM_ALIAS(Issend_c)

int PMPI_Irsend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_READY);
}
FM_ALIAS(Irsend)

int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return do_isend(FM_CALL, buf, count, datatype, dest, tag, comm, request, FM_SEND_READY);
}
FM_ALIAS(Irsend_c)

static FM_INLINE int do_recv(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                             int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct fm_msg m;
    struct fm_status st;
    int rc;

    fm_api_enter(call);
    set_message(&m, buf, count, source, tag);
    rc = FM_LIKELY(fm_pt2pt_is_plain(type, comm, &m)) ? MPI_SUCCESS
                                                      : check(call, type, comm, true, &m);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        if (FM_LIKELY(status == MPI_STATUS_IGNORE)) {
            rc = fm_recv(&m, NULL);
        } else {
            st = FM_STATUS_EMPTY;
            rc = fm_recv(&m, &st);
            fm_status_set(status, &st);
        }
        rc = FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(m.comm, call, rc);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    return do_recv(FM_CALL, buf, count, datatype, source, tag, comm, status);
}
FM_ALIAS(Recv)

int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    return do_recv(FM_CALL, buf, count, datatype, source, tag, comm, status);
}
FM_ALIAS(Recv_c)

static FM_INLINE int do_irecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                              int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    struct fm_msg m;
    struct fm_request *r;
    int rc;

    fm_api_enter(call);
    set_message(&m, buf, count, source, tag);
    rc = FM_LIKELY(fm_pt2pt_is_plain(type, comm, &m)) ? MPI_SUCCESS
                                                      : check(call, type, comm, true, &m);
    rc = fm_pt2pt_out_on(m.comm, rc, call, "request", request);
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        rc = fm_irecv(&m, &r);
        rc = FM_LIKELY(rc == 0) ? MPI_SUCCESS : fm_raise_status(m.comm, call, rc);
    }
    if (FM_LIKELY(rc == MPI_SUCCESS)) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return do_irecv(FM_CALL, buf, count, datatype, source, tag, comm, request);
}
FM_ALIAS(Irecv)

int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    return do_irecv(FM_CALL, buf, count, datatype, source, tag, comm, request);
}
FM_ALIAS(Irecv_c)
