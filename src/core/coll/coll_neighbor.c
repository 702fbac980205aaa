/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighborhood collectives (MPI-5.0 8.6), over edges (neighbors.h). The edges that two ranks have
 * in common are one run in the order of both, so that what goes over them can go in one message,
 * and the k-th block sent is the k-th block received.
 */
#include "core/coll/coll_algo.h"
#include "core/coll/coll_vars.h"

/* The edges of one rank: `n` positions in a side's list. */
struct run {
    int peer;
    int n;
    const int *positions;
};

/* The run that begins at a place of an order with n_all places. */
static struct run run_at(const int *order, int n_all, const int *ranks, int at)
{
    struct run run = {.peer = ranks[order[at]], .n = 1, .positions = order + at};

    while (at + run.n < n_all && ranks[order[at + run.n]] == run.peer) {
        run.n++;
    }
    return run;
}

static struct run recv_run(const struct fm_neighbors *near, int at)
{
    return run_at(near->recv_order, near->n_recv, near->sources, at);
}

static struct run send_run(const struct fm_neighbors *near, int at)
{
    return run_at(near->send_order, near->n_send, near->dests, at);
}

static MPI_Count len_of(struct fm_buf b)
{
    return fm_dtype_bytes(b.dtype, b.count);
}

static void copy_among(struct fm_sched *s, const struct fm_side *side, const struct run *run,
                       int from)
{
    for (int k = from; k < run->n; k++) {
        fm_step_copy(s, fm_side_block(side, run->positions[k]),
                     fm_side_block(side, run->positions[0]));
    }
}

/* All destinations get the same block, and each rank gets it once, however many edges there are:
   the receiver copies it to the blocks of the others. */
void fm_algo_neighbor_allgather_edges(struct fm_sched *s, const struct fm_coll *c)
{
    const struct fm_neighbors *near = fm_coll_neighbors(c->comm);
    struct run run;

    fm_sched_reserve(s, near->n_recv + near->n_send);
    for (int at = 0; at < near->n_recv; at += run.n) {
        struct fm_buf first = fm_side_block(&c->recv, near->recv_order[at]);

        run = recv_run(near, at);
        if (run.peer == c->comm->rank) {
            fm_step_copy(s, first, fm_side_whole(&c->send));
        } else {
            fm_step_recv(s, first, run.peer);
        }
    }
    for (int at = 0; at < near->n_send; at += run.n) {
        run = send_run(near, at);
        if (run.peer != c->comm->rank) {
            fm_step_send(s, fm_side_whole(&c->send), run.peer);
        }
    }
    fm_step_fence(s);
    for (int at = 0; at < near->n_recv; at += run.n) {
        run = recv_run(near, at);
        copy_among(s, &c->recv, &run, 1);
    }
}

/* Bytes of the blocks of a run that go in one message; -1: each block goes by itself. Both ranks
   come to the same answer, since blocks have the same length at both ends. */
static MPI_Count combined_len(const struct fm_side *side, const struct run *run)
{
    MPI_Count len = 0;

    for (int k = 0; k < run->n; k++) {
        len += len_of(fm_side_block(side, run->positions[k]));
    }
    return run->n > 1 && (uint64_t)len <= fm_coll_counters->cut.neighbor_combine ? len : -1;
}

/* The blocks of a run, one behind the other in `packed`; or back from there. */
static void pack_run(struct fm_sched *s, const struct fm_side *side, const struct run *run,
                     char *packed, bool is_back)
{
    for (int k = 0; k < run->n; k++) {
        struct fm_buf block = fm_side_block(side, run->positions[k]);
        struct fm_buf flat = fm_buf_bytes(packed, len_of(block));

        fm_step_copy(s, is_back ? block : flat, is_back ? flat : block);
        packed += packed ? flat.count : 0;
    }
}

static void send_to(struct fm_sched *s, const struct fm_coll *c, const struct run *run)
{
    MPI_Count len = combined_len(&c->send, run);
    char *packed;

    if (len >= 0) {
        packed = fm_step_temp(s, len);
        pack_run(s, &c->send, run, packed, false);
        fm_step_send(s, fm_buf_bytes(packed, len), run->peer);
        return;
    }
    for (int k = 0; k < run->n; k++) {
        fm_step_send(s, fm_side_block(&c->send, run->positions[k]), run->peer);
    }
}

/* A message for several blocks comes to `packed`; returns how long it is. */
static MPI_Count recv_from(struct fm_sched *s, const struct fm_coll *c, const struct run *run,
                           char *packed)
{
    MPI_Count len = combined_len(&c->recv, run);

    if (len >= 0) {
        fm_step_recv(s, fm_buf_bytes(packed, len), run->peer);
        return len;
    }
    for (int k = 0; k < run->n; k++) {
        fm_step_recv(s, fm_side_block(&c->recv, run->positions[k]), run->peer);
    }
    return 0;
}

static MPI_Count unpack_from(struct fm_sched *s, const struct fm_coll *c, const struct run *run,
                             char *packed)
{
    MPI_Count len = combined_len(&c->recv, run);

    if (len >= 0) {
        pack_run(s, &c->recv, run, packed, true);
    }
    return len >= 0 ? len : 0;
}

/* Edges to oneself. A topology has as many of them on both sides. */
static void copy_own(struct fm_sched *s, const struct fm_coll *c, const struct run *in,
                     const struct run *out)
{
    for (int k = 0; k < in->n && k < out->n; k++) {
        fm_step_copy(s, fm_side_block(&c->recv, in->positions[k]),
                     fm_side_block(&c->send, out->positions[k]));
    }
}

/* Room for all messages that are received combined. NULL: there is none, and the schedule fails; it
   is made all the same, for the sake of the other ranks. */
static char *room_for_all(struct fm_sched *s, const struct fm_coll *c,
                          const struct fm_neighbors *near)
{
    MPI_Count sum = 0;
    struct run run;

    for (int at = 0; at < near->n_recv; at += run.n) {
        MPI_Count len;

        run = recv_run(near, at);
        len = combined_len(&c->recv, &run);
        sum += len > 0 ? len : 0;
    }
    return fm_step_temp(s, sum);
}

void fm_algo_neighbor_alltoall_edges(struct fm_sched *s, const struct fm_coll *c)
{
    const struct fm_neighbors *near = fm_coll_neighbors(c->comm);
    char *packed = room_for_all(s, c, near);
    struct run run, own = {.n = 0};
    MPI_Count used = 0;

    fm_sched_reserve(s, near->n_recv + near->n_send);
    for (int at = 0; at < near->n_recv; at += run.n) {
        run = recv_run(near, at);
        if (run.peer == c->comm->rank) {
            own = run;
        } else {
            used += recv_from(s, c, &run, packed ? packed + used : NULL);
        }
    }
    for (int at = 0; at < near->n_send; at += run.n) {
        run = send_run(near, at);
        if (run.peer == c->comm->rank) {
            copy_own(s, c, &own, &run);
        } else {
            send_to(s, c, &run);
        }
    }
    fm_step_fence(s);
    used = 0;
    for (int at = 0; at < near->n_recv; at += run.n) {
        run = recv_run(near, at);
        if (run.peer != c->comm->rank) {
            used += unpack_from(s, c, &run, packed ? packed + used : NULL);
        }
    }
}
