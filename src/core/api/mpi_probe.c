/* SPDX-License-Identifier: BSD-3-Clause */
/* Probing and matched receives (MPI-5.0 3.8). */
#include "core/api/dtype_args.h"
#include "core/api/pt2pt_args.h"
#include "core/object/comm.h"

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct fm_status st;
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_check_peer(FM_CALL, comm, source, tag, &c);
    if (rc == MPI_SUCCESS) {
        rc = fm_probe(c, source, tag, &st);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(c, FM_CALL, rc);
    }
    if (rc == MPI_SUCCESS) {
        fm_status_set(status, &st);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Probe)

int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct fm_status st;
    struct fm_comm *c;
    bool has_found = false;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_check_peer(FM_CALL, comm, source, tag, &c);
    rc = fm_pt2pt_out_on(c, rc, FM_CALL, "flag", flag);
    if (rc == MPI_SUCCESS) {
        rc = fm_iprobe(c, source, tag, &has_found, &st);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(c, FM_CALL, rc);
    }
    if (rc == MPI_SUCCESS) {
        *flag = has_found;
        if (has_found) {
            fm_status_set(status, &st);
        }
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Iprobe)

int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct fm_message *found;
    struct fm_status st;
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_check_peer(FM_CALL, comm, source, tag, &c);
    rc = fm_pt2pt_out_on(c, rc, FM_CALL, "message", message);
    if (rc == MPI_SUCCESS) {
        rc = fm_mprobe(c, source, tag, &found, &st);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(c, FM_CALL, rc);
    }
    if (rc == MPI_SUCCESS) {
        *message = fm_handle_of(found);
        fm_status_set(status, &st);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Mprobe)

int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    struct fm_message *found = NULL;
    struct fm_status st;
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_pt2pt_check_peer(FM_CALL, comm, source, tag, &c);
    rc = fm_pt2pt_out_on(c, rc, FM_CALL, "flag", flag);
    rc = fm_pt2pt_out_on(c, rc, FM_CALL, "message", message);
    if (rc == MPI_SUCCESS) {
        rc = fm_improbe(c, source, tag, &found, &st);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(c, FM_CALL, rc);
    }
    if (rc == MPI_SUCCESS) {
        *flag = found != NULL;
        *message = found ? fm_handle_of(found) : MPI_MESSAGE_NULL;
        if (found) {
            fm_status_set(status, &st);
        }
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Improbe)

/* The message, and where it shall go. */
static int check_message(const char *call, MPI_Datatype type, const MPI_Message *handle,
                         struct fm_msg *m, struct fm_message **out_message)
{
    int rc = fm_pt2pt_out(MPI_SUCCESS, call, "message", handle);
    struct fm_message *message;

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    message = fm_message_get(*handle);
    if (!message) {
        return fm_raise_handle(FM_KIND_MESSAGE, call, *handle, "message");
    }
    m->dtype = dtype_find(type);
    if (!m->dtype) {
        return fm_raise_handle_on(message->comm, FM_KIND_DTYPE, call, type, "datatype");
    }
    if (m->count < 0) {
        return fm_raise(message->comm, call, MPI_ERR_COUNT,
                        "count is %lld, it must not be negative", (long long)m->count);
    }
    if (!m->dtype->is_committed) {
        return fm_raise(message->comm, call, MPI_ERR_TYPE,
                        "datatype is not committed: call MPI_Type_commit first");
    }
    if (!m->buf && m->count > 0 && m->dtype->is_predefined && m->dtype->size > 0) {
        return fm_raise(message->comm, call, MPI_ERR_BUFFER, "buf is NULL, but count is %lld",
                        (long long)m->count);
    }
    *out_message = message;
    return MPI_SUCCESS;
}

static int do_mrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                    MPI_Message *handle, MPI_Status *status)
{
    struct fm_msg m = {.buf = buf, .count = count};
    struct fm_status st = FM_STATUS_EMPTY;
    struct fm_message *message = NULL;
    struct fm_comm *comm;
    int rc;

    fm_api_enter(call);
    rc = check_message(call, type, handle, &m, &message);
    if (rc == MPI_SUCCESS) {
        comm = message->comm ? fm_object_ref(message->comm) : NULL;
        *handle = MPI_MESSAGE_NULL;
        rc = fm_mrecv(message, &m, &st);
        fm_status_set(status, &st);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(comm, call, rc);
        fm_comm_unref(comm);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
               MPI_Status *status)
{
    return do_mrecv(FM_CALL, buf, count, datatype, message, status);
}
FM_ALIAS(Mrecv)

int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    return do_mrecv(FM_CALL, buf, count, datatype, message, status);
}
FM_ALIAS(Mrecv_c)

static int do_imrecv(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                     MPI_Message *handle, MPI_Request *request)
{
    struct fm_msg m = {.buf = buf, .count = count};
    struct fm_message *message = NULL;
    struct fm_request *r;
    struct fm_comm *comm;
    int rc;

    fm_api_enter(call);
    rc = check_message(call, type, handle, &m, &message);
    rc = fm_pt2pt_out_on(rc == MPI_SUCCESS ? message->comm : NULL, rc, call, "request", request);
    if (rc == MPI_SUCCESS) {
        comm = message->comm ? fm_object_ref(message->comm) : NULL;
        *handle = MPI_MESSAGE_NULL;
        rc = fm_imrecv(message, &m, &r);
        rc = rc == 0 ? MPI_SUCCESS : fm_raise_status(comm, call, rc);
        fm_comm_unref(comm);
    }
    if (rc == MPI_SUCCESS) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
                MPI_Request *request)
{
    return do_imrecv(FM_CALL, buf, count, datatype, message, request);
}
FM_ALIAS(Imrecv)

int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    return do_imrecv(FM_CALL, buf, count, datatype, message, request);
}
FM_ALIAS(Imrecv_c)
