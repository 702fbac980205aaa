/* SPDX-License-Identifier: BSD-3-Clause */
/* The v and w forms, with blocks of different lengths, gaps between them, and ranks that have
   nothing; int and _c forms of the same call must agree. */
#include "force.h"

#include <string.h>

static int rank, size;
static MPI_Comm world;

/* Elements that rank a has for rank b; many pairs have none. */
static int n_for(int a, int b, int scale)
{
    return (a * 5 + b * 3) % 4 * scale;
}

static int value(int a, int b, int i)
{
    return a * 1000003 + b * 1009 + i;
}

/* Counts and displacements with a gap of one element before each block. */
struct layout {
    int *counts, *displs, total;
    MPI_Count *counts_c;
    MPI_Aint *displs_c;
};

static struct layout lay_out(int scale, int fixed, int is_to)
{
    struct layout l = {malloc((size_t)size * sizeof(int)), malloc((size_t)size * sizeof(int)), 0,
                       malloc((size_t)size * sizeof(MPI_Count)),
                       malloc((size_t)size * sizeof(MPI_Aint))};

    for (int i = 0; i < size; i++) {
        l.counts[i] = is_to ? n_for(fixed, i, scale) : n_for(i, fixed, scale);
        l.displs[i] = l.total + 1;
        l.counts_c[i] = l.counts[i];
        l.displs_c[i] = l.displs[i];
        l.total += l.counts[i] + 1;
    }
    return l;
}

static void forget(struct layout l)
{
    free(l.counts);
    free(l.displs);
    free(l.counts_c);
    free(l.displs_c);
}

static int *blank(int n)
{
    int *a = malloc(((size_t)n + 1) * sizeof(int));

    for (int i = 0; i <= n; i++) {
        a[i] = -1;
    }
    return a;
}

/* Gaps must be untouched, blocks hold what `from(i)` sent to `to`. */
static void check_blocks(const int *a, struct layout l, int to)
{
    for (int r = 0; r < size; r++) {
        CHECK_EQ(a[l.displs[r] - 1], -1);
        for (int i = 0; i < l.counts[r]; i++) {
            CHECK_EQ(a[l.displs[r] + i], value(r, to, i));
        }
    }
    CHECK_EQ(a[l.total], -1);
}

static int *blocks_to_all(struct layout l)
{
    int *a = blank(l.total);

    for (int r = 0; r < size; r++) {
        for (int i = 0; i < l.counts[r]; i++) {
            a[l.displs[r] + i] = value(rank, r, i);
        }
    }
    return a;
}

static void gatherv(int scale, int root, int is_c)
{
    struct layout l = lay_out(scale, root, 0);
    int n = n_for(rank, root, scale);
    int *mine = blank(n), *all = rank == root ? blank(l.total) : NULL;

    for (int i = 0; i < n; i++) {
        mine[i] = value(rank, root, i);
    }
    if (is_c) {
        OK(MPI_Gatherv_c(mine, n, MPI_INT, all, l.counts_c, l.displs_c, MPI_INT, root, world));
    } else {
        OK(MPI_Gatherv(mine, n, MPI_INT, all, rank == root ? l.counts : NULL, l.displs, MPI_INT,
                       root, world));
    }
    if (rank == root) {
        check_blocks(all, l, root);
        OK(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_INT, all, l.counts, l.displs, MPI_INT, root, world));
        check_blocks(all, l, root);
    } else {
        OK(MPI_Gatherv(mine, n, MPI_INT, NULL, NULL, NULL, MPI_INT, root, world));
    }
    free(mine);
    free(all);
    forget(l);
}

static void scatterv(int scale, int root, int is_c)
{
    struct layout l = lay_out(scale, root, 1);
    int n = n_for(root, rank, scale);
    int *mine = blank(n), *all = rank == root ? blocks_to_all(l) : NULL;

    if (is_c) {
        OK(MPI_Scatterv_c(all, l.counts_c, l.displs_c, MPI_INT, mine, n, MPI_INT, root, world));
    } else {
        OK(MPI_Scatterv(all, l.counts, l.displs, MPI_INT, mine, n, MPI_INT, root, world));
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQ(mine[i], value(root, rank, i));
    }
    CHECK_EQ(mine[n], -1);
    free(mine);
    free(all);
    forget(l);
}

static void allgatherv(int scale, int is_c)
{
    struct layout l = lay_out(scale, 1, 0);
    int n = n_for(rank, 1, scale);
    int *mine = blank(n), *all = blank(l.total);

    for (int i = 0; i < n; i++) {
        mine[i] = value(rank, 1, i);
    }
    if (is_c) {
        OK(MPI_Allgatherv_c(mine, n, MPI_INT, all, l.counts_c, l.displs_c, MPI_INT, world));
    } else {
        OK(MPI_Allgatherv(mine, n, MPI_INT, all, l.counts, l.displs, MPI_INT, world));
    }
    check_blocks(all, l, 1);
    for (int r = 0; r < size; r++) {
        if (r != rank) {
            memset(all + l.displs[r], 0, (size_t)l.counts[r] * sizeof(int));
        }
    }
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, l.counts, l.displs, MPI_INT, world));
    check_blocks(all, l, 1);
    free(mine);
    free(all);
    forget(l);
}

static void alltoallv(int scale, int is_c)
{
    struct layout to = lay_out(scale, rank, 1), from = lay_out(scale, rank, 0);
    int *out = blocks_to_all(to), *in = blank(from.total);

    if (is_c) {
        OK(MPI_Alltoallv_c(out, to.counts_c, to.displs_c, MPI_INT, in, from.counts_c, from.displs_c,
                           MPI_INT, world));
    } else {
        OK(MPI_Alltoallv(out, to.counts, to.displs, MPI_INT, in, from.counts, from.displs, MPI_INT,
                         world));
    }
    check_blocks(in, from, rank);
    free(out);
    free(in);
    forget(to);
    forget(from);
}

/* Types differ per rank: odd peers use MPI_INT, even ones four MPI_BYTE per element. Displacements
   in bytes. */
static void alltoallw(int scale)
{
    struct layout to = lay_out(scale, rank, 1), from = lay_out(scale, rank, 0);
    int *out = blocks_to_all(to), *in = blank(from.total);
    int *sc = malloc((size_t)size * 4 * sizeof(int)), *sd = sc + size, *rc = sd + size,
        *rd = rc + size;
    MPI_Datatype *types = malloc((size_t)size * sizeof(MPI_Datatype));

    for (int r = 0; r < size; r++) {
        int is_int = r % 2;

        types[r] = is_int ? MPI_INT : MPI_BYTE;
        sc[r] = to.counts[r] * (is_int ? 1 : (int)sizeof(int));
        rc[r] = from.counts[r] * (is_int ? 1 : (int)sizeof(int));
        sd[r] = to.displs[r] * (int)sizeof(int);
        rd[r] = from.displs[r] * (int)sizeof(int);
    }
    OK(MPI_Alltoallw(out, sc, sd, types, in, rc, rd, types, world));
    check_blocks(in, from, rank);
    free(out);
    free(in);
    free(sc);
    free(types);
    forget(to);
    forget(from);
}

/* In place, blocks of a pair have one length: n_for(a, b) + n_for(b, a). */
static void alltoallv_in_place(int scale)
{
    struct layout l = lay_out(scale, rank, 1);
    int *a;

    l.total = 0;
    for (int r = 0; r < size; r++) {
        l.counts[r] = n_for(rank, r, scale) + n_for(r, rank, scale);
        l.displs[r] = l.total + 1;
        l.total += l.counts[r] + 1;
    }
    a = blocks_to_all(l);
    OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, a, l.counts, l.displs, MPI_INT, world));
    check_blocks(a, l, rank);
    free(a);
    forget(l);
}

static void reduce_scatter(int scale)
{
    struct layout l = lay_out(scale, 2, 0);
    int n = l.counts[rank], total = 0, before = 0;
    int *all, *out = blank(n);

    for (int r = 0; r < size; r++) {
        before += r < rank ? l.counts[r] : 0;
        total += l.counts[r];
    }
    all = blank(total);
    for (int i = 0; i < total; i++) {
        all[i] = rank + i;
    }
    OK(MPI_Reduce_scatter(all, out, l.counts, MPI_INT, MPI_SUM, world));
    OK(MPI_Reduce_scatter_c(MPI_IN_PLACE, all, l.counts_c, MPI_INT, MPI_SUM, world));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[i], size * (size - 1) / 2 + size * (before + i));
        CHECK_EQ(all[i], out[i]);
    }
    CHECK_EQ(out[n], -1);
    free(all);
    free(out);
    forget(l);
}

int main(int argc, char **argv)
{
    static const int scales[] = {0, 1, 10, 3000};
    int provided;

    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (int s = 0; s < 4; s++) {
        int scale = fewer(scales[s], size);

        for (int root = 0; root < size; root = next_root(root, size)) {
            gatherv(scale, root, root % 2);
            scatterv(scale, root, root % 2);
        }
        for (int is_c = 0; is_c < 2; is_c++) {
            EACH_ALGORITHM("coll_allgather_algorithm", allgatherv(scale, is_c));
            EACH_ALGORITHM("coll_alltoall_algorithm", alltoallv(scale, is_c));
        }
        alltoallw(scale);
        alltoallv_in_place(scale);
        EACH_ALGORITHM("coll_reduce_scatter_algorithm", reduce_scatter(scale));
    }
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
