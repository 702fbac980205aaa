/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event instances: what a callback is handed, valid only while it runs (MPI-5.0 15.3.8.6).
 * Lock-free and async-signal-safe.
 */
#pragma once

#include "mpit/mpit_live.h"

struct fm_t_instance {
    _Atomic uint64_t value; /* the handle; 0: none is valid */
    uint64_t use;
    const struct fm_t_event *event;
    const struct fm_t_raised *raised;
};

/* Show an event to a callback; the value of the handle is in it. NULL: all instances are in use. */
struct fm_t_instance *fm_t_instance_take(const struct fm_t_event *event,
                                         const struct fm_t_raised *raised);
/* The callback has returned: the handle is invalid from now on. */
void fm_t_instance_give(struct fm_t_instance *in);
