/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that the standard ABI (MPI-5.0 20) leaves out and that older software uses: conversion of
 * handles and statuses between C and Fortran (MPI-4.1 19.3.4, 19.3.5), over the conversions to and
 * from int of the ABI, and the functions that MPI-3.0 removed, as calls of their successors.
 *
 * `mpicc --compat` includes this header in front of every source file, so that such software
 * compiles unchanged. A library that is to run on each MPI with the standard ABI may include it,
 * too: it calls nothing that is not in the ABI.
 *
 * The functions are "extern inline" of GNU C: a call becomes a call of the successor, and a tool
 * may still define a function of the same name, as PMPI wrappers do (not in C++ with clang). The
 * addresses of these functions cannot be taken.
 */
#ifndef FATHOM_COMPAT_H
#define FATHOM_COMPAT_H

#ifndef __ASSEMBLER__

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_COMPAT extern __inline__ __attribute__((gnu_inline, always_inline, unused))

/* ---------------------------------------------------------------- Fortran */

/* The INTEGER of Fortran: that of the ABI, unless it was compiled to be larger (20.4). */
typedef int MPI_Fint;

/* The status of mpi_f08; it lies in memory as that of C does (20.4.3). */
typedef MPI_Status MPI_F08_status;

#define MPI_F_STATUS_IGNORE     ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE   ((MPI_Fint *)0)
#define MPI_F08_STATUS_IGNORE   ((MPI_F08_status *)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)0)

/* Null handles and predefined ones have the integer values of the ABI in Fortran, too. */
#define FATHOM_COMPAT_HANDLE(name, type)                                                           \
    FATHOM_COMPAT MPI_Fint MPI_##name##_c2f(type handle)                                           \
    {                                                                                              \
        return MPI_##name##_toint(handle);                                                         \
    }                                                                                              \
    FATHOM_COMPAT type MPI_##name##_f2c(MPI_Fint handle)                                           \
    {                                                                                              \
        return MPI_##name##_fromint(handle);                                                       \
    }                                                                                              \
    FATHOM_COMPAT MPI_Fint PMPI_##name##_c2f(type handle)                                          \
    {                                                                                              \
        return PMPI_##name##_toint(handle);                                                        \
    }                                                                                              \
    FATHOM_COMPAT type PMPI_##name##_f2c(MPI_Fint handle)                                          \
    {                                                                                              \
        return PMPI_##name##_fromint(handle);                                                      \
    }

FATHOM_COMPAT_HANDLE(Comm, MPI_Comm)
FATHOM_COMPAT_HANDLE(Errhandler, MPI_Errhandler)
FATHOM_COMPAT_HANDLE(File, MPI_File)
FATHOM_COMPAT_HANDLE(Group, MPI_Group)
FATHOM_COMPAT_HANDLE(Info, MPI_Info)
FATHOM_COMPAT_HANDLE(Message, MPI_Message)
FATHOM_COMPAT_HANDLE(Op, MPI_Op)
FATHOM_COMPAT_HANDLE(Request, MPI_Request)
FATHOM_COMPAT_HANDLE(Session, MPI_Session)
FATHOM_COMPAT_HANDLE(Type, MPI_Datatype)
FATHOM_COMPAT_HANDLE(Win, MPI_Win)

/* A status is copied as a whole; MPI_STATUS_IGNORE has no contents that could be. */
#define FATHOM_COMPAT_STATUS(prefix, name, from_type, to_type)                                     \
    FATHOM_COMPAT int prefix##MPI_Status_##name(const from_type *from, to_type *to)                \
    {                                                                                              \
        if (!from || !to) {                                                                        \
            return MPI_ERR_ARG;                                                                    \
        }                                                                                          \
        __builtin_memcpy(to, from, MPI_F_STATUS_SIZE * sizeof(MPI_Fint));                          \
        return MPI_SUCCESS;                                                                        \
    }

FATHOM_COMPAT_STATUS(, c2f, MPI_Status, MPI_Fint)
FATHOM_COMPAT_STATUS(, f2c, MPI_Fint, MPI_Status)
FATHOM_COMPAT_STATUS(, c2f08, MPI_Status, MPI_F08_status)
FATHOM_COMPAT_STATUS(, f082c, MPI_F08_status, MPI_Status)
FATHOM_COMPAT_STATUS(, f2f08, MPI_Fint, MPI_F08_status)
FATHOM_COMPAT_STATUS(, f082f, MPI_F08_status, MPI_Fint)
FATHOM_COMPAT_STATUS(P, c2f, MPI_Status, MPI_Fint)
FATHOM_COMPAT_STATUS(P, f2c, MPI_Fint, MPI_Status)
FATHOM_COMPAT_STATUS(P, c2f08, MPI_Status, MPI_F08_status)
FATHOM_COMPAT_STATUS(P, f082c, MPI_F08_status, MPI_Status)
FATHOM_COMPAT_STATUS(P, f2f08, MPI_Fint, MPI_F08_status)
FATHOM_COMPAT_STATUS(P, f082f, MPI_F08_status, MPI_Fint)

/* ---------------------------------------------------------------- removed by MPI-3.0 */

/* The types of arguments are those of MPI-2.2, the last version that had these functions. */

typedef MPI_Comm_errhandler_function MPI_Handler_function;

/* Markers of bounds, for MPI_Type_struct() below alone: no handle has these values. */
#define MPI_LB ((MPI_Datatype)-2)
#define MPI_UB ((MPI_Datatype)-3)

/* No datatype has these combiners any more; for switch statements. */
#define MPI_COMBINER_HINDEXED_INTEGER (-1001)
#define MPI_COMBINER_HVECTOR_INTEGER  (-1002)
#define MPI_COMBINER_STRUCT_INTEGER   (-1003)

/* MPI_LB and MPI_UB among the blocks become the bounds of the whole. */
FATHOM_COMPAT int fathom_compat_struct(int count, const int *lengths, const MPI_Aint *disps,
                                       const MPI_Datatype *types, MPI_Datatype *newtype)
{
    int i, n = 0, has_lb = 0, has_ub = 0, rc;
    MPI_Aint lb = 0, ub = 0, own_lb, own_extent;
    int *data_lengths = (int *)__builtin_malloc((count > 0 ? count : 1) * sizeof(int));
    MPI_Aint *data_disps = (MPI_Aint *)__builtin_malloc((count > 0 ? count : 1) * sizeof(MPI_Aint));
    MPI_Datatype *data_types =
        (MPI_Datatype *)__builtin_malloc((count > 0 ? count : 1) * sizeof(MPI_Datatype));
    MPI_Datatype data;

    if (!data_lengths || !data_disps || !data_types) {
        __builtin_free(data_lengths);
        __builtin_free(data_disps);
        __builtin_free(data_types);
        return MPI_ERR_NO_MEM;
    }
    for (i = 0; i < count; i++) {
        if (types[i] == MPI_LB) {
            lb = !has_lb || disps[i] < lb ? disps[i] : lb;
            has_lb = 1;
        } else if (types[i] == MPI_UB) {
            ub = !has_ub || disps[i] > ub ? disps[i] : ub;
            has_ub = 1;
        } else {
            data_lengths[n] = lengths[i];
            data_disps[n] = disps[i];
            data_types[n++] = types[i];
        }
    }
    rc = PMPI_Type_create_struct(count < 0 ? count : n, data_lengths, data_disps, data_types,
                                 newtype);
    __builtin_free(data_lengths);
    __builtin_free(data_disps);
    __builtin_free(data_types);
    if (rc != MPI_SUCCESS || (!has_lb && !has_ub)) {
        return rc;
    }
    data = *newtype;
    PMPI_Type_get_extent(data, &own_lb, &own_extent);
    lb = has_lb ? lb : own_lb;
    ub = has_ub ? ub : own_lb + own_extent;
    rc = PMPI_Type_create_resized(data, lb, ub - lb, newtype);
    PMPI_Type_free(&data);
    return rc;
}

#define FATHOM_COMPAT_REMOVED(P)                                                                   \
    FATHOM_COMPAT int P##MPI_Address(void *location, MPI_Aint *address)                            \
    {                                                                                              \
        return P##MPI_Get_address(location, address);                                              \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Errhandler_create(MPI_Handler_function *function,                     \
                                               MPI_Errhandler *errhandler)                         \
    {                                                                                              \
        return P##MPI_Comm_create_errhandler(function, errhandler);                                \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)              \
    {                                                                                              \
        return P##MPI_Comm_set_errhandler(comm, errhandler);                                       \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)             \
    {                                                                                              \
        return P##MPI_Comm_get_errhandler(comm, errhandler);                                       \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)                  \
    {                                                                                              \
        MPI_Aint lb;                                                                               \
        return P##MPI_Type_get_extent(datatype, &lb, extent);                                      \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *lb)                          \
    {                                                                                              \
        MPI_Aint extent;                                                                           \
        return P##MPI_Type_get_extent(datatype, lb, &extent);                                      \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *ub)                          \
    {                                                                                              \
        MPI_Aint lb = 0, extent = 0;                                                               \
        int rc = P##MPI_Type_get_extent(datatype, &lb, &extent);                                   \
        *ub = lb + extent;                                                                         \
        return rc;                                                                                 \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Type_hindexed(int count, int *lengths, MPI_Aint *disps,               \
                                           MPI_Datatype oldtype, MPI_Datatype *newtype)            \
    {                                                                                              \
        return P##MPI_Type_create_hindexed(count, lengths, disps, oldtype, newtype);               \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Type_hvector(int count, int length, MPI_Aint stride,                  \
                                          MPI_Datatype oldtype, MPI_Datatype *newtype)             \
    {                                                                                              \
        return P##MPI_Type_create_hvector(count, length, stride, oldtype, newtype);                \
    }                                                                                              \
    FATHOM_COMPAT int P##MPI_Type_struct(int count, int *lengths, MPI_Aint *disps,                 \
                                         MPI_Datatype *types, MPI_Datatype *newtype)               \
    {                                                                                              \
        return fathom_compat_struct(count, lengths, disps, types, newtype);                        \
    }

FATHOM_COMPAT_REMOVED()
FATHOM_COMPAT_REMOVED(P)

#ifdef __cplusplus
}
#endif

#endif /* __ASSEMBLER__ */

#endif /* FATHOM_COMPAT_H */
