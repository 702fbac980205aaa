/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware that this process may run on, by hwloc, which is loaded on first use. Nothing is
 * cached: the binding of a process can change at any time (MPI-5.0 9.1.2).
 *
 * "hwloc://Package", "hwloc://NUMANode", "hwloc://L3Cache", ... are types of hardware. A process is
 * restricted to an instance of a type when all processors that it may run on belong to that one.
 */
#pragma once

#include <stdbool.h>

struct fm_comm;

/* Types from the outermost to the innermost. */
#define FM_LOCALITY_N_TYPES 9

/* There is no hardware of that type, or it is unknown. */
#define FM_LOCALITY_ABSENT (-1)
/* The process may run on several instances. */
#define FM_LOCALITY_SEVERAL (-2)

/* For each type the instance, a number >= 0 that is the same in all processes of the host, or one
   of the two above. 0, or a failure: hwloc is not installed, or can not read this host. */
int fm_locality_read(int out_instances[FM_LOCALITY_N_TYPES]);
/* "hwloc://Machine" for 0, and so on. */
const char *fm_locality_type_name(int type);

/* The instance of the level-3 cache that this process is restricted to, -1: none. */
int fm_locality_cache(void);

/*
 * A color for MPI_Comm_split_type: equal in all processes that are restricted to the same instance
 * of a type. Its name is given with or without "hwloc://", in any case. MPI_UNDEFINED: the type is
 * unknown or absent, or the process is not restricted to one instance of it.
 */
int fm_locality_color(const char *type_name);

/*
 * Colors that divide a communicator, or both groups of an intercommunicator, by the outermost type
 * whose instances do (7.4.2, HW_UNGUIDED); collective. A rank that does not take part (split_type
 * MPI_UNDEFINED) counts for nothing. MPI_UNDEFINED: nothing divides it, this rank does not take
 * part, or it is not restricted to one instance of that type. 0 with the type's name, NULL if
 * nothing divides; or a failure.
 */
int fm_locality_divide(struct fm_comm *comm, bool takes_part, int *out_color,
                       const char **out_type_name);
