/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of the ranks of a communicator in its shared memory: who arrives, who waits, who wakes
 * whom. For the files of coll_shm only; coll_shm_slot.h has the layout and the pairing of atomics.
 */
#pragma once

#include "core/coll/coll_shm.h"
#include "core/coll/coll_shm_slot.h"
#include "util/segment.h"

enum fm_coll_direct_state {
    FM_COLL_DIRECT_UNKNOWN, /* no call has asked for it yet */
    FM_COLL_DIRECT_POSSIBLE,
    FM_COLL_DIRECT_IMPOSSIBLE,
};

struct fm_coll_shm {
    struct fm_coll_slots view;
    struct fm_comm *comm;
    struct fm_segment segment;
    bool is_lost; /* a rank has gone */
    enum fm_coll_direct_state direct;
};

/* Names a call, to find out whether all ranks made the same. The low 32 bits are the length. */
static FM_INLINE uint64_t fm_coll_shm_stamp(const struct fm_coll *c, MPI_Count len)
{
    return (uint64_t)c->kind << 56 | (uint64_t)(uint32_t)c->root << 32 | (uint32_t)len;
}

/* The number of the next call; makes progress now and then, since a rank that always arrives last
   never waits and must serve the others all the same. */
uint32_t fm_coll_shm_next(struct fm_coll_shm *shm);

/* What the last rank to arrive makes of the entries, before it publishes. 0 or -FM_E... */
typedef int (*fm_coll_shm_combine_fn)(struct fm_coll_shm *shm, uint32_t n, void *ctx);

/* This rank's entry of call n is written. Unless calls are flat, the last rank to arrive
   compares the entries' stamps and errors, combines (NULL: nothing), and publishes. */
void fm_coll_shm_arrive(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp,
                        fm_coll_shm_combine_fn combine, void *ctx);
/* The result of call n is written, by a root that does not wait for the other ranks. */
void fm_coll_shm_publish(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp);
/* Until the root has published call n. 0, or a failure: a rank is lost, or made another call. */
int fm_coll_shm_wait_root(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp);
/* Until all ranks have arrived at call n, and the last one has combined, if it does. 0, or a
   failure: as above, or a rank has had an error. */
int fm_coll_shm_wait_all(struct fm_coll_shm *shm, uint32_t n, uint64_t stamp);
/* After a call that all ranks wait for: its number is noted for the reuse of slots. */
static FM_INLINE void fm_coll_shm_all_came(struct fm_coll_shm *shm, uint32_t n)
{
    shm->view.last_all = n;
}

/* 0, or the failure that ended this memory. */
int fm_coll_shm_check(const struct fm_coll_shm *shm);
