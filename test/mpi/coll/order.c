/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that do not commute keep the order of ranks, in every algorithm; types with gaps keep
   what lies in the gaps. The operation composes functions x -> a x + b (mod p), on a type with a
   hole in its middle. */
#include "force.h"

#include <stddef.h>
#include <string.h>

#define P 1000003

struct affine {
    int a;
    int hole;
    long b;
};

static int rank, size;
static MPI_Datatype type;
static MPI_Op op;

/* in first, then inout: the left operand acts first. */
static struct affine compose(struct affine in, struct affine inout)
{
    struct affine r = {(int)((long)in.a * inout.a % P), inout.hole,
                       ((long)inout.a * in.b + inout.b) % P};

    return r;
}

static void apply(void *in, void *inout, int *len, MPI_Datatype *t)
{
    CHECK(*t == type);
    for (int i = 0; i < *len; i++) {
        ((struct affine *)inout)[i] =
            compose(((struct affine *)in)[i], ((struct affine *)inout)[i]);
    }
}

static struct affine of_rank(int r, int i)
{
    struct affine f = {(r * 31 + i) % 97 + 2, 1234, (r * 17 + i * 5) % P};

    return f;
}

static struct affine of_ranks(int first, int last, int i)
{
    struct affine f = of_rank(first, i);

    for (int r = first + 1; r <= last; r++) {
        f = compose(f, of_rank(r, i));
    }
    return f;
}

static struct affine *vector(int n, int is_mine)
{
    struct affine *v = malloc((size_t)(n + 1) * sizeof(*v));

    for (int i = 0; i < n; i++) {
        v[i] = is_mine ? of_rank(rank, i) : (struct affine){-1, 4321, -1};
    }
    return v;
}

static void same(struct affine got, struct affine want, int hole)
{
    CHECK_EQ(got.a, want.a);
    CHECK_EQ(got.b, want.b);
    CHECK_EQ(got.hole, hole);
}

static void reduce(int n, int root)
{
    struct affine *in = vector(n, 1), *out = vector(n, 0);

    OK(MPI_Reduce(in, out, n, type, op, root, MPI_COMM_WORLD));
    for (int i = 0; i < n && rank == root; i++) {
        same(out[i], of_ranks(0, size - 1, i), 4321);
    }
    free(in);
    free(out);
}

static void allreduce(int n)
{
    struct affine *in = vector(n, 1), *out = vector(n, 0);

    OK(MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD));
    OK(MPI_Allreduce(MPI_IN_PLACE, in, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        same(out[i], of_ranks(0, size - 1, i), 4321);
        same(in[i], of_ranks(0, size - 1, i), 1234);
    }
    free(in);
    free(out);
}

static void scan(int n)
{
    struct affine *in = vector(n, 1), *out = vector(n, 0), *ex = vector(n, 0);

    OK(MPI_Scan(in, out, n, type, op, MPI_COMM_WORLD));
    OK(MPI_Exscan(in, ex, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        same(out[i], of_ranks(0, rank, i), 4321);
        if (rank > 0) {
            same(ex[i], of_ranks(0, rank - 1, i), 4321);
        }
    }
    free(in);
    free(out);
    free(ex);
}

static void reduce_scatter(int n)
{
    struct affine *in = vector(n * size, 1), *out = vector(n, 0);

    OK(MPI_Reduce_scatter_block(in, out, n, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        same(out[i], of_ranks(0, size - 1, rank * n + i), 4321);
    }
    free(in);
    free(out);
}

static void make_type(void)
{
    const int lens[] = {1, 1};
    const MPI_Aint at[] = {offsetof(struct affine, a), offsetof(struct affine, b)};
    const MPI_Datatype types[] = {MPI_INT, MPI_LONG};
    MPI_Datatype bare;

    OK(MPI_Type_create_struct(2, lens, at, types, &bare));
    OK(MPI_Type_create_resized(bare, 0, sizeof(struct affine), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&bare));
}

/* Data moves through types with gaps as well. */
static void bcast(int n)
{
    struct affine *v = vector(n, rank == 1 % size);

    OK(MPI_Bcast(v, n, type, 1 % size, MPI_COMM_WORLD));
    for (int i = 0; i < n; i++) {
        same(v[i], of_rank(1 % size, i), rank == 1 % size ? 1234 : 4321);
    }
    free(v);
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 5, 37, 3000};
    int provided;

    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_type();
    OK(MPI_Op_create(apply, 0, &op));
    for (int c = 0; c < 5; c++) {
        int n = fewer(counts[c], size);

        for (int root = 0; root < size; root = next_root(root, size)) {
            EACH_ALGORITHM("coll_reduce_algorithm", reduce(n, root));
        }
        EACH_ALGORITHM("coll_allreduce_algorithm", allreduce(n));
        EACH_ALGORITHM("coll_reduce_scatter_algorithm", reduce_scatter(n));
        EACH_ALGORITHM("coll_bcast_algorithm", bcast(n));
        scan(n);
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
