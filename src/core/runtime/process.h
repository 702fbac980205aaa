/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of the job and the way to each: opens the transports, publishes their addresses,
 * and makes an endpoint when the engine first talks to a process.
 *
 * A process index is the rank in the job. A job on one host opens shared memory and never
 * libfabric, unless FATHOM_TRANSPORT says so; a job of one opens nothing.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/p2p/channel.h"
#include "core/runtime/pm.h"
#include "transport/transports.h"
#include "util/sync.h"

struct fm_process;

/* Words of the room in the shared page; rows in process.c. */
struct fm_process_counters {
    uint64_t transport;   /* cvar: fm_transport_names */
    uint64_t cliques;     /* cvar */
    uint64_t n_connected; /* endpoints made */
    uint64_t n_fallbacks; /* of them, by another transport than the first that was allowed */
    uint64_t connect_ns;  /* time for that, waiting for others to publish among it */
    uint64_t init_ns, finalize_ns;
    struct fm_lock_counters lock;
    uint64_t report_live; /* cvar */
};

extern const struct fathom_table fm_process_vars;

/* Counters of the transports, in the order of fm_transports. */
struct fm_process_blocks {
    void *of[FM_N_TRANSPORTS];
};

/*
 * Open what this job needs, attach it to the channel, and publish the addresses. `words` is the
 * block of fm_process_vars. 0, or a failure; the channel then closes what was attached.
 */
int fm_process_open(struct fm_channel *ch, struct fm_pm *pm, struct fm_process_counters *counters,
                    const struct fm_process_blocks *blocks, struct fm_process **out_process);
/* Process index -> number of its node, NULL: all on one node. Lives as long as the pm and p. */
const int *fm_process_nodes(struct fm_process *p);
/* NULL is fine. The transports belong to the channel. */
void fm_process_close(struct fm_process *p);
