/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collectives there are, by which algorithms, and the words that are kept of them; the rows
 * over these are in coll_vars.c. For coll.c and sched_run.c.
 *
 * Calls and bytes are counted when an operation begins: a persistent one at each start. Its time is
 * taken from there to its completion, and only while a tool has started one of the timers, or
 * coll_timing says always: two looks at the clock cost as much as a short barrier.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/coll/coll.h"

/* Kinds: identifier, name. */
#define FM_COLL_KINDS(X)                                                                           \
    X(BARRIER, barrier)                                                                            \
    X(BCAST, bcast)                                                                                \
    X(REDUCE, reduce)                                                                              \
    X(ALLREDUCE, allreduce)                                                                        \
    X(GATHER, gather)                                                                              \
    X(SCATTER, scatter)                                                                            \
    X(ALLGATHER, allgather)                                                                        \
    X(ALLTOALL, alltoall)                                                                          \
    X(REDUCE_SCATTER, reduce_scatter)                                                              \
    X(SCAN, scan)                                                                                  \
    X(EXSCAN, exscan)

/* Algorithms: kind, its name, number, name (at most 11 characters), one sentence. */
#define FM_COLL_ALGOS(X)                                                                           \
    X(BARRIER, barrier, 1, dissemination, "dissem", "log2(p) rounds of tokens")                    \
    X(BCAST, bcast, 1, binomial, "binomial", "whole messages down a binomial tree")                \
    X(BCAST, bcast, 2, scatter_ring, "scatterring", "pieces scattered, then passed round a ring")  \
    X(REDUCE, reduce, 1, binomial, "binomial", "whole vectors up a binomial tree")                 \
    X(REDUCE, reduce, 2, halving, "halving", "vector halving, then parts gathered at the root")    \
    X(ALLREDUCE, allreduce, 1, doubling, "doubling", "whole vectors exchanged log2(p) times")      \
    X(ALLREDUCE, allreduce, 2, halving, "halving", "vector halving, then parts gathered by all")   \
    X(GATHER, gather, 1, binomial, "binomial", "packed blocks up a binomial tree")                 \
    X(GATHER, gather, 2, linear, "linear", "every block straight to the root")                     \
    X(SCATTER, scatter, 1, binomial, "binomial", "packed blocks down a binomial tree")             \
    X(SCATTER, scatter, 2, linear, "linear", "every block straight from the root")                 \
    X(ALLGATHER, allgather, 1, bruck, "bruck", "packed blocks in ceil(log2(p)) rounds")            \
    X(ALLGATHER, allgather, 2, doubling, "doubling", "blocks in place, for powers of two")         \
    X(ALLGATHER, allgather, 3, ring, "ring", "blocks passed round a ring, without copies")         \
    X(ALLTOALL, alltoall, 1, bruck, "bruck", "packed blocks in ceil(log2(p)) rounds")              \
    X(ALLTOALL, alltoall, 2, window, "window", "many exchanges at the same time")                  \
    X(ALLTOALL, alltoall, 3, pairwise, "pairwise", "one exchange after the other")                 \
    X(REDUCE_SCATTER, reduce_scatter, 1, by_reduce, "by_reduce", "reduced at rank 0, scattered")   \
    X(REDUCE_SCATTER, reduce_scatter, 2, pairwise, "pairwise", "every block straight to its rank") \
    X(SCAN, scan, 1, doubling, "doubling", "partial results exchanged log2(p) times")              \
    X(EXSCAN, exscan, 1, doubling, "doubling", "partial results exchanged log2(p) times")

/* Those of blocking calls on one host (node.h), which are no schedules; the same columns. */
#define FM_COLL_NODE_WHAT "memory that the ranks of one host share"
#define FM_COLL_NODE_ALGOS(X)                                                                      \
    X(BARRIER, barrier, 2, node, "node", FM_COLL_NODE_WHAT)                                        \
    X(BCAST, bcast, 3, node, "node", FM_COLL_NODE_WHAT)                                            \
    X(REDUCE, reduce, 3, node, "node", FM_COLL_NODE_WHAT)                                          \
    X(ALLREDUCE, allreduce, 3, node, "node", FM_COLL_NODE_WHAT)                                    \
    X(ALLGATHER, allgather, 4, node, "node", FM_COLL_NODE_WHAT)

/* Those of intercommunicators, which are no choice (coll_inter.c). Number 0, FM_COLL_INTER; same
   columns. */
#define FM_COLL_INTER_WHAT "between the two groups of an intercommunicator"
#define FM_COLL_INTERS(X)                                                                          \
    X(BARRIER, barrier, 0, inter, "inter", FM_COLL_INTER_WHAT)                                     \
    X(BCAST, bcast, 0, inter, "inter", FM_COLL_INTER_WHAT)                                         \
    X(REDUCE, reduce, 0, inter, "inter", FM_COLL_INTER_WHAT)                                       \
    X(ALLREDUCE, allreduce, 0, inter, "inter", FM_COLL_INTER_WHAT)                                 \
    X(GATHER, gather, 0, inter, "inter", FM_COLL_INTER_WHAT)                                       \
    X(SCATTER, scatter, 0, inter, "inter", FM_COLL_INTER_WHAT)                                     \
    X(ALLGATHER, allgather, 0, inter, "inter", FM_COLL_INTER_WHAT)                                 \
    X(ALLTOALL, alltoall, 0, inter, "inter", FM_COLL_INTER_WHAT)                                   \
    X(REDUCE_SCATTER, reduce_scatter, 0, inter, "inter", FM_COLL_INTER_WHAT)

/* Cut-offs: name, default in bytes, what it steers. */
#define FM_COLL_CUTOFFS(X)                                                                         \
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
      "Bytes of a block from which a gather goes straight to the root; raise "                     \
      "it when the root is slow to take many messages.")                                           \
    X(scatter_long, 4096,                                                                          \
      "Bytes of a block from which a scatter goes straight from the root; "                        \
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
      "Bytes from which a reduce_scatter with an operation that "                                  \
      "commutes sends every block straight to its rank.")

#define FM_COLL_MAX_ALGOS 5

/* Why an algorithm was taken. */
enum fm_coll_reason {
    FM_COLL_WHY_NONE,
    FM_COLL_WHY_FORCED,
    FM_COLL_WHY_ONLY,
    FM_COLL_WHY_SHORT,
    FM_COLL_WHY_LONG,
    FM_COLL_WHY_ORDER,
    FM_COLL_WHY_VARYING,
    FM_COLL_WHY_RANKS,
    FM_COLL_WHY_UNFIT,
    FM_COLL_WHY_NODE
};

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
    uint64_t timing;                /* control variable: not 0: take the time of all */
    uint64_t n_timers;              /* started handles of timers, the registry's */
    uint64_t on_chosen;             /* event */
};

/* In the page, or private ones. Guarded by the library lock. */
extern struct fm_coll_counters *fm_coll_counters;

/* What was chosen for an operation. */
struct fm_coll_use {
    enum fm_coll_kind kind;
    int algo; /* FM_COLL_INTER: of an intercommunicator */
    enum fm_coll_reason why;
    uint64_t len;
    uint64_t began; /* 0: nobody wants its time */
};
#define FM_COLL_INTER 0

/* It was chosen: for those who look on. */
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
