/* SPDX-License-Identifier: BSD-3-Clause */
/* Type maps as plain lists, and random types. */
#include "type_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    MPI_Datatype type;
    int len;
} basics[] = {
    {MPI_CHAR, 1},
    {MPI_SHORT, sizeof(short)},
    {MPI_INT, sizeof(int)},
    {MPI_FLOAT, 4},
    {MPI_DOUBLE, sizeof(double)},
    {MPI_LONG, sizeof(long)},
    {MPI_INT8_T, 1},
    {MPI_UINT16_T, 2},
    {MPI_INT64_T, 8},
    {MPI_BYTE, 1},
};
#define N_BASICS ((int)(sizeof(basics) / sizeof(basics[0])))

uint64_t tm_next(struct tm_rng *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state * 0x2545f4914f6cdd1dull;
}

int64_t tm_range(struct tm_rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)((tm_next(r) >> 16) % (uint64_t)(hi - lo + 1));
}

static void *must(void *p)
{
    if (!p) {
        fprintf(stderr, "type_model: out of memory\n");
        abort();
    }
    return p;
}

static int64_t extent(const struct tm_type *t)
{
    return t->ub - t->lb;
}

static struct tm_type *new_model(int combiner)
{
    struct tm_type *t = must(calloc(1, sizeof(*t)));

    t->combiner = combiner;
    return t;
}

/* Append the kid's map, n times from disp on; its markers count too. */
static void put(struct tm_type *t, const struct tm_type *kid, int64_t disp, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = disp + i * extent(kid);

        t->map = must(realloc(t->map, (size_t)(t->n + kid->n + 1) * sizeof(*t->map)));
        for (int j = 0; j < kid->n; j++) {
            t->map[t->n] = kid->map[j];
            t->map[t->n++].disp += at;
        }
        if (kid->n > 0) {
            t->reach = !t->has_reach || at + kid->ub > t->reach ? at + kid->ub : t->reach;
            t->has_reach = true;
        }
        if (kid->has_markers) {
            t->lb = !t->has_markers || at + kid->lb < t->lb ? at + kid->lb : t->lb;
            t->ub = !t->has_markers || at + kid->ub > t->ub ? at + kid->ub : t->ub;
            t->has_markers = true;
        }
    }
}

/* MPI-5.0 5.1.6, with a part reaching to its own upper bound. */
static void close_map(struct tm_type *t)
{
    int align = 1;

    for (int i = 0; i < t->n; i++) {
        const struct tm_entry *e = &t->map[i];

        t->true_lb = i == 0 || e->disp < t->true_lb ? e->disp : t->true_lb;
        t->true_ub = i == 0 || e->disp + e->len > t->true_ub ? e->disp + e->len : t->true_ub;
        t->size += e->len;
        align = e->align > align ? e->align : align;
    }
    if (!t->has_markers) {
        t->lb = t->true_lb;
        t->ub = t->has_reach && t->reach > t->true_ub ? t->reach : t->true_ub;
        while ((t->ub - t->lb) % align != 0) {
            t->ub++;
        }
    }
}

struct tm_type *tm_basic(MPI_Datatype basic)
{
    struct tm_type *t = new_model(MPI_COMBINER_NAMED);
    int len = 0;

    for (int i = 0; i < N_BASICS; i++) {
        len = basics[i].type == basic ? basics[i].len : len;
    }
    t->basic = basic;
    t->map = must(malloc(sizeof(*t->map)));
    t->map[0] = (struct tm_entry){.len = len, .align = len, .basic = basic};
    t->n = 1;
    close_map(t);
    return t;
}

/* The elements of an array that belong to the type: those of each dimension are in a list of
   booleans; the odometer goes over all places of the array in memory order. */
static void put_array(struct tm_type *t, const struct tm_type *kid, int n_dims,
                      const int64_t *sizes, bool **is_in, bool is_fortran)
{
    int64_t total = 1;

    for (int d = 0; d < n_dims; d++) {
        total *= sizes[d];
    }
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i;
        bool is_mine = true;

        for (int k = 0; k < n_dims; k++) {
            int d = is_fortran ? k : n_dims - 1 - k; /* fastest first */

            is_mine &= is_in[d][rest % sizes[d]];
            rest /= sizes[d];
        }
        if (is_mine) {
            put(t, kid, i * extent(kid), 1);
        }
    }
    t->has_markers = true;
    t->lb = 0;
    t->ub = total * extent(kid);
}

/* n, sizes[n], subsizes[n], starts[n], order */
static void put_subarray(struct tm_type *t, const int64_t *v)
{
    int n = (int)v[0];
    bool **is_in = must(calloc((size_t)n, sizeof(*is_in)));

    for (int d = 0; d < n; d++) {
        is_in[d] = must(calloc((size_t)v[1 + d], sizeof(bool)));
        for (int64_t i = 0; i < v[1 + n + d]; i++) {
            is_in[d][v[1 + 2 * n + d] + i] = true;
        }
    }
    put_array(t, t->kids[0], n, v + 1, is_in, v[1 + 3 * n] == MPI_ORDER_FORTRAN);
    for (int d = 0; d < n; d++) {
        free(is_in[d]);
    }
    free(is_in);
}

/* size, rank, n, gsizes[n], distribs[n], dargs[n], psizes[n], order: element i of a dimension is
   dealt to process (i / block) % psize. */
static void put_darray(struct tm_type *t, const int64_t *v)
{
    int n = (int)v[2];
    int64_t rank = v[1];
    bool **is_in = must(calloc((size_t)n, sizeof(*is_in)));

    for (int d = n - 1; d >= 0; d--) {
        int64_t gsize = v[3 + d];
        int64_t psize = v[3 + 3 * n + d];
        int64_t block = v[3 + 2 * n + d];

        if (v[3 + n + d] == MPI_DISTRIBUTE_NONE) {
            block = gsize;
        } else if (block == MPI_DISTRIBUTE_DFLT_DARG) {
            block = v[3 + n + d] == MPI_DISTRIBUTE_BLOCK ? (gsize + psize - 1) / psize : 1;
        }
        is_in[d] = must(calloc((size_t)gsize, sizeof(bool)));
        for (int64_t i = 0; i < gsize; i++) {
            is_in[d][i] = (i / block) % psize == rank % psize;
        }
        rank /= psize;
    }
    put_array(t, t->kids[0], n, v + 3, is_in, v[3 + 4 * n] == MPI_ORDER_FORTRAN);
    for (int d = 0; d < n; d++) {
        free(is_in[d]);
    }
    free(is_in);
}

static void put_all(struct tm_type *t)
{
    const int64_t *v = t->values;
    const struct tm_type *kid = t->n_kids > 0 ? t->kids[0] : NULL;
    bool is_bytes = t->combiner == MPI_COMBINER_HVECTOR || t->combiner == MPI_COMBINER_HINDEXED ||
                    t->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int64_t unit = is_bytes || !kid ? 1 : extent(kid);

    switch (t->combiner) {
    case MPI_COMBINER_DUP:
        put(t, kid, 0, 1);
        return;
    case MPI_COMBINER_RESIZED:
        put(t, kid, 0, 1);
        t->has_markers = true;
        t->lb = v[0];
        t->ub = v[0] + v[1];
        return;
    case MPI_COMBINER_CONTIGUOUS:
        put(t, kid, 0, v[0]);
        return;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        for (int64_t i = 0; i < v[0]; i++) {
            put(t, kid, i * v[2] * unit, v[1]);
        }
        return;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        for (int64_t i = 0; i < v[0]; i++) {
            put(t, kid, v[1 + v[0] + i] * unit, v[1 + i]);
        }
        return;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        for (int64_t i = 0; i < v[0]; i++) {
            put(t, kid, v[2 + i] * unit, v[1]);
        }
        return;
    case MPI_COMBINER_STRUCT:
        for (int64_t i = 0; i < v[0]; i++) {
            put(t, t->kids[i], v[1 + v[0] + i], v[1 + i]);
        }
        return;
    case MPI_COMBINER_SUBARRAY:
        put_subarray(t, v);
        return;
    case MPI_COMBINER_DARRAY:
        put_darray(t, v);
    }
}

struct tm_type *tm_make(int combiner, const int64_t *values, int n_values, struct tm_type **kids,
                        int n_kids)
{
    struct tm_type *t = new_model(combiner);

    t->values = must(malloc(((size_t)n_values + 1) * sizeof(*values)));
    t->n_values = n_values;
    if (n_values > 0) {
        memcpy(t->values, values, (size_t)n_values * sizeof(*values));
    }
    t->kids = must(malloc(((size_t)n_kids + 1) * sizeof(*kids)));
    t->n_kids = n_kids;
    memcpy(t->kids, kids, (size_t)n_kids * sizeof(*kids));
    put_all(t);
    close_map(t);
    return t;
}

void tm_free(struct tm_type *t)
{
    if (t) {
        for (int i = 0; i < t->n_kids; i++) {
            tm_free(t->kids[i]);
        }
        free(t->kids);
        free(t->values);
        free(t->map);
        free(t);
    }
}

/* ---------------------------------------------------------------- random ones */

/* How often a kid may be repeated. */
static int64_t room(const struct tm_type *kid, int max)
{
    int64_t n = kid->n > 0 ? max / kid->n : 4;

    return n < 1 ? 1 : n > 12 ? 12 : n;
}

/* A displacement behind what is there, or now and then anywhere; in units of bytes. */
static int64_t place(struct tm_rng *r, int64_t *at, int64_t len)
{
    int64_t disp = *at + (tm_range(r, 0, 2) == 0 ? tm_range(r, 0, 40) : 0);

    if (tm_range(r, 0, 30) == 0) {
        return tm_range(r, -100, 100);
    }
    *at = disp + (len > 0 ? len : 0);
    return disp;
}

static struct tm_type *random_vector(struct tm_rng *r, struct tm_type *kid, int max, int combiner)
{
    int64_t n = tm_range(r, tm_range(r, 0, 9) == 0 ? 0 : 1, room(kid, max));
    int64_t bl = tm_range(r, tm_range(r, 0, 9) == 0 ? 0 : 1, room(kid, max / (int)(n + 1)));
    int64_t unit = combiner == MPI_COMBINER_HVECTOR ? extent(kid) : 1;
    int64_t stride = unit * (bl + tm_range(r, 0, 3));

    if (combiner == MPI_COMBINER_HVECTOR && tm_range(r, 0, 3) == 0) {
        stride += tm_range(r, 0, 9);
    }
    if (tm_range(r, 0, 12) == 0) {
        stride = -stride;
    }
    return tm_make(combiner, (int64_t[]){n, bl, stride}, 3, &kid, 1);
}

static struct tm_type *random_indexed(struct tm_rng *r, struct tm_type *kid, int max, int combiner)
{
    bool is_block =
        combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool is_bytes = combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    int64_t unit = extent(kid) > 0 ? extent(kid) : 1;
    int64_t n = tm_range(r, tm_range(r, 0, 9) == 0 ? 0 : 1, room(kid, max));
    int64_t most = room(kid, max / (int)(n + 1));
    int64_t v[40] = {n, tm_range(r, 0, most)};
    int64_t *disps = is_block ? v + 2 : v + 1 + n;
    int64_t at = tm_range(r, -50, 50);

    for (int64_t i = 0; i < n; i++) {
        int64_t bl = is_block ? v[1] : tm_range(r, 0, most);

        if (!is_block) {
            v[1 + i] = bl;
        }
        disps[i] = place(r, &at, bl * unit);
        if (!is_bytes) {
            disps[i] = disps[i] / unit + (disps[i] % unit > 0);
            at = at < (disps[i] + bl) * unit ? (disps[i] + bl) * unit : at;
        }
    }
    return tm_make(combiner, v, (int)(is_block ? 2 + n : 1 + 2 * n), &kid, 1);
}

static struct tm_type *random_struct(struct tm_rng *r, struct tm_type *first, int depth, int max)
{
    int64_t n = tm_range(r, 1, 5);
    struct tm_type *kids[5] = {first};
    int64_t v[11] = {n};
    int64_t at = tm_range(r, -20, 20);

    for (int64_t i = 0; i < n; i++) {
        kids[i] = i == 0 ? first : tm_random(r, (int)tm_range(r, 0, depth), max / 4 + 1);
        v[1 + i] = tm_range(r, tm_range(r, 0, 5) == 0 ? 0 : 1, room(kids[i], max / (int)n));
        v[1 + n + i] = place(r, &at, v[1 + i] * extent(kids[i]) + kids[i]->ub);
    }
    return tm_make(MPI_COMBINER_STRUCT, v, (int)(1 + 2 * n), kids, (int)n);
}

static struct tm_type *random_subarray(struct tm_rng *r, struct tm_type *kid, int max)
{
    int64_t n = tm_range(r, 1, 4);
    int64_t v[14] = {n};
    int64_t most = room(kid, max);

    for (int64_t d = 0; d < n; d++) {
        int64_t sub = tm_range(r, 1, most > 4 ? 4 : most);

        most /= sub;
        v[1 + d] = sub + tm_range(r, 0, 3);
        v[1 + n + d] = sub;
        v[1 + 2 * n + d] = tm_range(r, 0, v[1 + d] - sub);
    }
    v[1 + 3 * n] = tm_range(r, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    return tm_make(MPI_COMBINER_SUBARRAY, v, (int)(2 + 3 * n), &kid, 1);
}

static struct tm_type *random_darray(struct tm_rng *r, struct tm_type *kid, int max)
{
    int64_t n = tm_range(r, 1, 3);
    int64_t v[17] = {1};
    int64_t most = room(kid, max);

    v[2] = n;
    for (int64_t d = 0; d < n; d++) {
        int64_t gsize = tm_range(r, 1, most > 9 ? 9 : most);
        int64_t distrib = tm_range(r, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC);
        int64_t psize = tm_range(r, 1, 3);
        int64_t darg = tm_range(r, 1, 4);

        if (distrib == MPI_DISTRIBUTE_BLOCK) {
            darg = (gsize + psize - 1) / psize + tm_range(r, 0, 1);
        }
        v[0] *= psize;
        v[3 + d] = gsize;
        v[3 + n + d] = distrib;
        v[3 + 2 * n + d] = tm_range(r, 0, 2) == 0 ? MPI_DISTRIBUTE_DFLT_DARG : darg;
        v[3 + 3 * n + d] = psize;
    }
    v[1] = tm_range(r, 0, v[0] - 1);
    v[3 + 4 * n] = tm_range(r, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    return tm_make(MPI_COMBINER_DARRAY, v, (int)(4 + 4 * n), &kid, 1);
}

struct tm_type *tm_random(struct tm_rng *r, int depth, int max)
{
    static const int combiners[] = {
        MPI_COMBINER_DUP,           MPI_COMBINER_CONTIGUOUS,     MPI_COMBINER_VECTOR,
        MPI_COMBINER_HVECTOR,       MPI_COMBINER_INDEXED,        MPI_COMBINER_HINDEXED,
        MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_HINDEXED_BLOCK, MPI_COMBINER_STRUCT,
        MPI_COMBINER_STRUCT,        MPI_COMBINER_RESIZED,        MPI_COMBINER_SUBARRAY,
        MPI_COMBINER_DARRAY,
    };
    int combiner;
    struct tm_type *kid;

    if (depth == 0) {
        return tm_basic(basics[tm_range(r, 0, N_BASICS - 1)].type);
    }
    kid = tm_random(r, depth - 1, max / 2 + 1);
    combiner = combiners[tm_range(r, 0, (int)(sizeof(combiners) / sizeof(combiners[0])) - 1)];
    switch (combiner) {
    case MPI_COMBINER_DUP:
        return tm_make(combiner, NULL, 0, &kid, 1);
    case MPI_COMBINER_CONTIGUOUS:
        return tm_make(combiner, (int64_t[]){tm_range(r, 0, room(kid, max))}, 1, &kid, 1);
    case MPI_COMBINER_RESIZED:
        return tm_make(combiner,
                       (int64_t[]){kid->lb - tm_range(r, 0, 8), extent(kid) + tm_range(r, -2, 16)},
                       2, &kid, 1);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        return random_vector(r, kid, max, combiner);
    case MPI_COMBINER_STRUCT:
        return random_struct(r, kid, depth - 1, max);
    case MPI_COMBINER_SUBARRAY:
        return random_subarray(r, kid, max);
    case MPI_COMBINER_DARRAY:
        return random_darray(r, kid, max);
    default:
        return random_indexed(r, kid, max, combiner);
    }
}

/* ---------------------------------------------------------------- bytes */

void tm_span(const struct tm_type *t, int count, int64_t *out_lo, int64_t *out_hi)
{
    int64_t last = (count - 1) * extent(t);

    *out_lo = *out_hi = 0;
    if (t->n > 0 && count > 0) {
        *out_lo = t->true_lb + (last < 0 ? last : 0);
        *out_hi = t->true_ub + (last > 0 ? last : 0);
    }
}

bool tm_overlaps(const struct tm_type *t, int count)
{
    int64_t lo, hi;
    bool *is_used;
    bool is_twice = false;

    tm_span(t, count, &lo, &hi);
    is_used = must(calloc((size_t)(hi - lo) + 1, sizeof(bool)));
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < t->n; j++) {
            for (int k = 0; k < t->map[j].len; k++) {
                bool *at = &is_used[i * extent(t) + t->map[j].disp + k - lo];

                is_twice |= *at;
                *at = true;
            }
        }
    }
    free(is_used);
    return is_twice;
}

size_t tm_pack(const struct tm_type *t, int count, const char *buf, char *packed)
{
    size_t at = 0;

    for (int i = 0; i < count; i++) {
        for (int j = 0; j < t->n; j++) {
            memcpy(packed + at, buf + i * extent(t) + t->map[j].disp, (size_t)t->map[j].len);
            at += (size_t)t->map[j].len;
        }
    }
    return at;
}

void tm_unpack(const struct tm_type *t, int count, char *buf, const char *packed, size_t len)
{
    size_t at = 0;

    for (int i = 0; i < count; i++) {
        for (int j = 0; j < t->n; j++) {
            for (int k = 0; k < t->map[j].len && at < len; k++) {
                buf[i * extent(t) + t->map[j].disp + k] = packed[at++];
            }
        }
    }
}
