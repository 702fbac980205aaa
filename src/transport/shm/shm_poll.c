/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving. A short message in a fast ring takes the fast path through poll_fast(). Nothing that
 * lies in shared memory is trusted.
 */
#include "transport/shm/shm.h"

/* Messages taken from one fast ring, or from the inbox, in one poll. */
#define BURST 32

bool fm_shm_poll_has_work(struct fm_shm_transport *t)
{
    uint64_t span;
    uint32_t len, kind;

    for (unsigned k = 0; k < t->n_rx; k++) {
        if (fm_shm_fast_peek(&t->rx[k], &len)) {
            return true;
        }
    }
    return fm_shm_inbox_peek(t->inbox, t->inbox_len, t->inbox_head, &span, &kind) != NULL;
}

FM_COLD static int broken(const char *what)
{
    return fm_fail(-FM_E_PROTO, "shared memory holds what no peer writes (%s)", what);
}

static FM_INLINE void deliver(struct fm_shm_transport *t, const void *data, size_t len)
{
    FM_STAT(fm_traffic_add(&t->counters->received, len));
    t->tp.sink.deliver(t->tp.sink.ctx, data, len);
}

/* A message whose body lies in the bulk ring of pair k. Its descriptor's length, or a failure. */
static int take_bulk(struct fm_shm_transport *t, unsigned k, const struct fm_shm_slot *slot)
{
    struct fm_shm_bulk *bulk = &t->bulks[k];
    const void *data;
    uint32_t end;
    size_t len;

    if (FM_UNLIKELY(!bulk->n_lines)) {
        bulk->n_lines = (uint32_t)(t->geometry.bulk_len / FM_CACHE_LINE);
        t->counters->segment_bytes += t->geometry.bulk_len;
    }
    data = fm_shm_bulk_find(bulk, slot->data, t->tp.max_send, &len, &end);
    if (FM_UNLIKELY(!data)) {
        return broken("a descriptor of the bulk ring");
    }
    deliver(t, data, len);
    fm_shm_bulk_advance(bulk, t->rx[k].ring, end);
    return sizeof(struct fm_shm_desc);
}

/* Not an ordinary message of a fast ring. Its length, or a failure. */
static __attribute__((noinline)) int take_other(struct fm_shm_transport *t, unsigned k,
                                                const struct fm_shm_slot *slot, uint32_t len)
{
    if (FM_LIKELY(len == (sizeof(struct fm_shm_desc) | FM_SHM_INTERNAL))) {
        return take_bulk(t, k, slot);
    }
    if (!(len & FM_SHM_INTERNAL) || (len & ~FM_SHM_INTERNAL) > FM_SHM_INLINE) {
        return broken("a length in a fast ring");
    }
    len &= ~FM_SHM_INTERNAL;
    fm_shm_assist_requested(t, slot->data, len);
    return (int)len;
}

/* Take a burst out of fast ring k. */
static FM_INLINE int poll_fast(struct fm_shm_transport *t, unsigned k)
{
    struct fm_shm_fast_end *rx = &t->rx[k];
    struct fm_shm_slot *slot;
    uint32_t len;
    int n = 0, rc = 0;

    while (n < BURST && (slot = fm_shm_fast_peek(rx, &len))) {
        if (n) {
            fm_shm_fast_read_ahead(rx);
        }
        if (FM_LIKELY(len <= t->tp.max_send)) {
            deliver(t, slot->data, len);
        } else {
            rc = take_other(t, k, slot, len);
            if (rc < 0) {
                break;
            }
            len = (uint32_t)rc;
        }
        fm_shm_fast_advance(rx, len);
        n++;
        if (**t->tp.sink.enough) {
            break;
        }
    }
    return rc < 0 ? rc : n;
}

/* A sender continues in a fast ring of its own. */
FM_COLD static int begin_fast(struct fm_shm_transport *t, uint64_t ring)
{
    const struct fm_shm_geometry *g = &t->geometry;

    if (ring >= g->n_fast || t->n_rx >= g->n_fast) {
        return broken("the number of a fast ring");
    }
    fm_shm_fast_attach(&t->rx[t->n_rx], (char *)t->header + g->fast_at + ring * g->fast_stride,
                       g->n_slots);
    t->bulks[t->n_rx].lines = (char *)t->rx[t->n_rx].ring + g->bulk_at;
    t->n_rx++;
    t->counters->segment_bytes += g->bulk_at;
    FM_STAT(t->counters->n_fast_polled = t->n_rx);
    return 0;
}

static int take_span(struct fm_shm_transport *t, const struct fm_shm_unit *u, uint64_t span,
                     uint32_t kind)
{
    const uint64_t len = *(const volatile uint64_t *)&u->len; /* once: the peer may change it */

    if (span > t->inbox_len - (t->inbox_head & (t->inbox_len - 1)) || span % FM_CACHE_LINE ||
        span == 0 || (kind != FM_SHM_FAST_RING && kind != FM_SHM_SKIP && len > span - 16)) {
        return broken("a length in the inbox");
    }
    switch (kind) {
    case FM_SHM_MESSAGE:
        deliver(t, u->data, len);
        return 0;
    case FM_SHM_SKIP:
        return 0;
    case FM_SHM_FAST_RING:
        return begin_fast(t, len);
    case FM_SHM_PRIVATE:
        fm_shm_assist_requested(t, u->data, len);
        return 0;
    default:
        return broken("a kind in the inbox");
    }
}

static __attribute__((noinline)) int poll_inbox(struct fm_shm_transport *t)
{
    const struct fm_shm_unit *u;
    uint64_t span;
    uint32_t kind;
    int n = 0;

    while (n < BURST &&
           (u = fm_shm_inbox_peek(t->inbox, t->inbox_len, t->inbox_head, &span, &kind)) != NULL) {
        int rc = take_span(t, u, span, kind);

        if (rc < 0) {
            return rc;
        }
        t->inbox_head = fm_shm_inbox_advance(t->inbox, t->inbox_len, t->inbox_head, span);
        n++;
    }
    return n;
}

/* The rings behind ring k, once around. The last one with messages is the hot one. */
static __attribute__((noinline)) int poll_others(struct fm_shm_transport *t, unsigned k)
{
    unsigned n_rx = t->n_rx;
    int n = 0;

    for (unsigned i = 1; i < n_rx; i++) {
        int rc;

        k = k + 1 < n_rx ? k + 1 : 0;
        rc = poll_fast(t, k);
        if (FM_UNLIKELY(rc < 0)) {
            return rc;
        }
        if (rc > 0) {
            t->hot = k;
            n += rc;
        }
    }
    return n;
}

/* The hot ring first: most processes receive from one peer at a time. */
static FM_INLINE int poll_fast_rings(struct fm_shm_transport *t)
{
    unsigned hot = t->hot;
    int n = FM_LIKELY(t->n_rx) ? poll_fast(t, hot) : 0;

    if (t->n_rx > 1 && n >= 0) {
        int rc = poll_others(t, hot);

        return rc < 0 ? rc : n + rc;
    }
    return n;
}

/* Own transfers first; meanwhile those that requested assistance continue alone. */
static int poll_copies(struct fm_shm_transport *t)
{
    int n = fm_shm_copy_poll(t);

    return t->n_jobs ? n : n + fm_shm_assist_poll(t);
}

int fm_shm_poll(struct fm_transport *tp)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    uint64_t span;
    uint32_t kind;
    int n, rc;

    n = poll_fast_rings(t);
    if (FM_UNLIKELY(fm_shm_inbox_peek(t->inbox, t->inbox_len, t->inbox_head, &span, &kind) !=
                    NULL) &&
        n >= 0) {
        rc = poll_inbox(t);
        n = rc < 0 ? rc : n + rc;
    }
    if (FM_UNLIKELY(t->n_jobs | t->n_assists) && n >= 0) {
        n += poll_copies(t);
    }
    return n;
}
