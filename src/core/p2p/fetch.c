/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetching: the data of a rendezvous message goes from where it lies at the sender to where it
 * belongs at the receiver by transfers of memory, without being packed.
 *
 * Both sides are one run of bytes: chunks of it, several transfers at a time. Else the message is
 * walked over in step on both sides, the sender's side along the layout that came with the RTS; a
 * piece ends where one of the sides does. A transport that takes lists gets many pieces in one
 * transfer, the others one transfer per piece.
 *
 * Where the sender had better push the data (rndv.c), a fetch begins with asking for that, and with
 * patience: it takes the first transfer only when for a while nothing has come. What comes later is
 * placed all the same, it is what is fetched; whichever way is done first ends the message, once
 * no transfer is in flight.
 */
#include "core/p2p/fetch.h"

#include <stdlib.h>

#include "core/p2p/p2p_counters.h"
#include "core/p2p/progress.h"
#include "core/p2p/recv_req.h"
#include "util/sync.h"

#define DEPTH_MAX 8
#define LIST_MAX  128

/* One transfer of a message that is fetched. */
struct part {
    struct fm_rma rma;
    struct fm_fetch *fetch;
    bool is_flying;
};

/* Where the pieces are. */
struct pieces {
    struct fm_pack here;
    struct fm_pack_layout there;
    struct fm_rma_piece list[LIST_MAX]; /* of the transfer under way */
};

/* A message that is fetched. Waits in the peer's bulk queue while there is a transfer to start and
   a place for it. */
struct fm_fetch {
    struct fm_out out;
    struct fm_channel *ch;
    struct fm_recv_req *r;
    const struct fm_fetch_user *user;
    struct fm_rkey key;
    struct pieces *pieces; /* NULL: both sides are one run */
    struct fm_mem mem;     /* registration of the buffer */
    bool has_mem;
    bool is_asked;   /* the sender may push */
    uint32_t n_idle; /* looks in which the peer had pushed nothing, */
    uint64_t seen;   /* and its n_data then */
    uint64_t until;  /* when patience is over; 0: the clock was not looked at */
    bool is_late;    /* at the last look at the clock it was */
    bool is_aborted;
    bool is_starting; /* inside rma(): done() must not end the fetch */
    int status;       /* first failure of a transfer */
    int n_flying;
    int depth;
    size_t at; /* bytes whose transfer was started */
    struct part parts[DEPTH_MAX];
};

_Static_assert(sizeof(struct fm_fetch) <= FM_FETCH_LEN, "fits the pool");

bool fm_fetch_pays(const struct fm_channel *ch, const struct fm_transport *tp, MPI_Count len,
                   MPI_Count n_pieces)
{
    uint64_t min = tp->max_pieces > 1 ? ch->counters->piece_min : ch->counters->piece_rma_min;

    return n_pieces <= 1 || (uint64_t)(len / n_pieces) >= min;
}

static bool is_whole(const struct fm_recv_req *r, const struct fm_rts *rts)
{
    return r->msg.dtype->is_contig && rts->n_runs == 0;
}

static bool is_possible(const struct fm_channel *ch, const struct fm_recv_req *r,
                        const struct fm_rts *rts)
{
    const struct fm_transport *tp = r->peer->ep->tp;

    return rts->has_key && tp->has_rma && !r->peer->no_rma &&
           fm_fetch_pays(ch, tp, r->cap, fm_pack_n_pieces(r->msg.count, r->msg.dtype));
}

static void free_fetch(struct fm_fetch *f)
{
    if (f->has_mem) {
        struct fm_transport *tp = f->r->peer->ep->tp;

        tp->ops->unexpose(tp, &f->mem);
    }
    free(f->pieces);
    fm_peer_unwait(f->ch, f->r->peer, &f->out);
    f->r->fetch = NULL;
    fm_pool_put(&f->ch->fetches, f);
}

/* Nothing flies, and nothing more is to be started. */
static void finish(struct fm_fetch *f)
{
    struct fm_channel *ch = f->ch;
    struct fm_recv_req *r = f->r;
    const struct fm_fetch_user *user = f->user;
    int status = f->status;
    bool is_asked = f->is_asked;
    bool is_aborted = f->is_aborted || r->peer->is_gone || status == -FM_E_PEER;

    free_fetch(f);
    if (is_aborted) {
        fm_peer_fail(ch, r->peer->proc, fm_why()); /* a transfer may be the first to notice */
        fm_recv_req_lost(ch, r, r->peer);
    } else if (status != 0 && !(is_asked && r->got == r->want)) {
        FM_STAT(ch->counters->n_rma_fallbacks++);
        r->peer->no_rma = true;
        if (!is_asked) { /* else it comes sooner or later */
            user->ask(ch, r, false);
        }
    } else {
        user->done(ch, r);
    }
}

static bool is_covered(const struct fm_fetch *f)
{
    return f->is_asked && f->r->got == f->r->want;
}

static bool is_over(const struct fm_fetch *f)
{
    bool all = f->at == (size_t)f->r->want || f->status != 0 || f->is_aborted || is_covered(f);

    return all && f->n_flying == 0 && !f->is_starting;
}

static void part_done(struct fm_rma *rma, int status)
{
    struct part *p = fm_container_of(rma, struct part, rma);
    struct fm_fetch *f = p->fetch;
    bool is_waiting = f->out.link.next && !fm_list_is_empty(&f->out.link);

    p->is_flying = false;
    f->n_flying--;
    if (status != 0 && f->status == 0) {
        f->status = status;
    }
    if (is_over(f)) {
        finish(f);
    } else if (!is_waiting && !f->is_starting && f->status == 0 && !f->is_aborted &&
               f->at < (size_t)f->r->want) {
        fm_peer_wait(f->ch, f->r->peer, &f->out, FM_QUEUE_BULK);
    }
}

static struct part *free_part(struct fm_fetch *f)
{
    for (int k = 0; k < f->depth; k++) {
        if (!f->parts[k].is_flying) {
            return &f->parts[k];
        }
    }
    return NULL;
}

/* The next piece, of at most `max` bytes: false at the end. */
static bool next_piece(struct pieces *p, size_t max, struct fm_rma_piece *out)
{
    void *there;
    size_t n = fm_pack_piece(&p->here, max, &out->local);

    out->len = fm_pack_piece(&p->there.pack, n, &there);
    fm_pack_seek(&p->here, p->there.pack.at);
    out->remote_at = (uintptr_t)there;
    return out->len > 0;
}

/* As many pieces as one transfer takes, from byte f->at on. */
static void gather(struct fm_fetch *f, const struct fm_transport *tp, size_t max,
                   struct fm_rma *rma)
{
    struct pieces *p = f->pieces;
    uint32_t most = tp->max_pieces < LIST_MAX ? tp->max_pieces : LIST_MAX;

    /* What a refused transfer took is taken again. */
    fm_pack_seek(&p->here, (MPI_Count)f->at);
    fm_pack_seek(&p->there.pack, (MPI_Count)f->at);
    rma->len = 0;
    rma->n_pieces = 0;
    do {
        struct fm_rma_piece *next = &p->list[rma->n_pieces];

        if (!next_piece(p, max - rma->len, next)) {
            break;
        }
        rma->len += next->len;
        rma->n_pieces++;
    } while (rma->n_pieces < most);
    if (most > 1) {
        rma->pieces = p->list;
        return;
    }
    rma->local = p->list[0].local;
    rma->remote_at = p->list[0].remote_at;
    rma->n_pieces = 0;
}

static void describe(struct fm_fetch *f, const struct fm_transport *tp, struct fm_rma *rma)
{
    size_t left = (size_t)f->r->want - f->at;
    size_t max = left < f->ch->counters->rma_chunk ? left : f->ch->counters->rma_chunk;

    *rma = (struct fm_rma){
        .op = FM_RMA_GET, .remote = f->key, .mem = f->has_mem ? &f->mem : NULL, .done = part_done};
    if (f->pieces) {
        gather(f, tp, max, rma);
        return;
    }
    rma->local = (char *)f->r->msg.buf + f->r->msg.dtype->true_lb + f->at;
    rma->len = max;
    rma->remote_at = f->at;
}

/* Start the next transfer. */
static int fetch_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_fetch *f = fm_container_of(out, struct fm_fetch, out);
    struct part *p = free_part(f);
    int rc;

    p->fetch = f;
    p->is_flying = true;
    describe(f, peer->ep->tp, &p->rma);
    f->n_flying++;
    f->is_starting = true;
    rc = peer->ep->ops->rma(peer->ep, &p->rma);
    f->is_starting = false;
    if (rc != 0) {
        p->is_flying = false;
        f->n_flying--;
        FM_STAT(ch->counters->n_refused += rc == FM_AGAIN);
        if (rc == FM_AGAIN) {
            return rc;
        }
        f->status = f->status ? f->status : rc;
    } else {
        FM_STAT(ch->counters->n_rma++);
        FM_STAT(ch->counters->rma_bytes += p->rma.len);
        FM_STAT(ch->counters->n_pieces += p->rma.n_pieces ? p->rma.n_pieces : f->pieces != NULL);
        f->at += p->rma.len;
    }
    if (is_over(f)) {
        finish(f);
    } else if (f->status != 0 || f->at == (size_t)f->r->want || !free_part(f)) {
        fm_peer_unwait(ch, peer, out);
    }
    return 0;
}

/* ---- patience ---- */

/* Looks between two at the clock. */
#define IDLE_LOOKS 8

/* Fetch what has not come. */
static void lose_patience(struct fm_fetch *f)
{
    struct fm_channel *ch = f->ch;

    fm_peer_unwait(ch, f->r->peer, &f->out);
    f->at = (size_t)f->r->got;
    f->out.emit = fetch_emit;
    fm_peer_wait(ch, f->r->peer, &f->out, FM_QUEUE_BULK);
    FM_STAT(ch->counters->n_impatient++);
}

/* The peer may push others first. When time is up it gets some looks more: this process may have
   been busy with copying of its own, and not have looked what came. */
static bool is_patient(struct fm_fetch *f)
{
    uint64_t n_data = f->r->peer->q->n_data, now;
    bool was_late = f->is_late;

    if (f->seen != n_data) {
        f->seen = n_data;
        f->n_idle = 0;
        f->until = 0;
    }
    if (++f->n_idle % IDLE_LOOKS) {
        return true;
    }
    now = fm_now_ns();
    f->until = f->until ? f->until : now + f->ch->counters->push_us * 1000;
    f->is_late = now >= f->until;
    return !f->is_late || !was_late;
}

/* Who does not push this one pushes none of those that wait behind it. */
static int patient_emit(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_list *waiting = &peer->q->lists[FM_QUEUE_PATIENT], *first;

    if (is_patient(fm_container_of(out, struct fm_fetch, out))) {
        return FM_AGAIN;
    }
    while ((first = fm_list_first(waiting))) {
        struct fm_out *next = fm_container_of(first, struct fm_out, link);

        lose_patience(fm_container_of(next, struct fm_fetch, out));
    }
    return 0;
}

bool fm_fetch_covered(struct fm_recv_req *r)
{
    struct fm_fetch *f = r->fetch;

    if (!f) {
        return false;
    }
    if (f->n_flying > 0 || f->is_starting) {
        return true;
    }
    free_fetch(f);
    return false;
}

/* Is it worth to ask? Not when the sender can only push while this process does not run. */
static bool is_to_push(const struct fm_channel *ch, const struct fm_rts *rts)
{
    return rts->can_push && rts->len <= ch->counters->push_max && ch->counters->push_us &&
           !fm_progress_is_crowded(ch);
}

/* ---- beginning and end ---- */

static void fetch_abort(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_fetch *f = fm_container_of(out, struct fm_fetch, out);

    f->is_aborted = true;
    fm_peer_unwait(ch, peer, out);
    if (is_over(f)) {
        finish(f);
    }
}

/* The two sides of a message that is not whole. NULL: no memory, or a layout that is not sound. */
static struct pieces *pieces_of(const struct fm_recv_req *r, const struct fm_rts *rts)
{
    struct fm_pack_run whole = {.len = (int64_t)rts->len, .n0 = 1, .n1 = 1};
    struct pieces *p = malloc(sizeof(*p));

    if (!p || !fm_pack_layout_begin(&p->there, NULL, rts->n_runs ? rts->runs : &whole,
                                    rts->n_runs ? rts->n_runs : 1, (MPI_Count)rts->len)) {
        free(p);
        return NULL;
    }
    fm_pack_begin(&p->here, r->msg.buf, r->msg.count, r->msg.dtype);
    return p;
}

/* The receive ends with an error. */
static bool abort_fetch(struct fm_channel *ch, struct fm_recv_req *r)
{
    struct fm_fetch *f = r->fetch;

    if (!f) {
        return false;
    }
    f->is_aborted = true;
    fm_peer_unwait(ch, r->peer, &f->out);
    if (f->n_flying > 0 || f->is_starting) {
        return true;
    }
    free_fetch(f);
    return false;
}

static void set_up(struct fm_fetch *f, struct fm_channel *ch, struct fm_recv_req *r,
                   const struct fm_rts *rts)
{
    struct fm_transport *tp = r->peer->ep->tp;

    memset(f, 0, sizeof(*f));
    f->out = (struct fm_out){.emit = fetch_emit, .abort = fetch_abort};
    f->ch = ch;
    f->r = r;
    f->key = rts->key;
    f->depth = (int)ch->counters->rma_depth < DEPTH_MAX ? (int)ch->counters->rma_depth : DEPTH_MAX;
    r->fetch = f;
    r->abort_fetch = abort_fetch;
    if (tp->wants_local_mem && r->msg.dtype->is_contig) {
        f->has_mem = tp->ops->expose(tp, (char *)r->msg.buf + r->msg.dtype->true_lb,
                                     (size_t)r->want, 0, FM_MEM_REQUEST, &f->mem) == 0;
    }
}

bool fm_fetch_start(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_rts *rts,
                    const struct fm_fetch_user *user)
{
    struct pieces *pieces = NULL;
    struct fm_fetch *f;

    if (!is_possible(ch, r, rts)) {
        return false;
    }
    if (!is_whole(r, rts) && !(pieces = pieces_of(r, rts))) {
        return false;
    }
    f = fm_pool_get(&ch->fetches);
    if (!f) {
        free(pieces);
        return false;
    }
    set_up(f, ch, r, rts);
    f->user = user;
    if (pieces) {
        f->pieces = pieces;
        f->depth = r->peer->ep->tp->max_pieces > 1 ? 1 : f->depth; /* there is one list */
        FM_STAT(ch->counters->n_piecewise++);
    }
    if (FM_UNLIKELY(ch->counters->on_data_start)) {
        fm_p2p_emit(ch, FM_EV_DATA_START, r->peer->proc, fm_msg_context(&r->msg), r->req.status.tag,
                    (uint64_t)r->want);
    }
    if (is_to_push(ch, rts)) {
        f->is_asked = true;
        f->out.emit = patient_emit;
        fm_peer_wait(ch, r->peer, &f->out, FM_QUEUE_PATIENT);
        FM_STAT(ch->counters->n_pushes++);
        user->ask(ch, r, true);
    } else {
        fm_peer_wait(ch, r->peer, &f->out, FM_QUEUE_BULK);
    }
    return true;
}
