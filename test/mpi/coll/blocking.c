/* SPDX-License-Identifier: BSD-3-Clause */
/* Every blocking collective against results computed apart: counts from none to many, every root,
   in place and not. Values are small integers in several types, so that sums are exact in any
   order. */
#include "force.h"

#include <string.h>

static const int counts[] = {0, 1, 2, 3, 7, 64, 1000, 20000};
#define N_COUNTS ((int)(sizeof(counts) / sizeof(counts[0])))

static int rank, size;

/* What rank r contributes as element i. */
static long value(int r, long i)
{
    return (r * 7 + i * 3) % 101;
}

static long *fill(long n)
{
    long *a = malloc((size_t)(n + 1) * sizeof(long));

    for (long i = 0; i < n; i++) {
        a[i] = value(rank, i);
    }
    a[n] = -77;
    return a;
}

static long *blank(long n)
{
    long *a = malloc((size_t)(n + 1) * sizeof(long));

    for (long i = 0; i <= n; i++) {
        a[i] = -77;
    }
    return a;
}

static void done(long *a, long n)
{
    CHECK_EQ(a[n], -77);
    free(a);
}

static void bcast(int n, int root)
{
    long *a = rank == root ? fill(n) : blank(n);

    OK(MPI_Bcast(a, n, MPI_LONG, root, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(a[i], value(root, i));
    }
    done(a, n);
}

static long sum(long i)
{
    long s = 0;

    for (int r = 0; r < size; r++) {
        s += value(r, i);
    }
    return s;
}

static void reduce(int n, int root)
{
    long *in = fill(n), *out = blank(n);

    OK(MPI_Reduce(in, rank == root ? out : NULL, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; i < n && rank == root; i++) {
        CHECK_EQ(out[i], sum(i));
    }
    OK(MPI_Reduce(rank == root ? MPI_IN_PLACE : in, in, n, MPI_LONG, MPI_SUM, root,
                  MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i], rank == root ? sum(i) : value(rank, i));
    }
    done(in, n);
    done(out, n);
}

static void allreduce(int n)
{
    long *in = fill(n), *out = blank(n);

    OK(MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[i], sum(i));
        CHECK_EQ(in[i], sum(i));
    }
    done(in, n);
    done(out, n);
}

static void gather(int n, int root)
{
    long total = (long)n * size;
    long *in = fill(n), *out = blank(total);

    OK(MPI_Gather(in, n, MPI_LONG, out, n, MPI_LONG, root, MPI_COMM_WORLD));
    for (long i = 0; i < total; i++) {
        CHECK_EQ(out[i], rank == root ? value((int)(i / n), i % n) : -77);
    }
    memcpy(out + (long)rank * n, in, (size_t)n * sizeof(long));
    OK(MPI_Gather(rank == root ? MPI_IN_PLACE : in, n, MPI_LONG, out, n, MPI_LONG, root,
                  MPI_COMM_WORLD));
    for (long i = 0; i < total && rank == root; i++) {
        CHECK_EQ(out[i], value((int)(i / n), i % n));
    }
    done(in, n);
    done(out, total);
}

static void scatter(int n, int root)
{
    long total = (long)n * size;
    long *in = fill(total), *out = blank(n);

    OK(MPI_Scatter(rank == root ? in : NULL, n, MPI_LONG, out, n, MPI_LONG, root, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[i], value(root, (long)rank * n + i));
    }
    OK(MPI_Scatter(in, n, MPI_LONG, rank == root ? MPI_IN_PLACE : out, n, MPI_LONG, root,
                   MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[i], value(root, (long)rank * n + i));
    }
    done(in, total);
    done(out, n);
}

static void allgather(int n)
{
    long total = (long)n * size;
    long *in = fill(n), *out = blank(total);

    OK(MPI_Allgather(in, n, MPI_LONG, out, n, MPI_LONG, MPI_COMM_WORLD));
    for (long i = 0; i < total; i++) {
        CHECK_EQ(out[i], value((int)(i / n), i % n));
        out[i] = i / n == rank ? out[i] : -1;
    }
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_LONG, MPI_COMM_WORLD));
    for (long i = 0; i < total; i++) {
        CHECK_EQ(out[i], value((int)(i / n), i % n));
    }
    done(in, n);
    done(out, total);
}

static void alltoall(int n)
{
    long total = (long)n * size;
    long *in = fill(total), *out = blank(total);

    OK(MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, MPI_COMM_WORLD));
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_LONG, MPI_COMM_WORLD));
    for (long i = 0; i < total; i++) {
        CHECK_EQ(out[i], value((int)(i / n), (long)rank * n + i % n));
        CHECK_EQ(in[i], out[i]);
    }
    done(in, total);
    done(out, total);
}

static void scan(int n)
{
    long *in = fill(n), *out = blank(n), *ex = blank(n);

    OK(MPI_Scan(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Exscan(in, ex, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        long s = 0;

        for (int r = 0; r < rank; r++) {
            s += value(r, i);
        }
        CHECK_EQ(ex[i], rank == 0 ? -77 : s);
        CHECK_EQ(out[i], s + value(rank, i));
    }
    memcpy(ex, in, (size_t)n * sizeof(long));
    OK(MPI_Scan(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Exscan(MPI_IN_PLACE, ex, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i], out[i]);
        CHECK_EQ(ex[i], rank == 0 ? value(0, i) : out[i] - value(rank, i));
    }
    done(in, n);
    done(out, n);
    done(ex, n);
}

static void reduce_scatter_block(int n)
{
    long total = (long)n * size;
    long *in = fill(total), *out = blank(n);

    OK(MPI_Reduce_scatter_block(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[i], sum((long)rank * n + i));
        CHECK_EQ(in[i], out[i]);
    }
    done(in, total);
    done(out, n);
}

int main(int argc, char **argv)
{
    int provided;

    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int c = 0; c < N_COUNTS; c++) {
        int n = fewer(counts[c], size);

        for (int root = 0; root < size; root = next_root(root, size)) {
            EACH_ALGORITHM("coll_bcast_algorithm", bcast(n, root));
            EACH_ALGORITHM("coll_reduce_algorithm", reduce(n, root));
            EACH_ALGORITHM("coll_gather_algorithm", gather(n, root));
            EACH_ALGORITHM("coll_scatter_algorithm", scatter(n, root));
        }
        EACH_ALGORITHM("coll_allreduce_algorithm", allreduce(n));
        EACH_ALGORITHM("coll_allgather_algorithm", allgather(n));
        EACH_ALGORITHM("coll_alltoall_algorithm", alltoall(n));
        EACH_ALGORITHM("coll_reduce_scatter_algorithm", reduce_scatter_block(n));
        scan(n);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
