/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the ABI chapter (MPI-5.0 20), address arithmetic and the clock.
 *
 * A handle's integer is its value for predefined handles, and FIRST_INT plus the object's place in
 * the pool of its kind for all others: always the same for one handle, and found back without a
 * table. An erroneous handle or integer is reported to the error handler; 0 or the null handle is
 * returned then, as there is no error code.
 */
#include "core/api/api.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "core/object/info.h"

/* Integers below are for predefined handles (20.3.3). */
#define FIRST_INT 4096

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
    if (!abi_major || !abi_minor) {
        return fm_raise(NULL, "MPI_Abi_get_version", MPI_ERR_ARG, "%s is NULL: pass its address",
                        abi_major ? "abi_minor" : "abi_major");
    }
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}
FM_ALIAS(Abi_get_version)

static int set_size(struct fm_info *info, const char *key, size_t bytes)
{
    char text[16];

    snprintf(text, sizeof(text), "%zu", bytes);
    return fm_info_set(info, key, text);
}

static int make_abi_info(struct fm_info **out_info)
{
    struct fm_info *info = fm_info_create();
    int rc;

    if (!info) {
        return -FM_E_NOMEM;
    }
    rc = set_size(info, "mpi_aint_size", sizeof(MPI_Aint));
    rc = rc ? rc : set_size(info, "mpi_count_size", sizeof(MPI_Count));
    rc = rc ? rc : set_size(info, "mpi_offset_size", sizeof(MPI_Offset));
    if (rc) {
        fm_info_unref(info);
        return rc;
    }
    *out_info = info;
    return 0;
}

int PMPI_Abi_get_info(MPI_Info *info)
{
    struct fm_info *made;
    int rc;

    if (!info) {
        return fm_raise(NULL, "MPI_Abi_get_info", MPI_ERR_ARG, "info is NULL: pass its address");
    }
    FM_ENTER();
    rc = make_abi_info(&made);
    if (rc) {
        rc = fm_raise_status(NULL, "MPI_Abi_get_info", rc);
    } else {
        *info = fm_handle_of(made);
    }
    FM_LEAVE();
    return rc;
}
FM_ALIAS(Abi_get_info)

/* The integer of a handle of this kind; 0 when it is no handle (20.4.5). */
static int handle_to_int(enum fm_kind kind, const char *call, const char *argument,
                         const void *handle)
{
    const struct fm_pool *pool = &fm_root.pools[kind];
    uintptr_t value = (uintptr_t)handle;
    size_t at;

    if (value > 0 && value < FIRST_INT) {
        return (int)value;
    }
    at = fm_handle_get(handle, kind) ? (size_t)((const char *)handle - pool->base) / pool->stride
                                     : INT_MAX;
    if (at > INT_MAX - FIRST_INT) {
        fm_raise_handle(kind, call, handle, argument);
        return 0;
    }
    return FIRST_INT + (int)at;
}

/* The handle of an integer of this kind; `null` when it is none that handle_to_int() gave. */
static void *handle_from_int(enum fm_kind kind, const char *call, const char *argument, int value,
                             const void *null)
{
    const struct fm_pool *pool = &fm_root.pools[kind];
    const void *handle = NULL;

    if (value > 0 && value < FIRST_INT) {
        return (void *)(intptr_t)value;
    }
    if (value >= FIRST_INT && pool->base) {
        handle = pool->base + (size_t)(value - FIRST_INT) * pool->stride;
    }
    if (!handle || !fm_handle_get(handle, kind)) {
        fm_raise(NULL, call, MPI_ERR_ARG,
                 "%s is %d, which is the integer of no live object: pass what the matching toint "
                 "function returned, and not after the object was freed",
                 argument, value);
        return (void *)null;
    }
    return (void *)handle;
}

int PMPI_Comm_toint(MPI_Comm comm)
{
    return handle_to_int(FM_KIND_COMM, "MPI_Comm_toint", "comm", comm);
}
FM_ALIAS(Comm_toint)

MPI_Comm PMPI_Comm_fromint(int comm)
{
    return handle_from_int(FM_KIND_COMM, "MPI_Comm_fromint", "comm", comm, MPI_COMM_NULL);
}
FM_ALIAS(Comm_fromint)

int PMPI_Errhandler_toint(MPI_Errhandler errhandler)
{
    return handle_to_int(FM_KIND_ERRHANDLER, "MPI_Errhandler_toint", "errhandler", errhandler);
}
FM_ALIAS(Errhandler_toint)

MPI_Errhandler PMPI_Errhandler_fromint(int errhandler)
{
    return handle_from_int(FM_KIND_ERRHANDLER, "MPI_Errhandler_fromint", "errhandler", errhandler,
                           MPI_ERRHANDLER_NULL);
}
FM_ALIAS(Errhandler_fromint)

int PMPI_File_toint(MPI_File file)
{
    return handle_to_int(FM_KIND_FILE, "MPI_File_toint", "file", file);
}
FM_ALIAS(File_toint)

MPI_File PMPI_File_fromint(int file)
{
    return handle_from_int(FM_KIND_FILE, "MPI_File_fromint", "file", file, MPI_FILE_NULL);
}
FM_ALIAS(File_fromint)

int PMPI_Group_toint(MPI_Group group)
{
    return handle_to_int(FM_KIND_GROUP, "MPI_Group_toint", "group", group);
}
FM_ALIAS(Group_toint)

MPI_Group PMPI_Group_fromint(int group)
{
    return handle_from_int(FM_KIND_GROUP, "MPI_Group_fromint", "group", group, MPI_GROUP_NULL);
}
FM_ALIAS(Group_fromint)

int PMPI_Info_toint(MPI_Info info)
{
    return handle_to_int(FM_KIND_INFO, "MPI_Info_toint", "info", info);
}
FM_ALIAS(Info_toint)

MPI_Info PMPI_Info_fromint(int info)
{
    return handle_from_int(FM_KIND_INFO, "MPI_Info_fromint", "info", info, MPI_INFO_NULL);
}
FM_ALIAS(Info_fromint)

int PMPI_Message_toint(MPI_Message message)
{
    return handle_to_int(FM_KIND_MESSAGE, "MPI_Message_toint", "message", message);
}
FM_ALIAS(Message_toint)

MPI_Message PMPI_Message_fromint(int message)
{
    return handle_from_int(FM_KIND_MESSAGE, "MPI_Message_fromint", "message", message,
                           MPI_MESSAGE_NULL);
}
FM_ALIAS(Message_fromint)

int PMPI_Op_toint(MPI_Op op)
{
    return handle_to_int(FM_KIND_OP, "MPI_Op_toint", "op", op);
}
FM_ALIAS(Op_toint)

MPI_Op PMPI_Op_fromint(int op)
{
    return handle_from_int(FM_KIND_OP, "MPI_Op_fromint", "op", op, MPI_OP_NULL);
}
FM_ALIAS(Op_fromint)

int PMPI_Request_toint(MPI_Request request)
{
    return handle_to_int(FM_KIND_REQUEST, "MPI_Request_toint", "request", request);
}
FM_ALIAS(Request_toint)

MPI_Request PMPI_Request_fromint(int request)
{
    return handle_from_int(FM_KIND_REQUEST, "MPI_Request_fromint", "request", request,
                           MPI_REQUEST_NULL);
}
FM_ALIAS(Request_fromint)

int PMPI_Session_toint(MPI_Session session)
{
    return handle_to_int(FM_KIND_SESSION, "MPI_Session_toint", "session", session);
}
FM_ALIAS(Session_toint)

MPI_Session PMPI_Session_fromint(int session)
{
    return handle_from_int(FM_KIND_SESSION, "MPI_Session_fromint", "session", session,
                           MPI_SESSION_NULL);
}
FM_ALIAS(Session_fromint)

int PMPI_Type_toint(MPI_Datatype datatype)
{
    return handle_to_int(FM_KIND_DTYPE, "MPI_Type_toint", "datatype", datatype);
}
FM_ALIAS(Type_toint)

MPI_Datatype PMPI_Type_fromint(int datatype)
{
    return handle_from_int(FM_KIND_DTYPE, "MPI_Type_fromint", "datatype", datatype,
                           MPI_DATATYPE_NULL);
}
FM_ALIAS(Type_fromint)

int PMPI_Win_toint(MPI_Win win)
{
    return handle_to_int(FM_KIND_WIN, "MPI_Win_toint", "win", win);
}
FM_ALIAS(Win_toint)

MPI_Win PMPI_Win_fromint(int win)
{
    return handle_from_int(FM_KIND_WIN, "MPI_Win_fromint", "win", win, MPI_WIN_NULL);
}
FM_ALIAS(Win_fromint)

/* Addresses wrap like unsigned integers (5.1.5): a difference may be of MPI_BOTTOM. */
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}
FM_ALIAS(Aint_add)

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
FM_ALIAS(Aint_diff)

/* Seconds since some time in the past, never set back (9.6). Callable at any time. */
double PMPI_Wtime(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
FM_ALIAS(Wtime)

double PMPI_Wtick(void)
{
    struct timespec t;

    clock_getres(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
FM_ALIAS(Wtick)
