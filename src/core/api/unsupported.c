/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the standard that are not built yet, one row each (design D2).
 *
 * A row makes PMPI_x, its weak name MPI_x, and an entry of the list that `fathom api` prints.
 * A call raises MPI_ERR_UNSUPPORTED_OPERATION with the name of the function through the error
 * handler, so that every program of the ABI loads, and a missing function is reported by name.
 * A new implementation deletes its row (the link fails if both are there); no row is ever added.
 *
 * One body serves all signatures. It reads no argument and returns int, and on the ABIs that this
 * library is built for (System V on x86-64, AAPCS64, the RISC-V and the ELFv2 calling convention)
 * the caller places the arguments and takes them away again, and an int comes back in the same
 * register whatever the arguments were. Functions that return something else than int can
 * therefore have no row. The C names below differ from the symbols because mpi.h has declared
 * those with the standard's signatures.
 */
#pragma GCC visibility push(default)
#include <fathom/abi.h>
#pragma GCC visibility pop

#include "core/object/errhandler.h"
#include "util/compiler.h"

/* clang-format off */
#define ROWS(X) \
    X(MPI_Close_port) \
    X(MPI_Comm_accept) \
    X(MPI_Comm_connect) \
    X(MPI_Comm_join) \
    X(MPI_Comm_spawn) \
    X(MPI_Comm_spawn_multiple) \
    X(MPI_Lookup_name) \
    X(MPI_Open_port) \
    X(MPI_Publish_name) \
    X(MPI_Register_datarep) \
    X(MPI_Register_datarep_c) \
    X(MPI_Unpublish_name) \
    /* the end */
/* clang-format on */

#define DEFINE(name)                                                                               \
    FM_EXPORT int unsupported_P##name(void) __asm__("P" #name);                                    \
    int unsupported_P##name(void)                                                                  \
    {                                                                                              \
        return fm_raise_unsupported(#name);                                                        \
    }                                                                                              \
    extern FM_EXPORT int unsupported_##name(void) __asm__(#name)                                   \
        __attribute__((weak, alias("P" #name)));

#define NAME(name) #name,

ROWS(DEFINE)

static const char *const names[] = {ROWS(NAME) NULL};

const char *const *fathom_unsupported(int *out_n)
{
    *out_n = (int)FM_ARRAY_LEN(names) - 1;
    return names;
}
