/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators out of communicators: members, order, contexts that do not mix, reuse of what was
   freed. */
#include "../check.h"

#include <string.h>

static int rank, size;

/* Whoever talks in a communicator hears only its members. */
static void check_talk(MPI_Comm comm, int salt)
{
    int me, n, sum = 0, mine;

    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    mine = me + salt;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, n * (n - 1) / 2 + n * salt);
}

static int relation(MPI_Comm a, MPI_Comm b)
{
    int result;

    OK(MPI_Comm_compare(a, b, &result));
    return result;
}

static void dups(void)
{
    enum { N = 40 };
    MPI_Comm comms[N];

    for (int i = 0; i < N; i++) {
        OK(MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
        CHECK_EQ(relation(comms[i], MPI_COMM_WORLD), MPI_CONGRUENT);
        CHECK_EQ(relation(comms[i], comms[i]), MPI_IDENT);
    }
    for (int i = 0; i < N; i++) {
        check_talk(comms[i], i);
    }
    for (int i = 0; i < N; i++) {
        OK(MPI_Comm_free(&comms[(i * 7) % N]));
        CHECK(comms[(i * 7) % N] == MPI_COMM_NULL);
    }
    for (int i = 0; i < 500; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
        OK(MPI_Comm_free(&comms[0]));
    }
}

/* Messages with one tag in two communicators do not mix. */
static void contexts_are_apart(void)
{
    MPI_Comm a, b;
    int to = (rank + 1) % size, from = (rank - 1 + size) % size;
    int in_a = -1, in_b = -1, out_a = 1, out_b = 2;
    MPI_Request r[4];

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &b));
    OK(MPI_Isend(&out_a, 1, MPI_INT, to, 5, a, &r[0]));
    OK(MPI_Isend(&out_b, 1, MPI_INT, to, 5, b, &r[1]));
    OK(MPI_Irecv(&in_b, 1, MPI_INT, from, 5, b, &r[2]));
    OK(MPI_Irecv(&in_a, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, &r[3]));
    OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(in_a, 1);
    CHECK_EQ(in_b, 2);
    OK(MPI_Comm_free(&a));
    OK(MPI_Comm_free(&b));
}

static void splits(void)
{
    MPI_Comm half, back, mine;
    int me, n;

    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    OK(MPI_Comm_rank(half, &me));
    OK(MPI_Comm_size(half, &n));
    CHECK_EQ(n, (size + 1 - rank % 2) / 2);
    CHECK_EQ(me, n - 1 - rank / 2); /* keys turn the order round */
    check_talk(half, 3);
    OK(MPI_Comm_split(half, 0, rank, &back));
    OK(MPI_Comm_rank(back, &me));
    CHECK_EQ(me, rank / 2);
    CHECK_EQ(relation(half, back), n == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    CHECK_EQ(relation(half, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 9 : MPI_UNDEFINED, 0, &mine));
    if (rank == 0) {
        CHECK_EQ(relation(mine, MPI_COMM_SELF), MPI_CONGRUENT);
        OK(MPI_Comm_free(&mine));
    }
    CHECK(mine == MPI_COMM_NULL);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &mine)); /* equal keys: by rank */
    CHECK_EQ(relation(mine, MPI_COMM_WORLD), MPI_CONGRUENT);
    OK(MPI_Comm_free(&mine));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&back));
}

static void split_types(void)
{
    MPI_Comm node;
    MPI_Info info;
    int n;

    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &n));
    CHECK(n >= 1 && n <= size);
    check_talk(node, 1);
    OK(MPI_Comm_free(&node));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &node));
    CHECK(node == MPI_COMM_NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &node));
    CHECK(node != MPI_COMM_NULL);
    OK(MPI_Comm_free(&node));
    OK(MPI_Info_free(&info));
}

static void creates(void)
{
    MPI_Group world, some;
    MPI_Comm comm;
    int range[1][3] = {{size - 1, 0, -2}}; /* size - 1, size - 3, ... */
    int me, is_in = (size - 1 - rank) % 2 == 0;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &some));
    OK(MPI_Comm_create(MPI_COMM_WORLD, some, &comm));
    CHECK_EQ(comm != MPI_COMM_NULL, is_in);
    if (is_in) {
        OK(MPI_Comm_rank(comm, &me));
        CHECK_EQ(me, (size - 1 - rank) / 2);
        check_talk(comm, 11);
        OK(MPI_Comm_free(&comm));
        /* Only the members call, twice with different tags, while the others do nothing. */
        for (int tag = 0; tag < 2; tag++) {
            OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &comm));
            OK(MPI_Comm_rank(comm, &me));
            CHECK_EQ(me, (size - 1 - rank) / 2);
            check_talk(comm, 12);
            OK(MPI_Comm_free(&comm));
        }
    }
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&world));
    CHECK(world == MPI_GROUP_NULL);
}

/* One act after the other under one tag, each with members of its own: whoever is in the next one
   only may be there long before the others are. */
static void groups_overlap(void)
{
    uint64_t state = 3;
    int members[64];
    MPI_Group world, some;
    MPI_Comm comm;

    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int round = 0; round < 200; round++) {
        int n = 0, is_in = 0;

        for (int i = 0; i < size; i++) {
            if (random_below(&state, 2)) {
                members[n++] = i;
                is_in |= i == rank;
            }
        }
        OK(MPI_Group_incl(world, n, members, &some));
        if (is_in) {
            OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, 0, &comm));
            check_talk(comm, round);
            OK(MPI_Comm_free(&comm));
        }
        OK(MPI_Group_free(&some));
    }
    OK(MPI_Group_free(&world));
}

/* Processes with different sets of ids in use agree nevertheless. */
static void ids_differ(void)
{
    MPI_Comm some[8], all;

    for (int i = 0; i < 8; i++) {
        OK(MPI_Comm_split(MPI_COMM_WORLD, i < rank ? i : MPI_UNDEFINED, 0, &some[i]));
    }
    for (int i = 0; i < 8; i += 2) {
        if (some[i] != MPI_COMM_NULL && rank % 2) {
            OK(MPI_Comm_free(&some[i]));
        }
    }
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &all));
    check_talk(all, 5);
    for (int i = 0; i < 8; i++) {
        if (some[i] != MPI_COMM_NULL) {
            OK(MPI_Comm_free(&some[i]));
        }
    }
    check_talk(all, 6);
    OK(MPI_Comm_free(&all));
}

static void names_and_hints(void)
{
    char name[MPI_MAX_OBJECT_NAME], value[16];
    int len, flag;
    MPI_Comm comm;
    MPI_Info info;

    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &len));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && len == 14);
    OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &len));
    CHECK(strcmp(name, "MPI_COMM_NULL") == 0);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Info_set(info, "no_such_hint", "true"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_name(comm, name, &len));
    CHECK_EQ(len, 0);
    OK(MPI_Comm_set_name(comm, "halo"));
    OK(MPI_Comm_get_name(comm, name, &len));
    CHECK(strcmp(name, "halo") == 0 && len == 4);
    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_get(info, "mpi_assert_no_any_tag", 15, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0);
    OK(MPI_Info_get(info, "no_such_hint", 15, value, &flag));
    CHECK(!flag);
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&comm));
}

static void misuse(void)
{
    MPI_Comm comm, world = MPI_COMM_WORLD;
    int n;

    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm), MPI_ERR_ARG);
    FAILS(MPI_Comm_free(&world), MPI_ERR_COMM);
    FAILS(MPI_Comm_remote_size(MPI_COMM_WORLD, &n), MPI_ERR_COMM);
    FAILS(MPI_Comm_size(MPI_COMM_NULL, &n), MPI_ERR_COMM);
    FAILS(MPI_Comm_dup(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    FAILS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
    FAILS(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &n));
    CHECK_EQ(n, 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    dups();
    contexts_are_apart();
    splits();
    split_types();
    creates();
    groups_overlap();
    ids_differ();
    names_and_hints();
    misuse();
    MPI_Finalize();
    return 0;
}
