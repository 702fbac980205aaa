/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of the shared-memory transport, its segment, and how peers find it.
 *
 * A peer opens /proc/<pid>/fd/<fd> of the owner, which the kernel allows to the same user, and
 * compares a random number in what it mapped with the one in the address: a pid of another
 * namespace or a reused one is thereby told from the right one; the peer is then left to another
 * transport. Nothing has a name in a file system, so nothing is left when all are killed.
 */
#include "transport/shm/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/segment.h"
#include "util/sync.h"

#define AT(member) offsetof(struct fm_shm_counters, member)

enum { WAKE_AUTO, WAKE_FENCE, WAKE_SETTLE };

static const bool never = false;
static const bool *const never_enough = &never;

static const struct fathom_enum_item wake_items[] = {
    {WAKE_AUTO, "auto"}, {WAKE_FENCE, "fence"}, {WAKE_SETTLE, "settle"}};
static const struct fathom_enum wake_enum = {"shm_wake", wake_items, FM_ARRAY_LEN(wake_items)};

#define CVAR(name_, word_, def_, min_, max_, unit_, scope_, desc_)                                 \
    {                                                                                              \
        .name = name_, .type = FATHOM_INT, .scope = scope_, .verbosity = FATHOM_TUNER_DETAIL,      \
        .at = AT(word_), .def = def_, .min = min_, .max = max_, .unit = unit_,                     \
        .fixed_after_init = true, .desc = desc_                                                    \
    }

static const struct fathom_cvar cvars[] = {
    CVAR("shm_ring_bytes", ring_bytes, 128 << 10, 32 << 10, 64 << 20, "bytes", FATHOM_SCOPE_ALL_EQ,
         "Size of the ring in which a process takes messages of all who have no fast box with it; "
         "raise it for jobs in which very many processes send to one."),
    CVAR("shm_boxes", boxes, 16, 0, FM_SHM_BOXES, NULL, FATHOM_SCOPE_LOCAL,
         "Senders that may have a fast box at this process; raise it when more neighbours than "
         "that talk all the time, at the price of memory and of slower polling."),
    CVAR("shm_box_bytes", box_bytes, 128 << 10, 32 << 10, 64 << 20, "bytes", FATHOM_SCOPE_LOCAL,
         "Room of a fast box, of which a message takes whole cache lines; raise it when bursts of "
         "messages find no room (shm_no_room)."),
    CVAR("shm_box_after", box_after, 8, 0, 1 << 30, "messages", FATHOM_SCOPE_LOCAL,
         "Messages to a peer after which a fast box is claimed there; 0 claims it with the first."),
    CVAR("shm_lane_bytes", lane_bytes, 512 << 10, 0, 64 << 20, "bytes", FATHOM_SCOPE_LOCAL,
         "Room for long messages that comes with a fast box, a power of two, cut down where very "
         "many processes share the host; half the cache that a processor has for itself is best, "
         "and 0 sends long messages through the box."),
    CVAR("shm_lane_min", lane_min, (2 << 10) + FM_CACHE_LINE, FM_SHM_INLINE, 1 << 20, "bytes",
         FATHOM_SCOPE_LOCAL,
         "Length with header beyond which a message takes the lane instead of the box; raise it "
         "to compare."),
    CVAR("shm_apart_ns", apart_ns, 95, 0, 1000000, "ns", FATHOM_SCOPE_LOCAL,
         "Time of a look at a word that a peer has just written, beyond which it is quicker that a "
         "long message is copied once than that one process writes while the other reads; 0: it "
         "never is."),
    CVAR("shm_far_ns", far_ns, 250, 0, 1000000, "ns", FATHOM_SCOPE_LOCAL,
         "Time of a look at a word that a peer has just written, beyond which long messages to it "
         "are stored past the caches, which pays where processors share none; 0 never does that."),
    CVAR("shm_max_message", max_message, (16 << 10) + FM_CACHE_LINE, 4 << 10, 1 << 20, "bytes",
         FATHOM_SCOPE_ALL_EQ,
         "Longest piece that goes through shared memory as one message; longer ones are cut into "
         "pieces of this size, so that both sides copy at the same time."),
    CVAR("shm_piece_len", piece_len, 16 << 10, 64, 1 << 20, "bytes", FATHOM_SCOPE_LOCAL,
         "Most bytes of a long message that go through the lane at a time, so that one process "
         "writes "
         "while the other reads; whole pages are best."),
    CVAR("shm_cma", cma, 1, 0, 1, NULL, FATHOM_SCOPE_ALL,
         "Whether long messages are copied straight between the processes (process_vm_readv); 0 "
         "sends them in pieces through shared memory."),
    CVAR("shm_cma_chunk", cma_chunk, 128 << 10, 4 << 10, 64 << 20, "bytes", FATHOM_SCOPE_LOCAL,
         "Largest piece that one system call copies when both processes copy; smaller pieces share "
         "the "
         "work more evenly, larger ones cost fewer calls."),
    CVAR("shm_cma_help", cma_help, 64 << 10, 0, INT32_MAX, "bytes", FATHOM_SCOPE_LOCAL,
         "Length from which on the peer is asked to copy a part; 0 never asks, for peers that "
         "have better things to do with their processor."),
    {.name = "shm_wake",
     .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_ALL,
     .verbosity = FATHOM_DEV_DETAIL,
     .items = &wake_enum,
     .at = AT(wake),
     .def = WAKE_AUTO,
     .min = WAKE_AUTO,
     .max = WAKE_SETTLE,
     .fixed_after_init = true,
     .desc = "Who pays for sleeping without lost wake-ups: each message (fence) or the one who "
             "goes to sleep, by sleeping shortly first (settle); auto takes fence with more "
             "processes than processors."},
};

#define PVAR(name_, word_, class_, unit_, desc_)                                                   \
    {                                                                                              \
        .name = name_, .klass = class_, .unit = unit_, .at = AT(word_), .desc = desc_              \
    }

static const struct fathom_term sent[] = {{.at = AT(box_sent.n)}, {.at = AT(ring_sent.n)}};
static const struct fathom_term sent_len[] = {{.at = AT(box_sent.len)}, {.at = AT(ring_sent.len)}};

static const struct fathom_pvar pvars[] = {
    {.name = "shm_sent",
     .klass = FATHOM_COUNTER,
     .unit = "messages",
     .terms = sent,
     .n_terms = FM_ARRAY_LEN(sent),
     .desc = "Messages put into peers' memory."},
    {.name = "shm_sent_bytes",
     .klass = FATHOM_COUNTER,
     .unit = "bytes",
     .terms = sent_len,
     .n_terms = FM_ARRAY_LEN(sent_len),
     .desc = "Bytes of these messages, headers of the engine included."},
    PVAR("shm_received", received.n, FATHOM_COUNTER, "messages", "Messages taken from peers."),
    PVAR("shm_received_bytes", received.len, FATHOM_COUNTER, "bytes",
         "Bytes of these messages, headers of the engine included."),
    PVAR("shm_box_sent", box_sent.n, FATHOM_COUNTER, "messages",
         "Of shm_sent, messages that went through a fast box."),
    PVAR("shm_lane_sent", n_lane_sent, FATHOM_COUNTER, "messages",
         "Of shm_box_sent, messages so long that they went through the lane behind the box."),
    PVAR("shm_lanes", n_lanes, FATHOM_COUNTER, "peers",
         "Peers at which this process has a lane for long messages."),
    PVAR("shm_past_caches", n_past, FATHOM_COUNTER, "messages",
         "Of shm_lane_sent, messages that were stored past the caches, since the peer is far."),
    PVAR("shm_line_time", line_ns, FATHOM_LEVEL, "ns",
         "Time of the last look at a word that a reader of long messages had written: how far the "
         "processors are apart."),
    PVAR("shm_no_room", n_full, FATHOM_COUNTER, "times",
         "Sends that found the receiver's memory full and were tried again."),
    PVAR("shm_boxes_claimed", n_boxes_claimed, FATHOM_COUNTER, "peers",
         "Peers at which this process has a fast box."),
    PVAR("shm_boxes_refused", n_boxes_refused, FATHOM_COUNTER, "peers",
         "Peers at which it got none, because all were taken or memory was short."),
    PVAR("shm_boxes_polled", n_boxes_polled, FATHOM_LEVEL, "peers",
         "Peers that have a fast box at this process."),
    PVAR("shm_copies", n_cma_transfers, FATHOM_COUNTER, "transfers",
         "Transfers by single copy that this process started and that have ended."),
    PVAR("shm_copy_calls", n_cma, FATHOM_COUNTER, "calls",
         "System calls of single copy made by this process, for itself and for peers."),
    PVAR("shm_copy_bytes", n_cma_bytes, FATHOM_COUNTER, "bytes", "Bytes that these calls moved."),
    PVAR("shm_copies_forbidden", n_cma_refused, FATHOM_COUNTER, "peers",
         "Peers whose memory the system, a container or shm_cma does not let this process copy."),
    PVAR("shm_chunks_helped", n_chunks_helped, FATHOM_COUNTER, "chunks",
         "Chunks of this process's transfers that the peer has copied."),
    PVAR("shm_chunks_given", n_chunks_given, FATHOM_COUNTER, "chunks",
         "Chunks of peers' transfers that this process has copied."),
    PVAR("shm_sleeps", n_sleeps, FATHOM_COUNTER, "times",
         "Times that this process found nothing and announced that it goes to sleep."),
    PVAR("shm_wakes", n_wakes, FATHOM_COUNTER, "times",
         "Times that a message of this process had to wake its receiver."),
    PVAR("shm_segment_bytes", segment_bytes, FATHOM_LEVEL, "bytes",
         "Shared memory in use for messages to this process."),
    {.name = "shm_peers",
     .klass = FATHOM_LEVEL,
     .unit = "peers",
     .is_level = true,
     .at = AT(n_peers),
     .desc = "Peers whose memory is attached."},
    {.name = "shm_peers_high",
     .klass = FATHOM_HIGHWATERMARK,
     .unit = "peers",
     .at = AT(n_peers),
     .desc = "Most peers whose memory was attached at one time."},
};

static const struct fathom_event_item connected_items[] = {
    {"peer", "Process index of the peer.", FATHOM_INT, NULL},
    {"can_copy", "1 when its memory may be copied by system call.", FATHOM_INT, NULL},
};
static const struct fathom_event_item box_items[] = {
    {"peer", "Process index of the peer.", FATHOM_INT, NULL},
    {"box", "Number of the fast box at the peer.", FATHOM_INT, NULL},
};
static const struct fathom_event_item refused_items[] = {
    {"peer", "Process index of the peer.", FATHOM_INT, NULL},
    {"errno", "Why, as a number of the system.", FATHOM_INT, NULL},
};

enum { EV_CONNECTED, EV_BOX, EV_REFUSED };

static const struct fathom_event events[] = {
    [EV_CONNECTED] = {.name = "shm_connected",
                      .verbosity = FATHOM_USER_DETAIL,
                      .at = AT(on_connected),
                      .data = connected_items,
                      .n_data = FM_ARRAY_LEN(connected_items),
                      .desc = "The memory of a peer was attached."},
    [EV_BOX] = {.name = "shm_box_claimed",
                .verbosity = FATHOM_TUNER_DETAIL,
                .at = AT(on_box_claimed),
                .data = box_items,
                .n_data = FM_ARRAY_LEN(box_items),
                .desc = "This process goes on in a fast box at a peer."},
    [EV_REFUSED] = {.name = "shm_copy_forbidden",
                    .verbosity = FATHOM_USER_DETAIL,
                    .at = AT(on_cma_refused),
                    .data = refused_items,
                    .n_data = FM_ARRAY_LEN(refused_items),
                    .desc = "Single copy with a peer is not possible; long messages go in pieces."},
};

static const struct fathom_category categories[] = {
    {"shm", "Shared memory between processes of one host.", NULL}};

const struct fathom_table fm_shm_vars = {
    .room = "shm",
    .block_len = sizeof(struct fm_shm_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = events,
    .n_events = FM_ARRAY_LEN(events),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

void fm_shm_event_connected(struct fm_shm_ep *ep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)ep->ep.tp;
    uint64_t values[] = {(uint64_t)ep->ep.peer, !ep->ep.no_rma};

    fathom_mpit_emit(&events[EV_CONNECTED], t->counters, NULL, values);
}

void fm_shm_event_box(struct fm_shm_ep *ep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)ep->ep.tp;
    uint64_t values[] = {(uint64_t)ep->ep.peer, (uint64_t)ep->claimed};

    fathom_mpit_emit(&events[EV_BOX], t->counters, NULL, values);
}

void fm_shm_event_refused(struct fm_shm_ep *ep, int error)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)ep->ep.tp;
    uint64_t values[] = {(uint64_t)ep->ep.peer, (uint64_t)error};

    fathom_mpit_emit(&events[EV_REFUSED], t->counters, NULL, values);
}

/* ---- The own segment ------------------------------------------------------------------------ */

static uint64_t round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;

    while (p < n) {
        p *= 2;
    }
    return p;
}

/* Most memory for lanes in one process, while there are no more senders than that takes. */
#define LANES_BYTES (UINT64_C(8) << 20)

/* The length of a lane, of which n_local - 1 others may each want one: 0 for none. */
static uint64_t plan_lane(const struct fm_shm_counters *w, uint64_t max_send, int n_local)
{
    uint64_t len = power_of_two(w->lane_bytes);
    uint64_t share = LANES_BYTES / (uint64_t)(n_local > 1 ? n_local - 1 : 1);

    if (w->lane_bytes == 0) {
        return 0;
    }
    while (len > share && len > 8 * max_send) {
        len /= 2;
    }
    while (len < 8 * max_send) {
        len *= 2;
    }
    return len;
}

/* Sizes as the control variables want them, made to fit each other. */
static struct fm_shm_geometry plan(const struct fm_shm_counters *w, int n_local)
{
    struct fm_shm_geometry g = {.n_boxes = (uint32_t)w->boxes,
                                .max_send = (uint32_t)round_up(w->max_message, FM_CACHE_LINE)};

    /* Half of a ring must hold the longest message, which does not wrap; a box holds several. */
    g.ring_len = power_of_two(w->ring_bytes);
    g.box_cells = (uint32_t)(power_of_two(w->box_bytes) / FM_CACHE_LINE);
    while (g.ring_len < 4 * (uint64_t)g.max_send) {
        g.ring_len *= 2;
    }
    while (g.box_cells < 4 * fm_shm_box_span(g.max_send)) {
        g.box_cells *= 2;
    }
    g.ring_at = round_up(sizeof(struct fm_shm_header), FM_CACHE_LINE);
    g.boxes_at = round_up(g.ring_at + sizeof(struct fm_shm_ring) + g.ring_len, 4096);
    g.lane_at = round_up(fm_shm_box_size(g.box_cells, g.max_send), 4096);
    g.lane_len = plan_lane(w, g.max_send, n_local);
    g.box_stride = g.lane_at + g.lane_len;
    g.segment_len = g.boxes_at + g.n_boxes * g.box_stride;
    return g;
}

static int make_segment(struct fm_shm_transport *t, int n_local)
{
    struct fm_shm_header *h;

    t->geometry = plan(t->counters, n_local);
    t->geometry.fences = t->fences;
    t->fd = fm_segment_file("fathom", t->geometry.segment_len, t->geometry.boxes_at);
    if (t->fd < 0) {
        return t->fd;
    }
    h = mmap(NULL, t->geometry.segment_len, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
    if (h == MAP_FAILED) {
        close(t->fd);
        return fm_fail(-FM_E_NOMEM, "cannot map shared memory: %s", strerror(errno));
    }
    h->magic = FM_SHM_MAGIC;
    h->geometry = t->geometry;
    h->base = h;
    h->nonce = fm_segment_nonce();
    t->header = h;
    t->ring = (struct fm_shm_ring *)((char *)h + t->geometry.ring_at);
    t->ring_len = t->geometry.ring_len;
    t->counters->segment_bytes = t->geometry.boxes_at;
    return 0;
}

/* How sleepers and senders agree; see shm_msg.c. */
static void choose_barrier(struct fm_shm_transport *t, int n_local)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

    t->is_crowded = n_local > n_cpus;
    t->fences = t->counters->wake == WAKE_AUTO ? t->is_crowded : t->counters->wake == WAKE_FENCE;
}

/* ---- Peers ---------------------------------------------------------------------------------- */

static int shm_address(struct fm_transport *tp, void *out_addr, size_t *out_len)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    struct fm_shm_address a = {.magic = FM_SHM_MAGIC,
                               .nonce = t->header->nonce,
                               .segment_len = t->geometry.segment_len,
                               .base = (uintptr_t)t->header,
                               .version = FM_SHM_VERSION,
                               .pid = getpid(),
                               .fd = t->fd,
                               .pid_space = (uint32_t)fm_segment_pid_space()};

    memcpy(out_addr, &a, sizeof(a));
    *out_len = sizeof(a);
    return 0;
}

/* Do the sizes that the peer's header tells lie within its segment, and are they ours? */
static bool is_sound(const struct fm_shm_geometry *g, const struct fm_shm_address *a,
                     uint32_t max_send)
{
    uint64_t box_len = fm_shm_box_size(g->box_cells, g->max_send);

    return g->segment_len == a->segment_len && g->max_send == max_send &&
           power_of_two(g->ring_len) == g->ring_len && g->ring_len >= 4 * (uint64_t)max_send &&
           power_of_two(g->box_cells) == g->box_cells && g->n_boxes <= FM_SHM_BOXES &&
           g->box_cells >= 4 * fm_shm_box_span(max_send) && g->box_cells <= g->segment_len &&
           g->ring_len <= g->segment_len && g->lane_at >= box_len &&
           (g->n_boxes == 0 || (g->lane_at <= g->segment_len && g->lane_len <= g->segment_len)) &&
           g->lane_at % FM_CACHE_LINE == 0 && g->box_stride >= g->lane_at + g->lane_len &&
           (g->lane_len == 0 ||
            (power_of_two(g->lane_len) == g->lane_len && g->lane_len >= 8 * (uint64_t)max_send)) &&
           g->ring_at >= sizeof(struct fm_shm_header) &&
           g->ring_at + sizeof(struct fm_shm_ring) + g->ring_len <= g->boxes_at &&
           g->boxes_at + g->n_boxes * g->box_stride <= g->segment_len;
}

/* Map the peer's segment. 0 or a failure, after which the peer is left to another transport. */
static int attach(struct fm_shm_transport *t, struct fm_shm_ep *ep)
{
    const struct fm_shm_address *a = &ep->address;
    int fd = fm_segment_open(a->pid, a->fd, O_RDWR);
    struct fm_shm_header *h;

    if (fd < 0 && errno == ENOENT && a->pid_space &&
        a->pid_space == (uint32_t)fm_segment_pid_space()) {
        return fm_fail(-FM_E_PEER, "process %d (pid %d) has ended", ep->ep.peer, a->pid);
    }
    if (fd < 0) {
        return fm_fail(-FM_E_UNSUPPORTED,
                       "shared memory of process %d (pid %d) cannot be opened: %s", ep->ep.peer,
                       a->pid, strerror(errno));
    }
    h = lseek(fd, 0, SEEK_END) == (off_t)a->segment_len
            ? mmap(NULL, a->segment_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
            : MAP_FAILED;
    close(fd);
    if (h == MAP_FAILED) {
        return fm_fail(-FM_E_UNSUPPORTED, "shared memory of process %d cannot be mapped",
                       ep->ep.peer);
    }
    if (h->magic != FM_SHM_MAGIC || h->nonce != a->nonce) {
        munmap(h, a->segment_len);
        return fm_fail(-FM_E_UNSUPPORTED, "pid %d is not process %d here", a->pid, ep->ep.peer);
    }
    ep->geometry = h->geometry;
    if (!is_sound(&ep->geometry, a, (uint32_t)t->tp.max_send)) {
        munmap(h, a->segment_len);
        return fm_fail(-FM_E_INVAL,
                       "shared memory of process %d is laid out otherwise: are its FATHOM_SHM_ "
                       "settings the same?",
                       ep->ep.peer);
    }
    ep->owns_map = a->pid != getpid();
    if (!ep->owns_map) { /* one mapping, so that tools that watch addresses see both ends */
        munmap(h, a->segment_len);
        h = (struct fm_shm_header *)(uintptr_t)a->base; // NOLINT
    }
    ep->header = h;
    ep->ring = (struct fm_shm_ring *)((char *)h + ep->geometry.ring_at);
    return 0;
}

static void detach(struct fm_shm_ep *ep)
{
    if (ep->owns_map) {
        munmap(ep->header, ep->geometry.segment_len);
    }
}

static int shm_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                       struct fm_ep **out_ep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    struct fm_shm_ep *ep;
    int rc;

    ep = aligned_alloc(FM_CACHE_LINE, round_up(sizeof(*ep), FM_CACHE_LINE));
    if (!ep) {
        return fm_fail(-FM_E_NOMEM, "no memory for an endpoint");
    }
    memset(ep, 0, sizeof(*ep));
    if (addr_len != sizeof(ep->address)) {
        rc = fm_fail(-FM_E_PROTO, "the shared-memory address of process %d is broken", peer);
        goto err_ep;
    }
    memcpy(&ep->address, addr, sizeof(ep->address));
    if (ep->address.magic != FM_SHM_MAGIC || ep->address.version != FM_SHM_VERSION) {
        rc = fm_fail(-FM_E_UNSUPPORTED, "process %d runs another version of the library", peer);
        goto err_ep;
    }
    ep->ep = (struct fm_ep){.tp = tp, .ops = tp->ops, .peer = peer};
    rc = attach(t, ep);
    if (rc < 0) {
        goto err_ep;
    }
    rc = fm_shm_door_find(ep);
    if (rc < 0) {
        goto err_map;
    }
    ep->claimed = -1;
    ep->box_after = (uint32_t)t->counters->box_after;
    ep->cells_len = smaller(t->counters->lane_min, tp->max_send);
    ep->ep.pushes = ep->geometry.lane_len && ep->geometry.n_boxes ? FM_PUSH_ALWAYS : FM_PUSH_NEVER;
    ep->must_fence = ep->geometry.fences;
    ep->ep.no_rma = !fm_shm_copy_probe(ep);
    ep->can_help = !ep->ep.no_rma;
    ep->next = t->eps;
    t->eps = ep;
    fathom_level_add(&t->counters->n_peers, 1);
    FM_STAT(if (t->counters->on_connected) fm_shm_event_connected(ep));
    *out_ep = &ep->ep;
    return 0;

err_map:
    detach(ep);
err_ep:
    free(ep);
    return rc;
}

static void shm_disconnect(struct fm_ep *fep)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    struct fm_shm_transport *t;
    struct fm_shm_ep **at;

    if (!ep) {
        return;
    }
    t = (struct fm_shm_transport *)fep->tp;
    fm_shm_copy_finish(t, ep);
    at = &t->eps;
    while (*at != ep) {
        at = &(*at)->next;
    }
    *at = ep->next;
    fm_shm_door_leave(ep);
    detach(ep);
    fathom_level_add(&t->counters->n_peers, -1);
    free(ep);
}

static bool reserve(struct fm_shm_ep *ep, uint64_t at, uint64_t len)
{
    int fd = fm_segment_open(ep->address.pid, ep->address.fd, O_RDWR);
    bool is_there;

    if (fd < 0) {
        return false;
    }
    is_there = fallocate(fd, 0, (off_t)at, (off_t)len) == 0;
    close(fd);
    return is_there;
}

bool fm_shm_open_box(struct fm_shm_ep *ep, uint32_t box)
{
    const struct fm_shm_geometry *g = &ep->geometry;

    return reserve(ep, g->boxes_at + box * g->box_stride, g->lane_at);
}

bool fm_shm_open_lane(struct fm_shm_ep *ep, uint32_t box)
{
    const struct fm_shm_geometry *g = &ep->geometry;
    uint64_t at = g->boxes_at + box * g->box_stride + g->lane_at;

    if (!reserve(ep, at, g->lane_len)) {
        return false;
    }
    /* All at once, which is many times faster than fault by fault. Old kernels refuse. */
    (void)madvise((char *)ep->header + at, g->lane_len, MADV_POPULATE_WRITE);
    return true;
}

bool fm_shm_open_is_gone(struct fm_shm_ep *ep)
{
    struct pollfd p = {.events = POLLIN};
    bool is_gone;

    if (atomic_load_explicit(&ep->header->closed, memory_order_acquire)) {
        return true;
    }
    p.fd = (int)syscall(SYS_pidfd_open, ep->address.pid, 0);
    if (p.fd < 0) { /* ENOSYS: an old kernel cannot tell */
        return errno == ESRCH;
    }
    is_gone = poll(&p, 1, 0) > 0; /* also while nobody has waited for it */
    close(p.fd);
    return is_gone;
}

/* ---- Open and close ------------------------------------------------------------------------- */

static void shm_close(struct fm_transport *tp)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;

    if (!t) {
        return;
    }
    fm_shm_copy_finish(t, NULL);
    while (t->eps) {
        shm_disconnect(&t->eps->ep);
    }
    atomic_store_explicit(&t->header->closed, 1, memory_order_release);
    fm_shm_door_close(t);
    munmap(t->header, t->geometry.segment_len);
    close(t->fd);
    free(t->staging);
    free(t);
}

static const struct fm_transport_ops ops = {
    .name = "shm",
    .close = shm_close,
    .address = shm_address,
    .connect = shm_connect,
    .disconnect = shm_disconnect,
    .send = fm_shm_msg_send,
    .reserve = fm_shm_msg_reserve,
    .commit = fm_shm_msg_commit,
    .rma = fm_shm_copy_rma,
    .expose = fm_shm_copy_expose,
    .unexpose = fm_shm_copy_unexpose,
    .poll = fm_shm_msg_poll,
    .arm = fm_shm_msg_arm,
};

int fm_shm_open(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp)
{
    struct fm_shm_transport *t = aligned_alloc(FM_CACHE_LINE, round_up(sizeof(*t), FM_CACHE_LINE));
    int rc;

    if (!t) {
        return fm_fail(-FM_E_NOMEM, "no memory for the shared-memory transport");
    }
    memset(t, 0, sizeof(*t));
    t->counters = counters;
    t->self = args->self;
    t->chunk = t->counters->cma_chunk;
    t->help_len = t->counters->cma_help ? t->counters->cma_help : SIZE_MAX;
    choose_barrier(t, args->n_local ? args->n_local : args->n_procs);
    rc = make_segment(t, args->n_local ? args->n_local : args->n_procs);
    if (rc < 0) {
        goto err_t;
    }
    rc = fm_shm_door_make(t, args->has_company);
    if (rc < 0) {
        goto err_segment;
    }
    /* Where the Yama module lets only ancestors look into a process, let our launcher's children do
       so too; elsewhere this is refused and not needed. */
    (void)prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
    t->tp = (struct fm_transport){.ops = &ops,
                                  .sink = args->sink,
                                  .max_send = t->geometry.max_send,
                                  .best_inline = FM_SHM_INLINE,
                                  .piece_len = t->counters->piece_len,
                                  .has_rma = true,
                                  .max_pieces = FM_SHM_PIECES,
                                  .needs_expose = false};
    t->tp.sink.enough = args->sink.enough ? args->sink.enough : &never_enough;
    rc = fm_transport_check(&t->tp);
    if (rc < 0) {
        goto err_door;
    }
    *out_tp = &t->tp;
    return 0;

err_door:
    fm_shm_door_close(t);
err_segment:
    munmap(t->header, t->geometry.segment_len);
    close(t->fd);
err_t:
    free(t);
    return rc;
}
