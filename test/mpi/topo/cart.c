/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian topologies (MPI-5.0 8.5): against coordinates computed here, degenerate grids, bad
   arguments. Any number of ranks. */
#include "../check.h"

#include <string.h>

static int rank, size;

/* Row-major, the last dimension fastest. */
static int rank_of(int n, const int dims[], const int coords[])
{
    int r = 0;

    for (int i = 0; i < n; i++) {
        r = r * dims[i] + coords[i];
    }
    return r;
}

static void check_coords(MPI_Comm cart, int n, const int dims[])
{
    int n_nodes, coords[4];

    MPI_Comm_size(cart, &n_nodes);
    for (int r = 0; r < n_nodes; r++) {
        int back = -1;

        OK(MPI_Cart_coords(cart, r, n, coords));
        for (int i = 0; i < n; i++) {
            CHECK(coords[i] >= 0 && coords[i] < dims[i]);
        }
        CHECK_EQ(rank_of(n, dims, coords), r);
        OK(MPI_Cart_rank(cart, coords, &back));
        CHECK_EQ(back, r);
    }
}

/* The neighbor at a distance, by hand. */
static int neighbor(int n, const int dims[], const int periods[], const int coords[], int dim,
                    int disp)
{
    int there[4];

    memcpy(there, coords, (size_t)n * sizeof(int));
    there[dim] += disp;
    if (!periods[dim] && (there[dim] < 0 || there[dim] >= dims[dim])) {
        return MPI_PROC_NULL;
    }
    there[dim] = (there[dim] % dims[dim] + dims[dim]) % dims[dim];
    return rank_of(n, dims, there);
}

static void check_shifts(MPI_Comm cart, int n, const int dims[], const int periods[])
{
    static const int disps[] = {1, -1, 0, 2, 7, -13};
    int coords[4], me;

    MPI_Comm_rank(cart, &me);
    OK(MPI_Cart_coords(cart, me, n, coords));
    for (int dim = 0; dim < n; dim++) {
        for (size_t k = 0; k < sizeof(disps) / sizeof(disps[0]); k++) {
            int source = -5, dest = -5;

            OK(MPI_Cart_shift(cart, dim, disps[k], &source, &dest));
            CHECK_EQ(dest, neighbor(n, dims, periods, coords, dim, disps[k]));
            CHECK_EQ(source, neighbor(n, dims, periods, coords, dim, -disps[k]));
        }
    }
    /* Coordinates of periodic dimensions wrap. */
    for (int dim = 0; dim < n; dim++) {
        int far[4], found = -1;

        memcpy(far, coords, sizeof(far));
        far[dim] -= 3 * dims[dim];
        if (periods[dim]) {
            OK(MPI_Cart_rank(cart, far, &found));
            CHECK_EQ(found, me);
        } else {
            FAILS(MPI_Cart_rank(cart, far, &found), MPI_ERR_ARG);
        }
    }
}

static void check_get(MPI_Comm cart, int n, const int dims[], const int periods[])
{
    int got_n = -1, got_dims[4], got_periods[4], got_coords[4], coords[4], me, status = -1;

    MPI_Comm_rank(cart, &me);
    OK(MPI_Topo_test(cart, &status));
    CHECK_EQ(status, MPI_CART);
    OK(MPI_Cartdim_get(cart, &got_n));
    CHECK_EQ(got_n, n);
    OK(MPI_Cart_get(cart, 4, got_dims, got_periods, got_coords));
    OK(MPI_Cart_coords(cart, me, 4, coords));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(got_dims[i], dims[i]);
        CHECK_EQ(got_periods[i], periods[i]);
        CHECK_EQ(got_coords[i], coords[i]);
    }
    if (n > 0) {
        FAILS(MPI_Cart_get(cart, n - 1, got_dims, got_periods, got_coords), MPI_ERR_ARG);
        FAILS(MPI_Cart_coords(cart, me, n - 1, coords), MPI_ERR_ARG);
    }
}

/* The ranks that share the coordinates of the dimensions dropped. */
static void check_sub(MPI_Comm cart, int n, const int dims[], const int periods[])
{
    int coords[4], me;

    MPI_Comm_rank(cart, &me);
    OK(MPI_Cart_coords(cart, me, n, coords));
    for (int mask = 0; mask < 1 << n; mask++) {
        int remain[4], sub_dims[4], sub_periods[4], sub_coords[4], n_sub = 0, sum = 0, want = 0;
        int sub_rank, sub_size;
        MPI_Comm sub;

        for (int i = 0; i < n; i++) {
            remain[i] = mask >> i & 1;
            if (remain[i]) {
                sub_dims[n_sub] = dims[i];
                sub_periods[n_sub] = periods[i];
                sub_coords[n_sub++] = coords[i];
            }
        }
        OK(MPI_Cart_sub(cart, remain, &sub));
        check_get(sub, n_sub, sub_dims, sub_periods);
        MPI_Comm_rank(sub, &sub_rank);
        MPI_Comm_size(sub, &sub_size);
        CHECK_EQ(sub_rank, rank_of(n_sub, sub_dims, sub_coords));
        for (int r = 0; r < rank_of(n, dims, dims) + size; r++) {
            int other[4], is_in = 1, n_nodes;

            MPI_Comm_size(cart, &n_nodes);
            if (r >= n_nodes) {
                break;
            }
            OK(MPI_Cart_coords(cart, r, n, other));
            for (int i = 0; i < n; i++) {
                is_in &= remain[i] || other[i] == coords[i];
            }
            want += is_in ? r : 0;
        }
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, sub);
        CHECK_EQ(sum, want);
        OK(MPI_Comm_free(&sub));
    }
}

static void check_dup(MPI_Comm cart, int n, const int dims[], const int periods[])
{
    MPI_Comm dup;

    OK(MPI_Comm_dup(cart, &dup));
    check_get(dup, n, dims, periods);
    check_shifts(dup, n, dims, periods);
    OK(MPI_Comm_free(&dup));
}

static void check_grid(int n, const int dims[], const int periods[], int reorder)
{
    MPI_Comm cart;
    int n_nodes = 1, new_rank = -7;

    for (int i = 0; i < n; i++) {
        n_nodes *= dims[i];
    }
    OK(MPI_Cart_map(MPI_COMM_WORLD, n, dims, periods, &new_rank));
    CHECK(new_rank == MPI_UNDEFINED || (new_rank >= 0 && new_rank < n_nodes));
    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, reorder, &cart));
    if (!reorder) {
        CHECK_EQ(cart != MPI_COMM_NULL, rank < n_nodes);
    }
    if (cart == MPI_COMM_NULL) {
        return;
    }
    if (!reorder) {
        int me;

        MPI_Comm_rank(cart, &me);
        CHECK_EQ(me, rank);
    }
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    check_get(cart, n, dims, periods);
    check_coords(cart, n, dims);
    check_shifts(cart, n, dims, periods);
    check_sub(cart, n, dims, periods);
    check_dup(cart, n, dims, periods);
    OK(MPI_Comm_free(&cart));
}

static void balanced(void)
{
    for (int n = 1; n <= 4; n++) {
        int dims[4] = {0};

        OK(MPI_Dims_create(size, n, dims));
        for (int mask = 0; mask < 1 << n; mask++) {
            int periods[4];

            for (int i = 0; i < n; i++) {
                periods[i] = mask >> i & 1;
            }
            check_grid(n, dims, periods, mask & 1);
        }
    }
}

/* Grids without dimensions, with one node, that leave ranks out, with sizes of 1. */
static void degenerate(void)
{
    const int ones[3] = {1, 1, 1}, periods[3] = {1, 0, 1}, some[1] = {(size + 1) / 2};
    int thin[3] = {1, size, 1};
    MPI_Comm cart;

    check_grid(0, NULL, NULL, 0);
    check_grid(3, ones, periods, 0);
    check_grid(1, some, periods, 0);
    check_grid(3, thin, periods, 1);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &cart));
    CHECK_EQ(cart != MPI_COMM_NULL, rank == 0);
    if (cart != MPI_COMM_NULL) {
        int n = -1, r = -1, source, dest;

        MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
        OK(MPI_Cartdim_get(cart, &n));
        CHECK_EQ(n, 0);
        OK(MPI_Cart_get(cart, 0, NULL, NULL, NULL));
        OK(MPI_Cart_rank(cart, NULL, &r));
        CHECK_EQ(r, 0);
        OK(MPI_Cart_coords(cart, 0, 0, NULL));
        FAILS(MPI_Cart_shift(cart, 0, 1, &source, &dest), MPI_ERR_DIMS);
        OK(MPI_Comm_free(&cart));
    }
}

/* Topologies belong to the new communicator only, and pass to no other child. */
static void no_topology(void)
{
    int dims[1] = {size}, periods[1] = {0}, status = -1;
    MPI_Comm cart, child;

    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart));
    OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
    CHECK_EQ(status, MPI_UNDEFINED);
    OK(MPI_Comm_split(cart, 0, 0, &child));
    OK(MPI_Topo_test(child, &status));
    CHECK_EQ(status, MPI_UNDEFINED);
    OK(MPI_Comm_free(&child));
    OK(MPI_Comm_free(&cart));
}

static void refused_grids(void)
{
    int dims[2] = {size, 1}, zero[2] = {0, size}, large[2] = {size + 1, 1},
        huge[2] = {1 << 16, 1 << 16};
    int periods[2] = {0, 0}, new_rank;
    MPI_Comm cart;

    FAILS(MPI_Cart_create(MPI_COMM_NULL, 2, dims, periods, 0, &cart), MPI_ERR_COMM);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, zero, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, large, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, huge, periods, 0, &cart), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, periods, 0, &cart), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, NULL, 0, &cart), MPI_ERR_ARG);
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_map(MPI_COMM_WORLD, 2, large, periods, &new_rank), MPI_ERR_DIMS);
    FAILS(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, NULL), MPI_ERR_ARG);
    FAILS(MPI_Dims_create(7, 2, (int[]){0, 3}), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(0, 1, (int[]){0}), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(4, -1, NULL), MPI_ERR_DIMS);
    FAILS(MPI_Dims_create(4, 2, NULL), MPI_ERR_ARG);
}

static void refused_inquiries(void)
{
    int dims[2] = {size, 1}, periods[2] = {0, 0}, coords[2] = {0, 0}, out = 0, other = 0;
    MPI_Comm cart;

    FAILS(MPI_Topo_test(MPI_COMM_NULL, &out), MPI_ERR_COMM);
    FAILS(MPI_Topo_test(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &out), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_get(MPI_COMM_WORLD, 2, dims, periods, coords), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_rank(MPI_COMM_WORLD, coords, &out), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_coords(MPI_COMM_WORLD, 0, 2, coords), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &out, &other), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Cart_sub(MPI_COMM_WORLD, dims, &cart), MPI_ERR_TOPOLOGY);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart));
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    FAILS(MPI_Cartdim_get(cart, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_get(cart, 2, NULL, periods, coords), MPI_ERR_ARG);
    FAILS(MPI_Cart_get(cart, 2, dims, NULL, coords), MPI_ERR_ARG);
    FAILS(MPI_Cart_get(cart, 2, dims, periods, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(cart, NULL, &out), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(cart, coords, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_coords(cart, size, 2, coords), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(cart, -1, 2, coords), MPI_ERR_RANK);
    FAILS(MPI_Cart_coords(cart, 0, 2, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_shift(cart, 2, 1, &out, &other), MPI_ERR_DIMS);
    FAILS(MPI_Cart_shift(cart, -1, 1, &out, &other), MPI_ERR_DIMS);
    FAILS(MPI_Cart_shift(cart, 0, 1, NULL, &other), MPI_ERR_ARG);
    FAILS(MPI_Cart_shift(cart, 0, 1, &out, NULL), MPI_ERR_ARG);
    FAILS(MPI_Cart_sub(cart, NULL, &cart), MPI_ERR_ARG);
    FAILS(MPI_Cart_sub(cart, dims, NULL), MPI_ERR_ARG);
    OK(MPI_Comm_free(&cart));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    balanced();
    degenerate();
    no_topology();
    refused_grids();
    refused_inquiries();
    MPI_Finalize();
    return 0;
}
