/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreement on a context id that is free in all processes of a new communicator.
 *
 * Every process keeps a bit per id. In each round all propose the lowest id that is free with them
 * and not below the floor, and learn the highest and the lowest proposal: if these are one, it is
 * taken; else the highest is the new floor. When all have the same ids in use, one round does. A
 * proposal is marked as taken at once, so that acts of several threads on several communicators do
 * not meet on one id.
 */
#pragma once

#include "core/object/comm.h"

/* Who takes part: all of `local` and, for an intercommunicator, all of the group on the other
   side, reached through one leader of each side. */
struct fm_agree {
    struct fm_comm *local; /* may be a view, see comm_make.c */
    struct fm_comm *peer;  /* NULL: no other side */
    int local_leader;      /* rank in local */
    int remote_leader;     /* rank in peer */
    int tag;               /* in the collective space of peer */
    int status;            /* not 0: why this process can have no part in it: it fails in all */
};

/* Collective. The context is taken in this process until it is released. */
int fm_agree_context(const struct fm_agree *who, uint32_t *out_context);

/* An agreement that its owner carries on: rounds of fm_agree_propose(), the maximum of both
   numbers over all processes, and fm_agree_decide(). Zeroed at first. */
#define FM_AGREE_N 3
struct fm_agree_round {
    /* The id proposed; its complement, whose maximum belongs to the lowest id; a random number, so
       that the maximum is one that no other agreement has. */
    uint64_t numbers[FM_AGREE_N];
    uint32_t mine; /* the id that is taken here, 0: none */
    uint32_t floor;
    int n;      /* rounds over */
    int status; /* not 0: why this process can have no part in it */
};
void fm_agree_propose(struct fm_agree_round *r);
/* With the maxima in `numbers`, or the failure that kept it from coming. 0: r->mine is agreed on;
   FM_AGAIN: another round is needed; or a failure, when no id is taken any more. */
int fm_agree_decide(struct fm_agree_round *r, int rc);
/* Nothing comes of it: the id is free again, if one is taken. */
void fm_agree_drop(struct fm_agree_round *r);
void fm_agree_release(uint32_t context);
