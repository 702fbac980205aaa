/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short collectives through shared memory. Each rank packs its contribution into its entry of the
 * call's slot. The root of a reduction combines the entries; if all ranks want the result, the last
 * one to arrive combines them for all, or each rank does it in flat calls. Of other collectives the
 * ranks unpack their parts of the entries. In a broadcast or scatter the root alone writes.
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

static bool is_scan(const struct fm_coll *c)
{
    return c->kind == FM_COLL_SCAN || c->kind == FM_COLL_EXSCAN;
}

/* Does each rank that wants the result of a reduction combine the entries itself? Else the last
   rank to arrive does it for all. */
static bool is_for_each(const struct call *k)
{
    return k->c->kind == FM_COLL_REDUCE || k->shm->view.is_flat;
}

/* ---- combining ----------------------------------------------------------------------------- */

/* `size` operands of len bytes; room to unpack two, where the type has gaps. */
static void prepare(struct call *k, int size, MPI_Count len, struct fm_coll_operands *o,
                    struct fm_sched *temps)
{
    struct fm_dtype *type = k->c->recv.dtype;

    *o = (struct fm_coll_operands){.size = size,
                                   .op = k->c->op,
                                   .count = type->size ? len / type->size : 0,
                                   .dtype = type,
                                   .packed_len = len};
    o->at = fm_step_temp(temps, size * (MPI_Count)sizeof(*o->at));
    if (!type->is_contig || type->true_lb != 0) {
        o->left = fm_step_temp_typed(temps, o->count, type);
        o->right = fm_step_temp_typed(temps, o->count, type);
    }
}

/* In the last rank to arrive. */
static int combine_for_all(struct fm_coll_shm *shm, uint32_t n, void *ctx)
{
    struct call *k = ctx;
    int size = k->c->comm->size, rc;
    struct fm_coll_operands o;
    struct fm_sched temps;

    fm_sched_init_local(&temps, k->c->comm);
    prepare(k, size, k->len, &o, &temps);
    for (int r = 0; temps.rc == 0 && r < size; r++) {
        o.at[r] = data_of(k, r);
    }
    if (temps.rc == 0 && is_scan(k->c)) {
        fm_coll_combine_prefixes(&o);
    } else if (temps.rc == 0) {
        fm_coll_combine_all(&o);
        memcpy(result_of(k), o.at[size - 1], (size_t)k->len);
    }
    rc = temps.rc;
    fm_sched_finish(&temps);
    return rc;
}

/* Copies of the first `size` entries, from `at` bytes on: the last one at `last`, the others in
   `room`. Operands that are only read stay where they are. */
static void copy_operands(const struct call *k, struct fm_coll_operands *o, MPI_Count at,
                          char *last, char *room)
{
    for (int r = 0; r < o->size; r++) {
        bool is_read = is_scan(k->c) ? r == 0 : fm_coll_combine_reads(o->size, r);
        char *entry = data_of(k, r) + at;

        if (r == o->size - 1) {
            o->at[r] = last;
        } else {
            o->at[r] = is_read ? entry : room;
            room += is_read ? 0 : o->packed_len;
        }
        if (o->at[r] != entry) {
            memcpy(o->at[r], entry, (size_t)o->packed_len);
        }
    }
}

/* This rank combines what it wants, `to`: all of the vector, or its block of it, `at` bytes on. */
static int combine_here(struct call *k, struct fm_buf to, MPI_Count at)
{
    const struct fm_coll *c = k->c;
    int size = c->kind == FM_COLL_SCAN     ? c->comm->rank + 1
               : c->kind == FM_COLL_EXSCAN ? c->comm->rank
                                           : c->comm->size;
    MPI_Count len = fm_dtype_bytes(to.dtype, to.count);
    struct fm_coll_operands o;
    struct fm_sched temps;
    char *room, *last;
    int rc;

    fm_sched_init_local(&temps, c->comm);
    prepare(k, size, len, &o, &temps);
    last = o.left.buf ? fm_step_temp(&temps, len) : to.buf;
    room = fm_step_temp(&temps, (size - 1) * len);
    if (temps.rc == 0) {
        copy_operands(k, &o, at, last, room);
        if (is_scan(c)) {
            fm_coll_combine_prefixes(&o);
        } else {
            fm_coll_combine_all(&o);
        }
        if (o.left.buf) {
            fm_unpack_all(to.buf, to.count, to.dtype, last, len);
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

/* This rank's block of a vector, and where it begins. */
static struct fm_buf own_block(const struct fm_coll *c, MPI_Count *out_at)
{
    *out_at = 0;
    for (int r = 0; r < c->comm->rank; r++) {
        *out_at += fm_dtype_bytes(c->recv.dtype, fm_side_count(&c->recv, r));
    }
    return fm_buf_of(c->recv.buf, fm_side_count(&c->recv, c->comm->rank), c->recv.dtype);
}

static int take_reduction(struct call *k)
{
    const struct fm_coll *c = k->c;
    int rank = c->comm->rank;
    struct fm_buf to = fm_side_whole(&c->recv);
    MPI_Count at = 0;
    const char *from;

    if (c->kind == FM_COLL_EXSCAN && rank == 0) {
        return 0; /* the result is undefined: its buffer is left alone (MPI-5.0 6.11.2) */
    }
    if (c->kind == FM_COLL_REDUCE_SCATTER) {
        to = own_block(c, &at);
    }
    if (is_for_each(k)) {
        return to.count > 0 ? combine_here(k, to, at) : 0;
    }
    from = is_scan(c) ? data_of(k, c->kind == FM_COLL_SCAN ? rank : rank - 1) : result_of(k);
    unpack(to, from + at);
    return 0;
}

static int take_results(struct call *k)
{
    if (fm_coll_is_reduction(k->c->kind)) {
        return take_reduction(k);
    }
    if (k->c->kind != FM_COLL_BARRIER) {
        take_blocks(k);
    }
    return 0;
}

/* ---- calls --------------------------------------------------------------------------------- */

/* A broadcast or scatter: all others wait for the root. */
static int from_root(struct call *k)
{
    const struct fm_coll *c = k->c;
    bool is_bcast = c->kind == FM_COLL_BCAST;
    int rank = c->comm->rank, rc;

    if (rank != c->root) {
        rc = fm_coll_shm_wait_root(k->shm, k->n, k->stamp);
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
    bool is_combined = k->len > 0 && fm_coll_is_reduction(c->kind) && !is_for_each(k);
    int rc;

    entry->stamp = k->stamp;
    entry->error = 0;
    contribute(k);
    fm_coll_shm_arrive(k->shm, k->n, k->stamp, is_combined ? combine_for_all : NULL, k);
    if (!is_for_all(c) && c->comm->rank != c->root) {
        return 0;
    }
    rc = fm_coll_shm_wait_all(k->shm, k->n, k->stamp);
    if (rc == 0 && is_for_all(c)) {
        fm_coll_shm_all_came(k->shm, k->n);
    }
    return rc ? rc : take_results(k);
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
