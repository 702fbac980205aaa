/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitioned communication. */
#include "core/p2p/partition.h"

#include <stdlib.h>
#include <string.h>

#include "core/dtype/pack.h"
#include "core/p2p/channel.h"
#include "core/p2p/send.h"

/* What the sender tells at initialisation. */
struct setup {
    uint32_t tag; /* of its partition 0; the others follow */
    uint32_t n_parts;
    uint64_t part_len; /* bytes of one */
};

/* One partition as it travels: those of the sender, on both sides. */
struct piece {
    struct part *owner;
    struct fm_request *r; /* under way; NULL: not, or not any more */
    void *copy;           /* receiver: data that must be unpacked in the midst of an element */
    bool is_ready;        /* sender: the user said so; receiver: it has come */
};

struct part {
    struct fm_request req;
    struct fm_msg msg; /* one partition of this side */
    int n_parts;
    int user_tag;
    MPI_Count part_len;    /* bytes of one partition of this side */
    struct setup setup;    /* receiver: has come when is_set_up */
    int setup_error;       /* receiver: MPI error class of the setup */
    const char *setup_why; /* static */
    bool is_set_up;
    bool is_posted; /* receiver: receives for this round are posted */
    struct piece *pieces;
    uint32_t n_pieces;
    uint32_t n_left; /* pieces of this round that are not complete */
    int error;       /* first MPI error class of a piece */
    char *why;
};

_Static_assert(sizeof(struct part) <= FM_REQUEST_LEN, "fits the pool");

/* ---- pieces ---- */

static int make_pieces(struct part *p, uint32_t n)
{
    p->pieces = calloc(n ? n : 1, sizeof(struct piece));
    if (!p->pieces) {
        return fm_fail(-FM_E_NOMEM, "no memory for %u partitions", n);
    }
    p->n_pieces = n;
    for (uint32_t k = 0; k < n; k++) {
        p->pieces[k].owner = p;
    }
    return 0;
}

static void finish_round(struct part *p)
{
    if (p->error != MPI_SUCCESS) {
        fm_request_fail(&p->req, p->error, "%s", p->why ? p->why : "a partition was lost");
    } else {
        fm_request_complete(&p->req);
    }
}

static void note_error(struct part *p, const struct fm_request *r)
{
    if (r->status.error != MPI_SUCCESS && p->error == MPI_SUCCESS) {
        p->error = r->status.error;
        p->why = r->why ? strdup(r->why) : NULL;
    }
}

static void unpack_copy(struct part *p, uint32_t k)
{
    struct fm_pack pack;

    fm_pack_begin(&pack, p->msg.buf, p->msg.count * p->n_parts, p->msg.dtype);
    fm_pack_seek(&pack, (MPI_Count)(k * p->setup.part_len));
    fm_pack_in(&pack, p->pieces[k].copy, p->setup.part_len);
    free(p->pieces[k].copy);
    p->pieces[k].copy = NULL;
}

static void piece_done(struct fm_request *r)
{
    struct piece *piece = r->owner;
    struct part *p = piece->owner;
    uint32_t k = (uint32_t)(piece - p->pieces);

    note_error(p, r);
    if (piece->copy) {
        unpack_copy(p, k);
    }
    piece->is_ready = true;
    piece->r = NULL;
    fm_request_unref(r); /* the handle's; the engine still holds it */
    if (--p->n_left == 0) {
        finish_round(p);
    }
}

/* A request for a piece was made; it may be complete already. */
static void watch(struct piece *piece, struct fm_request *r)
{
    piece->r = r;
    r->owner = piece;
    if (r->is_done) {
        piece_done(r);
    } else {
        r->on_done = piece_done;
    }
}

/* ---- the request ---- */

static void part_release(struct fm_request *r)
{
    struct part *p = (struct part *)r;

    fm_dtype_unref(p->msg.dtype);
    free(p->pieces);
    free(p->why);
}

static void part_about(const struct fm_request *r, struct fm_request_about *out_about)
{
    const struct part *p = (const struct part *)r;

    *out_about =
        (struct fm_request_about){p->msg.peer, p->msg.tag, (uint64_t)(p->part_len * p->n_parts)};
}

static void begin_round(struct part *p)
{
    p->error = MPI_SUCCESS;
    free(p->why);
    p->why = NULL;
    p->n_left = p->n_pieces;
    for (uint32_t k = 0; k < p->n_pieces; k++) {
        p->pieces[k].is_ready = false;
    }
}

static struct part *part_new(const struct fm_request_ops *ops, const struct fm_msg *m, int n_parts)
{
    struct part *p = (struct part *)fm_request_new(ops, m->comm);

    if (!p) {
        return NULL;
    }
    p->msg = *m;
    p->msg.space = FM_SPACE_DATA;
    p->n_parts = n_parts;
    p->user_tag = m->tag;
    p->part_len = fm_dtype_bytes(m->dtype, m->count);
    fm_object_ref(m->dtype);
    fm_request_persist(&p->req);
    return p;
}

static struct fm_msg setup_msg(struct part *p, int tag)
{
    struct fm_msg m = p->msg;

    m.buf = &p->setup;
    m.count = sizeof(p->setup);
    m.dtype = fm_dtype_byte();
    m.space = FM_SPACE_PART;
    m.tag = tag;
    return m;
}

/* ---- sending ---- */

static int send_start(struct fm_request *r)
{
    struct part *p = (struct part *)r;

    begin_round(p);
    if (p->n_left == 0) {
        fm_request_complete(r);
    }
    return 0;
}

static const struct fm_request_ops send_ops = {
    .name = "psend",
    .start = send_start,
    .release = part_release,
    .must_complete = true,
    .about = part_about,
};

static void setup_sent(struct fm_request *r)
{
    struct part *p = r->owner;

    fm_request_unref(r);
    fm_request_unref(&p->req);
}

static int send_setup(struct part *p)
{
    struct fm_msg m = setup_msg(p, p->msg.tag);
    struct fm_request *r;
    int rc = fm_isend(&m, FM_SEND_STANDARD, &r);

    if (rc != 0) {
        return rc;
    }
    fm_object_ref(&p->req); /* until it has left */
    r->owner = p;
    if (r->is_done) {
        setup_sent(r);
    } else {
        r->on_done = setup_sent;
    }
    return 0;
}

int fm_partition_send_init(const struct fm_msg *m, int n_parts, struct fm_request **out_req)
{
    struct fm_channel *ch = m->comm->ch;
    struct part *p = part_new(&send_ops, m, n_parts);
    int rc = p ? 0 : -FM_E_NOMEM;

    if (rc == 0 && m->peer != MPI_PROC_NULL) {
        rc = make_pieces(p, (uint32_t)n_parts);
    }
    if (rc == 0 && m->peer != MPI_PROC_NULL) {
        p->setup = (struct setup){ch->next_part_tag, (uint32_t)n_parts, (uint64_t)p->part_len};
        ch->next_part_tag = (ch->next_part_tag + (uint32_t)n_parts) & INT32_MAX;
        rc = send_setup(p);
    }
    if (rc != 0) {
        fm_request_unref(p ? &p->req : NULL);
        return rc;
    }
    *out_req = &p->req;
    return 0;
}

int fm_partition_ready(struct fm_request *r, int part)
{
    struct part *p = (struct part *)r;
    struct fm_msg m = p->msg;
    struct fm_request *piece;
    int rc;

    if (p->n_pieces == 0) {
        return 0; /* to MPI_PROC_NULL */
    }
    if (p->pieces[part].is_ready) {
        return fm_fail(-FM_E_INVAL, "partition %d was marked ready before in this round", part);
    }
    m.buf = (char *)m.buf + part * m.count * m.dtype->extent;
    m.tag = (int)((p->setup.tag + (uint32_t)part) & INT32_MAX);
    rc = fm_isend(&m, FM_SEND_STANDARD, &piece);
    if (rc != 0) {
        return rc;
    }
    p->pieces[part].is_ready = true;
    watch(&p->pieces[part], piece);
    return 0;
}

/* ---- receiving ---- */

/* Where piece k goes: whole elements straight to their place, else through a copy; nowhere if the
   pieces do not fit. */
static int place_of(struct part *p, uint32_t k, struct fm_msg *m)
{
    MPI_Count size = p->msg.dtype->size, len = (MPI_Count)p->setup.part_len;
    MPI_Count at = len * k;

    *m = p->msg;
    m->tag = (int)((p->setup.tag + k) & INT32_MAX);
    if (p->setup_error != MPI_SUCCESS) {
        m->count = 0;
        return 0;
    }
    if (size > 0 && len % size == 0) {
        m->buf = (char *)m->buf + at / size * m->dtype->extent;
        m->count = len / size;
        return 0;
    }
    m->dtype = fm_dtype_byte();
    m->count = len;
    m->buf = p->pieces[k].copy = malloc(len ? (size_t)len : 1);
    return m->buf ? 0
                  : fm_fail(-FM_E_NOMEM, "no memory for a partition of %lld bytes", (long long)len);
}

/* The sender's data must be as long as ours. */
static bool fits(const struct part *p)
{
    uint64_t len;

    return !__builtin_mul_overflow(p->setup.n_parts, p->setup.part_len, &len) &&
           len == (uint64_t)(p->part_len * p->n_parts);
}

static void post_all(struct part *p)
{
    p->is_posted = true;
    begin_round(p);
    p->error = p->setup_error;
    p->why = p->setup_why ? strdup(p->setup_why) : NULL;
    if (p->n_left == 0) {
        finish_round(p);
        return;
    }
    for (uint32_t k = 0, n = p->n_pieces; k < n; k++) {
        struct fm_request *piece;
        struct fm_msg m;

        if (place_of(p, k, &m) != 0 || fm_irecv(&m, &piece) != 0) {
            fm_channel_fail(m.comm->ch, -FM_E_NOMEM, "%s", fm_why());
            return;
        }
        watch(&p->pieces[k], piece);
    }
}

/* What was wrong with the setup message holds for every round. */
static void refuse_setup(struct part *p, int klass, const char *why)
{
    p->setup_error = klass;
    p->setup_why = why;
}

/* Pieces that do not fit are received all the same, into nothing: the sender must not wait for
   ever because of us. */
static void take_setup(struct part *p, const struct fm_request *r)
{
    if (r->status.error != MPI_SUCCESS) {
        refuse_setup(p, r->status.error, "the sender was lost before it began");
    } else if (!fits(p)) {
        refuse_setup(p, MPI_ERR_TRUNCATE,
                     "the partitions of the sender are not as long, together, as those of the "
                     "receiver");
    }
    if (r->status.error == MPI_SUCCESS && make_pieces(p, p->setup.n_parts) != 0) {
        refuse_setup(p, MPI_ERR_NO_MEM, "no memory for the partitions of the sender");
    }
    p->is_set_up = true;
}

static void setup_came(struct fm_request *r)
{
    struct part *p = r->owner;

    take_setup(p, r);
    fm_request_unref(r);
    if (p->req.is_active && !p->is_posted) {
        post_all(p);
    }
    fm_request_unref(&p->req);
}

static int recv_start(struct fm_request *r)
{
    struct part *p = (struct part *)r;

    p->is_posted = false;
    if (p->msg.peer == MPI_PROC_NULL) {
        r->status = FM_STATUS_NULL;
        fm_request_complete(r);
        return 0;
    }
    r->status = (struct fm_status){
        .source = p->msg.peer, .tag = p->user_tag, .n_bytes = p->part_len * p->n_parts};
    if (p->is_set_up) {
        post_all(p);
    }
    return 0;
}

static const struct fm_request_ops recv_ops = {
    .name = "precv",
    .start = recv_start,
    .release = part_release,
    .must_complete = true,
    .about = part_about,
};

static int receive_setup(struct part *p)
{
    struct fm_msg m = setup_msg(p, p->msg.tag);
    struct fm_request *r;
    int rc = fm_irecv(&m, &r);

    if (rc != 0) {
        return rc;
    }
    fm_object_ref(&p->req); /* until it came */
    r->owner = p;
    if (r->is_done) {
        setup_came(r);
    } else {
        r->on_done = setup_came;
    }
    return 0;
}

int fm_partition_recv_init(const struct fm_msg *m, int n_parts, struct fm_request **out_req)
{
    struct part *p = part_new(&recv_ops, m, n_parts);
    int rc = p ? 0 : -FM_E_NOMEM;

    if (rc == 0) {
        rc = m->peer == MPI_PROC_NULL ? 0 : receive_setup(p);
    }
    if (rc != 0) {
        fm_request_unref(p ? &p->req : NULL);
        return rc;
    }
    *out_req = &p->req;
    return 0;
}

/* ---- asking ---- */

bool fm_partition_is_send(const struct fm_request *r)
{
    return r->ops == &send_ops;
}

bool fm_partition_is_recv(const struct fm_request *r)
{
    return r->ops == &recv_ops;
}

int fm_partition_count(const struct fm_request *r)
{
    return ((const struct part *)r)->n_parts;
}

/* Have the sender's partitions from `from` to before `to` come? */
static bool have_come(const struct part *p, uint64_t from, uint64_t to)
{
    for (uint64_t k = from; k < to; k++) {
        if (!p->pieces[k].is_ready) {
            return false;
        }
    }
    return true;
}

bool fm_partition_has_arrived(const struct fm_request *r, int part)
{
    const struct part *p = (const struct part *)r;
    uint64_t n = p->setup.n_parts, of = (uint64_t)p->n_parts, k = (uint64_t)part;
    uint64_t len = p->setup.part_len;

    if (!r->is_active || r->is_done) {
        return true;
    }
    if (!p->is_posted || p->setup_error != MPI_SUCCESS) {
        return false;
    }
    if (p->part_len == 0 || len == 0) { /* no bytes: the same share of the sender's partitions */
        return have_come(p, k * n / of, ((k + 1) * n + of - 1) / of);
    }
    k *= (uint64_t)p->part_len;
    return have_come(p, k / len, (k + (uint64_t)p->part_len + len - 1) / len);
}
