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
#include <string.h>
#include <time.h>

#include "core/dtype/dtype.h"
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
    fm_api_enter(FM_CALL);
    rc = make_abi_info(&made);
    if (rc) {
        rc = fm_raise_status(NULL, "MPI_Abi_get_info", rc);
    } else {
        *info = fm_handle_of(made);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Abi_get_info)

/*
 * What the library knows of Fortran (20.4.1): the sizes of its datatypes, which are those of the
 * usual compilers, and which of the optional ones it has. They are fixed, so
 * MPI_Abi_set_fortran_info is refused.
 */
static const struct fortran_row {
    const char *key;
    MPI_Datatype type;
    bool is_size; /* the key asks for the size, not whether there is such a type */
} fortran_rows[] = {
    {"mpi_logical_size", MPI_LOGICAL, true},
    {"mpi_integer_size", MPI_INTEGER, true},
    {"mpi_real_size", MPI_REAL, true},
    {"mpi_double_precision_size", MPI_DOUBLE_PRECISION, true},
    {"mpi_logical1_supported", MPI_LOGICAL1, false},
    {"mpi_logical2_supported", MPI_LOGICAL2, false},
    {"mpi_logical4_supported", MPI_LOGICAL4, false},
    {"mpi_logical8_supported", MPI_LOGICAL8, false},
    {"mpi_logical16_supported", MPI_LOGICAL16, false},
    {"mpi_integer1_supported", MPI_INTEGER1, false},
    {"mpi_integer2_supported", MPI_INTEGER2, false},
    {"mpi_integer4_supported", MPI_INTEGER4, false},
    {"mpi_integer8_supported", MPI_INTEGER8, false},
    {"mpi_integer16_supported", MPI_INTEGER16, false},
    {"mpi_real2_supported", MPI_REAL2, false},
    {"mpi_real4_supported", MPI_REAL4, false},
    {"mpi_real8_supported", MPI_REAL8, false},
    {"mpi_real16_supported", MPI_REAL16, false},
    {"mpi_complex4_supported", MPI_COMPLEX4, false},
    {"mpi_complex8_supported", MPI_COMPLEX8, false},
    {"mpi_complex16_supported", MPI_COMPLEX16, false},
    {"mpi_complex32_supported", MPI_COMPLEX32, false},
    {"mpi_double_complex_supported", MPI_DOUBLE_COMPLEX, false},
};

static int make_fortran_info(struct fm_info **out_info)
{
    struct fm_info *info = fm_info_create();
    int rc = info ? 0 : -FM_E_NOMEM;

    for (size_t i = 0; i < FM_ARRAY_LEN(fortran_rows) && rc == 0; i++) {
        const struct fortran_row *r = &fortran_rows[i];
        const struct fm_dtype *t = fm_dtype_get(r->type);

        rc = r->is_size ? set_size(info, r->key, (size_t)t->size)
                        : fm_info_set(info, r->key, t ? "true" : "false");
    }
    if (rc) {
        fm_info_unref(info);
        return rc;
    }
    *out_info = info;
    return 0;
}

int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
    static const char call[] = "MPI_Abi_get_fortran_info";
    struct fm_info *made;
    int rc;

    if (fm_root.phase != FM_PHASE_RUNNING) {
        return fm_raise_handle(FM_KIND_DTYPE, call, MPI_LOGICAL, "MPI");
    }
    if (!info) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "info is NULL: pass its address");
    }
    fm_api_enter(FM_CALL);
    rc = make_fortran_info(&made);
    if (rc) {
        rc = fm_raise_status(NULL, call, rc);
    } else {
        *info = fm_handle_of(made);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Abi_get_fortran_info)

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
    return fm_raise(NULL, "MPI_Abi_set_fortran_info", MPI_ERR_ABI,
                    "the sizes of the Fortran types are known and fixed: "
                    "read them with MPI_Abi_get_fortran_info");
}
FM_ALIAS(Abi_set_fortran_info)

/* The operations on logicals (MPI_LAND and so on) write 1 and 0, as the usual compilers do. */
int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true, void *logical_false,
                                  int *is_set)
{
    static const char call[] = "MPI_Abi_get_fortran_booleans";
    const unsigned one = 1;
    size_t at;

    if (fm_root.phase != FM_PHASE_RUNNING) {
        return fm_raise_handle(FM_KIND_DTYPE, call, MPI_LOGICAL, "MPI");
    }
    if (!logical_true || !logical_false || !is_set) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "a NULL pointer: pass three addresses");
    }
    if (logical_size != 1 && logical_size != 2 && logical_size != 4 && logical_size != 8 &&
        logical_size != 16) {
        return fm_raise(NULL, call, MPI_ERR_ARG,
                        "logical_size is %d: logicals of Fortran have 1, 2, 4, 8 or 16 bytes",
                        logical_size);
    }
    /* The least byte of 1 is where the machine has it. */
    at = *(const char *)&one ? 0 : (size_t)logical_size - 1;
    memset(logical_true, 0, (size_t)logical_size);
    memset(logical_false, 0, (size_t)logical_size);
    ((char *)logical_true)[at] = 1;
    *is_set = 1;
    return MPI_SUCCESS;
}
FM_ALIAS(Abi_get_fortran_booleans)

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    return fm_raise(NULL, "MPI_Abi_set_fortran_booleans", MPI_ERR_ABI,
                    "the values of .true. and .false. are known and fixed: "
                    "read them with MPI_Abi_get_fortran_booleans");
}
FM_ALIAS(Abi_set_fortran_booleans)

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
