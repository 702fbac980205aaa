/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for buffered sends: of the process, a communicator, a session (MPI-5.0 3.6). */
#include <limits.h>

#include "core/api/pt2pt_args.h"
#include "core/p2p/bsend.h"
#include "core/p2p/channel.h"

/* Whose buffer a call is about. */
struct whose {
    enum fm_kind kind;  /* FM_KIND_NONE: the process's */
    const void *handle; /* of the communicator or session */
};

static const struct whose process = {FM_KIND_NONE, NULL};

/* The owner's object, NULL for the process, and the channel. */
static int find_owner(const char *call, const struct whose *w, void **out_owner,
                      struct fm_channel **out_ch)
{
    void *owner = NULL;

    if (w->kind != FM_KIND_NONE) {
        owner = fm_handle_get(w->handle, w->kind);
        if (!owner) {
            return fm_raise_handle(w->kind, call, w->handle,
                                   w->kind == FM_KIND_COMM ? "comm" : "session");
        }
    }
    *out_owner = owner;
    *out_ch = fm_channel_main();
    if (!*out_ch) {
        return fm_raise(owner, call, MPI_ERR_OTHER, "it was called before MPI_Init: call it first");
    }
    return MPI_SUCCESS;
}

static int raise_buffer(void *owner, const char *call, int rc)
{
    return rc != 0 ? fm_raise_status(owner, call, rc) : MPI_SUCCESS;
}

static int attach(const char *call, struct whose w, void *buffer, MPI_Count size)
{
    struct fm_channel *ch;
    void *owner = NULL;
    int rc;

    fm_api_enter(call);
    rc = find_owner(call, &w, &owner, &ch);
    if (rc != MPI_SUCCESS) {
        goto out;
    }
    if (size < 0 && buffer != MPI_BUFFER_AUTOMATIC) { /* whose size is irrelevant (3.6) */
        rc = fm_raise(owner, call, MPI_ERR_ARG, "size is %lld, it must not be negative",
                      (long long)size);
    } else if (!buffer && size > 0) {
        rc = fm_raise(owner, call, MPI_ERR_BUFFER, "buffer is NULL, but size is %lld",
                      (long long)size);
    } else {
        rc = raise_buffer(owner, call, fm_bsend_attach(ch, owner, buffer, size));
    }
out:
    fm_api_leave();
    return rc;
}

/* *buffer_addr gets the address. */
static int detach(const char *call, struct whose w, void *buffer_addr, MPI_Count *out_size)
{
    struct fm_channel *ch;
    void *owner = NULL, *addr;
    MPI_Count len;
    int rc;

    fm_api_enter(call);
    rc = find_owner(call, &w, &owner, &ch);
    rc = fm_pt2pt_out_on(owner, rc, call, "buffer_addr", buffer_addr);
    rc = fm_pt2pt_out_on(owner, rc, call, "size", out_size);
    if (rc == MPI_SUCCESS) {
        rc = raise_buffer(owner, call, fm_bsend_detach(ch, owner, &addr, &len));
    }
    if (rc == MPI_SUCCESS) {
        *(void **)buffer_addr = addr;
        *out_size = len;
    }
    fm_api_leave();
    return rc;
}

/* A size that is no int is MPI_UNDEFINED (MPI-5.0 3.6). */
static int detach_int(const char *call, struct whose w, void *buffer_addr, int *size)
{
    MPI_Count len;
    int rc = detach(call, w, buffer_addr, size ? &len : NULL);

    if (rc == MPI_SUCCESS) {
        *size = len <= INT_MAX ? (int)len : MPI_UNDEFINED;
    }
    return rc;
}

static int flush(const char *call, struct whose w)
{
    struct fm_channel *ch;
    void *owner = NULL;
    int rc;

    fm_api_enter(call);
    rc = find_owner(call, &w, &owner, &ch);
    if (rc == MPI_SUCCESS) {
        rc = raise_buffer(owner, call, fm_bsend_flush(ch, owner));
    }
    fm_api_leave();
    return rc;
}

static int iflush(const char *call, struct whose w, MPI_Request *request)
{
    struct fm_request *r;
    struct fm_channel *ch;
    void *owner = NULL;
    int rc;

    fm_api_enter(call);
    rc = find_owner(call, &w, &owner, &ch);
    rc = fm_pt2pt_out_on(owner, rc, call, "request", request);
    if (rc == MPI_SUCCESS) {
        rc = raise_buffer(owner, call, fm_bsend_iflush(ch, owner, &r));
    }
    if (rc == MPI_SUCCESS) {
        *request = fm_handle_of(r);
    }
    fm_api_leave();
    return rc;
}

int PMPI_Buffer_attach(void *buffer, int size)
{
    return attach(FM_CALL, process, buffer, size);
}
FM_ALIAS(Buffer_attach)

int PMPI_Buffer_attach_c(void *buffer, MPI_Count size)
{
    return attach(FM_CALL, process, buffer, size);
}
FM_ALIAS(Buffer_attach_c)

int PMPI_Buffer_detach(void *buffer_addr, int *size)
{
    return detach_int(FM_CALL, process, buffer_addr, size);
}
FM_ALIAS(Buffer_detach)

int PMPI_Buffer_detach_c(void *buffer_addr, MPI_Count *size)
{
    return detach(FM_CALL, process, buffer_addr, size);
}
FM_ALIAS(Buffer_detach_c)

int PMPI_Buffer_flush(void)
{
    return flush(FM_CALL, process);
}
FM_ALIAS(Buffer_flush)

int PMPI_Buffer_iflush(MPI_Request *request)
{
    return iflush(FM_CALL, process, request);
}
FM_ALIAS(Buffer_iflush)

int PMPI_Comm_attach_buffer(MPI_Comm comm, void *buffer, int size)
{
    return attach(FM_CALL, (struct whose){FM_KIND_COMM, comm}, buffer, size);
}
FM_ALIAS(Comm_attach_buffer)

int PMPI_Comm_attach_buffer_c(MPI_Comm comm, void *buffer, MPI_Count size)
{
    return attach(FM_CALL, (struct whose){FM_KIND_COMM, comm}, buffer, size);
}
FM_ALIAS(Comm_attach_buffer_c)

int PMPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size)
{
    return detach_int(FM_CALL, (struct whose){FM_KIND_COMM, comm}, buffer_addr, size);
}
FM_ALIAS(Comm_detach_buffer)

int PMPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size)
{
    return detach(FM_CALL, (struct whose){FM_KIND_COMM, comm}, buffer_addr, size);
}
FM_ALIAS(Comm_detach_buffer_c)

int PMPI_Comm_flush_buffer(MPI_Comm comm)
{
    return flush(FM_CALL, (struct whose){FM_KIND_COMM, comm});
}
FM_ALIAS(Comm_flush_buffer)

int PMPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
    return iflush(FM_CALL, (struct whose){FM_KIND_COMM, comm}, request);
}
FM_ALIAS(Comm_iflush_buffer)

int PMPI_Session_attach_buffer(MPI_Session session, void *buffer, int size)
{
    return attach(FM_CALL, (struct whose){FM_KIND_SESSION, session}, buffer, size);
}
FM_ALIAS(Session_attach_buffer)

int PMPI_Session_attach_buffer_c(MPI_Session session, void *buffer, MPI_Count size)
{
    return attach(FM_CALL, (struct whose){FM_KIND_SESSION, session}, buffer, size);
}
FM_ALIAS(Session_attach_buffer_c)

int PMPI_Session_detach_buffer(MPI_Session session, void *buffer_addr, int *size)
{
    return detach_int(FM_CALL, (struct whose){FM_KIND_SESSION, session}, buffer_addr, size);
}
FM_ALIAS(Session_detach_buffer)

int PMPI_Session_detach_buffer_c(MPI_Session session, void *buffer_addr, MPI_Count *size)
{
    return detach(FM_CALL, (struct whose){FM_KIND_SESSION, session}, buffer_addr, size);
}
FM_ALIAS(Session_detach_buffer_c)

int PMPI_Session_flush_buffer(MPI_Session session)
{
    return flush(FM_CALL, (struct whose){FM_KIND_SESSION, session});
}
FM_ALIAS(Session_flush_buffer)

int PMPI_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
    return iflush(FM_CALL, (struct whose){FM_KIND_SESSION, session}, request);
}
FM_ALIAS(Session_iflush_buffer)
