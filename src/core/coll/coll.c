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
#include "core/coll/node.h"
#include "core/p2p/progress.h"
#include "util/status.h"

/* Kinds: identifier, name. */
#define KINDS(X)                                                                                   \
    X(BARRIER, barrier)                                                                            \
    X(BCAST, bcast)                                                                                \
    X(REDUCE, reduce)                                                                              \
    X(ALLREDUCE, allreduce)                                                                        \
    X(GATHER, gather)                                                                              \
    X(SCATTER, scatter)                                                                            \
    X(ALLGATHER, allgather)                                                                        \
    X(ALLTOALL, alltoall)                                                                          \
    X(REDUCE_SCATTER, reduce_scatter)                                                              \
    X(SCAN, scan)                                                                                  \
    X(EXSCAN, exscan)

/* Algorithms: kind, its name, number, name (at most 11 characters), one sentence. */
#define ALGOS(X)                                                                                   \
    X(BARRIER, barrier, 1, dissemination, "dissem", "log2(p) rounds of tokens")                    \
    X(BCAST, bcast, 1, binomial, "binomial", "whole messages down a binomial tree")                \
    X(BCAST, bcast, 2, scatter_ring, "scatterring", "pieces scattered, then passed round a ring")  \
    X(REDUCE, reduce, 1, binomial, "binomial", "whole vectors up a binomial tree")                 \
    X(REDUCE, reduce, 2, halving, "halving", "vector halving, then parts gathered at the root")    \
    X(ALLREDUCE, allreduce, 1, doubling, "doubling", "whole vectors exchanged log2(p) times")      \
    X(ALLREDUCE, allreduce, 2, halving, "halving", "vector halving, then parts gathered by all")   \
    X(GATHER, gather, 1, binomial, "binomial", "packed blocks up a binomial tree")                 \
    X(GATHER, gather, 2, linear, "linear", "every block straight to the root")                     \
    X(SCATTER, scatter, 1, binomial, "binomial", "packed blocks down a binomial tree")             \
    X(SCATTER, scatter, 2, linear, "linear", "every block straight from the root")                 \
    X(ALLGATHER, allgather, 1, bruck, "bruck", "packed blocks in ceil(log2(p)) rounds")            \
    X(ALLGATHER, allgather, 2, doubling, "doubling", "blocks in place, for powers of two")         \
    X(ALLGATHER, allgather, 3, ring, "ring", "blocks passed round a ring, without copies")         \
    X(ALLTOALL, alltoall, 1, bruck, "bruck", "packed blocks in ceil(log2(p)) rounds")              \
    X(ALLTOALL, alltoall, 2, window, "window", "many exchanges at the same time")                  \
    X(ALLTOALL, alltoall, 3, pairwise, "pairwise", "one exchange after the other")                 \
    X(REDUCE_SCATTER, reduce_scatter, 1, by_reduce, "by_reduce", "reduced at rank 0, scattered")   \
    X(REDUCE_SCATTER, reduce_scatter, 2, pairwise, "pairwise", "every block straight to its rank") \
    X(SCAN, scan, 1, doubling, "doubling", "partial results exchanged log2(p) times")              \
    X(EXSCAN, exscan, 1, doubling, "doubling", "partial results exchanged log2(p) times")

/* Those of blocking calls on one host (node.h), which are no schedules; the same columns. */
#define NODE_WHAT "memory that the ranks of one host share"
#define NODE_ALGOS(X)                                                                              \
    X(BARRIER, barrier, 2, node, "node", NODE_WHAT)                                                \
    X(BCAST, bcast, 3, node, "node", NODE_WHAT)                                                    \
    X(REDUCE, reduce, 3, node, "node", NODE_WHAT)                                                  \
    X(ALLREDUCE, allreduce, 3, node, "node", NODE_WHAT)                                            \
    X(ALLGATHER, allgather, 4, node, "node", NODE_WHAT)

/* Cut-offs: name, default in bytes, what it steers. */
#define CUTOFFS(X)                                                                                 \
    X(bcast_long, 65536,                                                                           \
      "Bytes from which a broadcast to more than 3 ranks goes in pieces round "                    \
      "a ring instead of down a tree; lower it when links are slow.")                              \
    X(reduce_long, 32768,                                                                          \
      "Bytes from which a reduction halves vectors instead of sending them "                       \
      "whole; lower it when the operation is costly.")                                             \
    X(allreduce_long, 16384,                                                                       \
      "Bytes from which an allreduce halves vectors instead of sending "                           \
      "them whole; lower it when the operation is costly.")                                        \
    X(gather_long, 4096,                                                                           \
      "Bytes of a block from which a gather goes straight to the root; raise "                     \
      "it when the root is slow to take many messages.")                                           \
    X(scatter_long, 4096,                                                                          \
      "Bytes of a block from which a scatter goes straight from the root; "                        \
      "raise it when the root is slow to send many messages.")                                     \
    X(allgather_long, 65536,                                                                       \
      "Bytes of the result from which an allgather goes round a ring; "                            \
      "lower it when distant ranks are on slow links.")                                            \
    X(alltoall_short, 256,                                                                         \
      "Bytes of a block up to which an alltoall of at least 8 ranks packs "                        \
      "blocks into few messages; raise it when latency is high.")                                  \
    X(alltoall_long, 32768,                                                                        \
      "Bytes of a block from which an alltoall makes one exchange at a "                           \
      "time; raise it when several exchanges use a link better.")                                  \
    X(reduce_scatter_long, 8192,                                                                   \
      "Bytes from which a reduce_scatter with an operation that "                                  \
      "commutes sends every block straight to its rank.")

#define MAX_ALGOS 5

/* Why an algorithm was taken. */
enum reason {
    WHY_NONE,
    WHY_FORCED,
    WHY_ONLY,
    WHY_SHORT,
    WHY_LONG,
    WHY_ORDER,
    WHY_VARYING,
    WHY_RANKS,
    WHY_UNFIT,
    WHY_NODE
};

struct cutoffs {
#define X(name, value, desc) uint64_t name;
    CUTOFFS(X)
#undef X
};

struct coll_words {
    uint64_t forced[FM_COLL_COUNT]; /* control variables: 0 is auto */
    struct cutoffs cut;             /* control variables */
    uint64_t n_calls[FM_COLL_COUNT][MAX_ALGOS];
    uint64_t n_bytes[FM_COLL_COUNT][MAX_ALGOS];
    uint64_t last[FM_COLL_COUNT];   /* algorithm of the last call */
    uint64_t reason[FM_COLL_COUNT]; /* and why it was taken */
};

#define WORD(f) offsetof(struct coll_words, f)

/* clang-format off */
static const struct fathom_enum_item reason_items[] = {
    {WHY_NONE, "none"},   {WHY_FORCED, "forced"}, {WHY_ONLY, "only_one"},
    {WHY_SHORT, "short"}, {WHY_LONG, "long"},     {WHY_ORDER, "order"},
    {WHY_VARYING, "varying"}, {WHY_RANKS, "ranks"}, {WHY_UNFIT, "unfit"},
    {WHY_NODE, "one_host"},
};
static const struct fathom_enum reasons = {"coll_reason", reason_items,
                                           FM_ARRAY_LEN(reason_items)};

static const struct fathom_enum_item barrier_items[] = {
    {0, "auto"}, {1, "dissem"}, {2, "node"}};
static const struct fathom_enum_item bcast_items[] = {
    {0, "auto"}, {1, "binomial"}, {2, "scatterring"}, {3, "node"}};
static const struct fathom_enum_item reduce_items[] = {
    {0, "auto"}, {1, "binomial"}, {2, "halving"}, {3, "node"}};
static const struct fathom_enum_item allreduce_items[] = {
    {0, "auto"}, {1, "doubling"}, {2, "halving"}, {3, "node"}};
static const struct fathom_enum_item gather_items[] = {
    {0, "auto"}, {1, "binomial"}, {2, "linear"}};
static const struct fathom_enum_item scatter_items[] = {
    {0, "auto"}, {1, "binomial"}, {2, "linear"}};
static const struct fathom_enum_item allgather_items[] = {
    {0, "auto"}, {1, "bruck"}, {2, "doubling"}, {3, "ring"}, {4, "node"}};
static const struct fathom_enum_item alltoall_items[] = {
    {0, "auto"}, {1, "bruck"}, {2, "window"}, {3, "pairwise"}};
static const struct fathom_enum_item reduce_scatter_items[] = {
    {0, "auto"}, {1, "by_reduce"}, {2, "pairwise"}};
static const struct fathom_enum_item scan_items[] = {{0, "auto"}, {1, "doubling"}};
static const struct fathom_enum_item exscan_items[] = {{0, "auto"}, {1, "doubling"}};

#define ENUM(KIND, kind)                                                                           \
    static const struct fathom_enum kind##_algorithms = {"coll_" #kind "_algorithm", kind##_items, \
                                                         FM_ARRAY_LEN(kind##_items)};
KINDS(ENUM)

#define FORCE_ROW(KIND, kind)                                                                      \
    {.name = "coll_" #kind "_algorithm",                                                           \
     .desc = "Algorithm of every " #kind " that it fits; set it to compare algorithms.",           \
     .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_BASIC,            \
     .items = &kind##_algorithms, .at = WORD(forced[FM_COLL_##KIND]), .category = "coll_" #kind},
#define CUTOFF_ROW(thing, value, text)                                                             \
    {.name = "coll_" #thing, .desc = text, .unit = "bytes", .type = FATHOM_UNSIGNED_LONG_LONG,     \
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_BASIC, .at = WORD(cut.thing),         \
     .def = value, .min = 0, .max = INT64_MAX},
static const struct fathom_cvar cvars[] = {KINDS(FORCE_ROW) CUTOFFS(CUTOFF_ROW)};

#define CALLS_ROW(KIND, kind, number, algo, text, what)                                            \
    {"coll_" #kind "_" #algo "_calls", "Calls of " #kind " that went by " #algo ": " what ".",     \
     "calls", FATHOM_COUNTER, .at = WORD(n_calls[FM_COLL_##KIND][number]),                         \
     .category = "coll_" #kind},                                                                   \
    {"coll_" #kind "_" #algo "_bytes", "Bytes of the " #kind "s by " #algo ": of one vector "     \
     "or block a call, of all blocks in gathers to all and where they may differ.", "bytes",       \
     FATHOM_AGGREGATE, .at = WORD(n_bytes[FM_COLL_##KIND][number]),                       \
     .category = "coll_" #kind},
#define STATE_ROWS(KIND, kind)                                                                     \
    {"coll_" #kind "_last", "Algorithm of the last " #kind ".", NULL, FATHOM_STATE,                \
     .items = &kind##_algorithms, .at = WORD(last[FM_COLL_##KIND]), .category = "coll_" #kind},    \
    {"coll_" #kind "_reason", "Why the last " #kind " took its algorithm.", NULL, FATHOM_STATE,    \
     .items = &reasons, .at = WORD(reason[FM_COLL_##KIND]), .category = "coll_" #kind},
static const struct fathom_pvar pvars[] = {
    ALGOS(CALLS_ROW) NODE_ALGOS(CALLS_ROW) KINDS(STATE_ROWS)};

#define CATEGORY_ROW(KIND, kind) {"coll_" #kind, "Algorithms of " #kind ".", "coll"},
static const struct fathom_category categories[] = {
    {"coll", "Collectives: which algorithm serves which call, and why.", NULL},
    KINDS(CATEGORY_ROW)
};
/* clang-format on */

const struct fathom_table fm_coll_vars = {
    .room = "coll",
    .block_len = sizeof(struct coll_words),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

#define DEFAULT(thing, value, text) .thing = value,

/* Private words, with the defaults, until fm_coll_init() names those in the page. Guarded by the
   library lock. */
static struct coll_words no_page = {.cut = {CUTOFFS(DEFAULT)}};
static struct coll_words *words = &no_page;

void fm_coll_init(void *block)
{
    words = block ? block : &no_page;
}

#define ALGO(KIND, kind, number, algo, text, what)                                                 \
    [FM_COLL_##KIND][number] = fm_algo_##kind##_##algo,
static const fm_algo_fn algos[FM_COLL_COUNT][MAX_ALGOS] = {ALGOS(ALGO)};

#define NUMBER(KIND, kind, number, algo, text, what) KIND##_##algo = number,
enum { ALGOS(NUMBER) };

/* The number of a kind's algorithm over shared memory, 0: it has none. */
#define NODE_NUMBER(KIND, kind, number, algo, text, what) [FM_COLL_##KIND] = number,
static const int node_algos[FM_COLL_COUNT] = {NODE_ALGOS(NODE_NUMBER)};

/* What the choice is made from. */
struct choice {
    int algo;
    enum reason why;
};

static struct choice by_length(uint64_t len, uint64_t from, int if_short, int if_long)
{
    return len < from ? (struct choice){if_short, WHY_SHORT} : (struct choice){if_long, WHY_LONG};
}

static struct choice choose_reduction(const struct fm_coll *c, uint64_t len)
{
    int pof2 = fm_pof2_below(c->comm->size);

    switch (c->kind) {
    case FM_COLL_REDUCE_SCATTER:
        if (!c->op->is_commutative) {
            return (struct choice){REDUCE_SCATTER_by_reduce, WHY_ORDER};
        }
        return by_length(len, words->cut.reduce_scatter_long, REDUCE_SCATTER_by_reduce,
                         REDUCE_SCATTER_pairwise);
    case FM_COLL_REDUCE:
        if (c->recv.count < pof2) {
            return (struct choice){REDUCE_binomial, WHY_SHORT};
        }
        return by_length(len, words->cut.reduce_long, REDUCE_binomial, REDUCE_halving);
    default:
        if (c->recv.count < pof2) {
            return (struct choice){ALLREDUCE_doubling, WHY_SHORT};
        }
        return by_length(len, words->cut.allreduce_long, ALLREDUCE_doubling, ALLREDUCE_halving);
    }
}

static struct choice choose_alltoall(const struct fm_coll *c, uint64_t len)
{
    if (c->is_varying || c->send.buf == MPI_IN_PLACE) {
        return (struct choice){ALLTOALL_window, WHY_VARYING};
    }
    if (c->comm->size >= 8 && len <= words->cut.alltoall_short) {
        return (struct choice){ALLTOALL_bruck, WHY_SHORT};
    }
    return by_length(len, words->cut.alltoall_long, ALLTOALL_window, ALLTOALL_pairwise);
}

static struct choice choose_allgather(const struct fm_coll *c, uint64_t len)
{
    if (len >= words->cut.allgather_long) {
        return (struct choice){ALLGATHER_ring, WHY_LONG};
    }
    if (!c->is_varying && fm_pof2_below(c->comm->size) == c->comm->size) {
        return (struct choice){ALLGATHER_doubling, WHY_RANKS};
    }
    return (struct choice){ALLGATHER_bruck, WHY_SHORT};
}

static struct choice choose(const struct fm_coll *c, uint64_t len)
{
    switch (c->kind) {
    case FM_COLL_BCAST:
        if (c->comm->size <= 3) {
            return (struct choice){BCAST_binomial, WHY_RANKS};
        }
        return by_length(len, words->cut.bcast_long, BCAST_binomial, BCAST_scatter_ring);
    case FM_COLL_REDUCE:
    case FM_COLL_ALLREDUCE:
    case FM_COLL_REDUCE_SCATTER:
        return choose_reduction(c, len);
    case FM_COLL_GATHER:
        return c->is_varying
                   ? (struct choice){GATHER_linear, WHY_VARYING}
                   : by_length(len, words->cut.gather_long, GATHER_binomial, GATHER_linear);
    case FM_COLL_SCATTER:
        return c->is_varying
                   ? (struct choice){SCATTER_linear, WHY_VARYING}
                   : by_length(len, words->cut.scatter_long, SCATTER_binomial, SCATTER_linear);
    case FM_COLL_ALLGATHER:
        return choose_allgather(c, len);
    case FM_COLL_ALLTOALL:
        return choose_alltoall(c, len);
    default:
        return (struct choice){1, WHY_ONLY};
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

/* Bytes of all blocks of a side, -1 when that is more than can be. */
static MPI_Count side_len(const struct fm_side *side, int size)
{
    MPI_Count total = 0;

    for (int i = 0; i < size; i++) {
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
    rc = fm_node_find(c->comm, is_forced, &node);
    if (rc == 0 && node) {
        way->len = c->kind == FM_COLL_ALLGATHER ? len / c->comm->size : len;
        way->node = way->len <= fm_node_max_len(node) ? node : NULL;
    }
    return rc;
}

static void count(const struct fm_coll *c, struct choice choice, MPI_Count len)
{
    FM_STAT(words->n_calls[c->kind][choice.algo]++);
    FM_STAT(words->n_bytes[c->kind][choice.algo] += (uint64_t)len);
    FM_STAT(words->last[c->kind] = (uint64_t)choice.algo);
    FM_STAT(words->reason[c->kind] = choice.why);
    FM_STAT(c->comm->words->n_coll++);
}

static struct choice choose_way(const struct fm_coll *c, int forced, MPI_Count len)
{
    struct choice choice = choose(c, (uint64_t)len);

    if (forced > 0) {
        return fits(c, forced) ? (struct choice){forced, WHY_FORCED}
                               : (struct choice){choice.algo, WHY_UNFIT};
    }
    return choice;
}

/* Choose and count. 0 or a failure. */
static int pick(const struct fm_coll *c, bool is_blocking, struct way *out_way)
{
    int forced = (int)words->forced[c->kind];
    MPI_Count len = call_len(c), all;
    struct choice choice;
    int rc;

    if (c->comm->is_inter) {
        FM_STAT(c->comm->words->n_coll++);
        out_way->algo = fm_algo_inter;
        return len < 0 ? too_long() : 0;
    }
    if (len < 0 || __builtin_mul_overflow(len, (MPI_Count)c->comm->size + 1, &all)) {
        return too_long();
    }
    rc = is_blocking ? pick_node(c, forced, len, out_way) : 0;
    if (rc == 0 && out_way->node) {
        count(c, (struct choice){node_algos[c->kind], forced ? WHY_FORCED : WHY_NODE}, len);
        return 0;
    }
    choice = choose_way(c, forced, len);
    count(c, choice, len);
    out_way->algo = algos[c->kind][choice.algo];
    return rc;
}

int fm_coll_run(const struct fm_coll *c)
{
    struct fm_sched s;
    struct way way = {.algo = NULL};
    int rc = pick(c, true, &way);

    if (rc != 0) {
        return rc;
    }
    if (way.node) {
        return fm_node_run(way.node, c, way.len);
    }
    fm_sched_init(&s, c->comm, true);
    way.algo(&s, c);
    return fm_sched_finish(&s);
}

#define OPS(KIND, kind)                                                                            \
    [FM_COLL_##KIND] = {.name = #kind,                                                             \
                        .start = fm_sched_start,                                                   \
                        .release = fm_sched_release,                                               \
                        .must_complete = true},
static const struct fm_request_ops request_ops[FM_COLL_COUNT] = {KINDS(OPS)};

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
