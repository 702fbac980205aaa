/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes, codes and their texts (MPI-5.0 9.4, 9.5). Ours are classes only: what went wrong
 * in detail is told where it is raised. Those of the user are numbered on from MPI_ERR_LASTCODE.
 */
#include <fathom/mpit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/object/errhandler.h"

struct text {
    const char *name;
    const char *text;
};

#define CLASS(x, t) [x] = {#x, t}

/* clang-format off */
static const struct text classes[] = {
    CLASS(MPI_SUCCESS, "no error"),
    CLASS(MPI_ERR_BUFFER, "invalid buffer pointer"),
    CLASS(MPI_ERR_COUNT, "invalid count argument"),
    CLASS(MPI_ERR_TYPE, "invalid datatype argument"),
    CLASS(MPI_ERR_TAG, "invalid tag argument"),
    CLASS(MPI_ERR_COMM, "invalid communicator"),
    CLASS(MPI_ERR_RANK, "invalid rank"),
    CLASS(MPI_ERR_REQUEST, "invalid request or message handle"),
    CLASS(MPI_ERR_ROOT, "invalid root"),
    CLASS(MPI_ERR_GROUP, "invalid group"),
    CLASS(MPI_ERR_OP, "invalid operation"),
    CLASS(MPI_ERR_TOPOLOGY, "invalid topology"),
    CLASS(MPI_ERR_DIMS, "invalid dimension argument"),
    CLASS(MPI_ERR_ARG, "invalid argument of some other kind"),
    CLASS(MPI_ERR_UNKNOWN, "unknown error"),
    CLASS(MPI_ERR_TRUNCATE, "message truncated: it is longer than the receive buffer"),
    CLASS(MPI_ERR_OTHER, "known error not in this list"),
    CLASS(MPI_ERR_INTERN, "internal error of the MPI library"),
    CLASS(MPI_ERR_PENDING, "the request is pending: neither complete nor failed"),
    CLASS(MPI_ERR_IN_STATUS, "the error code is in the status"),
    CLASS(MPI_ERR_ACCESS, "permission denied"),
    CLASS(MPI_ERR_AMODE, "invalid access mode of a file"),
    CLASS(MPI_ERR_ASSERT, "invalid assert argument"),
    CLASS(MPI_ERR_BAD_FILE, "invalid file name"),
    CLASS(MPI_ERR_BASE, "invalid base argument: not memory of MPI_Alloc_mem"),
    CLASS(MPI_ERR_CONVERSION, "a data conversion function of the user failed"),
    CLASS(MPI_ERR_DISP, "invalid displacement"),
    CLASS(MPI_ERR_DUP_DATAREP, "the data representation is already defined"),
    CLASS(MPI_ERR_FILE_EXISTS, "the file exists"),
    CLASS(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    CLASS(MPI_ERR_FILE, "invalid file handle"),
    CLASS(MPI_ERR_INFO_KEY, "invalid info key: empty or longer than MPI_MAX_INFO_KEY"),
    CLASS(MPI_ERR_INFO_NOKEY, "the info object has no such key"),
    CLASS(MPI_ERR_INFO_VALUE, "invalid info value: too long"),
    CLASS(MPI_ERR_INFO, "invalid info object"),
    CLASS(MPI_ERR_IO, "input or output failed"),
    CLASS(MPI_ERR_KEYVAL, "invalid keyval"),
    CLASS(MPI_ERR_LOCKTYPE, "invalid lock type"),
    CLASS(MPI_ERR_NAME, "the service name is not published"),
    CLASS(MPI_ERR_NO_MEM, "out of memory"),
    CLASS(MPI_ERR_NOT_SAME, "a collective argument differs between processes"),
    CLASS(MPI_ERR_NO_SPACE, "not enough space on the file system"),
    CLASS(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    CLASS(MPI_ERR_PORT, "invalid port name"),
    CLASS(MPI_ERR_QUOTA, "quota exceeded"),
    CLASS(MPI_ERR_READ_ONLY, "read-only file or file system"),
    CLASS(MPI_ERR_RMA_ATTACH, "memory cannot be attached to the window"),
    CLASS(MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    CLASS(MPI_ERR_RMA_RANGE, "target memory is outside the window"),
    CLASS(MPI_ERR_RMA_SHARED, "memory cannot be shared by the processes of the window"),
    CLASS(MPI_ERR_RMA_SYNC, "RMA call outside a synchronization epoch that allows it"),
    CLASS(MPI_ERR_SERVICE, "the service name is not published by this process"),
    CLASS(MPI_ERR_SIZE, "invalid size argument"),
    CLASS(MPI_ERR_SPAWN, "processes could not be spawned"),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    CLASS(MPI_ERR_WIN, "invalid window"),
    CLASS(MPI_ERR_RMA_FLAVOR, "the window is of the wrong flavor"),
    CLASS(MPI_ERR_PROC_ABORTED, "a process has ended or cannot be reached"),
    CLASS(MPI_ERR_VALUE_TOO_LARGE,
          "the value does not fit into the output argument: use the _c function"),
    CLASS(MPI_ERR_SESSION, "invalid session"),
    CLASS(MPI_ERR_ERRHANDLER, "invalid error handler"),
    CLASS(MPI_ERR_ABI, "the ABI does not allow this"),
};

#define MPIT(x) [x - MPI_T_ERR_CANNOT_INIT] = #x

static const char *const mpit_names[] = {
    MPIT(MPI_T_ERR_CANNOT_INIT), MPIT(MPI_T_ERR_NOT_ACCESSIBLE), MPIT(MPI_T_ERR_NOT_INITIALIZED),
    MPIT(MPI_T_ERR_NOT_SUPPORTED), MPIT(MPI_T_ERR_MEMORY), MPIT(MPI_T_ERR_INVALID),
    MPIT(MPI_T_ERR_INVALID_INDEX), MPIT(MPI_T_ERR_INVALID_ITEM),
    MPIT(MPI_T_ERR_INVALID_SESSION), MPIT(MPI_T_ERR_INVALID_HANDLE),
    MPIT(MPI_T_ERR_INVALID_NAME), MPIT(MPI_T_ERR_OUT_OF_HANDLES),
    MPIT(MPI_T_ERR_OUT_OF_SESSIONS), MPIT(MPI_T_ERR_CVAR_SET_NOT_NOW),
    MPIT(MPI_T_ERR_CVAR_SET_NEVER), MPIT(MPI_T_ERR_PVAR_NO_WRITE),
    MPIT(MPI_T_ERR_PVAR_NO_STARTSTOP), MPIT(MPI_T_ERR_PVAR_NO_ATOMIC),
};

static const int class_of_status[FM_E_COUNT] = {
    [FM_E_NOMEM] = MPI_ERR_NO_MEM,       [FM_E_INVAL] = MPI_ERR_ARG,
    [FM_E_TRUNCATE] = MPI_ERR_TRUNCATE,  [FM_E_PEER] = MPI_ERR_PROC_ABORTED,
    [FM_E_PROTO] = MPI_ERR_INTERN,       [FM_E_SYSTEM] = MPI_ERR_OTHER,
    [FM_E_UNSUPPORTED] = MPI_ERR_UNSUPPORTED_OPERATION, [FM_E_NOENT] = MPI_ERR_NAME,
    [FM_E_TIMEOUT] = MPI_ERR_OTHER,      [FM_E_CANCELLED] = MPI_ERR_OTHER,
    [FM_E_INTERNAL] = MPI_ERR_INTERN,
};
/* clang-format on */

/* A class or code of the user, number MPI_ERR_LASTCODE + 1 + its index. */
struct user_code {
    int klass; /* of a class: its own number; 0: removed */
    char *text;
};

/* What the user has added, for the life of the process (it outlasts MPI_Finalize, MPI-5.0 11.4).
   Guarded by the lock of what lasts (handle.h). */
static struct {
    struct user_code *codes;
    int n, n_room;
} user;

#define FIRST_USER (MPI_ERR_LASTCODE + 1)

int fm_error_class_of(int status)
{
    if (status == 0) {
        return MPI_SUCCESS;
    }
    if (status > 0) {
        return status;
    }
    return -status < FM_E_COUNT ? class_of_status[-status] : MPI_ERR_INTERN;
}

static struct user_code *find_user(int code)
{
    if (code < FIRST_USER || code - FIRST_USER >= user.n) {
        return NULL;
    }
    return user.codes[code - FIRST_USER].klass ? &user.codes[code - FIRST_USER] : NULL;
}

const char *fm_error_name(int code)
{
    int n_mpit = (int)FM_ARRAY_LEN(mpit_names);

    if (code >= 0 && code < (int)FM_ARRAY_LEN(classes)) {
        return classes[code].name;
    }
    if (code >= MPI_T_ERR_CANNOT_INIT && code < MPI_T_ERR_CANNOT_INIT + n_mpit) {
        return mpit_names[code - MPI_T_ERR_CANNOT_INIT];
    }
    return code == MPI_ERR_LASTCODE ? "MPI_ERR_LASTCODE" : NULL;
}

static const char *string_of(int code)
{
    /* Name and sentence in one, or a copy of the user's; built anew by each call. */
    static _Thread_local char text[MPI_MAX_ERROR_STRING];
    const struct user_code *own = find_user(code);
    const char *name = fm_error_name(code);
    const char *of_mpit = fathom_mpit_error_string(code); /* with its name */

    if (own) {
        snprintf(text, sizeof(text), "%s", own->text ? own->text : "");
        return text;
    }
    if (!name || of_mpit) {
        return of_mpit ? of_mpit : "";
    }
    snprintf(text, sizeof(text), "%s: %s", name,
             code < (int)FM_ARRAY_LEN(classes) ? classes[code].text
                                               : "last error code of the implementation");
    return text;
}

static int class_of(int code)
{
    const struct user_code *own = find_user(code);

    if (own) {
        return own->klass;
    }
    return fm_error_name(code) ? code : -1;
}

/* MPI-5.0 9.5: numbers of removed codes may be given out again. */
static int add(int klass, int *out_code)
{
    int at = 0;

    while (at < user.n && user.codes[at].klass) {
        at++;
    }
    if (at == user.n_room) {
        int n_room = user.n_room ? 2 * user.n_room : 16;
        struct user_code *codes = realloc(user.codes, (size_t)n_room * sizeof(*codes));

        if (!codes) {
            return MPI_ERR_NO_MEM;
        }
        user.codes = codes;
        user.n_room = n_room;
    }
    user.codes[at] = (struct user_code){.klass = klass ? klass : FIRST_USER + at};
    user.n = at == user.n ? at + 1 : user.n;
    *out_code = FIRST_USER + at;
    return MPI_SUCCESS;
}

static int add_code(int klass, int *out_code)
{
    if (klass <= 0 || class_of(klass) != klass || klass == MPI_ERR_LASTCODE) {
        return MPI_ERR_ARG;
    }
    return add(klass, out_code);
}

static int add_string(int code, const char *text)
{
    struct user_code *own = find_user(code);
    char *copy;

    if (!own) {
        return MPI_ERR_ARG;
    }
    copy = strndup(text, MPI_MAX_ERROR_STRING - 1);
    if (!copy) {
        return MPI_ERR_NO_MEM;
    }
    free(own->text);
    own->text = copy;
    return MPI_SUCCESS;
}

static void take_away(struct user_code *own)
{
    free(own->text);
    *own = (struct user_code){0};
    while (user.n > 0 && !user.codes[user.n - 1].klass) {
        user.n--;
    }
}

static int remove_class(int klass)
{
    struct user_code *own = find_user(klass);

    if (!own || own->klass != klass) {
        return MPI_ERR_ARG;
    }
    for (int i = 0; i < user.n; i++) {
        if (&user.codes[i] != own && user.codes[i].klass == klass) {
            return MPI_ERR_ARG; /* its codes must go first */
        }
    }
    take_away(own);
    return MPI_SUCCESS;
}

static int remove_code(int code)
{
    struct user_code *own = find_user(code);

    if (!own || own->klass == code || own->text) { /* its string must go first */
        return MPI_ERR_ARG;
    }
    take_away(own);
    return MPI_SUCCESS;
}

static int remove_string(int code)
{
    struct user_code *own = find_user(code);

    if (!own || !own->text) {
        return MPI_ERR_ARG;
    }
    free(own->text);
    own->text = NULL;
    return MPI_SUCCESS;
}

/* ---- the same under the lock ---- */

const char *fm_error_string(int code)
{
    const char *text;

    fm_handle_lock_lasting();
    text = string_of(code);
    fm_handle_unlock_lasting();
    return text;
}

int fm_error_class(int code)
{
    int result;

    fm_handle_lock_lasting();
    result = class_of(code);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_add_class(int *out_class)
{
    int result;

    fm_handle_lock_lasting();
    result = add(0, out_class);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_add_code(int klass, int *out_code)
{
    int result;

    fm_handle_lock_lasting();
    result = add_code(klass, out_code);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_add_string(int code, const char *text)
{
    int result;

    fm_handle_lock_lasting();
    result = add_string(code, text);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_remove_class(int klass)
{
    int result;

    fm_handle_lock_lasting();
    result = remove_class(klass);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_remove_code(int code)
{
    int result;

    fm_handle_lock_lasting();
    result = remove_code(code);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_remove_string(int code)
{
    int result;

    fm_handle_lock_lasting();
    result = remove_string(code);
    fm_handle_unlock_lasting();
    return result;
}

int fm_error_last_used(void)
{
    int result;

    fm_handle_lock_lasting();
    result = MPI_ERR_LASTCODE + user.n;
    fm_handle_unlock_lasting();
    return result;
}
