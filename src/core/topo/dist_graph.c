/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed graphs: edges find the ranks that they belong to. */
#include "core/topo/dist_graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/comm/comm_make.h"
#include "core/object/group.h"
#include "core/topo/place.h"
#include "util/status.h"

/* One end of an edge, as it travels to the rank at that end. */
struct end {
    int rank; /* at the other end */
    int weight;
};

/* Ends of edges of one direction. */
struct ends {
    int n;
    struct end *ends; /* to be freed */
};

static int no_memory(MPI_Count n)
{
    return fm_fail(-FM_E_NOMEM, "no memory for %lld edges of a graph", (long long)n);
}

/* How many elements of a rank, for all ranks: room for those to send and those to receive. */
struct counts {
    MPI_Count *send, *recv;
    MPI_Aint *send_at, *recv_at;
};

static int counts_create(int size, struct counts *out_counts)
{
    MPI_Count *all = calloc(4 * (size_t)size, sizeof(*all));

    if (!all) {
        return no_memory(size);
    }
    *out_counts = (struct counts){all, all + size, (MPI_Aint *)(all + 2 * size),
                                  (MPI_Aint *)(all + 3 * size)};
    return 0;
}

/* Where the elements of each rank begin; returns how many there are. */
static MPI_Count add_up(int size, const MPI_Count *counts, MPI_Aint *at)
{
    MPI_Count sum = 0;

    for (int i = 0; i < size; i++) {
        at[i] = sum;
        sum += counts[i];
    }
    return sum;
}

static int swap_counts(struct fm_comm *comm, const struct counts *c)
{
    struct fm_dtype *t = fm_dtype_get(MPI_COUNT);

    return fm_coll_run(&(struct fm_coll){.kind = FM_COLL_ALLTOALL,
                                         .comm = comm,
                                         .send = {.buf = c->send, .count = 1, .dtype = t},
                                         .recv = {.buf = c->recv, .count = 1, .dtype = t}});
}

static int swap_ends(struct fm_comm *comm, const struct counts *c, struct end *out, struct end *in)
{
    struct fm_dtype *t = fm_dtype_get(MPI_2INT);

    return fm_coll_run(&(struct fm_coll){.kind = FM_COLL_ALLTOALL,
                                         .comm = comm,
                                         .send = {.buf = out,
                                                  .counts = c->send,
                                                  .displs = c->send_at,
                                                  .dtype = t,
                                                  .is_large = true,
                                                  .has_large_displs = true},
                                         .recv = {.buf = in,
                                                  .counts = c->recv,
                                                  .displs = c->recv_at,
                                                  .dtype = t,
                                                  .is_large = true,
                                                  .has_large_displs = true},
                                         .is_varying = true});
}

/* Send n ends to the ranks `to`; those of one rank arrive in the order in which they were sent, and
   those of lower ranks first. Collective. */
static int deliver(struct fm_comm *comm, int n, const int *to, const struct end *ends,
                   struct ends *out_ends)
{
    struct end *sorted = malloc(((size_t)n + 1) * sizeof(*sorted)), *got = NULL;
    struct counts c = {NULL};
    MPI_Count n_got;
    int rc = sorted ? counts_create(comm->size, &c) : no_memory(n);

    for (int i = 0; rc == 0 && i < n; i++) {
        c.send[to[i]]++;
    }
    rc = rc == 0 ? swap_counts(comm, &c) : rc;
    if (rc != 0) {
        goto out;
    }
    add_up(comm->size, c.send, c.send_at);
    for (int i = 0; i < n; i++) {
        sorted[c.send_at[to[i]]++] = ends[i];
    }
    add_up(comm->size, c.send, c.send_at);
    n_got = add_up(comm->size, c.recv, c.recv_at);
    got = n_got <= INT32_MAX ? malloc(((size_t)n_got + 1) * sizeof(*got)) : NULL;
    rc = got ? swap_ends(comm, &c, sorted, got) : no_memory(n_got);
    if (rc == 0) {
        *out_ends = (struct ends){(int)n_got, got};
        got = NULL;
    }
out:
    free(got);
    free(c.send);
    free(sorted);
    return rc;
}

/* A number for an edge, to compare sets of edges by their sums. */
static uint64_t number_of(int source, int dest, int weight)
{
    uint64_t z = ((uint64_t)(uint32_t)source << 32 | (uint32_t)dest) +
                 (uint64_t)(uint32_t)weight * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* All edges into ranks must be the edges out of ranks, and all or no ranks pass weights (8.5.4).
   Collective. */
static int check_agreement(struct fm_comm *comm, const struct ends *in, const struct ends *out,
                           bool is_weighted)
{
    uint64_t sums[2] = {0, is_weighted};
    const struct fm_buf buf = {sums, 2, fm_dtype_get(MPI_UINT64_T)};
    int rc;

    for (int i = 0; i < in->n; i++) {
        sums[0] += number_of(in->ends[i].rank, comm->rank, in->ends[i].weight);
    }
    for (int i = 0; i < out->n; i++) {
        sums[0] -= number_of(comm->rank, out->ends[i].rank, out->ends[i].weight);
    }
    rc = fm_allreduce(MPI_IN_PLACE, &buf, fm_op_get(MPI_SUM), comm);
    if (rc != 0) {
        return rc;
    }
    if (sums[1] != 0 && sums[1] != (uint64_t)comm->size) {
        return fm_fail(-FM_E_INVAL, "%llu of %d ranks pass MPI_UNWEIGHTED: all must, or none",
                       (unsigned long long)((uint64_t)comm->size - sums[1]), comm->size);
    }
    if (sums[0] != 0) {
        return fm_fail(-FM_E_INVAL, "the sources of all ranks and the destinations of all ranks do "
                                    "not describe the same edges with the same weights");
    }
    return 0;
}

static int make_topo(const struct fm_comm *comm, const struct ends *in, const struct ends *out,
                     bool is_weighted, struct fm_topo **out_topo)
{
    size_t n_in = (size_t)in->n, n_out = (size_t)out->n;
    struct fm_topo *topo;
    int *sources, *dests, *in_weights, *out_weights;
    int rc = fm_topo_create(MPI_DIST_GRAPH, 3 * (n_in + n_out), &topo);

    if (rc != 0) {
        return rc;
    }
    sources = topo->numbers;
    dests = sources + n_in;
    in_weights = dests + n_out;
    out_weights = in_weights + n_in;
    for (size_t i = 0; i < n_in; i++) {
        sources[i] = in->ends[i].rank;
        in_weights[i] = in->ends[i].weight;
    }
    for (size_t i = 0; i < n_out; i++) {
        dests[i] = out->ends[i].rank;
        out_weights[i] = out->ends[i].weight;
    }
    topo->neighbors = (struct fm_neighbors){
        .n_sources = in->n, .n_dests = out->n, .sources = sources, .dests = dests};
    topo->weights = (struct fm_weights){is_weighted, in_weights, out_weights};
    rc = fm_topo_sort_edges(topo, comm->rank, comm->size, out_weights + n_out);
    if (rc != 0) {
        fm_topo_unref(topo);
        return rc;
    }
    *out_topo = topo;
    return 0;
}

/* The edges out of all ranks, in rank 0: *out_all in the order of ranks, and index[] as in
   MPI_Graph_create. */
static int gather_graph(struct fm_comm *comm, const struct ends *out, struct ends *out_all,
                        int *index)
{
    const struct fm_buf one = {(void *)&out->n, sizeof(out->n), fm_dtype_byte()};
    const struct fm_buf ns = {index, sizeof(out->n), fm_dtype_byte()};
    int *to = calloc((size_t)out->n + 1, sizeof(*to)); /* all to rank 0 */
    int rc = to ? fm_gather(&one, &ns, 0, comm) : no_memory(out->n);

    rc = rc == 0 ? deliver(comm, out->n, to, out->ends, out_all) : rc;
    for (int i = 1; rc == 0 && comm->rank == 0 && i < comm->size; i++) {
        index[i] += index[i - 1];
    }
    free(to);
    return rc;
}

/* Which rank each node goes to. */
static int place(struct fm_comm *comm, const struct ends *out, int *placed)
{
    struct fm_place_graph graph = {.n = comm->size};
    struct ends all = {0, NULL};
    int *index = malloc((size_t)comm->size * sizeof(*index)), *edges = NULL;
    int rc = index ? gather_graph(comm, out, &all, index) : no_memory(comm->size);

    if (rc == 0) {
        edges = malloc((2 * (size_t)all.n + 1) * sizeof(*edges));
        rc = edges ? 0 : no_memory(all.n);
    }
    for (int i = 0; rc == 0 && i < all.n; i++) {
        edges[i] = all.ends[i].rank;
        edges[all.n + i] = all.ends[i].weight;
    }
    graph.index = index;
    graph.edges = edges;
    graph.weights = edges ? edges + all.n : NULL;
    rc = rc == 0 ? fm_place_all(comm, &graph, placed) : rc;
    free(edges);
    free(index);
    free(all.ends);
    return rc;
}

/* The edges of a node go to the rank that it is placed on; they are used up. */
static int move_ends(struct fm_comm *comm, int to_rank, struct ends *ends)
{
    int *to = malloc(((size_t)ends->n + 1) * sizeof(*to));
    struct ends moved;
    int rc;

    for (int i = 0; to && i < ends->n; i++) {
        to[i] = to_rank;
    }
    rc = to ? deliver(comm, ends->n, to, ends->ends, &moved) : no_memory(ends->n);
    free(to);
    if (rc == 0) {
        free(ends->ends);
        *ends = moved;
    }
    return rc;
}

/* Place the nodes, and take their edges there. *out_placed is to be freed. */
static int reorder(struct fm_comm *comm, struct ends *in, struct ends *out, int **out_placed)
{
    int *placed = malloc((size_t)comm->size * sizeof(*placed));
    int rc = placed ? place(comm, out, placed) : no_memory(comm->size);

    rc = rc == 0 ? move_ends(comm, placed[comm->rank], in) : rc;
    rc = rc == 0 ? move_ends(comm, placed[comm->rank], out) : rc;
    if (rc != 0) {
        free(placed);
        return rc;
    }
    *out_placed = placed;
    return 0;
}

/* With the edges of the calling rank, which are used up. Collective. */
static int create(struct fm_comm *comm, struct ends *in, struct ends *out, bool is_weighted,
                  bool is_reordered, struct fm_comm **out_comm)
{
    struct fm_comm *made = NULL;
    struct fm_group *group = NULL;
    struct fm_topo *topo = NULL;
    int *placed = NULL;
    int rc = check_agreement(comm, in, out, is_weighted);

    rc = rc == 0 && is_reordered ? reorder(comm, in, out, &placed) : rc;
    rc = rc == 0 ? fm_place_group(comm, comm->size, placed, &group) : rc;
    rc = rc == 0 ? fm_comm_make_create(comm, group, &made) : rc;
    fm_group_unref(group);
    free(placed);
    rc = rc == 0 ? make_topo(made, in, out, is_weighted, &topo) : rc;
    free(in->ends);
    free(out->ends);
    if (rc != 0) {
        fm_comm_unref(made);
        return rc;
    }
    fm_topo_attach(made, topo);
    *out_comm = made;
    return 0;
}

static int copy_ends(const struct fm_edges *edges, struct ends *out_ends)
{
    struct end *ends = malloc(((size_t)edges->n + 1) * sizeof(*ends));

    if (!ends) {
        return no_memory(edges->n);
    }
    for (int i = 0; i < edges->n; i++) {
        ends[i] = (struct end){edges->ranks[i], edges->weights ? edges->weights[i] : 1};
    }
    *out_ends = (struct ends){edges->n, ends};
    return 0;
}

int fm_dist_graph_adjacent(struct fm_comm *comm, const struct fm_edges *in,
                           const struct fm_edges *out, bool is_weighted, bool is_reordered,
                           struct fm_comm **out_comm)
{
    struct ends in_ends = {0, NULL}, out_ends;
    int rc = copy_ends(in, &in_ends);

    rc = rc == 0 ? copy_ends(out, &out_ends) : rc;
    if (rc != 0) {
        free(in_ends.ends);
        return rc;
    }
    return create(comm, &in_ends, &out_ends, is_weighted, is_reordered, out_comm);
}

/* An edge list as two arrays of ranks. */
struct flat {
    int n;
    int *sources;    /* to be freed */
    struct end *in;  /* what the destinations get, to be freed */
    struct end *out; /* what the sources get, behind it */
};

static int flatten(const struct fm_edge_list *list, struct flat *out_flat)
{
    struct flat f = {.n = 0};
    int at = 0;

    for (int i = 0; i < list->n; i++) {
        f.n += list->degrees[i];
    }
    f.sources = malloc(((size_t)f.n + 1) * sizeof(int));
    f.in = malloc((2 * (size_t)f.n + 1) * sizeof(struct end));
    f.out = f.in + f.n;
    if (!f.sources || !f.in) {
        free(f.sources);
        free(f.in);
        return no_memory(f.n);
    }
    for (int i = 0; i < list->n; i++) {
        for (int k = 0; k < list->degrees[i]; k++, at++) {
            int weight = list->weights ? list->weights[at] : 1;

            f.sources[at] = list->sources[i];
            f.in[at] = (struct end){list->sources[i], weight};
            f.out[at] = (struct end){list->destinations[at], weight};
        }
    }
    *out_flat = f;
    return 0;
}

int fm_dist_graph_create(struct fm_comm *comm, const struct fm_edge_list *list, bool is_weighted,
                         bool is_reordered, struct fm_comm **out_comm)
{
    struct ends in = {0, NULL}, out = {0, NULL};
    struct flat flat = {0};
    int rc = flatten(list, &flat);

    if (rc != 0) {
        return rc;
    }
    rc = deliver(comm, flat.n, list->destinations, flat.in, &in);
    rc = rc == 0 ? deliver(comm, flat.n, flat.sources, flat.out, &out) : rc;
    free(flat.sources);
    free(flat.in);
    if (rc != 0) {
        free(in.ends);
        return rc;
    }
    return create(comm, &in, &out, is_weighted, is_reordered, out_comm);
}
