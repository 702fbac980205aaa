/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions (MPI-5.0 11.3): users of the runtime beside the world model. A session names sets of
 * processes; groups and, from these, communicators are made of them.
 *
 * The sets are mpi://WORLD, all processes of the job, and mpi://SELF.
 */
#pragma once

#include "core/object/handle.h"

struct fm_comm;
struct fm_errhandler;
struct fm_group;
struct fm_info;

struct fm_session {
    struct fm_object head;
    uint64_t pool_link;
    struct fm_errhandler *errhandler; /* holds a reference */
    struct fm_info *info;             /* the hints in use; holds a reference */
    int thread_level;
};

/*
 * Brings the runtime up if it is not; *out_session has one reference. The level of thread support
 * is that of the hint thread_level, else MPI_THREAD_SINGLE. 0, -FM_E_INVAL (hint), or a failure.
 */
int fm_session_open(const struct fm_info *info, struct fm_errhandler *errhandler,
                    struct fm_session **out_session);
/* Waits for what the process has sent; the last user takes the runtime down. */
int fm_session_close(struct fm_session *session);

#define FM_SESSION_N_PSETS 2
/* The name of a set, NULL: there is none with this number. */
const char *fm_session_pset_name(int n);
/* The number of a set, -1: there is none with this name. */
int fm_session_pset_find(const char *name);
/* Its members, one reference. */
int fm_session_pset_group(int n, struct fm_group **out_group);

/*
 * A communicator of the members of a group that contains the caller, agreed on by all who call with
 * the same group and text at the same time (MPI_Comm_create_from_group).
 */
int fm_session_make_comm(struct fm_group *group, const char *text, struct fm_comm **out_comm);
/* MPI_Intercomm_create_from_groups; remote_leader is a process, and counts in the leader only.
   -FM_E_INVAL: the groups overlap. */
int fm_session_make_intercomm(struct fm_group *local, int local_leader, int remote_leader,
                              const char *text, struct fm_comm **out_comm);
