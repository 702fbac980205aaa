/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampling tool: every pvar is started in MPI_Init, read from a signal handler 1,000 times a
 * second while messages of all sizes fly, and once more in MPI_Finalize; all by PMPI, as tools
 * do it. Counters must never run backwards, and no read may fail.
 */
#include "../check.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define MAX_VARS  2000
#define MAX_COUNT 4096

static struct {
    MPI_T_pvar_handle handle;
    int is_counter, count;
    unsigned long long last;
} vars[MAX_VARS];
static MPI_T_pvar_session session;
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
            n_wrong = n_wrong + (buf[0] < vars[i].last);
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

int MPI_Init(int *argc, char ***argv)
{
    struct itimerval often = {{0, 1000}, {0, 1000}};
    struct sigaction action;
    int provided, rc = PMPI_Init(argc, argv);

    OK(PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(PMPI_T_pvar_session_create(&session));
    open_all();
    memset(&action, 0, sizeof(action));
    action.sa_handler = sample;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    return rc;
}

int MPI_Finalize(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &never, NULL);
    sample(0);
    CHECK_EQ(n_wrong, 0);
    CHECK(n_samples > 1);
    OK(PMPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    OK(PMPI_T_pvar_session_free(&session));
    OK(PMPI_T_finalize());
    return PMPI_Finalize();
}

int main(int argc, char **argv)
{
    static char out[200000], in[200000];
    int rank, size, n, i, len;
    double began;

    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    began = MPI_Wtime();
    for (n = 1; n;) {
        for (i = 0; i < 20; i++) {
            len = 1 << i % 18;
            OK(MPI_Sendrecv(out, len, MPI_CHAR, (rank + 1) % size, i, in, len, MPI_CHAR,
                            (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        n = MPI_Wtime() < began + 0.5;
        OK(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    OK(MPI_Finalize());
    return 0;
}
