/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: making, merging, splitting, copying; messages and all collectives between the
   two groups, blocking and not (MPI-5.0 6.2.3, 7.6). */
#include "../check.h"

static int rank, size;
static int side;      /* 0: even ranks, 1: odd ones */
static int me, n, nr; /* in the local group; sizes of the local and the remote one */

static int value(int of_side, int r, int i)
{
    return of_side * 1000 + r * 10 + i;
}

static MPI_Comm make(MPI_Comm *out_local)
{
    MPI_Comm inter;
    int flag;

    OK(MPI_Comm_split(MPI_COMM_WORLD, side, rank, out_local));
    /* The leaders are the last ranks of their groups. */
    OK(MPI_Comm_size(*out_local, &n));
    nr = size - n;
    OK(MPI_Intercomm_create(*out_local, n - 1, MPI_COMM_WORLD,
                            side == 0 ? 2 * (nr - 1) + 1 : 2 * (nr - 1), 99, &inter));
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    OK(MPI_Comm_rank(inter, &me));
    CHECK_EQ(me, rank / 2);
    OK(MPI_Comm_size(inter, &flag));
    CHECK_EQ(flag, n);
    OK(MPI_Comm_remote_size(inter, &flag));
    CHECK_EQ(flag, nr);
    return inter;
}

static void messages(MPI_Comm inter)
{
    int in = -1;
    MPI_Status st;

    for (int r = 0; r < nr; r++) {
        int out = value(side, me, r);
        MPI_Request q;

        OK(MPI_Isend(&out, 1, MPI_INT, r, 7, inter, &q));
        OK(MPI_Recv(&in, 1, MPI_INT, r, 7, inter, &st));
        CHECK_EQ(in, value(!side, r, me));
        CHECK_EQ(st.MPI_SOURCE, r);
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    }
}

/* Who is the root: rank r of side `from`, seen from here. */
static int root_of(int from, int r)
{
    if (side != from) {
        return r;
    }
    return me == r ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(MPI_Comm c, int from, int r)
{
    enum { N = 3 };
    int root = root_of(from, r);
    int a[N], all[64 * N];

    for (int i = 0; i < N; i++) {
        a[i] = value(side, me, i);
    }
    OK(MPI_Bcast(a, N, MPI_INT, root, c));
    for (int i = 0; i < N; i++) {
        CHECK_EQ(a[i], side == from ? value(side, me, i) : value(from, r, i));
        a[i] = value(side, me, i);
    }
    OK(MPI_Gather(a, N, MPI_INT, all, N, MPI_INT, root, c));
    for (int i = 0; root == MPI_ROOT && i < N * nr; i++) {
        CHECK_EQ(all[i], value(!side, i / N, i % N));
        all[i] += 5;
    }
    OK(MPI_Scatter(all, N, MPI_INT, a, N, MPI_INT, root, c));
    for (int i = 0; i < N && side != from; i++) {
        CHECK_EQ(a[i], value(side, me, i) + 5);
    }
    for (int i = 0; i < N; i++) {
        a[i] = value(side, me, i);
        all[i] = -1;
    }
    OK(MPI_Reduce(a, all, N, MPI_INT, MPI_SUM, root, c));
    for (int i = 0; i < N; i++) {
        int sum = 0;

        for (int k = 0; k < nr; k++) {
            sum += value(!side, k, i);
        }
        CHECK_EQ(all[i], root == MPI_ROOT ? sum : -1);
    }
}

static int remote_sum(int i)
{
    int sum = 0;

    for (int k = 0; k < nr; k++) {
        sum += value(!side, k, i);
    }
    return sum;
}

static void rootless(MPI_Comm c)
{
    /* n * nr elements reduced: counts of both sides add up to the same. */
    int total = n * nr, a[4096], b[4096], counts[64];
    MPI_Request r;

    for (int i = 0; i < 4096; i++) {
        a[i] = value(side, me, i);
        b[i] = -1;
    }
    OK(MPI_Barrier(c));
    OK(MPI_Allreduce(a, b, 5, MPI_INT, MPI_SUM, c));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(b[i], remote_sum(i));
    }
    OK(MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, c));
    for (int i = 0; i < 2 * nr; i++) {
        CHECK_EQ(b[i], value(!side, i / 2, i % 2));
    }
    OK(MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, c));
    for (int i = 0; i < 2 * nr; i++) {
        CHECK_EQ(b[i], value(!side, i / 2, me * 2 + i % 2));
    }
    OK(MPI_Reduce_scatter_block(a, b, nr, MPI_INT, MPI_SUM, c));
    for (int i = 0; i < nr; i++) {
        CHECK_EQ(b[i], remote_sum(me * nr + i));
    }
    for (int i = 0; i < n; i++) {
        counts[i] = i == 0 ? total - (n - 1) : 1;
    }
    OK(MPI_Ireduce_scatter(a, b, counts, MPI_INT, MPI_SUM, c, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (int i = 0; i < counts[me]; i++) {
        CHECK_EQ(b[i], remote_sum(me == 0 ? i : counts[0] + me - 1));
    }
    OK(MPI_Ibarrier(c, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

/* Beyond every eager limit: a send is done only when the other side receives. */
static void large(MPI_Comm c)
{
    enum { N = 1 << 18 };
    static int a[N], b[N];
    int counts[64], block = N / (n * nr) * nr;

    for (int i = 0; i < N; i++) {
        a[i] = value(side, me, i);
    }
    OK(MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, c));
    for (int i = 0; i < N; i++) {
        CHECK_EQ(b[i], remote_sum(i));
    }
    for (int i = 0; i < n; i++) {
        counts[i] = block;
    }
    OK(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, c));
    for (int i = 0; i < block; i++) {
        CHECK_EQ(b[i], remote_sum(me * block + i));
    }
    OK(MPI_Alltoall(a, N / size, MPI_INT, b, N / size, MPI_INT, c));
    for (int i = 0; i < N / size * nr; i++) {
        CHECK_EQ(b[i], value(!side, i / (N / size), me * (N / size) + i % (N / size)));
    }
}

static void merges(MPI_Comm inter)
{
    MPI_Comm all;
    int at, sum;

    OK(MPI_Intercomm_merge(inter, side == 0, &all)); /* odd ones first */
    OK(MPI_Comm_rank(all, &at));
    CHECK_EQ(at, side == 1 ? me : me + nr);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK_EQ(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&all));
    OK(MPI_Intercomm_merge(inter, 0, &all)); /* whatever the order, it is one */
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK_EQ(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&all));
}

static void children(MPI_Comm inter)
{
    MPI_Comm copy, part;
    MPI_Group mine;
    int result, count, first = 0;

    OK(MPI_Comm_dup(inter, &copy));
    OK(MPI_Comm_compare(inter, copy, &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    messages(copy);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_split(inter, me % 2, -me, &part)); /* color 1 may be missing on a side */
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_remote_size(part, &count));
        CHECK_EQ(count, (nr + 1 - me % 2) / 2);
        OK(MPI_Barrier(part));
        OK(MPI_Comm_free(&part));
    } else {
        CHECK(me % 2 == 1 && nr == 1);
    }
    OK(MPI_Comm_group(inter, &mine));
    {
        MPI_Group one;

        OK(MPI_Group_incl(mine, 1, &first, &one));
        OK(MPI_Comm_create(inter, one, &part));
        OK(MPI_Group_free(&one));
    }
    CHECK_EQ(part != MPI_COMM_NULL, me == 0);
    if (part != MPI_COMM_NULL) {
        OK(MPI_Barrier(part));
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Group_free(&mine));
}

static void misuse(MPI_Comm inter, MPI_Comm local)
{
    MPI_Comm none;
    int a = 0, b;

    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
    FAILS(MPI_Scan(&a, &b, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    FAILS(MPI_Bcast(&a, 1, MPI_INT, nr, inter), MPI_ERR_ROOT);
    FAILS(MPI_Allreduce(MPI_IN_PLACE, &a, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    FAILS(MPI_Intercomm_merge(local, 0, &none), MPI_ERR_COMM);
    FAILS(MPI_Intercomm_create(local, n, MPI_COMM_WORLD, 0, 1, &none), MPI_ERR_RANK);
    FAILS(MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &none), MPI_ERR_COMM);
}

int main(int argc, char **argv)
{
    MPI_Comm inter, local;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    side = rank % 2;
    for (int round = 0; size > 1 && round < 3; round++) {
        inter = make(&local);
        messages(inter);
        for (int from = 0; from < 2; from++) {
            for (int r = 0; r < (from == side ? n : nr); r++) {
                rooted(inter, from, r);
            }
        }
        rootless(inter);
        large(inter);
        merges(inter);
        children(inter);
        misuse(inter, local);
        OK(MPI_Comm_free(&inter));
        OK(MPI_Comm_free(&local));
    }
    MPI_Finalize();
    return 0;
}
