/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of type signatures. */
#include "core/dtype/signature.h"

#include "core/dtype/dtype_make.h"

#define BASE      UINT64_C(0x9e3779b97f4a7c15) /* odd, so that powers never vanish */
#define MAX_DEPTH 64                           /* structs within structs */
#define MAX_PARTS 65536                        /* visited in one type; a part may be shared */

static struct fm_signature join(struct fm_signature a, struct fm_signature b)
{
    return (struct fm_signature){.hash = a.hash * b.power + b.hash,
                                 .power = a.power * b.power,
                                 .is_unknown = a.is_unknown || b.is_unknown};
}

static struct fm_signature repeat(struct fm_signature s, MPI_Count n)
{
    struct fm_signature all = FM_SIGNATURE_EMPTY;

    for (; n > 0; n >>= 1) {
        if (n & 1) {
            all = join(all, s);
        }
        s = join(s, s);
    }
    return all;
}

static struct fm_signature of_basic(const struct fm_dtype *elem)
{
    uint64_t symbol = elem->pair ? 0x10000u + 256u * elem->pair->value + elem->pair->index
                                 : (uint64_t)elem->basic + 1;

    if (elem->handle == MPI_WCHAR) { /* its class is that of MPI_CHAR */
        symbol = 0x20000;
    }
    return (struct fm_signature){
        .hash = symbol * BASE, .power = BASE, .is_unknown = elem->handle == MPI_PACKED};
}

static struct fm_signature of_type(const struct fm_dtype *t, int depth, int *n_left);

static struct fm_signature of_struct(const struct fm_dtype_env *e, int depth, int *n_left)
{
    struct fm_signature s = FM_SIGNATURE_EMPTY;
    struct fm_dtype_block b;

    for (MPI_Count i = 0; i < fm_dtype_n_blocks(e); i++) {
        fm_dtype_block_get(e, i, &b);
        if (b.n > 0 && b.type->size > 0) {
            s = join(s, repeat(of_type(b.type, depth + 1, n_left), b.n));
        }
    }
    return s;
}

/* A type that is no struct repeats its only part, down to the first struct or basic type. */
static struct fm_signature of_type(const struct fm_dtype *t, int depth, int *n_left)
{
    MPI_Count n_basic = t->n_basic;

    if (depth > MAX_DEPTH || --*n_left < 0) {
        return (struct fm_signature){.power = 1, .is_unknown = true};
    }
    if (n_basic == 0) {
        return FM_SIGNATURE_EMPTY;
    }
    if (t->elem) {
        return repeat(of_basic(t->elem), n_basic / t->elem->n_basic);
    }
    while (t->env->combiner != MPI_COMBINER_STRUCT) {
        t = t->env->types[0];
    }
    return repeat(of_struct(t->env, depth, n_left), n_basic / t->n_basic);
}

void fm_signature_add(struct fm_signature *s, const struct fm_dtype *t, MPI_Count count)
{
    int n_left = MAX_PARTS;

    if (count > 0 && t->size > 0) {
        *s = join(*s, repeat(of_type(t, 0, &n_left), count));
    }
}

uint64_t fm_signature_digest(const struct fm_signature *s)
{
    return s->is_unknown ? 0 : (s->hash ^ (s->power << 1)) | 1;
}
