/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making communicators out of communicators (MPI-5.0 7.4). All calls are collective over the
 * communicator given, unless said. New ones have one reference, the error handler of their origin,
 * and no name; attributes are copied by dup only.
 */
#pragma once

#include "core/object/comm.h"

struct fm_group;
struct fm_info;

/* What is copied: the members, the error handler, attributes with the user's consent (a positive
   return is what a copy callback of the user returned). */
int fm_comm_make_dup(struct fm_comm *comm, struct fm_comm **out_comm);

/* MPI_Comm_split; *out_comm is NULL for color MPI_UNDEFINED. */
int fm_comm_make_split(struct fm_comm *comm, int color, int key, struct fm_comm **out_comm);

/* MPI_Comm_create: *out_comm is NULL for a caller that is not in the group. */
int fm_comm_make_create(struct fm_comm *comm, struct fm_group *group, struct fm_comm **out_comm);

/* MPI_Comm_create_group: collective over the group, whose members are all in comm. */
int fm_comm_make_create_group(struct fm_comm *comm, struct fm_group *group, int tag,
                              struct fm_comm **out_comm);

/* MPI_Comm_compare: MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR or MPI_UNEQUAL. Local. */
int fm_comm_make_compare(const struct fm_comm *a, const struct fm_comm *b, int *out_result);
