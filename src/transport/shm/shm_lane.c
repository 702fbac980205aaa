/* SPDX-License-Identifier: BSD-3-Clause */
/* Long messages in shared memory. The model is told in shm_lane.h. */
#include "transport/shm/shm_lane.h"

#include <stdlib.h>
#include <string.h>

#include "transport/shm/shm.h"
#include "util/sync.h"

/* Where the bytes of a message begin in its slot: behind the reader's line; or, when they are made
   in place, so that what follows a header of 40 bytes begins a line. */
#define FROM_LINE  FM_CACHE_LINE
#define FROM_PLACE 24

/* Looks in a row that must take long before the peer is held to be far, or just not near. */
#define SLOW_LOOKS  3
#define APART_LOOKS 8

/* Part of the lane after which the reader tells what it has left, and the writer looks: 1/16. */
#define TELL_SHIFT 4

/* A message that is longer than 1/32 of the lane may be a piece of one that streams. */
#define LONG_SHIFT 5

static inline struct fm_shm_transport *transport_of(const struct fm_shm_ep *ep)
{
    return (struct fm_shm_transport *)ep->ep.tp;
}

static uint32_t n_lines_of(size_t bytes)
{
    return (uint32_t)((bytes + FM_CACHE_LINE - 1) / FM_CACHE_LINE);
}

static char *line(const struct fm_shm_lane *lane, uint32_t at)
{
    return lane->lines + (size_t)(at & (lane->n_lines - 1)) * FM_CACHE_LINE;
}

/* ---- The writer ----------------------------------------------------------------------------- */

bool fm_shm_lane_open(struct fm_shm_ep *ep)
{
    const struct fm_shm_geometry *g = &ep->geometry;

    if (ep->lane.lines || ep->lane.is_tried) {
        return ep->lane.lines != NULL;
    }
    ep->lane.is_tried = true;
    if (g->lane_len && fm_shm_open_lane(ep, (uint32_t)ep->claimed)) {
        ep->lane.lines = (char *)ep->tx.box + g->lane_at;
        ep->lane.n_lines = n_lines_of(g->lane_len);
        FM_STAT(transport_of(ep)->counters->n_lanes++);
    }
    return ep->lane.lines != NULL;
}

/*
 * How far has the reader come? The word, if it has changed, comes from the reader's cache, so the
 * time of this look is that of a line's way. Whatever disturbs a look makes it longer.
 */
static void look(struct fm_shm_ep *ep)
{
    struct fm_shm_lane *lane = &ep->lane;
    struct fm_shm_counters *w = transport_of(ep)->counters;
    uint64_t t0 = fm_now_ns(), ns;
    bool is_apart;
    uint32_t done = atomic_load_explicit(&ep->tx.box->lane_done, memory_order_acquire); /* L' */

    ns = fm_now_ns() - t0;
    lane->looked_at = lane->at;
    if (done == lane->done) {
        return;
    }
    lane->done = done;
    lane->n_slow = ns > w->far_ns ? lane->n_slow + 1 : 0;
    lane->is_far = w->far_ns && lane->n_slow >= SLOW_LOOKS;
    lane->n_apart = ns > w->apart_ns ? lane->n_apart + 1 : 0;
    is_apart = w->apart_ns && lane->n_apart >= APART_LOOKS;
    lane->is_bypassed = is_apart && !ep->ep.no_rma;
    if (ep->ep.pushes) {
        ep->ep.pushes = is_apart && !lane->is_far ? FM_PUSH_SELDOM : FM_PUSH_ALWAYS;
    }
    FM_STAT(w->line_ns = ns);
}

/* The number of the next of `span` lines in a row. */
static uint32_t place_for(const struct fm_shm_lane *lane, uint32_t span)
{
    uint32_t n = lane->n_lines, at = lane->at;

    return (at & (n - 1)) + span > n ? (at | (n - 1)) + 1 /* the next lap */ : at;
}

/* The number of the first of `span` free lines in a row. */
static bool find_room(struct fm_shm_ep *ep, uint32_t span, uint32_t *out_at)
{
    struct fm_shm_lane *lane = &ep->lane;
    uint32_t n = lane->n_lines, at = place_for(lane, span);

    if (at + span - lane->done > n || at - lane->looked_at > n >> TELL_SHIFT) {
        look(ep);
    }
    *out_at = at;
    return at + span - lane->done <= n;
}

static void copy_in(struct fm_shm_ep *ep, void *to, const void *from, size_t len)
{
    if (ep->lane.is_far) {
        fm_shm_past_copy(to, from, len);
        FM_STAT(transport_of(ep)->counters->n_past++);
    } else {
        memcpy(to, from, len);
    }
}

int fm_shm_lane_put(struct fm_shm_ep *ep, struct fm_shm_note *note, const void *head,
                    size_t head_len, const void *body, size_t body_len)
{
    struct fm_shm_lane *lane = &ep->lane;
    bool is_noted = head_len <= FM_SHM_NOTE_HEAD && head_len % 8 == 0 && body_len > 0;
    size_t here = is_noted ? body_len : head_len + body_len;
    uint32_t at;
    char *to;

    if (!find_room(ep, n_lines_of(FROM_LINE + here), &at)) {
        return FM_AGAIN;
    }
    to = line(lane, at) + FROM_LINE;
    if (is_noted) {
        memcpy(note->head, head, head_len);
        copy_in(ep, to, body, body_len);
    } else {
        memcpy(to, head, head_len);
        memcpy(to + head_len, body, body_len);
    }
    note->at = at;
    note->len = (uint32_t)(head_len + body_len);
    note->from = FROM_LINE;
    note->head_len = is_noted ? (uint16_t)head_len : 0;
    lane->at = at + n_lines_of(FROM_LINE + here);
    return 0;
}

/* Messages to a far reader are made in memory of our own first. NULL: in place, too. */
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

int fm_shm_lane_reserve(struct fm_shm_ep *ep, size_t len, void **out_room)
{
    struct fm_shm_lane *lane = &ep->lane;
    uint32_t at;

    if (!find_room(ep, n_lines_of(FROM_PLACE + len), &at)) {
        return FM_AGAIN;
    }
    lane->at = at; /* nothing is lost with the rest of a lap if it is given back */
    lane->staging = lane->is_far ? staging_of(transport_of(ep)) : NULL;
    lane->has_room = true;
    *out_room = (lane->staging ? lane->staging : line(lane, at)) + FROM_PLACE;
    return 0;
}

void fm_shm_lane_commit(struct fm_shm_ep *ep, struct fm_shm_note *note, size_t len)
{
    struct fm_shm_lane *lane = &ep->lane;

    lane->has_room = false;
    if (len == 0) {
        return;
    }
    if (lane->staging) { /* whole lines, with what stands in front */
        copy_in(ep, line(lane, lane->at), lane->staging, FROM_PLACE + len);
    }
    *note = (struct fm_shm_note){.at = lane->at, .len = (uint32_t)len, .from = FROM_PLACE};
    lane->at += n_lines_of(FROM_PLACE + len);
}

/*
 * What streams is copied in whole lines, many of them on their way at once: to take them ahead is
 * only to write them twice. It streams when the reader is further behind than it may be in a
 * ping-pong.
 */
void fm_shm_lane_take_lines(struct fm_shm_lane *lane, size_t len)
{
    uint32_t n = n_lines_of(FROM_LINE + len);
    uint32_t at = place_for(lane, n);
    bool may_stream = n > lane->n_lines >> LONG_SHIFT && !lane->is_bypassed;

    if (lane->is_far || at + n - lane->done > lane->n_lines ||
        (may_stream && lane->at - lane->done > (lane->n_lines >> TELL_SHIFT) + n)) {
        return;
    }
    for (uint32_t k = 1; k < n; k++) {
        line(lane, at + k)[FM_CACHE_LINE - 1] = 0;
    }
}

/* ---- The reader ----------------------------------------------------------------------------- */

const void *fm_shm_lane_find(const struct fm_shm_lane *lane, const void *note, size_t max_len,
                             size_t *out_len, uint32_t *out_end)
{
    struct fm_shm_note n;
    uint32_t span;
    char *data;

    memcpy(&n, note, sizeof(n)); /* once: what the peer does to it later is not looked at */
    if ((n.from != FROM_LINE && n.from != FROM_PLACE) || n.head_len > n.from || n.head_len % 8 ||
        n.head_len > FM_SHM_NOTE_HEAD || n.len <= n.head_len || n.len > max_len) {
        return NULL;
    }
    span = n_lines_of((size_t)n.from + n.len - n.head_len);
    if (n.at - lane->at >= lane->n_lines || (n.at & (lane->n_lines - 1)) + span > lane->n_lines) {
        return NULL;
    }
    data = line(lane, n.at) + n.from - n.head_len;
    memcpy(data, n.head, n.head_len);
    *out_len = n.len;
    *out_end = n.at + span;
    return data;
}

void fm_shm_lane_advance(struct fm_shm_lane *lane, struct fm_shm_box *box, uint32_t end)
{
    lane->at = end;
    if (end - lane->done > lane->n_lines >> TELL_SHIFT) {
        lane->done = end;
        atomic_store_explicit(&box->lane_done, end, memory_order_release); /* L */
    }
}
