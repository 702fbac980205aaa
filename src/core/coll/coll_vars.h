/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of the collectives: cut-offs, and counters by algorithm. Their rows are in coll_vars.c.
 *
 * Calls and bytes are counted when an operation begins: a persistent one at each start. Its time is
 * taken from there to its completion, and only while a tool has started one of the timers, or
 * coll_timing says always: two reads of the clock cost as much as a short barrier.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/coll/coll_table.h"

/* Cut-offs: name, default in bytes, what it steers. */
#define FM_COLL_CUTOFFS(X)                                                                         \
    X(direct_from, 4096,                                                                           \
      "Bytes from which blocking collectives on one host copy directly between the buffers of "    \
      "the ranks, if their contributions exceed coll_shm_max; raise it when system calls are "     \
      "slow.")                                                                                     \
    X(bcast_long, 65536,                                                                           \
      "Bytes from which a broadcast to more than 3 ranks goes in pieces round "                    \
      "a ring instead of down a tree; lower it when links are slow.")                              \
    X(reduce_long, 32768,                                                                          \
      "Bytes from which a reduction halves vectors instead of sending them "                       \
      "whole; lower it when the operation is costly.")                                             \
    X(allreduce_long, 16384,                                                                       \
      "Bytes from which an allreduce halves vectors instead of sending "                           \
      "them whole; lower it when the operation is costly.")                                        \
    X(gather_long, 4096,                                                                           \
      "Bytes of a block from which a gather sends directly to the root; raise "                    \
      "it when the root is slow to take many messages.")                                           \
    X(scatter_long, 4096,                                                                          \
      "Bytes of a block from which a scatter sends directly from the root; "                       \
      "raise it when the root is slow to send many messages.")                                     \
    X(allgather_long, 65536,                                                                       \
      "Bytes of the result from which an allgather goes round a ring; "                            \
      "lower it when distant ranks are on slow links.")                                            \
    X(alltoall_short, 256,                                                                         \
      "Bytes of a block up to which an alltoall of at least 8 ranks packs "                        \
      "blocks into few messages; raise it when latency is high.")                                  \
    X(alltoall_long, 32768,                                                                        \
      "Bytes of a block from which an alltoall makes one exchange at a "                           \
      "time; raise it when several exchanges use a link better.")                                  \
    X(reduce_scatter_long, 8192,                                                                   \
      "Bytes from which a reduce_scatter sends every block directly to its rank, which "           \
      "combines them; raise it when memory for all blocks of a rank is short.")                    \
    X(neighbor_combine, 4096,                                                                      \
      "Bytes of all blocks for one neighbor up to which a neighbor_alltoall sends them in one "    \
      "message, where the neighbor has several edges; raise it when latency is high.")

#define FM_COLL_SCRATCH_MAX (16 << 20)

struct fm_coll_cutoffs {
#define FM_COLL_CUTOFF_WORD(name, value, desc) uint64_t name;
    FM_COLL_CUTOFFS(FM_COLL_CUTOFF_WORD)
#undef FM_COLL_CUTOFF_WORD
};

struct fm_coll_counters {
    uint64_t forced[FM_COLL_COUNT]; /* control variables: 0 is auto */
    struct fm_coll_cutoffs cut;     /* control variables */
    uint64_t n_calls[FM_COLL_COUNT][FM_COLL_MAX_ALGOS];
    uint64_t n_bytes[FM_COLL_COUNT][FM_COLL_MAX_ALGOS];
    uint64_t ns[FM_COLL_COUNT][FM_COLL_MAX_ALGOS];
    uint64_t last[FM_COLL_COUNT];   /* algorithm of the last call that had a choice */
    uint64_t reason[FM_COLL_COUNT]; /* and why it was taken */
    uint64_t scratch_max;           /* control variable */
    struct fathom_level scratch;    /* bytes that fm_coll_scratch_take() can give */
    uint64_t n_scratch_misses;      /* blocks that came from malloc */
    uint64_t timing;                /* control variable: not 0: take the time of all */
    uint64_t check;                 /* control variable: compare the calls of all ranks */
    uint64_t n_timers;              /* started handles of timers, the registry's */
    uint64_t on_chosen;             /* event */
};

extern const struct fathom_table fm_coll_vars;

/* Take the block of fm_coll_vars (NULL: no registry). */
void fm_coll_vars_init(void *counters);

/* In the page, or private ones. Guarded by the library lock. */
extern struct fm_coll_counters *fm_coll_counters;

/* What was chosen for an operation. */
struct fm_coll_use {
    enum fm_coll_kind kind;
    int algo; /* FM_COLL_INTER: of an intercommunicator */
    enum fm_coll_reason why;
    uint64_t len;
    uint64_t began; /* 0: its time is not taken */
};

/* Raise coll_chosen_event. */
FM_COLD void fm_coll_vars_emit(const struct fm_coll_use *use, const struct fm_comm *comm);

/* The operation begins (once more). */
static FM_INLINE void fm_coll_vars_begin(struct fm_coll_use *use, const struct fm_comm *comm)
{
    struct fm_coll_counters *w = fm_coll_counters;

    use->began = 0;
    FM_STAT(comm->counters->n_coll++);
    FM_STAT(w->n_calls[use->kind][use->algo]++);
    FM_STAT(w->n_bytes[use->kind][use->algo] += use->len);
    if (use->algo != FM_COLL_INTER) {
        FM_STAT(w->last[use->kind] = (uint64_t)use->algo);
        FM_STAT(w->reason[use->kind] = use->why);
    }
    if (FM_UNLIKELY((w->timing | __atomic_load_n(&w->n_timers, __ATOMIC_RELAXED)) != 0)) {
        FM_STAT(use->began = fm_now_ns());
    }
}

static FM_INLINE void fm_coll_vars_end(const struct fm_coll_use *use)
{
    if (FM_UNLIKELY(use->began != 0)) {
        FM_STAT(fm_coll_counters->ns[use->kind][use->algo] += fm_now_ns() - use->began);
    }
}
