/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators (MPI-5.0 7.6): two groups, and on each side a local communicator for what the
 * ranks of one side must do together. New communicators have one reference and the error handler of
 * their origin.
 */
#pragma once

#include "core/comm/agree.h"

/* MPI_Intercomm_create: collective over who->local here and over its like on the other side. The
   leader's peer, remote_leader and tag count. -FM_E_INVAL: the groups overlap. */
int fm_intercomm_create(const struct fm_agree *who, struct fm_comm **out_comm);

/* MPI_Intercomm_create_from_groups: collective over `local`, whose members are all in comm, and
   over its like on the other side. remote_leader is a rank of comm, and counts in the leader. */
int fm_intercomm_from_groups(struct fm_comm *comm, struct fm_group *local, int local_leader,
                             int remote_leader, int tag, struct fm_comm **out_comm);

/* Collective over both groups of an intercommunicator. */
int fm_intercomm_dup(struct fm_comm *inter, struct fm_comm **out_comm);
/* NULL where the color or the group is empty on one side. */
int fm_intercomm_split(struct fm_comm *inter, int color, int key, struct fm_comm **out_comm);
int fm_intercomm_make(struct fm_comm *inter, struct fm_group *group, struct fm_comm **out_comm);
/* One intracommunicator of both; where both or none say they are high, the side whose first process
   has the lower index comes first. */
int fm_intercomm_merge(struct fm_comm *inter, bool is_high, struct fm_comm **out_comm);
