/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates: element-wise atomic updates under the locks of stripes (MPI-5.0 12.3.4, 12.7.1). */
#include "core/rma/rma_acc.h"

#include <sched.h>
#include <string.h>

#include "core/dtype/op_kernels.h"
#include "core/p2p/channel.h"
#include "core/rma/rma_copy.h"
#include "core/rma/win_vars.h"

/* The longest element: a pair of a long double and an index. */
#define MAX_ELEM 48
/* Packed bytes that are met at a time by single copy. */
#define CHUNK FM_WIN_STRIPE_BYTES

/* ---- stripes ---- */

#define SPINS      64    /* before the processor is given away */
#define ASK_YIELDS 10000 /* and before asking whether the owner still lives */

/* The owner has ended amid an update: its lock goes to the next one. */
static bool take_over(const struct fm_win *w, struct fm_win_stripe *s, uint32_t owner)
{
    const struct fm_channel *ch = w->comm->ch;
    int proc = fm_comm_proc(w->comm, (int)owner - 1);

    if (proc == ch->self || !ch->is_gone || !ch->is_gone(ch->resolve_ctx, proc)) {
        return false;
    }
    return atomic_compare_exchange_strong_explicit(&s->owner, &owner, (uint32_t)w->comm->rank + 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

/* Another process holds it, for the time of one update. */
FM_COLD static void lock_contended(const struct fm_win *w, struct fm_win_stripe *s)
{
    FM_STAT(fm_rma_counters->n_stripe_conflicts++);
    for (unsigned k = 1; !fm_win_stripe_try(s, w->comm->rank); k++) {
        uint32_t owner = atomic_load_explicit(&s->owner, memory_order_relaxed);

        if (k % SPINS != 0) {
            fm_cpu_relax();
            continue;
        }
        if (k % (SPINS * ASK_YIELDS) == 0 && owner != 0 && take_over(w, s, owner)) {
            return;
        }
        sched_yield();
    }
}

static FM_INLINE void lock(const struct fm_win *w, struct fm_win_stripe *s)
{
    if (FM_UNLIKELY(!fm_win_stripe_try(s, w->comm->rank))) {
        lock_contended(w, s);
    }
}

/* ---- elements ---- */

/* One pair, whose members may lie apart in the window. */
static void update_pair(const struct fm_acc *a, const struct fm_acc_run *run, char *at)
{
    char in[MAX_ELEM] FM_ALIGNED(16);

    if (run->out) {
        fm_pack_all(run->out, at, 1, a->elem);
    }
    if (a->op->id == FM_OP_NO_OP) {
        return;
    }
    if (a->op->id == FM_OP_REPLACE) {
        fm_unpack_all(at, 1, a->elem, run->in, a->elem->size);
        return;
    }
    fm_unpack_all(in, 1, a->elem, run->in, a->elem->size);
    fm_op_apply(a->op, in, at, 1, (struct fm_dtype *)a->elem);
}

static void swap_if_equal(const struct fm_acc *a, const struct fm_acc_run *run, char *at)
{
    size_t len = (size_t)a->elem->size;

    memcpy(run->out, at, len);
    if (memcmp(at, a->compare, len) == 0) {
        memcpy(at, run->in, len);
    }
}

/* The elements of a run lie at `at`; their stripe is locked. */
static void update(const struct fm_acc *a, const struct fm_acc_run *run, char *at)
{
    size_t len = run->n * (size_t)a->elem->size;

    if (FM_UNLIKELY(a->elem->pair)) {
        update_pair(a, run, at);
        return;
    }
    if (!a->op) {
        swap_if_equal(a, run, at);
        return;
    }
    if (run->out) {
        memcpy(run->out, at, len);
    }
    if (a->op->id == FM_OP_REPLACE) {
        memcpy(at, run->in, len);
    } else if (a->op->id != FM_OP_NO_OP) {
        fm_op_apply(a->op, run->in, at, (MPI_Count)run->n, (struct fm_dtype *)a->elem);
    }
}

/* Of n elements from `at` on, those whose first bytes are all in one stripe. */
static FM_INLINE size_t n_in_stripe(size_t n, uint64_t at, size_t elem_len)
{
    size_t most;

    if (FM_LIKELY(n == 1)) {
        return 1; /* no division */
    }
    most = (FM_WIN_STRIPE_BYTES - at % FM_WIN_STRIPE_BYTES + elem_len - 1) / elem_len;
    return n < most ? n : most;
}

/* The bytes that the elements take up in the window. */
static size_t span_of(const struct fm_acc *a, size_t n)
{
    return a->elem->pair ? (size_t)a->elem->true_extent : n * (size_t)a->elem->size;
}

/* Read, update, write back. */
static int update_by_copy(struct fm_win *w, struct fm_win_target *t, const struct fm_acc *a,
                          const struct fm_acc_run *run)
{
    char room[CHUNK + MAX_ELEM] FM_ALIGNED(16);
    size_t len = span_of(a, run->n);
    int rc = fm_rma_copy_now(w, t, FM_RMA_GET, run->at, room, len);

    if (rc != 0) {
        return rc;
    }
    update(a, run, room);
    if (a->op && a->op->id == FM_OP_NO_OP) {
        return 0;
    }
    return fm_rma_copy_now(w, t, FM_RMA_PUT, run->at, room, len);
}

int fm_acc_apply(struct fm_win *w, struct fm_win_target *t, const struct fm_acc *a,
                 const struct fm_acc_run *run)
{
    size_t elem_len = (size_t)a->elem->size;
    struct fm_acc_run part = *run;
    size_t left = run->n;
    int rc = 0;

    while (left && rc == 0) {
        struct fm_win_stripe *s = fm_win_stripe_of(t->ctl, part.at);

        part.n = n_in_stripe(left, part.at, elem_len);
        lock(w, s);
        if (FM_LIKELY(t->way == FM_WIN_DIRECT)) {
            update(a, &part, fm_win_at(t, part.at));
        } else {
            rc = update_by_copy(w, t, a, &part);
        }
        fm_win_stripe_unlock(s);
        left -= part.n;
        part.at += part.n * elem_len;
        part.in = part.in ? part.in + part.n * elem_len : NULL;
        part.out = part.out ? part.out + part.n * elem_len : NULL;
    }
    return rc;
}

/* ---- walks ---- */

void fm_acc_walk_begin(struct fm_acc_walk *walk, MPI_Count count, const struct fm_dtype *t)
{
    fm_pack_begin(&walk->pack, NULL, count, t);
    walk->elem = t->elem;
}

/* The pieces of one pair; the value is the first, at the pair's address. */
static size_t next_pair(struct fm_acc_walk *walk, int64_t *out_at)
{
    size_t left = (size_t)walk->elem->size;
    void *at;
    size_t n = fm_pack_piece(&walk->pack, left, &at);

    if (n == 0) {
        return 0;
    }
    *out_at = (int64_t)(intptr_t)at;
    while (left -= n) {
        n = fm_pack_piece(&walk->pack, left, &at);
    }
    return 1;
}

size_t fm_acc_walk_next(struct fm_acc_walk *walk, size_t max, int64_t *out_at)
{
    size_t elem_len = (size_t)walk->elem->size;
    void *at;
    size_t len;

    if (walk->elem->pair) {
        return next_pair(walk, out_at);
    }
    len = fm_pack_piece(&walk->pack, max * elem_len, &at);
    *out_at = (int64_t)(intptr_t)at;
    return len / elem_len;
}
