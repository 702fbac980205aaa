/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending. The fast path is a message of one slot to a peer with a fast ring: fm_shm_send(). Longer
 * ones that fit the slots take send_slots(), all else send_slow(), which first sets the pair up and
 * then chooses the path.
 */
#include <string.h>

#include "transport/shm/shm.h"
#include "transport/shm/shm_doorbell.h"
#include "util/copy.h"

enum path { BY_INBOX, BY_FAST, BY_BULK };

/* For a message of len bytes, after fm_shm_pair_prepare(). */
static FM_INLINE enum path path_of(const struct fm_shm_ep *ep, size_t len)
{
    if (!ep->tx.ring) {
        return BY_INBOX;
    }
    return len <= ep->fast_max ? BY_FAST : BY_BULK;
}

static FM_INLINE void count_fast(struct fm_shm_ep *ep, size_t len)
{
    FM_STAT(fm_traffic_add(&fm_shm_of(ep)->counters->fast_sent, len));
}

static FM_INLINE void count_inbox(struct fm_shm_ep *ep, size_t len)
{
    FM_STAT(fm_traffic_add(&fm_shm_of(ep)->counters->inbox_sent, len));
}

FM_COLD static int too_long(const struct fm_shm_ep *ep, size_t len)
{
    return fm_fail(-FM_E_INVAL, "a message of %zu bytes is beyond shm_max_message (%zu)", len,
                   ep->ep.tp->max_send);
}

FM_COLD static int has_ended(const struct fm_shm_ep *ep)
{
    return fm_fail(-FM_E_PEER, "process %d has ended", ep->ep.peer);
}

static int send_inbox(struct fm_shm_ep *ep, const void *head, size_t head_len, const void *body,
                      size_t body_len, enum fm_shm_kind kind)
{
    size_t len = head_len + body_len;
    struct fm_shm_unit *u = fm_shm_inbox_reserve(ep->inbox, ep->geometry.inbox_len, len);

    if (!u) {
        return fm_shm_gone_or_full(ep);
    }
    u->len = len;
    memcpy(u->data, head, head_len);
    if (body_len) {
        memcpy(u->data + head_len, body, body_len);
    }
    fm_shm_inbox_publish(u, fm_shm_inbox_span(len), kind);
    return fm_shm_doorbell_ring(ep);
}

/* After a message of the bulk ring. */
static void prefetch(struct fm_shm_ep *ep, size_t len)
{
    if (ep->tx.prefetches) {
        fm_shm_bulk_prefetch(&ep->bulk, len);
    }
}

/* The body goes into the bulk ring, and a slot of the fast ring describes it. */
static int send_bulk(struct fm_shm_ep *ep, const void *head, size_t head_len, const void *body,
                     size_t body_len)
{
    struct fm_shm_slot *slot = fm_shm_fast_room(&ep->tx, sizeof(struct fm_shm_desc));

    if (!slot || fm_shm_bulk_put(ep, (void *)slot->data, head, head_len, body, body_len)) {
        return fm_shm_gone_or_full(ep);
    }
    fm_shm_fast_publish(&ep->tx, slot, sizeof(struct fm_shm_desc) | FM_SHM_INTERNAL);
    FM_STAT(fm_shm_of(ep)->counters->n_bulk_sent++);
    count_fast(ep, head_len + body_len);
    fm_shm_doorbell_ring(ep);
    prefetch(ep, body_len);
    return 0;
}

/* The later slots first: the consumer polls the first one and would fetch it in between. */
static FM_INLINE void fill(struct fm_shm_slot *slot, const void *head, size_t head_len,
                           const char *body, size_t body_len)
{
    size_t first = head_len < FM_SHM_INLINE ? FM_SHM_INLINE - head_len : 0;

    if (body_len > first) {
        fm_copy(slot->data + head_len + first, body + first, body_len - first);
        body_len = first;
    }
    fm_copy(slot->data, head, head_len);
    fm_copy(slot->data + head_len, body, body_len);
}

static FM_INLINE int send_fast(struct fm_shm_ep *ep, const void *head, size_t head_len,
                               const void *body, size_t body_len)
{
    size_t len = head_len + body_len;
    struct fm_shm_slot *slot = fm_shm_fast_room(&ep->tx, len);

    if (FM_UNLIKELY(!slot)) {
        return fm_shm_gone_or_full(ep);
    }
    fill(slot, head, head_len, body, body_len);
    fm_shm_fast_publish(&ep->tx, slot, (uint32_t)len);
    count_fast(ep, len);
    return fm_shm_doorbell_ring(ep);
}

/* With the message that claims the fast ring, once. */
FM_COLD static int send_fast_first(struct fm_shm_ep *ep, const void *head, size_t head_len,
                                   const void *body, size_t body_len)
{
    return send_fast(ep, head, head_len, body, body_len);
}

static __attribute__((noinline)) int send_first(struct fm_shm_ep *ep, const void *head,
                                                size_t head_len, const void *body, size_t body_len)
{
    int rc = send_inbox(ep, head, head_len, body, body_len, FM_SHM_MESSAGE);

    if (rc == 0) {
        count_inbox(ep, head_len + body_len);
    }
    return rc;
}

/* Has the pair all that a message of len bytes may need? */
static FM_INLINE bool is_prepared(const struct fm_shm_ep *ep, size_t len)
{
    return ep->tx.ring && (len <= ep->fast_max || ep->bulk.lines);
}

/* May a message of len bytes be sent now? 0, FM_AGAIN or a failure. */
static FM_INLINE int prepare(struct fm_shm_ep *ep, size_t len)
{
    if (FM_UNLIKELY(len > ep->ep.tp->max_send)) {
        return too_long(ep, len);
    }
    if (FM_LIKELY(is_prepared(ep, len))) { /* tx.ring: it lives */
        return 0;
    }
    if (ep->is_dead) {
        return has_ended(ep);
    }
    return fm_shm_pair_prepare(ep, len) ? fm_shm_gone_or_full(ep) : 0;
}

/* Too long for the slots, or no fast ring yet. */
static __attribute__((noinline)) int send_slow(struct fm_shm_ep *ep, const void *head,
                                               size_t head_len, const void *body, size_t body_len)
{
    size_t len = head_len + body_len;
    int rc = prepare(ep, len);

    if (rc) {
        return rc;
    }
    switch (path_of(ep, len)) {
    case BY_BULK:
        return send_bulk(ep, head, head_len, body, body_len);
    case BY_FAST:
        return send_fast_first(ep, head, head_len, body, body_len);
    default:
        return send_first(ep, head, head_len, body, body_len);
    }
}

/* More than one slot, or the ring is full as far as is known. */
static __attribute__((noinline)) int send_slots(struct fm_shm_ep *ep, const void *head,
                                                size_t head_len, const void *body, size_t body_len)
{
    if (FM_UNLIKELY(!ep->tx.ring || head_len + body_len > ep->fast_max)) {
        return send_slow(ep, head, head_len, body, body_len);
    }
    return send_fast(ep, head, head_len, body, body_len);
}

/* The most usual length of a header. */
#define HEAD_LEN 24

/* In words of 8 bytes. */
static FM_INLINE void copy_head(void *to, const void *from, size_t len)
{
    fm_copy_words(to, from, FM_LIKELY(len == HEAD_LEN) ? HEAD_LEN / 8 : len / 8);
}

int fm_shm_send(struct fm_ep *fep, const void *head, size_t head_len, const void *body,
                size_t body_len)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    size_t len = head_len + body_len;
    struct fm_shm_slot *slot;

    /* Without a fast ring, `mask` and both ends are 0: full. */
    if (FM_UNLIKELY(len > FM_SHM_INLINE || ep->tx.at + 1 - ep->tx.done > ep->tx.mask ||
                    head_len % 8)) {
        return send_slots(ep, head, head_len, body, body_len);
    }
    slot = &ep->tx.ring->slots[ep->tx.at & ep->tx.mask];
    copy_head(slot->data, head, head_len);
    fm_copy_short(slot->data + head_len, body, body_len);
    fm_shm_fast_publish_span(&ep->tx, slot, (uint32_t)len, 1);
    count_fast(ep, len);
    return fm_shm_doorbell_ring(ep);
}

int fm_shm_send_internal(struct fm_shm_ep *ep, const void *data, size_t len)
{
    struct fm_shm_slot *slot;

    if (ep->is_dead) {
        return has_ended(ep);
    }
    if (!ep->tx.ring) {
        return send_inbox(ep, data, len, NULL, 0, FM_SHM_PRIVATE);
    }
    slot = fm_shm_fast_room(&ep->tx, len);
    if (!slot) {
        return fm_shm_gone_or_full(ep);
    }
    fm_copy(slot->data, data, len);
    fm_shm_fast_publish(&ep->tx, slot, (uint32_t)len | FM_SHM_INTERNAL);
    return fm_shm_doorbell_ring(ep);
}

/* ---- In two steps --------------------------------------------------------------------------- */

/* Space for len bytes on its path, or NULL. */
static void *find_room(struct fm_shm_ep *ep, size_t len)
{
    struct fm_shm_slot *slot;
    struct fm_shm_unit *u;
    void *room;

    switch (path_of(ep, len)) {
    case BY_BULK:
        slot = fm_shm_fast_room(&ep->tx, sizeof(struct fm_shm_desc));
        return slot && fm_shm_bulk_reserve(ep, len, &room) == 0 ? room : NULL;
    case BY_FAST:
        slot = fm_shm_fast_room(&ep->tx, len);
        return slot ? slot->data : NULL;
    default:
        u = fm_shm_inbox_reserve(ep->inbox, ep->geometry.inbox_len, len);
        ep->room_span = fm_shm_inbox_span(len);
        return u ? u->data : NULL;
    }
}

int fm_shm_send_reserve(struct fm_ep *fep, size_t len, void **out_room)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    int rc = prepare(ep, len);
    void *room;

    if (rc) {
        return rc;
    }
    room = find_room(ep, len);
    if (!room) {
        return fm_shm_gone_or_full(ep);
    }
    *out_room = room;
    return 0;
}

static void commit_bulk(struct fm_shm_ep *ep, size_t len)
{
    struct fm_shm_slot *slot = fm_shm_fast_room(&ep->tx, sizeof(struct fm_shm_desc));

    fm_shm_bulk_commit(ep, (void *)slot->data, len);
    if (len) {
        fm_shm_fast_publish(&ep->tx, slot, sizeof(struct fm_shm_desc) | FM_SHM_INTERNAL);
        FM_STAT(fm_shm_of(ep)->counters->n_bulk_sent++);
    }
}

static void commit_inbox(struct fm_shm_ep *ep, void *room, size_t len)
{
    struct fm_shm_unit *u = fm_container_of(room, struct fm_shm_unit, data);

    u->len = len;
    fm_shm_inbox_publish(u, ep->room_span, len ? FM_SHM_MESSAGE : FM_SHM_SKIP);
    if (len) {
        count_inbox(ep, len);
    }
}

/* The path is that of reserve(): whether there is a fast ring does not change in between. */
int fm_shm_send_commit(struct fm_ep *fep, void *room, size_t len)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    bool is_bulk = ep->tx.ring && ep->bulk.has_room;

    if (!ep->tx.ring) {
        commit_inbox(ep, room, len);
    } else if (is_bulk) {
        commit_bulk(ep, len);
    } else if (len) {
        fm_shm_fast_publish(&ep->tx, fm_container_of(room, struct fm_shm_slot, data),
                            (uint32_t)len);
    }
    if (len && ep->tx.ring) {
        count_fast(ep, len);
    }
    fm_shm_doorbell_ring(ep);
    if (is_bulk && len) {
        prefetch(ep, len);
    }
    return 0;
}
