/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by length on all ranks, as many as there are: time of a call and the barrier behind
 * it. The length is that of a vector or of one block. Arguments: how many batches a figure is the
 * best of (default 4), and a collective (default all).
 */
#include "../harness/bench.h"

enum { MOST = 4 << 20, BATCH_NS = 10000000 }; /* bytes of a buffer; time of one batch */

static char *out, *in;
static int rank, size, *counts, *displs;

#define W MPI_COMM_WORLD

static void barrier(int n)
{
    MPI_Barrier(W);
}

static void bcast(int n)
{
    MPI_Bcast(out, n, MPI_CHAR, 0, W);
}

static void reduce(int n)
{
    MPI_Reduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, 0, W);
}

static void allreduce(int n)
{
    MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, W);
}

static void gather(int n)
{
    MPI_Gather(out, n, MPI_CHAR, in, n, MPI_CHAR, 0, W);
}

static void scatter(int n)
{
    MPI_Scatter(out, n, MPI_CHAR, in, n, MPI_CHAR, 0, W);
}

static void allgather(int n)
{
    MPI_Allgather(out, n, MPI_CHAR, in, n, MPI_CHAR, W);
}

static void allgatherv(int n)
{
    for (int r = 0; r < size; r++) {
        counts[r] = n;
        displs[r] = r * n;
    }
    MPI_Allgatherv(out, n, MPI_CHAR, in, counts, displs, MPI_CHAR, W);
}

static void alltoall(int n)
{
    MPI_Alltoall(out, n, MPI_CHAR, in, n, MPI_CHAR, W);
}

static void reduce_scatter_block(int n)
{
    MPI_Reduce_scatter_block(out, in, n / 8, MPI_DOUBLE, MPI_SUM, W);
}

static void scan(int n)
{
    MPI_Scan(out, in, n / 8, MPI_DOUBLE, MPI_SUM, W);
}

static void iallreduce(int n)
{
    MPI_Request r;

    MPI_Iallreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, W, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*call)(int n);
    int has_blocks;
} rows[] = {
    {"barrier", barrier, 0},     {"bcast", bcast, 0},
    {"reduce", reduce, 0},       {"allreduce", allreduce, 0},
    {"gather", gather, 1},       {"scatter", scatter, 1},
    {"allgather", allgather, 1}, {"allgatherv", allgatherv, 1},
    {"alltoall", alltoall, 1},   {"reduce_scatter_block", reduce_scatter_block, 1},
    {"scan", scan, 0},           {"iallreduce", iallreduce, 0},
};

static double batch_ns(void (*call)(int n), int len, int n)
{
    double began;

    MPI_Barrier(W);
    began = now_ns();
    for (int i = 0; i < n; i++) {
        call(len);
        MPI_Barrier(W);
    }
    return now_ns() - began;
}

static void measure(const char *name, void (*call)(int n), int len, int n_batches)
{
    double best = 0, ns;
    int n = 4;

    batch_ns(call, len, 12); /* what the library sets up for later calls */
    for (int more = 1; more;) {
        ns = batch_ns(call, len, n);
        more = ns < BATCH_NS && n < 1 << 16;
        MPI_Bcast(&more, 1, MPI_INT, 0, W);
        n = more ? 2 * n : n;
    }
    if (size == 2) { /* with more the cores are not theirs alone */
        glance(rank, BEFORE);
    }
    for (int i = 0; i < n_batches; i++) {
        ns = batch_ns(call, len, n) / n;
        best = i == 0 || ns < best ? ns : best;
    }
    if (size == 2) {
        glance(rank, AFTER);
    }
    if (rank == 0) {
        char figure[64];

        snprintf(figure, sizeof(figure), "np%d_%s", size, name);
        report(figure, len, best / 1e3, "us");
    }
}

int main(int argc, char **argv)
{
    static const int lens[] = {8, 1 << 10, 16 << 10, 128 << 10, 1 << 20};
    int n_batches = argc > 1 ? atoi(argv[1]) : 4;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(W, &rank);
    MPI_Comm_size(W, &size);
    pin(rank);
    out = calloc(1, MOST);
    in = calloc(1, MOST);
    counts = calloc((size_t)size, sizeof(*counts));
    displs = calloc((size_t)size, sizeof(*displs));
    memset(in, 1, MOST);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int k = 0; k < 5; k++) {
            int len = rows[i].call == barrier ? 0 : lens[k];

            if ((argc > 2 && strcmp(argv[2], rows[i].name) != 0) || (len == 0 && k > 0) ||
                (rows[i].has_blocks && len > MOST / size)) {
                continue;
            }
            measure(rows[i].name, rows[i].call, len, n_batches);
        }
    }
    MPI_Finalize();
    return 0;
}
