/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, and what happens when an error is raised. */
#include "core/object/errhandler.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/object/comm.h"

#define MAX_ERRHANDLERS (1 << 16)
#define EXIT_STATUS     1

#define PREDEFINED(t)                                                                              \
    {                                                                                              \
        .head = {.kind = FM_KIND_ERRHANDLER, .refs = 1}, .type = t                                 \
    }

/* Immutable but for their reference counts, which never fall to 0; guarded as in handle.h. */
static struct fm_errhandler fatal = PREDEFINED(FM_ERRHANDLER_FATAL);
static struct fm_errhandler abort_object = PREDEFINED(FM_ERRHANDLER_ABORT);
static struct fm_errhandler just_return = PREDEFINED(FM_ERRHANDLER_RETURN);
/* The handler of errors while MPI_COMM_SELF does not exist. Written in a forked child, which has
   one thread. */
static struct fm_errhandler *initial = &fatal;

/* Where each kind keeps its handler; 0: it has none. Written before MPI_Init returns. */
static size_t handler_at[FM_KIND_COUNT];

__attribute__((constructor)) static void before_main(void)
{
    fm_errhandler_init();
}

int fm_errhandler_init(void)
{
    fm_handle_predefine(MPI_ERRORS_ARE_FATAL, &fatal);
    fm_handle_predefine(MPI_ERRORS_ABORT, &abort_object);
    fm_handle_predefine(MPI_ERRORS_RETURN, &just_return);
    return 0;
}

void fm_errhandler_place(enum fm_kind kind, size_t at)
{
    handler_at[kind] = at;
}

struct fm_errhandler *fm_errhandler_create(enum fm_kind of, void (*fn)(void))
{
    struct fm_errhandler *eh = NULL;

    fm_handle_lock_lasting();
    if (fm_handle_pool(FM_KIND_ERRHANDLER, sizeof(*eh), MAX_ERRHANDLERS) == 0) {
        eh = fm_object_new(FM_KIND_ERRHANDLER);
    }
    if (eh) {
        eh->type = FM_ERRHANDLER_USER;
        eh->of = of;
        eh->fn.comm = (MPI_Comm_errhandler_function *)fn;
    }
    fm_handle_unlock_lasting();
    return eh;
}

struct fm_errhandler *fm_errhandler_ref(struct fm_errhandler *eh)
{
    fm_handle_lock_lasting();
    eh->head.refs++;
    fm_handle_unlock_lasting();
    return eh;
}

void fm_errhandler_unref(struct fm_errhandler *eh)
{
    fm_handle_lock_lasting();
    if (eh && --eh->head.refs == 0) {
        fm_object_free(eh);
    }
    fm_handle_unlock_lasting();
}

static struct fm_errhandler **place_of(void *object)
{
    size_t at = object ? handler_at[((struct fm_object *)object)->kind] : 0;

    return at ? (struct fm_errhandler **)((char *)object + at) : NULL;
}

/* MPI-5.0 9.1: an error that belongs to no object is raised on MPI_COMM_SELF; where there is none
   yet or no longer, the initial handler has it. */
struct fm_errhandler *fm_errhandler_of(void *object)
{
    struct fm_errhandler **place = place_of(object);

    if (!object) {
        place = place_of(fm_comm_get(MPI_COMM_SELF));
    }
    return place && *place ? *place : initial;
}

void fm_errhandler_outlive(void)
{
    struct fm_errhandler *eh = fm_errhandler_of(NULL);

    initial = eh->type == FM_ERRHANDLER_RETURN ? eh : &fatal;
}

int fm_errhandler_set(void *object, struct fm_errhandler *eh)
{
    struct fm_errhandler **place = place_of(object);
    struct fm_errhandler *old;

    if (!place) {
        return fm_fail(-FM_E_INVAL, "this kind of object has no error handler");
    }
    old = *place;
    *place = fm_errhandler_ref(eh);
    fm_errhandler_unref(old);
    return 0;
}

static _Noreturn void end_job(int code)
{
    if (fm_root.abort) {
        fm_root.abort(EXIT_STATUS, fm_error_class(code) == MPI_ERR_PROC_ABORTED);
    }
    exit(EXIT_STATUS);
}

/* What is said of a code before the reason: nothing where that begins with it, as the string of a
   predefined class does. */
static const char *name_before(int code, const char *reason)
{
    const char *name = fm_error_name(fm_error_class(code));

    name = name ? name : "error of the application";
    return strncmp(reason, name, strlen(name)) == 0 ? "" : name;
}

/* One write, so that the texts of several ranks do not mix. */
static _Noreturn void die(const char *call, int code, const char *reason, const char *because)
{
    char text[1536], host[64] = "?";
    const char *name = name_before(code, reason);
    int at = snprintf(text, sizeof(text), "fathom: ");
    ssize_t written;

    gethostname(host, sizeof(host) - 1);
    if (fm_root.rank >= 0) {
        at += snprintf(text + at, sizeof(text) - (size_t)at, "rank %d of %d ", fm_root.rank,
                       fm_root.size);
    }
    at +=
        snprintf(text + at, sizeof(text) - (size_t)at,
                 "(pid %d) on host %s: %s failed: %s%s%s; %s, since %s\n", (int)getpid(), host,
                 call, name, *name && *reason ? ": " : "", reason,
                 fm_root.phase == FM_PHASE_FORKED ? "this process ends" : "the job ends", because);
    if (at >= (int)sizeof(text)) {
        at = (int)sizeof(text) - 1;
        text[at - 1] = '\n';
    }
    written = write(STDERR_FILENO, text, (size_t)at);
    (void)written; /* nobody is left to be told */
    end_job(code);
}

static void call_user(const struct fm_errhandler *eh, void *object, int code)
{
    void *handle = fm_handle_of(object);

    switch (eh->of) {
    case FM_KIND_COMM:
        eh->fn.comm((MPI_Comm *)&handle, &code);
        break;
    case FM_KIND_WIN:
        eh->fn.win((MPI_Win *)&handle, &code);
        break;
    case FM_KIND_FILE:
        eh->fn.file((MPI_File *)&handle, &code);
        break;
    case FM_KIND_SESSION:
        eh->fn.session((MPI_Session *)&handle, &code);
        break;
    default:
        fm_assert(!"a handler of a kind that has none");
    }
}

static int handle_error(void *object, const char *call, int code, const char *reason)
{
    struct fm_errhandler *eh = fm_errhandler_of(object);

    switch (eh->type) {
    case FM_ERRHANDLER_RETURN:
        break;
    case FM_ERRHANDLER_USER:
        /* It may free itself or its object. */
        fm_errhandler_ref(eh);
        call_user(eh, object ? object : fm_comm_get(MPI_COMM_SELF), code);
        fm_errhandler_unref(eh);
        break;
    default:
        die(call, code, reason, "the error handler is MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT");
    }
    return code;
}

void fm_raise_fatal(const char *call, int code, const char *fmt, ...)
{
    char reason[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    die(call, code, reason, "the call that could return the error is over");
}

int fm_raise(void *object, const char *call, int code, const char *fmt, ...)
{
    char reason[1024];
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return handle_error(object, call, code, reason);
}

int fm_raise_status(void *object, const char *call, int status)
{
    char reason[512];
    int code = fm_error_class_of(status);

    if (code == MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    snprintf(reason, sizeof(reason), "%s", fm_why());
    fm_why_clear();
    if (!*reason && status < 0) {
        snprintf(reason, sizeof(reason), "%s", fm_status_name(status));
    } else if (!*reason) {
        snprintf(reason, sizeof(reason), "%s", fm_error_string(code));
    }
    return handle_error(object, call, code, reason);
}

int fm_errhandler_call(void *object, const char *call, int code)
{
    handle_error(object, call, code, fm_error_string(code));
    return MPI_SUCCESS;
}

static const int class_of_kind[FM_KIND_COUNT] = {
    [FM_KIND_NONE] = MPI_ERR_ARG,
    [FM_KIND_COMM] = MPI_ERR_COMM,
    [FM_KIND_GROUP] = MPI_ERR_GROUP,
    [FM_KIND_REQUEST] = MPI_ERR_REQUEST,
    [FM_KIND_MESSAGE] = MPI_ERR_REQUEST,
    [FM_KIND_DTYPE] = MPI_ERR_TYPE,
    [FM_KIND_OP] = MPI_ERR_OP,
    [FM_KIND_INFO] = MPI_ERR_INFO,
    [FM_KIND_ERRHANDLER] = MPI_ERR_ERRHANDLER,
    [FM_KIND_WIN] = MPI_ERR_WIN,
    [FM_KIND_FILE] = MPI_ERR_FILE,
    [FM_KIND_SESSION] = MPI_ERR_SESSION,
};

/* Infos, error handlers and sessions may be used while MPI is not running (MPI-5.0 11.4). */
static bool needs_init(enum fm_kind kind)
{
    return kind != FM_KIND_INFO && kind != FM_KIND_ERRHANDLER &&
           (kind != FM_KIND_SESSION || fm_root.phase == FM_PHASE_FORKED);
}

int fm_raise_handle_on(void *object, enum fm_kind kind, const char *call, const void *handle,
                       const char *argument)
{
    if (needs_init(kind) && fm_root.phase != FM_PHASE_RUNNING) {
        return fm_raise(NULL, call, MPI_ERR_OTHER, "%s", fm_handle_why_not_running());
    }
    if (fm_handle_is_null(kind, handle)) {
        return fm_raise(object, call, class_of_kind[kind], "%s is %s: a %s is needed", argument,
                        handle ? fm_kind_null_name(kind) : "the NULL pointer", fm_kind_name(kind));
    }
    return fm_raise(object, call, class_of_kind[kind],
                    "%s is %#lx, which is no %s: never made, freed already, or of another kind",
                    argument, (unsigned long)(uintptr_t)handle, fm_kind_name(kind));
}

int fm_raise_unsupported(const char *call)
{
    return fm_raise(NULL, call, MPI_ERR_UNSUPPORTED_OPERATION,
                    "this version of Fathom does not have it yet ('fathom api' lists what is "
                    "built)");
}
