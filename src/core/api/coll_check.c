/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison of a collective call across its ranks. */
#include "core/api/coll_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/coll/coll.h"
#include "core/dtype/signature.h"
#include "core/object/request.h"
#include "util/log.h"

/* One rank's call. Digests are 0 where the rank has nothing to compare. */
struct record {
    int32_t kind;
    int32_t form;     /* blocking, nonblocking or persistent: these do not match each other */
    int32_t root;     /* -1: the collective has none */
    int32_t op;       /* predefined: its constant; -1, -2: of the user, not commutative or so */
    uint64_t one;     /* signature of the block or vector that is this rank's own */
    uint64_t all;     /* signature that this rank expects of each block, or of all together */
    int32_t is_apart; /* its own block differs on its two sides */
    char text[108];
};

/* An exchange beside a nonblocking call. */
struct exchange {
    struct fm_comm *comm;
    const char *call;
    struct record mine;
    struct record others[];
};

static uint64_t digest_of(const struct fm_dtype *t, MPI_Count count)
{
    struct fm_signature s = FM_SIGNATURE_EMPTY;

    fm_signature_add(&s, t, count);
    return fm_signature_digest(&s);
}

/* All blocks of a side, one behind the other. */
static uint64_t digest_of_blocks(const struct fm_side *side, int n)
{
    struct fm_signature s = FM_SIGNATURE_EMPTY;

    for (int i = 0; i < n; i++) {
        fm_signature_add(&s, side->dtype, fm_side_count(side, i));
    }
    return fm_signature_digest(&s);
}

/* Of the data of a reduction and how it is divided. */
static uint64_t digest_of_counts(const struct fm_side *side, int n)
{
    uint64_t h = digest_of_blocks(side, n);

    for (int i = 0; h != 0 && i < n; i++) {
        h = (h * 0x100000001b3 + (uint64_t)fm_side_count(side, i)) | 1;
    }
    return h;
}

static uint64_t own_digest(const struct fm_side *side)
{
    return side->buf == MPI_IN_PLACE || !side->dtype ? 0 : digest_of(side->dtype, side->count);
}

/* Of gather, scatter, allgather and alltoall. */
static void note_blocks(struct record *r, const struct fm_coll *c)
{
    bool is_scatter = c->kind == FM_COLL_SCATTER, is_root = c->root == c->comm->rank;
    const struct fm_side *one = is_scatter ? &c->recv : &c->send;
    const struct fm_side *all = is_scatter ? &c->send : &c->recv;

    if (c->kind == FM_COLL_ALLTOALL && c->is_varying) {
        return;
    }
    r->one = own_digest(one);
    if (c->kind == FM_COLL_ALLGATHER) {
        uint64_t block = digest_of(all->dtype, fm_side_count(all, c->comm->rank));

        r->all = digest_of_blocks(all, c->comm->size);
        r->is_apart = r->one && block && r->one != block;
        r->one = 0;
        return;
    }
    if (c->kind == FM_COLL_ALLTOALL || is_root) {
        r->all = c->is_varying ? 0 : digest_of(all->dtype, all->count);
    }
}

static void note_signatures(struct record *r, const struct fm_coll *c)
{
    switch (c->kind) {
    case FM_COLL_BARRIER:
        break;
    case FM_COLL_BCAST:
        r->one = own_digest(&c->recv);
        break;
    case FM_COLL_REDUCE:
    case FM_COLL_ALLREDUCE:
    case FM_COLL_SCAN:
    case FM_COLL_EXSCAN:
        r->one = digest_of(c->recv.dtype, c->recv.count);
        break;
    case FM_COLL_REDUCE_SCATTER:
        r->one = digest_of_counts(&c->recv, c->comm->size);
        break;
    default:
        note_blocks(r, c);
    }
}

static void append(struct record *r, size_t *at, const char *fmt, ...) FM_PRINTF(3, 4);
static void append(struct record *r, size_t *at, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(r->text + *at, sizeof(r->text) - *at, fmt, args);
    va_end(args);
    *at = n < 0 || *at + (size_t)n >= sizeof(r->text) ? sizeof(r->text) - 1 : *at + (size_t)n;
}

/* "MPI_Reduce (2 x MPI_INT, MPI_SUM, root 1)" */
static void note_text(struct record *r, const struct fm_coll_args *a, const struct fm_coll *c)
{
    const struct fm_side *side = c->recv.dtype ? &c->recv : &c->send;
    size_t at = 0;

    if (c->kind == FM_COLL_GATHER || c->kind == FM_COLL_ALLGATHER) {
        side = c->send.dtype ? &c->send : &c->recv;
    }
    append(r, &at, "%s", a->form.call);
    if (side->dtype) {
        const char *name = side->dtype->name[0] ? side->dtype->name : "a derived datatype";

        if (side->counts) {
            append(r, &at, " (%.40s", name);
        } else {
            append(r, &at, " (%lld x %.40s", (long long)side->count, name);
        }
        if (c->op) {
            append(r, &at, ", %s", c->op->name);
        }
        if (r->root >= 0) {
            append(r, &at, ", root %d", r->root);
        }
        append(r, &at, ")");
    }
}

static struct record record_of(const struct fm_coll_args *a, const struct fm_coll *c)
{
    bool has_root = c->kind == FM_COLL_BCAST || c->kind == FM_COLL_REDUCE ||
                    c->kind == FM_COLL_GATHER || c->kind == FM_COLL_SCATTER;
    struct record r = {.kind = c->kind, .form = (int32_t)a->form.kind, .root = -1};

    if (has_root && !c->comm->is_inter) {
        r.root = c->root;
    }
    if (c->op) {
        r.op = c->op->is_predefined ? (int32_t)(uintptr_t)c->op->handle
                                    : -1 - (int32_t)c->op->is_commutative;
    }
    if (!c->comm->is_inter) {
        note_signatures(&r, c);
    }
    note_text(&r, a, c);
    return r;
}

static bool differ(uint64_t a, uint64_t b)
{
    return a && b && a != b;
}

/* The class of what is wrong between two records, MPI_SUCCESS: nothing; and what it is. */
static int compare(const struct record *a, const struct record *b, const char **out_what)
{
    if (a->kind != b->kind || a->form != b->form) {
        *out_what = "other collectives";
        return MPI_ERR_OTHER;
    }
    if (a->root != b->root) {
        *out_what = "other roots";
        return MPI_ERR_ROOT;
    }
    if (a->op && b->op && a->op != b->op) { /* MPI_PROC_NULL as a root needs none */
        *out_what = "other operations";
        return MPI_ERR_OP;
    }
    *out_what = "data of another type or length";
    if (b->is_apart) {
        return MPI_ERR_TYPE;
    }
    if (a->all || b->all) { /* blocks: what one has sent must be what the other expects */
        return differ(a->all, b->all) || differ(a->all, b->one) || differ(b->all, a->one)
                   ? MPI_ERR_TYPE
                   : MPI_SUCCESS;
    }
    return differ(a->one, b->one) && a->kind != FM_COLL_GATHER && a->kind != FM_COLL_SCATTER
               ? MPI_ERR_TYPE
               : MPI_SUCCESS;
}

/*
 * The first record that does not go with the reference: the root's, or that of rank 0. Every rank
 * finds the same. Across groups the reference is this rank's own.
 */
static int find_mismatch(const struct fm_comm *comm, const struct record *mine,
                         const struct record *all, char *text, size_t len)
{
    int ref = !comm->is_inter && all[0].root >= 0 && all[0].root < comm->size ? all[0].root : 0;
    const struct record *a = comm->is_inter ? mine : &all[ref];
    const char *what = NULL;

    for (int i = 0; i < comm->n_remote; i++) {
        int klass = compare(a, &all[i], &what);

        if (klass != MPI_SUCCESS) {
            snprintf(text, len, "the ranks of '%s' have called %s: %srank %d %s, %srank %d %s",
                     comm->name, what, comm->is_inter ? "this " : "",
                     comm->is_inter ? comm->rank : ref, a->text, comm->is_inter ? "remote " : "", i,
                     all[i].text);
            return klass;
        }
    }
    return MPI_SUCCESS;
}

static int check_now(const struct fm_coll_args *a, const struct fm_coll *c, struct exchange *x)
{
    const struct fm_buf out = {&x->mine, sizeof(x->mine), fm_dtype_byte()};
    const struct fm_buf in = {x->others, sizeof(x->mine), fm_dtype_byte()};
    char text[512];
    int rc = fm_allgather(&out, &in, c->comm);

    if (rc != 0) {
        return fm_raise_status(c->comm, a->form.call, rc);
    }
    rc = find_mismatch(c->comm, &x->mine, x->others, text, sizeof(text));
    return rc == MPI_SUCCESS ? rc : fm_raise(c->comm, a->form.call, rc, "%s", text);
}

static void exchanged(struct fm_request *r)
{
    struct exchange *x = r->owner;
    const struct fm_errhandler *eh = fm_errhandler_of(x->comm);
    char text[512];
    int rc = r->status.error;

    if (rc == MPI_SUCCESS) {
        rc = find_mismatch(x->comm, &x->mine, x->others, text, sizeof(text));
    }
    if (rc != MPI_SUCCESS && r->status.error == MPI_SUCCESS) {
        if (eh->type == FM_ERRHANDLER_FATAL || eh->type == FM_ERRHANDLER_ABORT) {
            fm_raise(x->comm, x->call, rc, "%s", text);
        }
        fm_log_error("%s: %s", x->call, text);
    }
    fm_comm_unref(x->comm);
    free(x);
    fm_request_unref(r); /* the handle's, which no user has */
}

static int check_later(const struct fm_coll_args *a, const struct fm_coll *c, struct exchange *x)
{
    const struct fm_coll gather = {
        .kind = FM_COLL_ALLGATHER,
        .comm = c->comm,
        .send = {.buf = &x->mine, .count = sizeof(x->mine), .dtype = fm_dtype_byte()},
        .recv = {.buf = x->others, .count = sizeof(x->mine), .dtype = fm_dtype_byte()},
    };
    struct fm_request *r;
    int rc = fm_coll_start(&gather, &r);

    if (rc != 0) {
        free(x);
        return fm_raise_status(c->comm, a->form.call, rc);
    }
    x->comm = fm_object_ref(c->comm);
    r->is_internal = true;
    r->owner = x;
    if (r->is_done) {
        exchanged(r);
    } else {
        r->on_done = exchanged;
    }
    return MPI_SUCCESS;
}

int fm_coll_check(const struct fm_coll_args *a, const struct fm_coll *c)
{
    struct exchange *x = malloc(sizeof(*x) + (size_t)c->comm->n_remote * sizeof(struct record));
    int rc;

    if (!x) {
        return fm_raise(c->comm, a->form.call, MPI_ERR_NO_MEM, "no memory for coll_check");
    }
    x->call = a->form.call;
    x->mine = record_of(a, c);
    if (a->form.kind != FM_BLOCKING) {
        return check_later(a, c, x);
    }
    rc = check_now(a, c, x);
    free(x);
    return rc;
}
