/* SPDX-License-Identifier: BSD-3-Clause */
/* Barrier and broadcast. */
#include "core/coll/coll_algo.h"

/* Round k: send a token to the rank 2^k above, receive one from the rank 2^k below. ceil(log2 p)
   rounds. */
void fm_algo_barrier_dissemination(struct fm_sched *s, const struct fm_coll *c)
{
    struct fm_buf none = fm_buf_bytes(NULL, 0);
    int rank = c->comm->rank, size = c->comm->size;

    for (int far = 1; far < size; far *= 2) {
        fm_step_exchange(s, none, (rank + far) % size, none, (rank - far + size) % size);
    }
}

/* Ranks count from the root; a rank receives from the one that lacks its lowest set bit, and sends
   to those above that differ in a lower bit, the farthest first. */
void fm_algo_bcast_binomial(struct fm_sched *s, const struct fm_coll *c)
{
    struct fm_buf data = fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype);
    int size = c->comm->size;
    int rel = (c->comm->rank - c->root + size) % size;
    int bit = 1;

    while (bit < size && !(rel & bit)) {
        bit *= 2;
    }
    if (rel != 0) {
        fm_step_recv(s, data, (rel - bit + c->root) % size);
        fm_step_fence(s);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        if (rel + bit < size) {
            fm_step_send(s, data, (rel + bit + c->root) % size);
        }
    }
    fm_step_fence(s);
}

/* The packed data in `size` pieces of whole bytes, the first ones a byte longer. */
static struct fm_buf piece(struct fm_buf packed, int size, int i)
{
    MPI_Count each = packed.count / size, more = packed.count % size;
    MPI_Count at = i * each + (i < more ? i : more);

    return fm_buf_bytes((char *)packed.buf + at, each + (i < more));
}

/* Pieces [first, first + n) in one run. */
static struct fm_buf pieces(struct fm_buf packed, int size, int first, int n)
{
    struct fm_buf a = piece(packed, size, first), z = piece(packed, size, first + n - 1);

    return fm_buf_bytes(a.buf, (char *)z.buf + z.count - (char *)a.buf);
}

/* Down a binomial tree: a rank gets the pieces of all ranks below it in the tree. */
static void scatter_pieces(struct fm_sched *s, const struct fm_coll *c, struct fm_buf packed,
                           int rel)
{
    int size = c->comm->size;
    int bit = 1;

    while (bit < size && !(rel & bit)) {
        bit *= 2;
    }
    if (rel != 0) {
        int n = rel + bit <= size ? bit : size - rel;

        fm_step_recv(s, pieces(packed, size, rel, n), (rel - bit + c->root) % size);
        fm_step_fence(s);
    }
    for (bit /= 2; bit > 0; bit /= 2) {
        int to = rel + bit;

        if (to < size) {
            int n = to + bit <= size ? bit : size - to;

            fm_step_send(s, pieces(packed, size, to, n), (to + c->root) % size);
        }
    }
    fm_step_fence(s);
}

/* For long messages: scatter pieces, then pass them round a ring. Each rank sends 2 (p-1)/p of the
   data instead of log2(p) times all of it. */
void fm_algo_bcast_scatter_ring(struct fm_sched *s, const struct fm_coll *c)
{
    struct fm_buf data = fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype);
    MPI_Count len = fm_dtype_bytes(data.dtype, data.count);
    int size = c->comm->size, rank = c->comm->rank;
    int rel = (rank - c->root + size) % size;
    int left = (rank - 1 + size) % size, right = (rank + 1) % size;
    struct fm_buf packed;

    if (data.dtype->is_contig) {
        packed = fm_buf_bytes((char *)data.buf + data.dtype->true_lb, len);
    } else {
        packed = fm_buf_bytes(fm_step_temp(s, len), len);
        if (rel == 0) {
            fm_step_copy(s, packed, data);
        }
    }
    scatter_pieces(s, c, packed, rel);
    for (int i = 0; i < size - 1; i++) {
        fm_step_exchange(s, piece(packed, size, (rel - i + size) % size), right,
                         piece(packed, size, (rel - i - 1 + size) % size), left);
    }
    if (!data.dtype->is_contig && rel != 0) {
        fm_step_copy(s, data, packed);
    }
}
