/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlap of buffers. */
#include "core/api/coll_alias.h"

/* From the first to behind the last byte of data; empty without data. */
struct span {
    uintptr_t from, to;
    bool is_dense; /* each byte is data */
};

static struct span span_of(const struct fm_buf *b)
{
    const struct fm_dtype *t = b->dtype;
    MPI_Count last = (b->count - 1) * t->extent;
    struct span s = {0};

    if (b->count <= 0 || t->size == 0) {
        return s;
    }
    s.from = (uintptr_t)b->buf + (uintptr_t)(t->true_lb + (last < 0 ? last : 0));
    s.to = (uintptr_t)b->buf + (uintptr_t)(t->true_lb + t->true_extent + (last > 0 ? last : 0));
    s.is_dense = t->is_contig;
    return s;
}

static bool overlaps(const struct span *a, const struct span *b)
{
    if (a->from == a->to || b->from == b->to) {
        return false;
    }
    if (a->from == b->from) {
        return true;
    }
    return a->is_dense && b->is_dense && a->from < b->to && b->from < a->to;
}

/* A side is one run of elements unless it has counts per rank. */
static bool is_run(const struct fm_side *s)
{
    return !s->counts;
}

static struct span span_of_block(const struct fm_side *s, int n, int i)
{
    struct fm_buf b;

    if (!is_run(s)) {
        b = fm_side_block(s, i);
    } else {
        b = (struct fm_buf){s->buf, n * s->count, s->dtype};
    }
    return span_of(&b);
}

bool fm_coll_alias_check(const struct fm_side *send, int n_send, const struct fm_side *recv,
                         int n_recv)
{
    int n_send_blocks = is_run(send) ? 1 : n_send;
    int n_recv_blocks = is_run(recv) ? 1 : n_recv;
    int n = n_send_blocks > n_recv_blocks ? n_send_blocks : n_recv_blocks;

    for (int i = 0; i < n; i++) {
        struct span a = span_of_block(send, n_send, i < n_send_blocks ? i : 0);
        struct span b = span_of_block(recv, n_recv, i < n_recv_blocks ? i : 0);

        if (overlaps(&a, &b)) {
            return true;
        }
    }
    return false;
}
