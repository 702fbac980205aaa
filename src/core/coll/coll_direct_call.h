/* SPDX-License-Identifier: BSD-3-Clause */
/* A collective by single copy in progress; for the files of coll_direct only. */
#pragma once

#include "core/coll/coll_sched.h"
#include "core/coll/coll_shm_sync.h"

/* What each rank writes into its entry of the first meeting; 0: nothing to read or write there. */
struct fm_coll_addresses {
    uint64_t send, recv;
};

struct fm_coll_direct {
    struct fm_coll_shm *shm;
    const struct fm_coll *c;
    MPI_Count len; /* as fm_coll_len() has it */
    uint64_t stamp;
    uint32_t n;            /* the meeting that has the addresses */
    struct fm_sched temps; /* temporary memory */
};

/* The first meeting, in which the ranks exchange the addresses of what they send and receive. What
   follows is done by all ranks, or by none. */
int fm_coll_direct_begin(struct fm_coll_direct *d, const void *send, const void *recv);
/* A further meeting, after which all know whether the steps before it succeeded in each rank. */
int fm_coll_direct_meet(struct fm_coll_direct *d, int status);

/* Copy from what a rank sends, or to what it receives, `at` bytes behind its address. */
int fm_coll_direct_get(struct fm_coll_direct *d, int rank, void *to, MPI_Count at, MPI_Count len);
/* The same from what it receives. */
int fm_coll_direct_get_result(struct fm_coll_direct *d, int rank, void *to, MPI_Count at,
                              MPI_Count len);
int fm_coll_direct_put(struct fm_coll_direct *d, int rank, MPI_Count at, const void *from,
                       MPI_Count len);

/* Reductions (coll_direct_reduce.c). */
int fm_coll_direct_reduce(struct fm_coll_direct *d);
int fm_coll_direct_allreduce(struct fm_coll_direct *d);
int fm_coll_direct_reduce_scatter(struct fm_coll_direct *d);
int fm_coll_direct_scan(struct fm_coll_direct *d);
