/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create_from_groups (MPI-5.0 7.6.2), without MPI_COMM_WORLD. Any number of ranks. */
#include "../check.h"

static MPI_Session session;
static MPI_Group all;
static int rank, size;

/* The ranks of one parity. */
static MPI_Group group_of(int side)
{
    int range[1][3] = {{side, size - 1, 2}};
    MPI_Group group;

    OK(MPI_Group_range_incl(all, 1, range, &group));
    return group;
}

static void check_inter(MPI_Comm inter, int side)
{
    int n_local, n_remote, is_inter = 0, sum = 0, want = 0;

    OK(MPI_Comm_test_inter(inter, &is_inter));
    CHECK(is_inter);
    OK(MPI_Comm_size(inter, &n_local));
    OK(MPI_Comm_remote_size(inter, &n_remote));
    CHECK_EQ(n_local, (size - side + 1) / 2);
    CHECK_EQ(n_remote, (size - (1 - side) + 1) / 2);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    for (int i = 1 - side; i < size; i += 2) {
        want += i;
    }
    CHECK_EQ(sum, want);
}

static void both_sides(void)
{
    int side = rank % 2;
    MPI_Group mine = group_of(side), theirs = group_of(1 - side);
    int n_mine, n_theirs;
    MPI_Comm inter[3];

    OK(MPI_Group_size(mine, &n_mine));
    OK(MPI_Group_size(theirs, &n_theirs));
    for (int i = 0; i < 3; i++) {
        int leader = i == 1 ? n_mine - 1 : 0, other = i == 1 ? n_theirs - 1 : 0;
        int local_rank;

        OK(MPI_Group_rank(mine, &local_rank));
        /* The other side counts in the leader only. */
        OK(MPI_Intercomm_create_from_groups(mine, leader,
                                            local_rank == leader ? theirs : MPI_GROUP_NULL,
                                            local_rank == leader ? other : -1, "sides",
                                            MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter[i]));
        check_inter(inter[i], side);
    }
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_free(&inter[i]));
    }
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&theirs));
}

static void refused(void)
{
    MPI_Group mine = group_of(rank % 2), self;
    int me[1] = {rank}, n_mine;
    MPI_Comm inter;

    OK(MPI_Group_incl(all, 1, me, &self));
    OK(MPI_Group_size(mine, &n_mine));
    FAILS(MPI_Intercomm_create_from_groups(self, 1, mine, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &inter),
          MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create_from_groups(self, 0, mine, n_mine, "x", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &inter),
          MPI_ERR_RANK);
    FAILS(MPI_Intercomm_create_from_groups(self, 0, MPI_GROUP_NULL, 0, "x", MPI_INFO_NULL,
                                           MPI_ERRORS_RETURN, &inter),
          MPI_ERR_GROUP);
    FAILS(MPI_Intercomm_create_from_groups(self, 0, mine, 0, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &inter),
          MPI_ERR_ARG);
    FAILS(MPI_Intercomm_create_from_groups(self, 0, mine, 0, "x", MPI_INFO_NULL,
                                           MPI_ERRHANDLER_NULL, &inter),
          MPI_ERR_ERRHANDLER);
    FAILS(MPI_Intercomm_create_from_groups(self, 0, mine, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           NULL),
          MPI_ERR_ARG);
    /* The two groups have a process in common. */
    FAILS(MPI_Intercomm_create_from_groups(self, 0, self, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &inter),
          MPI_ERR_GROUP);
    CHECK(inter == MPI_COMM_NULL);
    OK(MPI_Group_free(&self));
    OK(MPI_Group_free(&mine));
}

int main(void)
{
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    OK(MPI_Group_rank(all, &rank));
    OK(MPI_Group_size(all, &size));
    if (size > 1) {
        both_sides();
    }
    refused();
    OK(MPI_Group_free(&all));
    OK(MPI_Session_finalize(&session));
    return 0;
}
