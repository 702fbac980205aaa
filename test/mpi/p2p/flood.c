/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of 1 KiB to a rank that does not receive, a million of them when so many are asked for
 * (the argument): it stays below 128 MiB, nothing is lost, the order holds, and where the library
 * counts how its senders were stalled, the count is there to be read.
 */
#include "../check.h"

#include <string.h>

enum { LEN = 1024, BURST = 64 };

/* Memory of this process, KiB: "VmRSS" now, "VmHWM" at its peak. */
static long memory_kib(const char *what)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, what, strlen(what)) == 0) {
            kib = strtol(line + strlen(what) + 1, NULL, 10);
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

/* How often a send had to wait for the receiver, where the library counts that. */
static MPI_T_pvar_session session;
static MPI_T_pvar_handle stalls;
static int has_stalls;

static void count_stalls(void)
{
    int index, count, provided;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    if (MPI_T_pvar_get_index("p2p_credit_stalls", MPI_T_PVAR_CLASS_COUNTER, &index) !=
        MPI_SUCCESS) {
        return;
    }
    has_stalls = 1;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &stalls, &count));
    OK(MPI_T_pvar_start(session, stalls));
}

static void check_stalls(void)
{
    unsigned long long value = 1;

    if (has_stalls) {
        OK(MPI_T_pvar_read(session, stalls, &value));
        OK(MPI_T_pvar_session_free(&session));
    }
    OK(MPI_T_finalize());
    CHECK(value > 0);
}

/* Half of them with MPI_Send, half in bursts of MPI_Isend. */
static void send_all(int n)
{
    static int data[BURST][LEN / sizeof(int)];
    MPI_Request r[BURST];

    for (int k = 0; k < n; k += BURST) {
        for (int i = 0; i < BURST; i++) {
            data[i][0] = data[i][LEN / sizeof(int) - 1] = k + i;
            if (k % (2 * BURST)) {
                OK(MPI_Send(data[i], LEN, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
                r[i] = MPI_REQUEST_NULL;
            } else {
                OK(MPI_Isend(data[i], LEN, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r[i]));
            }
        }
        OK(MPI_Waitall(BURST, r, MPI_STATUSES_IGNORE));
    }
}

/* Progress is made all the time, but for a receive that comes last. */
static void look_on(int n_ranks)
{
    double until = MPI_Wtime() + 1;
    int flag;

    while (MPI_Wtime() < until) {
        OK(MPI_Iprobe(n_ranks - 1, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
}

static void receive_all(int n, int size)
{
    static int data[LEN / sizeof(int)];
    int *next = calloc((size_t)size, sizeof(int));

    CHECK(next);
    for (int k = 0; k < n * (size - 1); k++) {
        MPI_Status st;

        OK(MPI_Recv(data, LEN, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &st));
        CHECK_EQ(data[0], next[st.MPI_SOURCE]);
        CHECK_EQ(data[LEN / sizeof(int) - 1], next[st.MPI_SOURCE]);
        next[st.MPI_SOURCE]++;
    }
    free(next);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 20000;
    int rank, size;
    long before;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    n -= n % BURST;
    before = memory_kib("VmRSS:");
    if (rank > 0) {
        count_stalls();
        send_all(n);
        check_stalls();
    } else if (size > 1) {
        look_on(size);
        CHECK(memory_kib("VmRSS:") - before < 128 << 10);
        receive_all(n, size);
        CHECK(memory_kib("VmHWM:") - before < 128 << 10);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    return 0;
}
