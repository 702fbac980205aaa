/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entry of all collectives and the choice of an algorithm.
 *
 * The choice must come out the same on all ranks of the communicator, so it looks only at what all
 * of them know: the kind, the number of ranks, bytes that the standard makes equal everywhere, and
 * variables that the user must set alike (scope ALL_EQ).
 */
#include "core/coll/coll.h"

#include <fathom/mpit.h>
#include <string.h>

#include "core/coll/coll_algo.h"
#include "core/coll/coll_vars.h"
#include "core/coll/node.h"
#include "core/p2p/progress.h"
#include "util/status.h"

#define ALGO(KIND, kind, number, algo, text, what)                                                 \
    [FM_COLL_##KIND][number] = fm_algo_##kind##_##algo,
static const fm_algo_fn algos[FM_COLL_COUNT][FM_COLL_MAX_ALGOS] = {FM_COLL_ALGOS(ALGO)};

#define NUMBER(KIND, kind, number, algo, text, what) KIND##_##algo = number,
enum { FM_COLL_ALGOS(NUMBER) };

/* The number of a kind's algorithm over shared memory, 0: it has none. */
#define NODE_NUMBER(KIND, kind, number, algo, text, what) [FM_COLL_##KIND] = number,
static const int node_algos[FM_COLL_COUNT] = {FM_COLL_NODE_ALGOS(NODE_NUMBER)};

/* What the choice is made from. */
struct choice {
    int algo;
    enum fm_coll_reason why;
};

static struct choice by_length(uint64_t len, uint64_t from, int if_short, int if_long)
{
    return len < from ? (struct choice){if_short, FM_COLL_WHY_SHORT}
                      : (struct choice){if_long, FM_COLL_WHY_LONG};
}

static struct choice choose_reduction(const struct fm_coll *c, uint64_t len)
{
    int pof2 = fm_pof2_below(c->comm->size);

    switch (c->kind) {
    case FM_COLL_REDUCE_SCATTER:
        if (!c->op->is_commutative) {
            return (struct choice){REDUCE_SCATTER_by_reduce, FM_COLL_WHY_ORDER};
        }
        return by_length(len, fm_coll_counters->cut.reduce_scatter_long, REDUCE_SCATTER_by_reduce,
                         REDUCE_SCATTER_pairwise);
    case FM_COLL_REDUCE:
        if (c->recv.count < pof2) {
            return (struct choice){REDUCE_binomial, FM_COLL_WHY_SHORT};
        }
        return by_length(len, fm_coll_counters->cut.reduce_long, REDUCE_binomial, REDUCE_halving);
    default:
        if (c->recv.count < pof2) {
            return (struct choice){ALLREDUCE_doubling, FM_COLL_WHY_SHORT};
        }
        return by_length(len, fm_coll_counters->cut.allreduce_long, ALLREDUCE_doubling,
                         ALLREDUCE_halving);
    }
}

static struct choice choose_alltoall(const struct fm_coll *c, uint64_t len)
{
    if (c->is_varying || c->send.buf == MPI_IN_PLACE) {
        return (struct choice){ALLTOALL_window, FM_COLL_WHY_VARYING};
    }
    if (c->comm->size >= 8 && len <= fm_coll_counters->cut.alltoall_short) {
        return (struct choice){ALLTOALL_bruck, FM_COLL_WHY_SHORT};
    }
    return by_length(len, fm_coll_counters->cut.alltoall_long, ALLTOALL_window, ALLTOALL_pairwise);
}

static struct choice choose_allgather(const struct fm_coll *c, uint64_t len)
{
    if (len >= fm_coll_counters->cut.allgather_long) {
        return (struct choice){ALLGATHER_ring, FM_COLL_WHY_LONG};
    }
    if (!c->is_varying && fm_pof2_below(c->comm->size) == c->comm->size) {
        return (struct choice){ALLGATHER_doubling, FM_COLL_WHY_RANKS};
    }
    return (struct choice){ALLGATHER_bruck, FM_COLL_WHY_SHORT};
}

static struct choice choose(const struct fm_coll *c, uint64_t len)
{
    switch (c->kind) {
    case FM_COLL_BCAST:
        if (c->comm->size <= 3) {
            return (struct choice){BCAST_binomial, FM_COLL_WHY_RANKS};
        }
        return by_length(len, fm_coll_counters->cut.bcast_long, BCAST_binomial, BCAST_scatter_ring);
    case FM_COLL_REDUCE:
    case FM_COLL_ALLREDUCE:
    case FM_COLL_REDUCE_SCATTER:
        return choose_reduction(c, len);
    case FM_COLL_GATHER:
        return c->is_varying ? (struct choice){GATHER_linear, FM_COLL_WHY_VARYING}
                             : by_length(len, fm_coll_counters->cut.gather_long, GATHER_binomial,
                                         GATHER_linear);
    case FM_COLL_SCATTER:
        return c->is_varying ? (struct choice){SCATTER_linear, FM_COLL_WHY_VARYING}
                             : by_length(len, fm_coll_counters->cut.scatter_long, SCATTER_binomial,
                                         SCATTER_linear);
    case FM_COLL_ALLGATHER:
        return choose_allgather(c, len);
    case FM_COLL_ALLTOALL:
        return choose_alltoall(c, len);
    default:
        return (struct choice){1, FM_COLL_WHY_ONLY};
    }
}

/* What the user forces must be right for the call. */
static bool fits(const struct fm_coll *c, int algo)
{
    if (algo == node_algos[c->kind]) {
        return false; /* pick_node() takes it where it fits */
    }
    switch (c->kind) {
    case FM_COLL_GATHER:
    case FM_COLL_SCATTER:
        return !c->is_varying || algo == GATHER_linear;
    case FM_COLL_ALLGATHER:
        return algo != ALLGATHER_doubling || fm_pof2_below(c->comm->size) == c->comm->size;
    case FM_COLL_ALLTOALL:
        return algo != ALLTOALL_bruck || !c->is_varying;
    case FM_COLL_REDUCE_SCATTER:
        return algo == REDUCE_SCATTER_by_reduce || c->op->is_commutative;
    default:
        return true;
    }
}

/* Bytes of the first n_blocks blocks of a side, -1 when that is more than can be. */
static MPI_Count side_len(const struct fm_side *side, int n_blocks)
{
    MPI_Count total = 0;

    for (int i = 0; i < n_blocks; i++) {
        struct fm_dtype *t = side->dtypes ? side->dtypes[i] : side->dtype;
        MPI_Count len = fm_dtype_bytes(t, fm_side_count(side, i));

        if (len < 0 || __builtin_add_overflow(total, len, &total)) {
            return -1;
        }
    }
    return total;
}

/* All blocks that this rank sends or receives; a side without a type means nothing here. */
static MPI_Count inter_len(const struct fm_coll *c)
{
    int n = c->kind == FM_COLL_REDUCE_SCATTER ? c->comm->size : c->comm->n_remote;
    MPI_Count send = c->send.dtype && c->send.buf ? side_len(&c->send, c->send.counts ? n : 1) : 0;
    MPI_Count recv = c->recv.dtype ? side_len(&c->recv, c->recv.counts ? n : 1) : 0;
    MPI_Count all;

    return send < 0 || recv < 0 || __builtin_mul_overflow(send + recv, (MPI_Count)n + 1, &all)
               ? -1
               : send + recv;
}

/* What the choice looks at and the counters count: of one contribution, one block, or, where blocks
   may differ, all of them. */
static MPI_Count call_len(const struct fm_coll *c)
{
    bool is_root = c->comm->rank == c->root;

    if (c->comm->is_inter) {
        return inter_len(c);
    }

    switch (c->kind) {
    case FM_COLL_BARRIER:
        return 0;
    case FM_COLL_GATHER:
        return is_root ? side_len(&c->recv, c->is_varying ? c->comm->size : 1)
                       : side_len(&c->send, 1);
    case FM_COLL_SCATTER:
        return is_root ? side_len(&c->send, c->is_varying ? c->comm->size : 1)
                       : side_len(&c->recv, 1);
    case FM_COLL_ALLGATHER:
    case FM_COLL_REDUCE_SCATTER:
        return side_len(&c->recv, c->comm->size);
    case FM_COLL_ALLTOALL:
        return side_len(&c->recv, c->is_varying ? c->comm->size : 1);
    default:
        return side_len(&c->recv, 1);
    }
}

static int too_long(void)
{
    return fm_fail(-FM_E_INVAL, "the buffers are longer than an address space");
}

/* What was chosen for a call. */
struct way {
    fm_algo_fn algo;
    struct fm_node *node; /* not NULL: through its memory, no schedule */
    MPI_Count len;        /* of one contribution, with a node */
    struct fm_coll_use use;
};

/* Is this blocking call to go through shared memory? */
static int pick_node(const struct fm_coll *c, int forced, MPI_Count len, struct way *way)
{
    bool is_forced = forced == node_algos[c->kind];
    struct fm_node *node = NULL;
    int rc;

    if (!node_algos[c->kind] || c->is_varying || (forced && !is_forced)) {
        return 0;
    }
    /* Nobody waits for the ranks below it in a broadcast by messages, while cells must be free
       again: with more ranks than processors that is one switch of them in three. */
    if (c->kind == FM_COLL_BCAST && !is_forced) {
        return 0;
    }
    rc = fm_node_find(c->comm, is_forced, &node);
    if (rc == 0 && node) {
        way->len = c->kind == FM_COLL_ALLGATHER ? len / c->comm->size : len;
        way->node = way->len <= fm_node_max_len(node) ? node : NULL;
    }
    return rc;
}

static void note(const struct fm_coll *c, struct choice choice, MPI_Count len, struct way *way)
{
    way->use = (struct fm_coll_use){
        .kind = c->kind, .algo = choice.algo, .why = choice.why, .len = (uint64_t)len};
    FM_STAT(if (FM_UNLIKELY(fm_coll_counters->on_chosen)) fm_coll_vars_emit(&way->use, c->comm));
}

static struct choice choose_way(const struct fm_coll *c, int forced, MPI_Count len)
{
    struct choice choice = choose(c, (uint64_t)len);

    if (forced > 0) {
        return fits(c, forced) ? (struct choice){forced, FM_COLL_WHY_FORCED}
                               : (struct choice){choice.algo, FM_COLL_WHY_UNFIT};
    }
    return choice;
}

/* Choose. 0 or a failure. */
static int pick(const struct fm_coll *c, bool is_blocking, struct way *out_way)
{
    int forced = (int)fm_coll_counters->forced[c->kind];
    MPI_Count len = call_len(c), all;
    struct choice choice;
    int rc;

    if (c->comm->is_inter) {
        if (len < 0) {
            return too_long();
        }
        out_way->algo = fm_algo_inter;
        note(c, (struct choice){FM_COLL_INTER, FM_COLL_WHY_ONLY}, len, out_way);
        return 0;
    }
    if (len < 0 || __builtin_mul_overflow(len, (MPI_Count)c->comm->size + 1, &all)) {
        return too_long();
    }
    rc = is_blocking ? pick_node(c, forced, len, out_way) : 0;
    if (rc != 0) {
        return rc;
    }
    if (out_way->node) {
        choice =
            (struct choice){node_algos[c->kind], forced ? FM_COLL_WHY_FORCED : FM_COLL_WHY_NODE};
    } else {
        choice = choose_way(c, forced, len);
        out_way->algo = algos[c->kind][choice.algo];
    }
    note(c, choice, len, out_way);
    return 0;
}

int fm_coll_run(const struct fm_coll *c)
{
    struct fm_sched s;
    struct way way = {.algo = NULL};
    int rc = pick(c, true, &way);

    if (rc != 0) {
        return rc;
    }
    fm_coll_vars_begin(&way.use, c->comm);
    if (way.node) {
        rc = fm_node_run(way.node, c, way.len);
    } else {
        fm_sched_init(&s, c->comm, true);
        s.is_users = c->is_users;
        way.algo(&s, c);
        rc = fm_sched_finish(&s);
    }
    fm_coll_vars_end(&way.use);
    return rc;
}

#define OPS(KIND, kind)                                                                            \
    [FM_COLL_##KIND] = {.name = #kind,                                                             \
                        .start = fm_sched_start,                                                   \
                        .release = fm_sched_release,                                               \
                        .must_complete = true},
static const struct fm_request_ops request_ops[FM_COLL_COUNT] = {FM_COLL_KINDS(OPS)};

static int record(const struct fm_coll *c, bool is_persistent, struct fm_request **out_req)
{
    struct fm_sched *s;
    struct way way = {.algo = NULL};
    int rc = pick(c, false, &way);

    if (rc != 0) {
        return rc;
    }
    s = fm_sched_create(c->comm);
    if (!s) {
        return -FM_E_NOMEM;
    }
    s->use = way.use;
    way.algo(s, c);
    return fm_sched_request(s, &request_ops[c->kind], is_persistent, out_req);
}

int fm_coll_start(const struct fm_coll *c, struct fm_request **out_req)
{
    return record(c, false, out_req);
}

int fm_coll_persist(const struct fm_coll *c, struct fm_request **out_req)
{
    return record(c, true, out_req);
}

static struct fm_side side_of(const struct fm_buf *b)
{
    return (struct fm_side){.buf = b->buf, .count = b->count, .dtype = b->dtype};
}

int fm_barrier(struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){.kind = FM_COLL_BARRIER, .comm = comm});
}

int fm_bcast(const struct fm_buf *data, int root, struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){
        .kind = FM_COLL_BCAST, .comm = comm, .recv = side_of(data), .root = root});
}

int fm_allreduce(const void *sendbuf, const struct fm_buf *recv, struct fm_op *op,
                 struct fm_comm *comm)
{
    struct fm_coll c = {.kind = FM_COLL_ALLREDUCE, .comm = comm, .recv = side_of(recv), .op = op};

    c.send.buf = (void *)sendbuf;
    return fm_coll_run(&c);
}

int fm_gather(const struct fm_buf *send, const struct fm_buf *recv, int root, struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){.kind = FM_COLL_GATHER,
                                         .comm = comm,
                                         .send = side_of(send),
                                         .recv = side_of(recv),
                                         .root = root});
}

int fm_allgather(const struct fm_buf *send, const struct fm_buf *recv, struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){
        .kind = FM_COLL_ALLGATHER, .comm = comm, .send = side_of(send), .recv = side_of(recv)});
}
