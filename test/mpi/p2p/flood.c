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

/* What the library counts; -1 where it does not. The words are read as they are. */
static MPI_T_pvar_session session;

static long long read_now(int var_class, const char *name)
{
    MPI_T_pvar_handle handle;
    unsigned long long value;
    int index, count;

    if (MPI_T_pvar_get_index(name, var_class, &index) != MPI_SUCCESS) {
        return -1;
    }
    OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_EQ(count, 1);
    OK(MPI_T_pvar_read(session, handle, &value));
    OK(MPI_T_pvar_handle_free(session, &handle));
    return (long long)value;
}

/* A counter counts while it is started. */
static MPI_T_pvar_handle counter;
static int has_counter;

static void start_counter(const char *name)
{
    int index, count;

    has_counter = MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS;
    if (has_counter) {
        OK(MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &count));
        OK(MPI_T_pvar_start(session, counter));
    }
}

static long long counted(void)
{
    unsigned long long value = 0;

    if (has_counter) {
        OK(MPI_T_pvar_read(session, counter, &value));
    }
    return (long long)value;
}

/* The bytes that one sender may leave here before it is held back; 0: not known. */
static long long window(void)
{
    long long share = read_now(MPI_T_PVAR_CLASS_SIZE, "p2p_unexpected_window");
    unsigned long long limit = 0;
    const char *transport = getenv("FATHOM_TRANSPORT");
    MPI_T_cvar_handle handle;
    int index, count;

    if (share > 0 && transport && strcmp(transport, "ofi") == 0) {
        OK(MPI_T_cvar_get_index("p2p_sender_limit", &index));
        OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
        OK(MPI_T_cvar_read(handle, &limit));
        OK(MPI_T_cvar_handle_free(&handle));
        share = (long long)limit < share ? (long long)limit : share;
    }
    return share > 0 ? share : 0;
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

/* Progress is made all the time, but for a receive that comes last: until the senders are held
   back, so that rendezvous begin for messages that are far too short for one. */
static void look_on(int size)
{
    int flag;

    do {
        OK(MPI_Iprobe(size - 1, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    } while (counted() < size - 1);
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

/* How many each sender sends, where nobody says: with more senders fewer, but enough for all of
   them to be held back. Rank 0 tells the others. */
static int n_messages(int argc, char **argv, int size)
{
    int n = argc > 1 ? atoi(argv[1]) : 20000 / (size > 1 ? size - 1 : 1);
    int enough = (int)(window() / LEN) + 4 * BURST;

    n = argc > 1 || n > enough ? n : enough;
    OK(MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return n - n % BURST;
}

int main(int argc, char **argv)
{
    int n, rank, size, provided, is_held;
    long long stalls, all_stalls;
    long before;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    /* Before any sender knows that it may begin. */
    start_counter(rank ? "p2p_credit_stalls" : "p2p_rts_recvd");
    n = n_messages(argc, argv, size);
    before = memory_kib("VmRSS:");
    is_held = has_counter && window() > 0 && (long long)n * LEN > window();
    if (rank > 0) {
        send_all(n);
    } else if (size > 1) {
        if (is_held) {
            look_on(size);
        }
        CHECK(memory_kib("VmRSS:") - before < 128 << 10);
        receive_all(n, size);
        CHECK(memory_kib("VmHWM:") - before < 128 << 10);
    }
    stalls = rank ? counted() : 0;
    OK(MPI_Reduce(&stalls, &all_stalls, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0 && size > 1 && is_held) {
        CHECK(all_stalls > 0);
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
