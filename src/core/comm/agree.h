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
void fm_agree_release(uint32_t context);
