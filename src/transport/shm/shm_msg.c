/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending and polling. A short message to a peer with a fast box is the straight line through
 * fm_shm_msg_send() and poll_box(); everything else branches off. Which atomics pair with which is
 * told in shm_box.h, shm_ring.h and, for the bell, shm.h.
 */
#include "transport/shm/shm.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/copy.h"
#include "util/sync.h"

/* Messages taken from one box, or from the ring, in one poll. */
#define BURST 32

/* Refusals between two looks whether the peer still lives. */
#define REFUSALS (1u << 14)

static inline struct fm_shm_transport *transport_of(const struct fm_shm_ep *ep)
{
    return (struct fm_shm_transport *)ep->ep.tp;
}

/* ---- The bell ------------------------------------------------------------------------------- */

/*
 * Sleeping. The owner announces that it is about to sleep in header.bell, orders that before its
 * last look at ring and boxes, and sleeps on the word. A sender looks at the bell after it has
 * published, and rings when it was announced. Each side writes its own word and then reads the
 * other's: at least one of them must see the other's write. Two ways (fm_shm_transport.fences, told
 * in the header):
 * - both have a fence between the two. For jobs with more processes than processors, which sleep
 *   often.
 * - only the owner has one, so senders see the announcement from then on. One that looked before
 *   that has published, but its store may still be on its way out of its processor. A store is a
 *   matter of nanoseconds and no processor keeps one for long (C11 7.17.3p16), so the owner gives
 *   it time to settle: it looks for another FM_SHM_SETTLE_NS, and its first sleep on an
 *   announcement is a short one, FM_SHM_SHORT_US, after which it looks again. A sender pays
 *   nothing; only the compiler must keep the order. For jobs with a processor for each process.
 *   (membarrier(2) would do what the time does, but Linux forgets processors on which a process
 *   ran before it registered: bench/micro/membarrier.c shows it.)
 * Where another transport is open beside this one the owner sleeps in poll(2) on both, here on a
 * pipe (shm_door.c); the bell then says FM_SHM_DOOR, and is rung by a byte.
 */

FM_COLD static int wake(struct fm_shm_ep *ep)
{
    _Atomic uint32_t *bell = &ep->header->bell;

    /* Only one of many senders calls the kernel. Pairs with the relaxed store in announce(): the
       futex, or the pipe, orders the rest. */
    switch (atomic_exchange_explicit(bell, FM_SHM_AWAKE, memory_order_acq_rel)) {
    case FM_SHM_AWAKE:
        return 0;
    case FM_SHM_DOOR:
        fm_shm_door_knock(ep);
        break;
    default:
        syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    FM_STAT(transport_of(ep)->counters->n_wakes++);
    return 0;
}

/* After a message was published. 0: what the sender returns, so that the straight line of sending
   has nothing to keep for after a call. */
static FM_INLINE int ring_bell(struct fm_shm_ep *ep)
{
    if (FM_UNLIKELY(ep->must_fence)) {
        fm_sync_fence(); /* with the fence in announce() */
    } else {
        atomic_signal_fence(memory_order_seq_cst); /* the owner waits: settle() */
    }
    if (FM_UNLIKELY(atomic_load_explicit(&ep->header->bell, memory_order_relaxed))) {
        return wake(ep);
    }
    return 0;
}

/*
 * Say that we are about to sleep; after that, look a last time. Nobody but a sender takes it back:
 * another thread of this process may be asleep on the word. A bell that is still set when we are
 * awake costs the next sender one call.
 */
static void announce(struct fm_shm_transport *t)
{
    bool is_by_door = t->door[0] >= 0;

    if (is_by_door) {
        fm_shm_door_clear(t);
    }
    /* Still set: nobody has taken it back, and senders have seen it since then. */
    if (atomic_load_explicit(&t->header->bell, memory_order_relaxed) == FM_SHM_AWAKE) {
        atomic_store_explicit(&t->header->bell, is_by_door ? FM_SHM_DOOR : FM_SHM_BELL,
                              memory_order_relaxed);
        t->announced_ns = fm_now_ns();
    }
    fm_sync_fence(); /* with the fence in ring_bell(), or for settle() */
}

static bool has_work(struct fm_shm_transport *t)
{
    uint64_t span;
    uint32_t len, kind;

    for (unsigned k = 0; k < t->n_rx; k++) {
        if (fm_shm_box_peek(&t->rx[k], &len)) {
            return true;
        }
    }
    return fm_shm_ring_peek(t->ring, t->ring_len, t->ring_head, &span, &kind) != NULL;
}

/* Does something come, also of senders that had not seen the bell? The age is that of the bell at
   the last look: taken after it, it would say nothing of what came since. */
static bool settle(struct fm_shm_transport *t, uint64_t *out_age_ns)
{
    do {
        *out_age_ns = fm_now_ns() - t->announced_ns;
        if (has_work(t)) {
            return true;
        }
    } while (!t->fences && *out_age_ns < FM_SHM_SETTLE_NS);
    return false;
}

int fm_shm_msg_arm(struct fm_transport *tp, struct fm_sleep *out_sleep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    uint64_t age_ns;
    bool is_short;

    if (t->n_jobs || t->n_helps || has_work(t)) {
        return FM_AGAIN;
    }
    announce(t);
    if (settle(t, &age_ns)) {
        return FM_AGAIN;
    }
    FM_STAT(t->counters->n_sleeps++);
    is_short = !t->fences && age_ns < FM_SHM_SHORT_US * UINT64_C(1000);
    *out_sleep = (struct fm_sleep){.fd = t->door[0], .max_us = is_short ? FM_SHM_SHORT_US : 0};
    if (out_sleep->fd < 0) {
        out_sleep->word = &t->header->bell;
        out_sleep->seen = FM_SHM_BELL;
    }
    return 0;
}

/* ---- Sending -------------------------------------------------------------------------------- */

int fm_shm_msg_fail(struct fm_shm_ep *ep, const char *why)
{
    struct fm_shm_transport *t = transport_of(ep);

    if (!ep->is_dead) {
        ep->is_dead = true;
        ep->tx = (struct fm_shm_end){0};
        t->tp.sink.failed(t->tp.sink.ctx, ep->ep.peer, why);
    }
    return fm_fail(-FM_E_PEER, "%s", why);
}

/* The receiver has no room. From time to time ask whether it will ever have. */
FM_COLD static int full(struct fm_shm_ep *ep)
{
    FM_STAT(transport_of(ep)->counters->n_full++);
    if (++ep->n_refused % REFUSALS == 0 && fm_shm_open_is_gone(ep)) {
        return fm_shm_msg_fail(ep, "the process has ended");
    }
    return FM_AGAIN;
}

static FM_INLINE void count_boxed(struct fm_shm_ep *ep, size_t len)
{
    FM_STAT(fm_traffic_add(&transport_of(ep)->counters->box_sent, len));
}

/*
 * Claim a fast box: 0 when there will be none, or when it is in use from now on; FM_AGAIN while
 * there is no room to say so. A claimed box is never given back; its peer polls nothing for it
 * until it is told.
 */
FM_COLD static int claim_box(struct fm_shm_ep *ep)
{
    struct fm_shm_transport *t = transport_of(ep);
    struct fm_shm_unit *u;
    const struct fm_shm_geometry *g = &ep->geometry;

    if (ep->claimed < 0) {
        uint32_t box = atomic_load_explicit(&ep->header->n_claimed, memory_order_relaxed);

        if (box < g->n_boxes) { /* else do not count on for ever */
            box = atomic_fetch_add_explicit(&ep->header->n_claimed, 1, memory_order_relaxed);
        }
        if (box >= g->n_boxes || !fm_shm_open_box(ep, box)) {
            FM_STAT(t->counters->n_boxes_refused++);
            ep->is_box_tried = true;
            ep->ep.pushes = FM_PUSH_NEVER;
            return 0;
        }
        ep->claimed = (int32_t)box;
    }
    u = fm_shm_ring_take(ep->ring, g->ring_len, 0);
    if (!u) {
        return FM_AGAIN;
    }
    u->len = (uint64_t)ep->claimed;
    fm_shm_ring_publish(u, fm_shm_ring_span(0), FM_SHM_BOX);
    fm_shm_box_attach(&ep->tx,
                      (char *)ep->header + g->boxes_at + (uint64_t)ep->claimed * g->box_stride,
                      g->box_cells);
    ep->tx.takes = !ep->must_fence; /* the fence would wait for these lines */
    ep->is_box_tried = true;
    FM_STAT(t->counters->n_boxes_claimed++);
    FM_STAT(if (t->counters->on_box_claimed) fm_shm_event_box(ep));
    return 0;
}

/* Has this pair talked enough to deserve a box? */
static FM_INLINE bool wants_box(struct fm_shm_ep *ep)
{
    if (ep->box_after) {
        ep->box_after--;
        return false;
    }
    return !ep->is_box_tried;
}

static int send_ring(struct fm_shm_ep *ep, const void *head, size_t head_len, const void *body,
                     size_t body_len, enum fm_shm_kind kind)
{
    size_t len = head_len + body_len;
    struct fm_shm_unit *u;

    if (ep->is_dead) {
        return fm_fail(-FM_E_PEER, "the process has ended");
    }
    u = fm_shm_ring_take(ep->ring, ep->geometry.ring_len, len);
    if (!u) {
        return full(ep);
    }
    u->len = len;
    memcpy(u->data, head, head_len);
    if (body_len) {
        memcpy(u->data + head_len, body, body_len);
    }
    fm_shm_ring_publish(u, fm_shm_ring_span(len), kind);
    return ring_bell(ep);
}

/* From now on long messages take the lane, if there is one. */
FM_COLD static void try_lane(struct fm_shm_ep *ep)
{
    if (!fm_shm_lane_open(ep)) {
        ep->cells_len = ep->ep.tp->max_send;
        ep->ep.pushes = FM_PUSH_NEVER;
    }
}

/* After a message of the lane. */
static void take_lines(struct fm_shm_ep *ep, size_t len)
{
    if (ep->tx.takes) {
        fm_shm_lane_take_lines(&ep->lane, len);
    }
}

/* The body lies in the lane, and a cell of the box says where. */
static int send_long(struct fm_shm_ep *ep, const void *head, size_t head_len, const void *body,
                     size_t body_len)
{
    struct fm_shm_cell *cell = fm_shm_box_room(&ep->tx, sizeof(struct fm_shm_note));

    if (!cell || fm_shm_lane_put(ep, (void *)cell->data, head, head_len, body, body_len)) {
        return full(ep);
    }
    fm_shm_box_publish(&ep->tx, cell, sizeof(struct fm_shm_note) | FM_SHM_INTERNAL);
    FM_STAT(transport_of(ep)->counters->n_lane_sent++);
    count_boxed(ep, head_len + body_len);
    ring_bell(ep);
    take_lines(ep, body_len);
    return 0;
}

/* Not the straight line: too long, or no box (yet). */
static __attribute__((noinline)) int send_other(struct fm_shm_ep *ep, const void *head,
                                                size_t head_len, const void *body, size_t body_len)
{
    int rc;

    if (ep->lane.lines && ep->tx.box && head_len + body_len <= ep->ep.tp->max_send) {
        return send_long(ep, head, head_len, body, body_len);
    }

    if (head_len + body_len > ep->ep.tp->max_send) {
        return fm_fail(-FM_E_INVAL, "a message of %zu bytes is beyond shm_max_message (%zu)",
                       head_len + body_len, ep->ep.tp->max_send);
    }
    if (head_len + body_len > ep->cells_len) {
        ep->box_after = 0; /* a long message deserves one at once */
    }
    if (!ep->tx.box && wants_box(ep) && !ep->is_dead && claim_box(ep)) {
        return full(ep);
    }
    if (ep->tx.box) {
        if (head_len + body_len > ep->cells_len) {
            try_lane(ep);
        }
        return fm_shm_msg_send(&ep->ep, head, head_len, body, body_len);
    }
    rc = send_ring(ep, head, head_len, body, body_len, FM_SHM_MESSAGE);
    if (rc == 0) {
        FM_STAT(fm_traffic_add(&transport_of(ep)->counters->ring_sent, head_len + body_len));
    }
    return rc;
}

/* Further cells first: the reader waits on the first one and would fetch it in between. */
static FM_INLINE void fill(struct fm_shm_cell *cell, const void *head, size_t head_len,
                           const char *body, size_t body_len)
{
    size_t first = head_len < FM_SHM_INLINE ? FM_SHM_INLINE - head_len : 0;

    if (body_len > first) {
        fm_copy(cell->data + head_len + first, body + first, body_len - first);
        body_len = first;
    }
    fm_copy(cell->data, head, head_len);
    fm_copy(cell->data + head_len, body, body_len);
}

/* More than a cell, or the box is full as far as is known. */
static __attribute__((noinline)) int send_cells(struct fm_shm_ep *ep, const void *head,
                                                size_t head_len, const void *body, size_t body_len)
{
    size_t len = head_len + body_len;
    struct fm_shm_cell *cell;

    if (FM_UNLIKELY(!ep->tx.box || len > ep->cells_len)) {
        return send_other(ep, head, head_len, body, body_len);
    }
    cell = fm_shm_box_room(&ep->tx, len);
    if (FM_UNLIKELY(!cell)) {
        return full(ep);
    }
    fill(cell, head, head_len, body, body_len);
    fm_shm_box_publish(&ep->tx, cell, (uint32_t)len);
    count_boxed(ep, len);
    return ring_bell(ep);
}

/* The most usual length of a header. */
#define HEAD_LEN 24

/* In words of 8 bytes. */
static FM_INLINE void copy_head(void *to, const void *from, size_t len)
{
    fm_copy_words(to, from, FM_LIKELY(len == HEAD_LEN) ? HEAD_LEN / 8 : len / 8);
}

int fm_shm_msg_send(struct fm_ep *fep, const void *head, size_t head_len, const void *body,
                    size_t body_len)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    size_t len = head_len + body_len;
    struct fm_shm_cell *cell;

    /* Without a box, `mask` and both ends are 0: no room. */
    if (FM_UNLIKELY(len > FM_SHM_INLINE || ep->tx.at + 1 - ep->tx.done > ep->tx.mask ||
                    head_len % 8)) {
        return send_cells(ep, head, head_len, body, body_len);
    }
    cell = &ep->tx.box->cells[ep->tx.at & ep->tx.mask];
    copy_head(cell->data, head, head_len);
    fm_copy_short(cell->data + head_len, body, body_len);
    fm_shm_box_publish_span(&ep->tx, cell, (uint32_t)len, 1);
    count_boxed(ep, len);
    return ring_bell(ep);
}

int fm_shm_msg_send_private(struct fm_shm_ep *ep, const void *data, size_t len)
{
    struct fm_shm_cell *cell;

    if (!ep->tx.box) {
        return send_ring(ep, data, len, NULL, 0, FM_SHM_PRIVATE);
    }
    cell = fm_shm_box_room(&ep->tx, len);
    if (!cell) {
        return full(ep);
    }
    fm_copy(cell->data, data, len);
    fm_shm_box_publish(&ep->tx, cell, (uint32_t)len | FM_SHM_INTERNAL);
    return ring_bell(ep);
}

/* The room is in the box, or a span of the ring. tx.box tells which: it does not change in between.
 */
int fm_shm_msg_reserve(struct fm_ep *fep, size_t len, void **out_room)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    struct fm_shm_cell *cell;
    struct fm_shm_unit *u;

    if (FM_UNLIKELY(len > fep->tp->max_send)) {
        return fm_fail(-FM_E_INVAL, "a message of %zu bytes is beyond shm_max_message (%zu)", len,
                       fep->tp->max_send);
    }
    if (ep->is_dead) {
        return fm_fail(-FM_E_PEER, "the process has ended");
    }
    if (len > ep->cells_len) {
        ep->box_after = 0;
    }
    if (!ep->tx.box && wants_box(ep) && claim_box(ep)) {
        return full(ep);
    }
    if (ep->tx.box && len > ep->cells_len) {
        try_lane(ep);
    }
    if (ep->tx.box && len > ep->cells_len) {
        bool has_cell = fm_shm_box_room(&ep->tx, sizeof(struct fm_shm_note)) != NULL;

        return has_cell && fm_shm_lane_reserve(ep, len, out_room) == 0 ? 0 : full(ep);
    }
    if (ep->tx.box) {
        cell = fm_shm_box_room(&ep->tx, len);
        if (!cell) {
            return full(ep);
        }
        *out_room = cell->data;
        return 0;
    }
    u = fm_shm_ring_take(ep->ring, ep->geometry.ring_len, len);
    if (!u) {
        return full(ep);
    }
    ep->room_span = fm_shm_ring_span(len);
    *out_room = u->data;
    return 0;
}

static void commit_long(struct fm_shm_ep *ep, size_t len)
{
    struct fm_shm_cell *cell = fm_shm_box_room(&ep->tx, sizeof(struct fm_shm_note));

    fm_shm_lane_commit(ep, (void *)cell->data, len);
    if (len) {
        fm_shm_box_publish(&ep->tx, cell, sizeof(struct fm_shm_note) | FM_SHM_INTERNAL);
        FM_STAT(transport_of(ep)->counters->n_lane_sent++);
    }
}

int fm_shm_msg_commit(struct fm_ep *fep, void *room, size_t len)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    bool is_long = ep->tx.box && ep->lane.has_room;

    if (!ep->tx.box) {
        struct fm_shm_unit *u = fm_container_of(room, struct fm_shm_unit, data);

        u->len = len;
        fm_shm_ring_publish(u, ep->room_span, len ? FM_SHM_MESSAGE : FM_SHM_SKIP);
    } else if (is_long) {
        commit_long(ep, len);
    } else if (len) {
        fm_shm_box_publish(&ep->tx, fm_container_of(room, struct fm_shm_cell, data), (uint32_t)len);
    }
    if (len && ep->tx.box) {
        count_boxed(ep, len);
    } else if (len) {
        FM_STAT(fm_traffic_add(&transport_of(ep)->counters->ring_sent, len));
    }
    ring_bell(ep);
    if (is_long && len) {
        take_lines(ep, len);
    }
    return 0;
}

/* ---- Polling -------------------------------------------------------------------------------- */

FM_COLD static int broken(const char *what)
{
    return fm_fail(-FM_E_PROTO, "shared memory holds what no peer writes (%s)", what);
}

static FM_INLINE void deliver(struct fm_shm_transport *t, const void *data, size_t len)
{
    FM_STAT(fm_traffic_add(&t->counters->received, len));
    t->tp.sink.deliver(t->tp.sink.ctx, data, len);
}

/* A message whose body lies in the lane of box k. The length of its note, or a failure. */
static int take_long(struct fm_shm_transport *t, unsigned k, const struct fm_shm_cell *cell)
{
    struct fm_shm_lane *lane = &t->lanes[k];
    const void *data;
    uint32_t end;
    size_t len;

    if (FM_UNLIKELY(!lane->n_lines)) {
        lane->n_lines = (uint32_t)(t->geometry.lane_len / FM_CACHE_LINE);
        t->counters->segment_bytes += t->geometry.lane_len;
    }
    data = fm_shm_lane_find(lane, cell->data, t->tp.max_send, &len, &end);
    if (FM_UNLIKELY(!data)) {
        return broken("a place in a lane");
    }
    deliver(t, data, len);
    fm_shm_lane_advance(lane, t->rx[k].box, end);
    return sizeof(struct fm_shm_note);
}

/* Not an ordinary message of a box. Its length, or a failure. */
static __attribute__((noinline)) int take_other(struct fm_shm_transport *t, unsigned k,
                                                const struct fm_shm_cell *cell, uint32_t len)
{
    if (FM_LIKELY(len == (sizeof(struct fm_shm_note) | FM_SHM_INTERNAL))) {
        return take_long(t, k, cell);
    }
    if (!(len & FM_SHM_INTERNAL) || (len & ~FM_SHM_INTERNAL) > FM_SHM_INLINE) {
        return broken("a length in a fast box");
    }
    len &= ~FM_SHM_INTERNAL;
    fm_shm_copy_asked(t, cell->data, len);
    return (int)len;
}

/* Take a burst out of box k. */
static FM_INLINE int poll_box(struct fm_shm_transport *t, unsigned k)
{
    struct fm_shm_end *rx = &t->rx[k];
    struct fm_shm_cell *cell;
    uint32_t len;
    int n = 0, rc = 0;

    while (n < BURST && (cell = fm_shm_box_peek(rx, &len))) {
        if (n) {
            fm_shm_box_fetch_ahead(rx);
        }
        if (FM_LIKELY(len <= t->tp.max_send)) {
            deliver(t, cell->data, len);
        } else {
            rc = take_other(t, k, cell, len);
            if (rc < 0) {
                break;
            }
            len = (uint32_t)rc;
        }
        fm_shm_box_advance(rx, len);
        n++;
        if (**t->tp.sink.enough) {
            break;
        }
    }
    return rc < 0 ? rc : n;
}

/* A sender goes on in a box of its own. */
FM_COLD static int begin_box(struct fm_shm_transport *t, uint64_t box)
{
    const struct fm_shm_geometry *g = &t->geometry;

    if (box >= g->n_boxes || t->n_rx >= g->n_boxes) {
        return broken("the number of a fast box");
    }
    fm_shm_box_attach(&t->rx[t->n_rx], (char *)t->header + g->boxes_at + box * g->box_stride,
                      g->box_cells);
    t->lanes[t->n_rx].lines = (char *)t->rx[t->n_rx].box + g->lane_at;
    t->n_rx++;
    t->counters->segment_bytes += g->lane_at;
    FM_STAT(t->counters->n_boxes_polled = t->n_rx);
    return 0;
}

static int take_span(struct fm_shm_transport *t, const struct fm_shm_unit *u, uint64_t span,
                     uint32_t kind)
{
    if (span > t->ring_len - (t->ring_head & (t->ring_len - 1)) || span % FM_CACHE_LINE ||
        span == 0 || (kind != FM_SHM_BOX && kind != FM_SHM_SKIP && u->len > span - 16)) {
        return broken("a length in the ring");
    }
    switch (kind) {
    case FM_SHM_MESSAGE:
        deliver(t, u->data, u->len);
        return 0;
    case FM_SHM_SKIP:
        return 0;
    case FM_SHM_BOX:
        return begin_box(t, u->len);
    case FM_SHM_PRIVATE:
        fm_shm_copy_asked(t, u->data, u->len);
        return 0;
    default:
        return broken("a kind in the ring");
    }
}

static __attribute__((noinline)) int poll_ring(struct fm_shm_transport *t)
{
    const struct fm_shm_unit *u;
    uint64_t span;
    uint32_t kind;
    int n = 0;

    while (n < BURST &&
           (u = fm_shm_ring_peek(t->ring, t->ring_len, t->ring_head, &span, &kind)) != NULL) {
        int rc = take_span(t, u, span, kind);

        if (rc < 0) {
            return rc;
        }
        t->ring_head = fm_shm_ring_advance(t->ring, t->ring_len, t->ring_head, span);
        n++;
    }
    return n;
}

/* Those behind box k, once around. The last one with messages is the hot one. */
static __attribute__((noinline)) int poll_others(struct fm_shm_transport *t, unsigned k)
{
    unsigned n_rx = t->n_rx;
    int n = 0;

    for (unsigned i = 1; i < n_rx; i++) {
        int rc;

        k = k + 1 < n_rx ? k + 1 : 0;
        rc = poll_box(t, k);
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

/* The hot box first: most processes hear from one at a time. */
static FM_INLINE int poll_boxes(struct fm_shm_transport *t)
{
    unsigned hot = t->hot;
    int n = FM_LIKELY(t->n_rx) ? poll_box(t, hot) : 0;

    if (t->n_rx > 1 && n >= 0) {
        int rc = poll_others(t, hot);

        return rc < 0 ? rc : n + rc;
    }
    return n;
}

int fm_shm_msg_poll(struct fm_transport *tp)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    uint64_t span;
    uint32_t kind;
    int n, rc;

    n = poll_boxes(t);
    if (FM_UNLIKELY(fm_shm_ring_peek(t->ring, t->ring_len, t->ring_head, &span, &kind) != NULL) &&
        n >= 0) {
        rc = poll_ring(t);
        n = rc < 0 ? rc : n + rc;
    }
    if (FM_UNLIKELY(t->n_jobs | t->n_helps) && n >= 0) {
        n += fm_shm_copy_poll(t);
    }
    return n;
}
