/* SPDX-License-Identifier: BSD-3-Clause */
/* Send and receive in one call (MPI-5.0 3.10). */
#include "core/api/pt2pt_args.h"
#include "core/p2p/sendrecv.h"

/* One side as the user gave it. */
struct side {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    int peer;
    int tag;
};

static int check_side(const char *call, const struct side *s, MPI_Comm comm, bool is_recv,
                      struct fm_msg *m)
{
    const struct fm_pt2pt_args send = {
        call, s->type, comm, false, {"sendbuf", "sendcount", "sendtype", "dest", "sendtag"}};
    const struct fm_pt2pt_args recv = {
        call, s->type, comm, true, {"recvbuf", "recvcount", "recvtype", "source", "recvtag"}};

    *m = (struct fm_msg){.buf = (void *)s->buf, .count = s->count, .peer = s->peer, .tag = s->tag};
    return fm_pt2pt_check(is_recv ? &recv : &send, m);
}

/* Both sides, checked; is_replace: they name the same buffer. */
static int check_both(const char *call, const struct side *send, const struct side *recv,
                      MPI_Comm comm, struct fm_msg out[2])
{
    int rc = check_side(call, send, comm, false, &out[0]);

    return rc == MPI_SUCCESS ? check_side(call, recv, comm, true, &out[1]) : rc;
}

static int do_sendrecv(const char *call, const struct side *send, const struct side *recv,
                       MPI_Comm comm, bool is_replace, MPI_Status *status)
{
    struct fm_status st = FM_STATUS_EMPTY;
    struct fm_msg m[2];
    int rc;

    fm_api_enter(call);
    rc = check_both(call, send, recv, comm, m);
    if (rc == MPI_SUCCESS) {
        rc = is_replace ? fm_sendrecv_replace(&m[0], &m[1], &st) : fm_sendrecv(&m[0], &m[1], &st);
        fm_status_set(status, &st);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(m[0].comm, call, rc);
    }
    fm_api_leave();
    return rc;
}

static int do_isendrecv(const char *call, const struct side *send, const struct side *recv,
                        MPI_Comm comm, bool is_replace, MPI_Request *request)
{
    struct fm_request *r;
    struct fm_msg m[2];
    int rc;

    fm_api_enter(call);
    rc = check_both(call, send, recv, comm, m);
    rc = fm_pt2pt_out_on(m[0].comm, rc, call, "request", request);
    if (rc == MPI_SUCCESS) {
        rc = is_replace ? fm_isendrecv_replace(&m[0], &m[1], &r) : fm_isendrecv(&m[0], &m[1], &r);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(m[0].comm, call, rc);
    }
    if (rc == MPI_SUCCESS) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status *status)
{
    const struct side send = {sendbuf, sendcount, sendtype, dest, sendtag};
    const struct side recv = {recvbuf, recvcount, recvtype, source, recvtag};

    return do_sendrecv(FM_CALL, &send, &recv, comm, false, status);
}
FM_ALIAS(Sendrecv)

int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    const struct side send = {sendbuf, sendcount, sendtype, dest, sendtag};
    const struct side recv = {recvbuf, recvcount, recvtype, source, recvtag};

    return do_sendrecv(FM_CALL, &send, &recv, comm, false, status);
}
FM_ALIAS(Sendrecv_c)

int PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                          int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    const struct side send = {buf, count, datatype, dest, sendtag};
    const struct side recv = {buf, count, datatype, source, recvtag};

    return do_sendrecv(FM_CALL, &send, &recv, comm, true, status);
}
FM_ALIAS(Sendrecv_replace)

int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    const struct side send = {buf, count, datatype, dest, sendtag};
    const struct side recv = {buf, count, datatype, source, recvtag};

    return do_sendrecv(FM_CALL, &send, &recv, comm, true, status);
}
FM_ALIAS(Sendrecv_replace_c)

int PMPI_Isendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Request *request)
{
    const struct side send = {sendbuf, sendcount, sendtype, dest, sendtag};
    const struct side recv = {recvbuf, recvcount, recvtype, source, recvtag};

    return do_isendrecv(FM_CALL, &send, &recv, comm, false, request);
}
FM_ALIAS(Isendrecv)

int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    const struct side send = {sendbuf, sendcount, sendtype, dest, sendtag};
    const struct side recv = {recvbuf, recvcount, recvtype, source, recvtag};

    return do_isendrecv(FM_CALL, &send, &recv, comm, false, request);
}
FM_ALIAS(Isendrecv_c)

int PMPI_Isendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
                           int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    const struct side send = {buf, count, datatype, dest, sendtag};
    const struct side recv = {buf, count, datatype, source, recvtag};

    return do_isendrecv(FM_CALL, &send, &recv, comm, true, request);
}
FM_ALIAS(Isendrecv_replace)

int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request *request)
{
    const struct side send = {buf, count, datatype, dest, sendtag};
    const struct side recv = {buf, count, datatype, source, recvtag};

    return do_isendrecv(FM_CALL, &send, &recv, comm, true, request);
}
FM_ALIAS(Isendrecv_replace_c)
