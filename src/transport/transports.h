/* SPDX-License-Identifier: BSD-3-Clause */
/* All transports, in order of preference: a new one is a folder here and a row in transports.c. */
#pragma once

#include <fathom/mpit.h>

#include "transport/transport.h"

enum { FM_TRANSPORT_SHM, FM_TRANSPORT_OFI, FM_N_TRANSPORTS };

struct fm_transport_kind {
    const char *name;                /* as in fm_transport_ops */
    const struct fathom_table *vars; /* to be added to the registry before open() */
    /* `counters` is the block that fathom_mpit_add(vars) gave. *out_tp ends with ops->close(). */
    int (*open)(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp);
    bool is_one_host; /* it reaches processes of the same host only */
};

extern const struct fm_transport_kind fm_transports[FM_N_TRANSPORTS];

/* Names for a control variable: 0 is "auto", 1 + k is fm_transports[k]. */
extern const struct fathom_enum fm_transport_names;
