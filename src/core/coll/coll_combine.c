/* SPDX-License-Identifier: BSD-3-Clause */
/* Combining the contributions of all ranks in one process. */
#include "core/coll/coll_combine.h"

#include "core/dtype/pack.h"

/* right = left op right */
static void combine(const struct fm_coll_operands *o, const char *left, char *right)
{
    if (!o->left.buf) {
        fm_op_apply(o->op, left, right, o->count, o->dtype);
        return;
    }
    fm_unpack_all(o->left.buf, o->count, o->dtype, left, o->packed_len);
    fm_unpack_all(o->right.buf, o->count, o->dtype, right, o->packed_len);
    fm_op_apply(o->op, o->left.buf, o->right.buf, o->count, o->dtype);
    fm_pack_all(right, o->right.buf, o->count, o->dtype);
}

/* The operand of a number after the first pairs were combined: of the last of its ranks. */
static char *numbered(const struct fm_coll_operands *o, int number, int n_pairs)
{
    return o->at[number < n_pairs ? 2 * number + 1 : number + n_pairs];
}

void fm_coll_combine_all(const struct fm_coll_operands *o)
{
    int pof2 = fm_coll_pof2_below(o->size), n_pairs = o->size - pof2;

    for (int k = 0; k < n_pairs; k++) {
        combine(o, o->at[2 * k], o->at[2 * k + 1]);
    }
    for (int bit = 1; bit < pof2; bit *= 2) {
        for (int k = 2 * bit - 1; k < pof2; k += 2 * bit) {
            combine(o, numbered(o, k - bit, n_pairs), numbered(o, k, n_pairs));
        }
    }
}

bool fm_coll_combine_reads(int size, int rank)
{
    int n_pairs = size - fm_coll_pof2_below(size);

    return (rank < 2 * n_pairs ? rank : rank - n_pairs) % 2 == 0;
}

/* Before the round of `bit`, operand i is the result over those ranks of its block of `bit`
   ranks that are at or below i; so the last operand of a block is the result over the block. */
void fm_coll_combine_prefixes(const struct fm_coll_operands *o)
{
    for (int bit = 1; bit < o->size; bit *= 2) {
        for (int right = bit; right < o->size; right += 2 * bit) {
            for (int i = right; i < right + bit && i < o->size; i++) {
                combine(o, o->at[right - 1], o->at[i]);
            }
        }
    }
}
