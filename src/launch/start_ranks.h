/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the ranks of this host. */
#pragma once

#include "launch/local_state.h"

/* Start all ranks. Where one cannot be started it is reported and the others are terminated. */
void fm_start_ranks(struct fm_local *l);
