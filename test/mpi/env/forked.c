/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Children that fork() makes of a rank: MPI_T works in them on numbers of their own, calls of MPI
 * are errors of the child alone, and exit handlers that they inherit end nothing.
 */
#include "../check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child ends without closing the library, which AddressSanitizer would report as leaks. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void finalize_at_exit(void)
{
    int is_over = 0;

    MPI_Finalized(&is_over);
    if (!is_over) {
        MPI_Finalize();
    }
}

static void finalize_unasked(void)
{
    MPI_Finalize();
}

/* Exit status of a child that runs this. */
static int in_child(void (*body)(void))
{
    int status = -1;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        body();
        exit(7);
    }
    CHECK(pid > 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child that runs this ends with an error, and says why; the job lives on. */
static void ends_child(void (*body)(void), const char *call)
{
    char said[4096];
    ssize_t got;
    size_t n = 0;
    int fds[2], old = dup(2);

    CHECK_EQ(pipe(fds), 0);
    dup2(fds[1], 2);
    CHECK(in_child(body) > 0);
    dup2(old, 2);
    close(old);
    close(fds[1]);
    while ((got = read(fds[0], said + n, sizeof(said) - 1 - n)) > 0) {
        n += (size_t)got;
    }
    said[n] = '\0';
    close(fds[0]);
    CHECK(strstr(said, call) != NULL);
    CHECK(strstr(said, "in a child that fork() made") != NULL);
    CHECK(strstr(said, "this process ends") != NULL);
}

/* In a child CHECK must not end the job: it says so and exits. */
#define HOLDS(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #cond);                   \
            _exit(99);                                                                             \
        }                                                                                          \
    } while (0)

static unsigned long long value_of(MPI_T_pvar_session session, const char *name, int klass)
{
    MPI_T_pvar_handle handle;
    unsigned long long value = 0;
    int index, count;

    HOLDS(MPI_T_pvar_get_index(name, klass, &index) == MPI_SUCCESS);
    HOLDS(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS);
    MPI_T_pvar_start(session, handle);
    HOLDS(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
    HOLDS(MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
    return value;
}

/* Handles of levels and watermarks, whose observers are linked in the page. */
static void looks(void)
{
    MPI_T_pvar_session session;
    int provided;

    HOLDS(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    HOLDS(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    for (int i = 0; i < 3; i++) {
        HOLDS(value_of(session, "comm_live", MPI_T_PVAR_CLASS_LEVEL) >= 2);
        HOLDS(value_of(session, "comm_live_high", MPI_T_PVAR_CLASS_HIGHWATERMARK) >= 2);
    }
    HOLDS(value_of(session, "mpit_sessions", MPI_T_PVAR_CLASS_LEVEL) == 2);
    /* Not freed: the parent must not see it. */
}

static int class_of(int code)
{
    int klass = -1;

    MPI_Error_class(code, &klass);
    return klass;
}

static MPI_Comm copy;
static MPI_Request pending;

static void calls_are_errors(void)
{
    int n = 0, is_there = 0, is_over = 0, provided;
    MPI_Datatype type;
    MPI_Session session;
    MPI_Group group;
    MPI_Op op;

    HOLDS(MPI_Initialized(&is_there) == MPI_SUCCESS && is_there);
    HOLDS(MPI_Finalized(&is_over) == MPI_SUCCESS && is_over);
    HOLDS(class_of(MPI_Send(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_OTHER);
    HOLDS(class_of(MPI_Recv(&n, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
    HOLDS(class_of(MPI_Barrier(MPI_COMM_WORLD)) == MPI_ERR_OTHER);
    HOLDS(class_of(MPI_Comm_rank(copy, &n)) == MPI_ERR_OTHER);
    HOLDS(class_of(MPI_Wait(&pending, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
    HOLDS(class_of(MPI_Type_contiguous(2, MPI_INT, &type)) == MPI_ERR_OTHER);
    HOLDS(MPI_Op_create((MPI_User_function *)finalize_at_exit, 1, &op) != MPI_SUCCESS);
    HOLDS(class_of(MPI_Comm_group(MPI_COMM_WORLD, &group)) == MPI_ERR_OTHER);
    HOLDS(MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS);
    HOLDS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS);
    HOLDS(MPI_Finalize() == MPI_SUCCESS);
}

static void sends(void)
{
    int n = 0;

    MPI_Send(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    _exit(0);
}

static void aborts(void)
{
    MPI_Abort(MPI_COMM_WORLD, 3);
    _exit(0);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    int rank, size, n = 0, provided;

    atexit(finalize_unasked);
    atexit(finalize_at_exit);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Irecv(&n, 1, MPI_INT, (rank + size - 1) % size, 5, copy, &pending));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(in_child(looks), 7);
    }
    CHECK_EQ(value_of(session, "mpit_sessions", MPI_T_PVAR_CLASS_LEVEL), 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CHECK_EQ(in_child(calls_are_errors), 7);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    ends_child(sends, "MPI_Send failed");
    ends_child(aborts, "MPI_Abort failed");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, copy));
    OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    CHECK_EQ(n, (rank + size - 1) % size);
    OK(MPI_Comm_free(&copy));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    _exit(0); /* here a second MPI_Finalize would be an error */
}
