/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program, C and C++, that needs no launcher: prints the ABI of the library. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int major = 0, minor = 0;

    if (MPI_Abi_get_version(&major, &minor) != MPI_SUCCESS || MPI_Wtime() <= 0.0) {
        return 1;
    }
    printf("ABI %d.%d of MPI %d.%d\n", major, minor, MPI_VERSION, MPI_SUBVERSION);
    return 0;
}
