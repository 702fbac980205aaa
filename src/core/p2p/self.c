/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process to itself: no wire. A posted receive gets the data at once; an early short message is
 * copied into unexpected memory, within the same window as anybody else's; a longer or synchronous
 * one stays where it is until it is received.
 */
#include "core/p2p/self.h"

#include "core/p2p/recv_req.h"
#include "core/p2p/send_req.h"
#include "core/p2p/unexpected.h"

static void count_packed(struct fm_channel *ch, uint64_t len)
{
    ch->counters->n_packed_sent++;
    ch->counters->packed_sent_bytes += len;
}

/* From buffer to buffer, as much as the receive takes; both are complete then. */
static void hand_over(struct fm_channel *ch, struct fm_recv_req *r, struct fm_send_req *s)
{
    fm_recv_req_matched(r, s->msg.comm->is_inter ? s->msg.peer : s->msg.comm->rank, s->msg.tag,
                        s->len);
    if (r->want > 0 && s->msg.dtype->is_contig) {
        fm_recv_req_place(ch, r, (char *)s->msg.buf + s->msg.dtype->true_lb, (size_t)r->want);
    } else if (r->want > 0) {
        FM_STAT(count_packed(ch, (uint64_t)r->want));
        FM_STAT(ch->counters->n_unpacked_recvd += !r->msg.dtype->is_contig);
        FM_STAT(ch->counters->unpacked_recvd_bytes +=
                r->msg.dtype->is_contig ? 0 : (uint64_t)r->want);
        fm_copy_typed(r->msg.buf, r->msg.count, r->msg.dtype, s->msg.buf, s->msg.count,
                      s->msg.dtype);
    }
    FM_STAT(ch->counters->n_self_recvd++);
    FM_STAT(ch->counters->self_recvd_bytes += (uint64_t)r->want);
    fm_recv_req_done(ch, r);
    fm_send_req_done(ch, s);
}

void fm_self_receive(struct fm_channel *ch, struct fm_recv_req *r, struct fm_send_req *s)
{
    hand_over(ch, r, s);
}

static bool may_copy(const struct fm_channel *ch, const struct fm_send_req *s)
{
    uint64_t in_use = *ch->blocks.n_live;

    return s->mode != FM_SEND_SYNC && (uint64_t)s->len <= ch->counters->eager_limit &&
           in_use + fm_unexp_blocks((uint64_t)s->len) <= ch->window;
}

/* Nobody waits for it yet. */
static int keep(struct fm_channel *ch, struct fm_send_req *s, const struct fm_match_key *key)
{
    bool is_copied = may_copy(ch, s);
    struct fm_unexp *u = fm_unexp_new(ch, is_copied ? (size_t)s->len : 0);
    struct fm_pack pack;
    int rc;

    if (!u) {
        return fm_fail(-FM_E_NOMEM, "no memory for an unexpected message");
    }
    u->u.key = *key;
    u->len = (uint64_t)s->len;
    u->proc = ch->self;
    u->kind = FM_WIRE_EAGER;
    u->self = is_copied ? NULL : s;
    if (is_copied) {
        fm_pack_begin(&pack, s->msg.buf, s->msg.count, s->msg.dtype);
        fm_unexp_fill_typed(u, &pack);
        FM_STAT(if (!s->msg.dtype->is_contig) count_packed(ch, (uint64_t)s->len));
    }
    rc = fm_unexp_keep(ch, u);
    if (rc != 0) {
        fm_unexp_free(ch, u);
        return rc;
    }
    if (is_copied) {
        fm_send_req_done(ch, s);
    }
    return 0;
}

static int self_start(struct fm_channel *ch, struct fm_send_req *s)
{
    struct fm_match_key key = {
        .context = fm_msg_context(&s->msg), .source = s->msg.comm->rank, .tag = s->msg.tag};
    struct fm_posted *p = fm_match_arrival(ch->match, &key);

    FM_STAT(ch->counters->n_self_sent++);
    FM_STAT(ch->counters->self_sent_bytes += (uint64_t)s->len);
    FM_STAT(ch->counters->reasons[FM_REASON_SELF]++);
    FM_STAT(ch->counters->last_reason = FM_REASON_SELF);
    if (p) {
        struct fm_recv_req *r = fm_container_of(p, struct fm_recv_req, posted);

        FM_STAT(fm_counting_posted(&r->msg, -1));
        hand_over(ch, r, s);
        return 0;
    }
    return keep(ch, s, &key);
}

struct search {
    const struct fm_send_req *s;
    struct fm_unexp *found;
};

static void look_for(struct fm_unexpected *x, void *ctx)
{
    struct search *search = ctx;
    struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

    if (u->self == search->s) {
        search->found = u;
    }
}

/* Take it out of the unexpected messages. False: MPI_Mprobe has taken it already. */
static bool withdraw(struct fm_channel *ch, struct fm_send_req *s)
{
    struct search search = {.s = s};

    fm_match_each_unexpected(ch->match, look_for, &search);
    if (!search.found) {
        return false;
    }
    fm_match_drop(ch->match, &search.found->u);
    fm_unexp_taken(ch, search.found);
    fm_unexp_free(ch, search.found);
    return true;
}

static void self_cancel(struct fm_channel *ch, struct fm_send_req *s)
{
    if (withdraw(ch, s)) {
        fm_send_req_cancelled(ch, s);
    }
}

const struct fm_proto fm_self = {
    .name = "self",
    .start = self_start,
    .cancel = self_cancel,
};
