/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process gets which rank of a topology. */
#pragma once

#include "core/object/comm.h"

struct fm_group;

/* The group of a topology of n nodes over ranks of comm: node i is rank placed[i], or rank i
   without `placed`. */
int fm_place_group(const struct fm_comm *comm, int n, const int *placed,
                   struct fm_group **out_group);
