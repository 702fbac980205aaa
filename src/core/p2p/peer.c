/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: first contact, what waits for room, credit, and their end. */
#include "core/p2p/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"

_Static_assert(sizeof(struct fm_peer) == FM_CACHE_LINE, "hot");

/* Address space for peers: only what is used costs memory. */
#define MAX_PEERS ((size_t)1 << 20)

static int add_peer(struct fm_channel *ch, int remote_id, uint32_t max_window)
{
    struct fm_peer *peer = fm_pool_get(&ch->peer_pool);
    struct fm_peer_queues *q = peer ? fm_pool_get(&ch->peer_queues) : NULL;

    if (!q) {
        return fm_fail(-FM_E_NOMEM, "no memory for more than %d peers", ch->n_peers);
    }
    /* Objects of a pool from which none is returned lie one behind the other. */
    ch->peers = ch->peers ? ch->peers : peer;
    memset(q, 0, sizeof(*q));
    q->peer = peer;
    q->max_window = max_window;
    fm_list_init(&q->link);
    fm_list_init(&q->lost);
    for (int k = 0; k < FM_QUEUES; k++) {
        fm_list_init(&q->lists[k]);
    }
    *peer = (struct fm_peer){.proc = ch->n_peers++, .remote_id = remote_id, .q = q};
    peer->window = ch->far_window < max_window ? ch->far_window : max_window;
    return 0;
}

int fm_peer_create_all(struct fm_channel *ch, int n)
{
    size_t max = (size_t)n > MAX_PEERS / 2 ? (size_t)n * 2 : MAX_PEERS;
    int rc = fm_pool_init(&ch->peer_pool, sizeof(struct fm_peer), max);

    rc = rc ? rc : fm_pool_init(&ch->peer_queues, sizeof(struct fm_peer_queues), max);
    for (int k = 0; rc == 0 && k < n; k++) {
        rc = add_peer(ch, ch->self, UINT32_MAX);
    }
    return rc;
}

void fm_peer_destroy_all(struct fm_channel *ch)
{
    for (int k = 0; k < ch->n_peers; k++) {
        free(fm_peer_of(ch, k)->q->why);
    }
    fm_pool_finish(&ch->peer_pool);
    fm_pool_finish(&ch->peer_queues);
}

int fm_peer_add(struct fm_channel *ch, int remote_id, int *out_proc)
{
    int proc = ch->n_peers;
    int rc = add_peer(ch, remote_id, FM_WINDOW_MIN);

    if (rc == 0) {
        *out_proc = proc;
    }
    return rc;
}

static uint32_t at_most(uint64_t a, size_t b)
{
    return (uint32_t)(a < b ? a : b);
}

void fm_peer_limits(struct fm_channel *ch, struct fm_peer *peer)
{
    uint64_t eager = ch->counters->eager_limit;
    size_t room;

    if (!peer->ep) {
        return;
    }
    if (eager == FM_EAGER_DEFAULT && peer->ep->tp->eager_len) {
        eager = peer->ep->tp->eager_len;
    }
    room = peer->ep->tp->max_send - sizeof(struct fm_wire_sync);
    peer->eager_limit = at_most(eager, room);
    peer->short_limit = at_most(ch->counters->short_limit, peer->eager_limit);
    peer->window =
        at_most(peer->ep->tp->is_unbounded ? ch->far_window : ch->window, peer->q->max_window);
}

int fm_peer_refuse(const struct fm_peer *peer)
{
    char why[FM_PEER_WHY];

    return fm_fail(-FM_E_PEER, "%s", fm_peer_describe(peer, why));
}

int fm_peer_resolve(struct fm_channel *ch, int proc, struct fm_peer **out_peer)
{
    struct fm_peer *peer = fm_peer_of(ch, proc);
    int rc;

    if (FM_UNLIKELY(peer->is_gone)) {
        return fm_peer_refuse(peer);
    }
    if (FM_LIKELY(peer->ep != NULL)) {
        *out_peer = peer;
        return 0;
    }
    if (!ch->resolve) {
        return fm_fail(-FM_E_UNSUPPORTED, "there is no transport to process %d", proc);
    }
    rc = ch->resolve(ch->resolve_ctx, proc, &peer->ep);
    if (rc != 0) { /* for good: receives from this peer must fail, too, or they wait for ever */
        peer->ep = NULL;
        fm_peer_fail(ch, proc, fm_why());
        return rc;
    }
    peer->is_open = true;
    fm_peer_limits(ch, peer);
    FM_STAT(ch->counters->n_peers++);
    if (FM_UNLIKELY(ch->counters->on_peer)) {
        fm_p2p_emit(ch, FM_EV_PEER, proc, 0, 0, peer->ep->tp->max_send);
    }
    *out_peer = peer;
    return 0;
}

const char *fm_peer_why(const struct fm_peer *peer)
{
    return peer->q->why ? peer->q->why : "no reason was given";
}

const char *fm_peer_describe(const struct fm_peer *peer, char *buf)
{
    snprintf(buf, FM_PEER_WHY, "process %d is gone: %s", peer->proc, fm_peer_why(peer));
    return buf;
}

/* ---- what waits ---- */

static void count_waiting(struct fm_channel *ch, int queue, int by)
{
    FM_STAT(fathom_level_add(
        queue >= FM_QUEUE_BULK ? &ch->counters->bulk_len : &ch->counters->out_len, by));
}

static bool is_idle(const struct fm_peer_queues *q)
{
    for (int k = 0; k < FM_QUEUES; k++) {
        if (!fm_list_is_empty(&q->lists[k])) {
            return false;
        }
    }
    return true;
}

void fm_peer_wait(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out,
                  enum fm_queue queue)
{
    struct fm_peer_queues *q = peer->q;

    if (is_idle(q)) {
        fm_list_push(&ch->waiting, &q->link);
        ch->n_waiting++;
    }
    fm_list_push(&q->lists[queue], &out->link);
    out->queue = (uint8_t)queue;
    count_waiting(ch, queue, 1);
    if (queue == FM_QUEUE_SENDS) {
        peer->is_open = false;
    }
}

void fm_peer_unwait(struct fm_channel *ch, struct fm_peer *peer, struct fm_out *out)
{
    struct fm_peer_queues *q = peer->q;

    if (!out->link.next || fm_list_is_empty(&out->link)) {
        return;
    }
    fm_list_remove(&out->link);
    count_waiting(ch, out->queue, -1);
    if (fm_list_is_empty(&q->lists[FM_QUEUE_SENDS])) {
        peer->is_open = peer->ep && !peer->is_gone;
    }
    if (is_idle(q)) {
        fm_list_remove(&q->link);
        ch->n_waiting--;
    }
}

/* The first of a queue, as long as there is room. How many left, or a failure of the peer. */
static int flush_in_order(struct fm_channel *ch, struct fm_peer *peer, enum fm_queue queue)
{
    struct fm_list *first;
    int n = 0;

    while ((first = fm_list_first(&peer->q->lists[queue]))) {
        struct fm_out *out = fm_container_of(first, struct fm_out, link);
        int rc = out->emit(ch, peer, out);

        if (rc != 0) {
            return rc == FM_AGAIN ? n : rc;
        }
        n++;
    }
    return n;
}

/* A round of fragments of each in turn, so that long messages share the way and caches keep up. */
static int flush_bulk(struct fm_channel *ch, struct fm_peer *peer)
{
    struct fm_list *bulk = &peer->q->lists[FM_QUEUE_BULK];
    int budget = (int)ch->counters->pipeline_depth;
    struct fm_list *first;
    int n = 0;

    while (n < budget && (first = fm_list_first(bulk))) {
        struct fm_out *out = fm_container_of(first, struct fm_out, link);
        int rc = out->emit(ch, peer, out);

        if (rc != 0) {
            return rc == FM_AGAIN ? n : rc;
        }
        n++;
        if (n == budget && fm_list_first(bulk) == first) {
            fm_list_remove(first);
            fm_list_push(bulk, first);
        }
    }
    return n;
}

/* Data comes in the order in which it was asked for: the first is the one to be looked after. */
static int flush_patient(struct fm_channel *ch, struct fm_peer *peer)
{
    struct fm_list *first = fm_list_first(&peer->q->lists[FM_QUEUE_PATIENT]);
    struct fm_out *out = fm_container_of(first, struct fm_out, link);

    return first && out->emit(ch, peer, out) == 0;
}

int fm_peer_flush(struct fm_channel *ch, struct fm_peer *peer)
{
    int n = 0;

    if (FM_UNLIKELY(peer->is_gone)) {
        return 0; /* loss.c empties the queues in this round */
    }
    for (int queue = 0; queue <= FM_QUEUE_BULK; queue++) {
        int rc = queue == FM_QUEUE_BULK ? flush_bulk(ch, peer) : flush_in_order(ch, peer, queue);

        if (FM_UNLIKELY(rc < 0)) {
            fm_peer_fail(ch, peer->proc, fm_why());
            return n + 1;
        }
        n += rc;
    }
    return n + flush_patient(ch, peer);
}

/* ---- failure ---- */

void fm_peer_fail(struct fm_channel *ch, int proc, const char *why)
{
    struct fm_peer *peer = fm_peer_of(ch, proc);

    if (peer->is_gone) {
        return;
    }
    peer->is_gone = true;
    peer->is_open = false;
    if (peer->has_stalled) {
        peer->has_stalled = false;
        ch->n_stalled--;
    }
    peer->q->why = strdup(why && why[0] ? why : "it cannot be reached");
    FM_STAT(ch->counters->n_peers_failed++);
    if (FM_UNLIKELY(ch->counters->on_peer_failed)) {
        fm_p2p_emit(ch, FM_EV_PEER_FAILED, proc, 0, 0, 0);
    }
    fm_list_push(&ch->lost, &peer->q->lost);
    if (!fm_hook_is_added(&ch->loss_hook)) {
        fm_hook_add(ch, &ch->loss_hook);
    }
}
