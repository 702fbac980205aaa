/* SPDX-License-Identifier: BSD-3-Clause */
/* The libfabric transport: any provider with reliable datagram endpoints and messages. */
#pragma once

#include "transport/transport.h"

#include <fathom/mpit.h>

/* Its variables; added to the registry before fm_ofi_open(). */
extern const struct fathom_table fm_ofi_vars;

/*
 * Open libfabric (by dlopen, at the first call), choose a provider, open fabric, domain and
 * endpoint. `counters` is the block that fathom_mpit_add(&fm_ofi_vars) gave. *out_tp ends with
 * ops->close(). Failures: no libfabric, no provider fits (the text lists those that were found),
 * unknown name in FATHOM_OFI_PROVIDER.
 */
int fm_ofi_open(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp);
