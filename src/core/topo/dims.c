/* SPDX-License-Identifier: BSD-3-Clause */
/* Balanced grids: a branch-and-bound search over the divisors of the number of nodes. */
#include "core/topo/dims.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "util/status.h"

#define MAX_DIVISORS 1600 /* no number below 2^31 has more */
#define MAX_FREE     32   /* more entries than an int has prime factors: all others are 1 */

struct search {
    int divisors[MAX_DIVISORS]; /* of the product wanted, ascending */
    int n_divisors;
    int n;             /* entries wanted, 1 .. MAX_FREE */
    int gap;           /* of the best grid so far: its largest entry minus its smallest */
    int now[MAX_FREE]; /* the grid being built, non-increasing */
    int best[MAX_FREE];
};

static void find_divisors(struct search *s, int product)
{
    int n_low = 0, n;

    for (int64_t d = 1; d * d <= product; d++) {
        if (product % d == 0) {
            s->divisors[n_low++] = (int)d;
        }
    }
    n = n_low;
    for (int i = n_low - 1; i >= 0; i--) {
        int pair = product / s->divisors[i];

        if (pair != s->divisors[i]) {
            s->divisors[n++] = pair;
        }
    }
    s->n_divisors = n;
}

/* base^exponent > bound, without overflow for positive ints. */
static bool power_exceeds(int64_t base, int exponent, int64_t bound)
{
    int64_t power = 1;

    for (int i = 0; i < exponent && base > 1 && power <= bound; i++) {
        power *= base;
    }
    return power > bound;
}

static void keep(struct search *s, int gap)
{
    s->gap = gap;
    memcpy(s->best, s->now, sizeof(s->best));
}

/*
 * Choose the entry `at` and those behind it, whose product is `rest`. Choices ascend, so the first
 * grid of a gap is the one to keep.
 */
static void descend(struct search *s, int at, int rest)
{
    int n_left = s->n - at;

    if (n_left == 1) {
        s->now[at] = rest;
        if (s->now[0] - rest < s->gap) {
            keep(s, s->now[0] - rest);
        }
        return;
    }
    for (int i = 0; i < s->n_divisors; i++) {
        int d = s->divisors[i];
        int low = (at > 0 ? s->now[0] : d) - s->gap + 1; /* of a better grid's smallest entry */

        if ((at > 0 && d > s->now[at - 1]) || power_exceeds(low, n_left - 1, rest / d)) {
            return; /* and so it is with all larger ones */
        }
        if (rest % d == 0 && power_exceeds(d, n_left, rest - 1)) { /* large enough to come first */
            s->now[at] = d;
            descend(s, at + 1, rest / d);
        }
    }
}

/* The product of the entries that are set, and how many are not. */
static int read_dims(int n_nodes, int n_dims, const int dims[], int *out_product, int *out_n_free)
{
    int product = 1, n_free = 0;

    if (n_nodes < 1) {
        return fm_fail(-FM_E_INVAL, "nnodes is %d, it must be positive", n_nodes);
    }
    for (int i = 0; i < n_dims; i++) {
        if (dims[i] < 0) {
            return fm_fail(-FM_E_INVAL, "dims[%d] is %d, it must not be negative", i, dims[i]);
        }
        n_free += dims[i] == 0;
        if (dims[i] > 0 && __builtin_mul_overflow(product, dims[i], &product)) {
            return fm_fail(-FM_E_INVAL, "the product of dims is more than nnodes, which is %d",
                           n_nodes);
        }
    }
    *out_product = product;
    *out_n_free = n_free;
    return 0;
}

int fm_dims_create(int n_nodes, int n_dims, int dims[])
{
    struct search s = {.gap = INT_MAX};
    int product = 1, n_free = 0, next = 0;
    int rc = read_dims(n_nodes, n_dims, dims, &product, &n_free);

    if (rc != 0) {
        return rc;
    }
    if (n_nodes % product != 0 || (n_free == 0 && product != n_nodes)) {
        return fm_fail(-FM_E_INVAL, "the product of the dims that are set is %d, %s nnodes (%d)",
                       product, n_free == 0 ? "which is not" : "no divisor of", n_nodes);
    }
    if (n_free == 0) {
        return 0;
    }
    find_divisors(&s, n_nodes / product);
    s.n = n_free < MAX_FREE ? n_free : MAX_FREE;
    descend(&s, 0, n_nodes / product);
    for (int i = 0; i < n_dims; i++) {
        if (dims[i] == 0) {
            dims[i] = next < s.n ? s.best[next] : 1;
            next++;
        }
    }
    return 0;
}
