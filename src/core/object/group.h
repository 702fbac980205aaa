/* SPDX-License-Identifier: BSD-3-Clause */
/* Ordered sets of processes (MPI-5.0 7.3). Members are process indices; immutable once made. */
#pragma once

#include "core/object/handle.h"

struct fm_group {
    struct fm_object head;
    uint64_t pool_link;
    int size;
    int rank;   /* of the calling process, MPI_UNDEFINED if not a member */
    int *procs; /* rank -> process index; NULL: identity */
};

/* Make the pool and MPI_GROUP_EMPTY known; fm_group_create() does it too. Twice is fine. */
int fm_group_init(void);

/* A group of `size` members; procs is copied (NULL: processes 0 .. size-1). `self` is the calling
   process's index. One reference. */
int fm_group_create(int size, const int *procs, int self, struct fm_group **out_group);
void fm_group_unref(struct fm_group *group);

FM_INLINE int fm_group_proc(const struct fm_group *group, int rank)
{
    return group->procs ? group->procs[rank] : rank;
}

/* Rank of a process in the group, MPI_UNDEFINED if it is no member. */
int fm_group_rank_of(const struct fm_group *group, int proc);
