/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from the failure of a peer. */
#include "core/p2p/loss.h"

#include "core/p2p/recv_req.h"
#include "core/p2p/send_req.h"
#include "core/p2p/unexpected.h"

struct loss {
    struct fm_channel *ch;
    struct fm_peer *peer;
    struct fm_list posted; /* receives that have lost their sender */
};

/* Is every process that could send to this receive gone? */
static bool is_lost(const struct loss *l, const struct fm_recv_req *r)
{
    const struct fm_comm *comm = r->msg.comm;

    if (r->msg.peer != MPI_ANY_SOURCE) {
        return fm_comm_proc(comm, r->msg.peer) == l->peer->proc;
    }
    for (int rank = 0; rank < comm->n_remote; rank++) {
        int proc = fm_comm_proc(comm, rank);

        if (!fm_peer_of(l->ch, proc)->is_gone && (proc != l->ch->self || comm->n_remote == 1)) {
            return false;
        }
    }
    return true;
}

static void collect_posted(struct fm_posted *p, void *ctx)
{
    struct loss *l = ctx;
    struct fm_recv_req *r = fm_container_of(p, struct fm_recv_req, posted);

    if (is_lost(l, r)) {
        fm_match_unpost(l->ch->match, p);
        FM_STAT(fm_counting_posted(&r->msg, -1));
        fm_list_push(&l->posted, &p->link);
    }
}

static void fail_posted(struct loss *l)
{
    struct fm_list *first;

    fm_list_init(&l->posted);
    fm_match_each_posted(l->ch->match, collect_posted, l);
    while ((first = fm_list_pop(&l->posted))) {
        struct fm_posted *p = fm_container_of(first, struct fm_posted, link);

        fm_recv_req_lost(l->ch, fm_container_of(p, struct fm_recv_req, posted), l->peer);
    }
}

/* An RTS whose data will never be fetched. A message that has arrived whole stays. */
static void drop_unexpected(struct fm_unexpected *x, void *ctx)
{
    struct loss *l = ctx;
    struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

    if (u->proc == l->peer->proc && u->kind == FM_WIRE_RTS) {
        fm_match_drop(l->ch->match, x);
        fm_unexp_taken(l->ch, u);
        fm_unexp_free(l->ch, u);
    }
}

/* Requests that wait for an answer of the peer or for its data. */
static void fail_named(struct loss *l)
{
    struct fm_ids *ids = &l->ch->ids;

    for (uint32_t k = 0; k < ids->n_slots; k++) {
        void *obj = ids->slots[k].obj;

        if (obj && ids->slots[k].kind == FM_ID_SEND) {
            struct fm_send_req *s = obj;

            if (s->peer == l->peer) {
                fm_send_req_lost(l->ch, s);
            }
        } else if (obj) {
            struct fm_recv_req *r = obj;

            if (r->peer == l->peer) {
                fm_recv_req_lost(l->ch, r, l->peer);
            }
        }
    }
}

static void abort_queued(struct loss *l)
{
    for (int k = 0; k < FM_QUEUES; k++) {
        struct fm_list *first;

        while ((first = fm_list_first(&l->peer->q->lists[k]))) {
            struct fm_out *out = fm_container_of(first, struct fm_out, link);

            out->abort(l->ch, l->peer, out);
        }
    }
}

static void lose(struct fm_channel *ch, struct fm_peer *peer)
{
    struct loss l = {.ch = ch, .peer = peer};

    abort_queued(&l);
    fail_named(&l);
    fm_match_each_unexpected(ch->match, drop_unexpected, &l);
    fail_posted(&l);
    fm_list_each(link, next, &ch->loss_watches)
    {
        struct fm_loss_watch *watch = fm_container_of(link, struct fm_loss_watch, link);

        watch->lost(watch, peer);
    }
}

static int lose_all(struct fm_hook *hook)
{
    struct fm_channel *ch = fm_container_of(hook, struct fm_channel, loss_hook);
    struct fm_list *first;
    int n = 0;

    fm_hook_remove(ch, hook);
    for (; (first = fm_list_pop(&ch->lost)); n++) {
        lose(ch, fm_container_of(first, struct fm_peer_queues, lost)->peer);
    }
    return n;
}

void fm_loss_init(struct fm_channel *ch)
{
    fm_list_init(&ch->lost);
    fm_list_init(&ch->loss_watches);
    ch->loss_hook.fn = lose_all;
}

void fm_loss_watch_add(struct fm_channel *ch, struct fm_loss_watch *watch)
{
    fm_list_push(&ch->loss_watches, &watch->link);
}

void fm_loss_watch_remove(struct fm_channel *ch, struct fm_loss_watch *watch)
{
    fm_list_remove(&watch->link);
}

/* ---- processes that have ended ---- */

FM_COLD static void check_all(struct fm_channel *ch, uint64_t now)
{
    uint64_t grace = ch->progress_counters->gone_ms * 1000000u;

    FM_STAT(ch->progress_counters->n_gone_checks++);
    for (int proc = 0; proc < ch->n_peers; proc++) {
        struct fm_peer *peer = fm_peer_of(ch, proc);

        if (proc == ch->self || peer->is_gone || !ch->is_gone(ch->resolve_ctx, proc)) {
            continue;
        }
        /* What it sent before it ended may still be on its way. */
        if (peer->q->gone_ns == 0) {
            peer->q->gone_ns = now;
        } else if (now - peer->q->gone_ns >= grace) {
            fm_peer_fail(ch, proc, "the process has ended");
        }
    }
}

void fm_loss_check(struct fm_channel *ch, uint64_t now_ns)
{
    if (ch->is_gone && now_ns >= ch->loss_check_at) {
        ch->loss_check_at = now_ns + ch->progress_counters->gone_ms * 1000000u;
        check_all(ch, now_ns);
    }
}
