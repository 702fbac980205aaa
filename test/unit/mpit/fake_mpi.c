/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As much of an MPI as conformance_*.c and fuzz.c of test/mpi/mpit call, on top of the
 * scripted host, so that these programs also run on the registry alone.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/mpit/fake_host.h"

__attribute__((constructor)) static void fake_mpi_load(void)
{
    fake_host_open();
}

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fathom_mpit_start();
    fake_comm_make(0);
    fake_comm_make(1);
    fake_is_inited = true;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    fake_comm_free(0);
    fake_comm_free(1);
    return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

/* A message goes in every way in which an event can be raised. */
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status)
{
    (void)sendtype, (void)dest, (void)sendtag, (void)recvtype, (void)source, (void)recvtag;
    (void)comm, (void)status;
    memcpy(recvbuf, sendbuf, (size_t)(sendcount < recvcount ? sendcount : recvcount));
    fathom_level_add(&fake->depth, 1);
    fake_raise(sendcount, 0.5, FATHOM_SAFE_RESTRICTED);
    fake_raise_on(1, (uint64_t)sendcount);
    fake_raise(sendcount, 1.5, FATHOM_SAFE_SIGNAL);
    fathom_level_add(&fake->depth, -1);
    fake->n_done++;
    fathom_mpit_poll();
    return MPI_SUCCESS;
}

/* Also changes what the host answers to the registry. */
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    *flag = 0;
    fake_is_inited = !fake_is_inited;
    fake_refuse = !fake_refuse;
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    int n = 2;

    (void)comm;
    while (n < FAKE_N_COMMS - 1 && fake_comms[n].words) {
        n++;
    }
    fake_comm_make(n);
    *newcomm = fake_comm_handle(n);
    if (fake->on_empty) {
        fathom_mpit_emit_from(&fake_events[2], fake, NULL, NULL, FATHOM_SAFE_ANY);
    }
    return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    fake_comm_free((int)((uintptr_t)*comm - FAKE_COMM));
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    (void)comm, (void)errhandler;
    return MPI_SUCCESS;
}

int MPI_Info_free(MPI_Info *info)
{
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm comm, int errorcode)
{
    (void)comm;
    exit(errorcode);
}

double MPI_Wtime(void)
{
    return (double)fathom_mpit_clock() * 1e-9;
}

int MPI_Error_string(int errorcode, char *string, int *resultlen)
{
    const char *text = fathom_mpit_error_string(errorcode);

    strncpy(string, text ? text : "", MPI_MAX_ERROR_STRING);
    *resultlen = (int)strlen(string);
    return MPI_SUCCESS;
}

int MPI_Error_class(int errorcode, int *errorclass)
{
    *errorclass = errorcode;
    return MPI_SUCCESS;
}
