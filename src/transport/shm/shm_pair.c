/* SPDX-License-Identifier: BSD-3-Clause */
/* The rings that a pair of processes has for itself: when a sender claims them at a receiver. */
#include <sys/mman.h>

#include "transport/shm/shm.h"

static bool open_fast(struct fm_shm_ep *ep, uint32_t k)
{
    const struct fm_shm_geometry *g = &ep->geometry;

    return fm_shm_segment_reserve(ep, g->fast_at + k * g->fast_stride, g->bulk_at);
}

/* The number of a fast ring that is ours now; -1: all are claimed, or memory is short. A claimed
   ring is never given back; its receiver polls it from the announcement in the inbox on. */
static int32_t claim(struct fm_shm_ep *ep)
{
    const struct fm_shm_geometry *g = &ep->geometry;
    uint32_t k = atomic_load_explicit(&ep->header->n_claimed, memory_order_relaxed);

    if (k < g->n_fast) { /* else the number would grow for ever */
        k = atomic_fetch_add_explicit(&ep->header->n_claimed, 1, memory_order_relaxed);
    }
    return k < g->n_fast && open_fast(ep, k) ? (int32_t)k : -1;
}

/* 0 when the fast ring is in use from now on, or when there will be none; FM_AGAIN while the inbox
   has no space to tell the receiver. */
static int begin_fast(struct fm_shm_ep *ep)
{
    struct fm_shm_transport *t = fm_shm_of(ep);
    const struct fm_shm_geometry *g = &ep->geometry;
    struct fm_shm_unit *u;

    if (ep->claimed < 0) {
        ep->claimed = claim(ep);
    }
    if (ep->claimed < 0) {
        FM_STAT(t->counters->n_fast_refused++);
        ep->is_fast_tried = true;
        ep->ep.pushes = FM_PUSH_NEVER;
        return 0;
    }
    u = fm_shm_inbox_reserve(ep->inbox, g->inbox_len, 0);
    if (!u) {
        return FM_AGAIN;
    }
    u->len = (uint64_t)ep->claimed;
    fm_shm_inbox_publish(u, fm_shm_inbox_span(0), FM_SHM_FAST_RING);
    fm_shm_fast_attach(&ep->tx,
                       (char *)ep->header + g->fast_at + (uint64_t)ep->claimed * g->fast_stride,
                       g->n_slots);
    ep->tx.prefetches = !ep->must_fence; /* the fence would wait for these lines */
    ep->is_fast_tried = true;
    FM_STAT(t->counters->n_fast_claimed++);
    FM_STAT(if (t->counters->on_fast_claimed) fm_shm_event_fast(ep));
    return 0;
}

static bool open_bulk(struct fm_shm_ep *ep)
{
    const struct fm_shm_geometry *g = &ep->geometry;
    uint64_t at = g->fast_at + (uint32_t)ep->claimed * g->fast_stride + g->bulk_at;

    if (!g->bulk_len || !fm_shm_segment_reserve(ep, at, g->bulk_len)) {
        return false;
    }
    /* All in one call, which is many times faster than fault by fault. Old kernels refuse. */
    (void)madvise((char *)ep->header + at, g->bulk_len, MADV_POPULATE_WRITE);
    ep->bulk.lines = (char *)ep->header + at;
    ep->bulk.n_lines = (uint32_t)(g->bulk_len / FM_CACHE_LINE);
    FM_STAT(fm_shm_of(ep)->counters->n_bulk_rings++);
    return true;
}

/* Long messages take the bulk ring from now on, or without one the slots of the fast ring. */
static void begin_bulk(struct fm_shm_ep *ep)
{
    if (!open_bulk(ep)) {
        ep->fast_max = ep->ep.tp->max_send;
        ep->ep.pushes = FM_PUSH_NEVER;
    }
}

/* Has this pair sent enough for a fast ring? A long message needs one immediately. */
static bool is_fast_due(struct fm_shm_ep *ep, size_t len)
{
    if (ep->fast_after && len <= ep->fast_max) {
        ep->fast_after--;
        return false;
    }
    ep->fast_after = 0;
    return !ep->is_fast_tried;
}

int fm_shm_pair_prepare(struct fm_shm_ep *ep, size_t len)
{
    if (!ep->tx.ring && is_fast_due(ep, len) && begin_fast(ep)) {
        return FM_AGAIN;
    }
    if (ep->tx.ring && len > ep->fast_max && !ep->bulk.lines) {
        begin_bulk(ep);
    }
    return 0;
}
