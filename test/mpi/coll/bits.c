/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "Strongly recommended" (MPI-5.0 6.9.1): the same arguments in the same order give the same bits.
 * Sums of doubles of very different size, which depend on the order of additions, in each
 * reduction: by each algorithm, to any root, in place or not, in halves or as one vector.
 */
#include "force.h"

#include <string.h>

enum { MOST = 6000 }; /* elements of a vector, or of all blocks */

static int rank, size;
static double mine[MOST], got[MOST], want[MOST];

static double value(int r, int i)
{
    return (1 + (r * 5 + i) % 7) / 3.0 * (1 << (r * 11 + i) % 23);
}

static void fill(void)
{
    for (int i = 0; i < MOST; i++) {
        mine[i] = value(rank, i);
        got[i] = -1;
    }
}

static void same(const double *a, const double *b, int n, const char *what)
{
    if (memcmp(a, b, (size_t)n * sizeof(*a)) != 0) {
        printf("%s of %d: other bits in rank %d of %d\n", what, n, rank, size);
        CHECK(0);
    }
}

static void allreduce(int n)
{
    fill();
    OK(MPI_Allreduce(mine, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    same(got, want, n, "allreduce");
    OK(MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    same(mine, want, n, "allreduce in place");
}

static void reduce(int n, int root)
{
    fill();
    OK(MPI_Reduce(mine, got, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
    if (rank == root) {
        same(got, want, n, "reduce");
    }
    OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, mine, n, MPI_DOUBLE, MPI_SUM, root,
                  MPI_COMM_WORLD));
    if (rank == root) {
        same(mine, want, n, "reduce in place");
    }
}

static void reduce_scatter(int n)
{
    n /= size;
    fill();
    OK(MPI_Reduce_scatter_block(mine, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    same(got, want + rank * n, n, "reduce_scatter_block");
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    same(mine, want + rank * n, n, "reduce_scatter_block in place");
}

static void scan(int n)
{
    fill();
    OK(MPI_Scan(mine, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    same(got, want, n, "scan");
    OK(MPI_Scan(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    same(mine, want, n, "scan in place");
}

static void exscan(int n)
{
    fill();
    OK(MPI_Exscan(mine, got, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    if (rank > 0) {
        same(got, want, n, "exscan");
    }
    OK(MPI_Exscan(MPI_IN_PLACE, mine, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    if (rank > 0) {
        same(mine, want, n, "exscan in place");
    }
}

/* A nonblocking call goes by messages; the reference is its result. */
static void wait_for(MPI_Request *r)
{
    OK(MPI_Wait(r, MPI_STATUS_IGNORE));
}

static void check(int n)
{
    MPI_Request r;

    fill();
    OK(MPI_Iallreduce(mine, want, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
    wait_for(&r);
    EACH_ALGORITHM("coll_allreduce_algorithm", allreduce(n));
    for (int root = 0; root < size; root = next_root(root, size)) {
        EACH_ALGORITHM("coll_reduce_algorithm", reduce(n, root));
    }
    EACH_ALGORITHM("coll_reduce_scatter_algorithm", reduce_scatter(n));
    fill();
    OK(MPI_Iscan(mine, want, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
    wait_for(&r);
    EACH_ALGORITHM("coll_scan_algorithm", scan(n));
    fill();
    OK(MPI_Iexscan(mine, want, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r));
    wait_for(&r);
    EACH_ALGORITHM("coll_exscan_algorithm", exscan(n));
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 5, 37, 1000, MOST};
    int provided;

    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 6; i++) {
        check(counts[i]);
    }
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
