/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives through shared memory. Each rank packs its contribution into its entry of the
 * call's slot; the last one to arrive combines the entries of a reduction; the others unpack the
 * result, or their parts of the entries. In a broadcast or scatter the root alone writes.
 */
#include <string.h>

#include "core/coll/coll_combine.h"
#include "core/coll/coll_sched.h"
#include "core/coll/coll_shm.h"
#include "core/coll/coll_shm_sync.h"
#include "core/dtype/pack.h"

MPI_Count fm_coll_shm_max_len(const struct fm_coll_shm *shm)
{
    return (MPI_Count)(shm->view.stride - offsetof(struct fm_coll_entry, data));
}

/* A call in progress. */
struct call {
    struct fm_coll_shm *shm;
    const struct fm_coll *c;
    MPI_Count len; /* of a contribution */
    uint64_t stamp;
    uint32_t n;
};

static char *data_of(const struct call *k, int rank)
{
    return fm_coll_slot_entry(&k->shm->view, k->n, (uint32_t)rank)->data;
}

static char *result_of(const struct call *k)
{
    return fm_coll_slot_result(&k->shm->view, k->n)->data;
}

/* ---- combining ----------------------------------------------------------------------------- */

/* Room for what fm_coll_combine_...() wants; false: out of memory. */
static bool prepare(struct call *k, struct fm_coll_operands *o, struct fm_sched *temps)
{
    struct fm_dtype *type = k->c->recv.dtype;

    *o = (struct fm_coll_operands){.size = k->c->comm->size,
                                   .op = k->c->op,
                                   .count = k->len / (type->size ? type->size : 1),
                                   .dtype = type,
                                   .packed_len = k->len};
    o->at = fm_step_temp(temps, o->size * (MPI_Count)sizeof(*o->at));
    if (!type->is_contig || type->true_lb != 0) {
        o->left = fm_step_temp_typed(temps, o->count, type);
        o->right = fm_step_temp_typed(temps, o->count, type);
    }
    for (int r = 0; temps->rc == 0 && r < o->size; r++) {
        o->at[r] = data_of(k, r);
    }
    return temps->rc == 0;
}

/* In the last rank to arrive. */
static int combine(struct fm_coll_shm *shm, uint32_t n, void *ctx)
{
    struct call *k = ctx;
    struct fm_coll_operands o;
    struct fm_sched temps;
    int rc;

    fm_sched_init_local(&temps, k->c->comm);
    if (prepare(k, &o, &temps)) {
        if (k->c->kind == FM_COLL_SCAN || k->c->kind == FM_COLL_EXSCAN) {
            fm_coll_combine_prefixes(&o);
        } else {
            fm_coll_combine_all(&o);
            memcpy(result_of(k), o.at[o.size - 1], (size_t)k->len);
        }
    }
    rc = temps.rc;
    fm_sched_finish(&temps);
    return rc;
}

/* ---- contributions and results ------------------------------------------------------------- */

static char *pack(char *to, struct fm_buf from)
{
    MPI_Count len = fm_dtype_bytes(from.dtype, from.count);

    if (len > 0) {
        fm_pack_all(to, from.buf, from.count, from.dtype);
    }
    return to + len;
}

/* Returns the bytes taken. */
static MPI_Count unpack(struct fm_buf to, const char *from)
{
    MPI_Count len = fm_dtype_bytes(to.dtype, to.count);

    if (len > 0) {
        fm_unpack_all(to.buf, to.count, to.dtype, from, len);
    }
    return len;
}

/* The side that has the block of each rank, of which this rank contributes its own or all. */
static const struct fm_side *own_side(const struct fm_coll *c)
{
    return c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send;
}

static void contribute(const struct call *k)
{
    const struct fm_coll *c = k->c;
    int rank = c->comm->rank;
    char *to = data_of(k, rank);

    switch (c->kind) {
    case FM_COLL_BARRIER:
        return;
    case FM_COLL_GATHER:
        if (c->send.buf != MPI_IN_PLACE) { /* else the block is where it belongs, at the root */
            pack(to, fm_side_whole(&c->send));
        }
        return;
    case FM_COLL_ALLGATHER:
        pack(to,
             c->send.buf == MPI_IN_PLACE ? fm_side_block(&c->recv, rank) : fm_side_whole(&c->send));
        return;
    case FM_COLL_ALLTOALL:
        for (int r = 0; r < c->comm->size; r++) {
            to = pack(to, fm_side_block(own_side(c), r));
        }
        return;
    default:
        if (k->len > 0) {
            fm_pack_all(to, fm_coll_contribution(c).buf, k->len / c->recv.dtype->size,
                        c->recv.dtype);
        }
    }
}

static void take_blocks(const struct call *k)
{
    const struct fm_coll *c = k->c;
    int rank = c->comm->rank;

    for (int r = 0; r < c->comm->size; r++) {
        struct fm_buf to = fm_side_block(&c->recv, r);
        MPI_Count at = c->kind == FM_COLL_ALLTOALL ? k->len / c->comm->size * rank : 0;

        if (r != rank || c->send.buf != MPI_IN_PLACE) {
            unpack(to, data_of(k, r) + at);
        }
    }
}

static void take_own_block(const struct call *k)
{
    const struct fm_coll *c = k->c;
    MPI_Count at = 0;

    for (int r = 0; r < c->comm->rank; r++) {
        at += fm_dtype_bytes(c->recv.dtype, fm_side_count(&c->recv, r));
    }
    unpack(fm_buf_of(c->recv.buf, fm_side_count(&c->recv, c->comm->rank), c->recv.dtype),
           result_of(k) + at);
}

static void take_results(const struct call *k)
{
    const struct fm_coll *c = k->c;
    int rank = c->comm->rank;

    switch (c->kind) {
    case FM_COLL_BARRIER:
        return;
    case FM_COLL_GATHER:
    case FM_COLL_ALLGATHER:
    case FM_COLL_ALLTOALL:
        take_blocks(k);
        return;
    case FM_COLL_REDUCE_SCATTER:
        take_own_block(k);
        return;
    case FM_COLL_SCAN:
        unpack(fm_side_whole(&c->recv), data_of(k, rank));
        return;
    case FM_COLL_EXSCAN: /* the result of rank 0 is undefined: its buffer is left alone (6.11.2) */
        if (rank > 0) {
            unpack(fm_side_whole(&c->recv), data_of(k, rank - 1));
        }
        return;
    default:
        unpack(fm_side_whole(&c->recv), result_of(k));
    }
}

/* ---- calls --------------------------------------------------------------------------------- */

/* A broadcast or scatter: all others wait for the root. */
static int from_root(struct call *k)
{
    const struct fm_coll *c = k->c;
    bool is_bcast = c->kind == FM_COLL_BCAST;
    int rank = c->comm->rank, rc;

    if (rank != c->root) {
        rc = fm_coll_shm_wait(k->shm, k->n, k->stamp);
        if (rc == 0) {
            unpack(fm_side_whole(&c->recv), is_bcast ? result_of(k) : data_of(k, rank));
        }
        return rc;
    }
    if (is_bcast) {
        pack(result_of(k), fm_side_whole(&c->recv));
    }
    for (int r = 0; !is_bcast && r < c->comm->size; r++) {
        if (r != rank || c->recv.buf != MPI_IN_PLACE) {
            pack(data_of(k, r), fm_side_block(&c->send, r));
        }
    }
    fm_coll_shm_publish(k->shm, k->n, k->stamp);
    if (!is_bcast && c->recv.buf != MPI_IN_PLACE) {
        unpack(fm_side_whole(&c->recv), data_of(k, rank));
    }
    return 0;
}

static bool is_for_all(const struct fm_coll *c)
{
    return c->kind != FM_COLL_BCAST && c->kind != FM_COLL_SCATTER && c->kind != FM_COLL_REDUCE &&
           c->kind != FM_COLL_GATHER;
}

/* A call in which all contribute; if there is a root, only the root waits. */
static int from_all(struct call *k)
{
    const struct fm_coll *c = k->c;
    struct fm_coll_entry *entry = fm_coll_slot_entry(&k->shm->view, k->n, (uint32_t)c->comm->rank);
    int rc;

    entry->stamp = k->stamp;
    entry->error = 0;
    contribute(k);
    fm_coll_shm_arrive(k->shm, k->n, k->stamp,
                       k->len > 0 && fm_coll_is_reduction(c->kind) ? combine : NULL, k);
    if (!is_for_all(c) && c->comm->rank != c->root) {
        return 0;
    }
    rc = fm_coll_shm_wait(k->shm, k->n, k->stamp);
    if (rc == 0) {
        if (is_for_all(c)) {
            fm_coll_shm_all_came(k->shm, k->n);
        }
        take_results(k);
    }
    return rc;
}

static int run(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len)
{
    struct call k = {.shm = shm,
                     .c = c,
                     .len = len,
                     .stamp = fm_coll_shm_stamp(c, len),
                     .n = fm_coll_shm_next(shm)};

    return c->kind == FM_COLL_BCAST || c->kind == FM_COLL_SCATTER ? from_root(&k) : from_all(&k);
}

int fm_coll_shm_run(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len)
{
    int rc = fm_coll_shm_check(shm);

    len = fm_coll_contribution_len(c, len);
    if (!is_for_all(c) && fm_coll_slots_are_full(&shm->view) && rc == 0) {
        rc = run(shm, &(struct fm_coll){.kind = FM_COLL_BARRIER, .comm = c->comm}, 0);
    }
    return rc ? rc : run(shm, c, len);
}
