/* SPDX-License-Identifier: BSD-3-Clause */
/* Group operations against plain loops over all small sets of ranks (MPI-5.0 7.3). */
#include "../check.h"

static int rank, size;
static MPI_Group world;

/* The group of the ranks in a bit mask, ascending or descending. */
static MPI_Group of_mask(unsigned mask, int is_down)
{
    int ranks[8], n = 0;
    MPI_Group g;

    for (int i = 0; i < size; i++) {
        int r = is_down ? size - 1 - i : i;

        if (mask >> r & 1) {
            ranks[n++] = r;
        }
    }
    OK(MPI_Group_incl(world, n, ranks, &g));
    CHECK_EQ(g == MPI_GROUP_EMPTY, n == 0);
    return g;
}

/* The world ranks of a group, in its order, as digits. */
static long digits(MPI_Group g)
{
    int n, ranks[8], in_world[8];
    long d = 1;

    OK(MPI_Group_size(g, &n));
    for (int i = 0; i < n; i++) {
        ranks[i] = i;
    }
    OK(MPI_Group_translate_ranks(g, n, ranks, world, in_world));
    for (int i = 0; i < n; i++) {
        d = d * 10 + in_world[i];
    }
    return d;
}

static void two(unsigned ma, unsigned mb)
{
    MPI_Group a = of_mask(ma, 1), b = of_mask(mb, 0), g;
    int result, me;
    long u = 1, x = 1, d = 1;

    for (int r = size - 1; r >= 0; r--) {
        if (ma >> r & 1) {
            u = u * 10 + r;
            x = mb >> r & 1 ? x * 10 + r : x;
            d = mb >> r & 1 ? d : d * 10 + r;
        }
    }
    for (int r = 0; r < size; r++) {
        u = (mb & ~ma) >> r & 1 ? u * 10 + r : u;
    }
    OK(MPI_Group_union(a, b, &g));
    CHECK_EQ(digits(g), u);
    OK(MPI_Group_rank(g, &me));
    CHECK_EQ(me != MPI_UNDEFINED, (ma | mb) >> rank & 1);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_intersection(a, b, &g));
    CHECK_EQ(digits(g), x);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_difference(a, b, &g));
    CHECK_EQ(digits(g), d);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_compare(a, b, &result));
    CHECK_EQ(result, ma != mb ? MPI_UNEQUAL : digits(a) == digits(b) ? MPI_IDENT : MPI_SIMILAR);
    OK(MPI_Group_free(&a));
    OK(MPI_Group_free(&b));
}

static void picks(void)
{
    MPI_Group g;
    int all[8], up[2][3] = {{0, size - 1, 2}, {1, size - 1, 2}},
                twice[2][3] = {{0, 0, 1}, {0, 0, 1}};
    int bad = size, n;

    for (int i = 0; i < size; i++) {
        all[i] = i;
    }
    OK(MPI_Group_excl(world, size, all, &g));
    CHECK(g == MPI_GROUP_EMPTY);
    OK(MPI_Group_excl(world, 1, &rank, &g));
    OK(MPI_Group_rank(g, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_range_incl(world, size > 1 ? 2 : 1, up, &g));
    OK(MPI_Group_size(g, &n));
    CHECK_EQ(n, size);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_range_excl(world, 1, up, &g));
    OK(MPI_Group_size(g, &n));
    CHECK_EQ(n, size / 2);
    OK(MPI_Group_free(&g));
    FAILS(MPI_Group_incl(world, 1, &bad, &g), MPI_ERR_RANK);
    FAILS(MPI_Group_range_incl(world, 2, twice, &g), MPI_ERR_RANK);
    up[0][2] = 0;
    FAILS(MPI_Group_range_incl(world, 1, up, &g), MPI_ERR_ARG);
    FAILS(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP);
    bad = MPI_PROC_NULL;
    OK(MPI_Group_translate_ranks(world, 1, &bad, MPI_GROUP_EMPTY, &n));
    CHECK_EQ(n, MPI_PROC_NULL);
    OK(MPI_Group_translate_ranks(world, 1, &rank, MPI_GROUP_EMPTY, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (unsigned a = 0; a < 1u << size && size <= 8; a++) {
        for (unsigned b = 0; b<1u << size; b += size> 4 ? 5 : 1) {
            two(a, b);
        }
    }
    picks();
    OK(MPI_Group_free(&world));
    MPI_Finalize();
    return 0;
}
