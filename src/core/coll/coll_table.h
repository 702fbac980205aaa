/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of collective algorithms, and the choice among them.
 *
 * Each algorithm is one row of FM_COLL_ALGOS. Rows of a kind stand in the order of preference: a
 * call takes the first one that is available, fits it, suits it, and whose range of lengths it is
 * in. Numbers, enumerations, counters, variables and the choice itself are all made from the rows.
 *
 * The choice must come out the same on all ranks of the communicator, so it looks only at what all
 * of them know: the kind, the number of ranks, bytes that the standard makes equal everywhere, and
 * variables that the user must set alike (scope ALL_EQ).
 */
#pragma once

#include "core/coll/coll_call.h"

struct fm_sched;

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
    X(EXSCAN, exscan)                                                                              \
    X(NEIGHBOR_ALLGATHER, neighbor_allgather)                                                      \
    X(NEIGHBOR_ALLTOALL, neighbor_alltoall)

/*
 * Algorithms: kind, its name, name, item of the enumerations (at most 11 characters), way, which
 * calls it can serve (fits) and which of these it should (suits), range of lengths, one sentence.
 */
#define FM_COLL_BARRIER_ALGOS(X)                                                                   \
    X(BARRIER, barrier, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)                    \
    X(BARRIER, barrier, dissemination, "dissem", MSG, all, all, ANY(none),                         \
      "log2(p) rounds of tokens")
#define FM_COLL_BCAST_ALGOS(X)                                                                     \
    X(BCAST, bcast, shm, "shm", SHM, all, on_request, ANY(none), FM_COLL_SHM_WHAT)                 \
    X(BCAST, bcast, direct, "direct", DIRECT, all, all, FROM(direct_from), FM_COLL_DIRECT_WHAT)    \
    X(BCAST, bcast, scatter_ring, "scatterring", MSG, all, four_ranks, FROM(bcast_long),           \
      "pieces scattered, then passed round a ring")                                                \
    X(BCAST, bcast, binomial, "binomial", MSG, all, all, ANY(none),                                \
      "whole messages down a binomial tree")
#define FM_COLL_REDUCE_ALGOS(X)                                                                    \
    X(REDUCE, reduce, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)                      \
    X(REDUCE, reduce, direct, "direct", DIRECT, elementwise, all, FROM(direct_from),               \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(REDUCE, reduce, halving, "halving", MSG, all, element_each, FROM(reduce_long),               \
      "vector halving, then parts gathered at the root")                                           \
    X(REDUCE, reduce, binomial, "binomial", MSG, all, all, ANY(none),                              \
      "whole vectors up a binomial tree")
#define FM_COLL_ALLREDUCE_ALGOS(X)                                                                 \
    X(ALLREDUCE, allreduce, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)                \
    X(ALLREDUCE, allreduce, direct, "direct", DIRECT, elementwise, all, FROM(direct_from),         \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(ALLREDUCE, allreduce, halving, "halving", MSG, all, element_each, FROM(allreduce_long),      \
      "vector halving, then parts gathered by all")                                                \
    X(ALLREDUCE, allreduce, doubling, "doubling", MSG, all, all, ANY(none),                        \
      "whole vectors exchanged log2(p) times")
#define FM_COLL_GATHER_ALGOS(X)                                                                    \
    X(GATHER, gather, shm, "shm", SHM, uniform, all, ANY(none), FM_COLL_SHM_WHAT)                  \
    X(GATHER, gather, direct, "direct", DIRECT, uniform, all, FROM(direct_from),                   \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(GATHER, gather, binomial, "binomial", MSG, uniform, all, BELOW(gather_long),                 \
      "packed blocks up a binomial tree")                                                          \
    X(GATHER, gather, linear, "linear", MSG, all, all, ANY(none),                                  \
      "every block directly to the root")
#define FM_COLL_SCATTER_ALGOS(X)                                                                   \
    X(SCATTER, scatter, shm, "shm", SHM, uniform, all, ANY(none), FM_COLL_SHM_WHAT)                \
    X(SCATTER, scatter, direct, "direct", DIRECT, uniform, all, FROM(direct_from),                 \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(SCATTER, scatter, binomial, "binomial", MSG, uniform, all, BELOW(scatter_long),              \
      "packed blocks down a binomial tree")                                                        \
    X(SCATTER, scatter, linear, "linear", MSG, all, all, ANY(none),                                \
      "every block directly from the root")
#define FM_COLL_ALLGATHER_ALGOS(X)                                                                 \
    X(ALLGATHER, allgather, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)                \
    X(ALLGATHER, allgather, direct, "direct", DIRECT, all, all, FROM(direct_from),                 \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(ALLGATHER, allgather, ring, "ring", MSG, all, all, FROM(allgather_long),                     \
      "blocks passed round a ring, without copies")                                                \
    X(ALLGATHER, allgather, doubling, "doubling", MSG, pof2_ranks, uniform, ANY(none),             \
      "blocks in place, for powers of two")                                                        \
    X(ALLGATHER, allgather, bruck, "bruck", MSG, all, all, ANY(none),                              \
      "packed blocks in ceil(log2(p)) rounds")
#define FM_COLL_ALLTOALL_ALGOS(X)                                                                  \
    X(ALLTOALL, alltoall, shm, "shm", SHM, uniform, all, ANY(none), FM_COLL_SHM_WHAT)              \
    X(ALLTOALL, alltoall, direct, "direct", DIRECT, not_in_place, all, FROM(direct_from),          \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(ALLTOALL, alltoall, bruck, "bruck", MSG, uniform, eight_ranks, UPTO(alltoall_short),         \
      "packed blocks in ceil(log2(p)) rounds")                                                     \
    X(ALLTOALL, alltoall, pairwise, "pairwise", MSG, all, not_in_place, FROM(alltoall_long),       \
      "one exchange after the other")                                                              \
    X(ALLTOALL, alltoall, window, "window", MSG, all, all, ANY(none),                              \
      "many exchanges at the same time")
#define FM_COLL_REDUCE_SCATTER_ALGOS(X)                                                            \
    X(REDUCE_SCATTER, reduce_scatter, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)      \
    X(REDUCE_SCATTER, reduce_scatter, direct, "direct", DIRECT, elementwise, all,                  \
      FROM(direct_from), FM_COLL_DIRECT_WHAT)                                                      \
    X(REDUCE_SCATTER, reduce_scatter, pairwise, "pairwise", MSG, all, all,                         \
      FROM(reduce_scatter_long), "every block directly to its rank")                               \
    X(REDUCE_SCATTER, reduce_scatter, by_reduce, "by_reduce", MSG, all, all, ANY(none),            \
      "reduced at rank 0, scattered")
#define FM_COLL_SCAN_ALGOS(X)                                                                      \
    X(SCAN, scan, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)                          \
    X(SCAN, scan, direct, "direct", DIRECT, elementwise, all, FROM(direct_from),                   \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(SCAN, scan, doubling, "doubling", MSG, all, all, ANY(none),                                  \
      "partial results exchanged log2(p) times")
#define FM_COLL_EXSCAN_ALGOS(X)                                                                    \
    X(EXSCAN, exscan, shm, "shm", SHM, all, all, ANY(none), FM_COLL_SHM_WHAT)                      \
    X(EXSCAN, exscan, direct, "direct", DIRECT, elementwise, all, FROM(direct_from),               \
      FM_COLL_DIRECT_WHAT)                                                                         \
    X(EXSCAN, exscan, doubling, "doubling", MSG, all, all, ANY(none),                              \
      "partial results exchanged log2(p) times")
#define FM_COLL_NEIGHBOR_ALLGATHER_ALGOS(X)                                                        \
    X(NEIGHBOR_ALLGATHER, neighbor_allgather, edges, "edges", MSG, all, all, ANY(none),            \
      "one message for all edges to a neighbor")
#define FM_COLL_NEIGHBOR_ALLTOALL_ALGOS(X)                                                         \
    X(NEIGHBOR_ALLTOALL, neighbor_alltoall, edges, "edges", MSG, all, all, ANY(none),              \
      "a message per edge, or per neighbor with several edges of short blocks")
#define FM_COLL_SHM_WHAT    "memory that the ranks of one host share"
#define FM_COLL_DIRECT_WHAT "single copies between the buffers of the ranks of one host"

#define FM_COLL_ALGOS(X)                                                                           \
    FM_COLL_BARRIER_ALGOS(X)                                                                       \
    FM_COLL_BCAST_ALGOS(X)                                                                         \
    FM_COLL_REDUCE_ALGOS(X)                                                                        \
    FM_COLL_ALLREDUCE_ALGOS(X)                                                                     \
    FM_COLL_GATHER_ALGOS(X)                                                                        \
    FM_COLL_SCATTER_ALGOS(X)                                                                       \
    FM_COLL_ALLGATHER_ALGOS(X)                                                                     \
    FM_COLL_ALLTOALL_ALGOS(X)                                                                      \
    FM_COLL_REDUCE_SCATTER_ALGOS(X)                                                                \
    FM_COLL_SCAN_ALGOS(X)                                                                          \
    FM_COLL_EXSCAN_ALGOS(X)                                                                        \
    FM_COLL_NEIGHBOR_ALLGATHER_ALGOS(X)                                                            \
    FM_COLL_NEIGHBOR_ALLTOALL_ALGOS(X)

/* Numbers: values of coll_<kind>_algorithm, and index of the counters. 0 is automatic as a value;
   it counts calls on intercommunicators, which have one algorithm and no choice (coll_inter.c). */
#define FM_COLL_NUMBER(KIND, kind, name, ...) FM_COLL_##KIND##_##name,
#define FM_COLL_NUMBERS(KIND, kind)                                                                \
    enum { FM_COLL_##KIND##_auto, FM_COLL_##KIND##_ALGOS(FM_COLL_NUMBER) FM_COLL_##KIND##_END };
FM_COLL_KINDS(FM_COLL_NUMBERS)
#define FM_COLL_INTER     0
#define FM_COLL_MAX_ALGOS 6 /* numbers of any kind */

/* Why an algorithm was taken. */
enum fm_coll_reason {
    FM_COLL_WHY_NONE,
    FM_COLL_WHY_FORCED,
    FM_COLL_WHY_ONLY,
    FM_COLL_WHY_SHORT,
    FM_COLL_WHY_LONG,
    FM_COLL_WHY_VARYING,
    FM_COLL_WHY_RANKS,
    FM_COLL_WHY_UNFIT,
    FM_COLL_WHY_ONE_HOST
};

/* How an algorithm moves data. */
enum fm_coll_way {
    FM_COLL_WAY_MSG,    /* by messages, as a schedule */
    FM_COLL_WAY_SHM,    /* blocking calls: through the communicator's shared memory (coll_shm.h) */
    FM_COLL_WAY_DIRECT, /* ... by single copy (coll_direct.h) */
};

/* Writes the steps of a call on this rank. */
typedef void (*fm_coll_algo_fn)(struct fm_sched *s, const struct fm_coll *c);

struct fm_coll_choice {
    int algo; /* number of the row */
    enum fm_coll_reason why;
    enum fm_coll_way way;
    fm_coll_algo_fn write; /* FM_COLL_WAY_MSG */
};

/* What a call may use. */
struct fm_coll_means {
    MPI_Count shm_len; /* longest contribution that shared memory takes; -1: there is none */
    bool has_direct;   /* the ranks can reach each other's memory */
};

/* May a call of this form use shared memory, now or when its communicator has got some? All ranks
   get the same answer. *out_is_forced: the user wants it. */
bool fm_coll_table_wants_shm(const struct fm_coll *c, bool *out_is_forced);

/* The algorithm for a call of fm_coll_len() bytes on an intracommunicator. */
struct fm_coll_choice fm_coll_table_choose(const struct fm_coll *c, MPI_Count len,
                                           const struct fm_coll_means *means);
