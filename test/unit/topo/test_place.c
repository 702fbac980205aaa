/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement: never worse than the order of ranks, as good as can be where that is known, and each
   place used once. */
#include "core/topo/place.h"

#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

#define MAX 64

static struct {
    int n, index[MAX], edges[MAX * MAX], weights[MAX * MAX];
} g;

static struct fm_place places[MAX];
static int placed[MAX];

static void cost(const int *at, long long *out_hosts, long long *out_caches)
{
    int e = 0;

    *out_hosts = *out_caches = 0;
    for (int node = 0; node < g.n; node++) {
        for (; e < g.index[node]; e++) {
            const struct fm_place *a = &places[at[node]], *b = &places[at[g.edges[e]]];

            *out_hosts += a->host != b->host ? g.weights[e] : 0;
            *out_caches += a->host != b->host || a->cache != b->cache ? g.weights[e] : 0;
        }
    }
}

/* Places all nodes; returns the weight between hosts. */
static long long place(int n_places)
{
    const struct fm_place_graph graph = {g.n, g.index, g.edges, g.weights};
    int in_order[MAX], used[MAX] = {0};
    long long hosts, caches, old_hosts, old_caches;

    ck_assert_int_eq(fm_place_nodes(&graph, n_places, places, placed), 0);
    for (int i = 0; i < g.n; i++) {
        in_order[i] = i;
        ck_assert_int_ge(placed[i], 0);
        ck_assert_int_lt(placed[i], n_places);
        ck_assert_int_eq(used[placed[i]]++, 0);
    }
    cost(placed, &hosts, &caches);
    cost(in_order, &old_hosts, &old_caches);
    ck_assert(hosts < old_hosts || (hosts == old_hosts && caches <= old_caches));
    return hosts;
}

static void add(int to)
{
    g.weights[g.index[g.n]] = 1;
    g.edges[g.index[g.n]++] = to;
}

static void begin_node(void)
{
    g.index[g.n] = g.n > 0 ? g.index[g.n - 1] : 0;
}

static void make_ring(int n)
{
    for (g.n = 0; g.n < n; g.n++) {
        begin_node();
        add((g.n + 1) % n);
        add((g.n + n - 1) % n);
    }
}

START_TEST(rings)
{
    /* Ranks dealt out to hosts in turn: every edge crosses; two per host need to. */
    for (int n_hosts = 2; n_hosts <= 4; n_hosts++) {
        for (int n = 2 * n_hosts; n <= 48; n += n_hosts) {
            make_ring(n);
            for (int i = 0; i < n; i++) {
                places[i] = (struct fm_place){i % n_hosts, -1};
            }
            ck_assert_int_eq(place(n), 2 * n_hosts);
        }
    }
}
END_TEST

START_TEST(caches)
{
    long long hosts, all;

    make_ring(32);
    for (int i = 0; i < 32; i++) {
        places[i] = (struct fm_place){i % 2, i / 2 % 2};
    }
    ck_assert_int_eq(place(32), 4);
    cost(placed, &hosts, &all);
    ck_assert_int_eq(all, 8); /* of four caches */
}
END_TEST

START_TEST(grids)
{
    /* 8 x 8 without wrapping, on 2 hosts: a straight cut is 8 edges, seen from both ends. */
    for (g.n = 0; g.n < 64; g.n++) {
        int x = g.n % 8, y = g.n / 8;

        begin_node();
        if (x > 0) {
            add(g.n - 1);
        }
        if (x < 7) {
            add(g.n + 1);
        }
        if (y > 0) {
            add(g.n - 8);
        }
        if (y < 7) {
            add(g.n + 8);
        }
    }
    for (int i = 0; i < 64; i++) {
        places[i] = (struct fm_place){i % 2, -1};
    }
    ck_assert_int_le(place(64), 2 * 10);
}
END_TEST

START_TEST(some_places)
{
    /* Four nodes and eight places: one host has room for all. */
    make_ring(4);
    for (int i = 0; i < 8; i++) {
        places[i] = (struct fm_place){i % 2, -1};
    }
    ck_assert_int_eq(place(8), 0);
}
END_TEST

START_TEST(random_graphs)
{
    srand(1);
    for (int round = 0; round < 200; round++) {
        int n = 1 + rand() % 32, n_places = n + rand() % 8;

        for (g.n = 0; g.n < n; g.n++) {
            begin_node();
            for (int k = rand() % 6; k > 0; k--) {
                add(rand() % n);
                g.weights[g.index[g.n] - 1] = rand() % 10;
            }
        }
        for (int i = 0; i < n_places; i++) {
            places[i] = (struct fm_place){rand() % 4, rand() % 3 - 1};
        }
        place(n_places);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place");
    TCase *tc = tcase_create("place");

    tcase_set_timeout(tc, 50);
    tcase_add_test(tc, rings);
    tcase_add_test(tc, caches);
    tcase_add_test(tc, grids);
    tcase_add_test(tc, some_places);
    tcase_add_test(tc, random_graphs);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
