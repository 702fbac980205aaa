/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allgather and allgatherv. Both read lengths from the receive side, which all ranks have in full,
 * so one text serves both.
 */
#include "core/coll/coll_algo.h"

static struct fm_buf block(const struct fm_coll *c, int rank)
{
    return fm_side_block(&c->recv, rank);
}

static MPI_Count len_of(const struct fm_coll *c, int rank)
{
    return fm_dtype_bytes(c->recv.dtype, fm_side_count(&c->recv, rank));
}

/* Own data to its place in the result. */
static void place_own(struct fm_sched *s, const struct fm_coll *c)
{
    if (c->send.buf != MPI_IN_PLACE) {
        fm_step_copy(s, block(c, c->comm->rank),
                     fm_buf_of(c->send.buf, c->send.count, c->send.dtype));
    }
}

/* Round k: send all that one has 2^k ranks down, as packed bytes in the order rank, rank + 1, ...
   For short blocks and any number of ranks. */
void fm_algo_allgather_bruck(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    MPI_Count have, total = 0;
    char *room;

    for (int i = 0; i < size; i++) {
        total += len_of(c, i);
    }
    room = fm_step_temp(s, total);
    if (!room) {
        return;
    }
    place_own(s, c);
    have = len_of(c, rank);
    fm_step_copy(s, fm_buf_bytes(room, have), block(c, rank));
    for (int n = 1; n < size; n *= 2) {
        int more = n < size - n ? n : size - n;
        MPI_Count out = 0, in = 0;

        for (int i = 0; i < more; i++) {
            out += len_of(c, (rank + i) % size);
            in += len_of(c, (rank + n + i) % size);
        }
        fm_step_exchange(s, fm_buf_bytes(room, out), (rank - n + size) % size,
                         fm_buf_bytes(room + have, in), (rank + n) % size);
        have += in;
    }
    for (int i = 0; i < size; i++) {
        int from = (rank + i) % size;

        if (i > 0) {
            fm_step_copy(s, block(c, from), fm_buf_bytes(room, len_of(c, from)));
        }
        room += len_of(c, from);
    }
}

/* Round k: exchange all that one has with the rank that differs in bit k. For powers of two; data
   arrives where it belongs. Blocks of the v form may lie anywhere: one message each. */
void fm_algo_allgather_doubling(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;

    place_own(s, c);
    for (int bit = 1; bit < size; bit *= 2) {
        int other = rank ^ bit;
        int mine = rank & ~(bit - 1), theirs = other & ~(bit - 1);

        if (!c->recv.counts) {
            struct fm_buf in = block(c, theirs), out = block(c, mine);

            in.count *= bit;
            out.count *= bit;
            fm_step_exchange(s, out, other, in, other);
            continue;
        }
        for (int i = 0; i < bit; i++) {
            fm_step_recv(s, block(c, theirs + i), other);
            fm_step_send(s, block(c, mine + i), other);
        }
        fm_step_fence(s);
    }
}

/* Pass blocks round: p - 1 rounds, with neighbours only, no copies. For long blocks. */
void fm_algo_allgather_ring(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    int left = (rank - 1 + size) % size, right = (rank + 1) % size;

    place_own(s, c);
    for (int i = 0; i < size - 1; i++) {
        fm_step_exchange(s, block(c, (rank - i + size) % size), right,
                         block(c, (rank - i - 1 + size) % size), left);
    }
}
