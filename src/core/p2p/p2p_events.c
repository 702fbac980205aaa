/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the engine. */
#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"

#define WORD(f) offsetof(struct fm_p2p_counters, f)

/* clang-format off */
static const struct fathom_event_item event_data[] = {
    {.name = "process", .desc = "Index of the other process.", .type = FATHOM_INT},
    {.name = "context", .desc = "Context id of the communicator, plus 1 for collectives.",
     .type = FATHOM_UNSIGNED},
    {.name = "tag", .desc = "Tag of the message.", .type = FATHOM_INT},
    {.name = "bytes", .desc = "Length of the message.", .type = FATHOM_UNSIGNED_LONG_LONG},
};

#define EVENT(n, d, f, c)                                                                          \
    {.name = n, .desc = d, .verbosity = FATHOM_USER_DETAIL, .bind = FATHOM_BIND_NONE,              \
     .at = WORD(f), .data = event_data, .n_data = FM_ARRAY_LEN(event_data), .category = c}

const struct fathom_event fm_p2p_events[FM_EV_COUNT] = {
    [FM_EV_EAGER] = EVENT("p2p_eager_event", "An eager message has left.",
        on_eager, "protocol"),
    [FM_EV_RTS] = EVENT("p2p_rts_event", "A request to send has left.",
        on_rts, "rendezvous"),
    [FM_EV_DATA_START] = EVENT("p2p_data_start_event", "The data of a rendezvous begins to move.",
        on_data_start, "rendezvous"),
    [FM_EV_DATA_RECVD] = EVENT("p2p_data_recvd_event",
                           "All data of a rendezvous is here; its sender may not know that yet.",
        on_data_recvd, "rendezvous"),
    [FM_EV_DATA_DONE] = EVENT("p2p_data_done_event", "A rendezvous send is complete.",
        on_data_done, "rendezvous"),
    [FM_EV_COMPLETED] = EVENT("request_completed_event", "The request of a message is complete.",
        req.on_done, "requests"),
    [FM_EV_FLOW] = EVENT("p2p_flow_event",
                           "A receiver has no unexpected memory left for this sender.",
        on_flow, "flow"),
    [FM_EV_PEER] = EVENT("p2p_peer_event",
                           "A process was connected to; the bytes are the longest packet to it.",
        on_peer, "peers"),
    [FM_EV_PEER_FAILED] = EVENT("p2p_peer_failed_event", "A process was lost.",
        on_peer_failed, "peers"),
};
/* clang-format on */

void fm_p2p_emit(const struct fm_channel *ch, enum fm_p2p_event ev, int proc, uint32_t context,
                 int tag, uint64_t bytes)
{
    const uint64_t values[] = {(uint64_t)(int64_t)proc, context, (uint64_t)(int64_t)tag, bytes};

    fathom_mpit_emit(&fm_p2p_events[ev], ch->counters, NULL, values);
}
