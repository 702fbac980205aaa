/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions by single copy. Each rank combines a slice of the vector: chunk by chunk it reads the
 * operands of all ranks into a buffer that stays in its cache, and sends the result where it
 * belongs.
 */
#include <string.h>

#include "core/coll/coll_combine.h"
#include "core/coll/coll_direct_call.h"

/* Bytes of the buffer: it has to stay in the second-level cache, with the results beside it. */
#define ROOM_LEN  (256 << 10)
#define MIN_CHUNK (4 << 10)
#define MAX_CHUNK (48 << 10)

/* Elements [at, at + n) of the vector. */
struct slice {
    MPI_Count at, n;
};

struct work {
    struct fm_coll_direct *d;
    struct fm_coll_operands o;
    const char *own;    /* this rank's whole contribution */
    MPI_Count unit;     /* bytes of an element */
    MPI_Count chunk;    /* elements */
    char *room;         /* a chunk per rank */
    struct slice slice; /* combined here */
};

static int begin(struct fm_coll_direct *d, struct work *w)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size;
    MPI_Count len = ROOM_LEN / size;

    *w = (struct work){.d = d, .own = fm_coll_contribution(c).buf, .unit = c->recv.dtype->size};
    len = len < MIN_CHUNK ? MIN_CHUNK : len > MAX_CHUNK ? MAX_CHUNK : len;
    w->chunk = len / w->unit;
    w->o = (struct fm_coll_operands){.size = size, .op = c->op, .dtype = c->recv.dtype};
    w->o.at = fm_step_temp(&d->temps, size * (MPI_Count)sizeof(*w->o.at));
    w->room = fm_step_temp(&d->temps, size * w->chunk * w->unit);
    return fm_coll_direct_begin(d, w->own, c->recv.buf);
}

/* Elements before the slice of a rank, when one rank has a slice of `special` units and each other
   one of `normal` units. */
static MPI_Count slice_at(const struct work *w, int rank, int special_rank, int special, int normal)
{
    MPI_Count total = (MPI_Count)normal * (w->o.size - 1) + special;
    MPI_Count before = (MPI_Count)normal * rank + (rank > special_rank ? special - normal : 0);
    MPI_Count count = w->d->c->recv.count;
    MPI_Count at = count / total * before + count % total * before / total;

    return rank == w->o.size ? count : at / 64 * 64; /* whole cache lines */
}

static struct slice slice_of(const struct work *w, int rank, int special_rank, int special,
                             int normal)
{
    MPI_Count at = slice_at(w, rank, special_rank, special, normal);

    return (struct slice){at, slice_at(w, rank + 1, special_rank, special, normal) - at};
}

/* Read operand r of a chunk to `to`; this rank's own may stay where it is if it is only read. */
static int load(struct work *w, int r, struct slice chunk, char *to, bool is_read_only)
{
    MPI_Count at = chunk.at * w->unit, len = chunk.n * w->unit;

    w->o.at[r] = to;
    if (r != w->d->c->comm->rank) {
        return fm_coll_direct_get(w->d, r, to, at, len);
    }
    if (is_read_only) {
        w->o.at[r] = (char *)w->own + at;
    } else if (to != w->own + at) {
        memcpy(to, w->own + at, (size_t)len);
    }
    return 0;
}

static char *room_of(const struct work *w, int rank)
{
    return w->room + rank * w->chunk * w->unit;
}

/* Combine a chunk; the result lies in operand size - 1, which is at `to` if that may be: not
   where it is this rank's contribution that has still to be read. */
static int reduce_chunk(struct work *w, struct slice chunk, char *to)
{
    int size = w->o.size, rank = w->d->c->comm->rank, rc = 0;
    bool is_own = to == w->own + chunk.at * w->unit;

    w->o.count = chunk.n;
    for (int r = 0; rc == 0 && r < size; r++) {
        bool is_result = r == size - 1 && to && (!is_own || rank == r);

        rc = load(w, r, chunk, is_result ? to : room_of(w, r), fm_coll_combine_reads(size, r));
    }
    if (rc == 0) {
        fm_coll_combine_all(&w->o);
    }
    return rc;
}

/* The next chunk of this rank's slice, from an element on. */
static struct slice chunk_at(const struct work *w, MPI_Count done)
{
    MPI_Count left = w->slice.n - done;

    return (struct slice){w->slice.at + done, left < w->chunk ? left : w->chunk};
}

/* Combine the slice into memory of this rank. */
static int reduce_here(struct work *w, char *to)
{
    int rc = 0;

    for (MPI_Count done = 0; rc == 0 && done < w->slice.n; done += w->chunk) {
        struct slice chunk = chunk_at(w, done);
        char *at = to + done * w->unit, *result;

        rc = reduce_chunk(w, chunk, at);
        result = w->o.at[w->o.size - 1];
        if (rc == 0 && result != at) {
            memcpy(at, result, (size_t)(chunk.n * w->unit));
        }
    }
    return rc;
}

/* Combine the slice into the result of another rank. */
static int reduce_to(struct work *w, int root)
{
    int rc = 0;

    for (MPI_Count done = 0; rc == 0 && done < w->slice.n; done += w->chunk) {
        struct slice chunk = chunk_at(w, done);

        rc = reduce_chunk(w, chunk, NULL);
        rc = rc ? rc
                : fm_coll_direct_put(w->d, root, chunk.at * w->unit, w->o.at[w->o.size - 1],
                                     chunk.n * w->unit);
    }
    return rc;
}

int fm_coll_direct_reduce(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    struct work w;
    int others = c->comm->size - 1, rc = begin(d, &w);

    if (rc != 0) {
        return rc;
    }
    /* Reading an operand and combining it costs about 1.5 times what a copy does; the others than
       the root copy their results once more. */
    w.slice = slice_of(&w, c->comm->rank, c->root, 3 * others + 2, 3 * others);
    if (c->comm->rank == c->root) {
        rc = reduce_here(&w, (char *)c->recv.buf + w.slice.at * w.unit);
    } else {
        rc = reduce_to(&w, c->root);
    }
    return fm_coll_direct_meet(d, rc);
}

int fm_coll_direct_allreduce(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    char *result = c->recv.buf;
    struct work w;
    int size = c->comm->size, rc = begin(d, &w);

    if (rc != 0) {
        return rc;
    }
    w.slice = slice_of(&w, c->comm->rank, 0, 1, 1);
    rc = fm_coll_direct_meet(d, reduce_here(&w, result + w.slice.at * w.unit));
    if (rc != 0) {
        return rc;
    }
    for (int i = 1; rc == 0 && i < size; i++) {
        int r = (c->comm->rank + i) % size;
        struct slice s = slice_of(&w, r, 0, 1, 1);

        rc = fm_coll_direct_get_result(d, r, result + s.at * w.unit, s.at * w.unit, s.n * w.unit);
    }
    return fm_coll_direct_meet(d, rc);
}

/* The slice of a rank is its block. In place the result takes the room of contributions, which
   other ranks read until the last meeting. */
int fm_coll_direct_reduce_scatter(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    bool is_in_place = c->send.buf == MPI_IN_PLACE;
    MPI_Count n = fm_side_count(&c->recv, c->comm->rank), len = n * c->recv.dtype->size;
    char *to = is_in_place ? fm_step_temp(&d->temps, len) : c->recv.buf;
    struct work w;
    int rc = begin(d, &w);

    if (rc != 0) {
        return rc;
    }
    w.slice.n = n;
    for (int r = 0; r < c->comm->rank; r++) {
        w.slice.at += fm_side_count(&c->recv, r);
    }
    rc = fm_coll_direct_meet(d, reduce_here(&w, to));
    if (rc == 0 && is_in_place && len > 0) {
        memcpy(c->recv.buf, to, (size_t)len);
    }
    return rc;
}

/* Send the results of a chunk to the ranks 1 and up. */
static int spread(struct work *w, struct slice chunk)
{
    const struct fm_coll *c = w->d->c;
    int before = c->kind == FM_COLL_EXSCAN, rc = 0;
    MPI_Count at = chunk.at * w->unit, len = chunk.n * w->unit;

    for (int i = 0; rc == 0 && i < w->o.size; i++) {
        int r = (c->comm->rank + i) % w->o.size;
        char *result = w->o.at[r - before < 0 ? 0 : r - before], *to = (char *)c->recv.buf + at;

        if (r != 0 && r != c->comm->rank) {
            rc = fm_coll_direct_put(w->d, r, at, result, len);
        } else if (r != 0 && result != to) {
            memcpy(to, result, (size_t)len);
        }
    }
    return rc;
}

static int scan_slice(struct work *w)
{
    const struct fm_coll *c = w->d->c;
    int rank = c->comm->rank, rc = 0;

    for (MPI_Count done = 0; rc == 0 && done < w->slice.n; done += w->chunk) {
        struct slice chunk = chunk_at(w, done);

        w->o.count = chunk.n;
        for (int r = 0; rc == 0 && r < w->o.size; r++) {
            bool is_result = c->kind == FM_COLL_SCAN && r == rank && r > 0;
            char *to = is_result ? (char *)c->recv.buf + chunk.at * w->unit : room_of(w, r);

            rc = load(w, r, chunk, to, r == 0);
        }
        if (rc == 0) {
            fm_coll_combine_prefixes(&w->o);
            rc = spread(w, chunk);
        }
    }
    return rc;
}

/* Rank 0 copies its own result (scan) and sends results to all others, so that it gets a smaller
   slice. */
int fm_coll_direct_scan(struct fm_coll_direct *d)
{
    const struct fm_coll *c = d->c;
    int size = c->comm->size, rank = c->comm->rank;
    struct work w;
    int rc = begin(d, &w);

    if (rc != 0) {
        return rc;
    }
    if (rank == 0 && c->kind == FM_COLL_SCAN && c->send.buf != MPI_IN_PLACE) {
        memcpy(c->recv.buf, w.own, (size_t)d->len);
    }
    w.slice = slice_of(&w, rank, 0, size == 2 ? 1 : 2, size == 2 ? 4 : 3);
    return fm_coll_direct_meet(d, scan_slice(&w));
}
