/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables and events of the libfabric transport; a table. */
#include "transport/ofi/ofi.h"

#define AT(member) offsetof(struct fm_ofi_counters, member)

#define TEXT(n, d, s, v, m)                                                                        \
    {                                                                                              \
        .name = n, .desc = d, .type = FATHOM_CHAR, .scope = s, .verbosity = v, .at = AT(m),        \
        .count = FM_OFI_NAME_LEN, .def_text = "", .fixed_after_init = true                         \
    }
#define NUMBER(n, d, u, v, m, d0, lo, hi)                                                          \
    {                                                                                              \
        .name = n, .desc = d, .unit = u, .type = FATHOM_UNSIGNED_LONG_LONG,                        \
        .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = v, .at = AT(m), .def = d0, .min = lo,           \
        .max = hi, .fixed_after_init = true                                                        \
    }

static const struct fathom_cvar cvars[] = {
    TEXT(
        "ofi_provider",
        "The libfabric provider to use (\"tcp\", \"shm\", \"verbs;ofi_rxm\"); empty takes the best "
        "that spans hosts, so set it only when that choice is wrong.",
        FATHOM_SCOPE_ALL_EQ, FATHOM_USER_BASIC, provider),
    TEXT("ofi_interface",
         "The network interface to use, as the name of its device or one of its addresses; set it "
         "when hosts have several networks and not all of them join all hosts. The group is the "
         "processes that talk through libfabric: their interfaces must reach one another.",
         FATHOM_SCOPE_GROUP, FATHOM_USER_BASIC, interface),
    TEXT("ofi_provider_used", "The libfabric provider that was chosen; empty until it was needed.",
         FATHOM_SCOPE_READONLY, FATHOM_USER_BASIC, provider_used),
    TEXT("ofi_interface_used",
         "The interface and address that were chosen; empty until they were needed.",
         FATHOM_SCOPE_READONLY, FATHOM_USER_BASIC, interface_used),
    NUMBER("ofi_max_send",
           "Longest message that is handed to the provider in one piece, at least 4096, or 0 for "
           "what suits the provider (17 KiB over ofi_rxm, else 64 KiB and headers); raise it for "
           "providers that are slow to start a message.",
           "bytes", FATHOM_TUNER_DETAIL, max_send, 0, 0, 1 << 20),
    NUMBER(
        "ofi_eager_len",
        "Largest message sent eagerly where p2p_eager_limit has its default, in bytes of payload, "
        "at most ofi_max_send; 0 takes what suits the provider (16 KiB over ofi_rxm and shm, else "
        "64 KiB). Lower it when receives are posted late.",
        "bytes", FATHOM_TUNER_DETAIL, eager_len, 0, 0, 1 << 20),
    NUMBER("ofi_send_buffers",
           "Bounce buffers for messages in flight that are too long to be injected; raise it when "
           "ofi_exhausted grows.",
           "buffers", FATHOM_TUNER_DETAIL, n_send_buffers, 64, 2, 65536),
    NUMBER(
        "ofi_recv_buffers",
        "Receive buffers kept with the provider; raise it when many peers send at the same time.",
        "buffers", FATHOM_TUNER_DETAIL, n_recv_buffers, 64, 2, 65536),
    NUMBER("ofi_cq_batch",
           "Completions taken from the provider by one read of its queue; lower it when single "
           "messages wait too long behind others.",
           "entries", FATHOM_TUNER_ALL, cq_batch, 16, 1, FM_OFI_CQ_MAX),
    NUMBER("ofi_use_rma",
           "Whether long messages may be read from the sender's memory by the provider (1) or "
           "always go as fragments (0); set 0 when a provider's RMA is slow or broken.",
           NULL, FATHOM_TUNER_BASIC, use_rma, 1, 0, 1),
    NUMBER(
        "ofi_can_sleep",
        "Whether a waiting process may sleep on the provider's wait object (1) or polls for ever "
        "(0); set 0 when wake-ups are slow.",
        NULL, FATHOM_TUNER_DETAIL, can_sleep, 1, 0, 1),
    NUMBER("ofi_drain_ms",
           "Longest time that closing waits for messages which the provider has accepted but not "
           "sent; raise it when peers are slow to receive at the end of a job.",
           "ms", FATHOM_TUNER_ALL, drain_ms, 5000, 0, 3600000),
};

#define COUNTER(n, u, m, d)                                                                        \
    {                                                                                              \
        .name = n, .desc = d, .unit = u, .klass = FATHOM_COUNTER, .at = AT(m)                      \
    }
#define AGGREGATE(n, u, m, d)                                                                      \
    {                                                                                              \
        .name = n, .desc = d, .unit = u, .klass = FATHOM_AGGREGATE, .at = AT(m)                    \
    }
#define LEVEL(n, u, m, d)                                                                          \
    {                                                                                              \
        .name = n, .desc = d, .unit = u, .klass = FATHOM_LEVEL, .is_level = true, .at = AT(m)      \
    }
#define HIGH(n, u, m, d)                                                                           \
    {                                                                                              \
        .name = n, .desc = d, .unit = u, .klass = FATHOM_HIGHWATERMARK, .is_level = true,          \
        .at = AT(m)                                                                                \
    }

static const struct fathom_pvar pvars[] = {
    COUNTER("ofi_sends", "messages", n_sends, "Messages that the provider accepted for sending."),
    COUNTER("ofi_injects", "messages", n_injects,
            "Messages among ofi_sends that were short enough to be injected without a buffer."),
    AGGREGATE("ofi_bytes_sent", "bytes", bytes_sent,
              "Bytes of headers and bodies of the messages in ofi_sends."),
    COUNTER(
        "ofi_again", "calls", n_again,
        "Sends and transfers that had to come back later: the provider had no room (FI_EAGAIN), "
        "or too many injected messages were under way."),
    COUNTER("ofi_recvs", "messages", n_recvs, "Messages that arrived and were handed up."),
    AGGREGATE("ofi_bytes_received", "bytes", bytes_received,
              "Bytes of headers and bodies of the messages in ofi_recvs."),
    COUNTER(
        "ofi_early", "messages", n_early,
        "Messages that arrived before an earlier one of the same sender, and were kept until that "
        "came. There is no such variable of shared memory, where each sender's messages lie in "
        "order."),
    LEVEL("ofi_early_bytes", "bytes", early_bytes, "Bytes of early messages that are kept now."),
    HIGH("ofi_early_bytes_max", "bytes", early_bytes,
         "Most bytes of early messages kept at one time."),
    COUNTER("ofi_malformed", "messages", n_malformed,
            "Messages that were dropped because no correct peer sends them."),
    COUNTER("ofi_foreign", "messages", n_foreign,
            "Messages that were dropped because their sender did not prove that it belongs to this "
            "job; see who can reach ofi_interface_used when it grows."),
    COUNTER("ofi_connections", "peers", n_connections,
            "Peers to which the provider has accepted at least one message."),
    COUNTER("ofi_cq_reads", "calls", n_cq_reads, "Reads of the completion queue."),
    COUNTER("ofi_cq_entries", "entries", n_cq_entries, "Completions that were read."),
    COUNTER("ofi_cq_errors", "entries", n_cq_errors, "Operations that completed with an error."),
    {.name = "ofi_bounce_buffers",
     .desc = "Bounce buffers for sending that were allocated; see ofi_send_buffers.",
     .unit = "buffers",
     .klass = FATHOM_SIZE,
     .at = AT(n_bounce)},
    LEVEL("ofi_bounce_used", "buffers", bounce_used, "Bounce buffers in use now."),
    HIGH("ofi_bounce_used_max", "buffers", bounce_used, "Most bounce buffers in use at one time."),
    {.name = "ofi_bounce_utilization",
     .desc = "Share of ofi_bounce_buffers that is in use now; see it when ofi_exhausted grows, "
             "and raise ofi_send_buffers where it stays near 1.",
     .klass = FATHOM_PERCENTAGE,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = AT(bounce_used),
     .whole_at = AT(n_bounce)},
    {.name = "ofi_recv_posted_min",
     .desc = "Fewest receive buffers that the provider had taken, of ofi_recv_buffers; see it "
             "when messages are slow to arrive: where it is less, the provider has refused some.",
     .unit = "buffers",
     .klass = FATHOM_LOWWATERMARK,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = AT(recv_posted),
     .whole_at = AT(n_recv_buffers)},
    COUNTER("ofi_exhausted", "calls", n_exhausted,
            "Sends that had to come back later because no bounce buffer was free."),
    COUNTER("ofi_rma_reads", "transfers", n_reads, "Transfers from a peer's memory begun."),
    COUNTER("ofi_rma_writes", "transfers", n_writes, "Transfers into a peer's memory begun."),
    AGGREGATE("ofi_rma_bytes_read", "bytes", bytes_read, "Bytes read from peers' memory."),
    AGGREGATE("ofi_rma_bytes_written", "bytes", bytes_written, "Bytes written to peers' memory."),
    COUNTER("ofi_rma_atomics", "transfers", n_atomics,
            "Atomic updates of a peer's memory begun, each of one or many elements."),
    AGGREGATE("ofi_rma_atomic_bytes", "bytes", atomic_bytes,
              "Bytes of peers' memory updated by ofi_rma_atomics."),
    LEVEL("ofi_rma_live", "transfers", transfers, "Memory transfers in progress now."),
    HIGH("ofi_rma_live_max", "transfers", transfers,
         "Most memory transfers in progress at one time."),
    COUNTER("ofi_registrations", "calls", n_registrations,
            "Pieces of memory registered with the provider."),
    LEVEL("ofi_registered", "pieces", registered, "Pieces of memory registered now."),
    HIGH("ofi_registered_max", "pieces", registered,
         "Most pieces of memory registered at one time."),
    LEVEL("ofi_registered_windows", "pieces", windows,
          "Pieces among ofi_registered that stay so until a window is freed."),
    LEVEL("ofi_registered_bytes", "bytes", registered_bytes, "Bytes of memory registered now."),
    HIGH("ofi_registered_bytes_max", "bytes", registered_bytes,
         "Most bytes of memory registered at one time."),
};

static const struct fathom_event_item connected_items[] = {
    {.name = "peer", .desc = "Process index of the peer.", .type = FATHOM_UNSIGNED_LONG_LONG},
};
static const struct fathom_event_item error_items[] = {
    {.name = "peer",
     .desc = "Process index of the peer, or all ones when it is not known.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "error", .desc = "libfabric's error number.", .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "detail",
     .desc = "The provider's own error number.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
};
static const struct fathom_event_item exhausted_items[] = {
    {.name = "buffers",
     .desc = "Bounce buffers that exist, all of them in use.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
};

const struct fathom_event fm_ofi_events[FM_OFI_N_EVENTS] = {
    [FM_OFI_CONNECTED] = {.name = "ofi_connected",
                          .desc = "The provider accepted the first message to a peer.",
                          .verbosity = FATHOM_USER_DETAIL,
                          .at = AT(on_connected),
                          .data = connected_items,
                          .n_data = FM_ARRAY_LEN(connected_items)},
    [FM_OFI_CQ_ERROR] = {.name = "ofi_cq_error",
                         .desc = "An operation of the provider completed with an error.",
                         .verbosity = FATHOM_USER_DETAIL,
                         .at = AT(on_cq_error),
                         .data = error_items,
                         .n_data = FM_ARRAY_LEN(error_items)},
    [FM_OFI_EXHAUSTED] = {.name = "ofi_pool_exhausted",
                          .desc = "A send found no free bounce buffer.",
                          .verbosity = FATHOM_TUNER_DETAIL,
                          .at = AT(on_exhausted),
                          .data = exhausted_items,
                          .n_data = FM_ARRAY_LEN(exhausted_items)},
};

static const struct fathom_category categories[] = {
    {.name = "ofi",
     .desc = "The transport over libfabric: provider, messages, buffers, memory.",
     .parent = "transport"},
    {.name = "transport", .desc = "What moves bytes between processes."},
};

const struct fathom_table fm_ofi_vars = {
    .room = "ofi",
    .block_len = sizeof(struct fm_ofi_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = fm_ofi_events,
    .n_events = FM_OFI_N_EVENTS,
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};
