/* SPDX-License-Identifier: BSD-3-Clause */
/* Constructors of datatypes: environment, size, extents (MPI-5.0 5.1). */
#include "core/dtype/dtype_make.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

/*
 * What is known of the type map so far. Without explicit markers the lower bound is that of the
 * data and the upper bound is that of the parts; as soon as one part has markers
 * (MPI_Type_create_resized and what is made of it), only markers count (5.1.6).
 *
 * The padding of a part (its epsilon) counts as a byte of the part, although a reading of 5.1.6 by
 * basic entries alone would leave it out: hvector(2, 2, 33, struct{double, char}) reaches to 65 as
 * its last struct does, not to 58. Else parts would stick out of the whole, which no other MPI lets
 * them do and software that computes layouts from parts does not expect. The result is rounded to
 * the strictest alignment, as in 5.1.6.
 */
struct shape {
    MPI_Count size, n_basic, ext_size;
    MPI_Count lb, ub;           /* of markers */
    MPI_Count true_lb, true_ub; /* of data */
    MPI_Count reach;            /* largest upper bound of a part with data */
    MPI_Count align;
    const struct fm_dtype *elem;
    bool has_markers, has_data, is_mixed;
    bool is_overflow;
};

static MPI_Count add(struct shape *s, MPI_Count a, MPI_Count b)
{
    MPI_Count r;

    s->is_overflow |= __builtin_add_overflow(a, b, &r);
    return r;
}

static MPI_Count sub(struct shape *s, MPI_Count a, MPI_Count b)
{
    MPI_Count r;

    s->is_overflow |= __builtin_sub_overflow(a, b, &r);
    return r;
}

static MPI_Count mul(struct shape *s, MPI_Count a, MPI_Count b)
{
    MPI_Count r;

    s->is_overflow |= __builtin_mul_overflow(a, b, &r);
    return r;
}

static MPI_Count min(MPI_Count a, MPI_Count b)
{
    return a < b ? a : b;
}

static MPI_Count max(MPI_Count a, MPI_Count b)
{
    return a > b ? a : b;
}

/* n elements of a type, whose origins lie from lo to hi. */
static void shape_add(struct shape *s, const struct fm_dtype *t, MPI_Count n, MPI_Count lo,
                      MPI_Count hi)
{
    MPI_Count reach;

    if (n == 0) {
        return;
    }
    if (t->has_markers) {
        MPI_Count lb = add(s, lo, t->lb);
        MPI_Count ub = add(s, hi, add(s, t->lb, t->extent));

        s->lb = s->has_markers ? min(s->lb, lb) : lb;
        s->ub = s->has_markers ? max(s->ub, ub) : ub;
        s->has_markers = true;
    }
    if (t->size == 0) {
        return;
    }
    reach = add(s, hi, add(s, t->lb, t->extent));
    s->reach = s->has_data ? max(s->reach, reach) : reach;
    lo = add(s, lo, t->true_lb);
    hi = add(s, hi, add(s, t->true_lb, t->true_extent));
    s->true_lb = s->has_data ? min(s->true_lb, lo) : lo;
    s->true_ub = s->has_data ? max(s->true_ub, hi) : hi;
    s->is_mixed |= !t->elem || (s->has_data && s->elem != t->elem);
    s->elem = t->elem;
    s->has_data = true;
    s->align = max(s->align, t->align);
    s->size = add(s, s->size, mul(s, n, t->size));
    s->n_basic = add(s, s->n_basic, mul(s, n, t->n_basic));
    s->ext_size = add(s, s->ext_size, mul(s, n, t->ext_size));
}

static void shape_block(struct shape *s, const struct fm_dtype_block *b)
{
    MPI_Count last = mul(s, b->n - 1, b->type->extent);

    if (b->n > 0) {
        shape_add(s, b->type, b->n, add(s, b->disp, min(0, last)), add(s, b->disp, max(0, last)));
    }
}

static void shape_vector(struct shape *s, const struct fm_dtype_env *e)
{
    const struct fm_dtype *t = e->types[0];
    MPI_Count n = mul(s, e->values[0], e->values[1]);
    MPI_Count stride = e->values[2];
    MPI_Count last, row;

    if (n == 0) {
        return;
    }
    if (e->combiner == MPI_COMBINER_VECTOR && e->values[0] > 1) { /* of one block: any (5.1.2) */
        stride = mul(s, stride, t->extent);
    }
    last = mul(s, e->values[1] - 1, t->extent);
    row = mul(s, e->values[0] - 1, stride);
    shape_add(s, t, n, add(s, min(0, row), min(0, last)), add(s, max(0, row), max(0, last)));
}

/* Subarrays and darrays have markers at the bounds of the whole array (5.1.3, 5.1.4). */
static int shape_array(struct shape *s, const struct fm_dtype_env *e)
{
    struct fm_dtype_dim *dims;
    MPI_Count n_dims, extent;
    MPI_Count n = 1, lo = 0, hi = 0;
    int rc = fm_dtype_dims_get(e, &dims, &n_dims, &extent);

    if (rc != 0) {
        return rc;
    }
    for (MPI_Count i = 0; i < n_dims; i++) {
        const struct fm_dtype_dim *d = &dims[i];
        MPI_Count last = d->rem > 0 ? d->n * d->step + d->rem - 1 : (d->n - 1) * d->step + d->k - 1;
        MPI_Count a = mul(s, d->start, d->stride);
        MPI_Count b = mul(s, d->start + last, d->stride);

        n = mul(s, n, d->n * d->k + d->rem);
        lo = add(s, lo, min(a, b));
        hi = add(s, hi, max(a, b));
    }
    free(dims);
    shape_add(s, e->types[0], n, lo, hi);
    s->has_markers = true;
    s->lb = 0;
    s->ub = extent;
    return 0;
}

static int shape_of(struct shape *s, const struct fm_dtype_env *e)
{
    struct fm_dtype_block b;
    MPI_Count n;

    switch (e->combiner) {
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        shape_vector(s, e);
        return 0;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
        return shape_array(s, e);
    default:
        n = fm_dtype_n_blocks(e);
        for (MPI_Count i = 0; i < n && !s->is_overflow; i++) {
            s->is_overflow |= !fm_dtype_block_get(e, i, &b);
            shape_block(s, &b);
        }
    }
    if (e->combiner == MPI_COMBINER_RESIZED) {
        s->has_markers = true;
        s->lb = e->values[0];
        s->ub = add(s, e->values[0], e->values[1]);
    }
    return 0;
}

/* Without markers the extent is rounded up to the strictest alignment. */
static void shape_close(struct shape *s, struct fm_dtype *t)
{
    MPI_Count over;

    t->size = s->size;
    t->n_basic = s->n_basic;
    t->ext_size = s->ext_size;
    t->align = s->align;
    t->true_lb = s->true_lb;
    t->true_extent = sub(s, s->true_ub, s->true_lb);
    t->has_markers = s->has_markers;
    t->elem = s->is_mixed ? NULL : s->elem;
    t->basic = t->elem ? t->elem->basic : FM_BASIC_NONE;
    if (s->has_markers) {
        t->lb = s->lb;
        t->extent = sub(s, s->ub, s->lb);
        return;
    }
    t->lb = s->true_lb;
    t->extent = sub(s, max(s->reach, s->true_ub), s->true_lb);
    over = s->align > 1 ? t->extent % s->align : 0;
    if (over != 0) {
        t->extent = add(s, t->extent, s->align - over);
    }
}

struct fm_dtype_env *fm_dtype_env_add(struct fm_dtype *t, int combiner, MPI_Count n_values,
                                      MPI_Count n_types)
{
    struct fm_dtype_env *e;
    size_t len, types_len;

    if (__builtin_mul_overflow((size_t)n_values, sizeof(*e->values), &len) ||
        __builtin_mul_overflow((size_t)n_types, sizeof(*e->types), &types_len) ||
        __builtin_add_overflow(len, types_len + sizeof(*e), &len)) {
        fm_fail(-FM_E_NOMEM, "%lld arguments are more than memory can hold", (long long)n_values);
        return NULL;
    }
    e = fm_dtype_alloc(t, len);
    if (e) {
        *e = (struct fm_dtype_env){.combiner = combiner, .n_values = n_values, .n_types = n_types};
        e->values = (MPI_Count *)(e + 1);
        e->types = (struct fm_dtype **)(e->values + n_values);
        memset(e->types, 0, types_len);
        t->env = e;
    }
    return e;
}

struct fm_dtype *fm_dtype_begin(int combiner, bool is_large, MPI_Count n_values, MPI_Count n_types)
{
    struct fm_dtype *t = fm_object_new(FM_KIND_DTYPE);

    if (!t) {
        return NULL;
    }
    if (!fm_dtype_env_add(t, combiner, n_values, n_types)) {
        fm_object_free(t);
        return NULL;
    }
    t->env->is_large = is_large;
    t->handle = (MPI_Datatype)t;
    t->n_handles = 1;
    return t;
}

void fm_dtype_take(struct fm_dtype *t, MPI_Count i, struct fm_dtype *part)
{
    t->env->types[i] = fm_object_ref(part);
}

/* How many levels of mixed types a walk over the basic elements of this one goes through. */
static uint32_t depth_of(const struct fm_dtype *t)
{
    uint32_t depth = 0;

    for (MPI_Count i = 0; i < t->env->n_types && !t->elem; i++) {
        const struct fm_dtype *part = t->env->types[i];

        if (!part->elem && part->depth > depth) {
            depth = part->depth;
        }
    }
    return depth + 1;
}

int fm_dtype_end(struct fm_dtype *t)
{
    struct shape s = {.align = 1};
    int rc = shape_of(&s, t->env);

    for (MPI_Count i = 0; i < t->env->n_types && rc == 0; i++) {
        rc = fm_dtype_flatten(t->env->types[i]);
    }
    if (rc == 0) {
        shape_close(&s, t);
        t->depth = depth_of(t);
        if (s.is_overflow) {
            rc = fm_fail(-FM_E_INVAL, "size, a displacement or the extent of the new datatype does "
                                      "not fit into MPI_Count");
        }
    }
    if (rc != 0) {
        fm_dtype_unref(t);
    }
    return rc;
}

int fm_dtype_dup(struct fm_dtype *old, struct fm_dtype **out)
{
    struct fm_dtype *t = fm_dtype_begin(MPI_COMBINER_DUP, false, 0, 1);
    int rc;

    if (!t) {
        return -FM_E_NOMEM;
    }
    fm_dtype_take(t, 0, old);
    rc = fm_dtype_end(t);
    if (rc == 0 && old->is_committed) {
        rc = fm_dtype_commit(t);
        if (rc != 0) {
            fm_dtype_unref(t);
        }
    }
    if (rc == 0) {
        *out = t;
    }
    return rc;
}

/* ---------------------------------------------------------------- blocks and dimensions */

MPI_Count fm_dtype_n_blocks(const struct fm_dtype_env *e)
{
    switch (e->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
    case MPI_COMBINER_CONTIGUOUS:
        return 1;
    default:
        return e->values[0];
    }
}

bool fm_dtype_block_get(const struct fm_dtype_env *e, MPI_Count i, struct fm_dtype_block *out)
{
    const MPI_Count *v = e->values;
    bool is_scaled = false;

    out->type = e->types[0];
    switch (e->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        out->disp = 0;
        out->n = v[0];
        break;
    case MPI_COMBINER_STRUCT:
        out->type = e->types[i];
        /* fall through */
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        is_scaled = e->combiner == MPI_COMBINER_INDEXED;
        out->disp = v[1 + v[0] + i];
        out->n = v[1 + i];
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        is_scaled = e->combiner == MPI_COMBINER_INDEXED_BLOCK;
        out->disp = v[2 + i];
        out->n = v[1];
        break;
    default: /* MPI_COMBINER_DUP, MPI_COMBINER_RESIZED */
        out->disp = 0;
        out->n = 1;
    }
    return !is_scaled || out->n == 0 ||
           !__builtin_mul_overflow(out->disp, out->type->extent, &out->disp);
}

/* Which part of a dimension a process of a darray has (5.1.4). Nothing in it is larger than gsize,
   whose product with the stride fits. */
static void darray_dim(MPI_Count gsize, MPI_Count distrib, MPI_Count darg, MPI_Count psize,
                       MPI_Count coord, struct fm_dtype_dim *d)
{
    MPI_Count left;

    *d = (struct fm_dtype_dim){.k = darg};
    if (distrib == MPI_DISTRIBUTE_NONE) {
        d->k = gsize;
    } else if (darg == MPI_DISTRIBUTE_DFLT_DARG) {
        d->k = distrib == MPI_DISTRIBUTE_BLOCK ? gsize / psize + (gsize % psize != 0) : 1;
    }
    d->k = min(d->k, gsize);
    if (__builtin_mul_overflow(d->k, psize, &d->step) || d->step > gsize) {
        d->step = gsize;
    }
    if (__builtin_mul_overflow(d->k, coord, &d->start) || d->start >= gsize) {
        *d = (struct fm_dtype_dim){.k = 1};
        return;
    }
    left = gsize - d->start;
    d->n = left >= d->k ? (left - d->k) / d->step + 1 : 0;
    d->rem = left - d->n * d->step;
    d->rem = max(0, min(d->rem, d->k));
}

/* values: size, rank, n, gsizes[n], distribs[n], dargs[n], psizes[n], order */
static void darray_dims(const MPI_Count *v, MPI_Count n, struct fm_dtype_dim *dims)
{
    MPI_Count rank = v[1];

    for (MPI_Count i = n - 1; i >= 0; i--) { /* processes are in row-major order */
        MPI_Count psize = v[3 + 3 * n + i];

        darray_dim(v[3 + i], v[3 + n + i], v[3 + 2 * n + i], psize, rank % psize, &dims[i]);
        rank /= psize;
    }
}

static void reverse(struct fm_dtype_dim *dims, MPI_Count n)
{
    for (MPI_Count i = 0; i < n / 2; i++) {
        struct fm_dtype_dim d = dims[i];

        dims[i] = dims[n - 1 - i];
        dims[n - 1 - i] = d;
    }
}

int fm_dtype_dims_get(const struct fm_dtype_env *e, struct fm_dtype_dim **out_dims,
                      MPI_Count *out_n_dims, MPI_Count *out_extent)
{
    const MPI_Count *v = e->values;
    bool is_darray = e->combiner == MPI_COMBINER_DARRAY;
    MPI_Count n = is_darray ? v[2] : v[0];
    const MPI_Count *sizes = is_darray ? v + 3 : v + 1;
    bool is_fortran = v[e->n_values - 1] == MPI_ORDER_FORTRAN;
    MPI_Count stride = e->types[0]->extent;
    struct fm_dtype_dim *dims = calloc((size_t)n + 1, sizeof(*dims));
    bool is_overflow = false;

    if (!dims) {
        return fm_fail(-FM_E_NOMEM, "no memory for %lld dimensions", (long long)n);
    }
    if (is_darray) {
        darray_dims(v, n, dims);
    } else {
        for (MPI_Count i = 0; i < n; i++) { /* values: n, sizes[n], subsizes[n], starts[n], order */
            dims[i] = (struct fm_dtype_dim){
                .n = 1, .k = v[1 + n + i], .step = v[1 + n + i], .start = v[1 + 2 * n + i]};
        }
    }
    if (!is_fortran) {
        reverse(dims, n);
    }
    for (MPI_Count i = 0; i < n; i++) {
        dims[i].stride = stride;
        is_overflow |= __builtin_mul_overflow(stride, sizes[is_fortran ? i : n - 1 - i], &stride);
    }
    if (is_overflow) {
        free(dims);
        return fm_fail(-FM_E_INVAL, "the whole array is larger than MPI_Count can say");
    }
    *out_dims = dims;
    *out_n_dims = n;
    *out_extent = stride;
    return 0;
}
