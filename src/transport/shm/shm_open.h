/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared-memory transport, for processes of one host. */
#pragma once

#include "transport/transport.h"

#include <fathom/mpit.h>

extern const struct fathom_table fm_shm_vars;

/*
 * Make this process's segment; those of others are mapped at connect. Same contract as
 * fm_ofi_open().
 */
int fm_shm_open(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp);
