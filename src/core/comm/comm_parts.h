/* SPDX-License-Identifier: BSD-3-Clause */
/* What the makers of communicators share; for this folder only. */
#pragma once

#include "core/object/comm.h"

/* A communicator with an agreed context, which it owns from now on, also on failure. */
int fm_comm_parts_make(struct fm_comm *origin, struct fm_group *group,
                       struct fm_group *remote_group, uint32_t context, struct fm_comm **out_comm);

/* One made with FM_CONTEXT_NONE has an agreed context now, which it owns. */
void fm_comm_parts_settle(struct fm_comm *comm, uint32_t context);

/* The attributes of a copy; on failure the copy is gone. */
int fm_comm_parts_copy_attrs(struct fm_comm *from, struct fm_comm *copy);

/* A view of a group of comm's ranks (see comm_make.c): a communicator on the maker's stack. */
void fm_comm_parts_view(struct fm_comm *view, struct fm_comm *comm, struct fm_group *group);

/* One rank's say in a split. */
struct fm_vote {
    int color, key, rank;
};

/* Votes of all ranks of comm; *out_votes is to be freed. */
int fm_comm_parts_votes(struct fm_comm *comm, int color, int key, struct fm_vote **out_votes);
/* The group of those that voted for a color, by key; n votes of ranks of `from`, used up. */
int fm_comm_parts_of_color(const struct fm_group *from, struct fm_vote *votes, int n, int color,
                           struct fm_group **out_group);
