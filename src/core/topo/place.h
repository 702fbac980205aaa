/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which process gets which rank of a topology (`reorder`): neighbors on one host, then behind one
 * cache, as far as a greedy growth of the hosts and exchanges of pairs bring them together. The
 * result has at most as much weight between hosts as the order of ranks has; with the same, at most
 * as much between caches.
 */
#pragma once

#include "core/object/comm.h"

struct fm_group;

/* A graph in the form of MPI_Graph_create; edges have the direction and the number that suits. */
struct fm_place_graph {
    int n;
    const int *index;
    const int *edges;
    const int *weights; /* NULL: 1 each */
};

/* Where a process runs. */
struct fm_place {
    int host;
    int cache; /* on that host; -1: not bound to one */
};

/* The instance of the last level of cache that this process is bound to, -1: none. The runtime sets
   it before there is a communicator, so nothing guards it; NULL: caches are not known. */
typedef int (*fm_place_cache_fn)(void);
extern fm_place_cache_fn fm_place_cache;

/* Node i goes to place out_placed[i]; there are at least as many places as nodes. 0 or
   -FM_E_NOMEM. */
int fm_place_nodes(const struct fm_place_graph *graph, int n_places, const struct fm_place *places,
                   int *out_placed);

/* Collective over comm: nodes to ranks of comm. The graph, apart from `n`, counts in rank 0. */
int fm_place_all(struct fm_comm *comm, const struct fm_place_graph *graph, int *out_placed);
/* Local: by hosts alone, which all processes know of each other. */
int fm_place_local(const struct fm_comm *comm, const struct fm_place_graph *graph, int *out_placed);

/* The group of a topology of n nodes over ranks of comm: node i is rank placed[i], or rank i
   without `placed`. */
int fm_place_group(const struct fm_comm *comm, int n, const int *placed,
                   struct fm_group **out_group);
