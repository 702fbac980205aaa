/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library as the host of the MPI_T registry: the page, the tables of all rooms, and what the
 * registry asks of MPI objects. A constructor names it.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/p2p/channel_open.h"
#include "core/runtime/process.h"

extern const struct fathom_host fm_host;

/* Blocks of words in the page, one per table; NULL before the registry has started. */
struct fm_host_counters {
    struct fm_channel_counters channel;
    void *objects;
    void *comm;
    void *op;
    void *coll;
    void *rma;
    void *coll_shm;
    void *io;
    struct fm_process_blocks transports;
    void *process;
};

const struct fm_host_counters *fm_host_counters(void);

/* The place in the job has been taken: variables that MPI_T has used in private memory so far move
   to the page that mpiexec made. */
void fm_host_share_page(void);
