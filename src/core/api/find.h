/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the arguments of an MPI function to objects. Each returns MPI_SUCCESS and the object, or has
 * raised the error and returns its code. `out` is the user's output argument, called `name`, which
 * must not be NULL.
 */
#pragma once

#include "core/api/api.h"

struct fm_comm;
struct fm_group;
struct fm_info;
struct fm_session;

int fm_find_comm(const char *call, MPI_Comm comm, struct fm_comm **out_comm);
/* The same for a function that has an output. */
int fm_find_comm_for(const char *call, MPI_Comm comm, const char *name, const void *out,
                     struct fm_comm **out_comm);
/* An intracommunicator, for functions that only work on these. */
int fm_find_intracomm(const char *call, MPI_Comm comm, const char *name, const void *out,
                      struct fm_comm **out_comm);
int fm_find_session(const char *call, MPI_Session session, struct fm_session **out_session);
int fm_find_group(const char *call, MPI_Group group, const char *argument,
                  struct fm_group **out_group);
/* The same with errors going to `object`. */
int fm_find_group_on(void *object, const char *call, MPI_Group group, const char *argument,
                     struct fm_group **out_group);
/* MPI_INFO_NULL gives NULL when `may_be_null`. Errors go to `object` (NULL: MPI_COMM_SELF's). */
int fm_find_info(void *object, const char *call, MPI_Info info, bool may_be_null,
                 struct fm_info **out_info);
int fm_find_out(void *object, const char *call, const char *name, const void *out);
