/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables and events of the shared-memory transport; a table. */
#include "transport/shm/shm.h"

#define AT(member) offsetof(struct fm_shm_counters, member)

/* clang-format off */
static const struct fathom_enum_item wake_items[] = {
    {FM_SHM_WAKE_AUTO, "auto"}, {FM_SHM_WAKE_FENCE, "fence"}, {FM_SHM_WAKE_SETTLE, "settle"},
};
static const struct fathom_enum wake_enum = {"shm_wake", wake_items, FM_ARRAY_LEN(wake_items)};

#define NUMBER(name_, word_, def_, min_, max_, scope_)                                             \
    .name = name_, .type = FATHOM_INT, .scope = FATHOM_SCOPE_##scope_,                             \
    .verbosity = FATHOM_TUNER_DETAIL, .at = AT(word_), .def = def_, .min = min_, .max = max_,      \
    .fixed_after_init = true

static const struct fathom_cvar cvars[] = {
    {NUMBER("shm_inbox_bytes", inbox_bytes, 128 << 10, 32 << 10, 64 << 20, ALL_EQ),
     .unit = "bytes", .formerly = "shm_ring_bytes",
     .desc = "Size of a process's inbox, the ring for messages of all senders that have no fast "
             "ring with it. Raise it for jobs in which very many processes send to one."},
    {NUMBER("shm_fast_rings", fast_rings, 16, 0, FM_SHM_FAST_RINGS, LOCAL), .formerly = "shm_boxes",
     .desc = "Senders that may have a fast ring of their own at this process. Raise it when more "
             "neighbours than that send all the time; each costs memory and polling."},
    {NUMBER("shm_fast_ring_bytes", fast_bytes, 128 << 10, 32 << 10, 64 << 20, LOCAL),
     .unit = "bytes", .formerly = "shm_box_bytes",
     .desc = "Size of a fast ring, of which a message takes whole cache lines. Raise it when "
             "bursts of messages find it full (shm_no_room)."},
    {NUMBER("shm_fast_ring_after", fast_after, 8, 0, 1 << 30, LOCAL), .unit = "messages",
     .formerly = "shm_box_after",
     .desc = "Short messages to a peer through its inbox before a fast ring is claimed there; 0 "
             "claims it with the first. A long message claims it at any time."},
    {NUMBER("shm_bulk_ring_bytes", bulk_bytes, 512 << 10, 0, 64 << 20, LOCAL),
     .unit = "bytes", .formerly = "shm_lane_bytes",
     .desc = "Size of the bulk ring for long messages behind each fast ring, a power of two, "
             "reduced where many processes share the host. Half of a processor's private cache "
             "is best; 0 sends long messages through the fast ring."},
    {NUMBER("shm_bulk_min", bulk_min, (2 << 10) + FM_CACHE_LINE, FM_SHM_INLINE, 1 << 20, LOCAL),
     .unit = "bytes", .formerly = "shm_lane_min",
     .desc = "Length with header above which a message takes the bulk ring instead of the fast "
             "ring. Change it to compare the two."},
    {NUMBER("shm_high_latency_ns", high_latency_ns, 95, 0, 1000000, LOCAL), .unit = "ns",
     .formerly = "shm_apart_ns",
     .desc = "Cache-line latency between the two processors above which long messages use single "
             "copy (CMA) instead of the shared-memory pipeline; 0 never does. Compare it with "
             "shm_line_latency when long messages are slow."},
    {NUMBER("shm_no_shared_cache_ns", no_shared_cache_ns, 250, 0, 1000000, LOCAL), .unit = "ns",
     .formerly = "shm_far_ns",
     .desc = "Cache-line latency between the two processors above which they are taken to share "
             "no cache, and long messages are written with non-temporal stores; 0 never does."},
    {NUMBER("shm_max_message", max_message, (16 << 10) + FM_CACHE_LINE, 4 << 10, 1 << 20, ALL_EQ),
     .unit = "bytes",
     .desc = "Longest message, header included, that goes through shared memory in one piece; "
             "longer ones are split, so that both sides copy at the same time."},
    {NUMBER("shm_fragment_len", piece_len, 16 << 10, 64, 1 << 20, LOCAL), .unit = "bytes",
     .formerly = "shm_piece_len",
     .desc = "Fragment size of long messages in the shared-memory pipeline, in which one process "
             "writes while the other reads. Whole pages are best."},
    {NUMBER("shm_cma", cma, 1, 0, 1, ALL),
     .desc = "Whether long messages are copied once, directly between the two processes "
             "(process_vm_readv, process_vm_writev); 0 sends fragments through shared memory."},
    {NUMBER("shm_cma_chunk", cma_chunk, 128 << 10, 4 << 10, 64 << 20, LOCAL), .unit = "bytes",
     .desc = "Most bytes that one system call of single copy moves while both processes copy. "
             "Smaller chunks share the work more evenly, larger ones need fewer calls."},
    {NUMBER("shm_assist_min", assist_min, 64 << 10, 0, INT32_MAX, LOCAL), .unit = "bytes",
     .formerly = "shm_cma_help",
     .desc = "Length from which on a transfer by single copy requests the peer's assistance: both "
             "then copy chunks. 0 never does; set it when peers compute while they communicate."},
    {.name = "shm_wake", .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL,
     .verbosity = FATHOM_DEV_DETAIL, .at = AT(wake), .def = FM_SHM_WAKE_AUTO,
     .min = FM_SHM_WAKE_AUTO, .max = FM_SHM_WAKE_SETTLE, .fixed_after_init = true,
     .items = &wake_enum,
     .desc = "How lost wake-ups are prevented: by a memory fence per message (fence), or by a "
             "first short sleep of the receiver (settle). auto takes fence when there are more "
             "processes than processors."},
};

#define ROW(name_, class_, word_) .name = name_, .klass = class_, .at = AT(word_)

static const struct fathom_term sent[] = {{.at = AT(fast_sent.n)}, {.at = AT(inbox_sent.n)}};
static const struct fathom_term sent_len[] = {{.at = AT(fast_sent.len)},
                                              {.at = AT(inbox_sent.len)}};

static const struct fathom_pvar pvars[] = {
    {.name = "shm_sent", .klass = FATHOM_COUNTER, .unit = "messages", .terms = sent,
     .n_terms = FM_ARRAY_LEN(sent), .desc = "Messages sent through shared memory."},
    {.name = "shm_sent_bytes", .klass = FATHOM_COUNTER, .unit = "bytes", .terms = sent_len,
     .n_terms = FM_ARRAY_LEN(sent_len),
     .desc = "Bytes of the messages in shm_sent, packet headers included."},
    {ROW("shm_received", FATHOM_COUNTER, received.n), .unit = "messages",
     .desc = "Messages received through shared memory."},
    {ROW("shm_received_bytes", FATHOM_COUNTER, received.len), .unit = "bytes",
     .desc = "Bytes of the messages in shm_received, packet headers included."},
    {ROW("shm_fast_ring_sent", FATHOM_COUNTER, fast_sent.n), .unit = "messages",
     .formerly = "shm_box_sent",
     .desc = "Messages among shm_sent that took a fast ring; the others took an inbox."},
    {ROW("shm_bulk_sent", FATHOM_COUNTER, n_bulk_sent), .unit = "messages",
     .formerly = "shm_lane_sent",
     .desc = "Messages among shm_fast_ring_sent whose body took the bulk ring, since they were "
             "longer than shm_bulk_min."},
    {ROW("shm_bulk_rings", FATHOM_COUNTER, n_bulk_rings), .unit = "peers", .formerly = "shm_lanes",
     .desc = "Peers at which this process has a bulk ring."},
    {ROW("shm_nontemporal", FATHOM_COUNTER, n_nontemporal), .unit = "messages",
     .formerly = "shm_past_caches",
     .desc = "Messages among shm_bulk_sent that were written with non-temporal stores, since the "
             "processors seem to share no cache (shm_no_shared_cache_ns)."},
    {ROW("shm_line_latency", FATHOM_LEVEL, line_ns), .unit = "ns", .formerly = "shm_line_time",
     .desc = "Latency of the last cache line that came from the processor of a receiver of long "
             "messages."},
    {ROW("shm_no_room", FATHOM_COUNTER, n_full), .unit = "times",
     .desc = "Sends that found the receiver's inbox, fast ring or bulk ring full and were tried "
             "again."},
    {ROW("shm_fast_rings_claimed", FATHOM_COUNTER, n_fast_claimed), .unit = "peers",
     .formerly = "shm_boxes_claimed", .desc = "Peers at which this process has a fast ring."},
    {ROW("shm_fast_rings_refused", FATHOM_COUNTER, n_fast_refused), .unit = "peers",
     .formerly = "shm_boxes_refused",
     .desc = "Peers at which this process got no fast ring, because all were claimed or memory "
             "was short. See shm_fast_rings."},
    {ROW("shm_fast_rings_polled", FATHOM_LEVEL, n_fast_polled), .unit = "peers",
     .formerly = "shm_boxes_polled", .desc = "Peers that have a fast ring at this process."},
    {ROW("shm_copies", FATHOM_COUNTER, n_cma_transfers), .unit = "transfers",
     .desc = "Transfers by single copy that this process started and that are complete."},
    {ROW("shm_copy_calls", FATHOM_COUNTER, n_cma), .unit = "calls",
     .desc = "System calls of single copy that this process made, for itself and for peers."},
    {ROW("shm_copy_bytes", FATHOM_COUNTER, n_cma_bytes), .unit = "bytes",
     .desc = "Bytes that the calls in shm_copy_calls moved."},
    {ROW("shm_copies_forbidden", FATHOM_COUNTER, n_cma_refused), .unit = "peers",
     .desc = "Peers whose memory this process may not copy, because of the system, of a container "
             "or of shm_cma."},
    {ROW("shm_chunks_assisted", FATHOM_COUNTER, n_chunks_assisted), .unit = "chunks",
     .formerly = "shm_chunks_helped",
     .desc = "Chunks of this process's transfers that the peer copied."},
    {ROW("shm_chunks_copied_for_peers", FATHOM_COUNTER, n_chunks_for_peers), .unit = "chunks",
     .formerly = "shm_chunks_given",
     .desc = "Chunks of peers' transfers that this process copied."},
    {ROW("shm_sleeps", FATHOM_COUNTER, n_sleeps), .unit = "times",
     .desc = "Times that this process had nothing to do and announced that it goes to sleep."},
    {ROW("shm_wakeups", FATHOM_COUNTER, n_wakeups), .unit = "times", .formerly = "shm_wakes",
     .desc = "Times that a message of this process had to wake its receiver by a system call."},
    {ROW("shm_segment_bytes", FATHOM_LEVEL, segment_bytes), .unit = "bytes",
     .desc = "Shared memory in use for messages to this process."},
    {ROW("shm_peers", FATHOM_LEVEL, n_peers), .unit = "peers", .is_level = true,
     .desc = "Peers whose shared memory is mapped now."},
    {ROW("shm_peers_high", FATHOM_HIGHWATERMARK, n_peers), .unit = "peers",
     .desc = "Most peers whose shared memory was mapped at one time."},
};

static const struct fathom_event_item connected_items[] = {
    {.name = "peer", .desc = "Process index of the peer.", .type = FATHOM_INT},
    {.name = "can_copy", .desc = "1 when its memory may be copied by system call.",
     .type = FATHOM_INT},
};
static const struct fathom_event_item claimed_items[] = {
    {.name = "peer", .desc = "Process index of the peer.", .type = FATHOM_INT},
    {.name = "ring", .desc = "Number of the fast ring at the peer.", .type = FATHOM_INT},
};
static const struct fathom_event_item refused_items[] = {
    {.name = "peer", .desc = "Process index of the peer.", .type = FATHOM_INT},
    {.name = "errno", .desc = "Error number of the system.", .type = FATHOM_INT},
};

enum { EV_CONNECTED, EV_CLAIMED, EV_REFUSED };

static const struct fathom_event events[] = {
    [EV_CONNECTED] = {.name = "shm_connected", .verbosity = FATHOM_USER_DETAIL,
                      .at = AT(on_connected), .data = connected_items,
                      .n_data = FM_ARRAY_LEN(connected_items),
                      .desc = "The shared memory of a peer was mapped."},
    [EV_CLAIMED] = {.name = "shm_fast_ring_claimed", .verbosity = FATHOM_TUNER_DETAIL,
                    .formerly = "shm_box_claimed", .at = AT(on_fast_claimed),
                    .data = claimed_items, .n_data = FM_ARRAY_LEN(claimed_items),
                    .desc = "This process claimed a fast ring at a peer."},
    [EV_REFUSED] = {.name = "shm_copy_forbidden", .verbosity = FATHOM_USER_DETAIL,
                    .at = AT(on_cma_refused), .data = refused_items,
                    .n_data = FM_ARRAY_LEN(refused_items),
                    .desc = "Single copy with a peer is forbidden; long messages go in fragments."},
};
/* clang-format on */

static const struct fathom_category categories[] = {
    {.name = "shm", .desc = "Shared memory between processes of one host."}};

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
    uint64_t values[] = {(uint64_t)ep->ep.peer, !ep->ep.no_rma};

    fathom_mpit_emit(&events[EV_CONNECTED], fm_shm_of(ep)->counters, NULL, values);
}

void fm_shm_event_fast(struct fm_shm_ep *ep)
{
    uint64_t values[] = {(uint64_t)ep->ep.peer, (uint64_t)ep->claimed};

    fathom_mpit_emit(&events[EV_CLAIMED], fm_shm_of(ep)->counters, NULL, values);
}

void fm_shm_event_refused(struct fm_shm_ep *ep, int error)
{
    uint64_t values[] = {(uint64_t)ep->ep.peer, (uint64_t)error};

    fathom_mpit_emit(&events[EV_REFUSED], fm_shm_of(ep)->counters, NULL, values);
}
