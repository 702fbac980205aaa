/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime goes down in MPI_Finalize and comes up again for a session, in another order in each
   process; and nothing is said of communicators that were not freed. */
#include "../check.h"

static void sum_by_session(int expected)
{
    MPI_Session s;
    MPI_Group group;
    MPI_Comm comm;
    int one = 1, sum = 0;

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "sum", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, expected);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&s));
}

static void come_and_go(int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Session s;

        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s));
        OK(MPI_Session_finalize(&s));
    }
}

int main(void)
{
    MPI_Comm forgotten;
    int size, rank;

    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &forgotten));
    OK(MPI_Barrier(forgotten));
    OK(MPI_Finalize());
    come_and_go(rank % 3);
    sum_by_session(size);
    come_and_go((rank + 1) % 3);
    sum_by_session(size);
    return 0;
}
