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
    struct fm_t_raised *raised;
    _Atomic(bool) *wants_time; /* set when the callback asks for the time stamp */
};

/* Show an event to a callback; the value of the handle is in it. NULL: all instances are in use.
   `is_ordered`: the caller has the right to deliver events of ordered sources, for which one
   instance is kept. */
struct fm_t_instance *fm_t_instance_show(const struct fm_t_event *event, struct fm_t_raised *raised,
                                         _Atomic(bool) *wants_time, bool is_ordered);
/* The callback has returned: the handle is invalid from now on. */
void fm_t_instance_give(struct fm_t_instance *in);
