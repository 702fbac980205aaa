/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a program that asked for MPI_THREAD_FUNNELED: what MPI-5.0 11.4.1 lets every thread
 * call at any time (infos, error handlers, error codes, questions), while the main thread starts
 * MPI, communicates with infos and error handlers of its own, and ends MPI. Goes under
 * ThreadSanitizer.
 */
#include "../check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { N_THREADS = 2 };

static atomic_int n_running, is_up, has_ended, rounds[N_THREADS];
static MPI_Session sessions[N_THREADS];

/* CHECK() may abort the job, which only the main thread may do here. */
#define MUST(cond)                                                                                 \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #cond);                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void infos(int k)
{
    char key[32], value[32], got[32];
    int flag, n, len = sizeof(got);
    MPI_Info info, copy;

    MUST(MPI_Info_create(&info) == MPI_SUCCESS);
    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof(key), "key%d", i);
        snprintf(value, sizeof(value), "%d of %d", i, k);
        MUST(MPI_Info_set(info, key, value) == MPI_SUCCESS);
    }
    MUST(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
    MUST(MPI_Info_delete(info, "key2") == MPI_SUCCESS);
    MUST(MPI_Info_get_nkeys(info, &n) == MPI_SUCCESS && n == 4);
    MUST(MPI_Info_get_nkeys(copy, &n) == MPI_SUCCESS && n == 5);
    MUST(MPI_Info_get_nthkey(copy, 4, key) == MPI_SUCCESS && strcmp(key, "key4") == 0);
    MUST(MPI_Info_get_string(copy, "key4", &len, got, &flag) == MPI_SUCCESS && flag);
    MUST(strcmp(got, value) == 0);
    len = sizeof(got);
    MUST(MPI_Info_get_string(MPI_INFO_ENV, "command", &len, got, &flag) == MPI_SUCCESS);
    MUST(MPI_Info_free(&info) == MPI_SUCCESS);
    MUST(MPI_Info_create_env(0, NULL, &info) == MPI_SUCCESS);
    MUST(MPI_Info_free(&info) == MPI_SUCCESS);
    MUST(MPI_Info_free(&copy) == MPI_SUCCESS);
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
}

static void errors(int k)
{
    char text[64], got[MPI_MAX_ERROR_STRING];
    int klass, code, found, len;
    MPI_Errhandler eh;

    MUST(MPI_Session_create_errhandler(on_session, &eh) == MPI_SUCCESS);
    MUST(MPI_Add_error_class(&klass) == MPI_SUCCESS);
    MUST(MPI_Add_error_code(klass, &code) == MPI_SUCCESS);
    snprintf(text, sizeof(text), "error number %d", k);
    MUST(MPI_Add_error_string(code, text) == MPI_SUCCESS);
    MUST(MPI_Error_class(code, &found) == MPI_SUCCESS && found == klass);
    MUST(MPI_Error_string(code, got, &len) == MPI_SUCCESS && strcmp(got, text) == 0);
    MUST(MPI_Error_string(MPI_ERR_TAG, got, &len) == MPI_SUCCESS && strstr(got, "MPI_ERR_TAG"));
    MUST(MPI_Remove_error_string(code) == MPI_SUCCESS);
    MUST(MPI_Remove_error_code(code) == MPI_SUCCESS);
    MUST(MPI_Remove_error_class(klass) == MPI_SUCCESS);
    MUST(MPI_Errhandler_free(&eh) == MPI_SUCCESS);
}

static void questions(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int a, b, len;

    MUST(MPI_Initialized(&a) == MPI_SUCCESS);
    MUST(MPI_Finalized(&b) == MPI_SUCCESS);
    MUST(a || !b);
    MUST(MPI_Get_version(&a, &b) == MPI_SUCCESS && a >= 5);
    MUST(MPI_Get_library_version(text, &len) == MPI_SUCCESS && len > 0);
}

/* 11.6.1: while MPI is up. */
static void level(void)
{
    int value;

    MUST(MPI_Query_thread(&value) == MPI_SUCCESS && value >= MPI_THREAD_FUNNELED);
    MUST(MPI_Is_thread_main(&value) == MPI_SUCCESS && !value);
}

/* Each opens one; the main thread closes them. */
static MPI_Session open_session(void)
{
    MPI_Session session;
    MPI_Info info;

    MUST(MPI_Info_create(&info) == MPI_SUCCESS);
    MUST(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED") == MPI_SUCCESS);
    MUST(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MUST(MPI_Info_free(&info) == MPI_SUCCESS);
    MUST(session != MPI_SESSION_NULL);
    return session;
}

static void *run(void *arg)
{
    int k = (int)(intptr_t)arg;

    sessions[k] = open_session();
    for (int i = 0; !atomic_load(&has_ended); i++) {
        infos(k * 1000 + i);
        errors(k * 1000 + i);
        questions();
        if (i == 0) {
            atomic_fetch_add(&n_running, 1);
        }
        if (atomic_load(&is_up)) {
            level();
        }
        atomic_store(&rounds[k], i);
    }
    return NULL;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* The main thread's own, meanwhile. */
static void communicate(void)
{
    int rank, size;

    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int i = 0; i < 10; i++) {
        MPI_Errhandler eh;
        MPI_Info info, used;
        MPI_Comm comm;
        int sum;

        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
        OK(MPI_Comm_create_errhandler(on_comm, &eh));
        OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
        OK(MPI_Comm_set_errhandler(comm, eh));
        OK(MPI_Errhandler_free(&eh));
        OK(MPI_Info_free(&info));
        OK(MPI_Comm_get_info(comm, &used));
        OK(MPI_Info_free(&used));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_EQ(sum, size * (size - 1) / 2);
        OK(MPI_Comm_free(&comm));
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[N_THREADS];
    int provided;

    for (int k = 0; k < N_THREADS; k++) {
        MUST(pthread_create(&threads[k], NULL, run, (void *)(intptr_t)k) == 0);
    }
    while (atomic_load(&n_running) < N_THREADS) { /* all before MPI_Init */
        sched_yield();
    }
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    CHECK(provided >= MPI_THREAD_FUNNELED);
    atomic_store(&is_up, 1);
    communicate();
    atomic_store(&is_up, 0);
    for (int k = 0; k < N_THREADS; k++) { /* none is in level() any more */
        int now = atomic_load(&rounds[k]);

        while (atomic_load(&rounds[k]) < now + 2) {
            sched_yield();
        }
    }
    OK(MPI_Finalize());
    atomic_store(&has_ended, 1);
    for (int k = 0; k < N_THREADS; k++) {
        pthread_join(threads[k], NULL);
        OK(MPI_Session_finalize(&sessions[k]));
    }
    return 0;
}
