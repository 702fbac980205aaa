/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scan and exscan by doubling. Before step k a rank knows the reduction over its block of 2^k
 * ranks (in `accu.mine`), and over those of them that are at or below it (`prefix`).
 */
#include "core/coll/coll_algo.h"

/* `has_prefix`: false as long as there is nothing below (exscan). */
static void scan(struct fm_sched *s, const struct fm_coll *c, struct fm_buf prefix, bool has_prefix)
{
    int size = c->comm->size, rank = c->comm->rank;
    struct fm_accu a = fm_accu_begin(s, c);

    if (has_prefix) {
        fm_step_copy(s, prefix, a.mine);
    }
    for (int bit = 1; bit < size; bit *= 2) {
        int other = rank ^ bit;
        bool is_left = other < rank;

        if (other >= size) {
            continue;
        }
        fm_step_exchange(s, a.mine, other, a.other, other);
        if (is_left && has_prefix) {
            fm_step_apply(s, c->op, a.other.buf, prefix);
        } else if (is_left) {
            fm_step_copy(s, prefix, a.other);
            has_prefix = true;
        }
        fm_accu_combine(s, &a, c->op, is_left);
    }
}

void fm_algo_scan_doubling(struct fm_sched *s, const struct fm_coll *c)
{
    struct fm_buf result = fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype);
    struct fm_buf prefix = fm_step_temp_typed(s, c->recv.count, c->recv.dtype);

    scan(s, c, prefix, true);
    fm_step_copy(s, result, prefix);
}

/* The result of rank 0 is undefined (MPI-5.0 6.11.2): its buffer is left alone. */
void fm_algo_exscan_doubling(struct fm_sched *s, const struct fm_coll *c)
{
    struct fm_buf result = fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype);
    struct fm_buf prefix = fm_step_temp_typed(s, c->recv.count, c->recv.dtype);

    scan(s, c, prefix, false);
    if (c->comm->rank > 0) {
        fm_step_copy(s, result, prefix);
    }
}
