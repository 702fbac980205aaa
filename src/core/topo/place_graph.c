/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of a graph onto places: greedy growth, then exchanges of pairs. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/topo/place.h"
#include "util/status.h"

#define MAX_NODES  8192     /* beyond, the time of the search (n * n) would be felt */
#define MAX_LOOKS  20000000 /* edges looked at by exchanges */
#define NOT_PLACED (-1)

/* Weight between places that differ. */
struct cost {
    long long hosts, caches;
};

struct search {
    const struct fm_place_graph *graph;
    const struct fm_place *places;
    int n_places;
    int *placed;     /* by node */
    int *node_at;    /* by place, NOT_PLACED: free */
    long long *pull; /* by node: weight of its edges to the place being filled */
    long long n_looks;
};

static int first_edge(const struct fm_place_graph *g, int node)
{
    return node > 0 ? g->index[node - 1] : 0;
}

static int weight_of(const struct fm_place_graph *g, int edge)
{
    return g->weights ? g->weights[edge] : 1;
}

static struct cost between(const struct fm_place *a, const struct fm_place *b, int weight)
{
    if (a->host != b->host) {
        return (struct cost){weight, weight};
    }
    return (struct cost){0, a->cache != b->cache ? weight : 0};
}

static bool is_less(struct cost a, struct cost b)
{
    return a.hosts != b.hosts ? a.hosts < b.hosts : a.caches < b.caches;
}

/* Of the edges of one node, if it were at a place. */
static struct cost cost_at(struct search *s, int node, int place)
{
    const struct fm_place_graph *g = s->graph;
    struct cost sum = {0, 0};

    for (int e = first_edge(g, node); e < g->index[node]; e++) {
        struct cost one =
            between(&s->places[place], &s->places[s->placed[g->edges[e]]], weight_of(g, e));

        sum.hosts += one.hosts;
        sum.caches += one.caches;
        s->n_looks++;
    }
    return sum;
}

static struct cost cost_of_all(struct search *s)
{
    struct cost sum = {0, 0};

    for (int node = 0; node < s->graph->n; node++) {
        struct cost one = cost_at(s, node, s->placed[node]);

        sum.hosts += one.hosts;
        sum.caches += one.caches;
    }
    return sum;
}

static void put(struct search *s, int node, int place)
{
    if (node != NOT_PLACED) {
        s->placed[node] = place;
    }
    s->node_at[place] = node;
}

/* Of what is at two places (nothing, perhaps), here and there. */
static struct cost cost_of_pair(struct search *s, int a, int b)
{
    struct cost x = {0, 0}, y = {0, 0};

    if (s->node_at[a] != NOT_PLACED) {
        x = cost_at(s, s->node_at[a], a);
    }
    if (s->node_at[b] != NOT_PLACED) {
        y = cost_at(s, s->node_at[b], b);
    }
    return (struct cost){x.hosts + y.hosts, x.caches + y.caches};
}

static bool try_exchange(struct search *s, int a, int b)
{
    int at_a = s->node_at[a], at_b = s->node_at[b];
    struct cost before = cost_of_pair(s, a, b);

    put(s, at_a, b);
    put(s, at_b, a);
    if (is_less(cost_of_pair(s, a, b), before)) {
        return true;
    }
    put(s, at_a, a);
    put(s, at_b, b);
    return false;
}

/* Exchange pairs while that is better. Each exchange lowers the cost, so this ends. */
static void refine(struct search *s)
{
    bool is_better = true;

    s->n_looks = 0;
    while (is_better) {
        is_better = false;
        for (int a = 0; a < s->n_places; a++) {
            for (int b = a + 1; b < s->n_places; b++) {
                const struct fm_place *x = &s->places[a], *y = &s->places[b];

                if (s->n_looks > MAX_LOOKS) {
                    return;
                }
                if (x->host != y->host || x->cache != y->cache) {
                    is_better |= try_exchange(s, a, b);
                }
            }
        }
    }
}

/* The node that belongs next to what is on the host and behind the cache that are being filled:
   the one with the most weight to them, the first of equals. */
static int next_node(const struct search *s)
{
    int best = NOT_PLACED;

    for (int node = 0; node < s->graph->n; node++) {
        if (s->placed[node] == NOT_PLACED &&
            (best == NOT_PLACED || s->pull[node] > s->pull[best])) {
            best = node;
        }
    }
    return best;
}

static void add_pull(struct search *s, int node, int factor)
{
    const struct fm_place_graph *g = s->graph;

    for (int e = first_edge(g, node); e < g->index[node]; e++) {
        s->pull[g->edges[e]] += (long long)weight_of(g, e) * factor;
    }
}

/* What is behind the same cache pulls more than all else on the host can. */
#define CACHE_FACTOR 1000

/* `order`: the places, those of a host together and in it those of a cache. */
static void grow(struct search *s, const int *order)
{
    for (int k = 0; k < s->graph->n; k++) {
        const struct fm_place *p = &s->places[order[k]];
        const struct fm_place *before = k > 0 ? &s->places[order[k - 1]] : p;
        int node;

        if (before->host != p->host || before->cache != p->cache) {
            memset(s->pull, 0, (size_t)s->graph->n * sizeof(*s->pull));
            for (int i = 0; i < k; i++) {
                if (s->places[order[i]].host == p->host) {
                    add_pull(s, s->node_at[order[i]], 1);
                }
            }
        }
        node = next_node(s);
        put(s, node, order[k]);
        add_pull(s, node, CACHE_FACTOR);
    }
}

/* A place while places are sorted: the largest hosts come first, so that few are used. */
struct sorted {
    int n_on_host;
    struct fm_place at;
    int place;
};

static int compare(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;

    if (x->n_on_host != y->n_on_host) {
        return x->n_on_host > y->n_on_host ? -1 : 1;
    }
    if (x->at.host != y->at.host) {
        return x->at.host < y->at.host ? -1 : 1;
    }
    if (x->at.cache != y->at.cache) {
        return x->at.cache < y->at.cache ? -1 : 1;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

static int sort_places(int n, const struct fm_place *places, int *out_order)
{
    struct sorted *sorted = malloc((size_t)n * sizeof(*sorted));

    if (!sorted) {
        return fm_fail(-FM_E_NOMEM, "no memory to order %d places", n);
    }
    for (int i = 0; i < n; i++) {
        sorted[i] = (struct sorted){.at = places[i], .place = i};
        for (int j = 0; j < n; j++) {
            sorted[i].n_on_host += places[j].host == places[i].host;
        }
    }
    qsort(sorted, (size_t)n, sizeof(*sorted), compare);
    for (int i = 0; i < n; i++) {
        out_order[i] = sorted[i].place;
    }
    free(sorted);
    return 0;
}

static void place_in_order(struct search *s)
{
    for (int i = 0; i < s->n_places; i++) {
        put(s, i < s->graph->n ? i : NOT_PLACED, i);
    }
}

/* The better one of two: exchanges from the order of ranks, or from the grown hosts. */
static void search_best(struct search *s, const int *order, int *out_placed)
{
    size_t len = (size_t)s->graph->n * sizeof(int);
    struct cost best;

    place_in_order(s);
    refine(s);
    best = cost_of_all(s);
    memcpy(out_placed, s->placed, len);
    for (int i = 0; i < s->n_places; i++) {
        s->node_at[i] = NOT_PLACED;
    }
    for (int i = 0; i < s->graph->n; i++) {
        s->placed[i] = NOT_PLACED;
        s->pull[i] = 0;
    }
    grow(s, order);
    refine(s);
    if (is_less(cost_of_all(s), best)) {
        memcpy(out_placed, s->placed, len);
    }
}

/* Every edge at both its ends, but those to oneself. *out_numbers is to be freed. */
static int make_symmetric(const struct fm_place_graph *g, struct fm_place_graph *out_both,
                          int **out_numbers)
{
    size_t n = (size_t)g->n, n_edges = n > 0 ? (size_t)g->index[n - 1] : 0;
    int *index = calloc(n + 4 * n_edges + 1, sizeof(*index));
    int *edges = index + n, *weights = edges + 2 * n_edges, sum = 0;

    if (!index) {
        return fm_fail(-FM_E_NOMEM, "no memory for a graph of %d nodes", g->n);
    }
    for (int node = 0; node < g->n; node++) {
        for (int e = first_edge(g, node); e < g->index[node]; e++) {
            index[node] += g->edges[e] != node;
            index[g->edges[e]] += g->edges[e] != node;
        }
    }
    for (int node = 0; node < g->n; node++) { /* where each list begins: filled, it is its end */
        int degree = index[node];

        index[node] = sum;
        sum += degree;
    }
    for (int node = 0; node < g->n; node++) {
        for (int e = first_edge(g, node); e < g->index[node]; e++) {
            int other = g->edges[e];

            if (other != node) {
                weights[index[node]] = weight_of(g, e);
                edges[index[node]++] = other;
                weights[index[other]] = weight_of(g, e);
                edges[index[other]++] = node;
            }
        }
    }
    *out_both = (struct fm_place_graph){g->n, index, edges, weights};
    *out_numbers = index;
    return 0;
}

int fm_place_nodes(const struct fm_place_graph *graph, int n_places, const struct fm_place *places,
                   int *out_placed)
{
    size_t n = (size_t)graph->n, m = (size_t)n_places;
    struct search s = {.places = places, .n_places = n_places};
    struct fm_place_graph both;
    int *order, *numbers = NULL, rc;
    bool is_uniform = true;

    for (int i = 0; i < graph->n; i++) {
        out_placed[i] = i;
    }
    for (int i = 1; i < n_places; i++) {
        is_uniform &= places[i].host == places[0].host && places[i].cache == places[0].cache;
    }
    if (is_uniform || n_places > MAX_NODES) {
        return 0;
    }
    rc = make_symmetric(graph, &both, &numbers);
    if (rc != 0) {
        return rc;
    }
    s.graph = &both;
    s.placed = malloc((n + 2 * m + 1) * sizeof(int));
    s.pull = calloc(n + 1, sizeof(*s.pull));
    if (!s.placed || !s.pull) {
        rc = fm_fail(-FM_E_NOMEM, "no memory to place %d ranks", n_places);
        goto out;
    }
    s.node_at = s.placed + n;
    order = s.node_at + m;
    rc = sort_places(n_places, places, order);
    if (rc == 0) {
        search_best(&s, order, out_placed);
    }
out:
    free(s.placed);
    free(s.pull);
    free(numbers);
    return rc;
}
