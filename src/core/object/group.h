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
    /* The session that it comes from, to be compared only; NULL: the world model. Communicators
       made of it have it, too. */
    const void *session;
};

/* Make the pool and MPI_GROUP_EMPTY known; fm_group_create() does it too. Twice is fine. */
int fm_group_init(void);

/* A group of `size` members; procs is copied (NULL: processes 0 .. size-1). `self` is the calling
   process's index. One reference. */
int fm_group_create(int size, const int *procs, int self, struct fm_group **out_group);
void fm_group_unref(struct fm_group *group);

static FM_INLINE int fm_group_proc(const struct fm_group *group, int rank)
{
    return group->procs ? group->procs[rank] : rank;
}

/* Rank of a process in the group, MPI_UNDEFINED if it is no member. */
int fm_group_rank_of(const struct fm_group *group, int proc);

/* Set operations in the order that MPI-5.0 7.3.2 gives; new groups have one reference. */
int fm_group_union(const struct fm_group *a, const struct fm_group *b, struct fm_group **out_group);
int fm_group_intersection(const struct fm_group *a, const struct fm_group *b,
                          struct fm_group **out_group);
int fm_group_difference(const struct fm_group *a, const struct fm_group *b,
                        struct fm_group **out_group);
/* Members `ranks` of a group (all different and in range), in that order; or all but those. */
int fm_group_incl(const struct fm_group *group, int n, const int *ranks,
                  struct fm_group **out_group);
int fm_group_excl(const struct fm_group *group, int n, const int *ranks,
                  struct fm_group **out_group);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL; -FM_E_NOMEM. */
int fm_group_compare(const struct fm_group *a, const struct fm_group *b, int *out_result);
/* out_ranks[i] = rank in `to` of the member ranks[i] of `from`, MPI_UNDEFINED if it is none;
   MPI_PROC_NULL stays what it is. */
int fm_group_translate(const struct fm_group *from, int n, const int *ranks,
                       const struct fm_group *to, int *out_ranks);
