/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tool of the standard's chapter (the second example of MPI-5.0 15.3.7): by PMPI it wraps
 * MPI_Init, MPI_Recv and MPI_Finalize and looks at MPI_T_UMQ_LENGTH of MPI_COMM_WORLD at every
 * MPI_Recv. Behind it an application that lets a known number of messages queue up, so that what
 * the tool sees can be checked.
 */
#include "../check.h"

#include <assert.h>
#include <string.h>

#define THRESHOLD 5

/* The tool. */
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static int seen[64], n_seen, n_over;

int MPI_Init(int *argc, char ***argv)
{
    int err, num, i, index, namelen, verbosity, varclass, bind, threadsup, readonly, continuous,
        atomic, count;
    char name[18];
    MPI_Comm comm;
    MPI_Datatype datatype;
    MPI_T_enum enumtype;

    err = PMPI_Init(argc, argv);
    if (err != MPI_SUCCESS) {
        return err;
    }
    err = PMPI_T_init_thread(MPI_THREAD_SINGLE, &threadsup);
    if (err != MPI_SUCCESS) {
        return err;
    }
    err = PMPI_T_pvar_get_num(&num);
    if (err != MPI_SUCCESS) {
        return err;
    }
    index = -1;
    i = 0;
    while (i < num && index < 0 && err == MPI_SUCCESS) {
        /* A buffer of 18 characters, to make sure that longer names are cut, not written beyond. */
        namelen = sizeof(name);
        err = PMPI_T_pvar_get_info(i, name, &namelen, &verbosity, &varclass, &datatype, &enumtype,
                                   NULL, NULL, &bind, &readonly, &continuous, &atomic);
        if (strcmp(name, "MPI_T_UMQ_LENGTH") == 0) {
            index = i;
        }
        i++;
    }
    if (err != MPI_SUCCESS) {
        return err;
    }
    /* What the example asserts. */
    assert(index >= 0);
    assert(varclass == MPI_T_PVAR_CLASS_LEVEL);
    assert(datatype == MPI_INT);
    assert(bind == MPI_T_BIND_MPI_COMM);
    err = PMPI_T_pvar_session_create(&session);
    if (err != MPI_SUCCESS) {
        return err;
    }
    comm = MPI_COMM_WORLD;
    err = PMPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count);
    if (err != MPI_SUCCESS) {
        return err;
    }
    assert(count == 1);
    if (!continuous) {
        err = PMPI_T_pvar_start(session, handle);
    }
    return err;
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    int value = -1, err;

    if (comm == MPI_COMM_WORLD) {
        err = PMPI_T_pvar_read(session, handle, &value);
        if (err != MPI_SUCCESS) {
            return err;
        }
        if (value > THRESHOLD) {
            n_over++;
        }
        if (n_seen < 64) {
            seen[n_seen++] = value;
        }
    }
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Finalize(void)
{
    int err = PMPI_T_pvar_handle_free(session, &handle);

    if (err == MPI_SUCCESS) {
        err = PMPI_T_pvar_session_free(&session);
    }
    if (err == MPI_SUCCESS) {
        err = PMPI_T_finalize();
    }
    return err == MPI_SUCCESS ? PMPI_Finalize() : err;
}

/* The application: each rank sends itself and its neighbour ten messages, then all are received. */
int main(int argc, char **argv)
{
    enum { N = 10 };
    int rank, size, next, before, value, there;
    MPI_Request requests[N];

    assert(argc >= 0);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < N; i++) {
        OK(MPI_Isend(&i, 1, MPI_INT, next, i, MPI_COMM_WORLD, &requests[i]));
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    /* Messages of one sender come in order: when the last is there, all are. */
    for (there = 0; !there;) {
        OK(MPI_Iprobe(before, N - 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < N; i++) {
        OK(MPI_Recv(&value, 1, MPI_INT, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_EQ(value, i);
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(seen[i], N - i);
    }
    CHECK_EQ(n_over, N - THRESHOLD);
    OK(MPI_Finalize());
    return 0;
}
