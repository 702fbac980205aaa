/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages in shared memory; the model is in shm_bulk.h. */
#include "transport/shm/shm_bulk.h"

#include <stdlib.h>
#include <string.h>

#include "transport/shm/shm.h"
#include "util/sync.h"

/* Offset of a message in its block: behind the consumer's line; or, for one that is made in place,
   such that what follows a header of 40 bytes begins a line. */
#define FROM_LINE  FM_CACHE_LINE
#define FROM_PLACE 24

/* Reads in a row above a limit before the peer's processor is classified by it. */
#define N_NO_CACHE     3
#define N_HIGH_LATENCY 8

/* Part of the ring after which the consumer releases lines and the producer reads that: 1/16. */
#define RELEASE_SHIFT 4

/* A message longer than 1/32 of the ring may be a fragment of a pipeline. */
#define LONG_SHIFT 5

static uint32_t n_lines_of(size_t bytes)
{
    return (uint32_t)((bytes + FM_CACHE_LINE - 1) / FM_CACHE_LINE);
}

static char *line(const struct fm_shm_bulk *bulk, uint32_t at)
{
    return bulk->lines + (size_t)(at & (bulk->n_lines - 1)) * FM_CACHE_LINE;
}

/* ---- The producer --------------------------------------------------------------------------- */

/* Which path the latency of a line, in ns, speaks for. Disturbances only make it longer, so one
   short read is enough to go back. */
static void classify(struct fm_shm_ep *ep, uint64_t ns)
{
    struct fm_shm_bulk *bulk = &ep->bulk;
    struct fm_shm_counters *w = fm_shm_of(ep)->counters;
    bool is_slow;

    bulk->n_no_cache = ns > w->no_shared_cache_ns ? bulk->n_no_cache + 1 : 0;
    bulk->is_nontemporal = w->no_shared_cache_ns && bulk->n_no_cache >= N_NO_CACHE;
    bulk->n_high_latency = ns > w->high_latency_ns ? bulk->n_high_latency + 1 : 0;
    is_slow = w->high_latency_ns && bulk->n_high_latency >= N_HIGH_LATENCY;
    bulk->is_bypassed = is_slow && !ep->ep.no_rma;
    if (ep->ep.pushes) {
        ep->ep.pushes = is_slow && !bulk->is_nontemporal ? FM_PUSH_SELDOM : FM_PUSH_ALWAYS;
    }
    FM_STAT(w->line_ns = ns);
}

/* Read how far the consumer has come. If the word has changed, its line comes from the consumer's
   cache, so the time of the read is the latency of a line. */
static void read_done(struct fm_shm_ep *ep)
{
    struct fm_shm_bulk *bulk = &ep->bulk;
    uint64_t t0 = fm_now_ns(), ns;
    uint32_t done = atomic_load_explicit(&ep->tx.ring->bulk_done, memory_order_acquire); /* L' */

    ns = fm_now_ns() - t0;
    bulk->read_at = bulk->at;
    if (done != bulk->done) {
        bulk->done = done;
        classify(ep, ns);
    }
}

/* The line at which the next block of `span` lines begins. */
static uint32_t place_for(const struct fm_shm_bulk *bulk, uint32_t span)
{
    uint32_t n = bulk->n_lines, at = bulk->at;

    return (at & (n - 1)) + span > n ? (at | (n - 1)) + 1 /* the next lap */ : at;
}

/* The same, and whether these lines are free. */
static bool find_room(struct fm_shm_ep *ep, uint32_t span, uint32_t *out_at)
{
    struct fm_shm_bulk *bulk = &ep->bulk;
    uint32_t n = bulk->n_lines, at = place_for(bulk, span);

    if (at + span - bulk->done > n || at - bulk->read_at > n >> RELEASE_SHIFT) {
        read_done(ep);
    }
    *out_at = at;
    return at + span - bulk->done <= n;
}

static void copy_in(struct fm_shm_ep *ep, void *to, const void *from, size_t len)
{
    if (ep->bulk.is_nontemporal) {
        fm_shm_stream_copy(to, from, len);
        FM_STAT(fm_shm_of(ep)->counters->n_nontemporal++);
    } else {
        memcpy(to, from, len);
    }
}

int fm_shm_bulk_put(struct fm_shm_ep *ep, struct fm_shm_desc *desc, const void *head,
                    size_t head_len, const void *body, size_t body_len)
{
    struct fm_shm_bulk *bulk = &ep->bulk;
    bool is_split = head_len <= FM_SHM_DESC_HEAD && head_len % 8 == 0 && body_len > 0;
    size_t here = is_split ? body_len : head_len + body_len;
    uint32_t at;
    char *to;

    if (!find_room(ep, n_lines_of(FROM_LINE + here), &at)) {
        return FM_AGAIN;
    }
    to = line(bulk, at) + FROM_LINE;
    if (is_split) {
        memcpy(desc->head, head, head_len);
        copy_in(ep, to, body, body_len);
    } else {
        memcpy(to, head, head_len);
        if (body_len > 0) { /* a message without a body has no address of one */
            memcpy(to + head_len, body, body_len);
        }
    }
    desc->at = at;
    desc->len = (uint32_t)(head_len + body_len);
    desc->from = FROM_LINE;
    desc->head_len = is_split ? (uint16_t)head_len : 0;
    bulk->at = at + n_lines_of(FROM_LINE + here);
    return 0;
}

/* Own memory in which a message is made that is then copied by non-temporal stores. NULL: none, it
   is made in place. */
static char *staging_of(struct fm_shm_transport *t)
{
    if (!t->staging) {
        t->staging = aligned_alloc(FM_CACHE_LINE, t->geometry.max_send + 2 * FM_CACHE_LINE);
        if (t->staging) {
            memset(t->staging, 0, FM_CACHE_LINE);
        }
    }
    return t->staging;
}

int fm_shm_bulk_reserve(struct fm_shm_ep *ep, size_t len, void **out_room)
{
    struct fm_shm_bulk *bulk = &ep->bulk;
    uint32_t at;

    if (!find_room(ep, n_lines_of(FROM_PLACE + len), &at)) {
        return FM_AGAIN;
    }
    bulk->at = at; /* a reservation that is cancelled loses the rest of a lap, no more */
    bulk->staging = bulk->is_nontemporal ? staging_of(fm_shm_of(ep)) : NULL;
    bulk->has_room = true;
    *out_room = (bulk->staging ? bulk->staging : line(bulk, at)) + FROM_PLACE;
    return 0;
}

void fm_shm_bulk_commit(struct fm_shm_ep *ep, struct fm_shm_desc *desc, size_t len)
{
    struct fm_shm_bulk *bulk = &ep->bulk;

    bulk->has_room = false;
    if (len == 0) {
        return;
    }
    if (bulk->staging) { /* whole lines, with the bytes in front */
        copy_in(ep, line(bulk, bulk->at), bulk->staging, FROM_PLACE + len);
    }
    *desc = (struct fm_shm_desc){.at = bulk->at, .len = (uint32_t)len, .from = FROM_PLACE};
    bulk->at += n_lines_of(FROM_PLACE + len);
}

/*
 * Not for the fragments of a pipeline: these are copied in whole lines, whose requests for
 * ownership overlap anyway, so a prefetch would only write each line twice. It is a pipeline when
 * the consumer is further behind than in a ping-pong.
 */
void fm_shm_bulk_prefetch(struct fm_shm_bulk *bulk, size_t len)
{
    uint32_t n = n_lines_of(FROM_LINE + len);
    uint32_t at = place_for(bulk, n);
    bool may_be_fragment = n > bulk->n_lines >> LONG_SHIFT && !bulk->is_bypassed;

    if (bulk->is_nontemporal || at + n - bulk->done > bulk->n_lines ||
        (may_be_fragment && bulk->at - bulk->done > (bulk->n_lines >> RELEASE_SHIFT) + n)) {
        return;
    }
    for (uint32_t k = 1; k < n; k++) {
        line(bulk, at + k)[FM_CACHE_LINE - 1] = 0;
    }
}

/* ---- The consumer --------------------------------------------------------------------------- */

const void *fm_shm_bulk_find(const struct fm_shm_bulk *bulk, const void *slot, size_t max_len,
                             size_t *out_len, uint32_t *out_end)
{
    struct fm_shm_desc d;
    uint32_t span;
    char *data;

    memcpy(&d, slot, sizeof(d)); /* once: the peer can change it at any time */
    if ((d.from != FROM_LINE && d.from != FROM_PLACE) || d.head_len > d.from || d.head_len % 8 ||
        d.head_len > FM_SHM_DESC_HEAD || d.len <= d.head_len || d.len > max_len) {
        return NULL;
    }
    span = n_lines_of((size_t)d.from + d.len - d.head_len);
    if (d.at - bulk->at >= bulk->n_lines || (d.at & (bulk->n_lines - 1)) + span > bulk->n_lines) {
        return NULL;
    }
    data = line(bulk, d.at) + d.from - d.head_len;
    memcpy(data, d.head, d.head_len);
    *out_len = d.len;
    *out_end = d.at + span;
    return data;
}

void fm_shm_bulk_advance(struct fm_shm_bulk *bulk, struct fm_shm_fast *ring, uint32_t end)
{
    bulk->at = end;
    if (end - bulk->done > bulk->n_lines >> RELEASE_SHIFT) {
        bulk->done = end;
        atomic_store_explicit(&ring->bulk_done, end, memory_order_release); /* L */
    }
}
