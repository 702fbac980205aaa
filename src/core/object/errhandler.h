/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error handlers, error classes and codes, and the one way to raise an error (MPI-5.0 9.3 - 9.5).
 *
 * Only core/api raises. A failure that comes up as -FM_E... has left its reason in fm_why();
 * raising maps it to an MPI class, calls the handler of the object, and returns the code that the
 * MPI function returns. The default handler ends the job with one text: which rank, which call,
 * what is wrong, what to do.
 */
#pragma once

#include "core/object/handle.h"
#include "util/status.h"

struct fm_comm;
struct fm_win;
struct fm_file;
struct fm_session;

enum fm_errhandler_type {
    FM_ERRHANDLER_FATAL,  /* MPI_ERRORS_ARE_FATAL: the whole connected job */
    FM_ERRHANDLER_ABORT,  /* MPI_ERRORS_ABORT: the processes of the object */
    FM_ERRHANDLER_RETURN, /* MPI_ERRORS_RETURN */
    FM_ERRHANDLER_USER,
};

struct fm_errhandler {
    struct fm_object head;
    uint64_t pool_link; /* where the free list of the pool lies */
    enum fm_errhandler_type type;
    enum fm_kind of; /* user handlers: the kind of object they are for */
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
        MPI_Session_errhandler_function *session;
    } fn;
};

/* Make the predefined handlers known; a constructor of the library has done it, twice is fine. */
int fm_errhandler_init(void);

/* Objects of this kind keep their handler (struct fm_errhandler *, NULL: the initial one) at this
   byte offset. Said once by the room that owns the struct. */
void fm_errhandler_place(enum fm_kind kind, size_t at);

/* In a forked child, which has no MPI_COMM_SELF: errors are returned there, if they were in its
   parent, else they end the child. */
void fm_errhandler_outlive(void);

/* The handler that an object's errors go to now, never NULL; see fm_raise() for NULL objects. */
struct fm_errhandler *fm_errhandler_of(void *object);
/* Give the object a handler (a reference is taken) in the place of its present one. */
int fm_errhandler_set(void *object, struct fm_errhandler *eh);
/* Call the handler of the object as MPI_Comm_call_errhandler and the like do. */
int fm_errhandler_call(void *object, const char *call, int code);

/* A handler of the user, with one reference. NULL when out of memory. These three may be called by
   any thread (see handle.h). */
struct fm_errhandler *fm_errhandler_create(enum fm_kind of, void (*fn)(void));
struct fm_errhandler *fm_errhandler_ref(struct fm_errhandler *eh);
void fm_errhandler_unref(struct fm_errhandler *eh);

/*
 * Raise the MPI error class `code` in the MPI function named `call` ("MPI_Send"), on a
 * communicator, window, file or session. NULL, or an object without a handler: the handler of
 * MPI_COMM_SELF, the initial one before that (MPI-5.0 9.3). The text says what is wrong and what to
 * do; it ends without newline. Returns `code` when the handler returns.
 */
FM_COLD int fm_raise(void *object, const char *call, int code, const char *fmt, ...)
    FM_PRINTF(4, 5);

/* The same for a failure from below: class from the status, text from fm_why(). A positive status
   is the MPI error code itself (of a user's callback, of a request). */
FM_COLD int fm_raise_status(void *object, const char *call, int status);

/* End the job whatever the handlers are: nobody could be told otherwise. Text as of fm_raise(). */
FM_COLD _Noreturn void fm_raise_fatal(const char *call, int code, const char *fmt, ...)
    FM_PRINTF(3, 4);

/*
 * An object lookup has failed: raise MPI_ERR_COMM (or the class of that kind), or, when MPI is not
 * running at all, say so: "MPI_Send was called before MPI_Init" (MPI_ERR_OTHER). The object: of
 * another argument, a communicator mostly, to which errors of the call belong; NULL as above.
 */
FM_COLD int fm_raise_handle_on(void *object, enum fm_kind kind, const char *call,
                               const void *handle, const char *argument);
static inline int fm_raise_handle(enum fm_kind kind, const char *call, const void *handle,
                                  const char *argument)
{
    return fm_raise_handle_on(NULL, kind, call, handle, argument);
}

/* The function of the standard that is not built yet: MPI_ERR_UNSUPPORTED_OPERATION. */
FM_COLD int fm_raise_unsupported(const char *call);

/* The MPI error class that a -FM_E... status stands for; 0 for 0. */
int fm_error_class_of(int status);

/* "MPI_ERR_RANK" of a predefined class (also of MPI_T), NULL of anything else. Static. */
const char *fm_error_name(int code);

/* Text of a code or class, "" if it is none of ours or the user's. At most MPI_MAX_ERROR_STRING - 1
   characters, valid until the thread's next call. Works at any time, in any thread, as do all
   functions of error codes. */
const char *fm_error_string(int code);

/* The class of a code (MPI_Error_class): a code of the user to its class, a class to itself; -1:
 * unknown. */
int fm_error_class(int code);

/*
 * User-defined classes, codes and strings (MPI-5.0 9.5). Return 0, or a positive MPI error class
 * when the argument is not one that the user may change.
 */
int fm_error_add_class(int *out_class);
int fm_error_add_code(int klass, int *out_code);
int fm_error_add_string(int code, const char *text);
int fm_error_remove_class(int klass);
int fm_error_remove_code(int code);
int fm_error_remove_string(int code);
int fm_error_last_used(void); /* value of MPI_LASTUSEDCODE */
