/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, classes, codes and strings (MPI-5.0 9.3 - 9.5). What needs no object works before
   MPI_Init and after MPI_Finalize (11.4). */
#include "core/api/file_args.h"
#include "core/api/win_args.h"

#include <string.h>

#include "core/object/comm.h"

static int create(const char *call, enum fm_kind of, void (*fn)(void), MPI_Errhandler *errhandler)
{
    struct fm_errhandler *eh;
    int rc = fm_find_out(NULL, call, "errhandler", errhandler);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (!fn) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "the function is NULL: pass an error handler");
    }
    eh = fm_errhandler_create(of, fn);
    if (!eh) {
        return fm_raise_status(NULL, call, -FM_E_NOMEM);
    }
    *errhandler = fm_handle_of(eh);
    return MPI_SUCCESS;
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    int rc;

    fm_api_enter_any();
    rc = create(FM_CALL, FM_KIND_COMM, (void (*)(void))comm_errhandler_fn, errhandler);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Comm_create_errhandler)

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
                               MPI_Errhandler *errhandler)
{
    int rc;

    fm_api_enter_any();
    rc = create(FM_CALL, FM_KIND_WIN, (void (*)(void))win_errhandler_fn, errhandler);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Win_create_errhandler)

int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
                                MPI_Errhandler *errhandler)
{
    int rc;

    fm_api_enter_any();
    rc = create(FM_CALL, FM_KIND_FILE, (void (*)(void))file_errhandler_fn, errhandler);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(File_create_errhandler)

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                   MPI_Errhandler *errhandler)
{
    int rc;

    fm_api_enter_any();
    rc = create(FM_CALL, FM_KIND_SESSION, (void (*)(void))session_errhandler_fn, errhandler);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Session_create_errhandler)

static int find(void *object, const char *call, MPI_Errhandler errhandler,
                struct fm_errhandler **out_eh)
{
    struct fm_errhandler *eh = fm_errhandler_get(errhandler);

    if (!eh && object) {
        return fm_raise(object, call, MPI_ERR_ERRHANDLER,
                        "errhandler is no error handler: null, never made, or freed already");
    }
    if (!eh) {
        return fm_raise_handle(FM_KIND_ERRHANDLER, call, errhandler, "errhandler");
    }
    *out_eh = eh;
    return MPI_SUCCESS;
}

/* For an object of a kind: only a handler of that kind will do. */
static int set(void *object, const char *call, enum fm_kind of, MPI_Errhandler errhandler)
{
    struct fm_errhandler *eh = NULL;
    int rc = find(object, call, errhandler, &eh);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (eh->type == FM_ERRHANDLER_USER && eh->of != of) {
        return fm_raise(object, call, MPI_ERR_ERRHANDLER,
                        "errhandler was made for a %s, not for a %s", fm_kind_name(eh->of),
                        fm_kind_name(of));
    }
    return fm_raise_status(object, call, fm_errhandler_set(object, eh));
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter_any();
    rc = fm_find_comm(FM_CALL, comm, &c);
    rc = rc == MPI_SUCCESS ? set(c, FM_CALL, FM_KIND_COMM, errhandler) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Comm_set_errhandler)

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter_any();
    rc = fm_find_comm_for(FM_CALL, comm, "errhandler", errhandler, &c);
    if (rc == MPI_SUCCESS) {
        struct fm_errhandler *eh = fm_errhandler_of(c);

        *errhandler = fm_handle_of(eh->head.handle ? eh : fm_object_ref(eh));
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Comm_get_errhandler)

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm(FM_CALL, comm, &c);
    rc = rc == MPI_SUCCESS ? fm_errhandler_call(c, FM_CALL, errorcode) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_call_errhandler)

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    struct fm_session *s;
    int rc;

    fm_api_enter_any();
    rc = fm_find_session(FM_CALL, session, &s);
    rc = rc == MPI_SUCCESS ? set(s, FM_CALL, FM_KIND_SESSION, errhandler) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Session_set_errhandler)

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    struct fm_session *s;
    int rc;

    fm_api_enter_any();
    rc = fm_find_session(FM_CALL, session, &s);
    rc = rc == MPI_SUCCESS ? fm_find_out(s, FM_CALL, "errhandler", errhandler) : rc;
    if (rc == MPI_SUCCESS) {
        struct fm_errhandler *eh = fm_errhandler_of(s);

        *errhandler = fm_handle_of(eh->head.handle ? eh : fm_object_ref(eh));
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Session_get_errhandler)

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    struct fm_session *s;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_session(FM_CALL, session, &s);
    rc = rc == MPI_SUCCESS ? fm_errhandler_call(s, FM_CALL, errorcode) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_call_errhandler)

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    struct fm_win *w;
    int rc;

    fm_api_enter_any();
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? set(w, FM_CALL, FM_KIND_WIN, errhandler) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Win_set_errhandler)

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    struct fm_win *w;
    int rc;

    fm_api_enter_any();
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? fm_find_out(w, FM_CALL, "errhandler", errhandler) : rc;
    if (rc == MPI_SUCCESS) {
        struct fm_errhandler *eh = fm_errhandler_of(w);

        *errhandler = fm_handle_of(eh->head.handle ? eh : fm_object_ref(eh));
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Win_get_errhandler)

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? fm_errhandler_call(w, FM_CALL, errorcode) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_call_errhandler)

/* Of a file, or of MPI_FILE_NULL, whose handler is that of files opened later (14.7). */
static int find_file_or_null(const char *call, MPI_File file, struct fm_file **out_file)
{
    if (file == MPI_FILE_NULL && fm_root.phase == FM_PHASE_RUNNING) {
        *out_file = &fm_file_null;
        return MPI_SUCCESS;
    }
    return fm_find_file(call, file, out_file);
}

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    struct fm_file *f;
    int rc;

    fm_api_enter_any();
    rc = find_file_or_null(FM_CALL, file, &f);
    rc = rc == MPI_SUCCESS ? set(f, FM_CALL, FM_KIND_FILE, errhandler) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(File_set_errhandler)

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    struct fm_file *f;
    int rc;

    fm_api_enter_any();
    rc = find_file_or_null(FM_CALL, file, &f);
    rc = rc == MPI_SUCCESS ? fm_find_out(f, FM_CALL, "errhandler", errhandler) : rc;
    if (rc == MPI_SUCCESS) {
        struct fm_errhandler *eh = fm_errhandler_of(f);

        *errhandler = fm_handle_of(eh->head.handle ? eh : fm_object_ref(eh));
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(File_get_errhandler)

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    struct fm_file *f;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_file_or_null(FM_CALL, fh, &f);
    rc = rc == MPI_SUCCESS ? fm_errhandler_call(f, FM_CALL, errorcode) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(File_call_errhandler)

/* Predefined handlers have no references of the user: MPI_Comm_get_errhandler takes none. */
int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
    struct fm_errhandler *eh = NULL;
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "errhandler", errhandler);
    rc = rc == MPI_SUCCESS ? find(NULL, FM_CALL, *errhandler, &eh) : rc;
    if (rc == MPI_SUCCESS) {
        if (!eh->head.handle) {
            fm_errhandler_unref(eh);
        }
        *errhandler = MPI_ERRHANDLER_NULL;
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Errhandler_free)

static int check_code(const char *call, int code)
{
    if (fm_error_class(code) < 0) {
        return fm_raise(NULL, call, MPI_ERR_ARG,
                        "%d is no error code: neither a predefined class nor added by the user",
                        code);
    }
    return MPI_SUCCESS;
}

int PMPI_Error_string(int errorcode, char *string, int *resultlen)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "string", string);
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, FM_CALL, "resultlen", resultlen) : rc;
    rc = rc == MPI_SUCCESS ? check_code(FM_CALL, errorcode) : rc;
    if (rc == MPI_SUCCESS) {
        strcpy(string, fm_error_string(errorcode)); /* shorter than MPI_MAX_ERROR_STRING */
        *resultlen = (int)strlen(string);
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Error_string)

int PMPI_Error_class(int errorcode, int *errorclass)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "errorclass", errorclass);
    rc = rc == MPI_SUCCESS ? check_code(FM_CALL, errorcode) : rc;
    if (rc == MPI_SUCCESS) {
        *errorclass = fm_error_class(errorcode);
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Error_class)

static int raise_code(const char *call, int rc, const char *what, int code)
{
    if (rc == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    return fm_raise(NULL, call, rc, "%s %d: not added by the user, or still in use", what, code);
}

int PMPI_Add_error_class(int *errorclass)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "errorclass", errorclass);
    rc = rc == MPI_SUCCESS ? raise_code(FM_CALL, fm_error_add_class(errorclass), "class", 0) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Add_error_class)

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "errorcode", errorcode);
    if (rc == MPI_SUCCESS && fm_error_add_code(errorclass, errorcode) != MPI_SUCCESS) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_ARG, "%d is no error class", errorclass);
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Add_error_code)

int PMPI_Add_error_string(int errorcode, const char *string)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "string", string);
    if (rc == MPI_SUCCESS && strlen(string) >= MPI_MAX_ERROR_STRING) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_ARG, "string has %zu characters, allowed are %d",
                      strlen(string), MPI_MAX_ERROR_STRING - 1);
    } else if (rc == MPI_SUCCESS) {
        rc = raise_code(FM_CALL, fm_error_add_string(errorcode, string), "code", errorcode);
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Add_error_string)

int PMPI_Remove_error_class(int errorclass)
{
    int rc;

    fm_api_enter_any();
    rc = raise_code(FM_CALL, fm_error_remove_class(errorclass), "class", errorclass);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Remove_error_class)

int PMPI_Remove_error_code(int errorcode)
{
    int rc;

    fm_api_enter_any();
    rc = raise_code(FM_CALL, fm_error_remove_code(errorcode), "code", errorcode);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Remove_error_code)

int PMPI_Remove_error_string(int errorcode)
{
    int rc;

    fm_api_enter_any();
    rc = raise_code(FM_CALL, fm_error_remove_string(errorcode), "code", errorcode);
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Remove_error_string)
