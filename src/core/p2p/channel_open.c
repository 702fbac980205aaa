/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a channel. */
#include "core/p2p/channel_open.h"

#include <stdlib.h>
#include <string.h>

#include "core/p2p/bsend.h"
#include "core/p2p/counting.h"
#include "core/p2p/deliver.h"
#include "core/p2p/fetch.h"
#include "core/p2p/loss.h"
#include "core/p2p/probe.h"
#include "core/p2p/progress_vars.h"
#include "core/p2p/recv.h"
#include "core/p2p/unexpected.h"
#include "core/p2p/wait.h"

/* Address space for unexpected messages: only what is used costs memory. */
#define MAX_BLOCKS  ((size_t)1 << 23)
#define MAX_FETCHES ((size_t)1 << 16)

/* ---- communicators ---- */

struct cleaning {
    struct fm_channel *ch;
    struct fm_comm *comm;
    uint64_t n_found;
};

/* Messages that were here before their communicator. */
static void count_early(struct fm_unexpected *x, void *ctx)
{
    struct cleaning *c = ctx;

    c->n_found += x->key.context == c->comm->context;
}

/* Nobody can receive them any more. */
static void drop_late(struct fm_unexpected *x, void *ctx)
{
    struct cleaning *c = ctx;
    struct fm_unexp *u = fm_container_of(x, struct fm_unexp, u);

    if ((x->key.context & ~(uint32_t)FM_SPACE_MASK) != c->comm->context || u->self) {
        return;
    }
    fm_match_drop(c->ch->match, x);
    fm_unexp_taken(c->ch, u);
    if (u->kind != FM_WIRE_RTS && u->proc != c->ch->self) {
        fm_peer_of(c->ch, u->proc)->released += u->n_blocks;
    }
    fm_unexp_free(c->ch, u);
}

static void comm_changed(struct fm_comm *comm, bool is_made)
{
    struct fm_channel *ch = comm->ch;
    struct cleaning c = {.ch = ch, .comm = comm};

    if (!ch) {
        return;
    }
    if (!is_made) {
        fm_match_each_unexpected(ch->match, drop_late, &c);
        fm_contexts_remove(&ch->contexts, comm);
        fm_bsend_orphan(ch, comm);
        return;
    }
    if (fm_contexts_add(&ch->contexts, comm) != 0) {
        fm_channel_fail(ch, -FM_E_NOMEM, "%s", fm_why());
        return;
    }
    fm_match_each_unexpected(ch->match, count_early, &c);
    FM_STAT(comm->counters->umq_len += c.n_found);
}

/* ---- making ---- */

/* The block of a table: the registry's, or private memory with the defaults in it. */
static void *take_counters(struct fm_channel *ch, int k, void *given,
                           const struct fathom_table *table)
{
    if (given) {
        return given;
    }
    ch->own_counters[k] = calloc(1, table->block_len);
    for (int i = 0; ch->own_counters[k] && i < table->n_cvars; i++) {
        *(uint64_t *)((char *)ch->own_counters[k] + table->cvars[i].at) =
            (uint64_t)table->cvars[i].def;
    }
    return ch->own_counters[k];
}

static int make_counters(struct fm_channel *ch, const struct fm_channel_counters *counters)
{
    struct fm_channel_counters none = {0};

    counters = counters ? counters : &none;
    ch->match_counters = take_counters(ch, 0, counters->match, &fm_match_vars);
    ch->counters = take_counters(ch, 1, counters->p2p, &fm_p2p_vars);
    ch->progress_counters = take_counters(ch, 2, counters->progress, &fm_progress_vars);
    if (!ch->match_counters || !ch->counters || !ch->progress_counters) {
        return fm_fail(-FM_E_NOMEM, "no memory for the counters of the engine");
    }
    return 0;
}

/* The share of one sender in unexpected memory, in blocks; at most that of so many bytes. */
static uint32_t window_of(const struct fm_channel *ch, int n_peers, uint64_t most_bytes)
{
    uint64_t n = n_peers > 1 ? (uint64_t)n_peers - 1 : 1;
    uint64_t blocks = ch->counters->unexpected_limit / FM_BLOCK_LEN / n;
    uint64_t most = most_bytes / FM_BLOCK_LEN;

    if (blocks > most) {
        blocks = most;
    }
    if (blocks < FM_WINDOW_MIN) {
        blocks = FM_WINDOW_MIN;
    }
    return blocks < INT32_MAX ? (uint32_t)blocks : INT32_MAX;
}

static int make(struct fm_channel *ch, int n_peers, const struct fm_channel_counters *counters)
{
    int rc = make_counters(ch, counters);

    if (rc != 0) {
        return rc;
    }
    fm_wait_init(ch);
    ch->n_untimed = FM_TIMED_ROUNDS;
    ch->window = window_of(ch, n_peers, UINT64_MAX);
    ch->far_window = window_of(ch, n_peers, ch->counters->sender_limit);
    FM_STAT(ch->counters->window_bytes = (uint64_t)ch->window * FM_BLOCK_LEN);
    rc = fm_peer_create_all(ch, n_peers);
    rc = rc ? rc : fm_match_create(ch->match_counters, &ch->match);
    rc = rc ? rc : fm_pool_init(&ch->blocks, FM_BLOCK_LEN, MAX_BLOCKS);
    rc = rc ? rc : fm_pool_init(&ch->fetches, FM_FETCH_LEN, MAX_FETCHES);
    rc = rc ? rc : fm_recv_blocking_create(ch);
    rc = rc ? rc : fm_message_init();
    return rc ? rc : fm_request_init(&ch->counters->req);
}

int fm_channel_create(int n_peers, int self, const struct fm_channel_counters *counters,
                      struct fm_channel **out_ch)
{
    struct fm_channel *ch = calloc(1, sizeof(*ch));
    int rc;

    if (!ch) {
        return fm_fail(-FM_E_NOMEM, "no memory for a channel");
    }
    ch->self = self;
    ch->n_local = 1;
    ch->lock = &fm_root.lock;
    ch->page = &ch->own_page;
    ch->enough = &ch->never;
    fm_list_init(&ch->waiting);
    fm_list_init(&ch->hooks);
    fm_loss_init(ch);
    rc = make(ch, n_peers, counters);
    if (rc != 0) {
        fm_channel_destroy(ch);
        return rc;
    }
    fm_deliver_install(ch);
    if (!fm_channel_main()) {
        fm_channel_set_main(ch);
    }
    fm_root.comm_changed = comm_changed;
    *out_ch = ch;
    return 0;
}

static void peer_failed(void *ctx, int peer, const char *why)
{
    struct fm_channel *ch = ctx;

    if (peer >= 0 && peer < ch->n_peers && peer != ch->self) {
        fm_peer_fail(ch, peer, why);
    }
}

void fm_channel_sink(struct fm_channel *ch, struct fm_sink *out_sink)
{
    *out_sink = (struct fm_sink){
        .ctx = ch, .deliver = fm_deliver, .failed = peer_failed, .enough = &ch->enough};
}

int fm_channel_attach(struct fm_channel *ch, struct fm_transport *tp)
{
    int rc = fm_transport_check(tp);

    if (rc != 0) {
        return rc;
    }
    if (ch->n_transports == FM_MAX_TRANSPORTS) {
        return fm_fail(-FM_E_INTERNAL, "more than %d transports", FM_MAX_TRANSPORTS);
    }
    ch->transports[ch->n_transports++] = tp;
    return 0;
}

/* ---- ending ---- */

void fm_channel_destroy(struct fm_channel *ch)
{
    if (!ch) {
        return;
    }
    if (fm_channel_main() == ch) {
        fm_channel_set_main(NULL);
    }
    for (int k = 0; k < ch->n_transports; k++) {
        ch->transports[k]->ops->close(ch->transports[k]);
    }
    fm_bsend_finish(ch);
    fm_request_free_done(ch->sent);
    free(ch->blocking_memory);
    fm_wait_finish(ch);
    fm_request_init(NULL);
    fm_match_destroy(ch->match);
    fm_contexts_finish(&ch->contexts);
    fm_ids_finish(&ch->ids);
    fm_pool_finish(&ch->blocks);
    fm_pool_finish(&ch->fetches);
    fm_peer_destroy_all(ch);
    for (size_t k = 0; k < FM_ARRAY_LEN(ch->own_counters); k++) {
        free(ch->own_counters[k]);
    }
    free(ch);
}

static bool is_drained(void *ctx)
{
    const struct fm_channel *ch = ctx;

    return ch->n_sending == 0 && ch->n_waiting == 0;
}

int fm_channel_drain(struct fm_channel *ch)
{
    return fm_wait_until(ch, is_drained, ch);
}
