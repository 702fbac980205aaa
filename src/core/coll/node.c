/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of communicators: who gets it, and the calls that go through it. */
#include "core/coll/node.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/coll_algo.h"
#include "core/coll/node_cell.h"
#include "core/dtype/pack.h"
#include "core/p2p/channel.h"
#include "core/p2p/progress.h"
#include "util/segment.h"
#include "util/status.h"

struct node_counters {
    uint64_t after, max, memory, max_comms, spread; /* control variables */
    uint64_t n_made, n_refused;
    uint64_t n_nudges; /* dozing ranks woken */
    uint64_t n_dozes;
    struct fathom_level n_live, bytes;
};

#define WORD(f) offsetof(struct node_counters, f)

/* clang-format off */
#define CVAR(name_, word_, unit_, def_, min_, max_, desc_)                                         \
    {.name = name_, .desc = desc_, .unit = unit_, .type = FATHOM_INT,                              \
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_DETAIL, .at = WORD(word_),            \
     .def = def_, .min = min_, .max = max_, .category = "coll_node"}
#define CVARS(X)                                                                                   \
    X("coll_node_after", after, "calls", 8, 0, INT32_MAX,                                          \
      "Collective calls on a communicator after which its ranks set up shared memory for them; "   \
      "raise it in programs that make many communicators and use each of them little.")            \
    X("coll_node_max", max, "bytes", 1008, 48, 64 << 10,                                           \
      "Longest contribution of a rank that goes through this memory; raise it where more "         \
      "ranks than processors exchange medium vectors.")                                            \
    X("coll_node_memory", memory, "bytes", 256 << 10, 4 << 10, 64 << 20,                           \
      "Most shared memory of one communicator; with many ranks it limits coll_node_max.")          \
    X("coll_node_comms", max_comms, "comms", 16, 0, INT32_MAX,                                     \
      "Most communicators of a process that have such memory at one time; raise it when more "     \
      "than that are busy with short collectives.")                                                \
    X("coll_node_spread", spread, "ranks", 8, 0, INT32_MAX,                                        \
      "Largest communicator that sets up such memory although every rank has a processor of its "  \
      "own; lower it when many of them wait for each other's cache lines there.")
#define CVAR_ROW(name, word, unit, def, min, max, desc) CVAR(name, word, unit, def, min, max, desc),
static const struct fathom_cvar cvars[] = {CVARS(CVAR_ROW)};

static const struct fathom_pvar pvars[] = {
    {"coll_node_made", "Communicators that have got shared memory for short collectives.", "comms",
     FATHOM_COUNTER, .at = WORD(n_made), .category = "coll_node"},
    {"coll_node_refused", "Communicators that asked for it and go on with messages: not all ranks "
     "on one host, every rank with a processor of its own, too many of them, or no memory.",
     "comms", FATHOM_COUNTER, .at = WORD(n_refused), .category = "coll_node"},
    {"coll_node_live", "Communicators that have such memory now.", "comms", FATHOM_LEVEL,
     .at = WORD(n_live), .is_level = true, .category = "coll_node"},
    {"coll_node_utilization", "Share of coll_node_comms that is taken; at 1, further communicators "
     "are among coll_node_refused.", NULL, FATHOM_PERCENTAGE, .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(n_live), .whole_at = WORD(max_comms), .category = "coll_node"},
    {"coll_node_bytes", "Such memory that this process shares.", "bytes", FATHOM_LEVEL,
     .at = WORD(bytes), .is_level = true, .category = "coll_node"},
    {"coll_node_dozes", "Times that this process was about to sleep in such a call.", "times",
     FATHOM_COUNTER, .at = WORD(n_dozes), .category = "coll_node"},
    {"coll_node_nudges", "Sleeping ranks that this process has woken with a result.", "times",
     FATHOM_COUNTER, .at = WORD(n_nudges), .category = "coll_node"},
};

static const struct fathom_category categories[] = {
    {"coll_node", "Short collectives through memory that the ranks of one host share.", "coll"},
};
/* clang-format on */

const struct fathom_table fm_node_vars = {
    .room = "coll_node",
    .block_len = sizeof(struct node_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

#define DEFAULT(name, word, unit, def, min, max, desc) .word = def,

/* Private words, with the defaults, until fm_node_init() names those in the page. Guarded by the
   library lock. */
static struct node_counters no_page = {CVARS(DEFAULT)};
static struct node_counters *counters = &no_page;

void fm_node_init(void *block)
{
    counters = block ? block : &no_page;
}

struct fm_node {
    struct fm_node_view view;
    struct fm_comm *comm;
    struct fm_segment segment;
    bool is_lost; /* a rank has gone */
};

/* The part of a communicator that asked for such memory in vain. */
static const struct fm_node refused;

MPI_Count fm_node_max_len(const struct fm_node *node)
{
    return (MPI_Count)(node->view.stride - offsetof(struct fm_node_line, data));
}

/* ---- making -------------------------------------------------------------------------------- */

/* What rank 0 tells the others; all 0: no. */
struct offer {
    struct fm_segment_address address;
    uint64_t stride;
};

static bool is_worthwhile(const struct fm_comm *comm)
{
    return fm_progress_is_crowded(comm->ch) || (uint64_t)comm->size <= counters->spread;
}

static bool are_near(const struct fm_comm *comm)
{
    const struct fm_channel *ch = comm->ch;

    for (int r = 0; r < comm->size; r++) {
        if (!ch->is_near || !ch->is_near(ch->resolve_ctx, fm_comm_proc(comm, r))) {
            return false;
        }
    }
    return true;
}

static uint64_t stride_for(const struct fm_comm *comm)
{
    uint64_t most = counters->max + offsetof(struct fm_node_line, data) + FM_CACHE_LINE - 1;
    uint64_t room = counters->memory / FM_NODE_CELLS / ((uint64_t)comm->size + 1);

    most = most < room ? most : room;
    most = most / FM_CACHE_LINE * FM_CACHE_LINE;
    return most < FM_CACHE_LINE ? FM_CACHE_LINE : most;
}

static struct offer offer_one(const struct fm_comm *comm, bool is_wanted, struct fm_node *node)
{
    struct offer offer = {.stride = stride_for(comm)};

    if ((!is_wanted && !is_worthwhile(comm)) || counters->n_live.now >= counters->max_comms ||
        !are_near(comm) ||
        fm_segment_create(fm_node_len((uint32_t)comm->size, offer.stride), &node->segment) != 0) {
        return (struct offer){.stride = 0};
    }
    offer.address = fm_segment_address(&node->segment);
    return offer;
}

/* Here, too? */
static bool accept_one(const struct fm_comm *comm, const struct offer *offer, struct fm_node *node)
{
    return node && counters->n_live.now < counters->max_comms &&
           offer->address.len == fm_node_len((uint32_t)comm->size, offer->stride) &&
           fm_segment_attach(&offer->address, &node->segment) == 0;
}

static int by_messages(const struct fm_coll *c, fm_algo_fn algo)
{
    struct fm_sched s;

    fm_sched_init(&s, c->comm, true);
    algo(&s, c);
    return fm_sched_finish(&s);
}

/* Rank 0 offers, all accept or none has it. 1: they have; 0; a failure of the messages. */
static int agree(struct fm_comm *comm, struct offer *offer, struct fm_node *node)
{
    struct fm_coll tell = {
        .kind = FM_COLL_BCAST,
        .comm = comm,
        .recv = {.buf = offer, .count = sizeof(*offer), .dtype = fm_dtype_byte()}};
    int is_there = 0;
    struct fm_coll ask = {.kind = FM_COLL_ALLREDUCE,
                          .comm = comm,
                          .send = {.buf = MPI_IN_PLACE},
                          .recv = {.buf = &is_there, .count = 1, .dtype = fm_dtype_get(MPI_INT)},
                          .op = fm_op_get(MPI_MIN)};
    int rc = by_messages(&tell, fm_algo_bcast_binomial);

    if (rc != 0 || offer->stride == 0) {
        return rc;
    }
    is_there = comm->rank == 0 || accept_one(comm, offer, node);
    rc = by_messages(&ask, fm_algo_allreduce_doubling);
    return rc ? rc : is_there;
}

static void drop(void *state)
{
    struct fm_node *node = state;

    FM_STAT(fathom_level_add(&counters->bytes, -(int64_t)node->segment.len));
    fathom_level_add(&counters->n_live, -1);
    fm_segment_finish(&node->segment);
    free(node);
}

static int make(struct fm_comm *comm, bool is_wanted)
{
    struct fm_node *node = calloc(1, sizeof(*node));
    struct offer offer = {.stride = 0};
    int rc;

    if (comm->rank == 0 && node) {
        offer = offer_one(comm, is_wanted, node);
    }
    rc = agree(comm, &offer, node);
    if (rc != 1) {
        FM_STAT(counters->n_refused += rc == 0);
        if (node) {
            fm_segment_finish(&node->segment);
        }
        free(node);
        return rc;
    }
    fm_segment_hide(&node->segment);
    node->view = fm_node_view(node->segment.base, (uint32_t)comm->size, offer.stride);
    node->comm = comm;
    comm->parts[FM_COMM_COLL] = (struct fm_comm_part){.state = node, .drop = drop};
    fathom_level_add(&counters->n_live, 1);
    FM_STAT(fathom_level_add(&counters->bytes, (int64_t)node->segment.len));
    FM_STAT(counters->n_made++);
    return 0;
}

int fm_node_find(struct fm_comm *comm, bool is_wanted, struct fm_node **out_node)
{
    enum fm_comm_node mode = fm_comm_node_mode(comm);
    struct fm_comm_part *part = &comm->parts[FM_COMM_COLL];
    int rc = 0;

    is_wanted |= mode == FM_COMM_NODE_ALWAYS;
    if (mode == FM_COMM_NODE_NEVER || comm->is_inter || comm->base || comm->size < 2) {
        return 0;
    }
    if (!part->state && (is_wanted || comm->coll_seq >= counters->after)) {
        part->state = (void *)&refused;
        rc = make(comm, is_wanted);
    }
    *out_node = part->state == &refused ? NULL : part->state;
    return rc;
}

/* ---- waiting ------------------------------------------------------------------------------- */

struct waiting {
    struct fm_node *node;
    uint32_t n; /* the call */
};

static void nudge(struct fm_node *node)
{
    const struct fm_comm *comm = node->comm;

    for (int r = 0; r < comm->size; r++) {
        if (r != comm->rank && fm_node_take_dozer(&node->view, (uint32_t)r)) {
            FM_STAT(counters->n_nudges++);
            fm_peer_wake(comm->ch, fm_comm_proc(comm, r));
        }
    }
}

static void publish(struct fm_node *node, uint32_t n)
{
    if (FM_UNLIKELY(fm_node_publish(&node->view, n))) {
        nudge(node);
    }
}

/* Nobody shall wait any more, here or elsewhere. */
FM_COLD static void break_up(struct fm_node *node)
{
    atomic_store_explicit(&node->view.head->broken, 1, memory_order_release);
    fm_sync_fence(); /* as in fm_node_publish() */
    nudge(node);
}

static bool is_broken(const struct fm_node *node)
{
    return atomic_load_explicit(&node->view.head->broken, memory_order_acquire) != 0;
}

static bool is_over(void *ctx)
{
    const struct waiting *w = ctx;

    return fm_node_is_done(&w->node->view, w->n) || is_broken(w->node);
}

static void look_for_lost(struct fm_node *node)
{
    const struct fm_comm *comm = node->comm;

    for (int r = 0; r < comm->size && !node->is_lost; r++) {
        node->is_lost = fm_peer_of(comm->ch, fm_comm_proc(comm, r))->is_gone;
    }
    if (node->is_lost) {
        break_up(node);
    }
}

static void doze(void *ctx, bool is_sleeping)
{
    const struct waiting *w = ctx;

    if (is_sleeping) {
        look_for_lost(w->node);
        FM_STAT(counters->n_dozes++);
    }
    fm_node_doze(&w->node->view, (uint32_t)w->node->comm->rank, is_sleeping);
}

FM_COLD static int broken(const struct fm_node *node)
{
    return node->is_lost
               ? fm_fail(-FM_E_PEER, "a process of the communicator has ended")
               : fm_fail(-FM_E_PEER, "a process of the communicator has ended, or has called "
                                     "another collective than the others");
}

FM_COLD static int mismatch(struct fm_node *node, bool is_other_call)
{
    if (is_other_call) {
        break_up(node);
        return fm_fail(-FM_E_INVAL, "the ranks of the communicator have called different "
                                    "collectives, or with different roots");
    }
    return fm_fail(-FM_E_TRUNCATE, "the ranks of the communicator have called the collective with "
                                   "different lengths");
}

/* ---- a call -------------------------------------------------------------------------------- */

/* The low 32 bits are the length. */
static uint64_t stamp_of(const struct fm_coll *c, MPI_Count len)
{
    return (uint64_t)c->kind << 56 | (uint64_t)(uint32_t)c->root << 32 | (uint64_t)len;
}

static bool is_other_call(uint64_t a, uint64_t b)
{
    return (a ^ b) >> 32 != 0;
}

/* The result is there: is it of the call that we have made? */
static int check(struct fm_node *node, const struct fm_node_line *result, uint64_t stamp)
{
    if (FM_UNLIKELY(result->stamp != stamp)) {
        return mismatch(node, is_other_call(result->stamp, stamp));
    }
    if (FM_UNLIKELY(result->error)) {
        return result->error == -FM_E_NOMEM
                   ? fm_fail(-FM_E_NOMEM, "no memory to combine the contributions")
                   : mismatch(node, result->error == -FM_E_INVAL);
    }
    return 0;
}

static int wait_for(struct fm_node *node, uint32_t n, uint64_t stamp)
{
    struct waiting w = {node, n};
    int rc;

    if (!fm_node_is_done(&node->view, n)) {
        rc = fm_wait_shared(node->comm->ch, is_over, doze, &w);
        if (rc != 0) {
            return rc;
        }
        if (!fm_node_is_done(&node->view, n)) {
            return broken(node);
        }
    }
    return check(node, fm_node_result(&node->view, n), stamp);
}

/* All ranks have called the same? 0 or -FM_E... for the result. */
static int compare(const struct fm_node_view *v, uint32_t n, uint64_t stamp)
{
    int error = 0;

    for (uint32_t r = 0; r < v->size; r++) {
        uint64_t other = fm_node_line_of(v, n, r)->stamp;

        if (FM_UNLIKELY(other != stamp)) {
            if (is_other_call(other, stamp)) {
                return -FM_E_INVAL;
            }
            error = -FM_E_TRUNCATE;
        }
    }
    return error;
}

/* The contributions of a reduction, as they lie in the lines. */
struct parts {
    const struct fm_node_view *view;
    uint32_t n;
    const struct fm_coll *c;
    MPI_Count len;
    struct fm_buf left, right; /* room to unpack two; NULL: the operation takes them as they lie */
};

/* Line b becomes line a op line b. */
static void combine(const struct parts *p, int a, int b)
{
    const void *left = fm_node_line_of(p->view, p->n, (uint32_t)a)->data;
    void *right = fm_node_line_of(p->view, p->n, (uint32_t)b)->data;
    struct fm_dtype *type = p->c->recv.dtype;
    MPI_Count count = p->c->recv.count;

    if (!p->left.buf) {
        fm_op_apply(p->c->op, left, right, count, type);
        return;
    }
    fm_unpack_all(p->left.buf, count, type, left, p->len);
    fm_unpack_all(p->right.buf, count, type, right, p->len);
    fm_op_apply(p->c->op, p->left.buf, p->right.buf, count, type);
    fm_pack_all(right, p->right.buf, count, type);
}

/* As fm_algo_allreduce_doubling() does it; what several ranks made together lies in the line of the
   last of them. Returns the line with the result. */
static int combine_doubling(const struct parts *p)
{
    int size = (int)p->view->size, pof2 = fm_pof2_below(size), n_pairs = size - pof2;

    for (int k = 0; k < n_pairs; k++) {
        combine(p, 2 * k, 2 * k + 1);
    }
    for (int bit = 1; bit < pof2; bit *= 2) {
        for (int k = 2 * bit - 1; k < pof2; k += 2 * bit) {
            int j = k - bit;

            combine(p, j < n_pairs ? 2 * j + 1 : j + n_pairs,
                    k < n_pairs ? 2 * k + 1 : k + n_pairs);
        }
    }
    return size - 1;
}

/* The same for fm_algo_reduce_binomial(). */
static int combine_binomial(const struct parts *p)
{
    int size = (int)p->view->size, top = p->c->op->is_commutative ? p->c->root : 0;

    for (int bit = 1; bit < size; bit *= 2) {
        for (int k = 0; k + bit < size; k += 2 * bit) {
            int last = k + 2 * bit < size ? k + 2 * bit : size;

            combine(p, (k + bit - 1 + top) % size, (last - 1 + top) % size);
        }
    }
    return (size - 1 + top) % size;
}

/* In the order in which messages do it, so that the same arguments give the same bits whichever way
   a call goes (MPI-5.0 6.9.1). */
static int reduce_lines(const struct fm_node_view *v, uint32_t n, const struct fm_coll *c,
                        MPI_Count len)
{
    struct parts p = {.view = v, .n = n, .c = c, .len = len};
    struct fm_dtype *type = c->recv.dtype;
    bool is_unpacked = !type->is_contig || type->true_lb != 0;
    struct fm_sched temps;
    int rc, at;

    fm_sched_init_local(&temps, c->comm);
    if (is_unpacked) {
        p.left = fm_step_temp_typed(&temps, c->recv.count, type);
        p.right = fm_step_temp_typed(&temps, c->recv.count, type);
    }
    rc = temps.rc;
    if (rc == 0) {
        at = c->kind == FM_COLL_REDUCE ? combine_binomial(&p) : combine_doubling(&p);
        memcpy(fm_node_result(v, n)->data, fm_node_line_of(v, n, (uint32_t)at)->data, (size_t)len);
    }
    fm_sched_finish(&temps);
    return rc;
}

/* We are the last one to arrive. */
static void complete(struct fm_node *node, const struct fm_coll *c, uint32_t n, uint64_t stamp,
                     MPI_Count len)
{
    struct fm_node_line *result = fm_node_result(&node->view, n);
    int error = compare(&node->view, n, stamp);

    if (error == 0 && len > 0 && (c->kind == FM_COLL_REDUCE || c->kind == FM_COLL_ALLREDUCE)) {
        error = reduce_lines(&node->view, n, c, len);
    }
    result->error = error;
    result->stamp = stamp;
    publish(node, n);
}

static struct fm_buf own_part(const struct fm_coll *c)
{
    if (c->kind == FM_COLL_ALLGATHER) {
        return c->send.buf == MPI_IN_PLACE ? fm_side_block(&c->recv, c->comm->rank)
                                           : fm_buf_of(c->send.buf, c->send.count, c->send.dtype);
    }
    return fm_coll_contribution(c);
}

static void put(struct fm_node_line *line, uint64_t stamp, struct fm_buf from, MPI_Count len)
{
    line->stamp = stamp;
    if (len > 0) {
        fm_pack_all(line->data, from.buf, from.count, from.dtype);
    }
}

static void take(struct fm_buf to, const struct fm_node_line *line, MPI_Count len)
{
    if (len > 0) {
        fm_unpack_all(to.buf, to.count, to.dtype, line->data, len);
    }
}

static int broadcast(struct fm_node *node, const struct fm_coll *c, uint32_t n, MPI_Count len)
{
    struct fm_node_line *result = fm_node_result(&node->view, n);
    struct fm_buf data = fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype);
    int rc;

    if (c->comm->rank == c->root) {
        result->error = 0;
        put(result, stamp_of(c, len), data, len);
        publish(node, n);
        return 0;
    }
    rc = wait_for(node, n, stamp_of(c, len));
    if (rc == 0) {
        take(data, result, len);
    }
    return rc;
}

static void take_results(struct fm_node *node, const struct fm_coll *c, uint32_t n, MPI_Count len)
{
    if (c->kind != FM_COLL_ALLGATHER) {
        take(fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype), fm_node_result(&node->view, n),
             len);
        return;
    }
    for (int r = 0; r < c->comm->size; r++) {
        if (r != c->comm->rank || c->send.buf != MPI_IN_PLACE) {
            take(fm_side_block(&c->recv, r), fm_node_line_of(&node->view, n, (uint32_t)r), len);
        }
    }
}

/* A call in which all contribute. */
static int gather(struct fm_node *node, const struct fm_coll *c, uint32_t n, MPI_Count len)
{
    struct fm_node_view *v = &node->view;
    bool is_for_all = c->kind != FM_COLL_REDUCE;
    uint64_t stamp = stamp_of(c, len);
    int rc;

    put(fm_node_line_of(v, n, (uint32_t)c->comm->rank), stamp, own_part(c), len);
    if (fm_node_arrive(v, n)) {
        complete(node, c, n, stamp, len);
    }
    if (!is_for_all && c->comm->rank != c->root) {
        return 0;
    }
    rc = wait_for(node, n, stamp);
    if (rc == 0) {
        v->last_all = is_for_all ? n : v->last_all;
        take_results(node, c, n, len);
    }
    return rc;
}

static int call(struct fm_node *node, const struct fm_coll *c, MPI_Count len)
{
    uint32_t n = ++node->view.n;

    /* Who always comes last never waits, and must serve the others all the same. */
    if (n % FM_NODE_CELLS == 0) {
        fm_progress(node->comm->ch);
    }
    return c->kind == FM_COLL_BCAST ? broadcast(node, c, n, len) : gather(node, c, n, len);
}

int fm_node_run(struct fm_node *node, const struct fm_coll *c, MPI_Count len)
{
    bool is_for_all = c->kind != FM_COLL_BCAST && c->kind != FM_COLL_REDUCE;
    int rc = FM_UNLIKELY(is_broken(node)) ? broken(node) : 0;

    if (!is_for_all && fm_node_is_full(&node->view) && rc == 0) {
        rc = call(node, &(struct fm_coll){.kind = FM_COLL_BARRIER, .comm = c->comm}, 0);
    }
    return rc ? rc : call(node, c, len);
}
