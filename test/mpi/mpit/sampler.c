/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampling tool: every pvar is started in MPI_Init, read from a signal handler 10,000 times a
 * second while messages of all sizes fly, and once more in MPI_Finalize; all by PMPI, as tools do
 * it. Meanwhile handles of another session are stopped, started and reset. Counters must never run
 * backwards nor leap, and no read may fail. The argument is the number of signals (default 2000).
 */
#include "../check.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define MAX_VARS  2000
#define MAX_COUNT 4096

static struct {
    MPI_T_pvar_handle handle;
    int is_counter, count;
    unsigned long long last;
} vars[MAX_VARS];
static MPI_T_pvar_session session, other;
static MPI_T_pvar_handle others[MAX_VARS];
static timer_t timer;
static volatile sig_atomic_t n_samples, n_wrong;
static int n_vars;

/* Everything in here is what a handler may call. */
static void sample(int sig)
{
    static unsigned long long buf[MAX_COUNT];
    int i;

    (void)sig;
    n_samples = n_samples + 1;
    for (i = 0; i < n_vars; i++) {
        if (PMPI_T_pvar_read(session, vars[i].handle, buf) != MPI_SUCCESS) {
            n_wrong = n_wrong + 1;
        } else if (vars[i].is_counter) {
            /* Half of a value that was caught between two writes would be far away. */
            n_wrong = n_wrong + (buf[0] < vars[i].last || buf[0] >> 48);
            vars[i].last = buf[0];
        }
    }
}

static void open_all(void)
{
    int i, n = 0, klass, bind, count;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype type;

    OK(PMPI_T_pvar_get_num(&n));
    for (i = 0; i < n && n_vars < MAX_VARS; i++) {
        OK(PMPI_T_pvar_get_info(i, NULL, NULL, NULL, &klass, &type, NULL, NULL, NULL, &bind, NULL,
                                NULL, NULL));
        if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) {
            continue;
        }
        OK(PMPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL,
                                    &vars[n_vars].handle, &count));
        CHECK(count <= MAX_COUNT);
        vars[n_vars].count = count;
        vars[n_vars].is_counter =
            type == MPI_UNSIGNED_LONG_LONG && count > 0 &&
            (klass == MPI_T_PVAR_CLASS_COUNTER || klass == MPI_T_PVAR_CLASS_AGGREGATE ||
             klass == MPI_T_PVAR_CLASS_HIGHWATERMARK);
        n_vars++;
    }
    OK(PMPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
}

/* Another session, whose handles change while the first one's are read. */
static void disturb(void)
{
    int count, n = 0;

    if (!others[0]) {
        OK(MPI_T_pvar_session_create(&other));
        OK(MPI_T_pvar_get_num(&n));
    }
    for (int i = 0; i < n && i < MAX_VARS; i++) {
        MPI_Comm world = MPI_COMM_WORLD;
        int bind;

        OK(MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                               NULL));
        OK(MPI_T_pvar_handle_alloc(other, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL,
                                   &others[i], &count));
    }
    OK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(other, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_reset(other, MPI_T_PVAR_ALL_HANDLES));
}

int MPI_Init(int *argc, char ***argv)
{
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    struct sigevent how;
    struct sigaction action;
    int provided, rc = PMPI_Init(argc, argv);

    OK(PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(PMPI_T_pvar_session_create(&session));
    open_all();
    memset(&action, 0, sizeof(action));
    action.sa_handler = sample;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    memset(&how, 0, sizeof(how));
    how.sigev_notify = SIGEV_SIGNAL;
    how.sigev_signo = SIGPROF;
    CHECK(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
    timer_settime(timer, 0, &often, NULL);
    return rc;
}

int MPI_Finalize(void)
{
    signal(SIGPROF, SIG_IGN); /* what is pending, too */
    timer_delete(timer);
    sample(0);
    CHECK_EQ(n_wrong, 0);
    CHECK(n_samples > 1);
    OK(PMPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    OK(PMPI_T_pvar_session_free(&session));
    OK(PMPI_T_pvar_session_free(&other));
    OK(PMPI_T_finalize());
    return PMPI_Finalize();
}

int main(int argc, char **argv)
{
    static char out[200000], in[200000];
    int rank, size, n, i, len, n_signals = argc > 1 ? atoi(argv[1]) : 2000;

    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (n = 1; n;) {
        disturb();
        for (i = 0; i < 20; i++) {
            len = 1 << i % 18;
            OK(MPI_Sendrecv(out, len, MPI_CHAR, (rank + 1) % size, i, in, len, MPI_CHAR,
                            (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        n = n_samples < n_signals;
        OK(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    OK(MPI_Finalize());
    return 0;
}
