/* SPDX-License-Identifier: BSD-3-Clause */
/* Alltoall with its v and w forms. */
#include "core/coll/coll_algo.h"

#define WINDOW 32

static MPI_Count len_of(struct fm_buf b)
{
    return fm_dtype_bytes(b.dtype, b.count);
}

/*
 * In place: each pair of ranks swaps its blocks, with one block aside. In round r a rank meets
 * r - rank, which meets it in the same round.
 */
static void swap_in_place(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    MPI_Count longest = 0;
    char *room;

    for (int i = 0; i < size; i++) {
        MPI_Count len = len_of(fm_side_block(&c->recv, i));

        longest = len > longest ? len : longest;
    }
    room = fm_step_temp(s, longest);
    for (int round = 0; room && round < size; round++) {
        int other = (round - rank + size) % size;
        struct fm_buf b = fm_side_block(&c->recv, other);
        struct fm_buf aside = fm_buf_bytes(room, len_of(b));

        if (other != rank) {
            fm_step_copy(s, aside, b);
            fm_step_exchange(s, aside, other, b, other);
        }
    }
}

static void copy_own(struct fm_sched *s, const struct fm_coll *c)
{
    fm_step_copy(s, fm_side_block(&c->recv, c->comm->rank), fm_side_block(&c->send, c->comm->rank));
}

/* Round k: the blocks whose distance has bit k set go 2^k ranks on, all in one message. A block is
   sent up to log2(p) times: for short blocks of equal length. */
void fm_algo_alltoall_bruck(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    MPI_Count len = len_of(fm_side_block(&c->recv, 0));
    char *room = fm_step_temp(s, size * len), *out = fm_step_temp(s, (size + 1) / 2 * len);
    char *in = fm_step_temp(s, (size + 1) / 2 * len);

    if (!room || !out || !in) {
        return;
    }
    for (int i = 0; i < size; i++) {
        int to = (rank + i) % size;
        const struct fm_side *side = c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send;

        fm_step_copy(s, fm_buf_bytes(room + i * len, len), fm_side_block(side, to));
    }
    for (int bit = 1; bit < size; bit *= 2) {
        int n = 0;

        for (int i = bit; i < size; i++) {
            if (i & bit) {
                fm_step_copy(s, fm_buf_bytes(out + n++ * len, len),
                             fm_buf_bytes(room + i * len, len));
            }
        }
        fm_step_exchange(s, fm_buf_bytes(out, n * len), (rank + bit) % size,
                         fm_buf_bytes(in, n * len), (rank - bit + size) % size);
        for (int i = size - 1; i >= bit; i--) {
            if (i & bit) {
                fm_step_copy(s, fm_buf_bytes(room + i * len, len),
                             fm_buf_bytes(in + --n * len, len));
            }
        }
    }
    for (int i = 0; i < size; i++) {
        fm_step_copy(s, fm_side_block(&c->recv, (rank - i + size) % size),
                     fm_buf_bytes(room + i * len, len));
    }
}

/* All exchanges overlap, the nearest ranks first, with at most WINDOW of them under way. */
void fm_algo_alltoall_window(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;

    if (c->send.buf == MPI_IN_PLACE) {
        swap_in_place(s, c);
        return;
    }
    copy_own(s, c);
    for (int far = 1; far < size; far++) {
        int to = (rank + far) % size, from = (rank - far + size) % size;

        fm_step_recv(s, fm_side_block(&c->recv, from), from);
        fm_step_send(s, fm_side_block(&c->send, to), to);
        if (far % WINDOW == 0) {
            fm_step_fence(s);
        }
    }
    fm_step_fence(s);
}

/* One exchange at a time: for long blocks, where more of them would only share the same wires. */
void fm_algo_alltoall_pairwise(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;

    if (c->send.buf == MPI_IN_PLACE) {
        swap_in_place(s, c);
        return;
    }
    copy_own(s, c);
    for (int far = 1; far < size; far++) {
        int to = (rank + far) % size, from = (rank - far + size) % size;

        fm_step_exchange(s, fm_side_block(&c->send, to), to, fm_side_block(&c->recv, from), from);
    }
}
