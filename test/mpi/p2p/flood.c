/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A million messages of 1 KiB to a rank that does not receive (design D12): it stays below 128 MiB,
 * nothing is lost, and the order holds. The number of messages is an argument.
 */
#include "../check.h"

#include <string.h>

enum { LEN = 1024, BURST = 64 };

/* Peak memory of this process, KiB. */
static long peak_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "VmHWM: %ld", &kib) == 1) {
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    return kib;
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
    long before, after;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    n -= n % BURST;
    before = peak_kib();
    if (rank > 0) {
        send_all(n);
    } else if (size > 1) {
        look_on(size);
        receive_all(n, size);
        after = peak_kib();
        CHECK(after - before < 128 << 10);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    return 0;
}
