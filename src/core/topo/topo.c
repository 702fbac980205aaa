/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies of all kinds: life, and their place in a communicator. */
#include "core/topo/topo.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

int fm_topo_create(int kind, size_t n_numbers, struct fm_topo **out_topo)
{
    size_t len;
    struct fm_topo *topo = NULL;

    if (!__builtin_mul_overflow(n_numbers, sizeof(int), &len) &&
        !__builtin_add_overflow(len, sizeof(*topo), &len)) {
        topo = malloc(len);
    }
    if (!topo) {
        return fm_fail(-FM_E_NOMEM, "no memory for a topology of %zu numbers", n_numbers);
    }
    memset(topo, 0, sizeof(*topo));
    topo->n_users = 1;
    topo->kind = kind;
    *out_topo = topo;
    return 0;
}

void fm_topo_unref(struct fm_topo *topo)
{
    if (topo && --topo->n_users == 0) {
        free(topo);
    }
}

/* An edge while edges are sorted. */
struct key {
    int far;   /* of the rank at its other end, counted round from this one */
    int match; /* place among the edges of that rank */
    int position;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->far != y->far) {
        return x->far < y->far ? -1 : 1;
    }
    return x->match < y->match ? -1 : x->match > y->match;
}

/* Ranks that send at the same time begin with different receivers, the next ones in rank. */
static int sort_edges(struct key *keys, int n, const int *ranks, int rank, int size, int flip,
                      int *out_order)
{
    int n_keys = 0;

    for (int i = 0; i < n; i++) {
        if (ranks[i] != MPI_PROC_NULL) {
            keys[n_keys++] = (struct key){(ranks[i] - rank + size) % size, i ^ flip, i};
        }
    }
    qsort(keys, (size_t)n_keys, sizeof(*keys), compare_keys);
    for (int i = 0; i < n_keys; i++) {
        out_order[i] = keys[i].position;
    }
    return n_keys;
}

int fm_topo_sort_edges(struct fm_topo *topo, int rank, int size, int *order)
{
    struct fm_neighbors *near = &topo->neighbors;
    int n_max = near->n_sources > near->n_dests ? near->n_sources : near->n_dests;
    struct key *keys = malloc(((size_t)n_max + 1) * sizeof(*keys));

    if (!keys) {
        return fm_fail(-FM_E_NOMEM, "no memory for %d edges of a topology", n_max);
    }
    near->recv_order = order;
    near->send_order = order + near->n_sources;
    near->n_recv =
        sort_edges(keys, near->n_sources, near->sources, rank, size, topo->kind == MPI_CART, order);
    near->n_send =
        sort_edges(keys, near->n_dests, near->dests, rank, size, 0, order + near->n_sources);
    free(keys);
    return 0;
}

struct fm_topo *fm_topo_of(const struct fm_comm *comm)
{
    return comm->parts[FM_COMM_TOPO].state;
}

static void drop(void *topo)
{
    fm_topo_unref(topo);
}

void fm_topo_attach(struct fm_comm *comm, struct fm_topo *topo)
{
    comm->parts[FM_COMM_TOPO] = (struct fm_comm_part){.state = topo, .drop = drop};
    comm->parts[FM_COMM_NEIGHBORS] = (struct fm_comm_part){.state = &topo->neighbors};
}

void fm_topo_share(const struct fm_comm *origin, struct fm_comm *duplicate)
{
    struct fm_topo *topo = fm_topo_of(origin);

    if (topo) {
        topo->n_users++;
        fm_topo_attach(duplicate, topo);
    }
}
