/* SPDX-License-Identifier: BSD-3-Clause */
/* Single copy: the exchange of addresses, and the collectives that move data. */
#include "core/coll/coll_direct.h"

#include <string.h>

#include "core/coll/coll_direct_call.h"
#include "core/dtype/pack.h"
#include "core/p2p/direct.h"

/* ---- meetings ------------------------------------------------------------------------------ */

static struct fm_coll_addresses *entry_of(struct fm_coll_shm *shm, uint32_t n, int rank)
{
    return (struct fm_coll_addresses *)(void *)fm_coll_slot_entry(&shm->view, n, (uint32_t)rank)
        ->data;
}

/* All ranks meet, each with its status and, in the first meeting, its addresses. */
static int meet(struct fm_coll_shm *shm, uint64_t stamp, int status,
                const struct fm_coll_addresses *mine, uint32_t *out_n)
{
    uint32_t n = fm_coll_shm_next(shm);
    struct fm_coll_entry *entry = fm_coll_slot_entry(&shm->view, n, (uint32_t)shm->comm->rank);
    int rc;

    entry->stamp = stamp;
    entry->error = status;
    if (mine) {
        *entry_of(shm, n, shm->comm->rank) = *mine;
        *out_n = n;
    }
    fm_coll_shm_arrive(shm, n, stamp, NULL, NULL);
    rc = fm_coll_shm_wait_all(shm, n, stamp);
    if (rc == 0) {
        fm_coll_shm_all_came(shm, n);
    }
    return rc;
}

int fm_coll_direct_meet(struct fm_coll_direct *d, int status)
{
    return meet(d->shm, d->stamp, status, NULL, NULL);
}

int fm_coll_direct_find(struct fm_coll_shm *shm, bool *out_is_possible)
{
    struct fm_comm *comm = shm->comm;
    struct fm_coll_addresses mine = {.send = 1};
    uint32_t n;
    int rc;

    if (shm->direct != FM_COLL_DIRECT_UNKNOWN) {
        *out_is_possible = shm->direct == FM_COLL_DIRECT_POSSIBLE;
        return 0;
    }
    for (int r = 0; r < comm->size; r++) {
        mine.send &= fm_direct_is_possible(comm->ch, fm_comm_proc(comm, r));
    }
    rc = meet(shm, UINT64_C(0xff) << 56, 0, &mine, &n);
    if (rc != 0) {
        return rc;
    }
    shm->direct = FM_COLL_DIRECT_POSSIBLE;
    for (int r = 0; r < comm->size; r++) {
        if (!entry_of(shm, n, r)->send) {
            shm->direct = FM_COLL_DIRECT_IMPOSSIBLE;
        }
    }
    *out_is_possible = shm->direct == FM_COLL_DIRECT_POSSIBLE;
    return 0;
}

/* ---- copies -------------------------------------------------------------------------------- */

static int proc_of(const struct fm_coll_direct *d, int rank)
{
    return fm_comm_proc(d->c->comm, rank);
}

int fm_coll_direct_get(struct fm_coll_direct *d, int rank, void *to, MPI_Count at, MPI_Count len)
{
    if (len <= 0) {
        return 0;
    }
    return fm_direct_get(d->c->comm->ch, proc_of(d, rank), to,
                         entry_of(d->shm, d->n, rank)->send + (uint64_t)at, (size_t)len);
}

int fm_coll_direct_get_result(struct fm_coll_direct *d, int rank, void *to, MPI_Count at,
                              MPI_Count len)
{
    if (len <= 0) {
        return 0;
    }
    return fm_direct_get(d->c->comm->ch, proc_of(d, rank), to,
                         entry_of(d->shm, d->n, rank)->recv + (uint64_t)at, (size_t)len);
}

int fm_coll_direct_put(struct fm_coll_direct *d, int rank, MPI_Count at, const void *from,
                       MPI_Count len)
{
    if (len <= 0) {
        return 0;
    }
    return fm_direct_put(d->c->comm->ch, proc_of(d, rank),
                         entry_of(d->shm, d->n, rank)->recv + (uint64_t)at, from, (size_t)len);
}

/* ---- buffers ------------------------------------------------------------------------------- */

static bool is_flat(const struct fm_dtype *t)
{
    return t->is_contig;
}

static char *flat_of(struct fm_buf b)
{
    return (char *)b.buf + b.dtype->true_lb;
}

/* The bytes of a buffer that is read: the buffer itself, or a packed copy. NULL: out of memory. */
static char *readable(struct fm_coll_direct *d, struct fm_buf b, MPI_Count len)
{
    char *copy;

    if (is_flat(b.dtype) || len == 0) {
        return flat_of(b);
    }
    copy = fm_step_temp(&d->temps, len);
    if (copy) {
        fm_pack_all(copy, b.buf, b.count, b.dtype);
    }
    return copy;
}

/* The bytes of a buffer that is written: the buffer itself, or room for what unpack() puts
   there. */
static char *writable(struct fm_coll_direct *d, struct fm_buf b, MPI_Count len)
{
    return is_flat(b.dtype) || len == 0 ? flat_of(b) : fm_step_temp(&d->temps, len);
}

static void unpack(struct fm_buf to, const char *from, MPI_Count len)
{
    if (!is_flat(to.dtype) && len > 0) {
        fm_unpack_all(to.buf, to.count, to.dtype, from, len);
    }
}

/* All blocks of a side that has one per rank, as one buffer; they are alike and adjacent. */
static struct fm_buf blocks_of(const struct fm_side *side, int size)
{
    return fm_buf_of(side->buf, side->count * size, side->dtype);
}

/* ---- data movement ------------------------------------------------------------------------- */

/* Of `len` bytes the root moves the last 1 / p, and each other rank the rest, so that all are busy
   for the same time. */
static MPI_Count leaf_share(const struct fm_coll_direct *d, MPI_Count len)
{
    return len - len / d->c->comm->size / 64 * 64;
}

static int bcast(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size, rank = c->comm->rank;
    struct fm_buf data = fm_side_whole(&c->recv);
    bool is_root = rank == c->root;
    char *mine = is_root ? readable(d, data, d->len) : writable(d, data, d->len);
    MPI_Count share = leaf_share(d, d->len);
    int rc = fm_coll_direct_begin(d, mine, mine);

    if (rc != 0) {
        return rc;
    }
    if (!is_root) {
        rc = fm_coll_direct_get(d, c->root, mine, 0, share);
    }
    for (int i = 1; is_root && rc == 0 && i < size; i++) {
        rc = fm_coll_direct_put(d, (rank + i) % size, share, mine + share, d->len - share);
    }
    rc = fm_coll_direct_meet(d, rc);
    if (rc == 0 && !is_root) {
        unpack(data, mine, d->len);
    }
    return rc;
}

static int gather(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size, rank = c->comm->rank;
    bool is_root = rank == c->root, is_in_place = c->send.buf == MPI_IN_PLACE;
    struct fm_buf all = blocks_of(&c->recv, size);
    char *to = is_root ? writable(d, all, d->len * size) : NULL;
    char *from = is_in_place ? NULL : readable(d, fm_side_whole(&c->send), d->len);
    MPI_Count share = leaf_share(d, d->len);
    int rc = fm_coll_direct_begin(d, from, to);

    if (rc != 0) {
        return rc;
    }
    if (!is_root) {
        rc = fm_coll_direct_put(d, c->root, rank * d->len, from, share);
    } else if (!is_in_place) {
        memcpy(to + rank * d->len, from, (size_t)d->len);
    } else if (!is_flat(all.dtype)) { /* what is unpacked below is there already */
        struct fm_buf own = fm_side_block(&c->recv, rank);

        fm_pack_all(to + rank * d->len, own.buf, own.count, own.dtype);
    }
    for (int i = 1; is_root && rc == 0 && i < size; i++) {
        int r = (rank + i) % size;

        rc = fm_coll_direct_get(d, r, to + r * d->len + share, share, d->len - share);
    }
    rc = fm_coll_direct_meet(d, rc);
    if (rc == 0 && is_root) {
        unpack(all, to, d->len * size);
    }
    return rc;
}

static int scatter(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size, rank = c->comm->rank;
    bool is_root = rank == c->root, is_in_place = c->recv.buf == MPI_IN_PLACE;
    char *from = is_root ? readable(d, blocks_of(&c->send, size), d->len * size) : NULL;
    char *to = is_in_place ? NULL : writable(d, fm_side_whole(&c->recv), d->len);
    MPI_Count share = leaf_share(d, d->len);
    int rc = fm_coll_direct_begin(d, from, to);

    if (rc != 0) {
        return rc;
    }
    if (!is_root) {
        rc = fm_coll_direct_get(d, c->root, to, rank * d->len, share);
    } else if (!is_in_place) {
        memcpy(to, from + rank * d->len, (size_t)d->len);
    }
    for (int i = 1; is_root && rc == 0 && i < size; i++) {
        int r = (rank + i) % size;

        rc = fm_coll_direct_put(d, r, share, from + r * d->len + share, d->len - share);
    }
    rc = fm_coll_direct_meet(d, rc);
    if (rc == 0 && !is_in_place) {
        unpack(fm_side_whole(&c->recv), to, d->len);
    }
    return rc;
}

/* Each rank reads one block from each other: its own, or the one that is meant for it. */
static int from_each(struct fm_coll_direct *d, const char *own, MPI_Count at)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size, rank = c->comm->rank, rc = 0;

    for (int i = 0; rc == 0 && i < size; i++) {
        int r = (rank + i) % size;
        struct fm_buf block = fm_side_block(&c->recv, r);
        MPI_Count len = fm_dtype_bytes(block.dtype, block.count);
        char *to = writable(d, block, len);

        if (!to && len > 0) {
            rc = d->temps.rc;
        } else if (r != rank) {
            rc = fm_coll_direct_get(d, r, to, at, len);
        } else if (own && len > 0) {
            memcpy(to, own, (size_t)len);
        }
        if (rc == 0 && (r != rank || own)) {
            unpack(block, to, len);
        }
    }
    return fm_coll_direct_meet(d, rc);
}

static int allgather(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    bool is_in_place = c->send.buf == MPI_IN_PLACE;
    struct fm_buf block = fm_side_block(&c->recv, c->comm->rank);
    MPI_Count len = fm_dtype_bytes(block.dtype, block.count);
    char *from = readable(d, is_in_place ? block : fm_side_whole(&c->send), len);
    int rc = fm_coll_direct_begin(d, from, NULL);

    return rc ? rc : from_each(d, is_in_place ? NULL : from, 0);
}

static int alltoall(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size, rank = c->comm->rank;
    char *from = readable(d, blocks_of(&c->send, size), d->len * size);
    int rc = fm_coll_direct_begin(d, from, NULL);

    return rc ? rc : from_each(d, from + rank * d->len, rank * d->len);
}

/* ---- entry --------------------------------------------------------------------------------- */

int fm_coll_direct_begin(struct fm_coll_direct *d, const void *send, const void *recv)
{
    struct fm_coll_addresses mine = {(uintptr_t)send, (uintptr_t)recv};

    return meet(d->shm, d->stamp, d->temps.rc, &mine, &d->n);
}

static int (*const kinds[FM_COLL_COUNT])(struct fm_coll_direct *d) = {
    [FM_COLL_BCAST] = bcast,
    [FM_COLL_REDUCE] = fm_coll_direct_reduce,
    [FM_COLL_ALLREDUCE] = fm_coll_direct_allreduce,
    [FM_COLL_GATHER] = gather,
    [FM_COLL_SCATTER] = scatter,
    [FM_COLL_ALLGATHER] = allgather,
    [FM_COLL_ALLTOALL] = alltoall,
    [FM_COLL_REDUCE_SCATTER] = fm_coll_direct_reduce_scatter,
    [FM_COLL_SCAN] = fm_coll_direct_scan,
    [FM_COLL_EXSCAN] = fm_coll_direct_scan,
};

int fm_coll_direct_run(struct fm_coll_shm *shm, const struct fm_coll *c, MPI_Count len)
{
    struct fm_coll_direct d = {.shm = shm, .c = c, .len = len, .stamp = fm_coll_shm_stamp(c, len)};
    int rc = fm_coll_shm_check(shm);

    if (rc != 0) {
        return rc;
    }
    fm_sched_init_local(&d.temps, c->comm);
    rc = kinds[c->kind](&d);
    d.temps.rc = 0; /* is in rc */
    fm_sched_finish(&d.temps);
    return rc;
}
