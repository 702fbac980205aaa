/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce, allreduce, reduce_scatter.
 *
 * All of them keep the order of operands (rank 0 leftmost), so that they serve operations that do
 * not commute: a partial result always covers consecutive ranks, and what is on the left is applied
 * from the left. Since both partners of an exchange apply the same operands in the same
 * order, all ranks of an allreduce get the same bits.
 */
#include "core/coll/coll_algo.h"

struct fm_accu fm_accu_begin(struct fm_sched *s, const struct fm_coll *c)
{
    return (struct fm_accu){.mine = fm_coll_contribution(c),
                            .other = fm_step_temp_typed(s, c->recv.count, c->recv.dtype),
                            .is_borrowed = true};
}

void fm_accu_combine(struct fm_sched *s, struct fm_accu *a, struct fm_op *op, bool other_is_left)
{
    struct fm_buf swap = a->mine;

    if (a->is_borrowed) {
        swap = fm_step_temp_typed(s, a->mine.count, a->mine.dtype);
        a->is_borrowed = false;
        if (other_is_left) {
            fm_step_copy(s, swap, a->mine);
            a->mine = swap;
        }
    }
    if (other_is_left) {
        fm_step_apply(s, op, a->other.buf, a->mine);
        return;
    }
    fm_step_apply(s, op, a->mine.buf, a->other);
    a->mine = a->other;
    a->other = swap;
}

static struct fm_buf result_of(const struct fm_coll *c)
{
    return fm_buf_of(c->recv.buf, c->recv.count, c->recv.dtype);
}

/*
 * The first 2 * (size - pof2) ranks join in pairs, so that pof2 ranks take part in what follows:
 * the odd one of a pair goes on with number rank / 2, the even one gets -1.
 */
static int fold(struct fm_sched *s, const struct fm_coll *c, struct fm_accu *a, int pof2)
{
    int rank = c->comm->rank, n_pairs = c->comm->size - pof2;

    if (rank >= 2 * n_pairs) {
        return rank - n_pairs;
    }
    if (rank % 2 == 0) {
        fm_step_send(s, a->mine, rank + 1);
        fm_step_fence(s);
        return -1;
    }
    fm_step_recv(s, a->other, rank - 1);
    fm_step_fence(s);
    fm_accu_combine(s, a, c->op, true);
    return rank / 2;
}

/* The rank that has a number after fold(). */
static int unfolded(const struct fm_coll *c, int number, int pof2)
{
    int n_pairs = c->comm->size - pof2;

    return number < n_pairs ? 2 * number + 1 : number + n_pairs;
}

/* The rank that has a number in a tree with a certain root: of a pair the root, or the odd
   one. */
static int holder(const struct fm_coll *c, int number, int pof2)
{
    int n_pairs = c->comm->size - pof2;

    return number < n_pairs && c->root / 2 == number ? c->root : unfolded(c, number, pof2);
}

/* The number that has the result of its block of `bit` numbers: the root's if it is one of them. */
static int lead(int number, int bit, int root)
{
    int first = number & ~(bit - 1);

    return (root & ~(bit - 1)) == first ? root : first;
}

/* The tree of allreduce by doubling, in which the ranks that hold the result of a block send it to
   the one that holds the block's neighbor: the same bits for any root. */
void fm_algo_reduce_binomial(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    int pof2 = fm_coll_pof2_below(size), n_pairs = size - pof2;
    int me = rank < 2 * n_pairs ? rank / 2 : rank - n_pairs;
    int top = c->root < 2 * n_pairs ? c->root / 2 : c->root - n_pairs;
    struct fm_accu a = fm_accu_begin(s, c);

    if (me < n_pairs) {
        if (rank != holder(c, me, pof2)) {
            fm_step_send(s, a.mine, rank ^ 1);
            fm_step_fence(s);
            return;
        }
        fm_step_recv(s, a.other, rank ^ 1);
        fm_step_fence(s);
        fm_accu_combine(s, &a, c->op, rank % 2 != 0);
    }
    for (int bit = 1; bit < pof2; bit *= 2) {
        int other = holder(c, lead(me ^ bit, bit, top), pof2);

        if (lead(me, 2 * bit, top) != me) {
            fm_step_send(s, a.mine, other);
            fm_step_fence(s);
            return;
        }
        fm_step_recv(s, a.other, other);
        fm_step_fence(s);
        fm_accu_combine(s, &a, c->op, (me & bit) != 0);
    }
    fm_step_copy(s, result_of(c), a.mine);
}

/* The odd one of each pair sends the result to the even one. */
static void unfold(struct fm_sched *s, const struct fm_coll *c, struct fm_buf result, int pof2)
{
    int rank = c->comm->rank;

    if (rank >= 2 * (c->comm->size - pof2)) {
        return;
    }
    if (rank % 2 == 0) {
        fm_step_recv(s, result, rank + 1);
    } else {
        fm_step_send(s, result, rank - 1);
    }
    fm_step_fence(s);
}

/* log2(p) exchanges of the whole vector: for short ones. */
void fm_algo_allreduce_doubling(struct fm_sched *s, const struct fm_coll *c)
{
    int pof2 = fm_coll_pof2_below(c->comm->size);
    struct fm_accu a = fm_accu_begin(s, c);
    int me = fold(s, c, &a, pof2);

    for (int bit = 1; me >= 0 && bit < pof2; bit *= 2) {
        int other = unfolded(c, me ^ bit, pof2);

        fm_step_exchange(s, a.mine, other, a.other, other);
        fm_accu_combine(s, &a, c->op, (me & bit) != 0);
    }
    if (me >= 0) {
        fm_step_copy(s, result_of(c), a.mine);
        fm_step_fence(s);
        unfold(s, c, a.mine, pof2);
    } else {
        unfold(s, c, result_of(c), pof2);
    }
}

/* A run of elements. */
struct run {
    MPI_Count at, n;
};

static struct run half_of(struct run r, bool upper)
{
    MPI_Count low = r.n - r.n / 2;

    return upper ? (struct run){r.at + low, r.n / 2} : (struct run){r.at, low};
}

static struct fm_buf part(struct fm_buf b, struct run r)
{
    return fm_buf_part(b, r.at, r.n);
}

/*
 * This rank's part in a reduction by halves. The vector is `from` before the first step, then
 * `into`: the result buffer where it may hold partial results, else temporary memory.
 */
struct halves {
    struct fm_buf from, into;
    struct fm_buf arrived; /* room for half of the vector */
    int me, pof2;          /* number after folding, and how many numbers there are */
    int n;                 /* steps made */
    struct run runs[32];   /* what was in hand before each step, and after the last */
};

/* Folds as fold() does, but combines in h->into, and sends the contribution from where it lies. */
static void fold_halves(struct fm_sched *s, const struct fm_coll *c, struct halves *h)
{
    int rank = c->comm->rank, n_pairs = c->comm->size - h->pof2;
    struct fm_buf other;

    if (rank >= 2 * n_pairs) {
        h->me = rank - n_pairs;
        return;
    }
    h->me = rank % 2 ? rank / 2 : -1;
    if (h->me < 0) {
        fm_step_send(s, h->from, rank + 1);
        fm_step_fence(s);
        return;
    }
    other = fm_step_temp_typed(s, c->recv.count, c->recv.dtype);
    fm_step_recv(s, other, rank - 1);
    if (h->from.buf != h->into.buf) {
        fm_step_copy(s, h->into, h->from);
    }
    fm_step_fence(s);
    fm_step_apply(s, c->op, other.buf, h->into);
    h->from = h->into;
}

static void begin_halves(struct fm_sched *s, const struct fm_coll *c, bool has_result,
                         struct halves *h)
{
    bool is_contig = c->recv.dtype->is_contig; /* else its gaps belong to the user */

    *h = (struct halves){.pof2 = fm_coll_pof2_below(c->comm->size)};
    h->from = fm_coll_contribution(c);
    h->into = has_result && is_contig ? result_of(c)
                                      : fm_step_temp_typed(s, c->recv.count, c->recv.dtype);
    h->arrived = fm_step_temp_typed(s, (c->recv.count + 1) / 2, c->recv.dtype);
    fold_halves(s, c, h);
}

/* Exchange a half of what is in hand for the partner's, and combine the half that is kept. */
static void halve_once(struct fm_sched *s, const struct fm_coll *c, struct halves *h,
                       struct run keep, struct run give, int bit)
{
    bool is_first = h->from.buf != h->into.buf, other_is_left = (h->me & bit) != 0;
    int other = unfolded(c, h->me ^ bit, h->pof2);
    struct fm_buf from = part(h->from, keep), into = part(h->into, keep);
    struct fm_buf in = fm_buf_part(h->arrived, 0, keep.n);

    if (is_first && !other_is_left) {
        in = into; /* into = from op what arrives */
    }
    fm_step_recv(s, in, other);
    fm_step_send(s, part(h->from, give), other);
    if (is_first && other_is_left) {
        fm_step_copy(s, into, from);
    }
    fm_step_fence(s);
    if (other_is_left) {
        fm_step_apply(s, c->op, in.buf, into);
        return;
    }
    fm_step_apply(s, c->op, from.buf, in);
    if (!is_first) {
        fm_step_copy(s, into, in);
    }
}

/* Exchange halves with ever farther numbers: afterwards this one holds the whole result for a
   pof2-th of the vector, runs[n] of h->into. */
static void halve(struct fm_sched *s, const struct fm_coll *c, struct halves *h)
{
    struct run r = {0, c->recv.count};

    for (int bit = 1; bit < h->pof2; bit *= 2) {
        bool upper = (h->me & bit) != 0;
        struct run keep = half_of(r, upper);

        h->runs[h->n++] = r;
        halve_once(s, c, h, keep, half_of(r, !upper), bit);
        h->from = h->into;
        r = keep;
    }
    if (h->from.buf != h->into.buf) { /* one rank makes no step */
        fm_step_copy(s, h->into, h->from);
    }
    h->runs[h->n] = r;
}

/* What the partner of step k - 1 holds when this rank holds runs[k]. */
static struct run of_partner(const struct halves *h, int k)
{
    return half_of(h->runs[k - 1], !(h->me & (1 << (k - 1))));
}

/* Halve the vector while reducing, then gather it (Rabenseifner): each rank sends about twice the
   vector, however many ranks there are. For long ones. */
void fm_algo_allreduce_halving(struct fm_sched *s, const struct fm_coll *c)
{
    struct halves h;

    begin_halves(s, c, true, &h);
    if (h.me < 0) {
        unfold(s, c, result_of(c), h.pof2);
        return;
    }
    halve(s, c, &h);
    for (int k = h.n; k > 0; k--) {
        int other = unfolded(c, h.me ^ (1 << (k - 1)), h.pof2);

        fm_step_exchange(s, part(h.into, h.runs[k]), other, part(h.into, of_partner(&h, k)), other);
    }
    if (h.into.buf != result_of(c).buf) {
        fm_step_copy(s, result_of(c), h.into);
    }
    fm_step_fence(s);
    unfold(s, c, h.into, h.pof2);
}

/* The parts go to one number only: of two partners the one that differs from the top sends all that
   it has, and is done. */
static void gather_parts(struct fm_sched *s, const struct fm_coll *c, struct fm_buf whole, int top,
                         const struct halves *h)
{
    for (int k = h->n; k > 0; k--) {
        int bit = 1 << (k - 1);
        int other = unfolded(c, h->me ^ bit, h->pof2);

        if ((h->me ^ top) & bit) {
            fm_step_send(s, part(whole, h->runs[k]), other);
            fm_step_fence(s);
            return;
        }
        fm_step_recv(s, part(whole, of_partner(h, k)), other);
        fm_step_fence(s);
    }
}

void fm_algo_reduce_halving(struct fm_sched *s, const struct fm_coll *c)
{
    int rank = c->comm->rank, n_pairs = c->comm->size - fm_coll_pof2_below(c->comm->size);
    /* A root that is folded away gets the result from its partner. */
    bool root_is_out = c->root < 2 * n_pairs && c->root % 2 == 0;
    int last = root_is_out ? c->root + 1 : c->root;
    struct halves h;

    begin_halves(s, c, rank == c->root, &h);
    if (h.me >= 0) {
        halve(s, c, &h);
        gather_parts(s, c, h.into, last < 2 * n_pairs ? last / 2 : last - n_pairs, &h);
    }
    if (rank == c->root && root_is_out) {
        fm_step_recv(s, result_of(c), last);
    } else if (rank == c->root && h.into.buf != result_of(c).buf) {
        fm_step_copy(s, result_of(c), h.into);
    } else if (rank == last && root_is_out) {
        fm_step_send(s, h.into, c->root);
    }
    fm_step_fence(s);
}

/* The whole vector of a reduce_scatter: its blocks lie one behind the other (MPI-5.0 6.10). */
static MPI_Count before(const struct fm_side *side, int rank)
{
    MPI_Count n = 0;

    for (int i = 0; i < rank; i++) {
        n += fm_side_count(side, i);
    }
    return n;
}

static struct fm_buf own_block(const struct fm_coll *c)
{
    return fm_buf_of(c->recv.buf, fm_side_count(&c->recv, c->comm->rank), c->recv.dtype);
}

/* Reduce to rank 0, which scatters: keeps the order of operands. */
void fm_algo_reduce_scatter_by_reduce(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    MPI_Count total = before(&c->recv, size);
    struct fm_coll reduce = *c;

    reduce.kind = FM_COLL_REDUCE;
    reduce.root = 0;
    reduce.send.buf = fm_coll_contribution(c).buf;
    reduce.recv = (struct fm_side){.count = total, .dtype = c->recv.dtype};
    if (rank == 0) {
        reduce.recv.buf = fm_step_temp_typed(s, total, c->recv.dtype).buf;
    }
    fm_algo_reduce_binomial(s, &reduce);
    if (rank == 0) {
        struct fm_buf whole = fm_buf_of(reduce.recv.buf, total, c->recv.dtype);
        MPI_Count at = fm_side_count(&c->recv, 0);

        for (int i = 1; i < size; i++) {
            fm_step_send(s, fm_buf_part(whole, at, fm_side_count(&c->recv, i)), i);
            at += fm_side_count(&c->recv, i);
        }
        fm_step_copy(s, own_block(c), fm_buf_part(whole, 0, fm_side_count(&c->recv, 0)));
    } else {
        fm_step_recv(s, own_block(c), 0);
    }
    fm_step_fence(s);
}

/* right = left op right, of blocks by rank. */
static void combine_blocks(struct fm_sched *s, const struct fm_coll *c, struct fm_buf all, int left,
                           int right)
{
    MPI_Count n = fm_side_count(&c->recv, c->comm->rank);

    fm_step_apply(s, c->op, fm_buf_part(all, left * n, n).buf, fm_buf_part(all, right * n, n));
}

/* Every rank sends each block straight to its owner, which combines them in the order of
   allreduce by doubling when it has all: for long vectors. */
void fm_algo_reduce_scatter_pairwise(struct fm_sched *s, const struct fm_coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    int pof2 = fm_coll_pof2_below(size), n_pairs = size - pof2;
    MPI_Count n = fm_side_count(&c->recv, rank);
    struct fm_buf vector = fm_coll_contribution(c);
    struct fm_buf all = fm_step_temp_typed(s, n * size, c->recv.dtype);

    vector.count = before(&c->recv, size);
    fm_step_copy(s, fm_buf_part(all, rank * n, n), fm_buf_part(vector, before(&c->recv, rank), n));
    for (int far = 1; far < size; far++) {
        int to = (rank + far) % size, from = (rank - far + size) % size;
        struct fm_buf out = fm_buf_part(vector, before(&c->recv, to), fm_side_count(&c->recv, to));

        fm_step_exchange(s, out, to, fm_buf_part(all, from * n, n), from);
    }
    for (int k = 0; k < n_pairs; k++) {
        combine_blocks(s, c, all, 2 * k, 2 * k + 1);
    }
    for (int bit = 1; bit < pof2; bit *= 2) {
        for (int k = 2 * bit - 1; k < pof2; k += 2 * bit) {
            combine_blocks(s, c, all, unfolded(c, k - bit, pof2), unfolded(c, k, pof2));
        }
    }
    fm_step_copy(s, own_block(c), fm_buf_part(all, (size - 1) * n, n));
}
