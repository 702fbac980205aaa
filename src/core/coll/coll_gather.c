/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather and scatter, with their v forms. In the trees data travels packed, ranks counted from the
 * root, so that what a subtree has is one run.
 */
#include "core/coll/coll_algo.h"

/* Bytes of a block: the same on both sides, but counts and types may differ (MPI-5.0 6.5). */
static MPI_Count block_len(const struct fm_coll *c, const struct fm_side *at_root,
                           const struct fm_side *elsewhere)
{
    const struct fm_side *side = c->comm->rank == c->root ? at_root : elsewhere;

    return fm_dtype_bytes(side->dtype, side->count);
}

static struct fm_buf whole(const struct fm_side *side)
{
    return fm_buf_of(side->buf, side->count, side->dtype);
}

/* Place of rank `rel` in the tree: its parent is rel - up; below it are ranks [rel, rel + span). */
struct place {
    int rel, up, span;
};

static struct place place_of(const struct fm_coll *c)
{
    int size = c->comm->size;
    struct place p = {.rel = (c->comm->rank - c->root + size) % size, .up = 1};

    while (p.up < size && !(p.rel & p.up)) {
        p.up *= 2;
    }
    p.span = p.rel + p.up <= size ? p.up : size - p.rel;
    return p;
}

/* Every rank sends all blocks of its subtree to its parent: log2(p) rounds. */
void fm_algo_gather_binomial(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size;
    MPI_Count len = block_len(c, &c->recv, &c->send);
    struct place p = place_of(c);
    char *room = fm_step_temp(s, p.span * len);
    bool is_root = p.rel == 0;

    if (!room) {
        return;
    }
    if (!is_root) {
        fm_step_copy(s, fm_buf_bytes(room, len), whole(&c->send));
    }
    for (int bit = 1; bit < p.up && p.rel + bit < size; bit *= 2) {
        int n = bit < size - p.rel - bit ? bit : size - p.rel - bit;

        fm_step_recv(s, fm_buf_bytes(room + bit * len, n * len), (p.rel + bit + c->root) % size);
    }
    fm_step_fence(s);
    if (!is_root) {
        fm_step_send(s, fm_buf_bytes(room, p.span * len), (p.rel - p.up + c->root) % size);
        fm_step_fence(s);
        return;
    }
    if (c->send.buf != MPI_IN_PLACE) {
        fm_step_copy(s, fm_side_block(&c->recv, c->root), whole(&c->send));
    }
    for (int i = 1; i < size; i++) {
        fm_step_copy(s, fm_side_block(&c->recv, (i + c->root) % size),
                     fm_buf_bytes(room + i * len, len));
    }
}

/* Directly to the root: for long blocks, and for the v form, where only the root knows lengths. */
void fm_algo_gather_linear(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size;

    if (c->comm->rank != c->root) {
        fm_step_send(s, whole(&c->send), c->root);
        fm_step_fence(s);
        return;
    }
    for (int i = 1; i < size; i++) {
        int from = (c->root + i) % size;

        fm_step_recv(s, fm_side_block(&c->recv, from), from);
    }
    if (c->send.buf != MPI_IN_PLACE) {
        fm_step_copy(s, fm_side_block(&c->recv, c->root), whole(&c->send));
    }
    fm_step_fence(s);
}

void fm_algo_scatter_binomial(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size;
    MPI_Count len = block_len(c, &c->send, &c->recv);
    struct place p = place_of(c);
    char *room = fm_step_temp(s, p.span * len);
    bool is_root = p.rel == 0;

    if (!room) {
        return;
    }
    if (!is_root) {
        fm_step_recv(s, fm_buf_bytes(room, p.span * len), (p.rel - p.up + c->root) % size);
    }
    for (int i = 1; is_root && i < size; i++) {
        fm_step_copy(s, fm_buf_bytes(room + i * len, len),
                     fm_side_block(&c->send, (i + c->root) % size));
    }
    fm_step_fence(s);
    for (int bit = p.up / 2; bit > 0; bit /= 2) {
        int n = bit < size - p.rel - bit ? bit : size - p.rel - bit;

        if (n > 0) {
            fm_step_send(s, fm_buf_bytes(room + bit * len, n * len),
                         (p.rel + bit + c->root) % size);
        }
    }
    if (is_root && c->recv.buf != MPI_IN_PLACE) {
        fm_step_copy(s, whole(&c->recv), fm_side_block(&c->send, c->root));
    } else if (!is_root) {
        fm_step_copy(s, whole(&c->recv), fm_buf_bytes(room, len));
    }
    fm_step_fence(s);
}

void fm_algo_scatter_linear(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size;

    if (c->comm->rank != c->root) {
        fm_step_recv(s, whole(&c->recv), c->root);
        fm_step_fence(s);
        return;
    }
    for (int i = 1; i < size; i++) {
        int to = (c->root + i) % size;

        fm_step_send(s, fm_side_block(&c->send, to), to);
    }
    if (c->recv.buf != MPI_IN_PLACE) {
        fm_step_copy(s, whole(&c->recv), fm_side_block(&c->send, c->root));
    }
    fm_step_fence(s);
}
