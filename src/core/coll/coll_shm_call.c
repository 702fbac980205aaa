/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives through shared memory: each rank packs its contribution into its entry of the
 * call's slot, the last one to arrive combines them, the others unpack the result.
 */
#include <string.h>

#include "core/coll/coll_sched.h"
#include "core/coll/coll_shm.h"
#include "core/coll/coll_shm_sync.h"
#include "core/dtype/pack.h"

MPI_Count fm_coll_shm_max_len(const struct fm_coll_shm *shm)
{
    return (MPI_Count)(shm->view.stride - offsetof(struct fm_coll_entry, data));
}

/* ---- combining ----------------------------------------------------------------------------- */

/* The contributions of a reduction, as they lie in the entries. */
struct parts {
    const struct fm_coll_slots *view;
    uint32_t n;
    const struct fm_coll *c;
    MPI_Count len;
    struct fm_buf left, right; /* room to unpack two; NULL: the operation takes them as they lie */
};

/* Entry b becomes entry a op entry b. */
static void combine(const struct parts *p, int a, int b)
{
    const void *left = fm_coll_slot_entry(p->view, p->n, (uint32_t)a)->data;
    void *right = fm_coll_slot_entry(p->view, p->n, (uint32_t)b)->data;
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

/* As fm_algo_allreduce_doubling() does it; what several ranks made together lies in the entry
   of the last of them. Returns the entry with the result. */
static int combine_doubling(const struct parts *p)
{
    int size = (int)p->view->size, pof2 = fm_coll_pof2_below(size), n_pairs = size - pof2;

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

/* A call in which the ranks contribute. */
struct call {
    const struct fm_coll *c;
    MPI_Count len;
};

/* In the order in which messages do it, so that the same arguments give the same bits whichever way
   a call goes (MPI-5.0 6.9.1). */
static int reduce_entries(struct fm_coll_shm *shm, uint32_t n, void *ctx)
{
    const struct call *call = ctx;
    const struct fm_coll *c = call->c;
    struct parts p = {.view = &shm->view, .n = n, .c = c, .len = call->len};
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
        memcpy(fm_coll_slot_result(p.view, n)->data,
               fm_coll_slot_entry(p.view, n, (uint32_t)at)->data, (size_t)p.len);
    }
    fm_sched_finish(&temps);
    return rc;
}

/* ---- calls --------------------------------------------------------------------------------- */

static struct fm_buf own_part(const struct fm_coll *c)
{
    if (c->kind == FM_COLL_ALLGATHER) {
        return c->send.buf == MPI_IN_PLACE ? fm_side_block(&c->recv, c->comm->rank)
                                           : fm_side_whole(&c->send);
    }
    return fm_coll_contribution(c);
}

static void put(struct fm_coll_entry *entry, struct fm_buf from, MPI_Count len)
{
    if (len > 0) {
        fm_pack_all(entry->data, from.buf, from.count, from.dtype);
    }
}

static void take(struct fm_buf to, const struct fm_coll_entry *entry, MPI_Count len)
{
    if (len > 0) {
        fm_unpack_all(to.buf, to.count, to.dtype, entry->data, len);
    }
}

static int broadcast(struct fm_coll_shm *shm, const struct fm_coll *c, uint32_t n, MPI_Count len)
{
    struct fm_coll_entry *result = fm_coll_slot_result(&shm->view, n);
    uint64_t stamp = fm_coll_shm_stamp(c, len);
    int rc;

    if (c->comm->rank == c->root) {
        put(result, fm_side_whole(&c->recv), len);
        fm_coll_shm_publish(shm, n, stamp);
        return 0;
    }
    rc = fm_coll_shm_wait(shm, n, stamp);
    if (rc == 0) {
        take(fm_side_whole(&c->recv), result, len);
    }
    return rc;
}

static void take_results(struct fm_coll_shm *shm, const struct fm_coll *c, uint32_t n,
                         MPI_Count len)
{
    if (c->kind != FM_COLL_ALLGATHER) {
        take(fm_side_whole(&c->recv), fm_coll_slot_result(&shm->view, n), len);
        return;
    }
    for (int r = 0; r < c->comm->size; r++) {
        if (r != c->comm->rank || c->send.buf != MPI_IN_PLACE) {
            take(fm_side_block(&c->recv, r), fm_coll_slot_entry(&shm->view, n, (uint32_t)r), len);
        }
    }
}

/* A call in which all contribute. */
static int gather(struct fm_coll_shm *shm, const struct fm_coll *c, uint32_t n, MPI_Count len)
{
    bool is_reduction = c->kind == FM_COLL_REDUCE || c->kind == FM_COLL_ALLREDUCE;
    bool is_for_all = c->kind != FM_COLL_REDUCE;
    struct fm_coll_entry *entry = fm_coll_slot_entry(&shm->view, n, (uint32_t)c->comm->rank);
    uint64_t stamp = fm_coll_shm_stamp(c, len);
    int rc;

    entry->stamp = stamp;
    entry->error = 0;
    put(entry, own_part(c), len);
    fm_coll_shm_arrive(shm, n, stamp, is_reduction && len > 0 ? reduce_entries : NULL,
                       &(struct call){c, len});
    if (!is_for_all && c->comm->rank != c->root) {
        return 0;
    }
    rc = fm_coll_shm_wait(shm, n, stamp);
    if (rc == 0) {
        if (is_for_all) {
            fm_coll_shm_all_came(shm, n);
        }
        take_results(shm, c, n, len);
    }
    return rc;
}

static int call(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len)
{
    uint32_t n = fm_coll_shm_next(shm);

    return c->kind == FM_COLL_BCAST ? broadcast(shm, c, n, len) : gather(shm, c, n, len);
}

int fm_coll_shm_run(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len)
{
    bool is_for_all = c->kind != FM_COLL_BCAST && c->kind != FM_COLL_REDUCE;
    int rc = fm_coll_shm_check(shm);

    len = c->kind == FM_COLL_ALLGATHER ? len / c->comm->size : len;
    if (!is_for_all && fm_coll_slots_are_full(&shm->view) && rc == 0) {
        rc = call(shm, &(struct fm_coll){.kind = FM_COLL_BARRIER, .comm = c->comm}, 0);
    }
    return rc ? rc : call(shm, c, len);
}
