/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that a program does: start, know who it is, end. */
#include "../check.h"

#include <string.h>

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int rank = -1, size = -1, len = -1, flag = -1;

    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(rank >= 0 && rank < size);
    OK(MPI_Comm_size(MPI_COMM_SELF, &size));
    CHECK_EQ(size, 1);
    OK(MPI_Get_processor_name(name, &len));
    CHECK_EQ(len, strlen(name));
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 1);
    return 0;
}
