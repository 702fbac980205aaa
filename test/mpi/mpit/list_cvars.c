/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first thing that a user of MPI_T writes (the example of MPI-5.0 15.3.6): list the name of
 * every control variable. MPI itself is never initialized. Prints one name a line; fails when there
 * are none.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    int i, err, num, namelen, bind, verbose, scope, threadsupport;
    char name[100];
    MPI_Datatype datatype;

    err = MPI_T_init_thread(MPI_THREAD_SINGLE, &threadsupport);
    if (err != MPI_SUCCESS) {
        return err;
    }
    err = MPI_T_cvar_get_num(&num);
    if (err != MPI_SUCCESS) {
        return err;
    }
    for (i = 0; i < num; i++) {
        namelen = 100;
        err = MPI_T_cvar_get_info(i, name, &namelen, &verbose, &datatype, NULL, NULL, NULL, &bind,
                                  &scope);
        if (err != MPI_SUCCESS && err != MPI_T_ERR_INVALID_INDEX) {
            return err;
        }
        printf("Var %i: %s\n", i, name);
    }
    err = MPI_T_finalize();
    if (err != MPI_SUCCESS) {
        return 1;
    }
    return num < 10;
}
