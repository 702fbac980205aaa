/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered mode: the memory of the user, and what leaves from it. */
#include "core/p2p/bsend.h"

#include <stdlib.h>

#include "core/dtype/pack.h"
#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/progress.h"
#include "core/p2p/send.h"
#include "core/p2p/send_req.h"
#include "core/p2p/wait.h"

/* A piece of an attached buffer, and the message in it. */
struct segment {
    struct fm_list link;   /* all segments of the buffer, by address; automatic: unused */
    struct fm_list active; /* those in use, oldest first */
    struct fm_buffer *buffer;
    uint64_t seq; /* of the message; 0: free */
    size_t len;   /* bytes in all, this header included */
};

_Static_assert(sizeof(struct segment) + 16 <= MPI_BSEND_OVERHEAD, "as the user is told");

struct fm_buffer {
    struct fm_buffer *next;
    struct fm_channel *ch;
    const void *owner; /* NULL: the process */
    void *addr;        /* as given; MPI_BUFFER_AUTOMATIC */
    MPI_Count len;
    struct fm_list segments;
    struct fm_list active;
    struct fm_list flushes; /* requests of fm_bsend_iflush() */
    uint64_t last_seq;
    bool is_orphan; /* free it when nothing is active */
};

/* Part of a flush request. */
struct flush {
    struct fm_request req;
    struct fm_list link;
    uint64_t seq; /* the last message that it waits for */
};

#define ALIGN 16

static bool is_automatic(const struct fm_buffer *b)
{
    return b->addr == MPI_BUFFER_AUTOMATIC;
}

/* Bytes that the user gave. */
static uint64_t given(const struct fm_buffer *b)
{
    return is_automatic(b) ? 0 : (uint64_t)b->len;
}

static struct fm_buffer *find(const struct fm_channel *ch, const void *owner)
{
    struct fm_buffer *b = ch->buffers;

    while (b && (b->owner != owner || b->is_orphan)) {
        b = b->next;
    }
    return b;
}

/* The buffer that messages of a communicator go through: its own, else its session's, else the
   process's (MPI-5.0 3.6). */
static struct fm_buffer *buffer_of(const struct fm_comm *comm)
{
    struct fm_buffer *b;

    if (!comm->ch->buffers) {
        return NULL;
    }
    b = find(comm->ch, comm);
    if (!b && comm->session) {
        b = find(comm->ch, comm->session);
    }
    return b ? b : find(comm->ch, NULL);
}

/* ---- segments ---- */

/* What messages take, in all and of what the user gave. */
static void count_taken(const struct fm_buffer *b, int64_t by)
{
    fathom_level_add(&b->ch->counters->bsend_bytes, by);
    b->ch->counters->bsend_taken += is_automatic(b) ? 0 : (uint64_t)by;
}

/* One free segment over the whole buffer, if a header fits at all. */
static void divide(struct fm_buffer *b)
{
    uintptr_t from = ((uintptr_t)b->addr + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    size_t skipped = from - (uintptr_t)b->addr;
    struct segment *s = (struct segment *)from;

    if ((size_t)b->len < skipped + sizeof(*s)) {
        return;
    }
    *s = (struct segment){.buffer = b, .len = ((size_t)b->len - skipped) & ~(size_t)(ALIGN - 1)};
    fm_list_push(&b->segments, &s->link);
}

static struct segment *take_from_heap(struct fm_buffer *b, size_t data_len)
{
    struct segment *s = malloc(sizeof(*s) + data_len);

    if (s) {
        *s = (struct segment){.buffer = b, .len = sizeof(*s) + data_len};
    }
    return s;
}

/* What is left behind a taken segment becomes a free one, if a header fits. */
static void split(struct segment *s, size_t len)
{
    struct segment *rest = (struct segment *)((char *)s + len);

    if (s->len - len < sizeof(*rest)) {
        return;
    }
    *rest = (struct segment){.buffer = s->buffer, .len = s->len - len};
    fm_list_insert_before(s->link.next, &rest->link);
    s->len = len;
}

/* The first free segment that is long enough. */
static struct segment *take_free(struct fm_buffer *b, size_t data_len)
{
    size_t len = (sizeof(struct segment) + data_len + ALIGN - 1) & ~(size_t)(ALIGN - 1);

    fm_list_each(l, n, &b->segments)
    {
        struct segment *s = fm_container_of(l, struct segment, link);

        if (s->seq == 0 && s->len >= len) {
            split(s, len);
            return s;
        }
    }
    return NULL;
}

/* Room for a message. What has been received by now, if only nobody has looked, takes none of it
   (MPI-5.0 3.6.1). NULL: there is none. */
static struct segment *take(struct fm_buffer *b, size_t data_len)
{
    struct segment *s;

    if (is_automatic(b)) {
        return take_from_heap(b, data_len);
    }
    s = take_free(b, data_len);
    while (!s && fm_progress(b->ch) > 0) {
        s = take_free(b, data_len);
    }
    return s;
}

/* Join with the one behind, if both are free. */
static void join(struct fm_buffer *b, struct fm_list *l)
{
    struct segment *s, *behind;

    if (l == &b->segments || l->next == &b->segments) {
        return;
    }
    s = fm_container_of(l, struct segment, link);
    behind = fm_container_of(l->next, struct segment, link);
    if (s->seq == 0 && behind->seq == 0) {
        fm_list_remove(&behind->link);
        s->len += behind->len;
    }
}

static void free_buffer(struct fm_buffer *b)
{
    struct fm_buffer **at = &b->ch->buffers;

    while (*at != b) {
        at = &(*at)->next;
    }
    *at = b->next;
    FM_STAT(b->ch->counters->bsend_attached -= given(b));
    free(b);
}

/* Those flushes are over that wait for no message which is still there. */
static void end_flushes(struct fm_buffer *b)
{
    const struct fm_list *oldest = fm_list_first(&b->active);
    uint64_t seq = oldest ? fm_container_of(oldest, struct segment, active)->seq : UINT64_MAX;

    fm_list_each(l, n, &b->flushes)
    {
        struct flush *f = fm_container_of(l, struct flush, link);

        if (f->seq < seq) {
            fm_list_remove(&f->link);
            fm_request_complete(&f->req);
        }
    }
}

static void give_back(struct segment *s)
{
    struct fm_buffer *b = s->buffer;
    struct fm_list *before = s->link.prev;

    fm_list_remove(&s->active);
    FM_STAT(count_taken(b, -(int64_t)s->len));
    if (is_automatic(b)) {
        free(s);
    } else {
        s->seq = 0;
        join(b, &s->link);
        join(b, before);
    }
    end_flushes(b);
    if (b->is_orphan && fm_list_is_empty(&b->active)) {
        free_buffer(b);
    }
}

/* ---- attaching ---- */

int fm_bsend_attach(struct fm_channel *ch, const void *owner, void *addr, MPI_Count len)
{
    struct fm_buffer *b;

    if (find(ch, owner)) {
        return fm_fail(MPI_ERR_BUFFER, "a buffer is attached already: detach it first");
    }
    b = calloc(1, sizeof(*b));
    if (!b) {
        return fm_fail(-FM_E_NOMEM, "no memory to note a buffer");
    }
    b->ch = ch;
    b->owner = owner;
    b->addr = addr;
    b->len = len;
    fm_list_init(&b->segments);
    fm_list_init(&b->active);
    fm_list_init(&b->flushes);
    if (!is_automatic(b)) {
        divide(b);
    }
    b->next = ch->buffers;
    ch->buffers = b;
    FM_STAT(ch->counters->bsend_attached += given(b));
    return 0;
}

static int find_attached(struct fm_channel *ch, const void *owner, struct fm_buffer **out_b)
{
    *out_b = find(ch, owner);
    return *out_b ? 0 : fm_fail(MPI_ERR_BUFFER, "no buffer is attached");
}

static bool is_empty(void *ctx)
{
    const struct fm_buffer *b = ctx;

    return fm_list_is_empty(&b->active);
}

static int wait_empty(struct fm_buffer *b)
{
    if (is_empty(b)) {
        return 0;
    }
    FM_STAT(b->ch->counters->n_bsend_waits++);
    return fm_wait_until(b->ch, is_empty, b);
}

int fm_bsend_detach(struct fm_channel *ch, const void *owner, void **out_addr, MPI_Count *out_len)
{
    struct fm_buffer *b;
    int rc = find_attached(ch, owner, &b);

    if (rc == 0) {
        rc = wait_empty(b);
    }
    if (rc != 0) {
        return rc;
    }
    *out_addr = b->addr;
    *out_len = b->len;
    free_buffer(b);
    return 0;
}

static const struct fm_request_ops flush_ops = {.name = "flush"};

int fm_bsend_iflush(struct fm_channel *ch, const void *owner, struct fm_request **out_req)
{
    struct fm_buffer *b;
    struct flush *f;
    int rc = find_attached(ch, owner, &b);

    if (rc != 0) {
        return rc;
    }
    f = (struct flush *)fm_request_new(&flush_ops, NULL);
    if (!f) {
        return -FM_E_NOMEM;
    }
    fm_object_ref(&f->req);
    f->seq = b->last_seq;
    fm_list_push(&b->flushes, &f->link);
    *out_req = &f->req;
    end_flushes(b);
    return 0;
}

int fm_bsend_flush(struct fm_channel *ch, const void *owner)
{
    struct fm_request *r;
    int rc = fm_bsend_iflush(ch, owner, &r);

    if (rc == 0) {
        rc = fm_wait_done(ch, r);
    }
    return rc ? rc : fm_request_harvest(r, NULL);
}

void fm_bsend_orphan(struct fm_channel *ch, const void *owner)
{
    struct fm_buffer *b = find(ch, owner);

    if (!b) {
        return;
    }
    b->is_orphan = true;
    if (fm_list_is_empty(&b->active)) {
        free_buffer(b);
    }
}

void fm_bsend_finish(struct fm_channel *ch)
{
    while (ch->buffers) {
        free_buffer(ch->buffers);
    }
}

/* ---- sending ---- */

static void sent(struct fm_request *r)
{
    give_back(r->owner);
}

FM_COLD static int no_room(const struct fm_buffer *b, MPI_Count len)
{
    return fm_fail(MPI_ERR_BUFFER,
                   "no room for a message of %lld bytes in the attached buffer of %lld bytes: "
                   "attach a larger one (each message takes MPI_BSEND_OVERHEAD more), or "
                   "MPI_BUFFER_AUTOMATIC",
                   (long long)len, (long long)b->len);
}

static const struct fm_request_ops copy_ops = {
    .name = "bsend",
    .release = fm_send_req_release,
    .about = fm_send_req_describe,
};

/* Send the copy, as bytes in standard mode. */
static int send_copy(const struct fm_msg *m, MPI_Count len, struct segment *s)
{
    struct fm_msg copy = *m;
    struct fm_send_req *r;
    int rc;

    copy.buf = s + 1;
    copy.count = len;
    copy.dtype = fm_dtype_byte();
    r = fm_send_req_new(&copy_ops, &copy, FM_SEND_STANDARD, len);
    if (!r) {
        return -FM_E_NOMEM;
    }
    r->req.is_internal = true;
    r->req.owner = s;
    r->req.on_done = sent;
    rc = fm_send_start(r); /* the one reference is the engine's */
    if (rc != 0) {
        fm_request_unref(&r->req);
    }
    return rc;
}

static int bsend(const struct fm_msg *m, MPI_Count len)
{
    struct fm_channel *ch = m->comm->ch;
    struct fm_buffer *b = buffer_of(m->comm);
    struct segment *s;
    int rc;

    if (!b) {
        return fm_fail(MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach first");
    }
    if (fm_send_short(m, len)) {
        FM_STAT(ch->counters->n_buffered_sent++);
        return 0;
    }
    s = take(b, (size_t)len);
    if (!s) {
        return no_room(b, len);
    }
    fm_pack_all(s + 1, m->buf, m->count, m->dtype);
    FM_STAT(ch->counters->n_packed_sent += !m->dtype->is_contig);
    FM_STAT(ch->counters->packed_sent_bytes += m->dtype->is_contig ? 0 : (uint64_t)len);
    s->seq = ++b->last_seq;
    fm_list_push(&b->active, &s->active);
    FM_STAT(count_taken(b, (int64_t)s->len));
    rc = send_copy(m, len, s);
    FM_STAT(ch->counters->n_buffered_sent += rc == 0);
    if (rc != 0) {
        give_back(s);
    }
    return rc;
}

/* ---- entry ---- */

FM_COLD static int too_long(const struct fm_msg *m)
{
    return fm_fail(-FM_E_INVAL,
                   "%lld elements of %lld bytes are more bytes than an MPI_Count can hold",
                   (long long)m->count, (long long)m->dtype->size);
}

int fm_bsend(const struct fm_msg *m)
{
    MPI_Count len = fm_dtype_bytes(m->dtype, m->count);

    if (m->peer == MPI_PROC_NULL) {
        FM_STAT(m->comm->ch->counters->n_null_sent++);
        return 0;
    }
    return len < 0 ? too_long(m) : bsend(m, len);
}

/* The operation is complete as soon as the message is copied (MPI-5.0 3.4). */
static int bsend_start(struct fm_request *r)
{
    int rc = fm_bsend(&((struct fm_send_req *)r)->msg);

    if (rc == 0) {
        fm_request_complete(r);
    }
    return rc;
}

static int bsend_cancel(struct fm_request *r)
{
    FM_STAT(r->comm->ch->counters->n_cancels++);
    return 0; /* complete already */
}

static const struct fm_request_ops bsend_ops = {
    .name = "bsend",
    .start = bsend_start,
    .cancel = bsend_cancel,
    .release = fm_send_req_release,
    .about = fm_send_req_describe,
};

int fm_bsend_init(const struct fm_msg *m, struct fm_request **out_req)
{
    MPI_Count len = fm_dtype_bytes(m->dtype, m->count);
    struct fm_send_req *s;

    if (len < 0) {
        return too_long(m);
    }
    s = fm_send_req_new(&bsend_ops, m, FM_SEND_BUFFERED, len);
    if (!s) {
        return -FM_E_NOMEM;
    }
    fm_request_persist(&s->req);
    *out_req = &s->req;
    return 0;
}

int fm_ibsend(const struct fm_msg *m, struct fm_request **out_req)
{
    struct fm_send_req *s =
        fm_send_req_new(&bsend_ops, m, FM_SEND_BUFFERED, fm_dtype_bytes(m->dtype, m->count));
    int rc;

    if (!s) {
        return -FM_E_NOMEM;
    }
    fm_object_ref(&s->req); /* the engine's; the first is the handle's */
    rc = bsend_start(&s->req);
    if (rc != 0) {
        fm_request_unref(&s->req);
        fm_request_unref(&s->req);
        return rc;
    }
    *out_req = &s->req;
    return 0;
}
