/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The basic elements of a datatype, in the order of its type map.
 *
 * A type is a sequence of fields, each some copies of one part: a struct has one per block, all
 * other types have one. Parts whose data is of one predefined type are leaves.
 */
#include "core/dtype/dtype_elem.h"

#include <stdlib.h>

#include "util/status.h"

struct field {
    const struct fm_dtype *part;
    MPI_Count n; /* copies of it */
};

static MPI_Count n_fields(const struct fm_dtype *t)
{
    return t->env->combiner == MPI_COMBINER_STRUCT ? t->env->values[0] : 1;
}

static struct field field_of(const struct fm_dtype *t, MPI_Count i)
{
    const struct fm_dtype_env *e = t->env;

    if (e->combiner == MPI_COMBINER_STRUCT) {
        return (struct field){e->types[i], e->values[1 + i]};
    }
    return (struct field){e->types[0], t->size / e->types[0]->size};
}

/* Basic elements in the first `len` bytes of elements of one predefined type. */
static MPI_Count elements_of(const struct fm_dtype *elem, MPI_Count len)
{
    MPI_Count n = len / elem->size;

    len -= n * elem->size;
    n *= elem->n_basic;
    if (elem->pair && len == elem->size - elem->pair->index_len) {
        return n + 1; /* a value without its index */
    }
    return len == 0 ? n : -1;
}

MPI_Count fm_dtype_elements(const struct fm_dtype *t, MPI_Count len)
{
    MPI_Count n = 0;
    MPI_Count last;

    while (t->size > 0 && len > 0 && !t->elem) {
        MPI_Count i = 0;
        struct field f;

        n += len / t->size * t->n_basic;
        len %= t->size;
        for (f = field_of(t, 0); len > 0 && len >= f.n * f.part->size; f = field_of(t, ++i)) {
            n += f.n * f.part->n_basic;
            len -= f.n * f.part->size;
        }
        t = f.part;
    }
    if (len == 0 || t->size == 0) {
        return n;
    }
    last = elements_of(t->elem, len);
    return last < 0 ? -1 : n + last;
}

MPI_Count fm_dtype_elements_bytes(const struct fm_dtype *t, MPI_Count n)
{
    MPI_Count len = 0;
    MPI_Count whole;

    while (t->n_basic > 0 && n > 0) {
        MPI_Count i = 0;
        struct field f;

        if (__builtin_mul_overflow(n / t->n_basic, t->size, &whole) ||
            __builtin_add_overflow(len, whole, &len)) {
            return -1;
        }
        n %= t->n_basic;
        if (t->elem) {
            whole = n / t->elem->n_basic * t->elem->size;
            n %= t->elem->n_basic;
            return len + whole + (n > 0 ? t->elem->size - t->elem->pair->index_len : 0);
        }
        for (f = field_of(t, 0); n > 0 && n >= f.n * f.part->n_basic; f = field_of(t, ++i)) {
            len += f.n * f.part->size;
            n -= f.n * f.part->n_basic;
        }
        t = f.part;
    }
    return len;
}

/* ---------------------------------------------------------------- one after the other */

struct fm_dtype_level {
    struct field f;
    const struct fm_dtype *owner; /* whose field f is */
    MPI_Count i;                  /* number of the field */
    MPI_Count left;               /* copies of f.part that are still to come */
};

int fm_dtype_elem_begin(struct fm_dtype_elem *w, const struct fm_dtype *t, MPI_Count count)
{
    *w = (struct fm_dtype_elem){.depth = 1};
    w->levels = malloc((size_t)(t->depth + 2) * sizeof(*w->levels));
    if (!w->levels) {
        return fm_fail(-FM_E_NOMEM, "no memory to walk a datatype of %u levels", t->depth);
    }
    w->levels[0] = (struct fm_dtype_level){.f = {t, count}, .left = t->size > 0 ? count : 0};
    return 0;
}

/* The next field of the level's owner. False: it has no more. */
static bool next_field(struct fm_dtype_level *lv)
{
    do {
        if (!lv->owner || ++lv->i >= n_fields(lv->owner)) {
            return false;
        }
        lv->f = field_of(lv->owner, lv->i);
        lv->left = lv->f.part->size > 0 ? lv->f.n : 0;
    } while (lv->left == 0);
    return true;
}

MPI_Count fm_dtype_elem_next(struct fm_dtype_elem *w, const struct fm_dtype **out_elem)
{
    struct fm_dtype_level *lv;
    MPI_Count n;

    while (w->depth > 0) {
        lv = &w->levels[w->depth - 1];
        if (lv->left == 0 && !next_field(lv)) {
            w->depth--;
            continue;
        }
        if (lv->f.part->elem) { /* all copies at once */
            *out_elem = lv->f.part->elem;
            n = lv->left * (lv->f.part->size / lv->f.part->elem->size);
            lv->left = 0;
            return n;
        }
        lv->left--;
        lv[1] = (struct fm_dtype_level){.owner = lv->f.part, .i = -1};
        w->depth++;
    }
    return 0;
}

void fm_dtype_elem_end(struct fm_dtype_elem *w)
{
    free(w->levels);
    w->levels = NULL;
}
