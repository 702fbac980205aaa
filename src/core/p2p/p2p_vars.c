/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of the engine; the counters are in p2p_counters.h. Events are in p2p_events.c,
 * variables of progress in progress_vars.c, of matching in match_vars.c.
 */
#include "core/p2p/channel_open.h"
#include "core/p2p/p2p_counters.h"

#define WORD(f) offsetof(struct fm_p2p_counters, f)

static const struct fathom_enum_item reason_items[] = {
    {FM_REASON_SHORT, "short"}, {FM_REASON_EAGER, "eager"}, {FM_REASON_COMM, "comm"},
    {FM_REASON_SELF, "self"},   {FM_REASON_LONG, "long"},   {FM_REASON_NO_CREDIT, "no_credit"},
};
static const struct fathom_enum reason_enum = {"p2p_reason", reason_items, FM_REASON_COUNT};

/* The limits are copied to the peers; they hold from the next message on. */
static int limits_changed(void *block, void *object)
{
    struct fm_channel *ch = fm_channel_main();

    for (int k = 0; ch && ch->counters == block && k < ch->n_peers; k++) {
        fm_peer_limits(ch, fm_peer_of(ch, k));
    }
    return 0;
}

/* clang-format off */
static const struct fathom_cvar cvars[] = {
    {.name = "p2p_eager_limit", .unit = "bytes",
     .desc = "Bytes up to which a message travels with its header; raise it where receives "
             "are mostly posted in time, lower it where unexpected memory runs short. The default "
             "leaves it to ofi_eager_len over libfabric.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_BASIC,
     .at = WORD(eager_limit), .def = FM_EAGER_DEFAULT, .min = 0, .max = 1 << 30,
     .category = "protocol", .changed = limits_changed},
    {.name = "p2p_short_limit", .unit = "bytes",
     .desc = "Bytes up to which a send is tried at once and without a request; lower it only "
             "to study the cost of requests.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(short_limit), .def = 16384, .min = 0, .max = 1 << 30,
     .category = "protocol", .changed = limits_changed},
    {.name = "p2p_unexpected_limit", .unit = "bytes",
     .desc = "Memory for messages that nobody waits for, shared out among all senders, "
             "which fall back to rendezvous when their share is used up; raise it where "
             "many early messages are normal.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_TUNER_BASIC,
     .at = WORD(unexpected_limit), .def = 64 << 20, .min = 64 << 10, .max = INT64_C(1) << 40,
     .category = "flow", .fixed_after_init = true},
    {.name = "p2p_sender_limit", .unit = "bytes",
     .desc = "Most of that memory that one sender over libfabric may use; raise it where single "
             "senders run far ahead, but note that a provider may hold many times as much for "
             "messages that it took from the network too early.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(sender_limit), .def = 2 << 20, .min = 16 << 10, .max = INT64_C(1) << 40,
     .category = "flow", .fixed_after_init = true},
    {.name = "p2p_rts_window", .unit = "messages",
     .desc = "Unanswered rendezvous messages to one receiver before further ones are held "
             "back until it looks for them; lower it where envelopes alone fill a receiver.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(rts_window), .def = 2048, .min = 1, .max = 1 << 30,
     .category = "flow"},
    {.name = "p2p_fragment_len", .unit = "bytes",
     .desc = "Bytes of one fragment of a rendezvous without RMA, within what the transport "
             "takes; lower it to let other messages in between sooner.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(fragment_len), .def = 65536, .min = 64, .max = 1 << 30,
     .category = "rendezvous"},
    {.name = "p2p_pipeline_depth", .unit = "packets",
     .desc = "Fragments that leave for one peer in one round of progress; lower it where "
             "other peers starve.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(pipeline_depth), .def = 16, .min = 1, .max = 1 << 20,
     .category = "rendezvous"},
    {.name = "p2p_rma_min", .unit = "bytes",
     .desc = "Bytes from which on a rendezvous message may be fetched by RMA; raise it "
             "where registering memory is slow.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(rma_min), .def = 1, .min = 0, .max = INT64_MAX,
     .category = "rendezvous"},
    {.name = "p2p_rma_chunk", .unit = "bytes",
     .desc = "Bytes of one transfer of a fetched message; lower it to spread a long message "
             "over several transfers.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(rma_chunk), .def = INT64_C(1) << 26, .min = 4096, .max = INT64_C(1) << 40,
     .category = "rendezvous"},
    {.name = "p2p_rma_depth", .unit = "transfers",
     .desc = "Transfers of one fetched message that are under way at a time, at most 8; "
             "raise it on networks with a long way.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(rma_depth), .def = 4, .min = 1, .max = 8,
     .category = "rendezvous"},
    {.name = "p2p_push_patience", .unit = "us",
     .desc = "Time in which a sender on the same host must go on to push a long message before its "
             "receiver copies it alone; 0 never lets it push. Raise it where senders compute for "
             "short times between sending and waiting.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(push_us), .def = 20, .min = 0, .max = 1 << 30,
     .category = "rendezvous"},
    {.name = "p2p_push_max", .unit = "bytes",
     .desc = "Bytes up to which a sender on the same host is asked to push a long message, so that "
             "one process writes while the other reads; longer ones are copied once, each process "
             "doing half. Lower it where memory is slow and the kernel's copy is not.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(push_max), .def = INT64_MAX, .min = 0, .max = INT64_MAX,
     .category = "rendezvous"},
    {.name = "p2p_piece_min", .unit = "bytes",
     .desc = "Mean length of the pieces of a message that is not one run from which on they are "
             "fetched in place, on one host, instead of being packed; raise it to compare with "
             "packing.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(piece_min), .def = 4096, .min = 1, .max = INT64_MAX,
     .category = "rendezvous"},
    {.name = "p2p_piece_rma_min", .unit = "bytes",
     .desc = "The same for transports with one transfer per piece (libfabric); lower it where "
             "the network reads memory without the help of a processor.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(piece_rma_min), .def = 65536, .min = 1, .max = INT64_MAX,
     .category = "rendezvous"},
};

/* What is tiny is counted by its length only (counting.h): the first n bins. */
#define TINY(array, member, n)                                                                     \
    {WORD(array[0].member), n, sizeof(struct fm_traffic) / sizeof(uint64_t)}
static const struct fathom_term short_sent[] = {{.at = WORD(short_sent.n)},
                                                TINY(tiny_sent, n, FM_TINY_BINS)};
static const struct fathom_term short_sent_bytes[] = {{.at = WORD(short_sent.len)},
                                                      TINY(tiny_sent, len, FM_TINY_BINS)};
/* What is short is eager, too. */
static const struct fathom_term eager_sent[] = {{.at = WORD(n_request_sent)},
                                                {.at = WORD(short_sent.n)},
                                                TINY(tiny_sent, n, FM_TINY_BINS)};
static const struct fathom_term eager_sent_bytes[] = {{.at = WORD(request_sent_bytes)},
                                                      {.at = WORD(short_sent.len)},
                                                      TINY(tiny_sent, len, FM_TINY_BINS)};
static const struct fathom_term sizes_sent[] = {{.at = WORD(sizes_sent)}, TINY(tiny_sent, n, 1)};
static const struct fathom_term eager_recvd[] = {{.at = WORD(eager_recvd.n)},
                                                 TINY(met_recvd, n, FM_TINY_BINS)};
static const struct fathom_term eager_recvd_bytes[] = {{.at = WORD(eager_recvd.len)},
                                                       TINY(met_recvd, len, FM_TINY_BINS)};
static const struct fathom_term completed[] = {{.at = WORD(req.n_completed)},
                                               TINY(met_recvd, n, FM_TINY_BINS)};
static const struct fathom_term sizes_recvd[] = {{.at = WORD(sizes_recvd)}, TINY(met_recvd, n, 1)};

static const struct fathom_pvar pvars[] = {
    {.name = "p2p_short_sent_messages", .unit = "messages", .klass = FATHOM_COUNTER,
     .terms = short_sent, .n_terms = FM_ARRAY_LEN(short_sent), .category = "protocol",
     .desc = "Messages sent without a request (these count as eager, too)."},
    {.name = "p2p_short_sent_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE,
     .terms = short_sent_bytes, .n_terms = FM_ARRAY_LEN(short_sent_bytes), .category = "protocol",
     .desc = "Bytes sent without a request (these count as eager, too)."},
    {.name = "p2p_eager_sent_messages", .unit = "messages", .klass = FATHOM_COUNTER,
     .terms = eager_sent, .n_terms = FM_ARRAY_LEN(eager_sent), .category = "protocol",
     .desc = "Messages sent by the eager protocol."},
    {.name = "p2p_eager_sent_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE,
     .terms = eager_sent_bytes, .n_terms = FM_ARRAY_LEN(eager_sent_bytes), .category = "protocol",
     .desc = "Bytes sent by the eager protocol."},
    {.name = "p2p_rndv_sent_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_rndv_sent), .category = "protocol",
     .desc = "Messages sent by the rendezvous protocol."},
    {.name = "p2p_rndv_sent_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(rndv_sent_bytes), .category = "protocol",
     .desc = "Bytes sent by the rendezvous protocol."},
    {.name = "p2p_self_sent_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_self_sent), .category = "protocol",
     .desc = "Messages sent to the process itself."},
    {.name = "p2p_self_sent_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(self_sent_bytes), .category = "protocol",
     .desc = "Bytes sent to the process itself."},
    {.name = "p2p_eager_recvd_messages", .unit = "messages", .klass = FATHOM_COUNTER,
     .terms = eager_recvd, .n_terms = FM_ARRAY_LEN(eager_recvd), .category = "protocol",
     .desc = "Messages received by the eager protocol."},
    {.name = "p2p_eager_recvd_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE,
     .terms = eager_recvd_bytes, .n_terms = FM_ARRAY_LEN(eager_recvd_bytes),
     .category = "protocol",
     .desc = "Bytes received by the eager protocol."},
    {.name = "p2p_rndv_recvd_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_rndv_recvd), .category = "protocol",
     .desc = "Messages received by the rendezvous protocol."},
    {.name = "p2p_rndv_recvd_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(rndv_recvd_bytes), .category = "protocol",
     .desc = "Bytes received by the rendezvous protocol."},
    {.name = "p2p_self_recvd_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_self_recvd), .category = "protocol",
     .desc = "Messages received from the process itself."},
    {.name = "p2p_self_recvd_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(self_recvd_bytes), .category = "protocol",
     .desc = "Bytes received from the process itself."},
    {.name = "p2p_sync_sent", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_sync_sent), .category = "protocol",
     .desc = "Sends in synchronous mode."},
    {.name = "p2p_ready_sent", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_ready_sent), .category = "protocol",
     .desc = "Sends in ready mode."},
    {.name = "p2p_buffered_sent", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_buffered_sent), .category = "protocol",
     .desc = "Sends in buffered mode."},
    {.name = "p2p_null_sent", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_null_sent), .category = "protocol",
     .desc = "Sends to MPI_PROC_NULL."},
    {.name = "p2p_packed_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_packed_sent), .category = "protocol",
     .desc = "Messages gathered from a buffer that is not one run of bytes."},
    {.name = "p2p_packed_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(packed_sent_bytes), .category = "protocol",
     .desc = "Bytes gathered from buffers that are not one run."},
    {.name = "p2p_unpacked_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_unpacked_recvd), .category = "protocol",
     .desc = "Messages scattered into a buffer that is not one run of bytes."},
    {.name = "p2p_unpacked_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(unpacked_recvd_bytes), .category = "protocol",
     .desc = "Bytes scattered into buffers that are not one run."},
    {.name = "p2p_truncated", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_truncated), .category = "protocol",
     .desc = "Messages that were longer than the buffer of their receive."},
    {.name = "p2p_last_reason", .klass = FATHOM_STATE, .at = WORD(last_reason), .category =
     "protocol", .type = FATHOM_INT, .items = &reason_enum,
     .desc = "Why the last message with a request took its protocol."},
    {.name = "p2p_reason_short", .unit = "messages", .klass = FATHOM_COUNTER,
     .terms = short_sent, .n_terms = FM_ARRAY_LEN(short_sent), .category = "protocol",
     .desc = "Messages that took their protocol because it fits the short limit and needed "
             "no request."},
    {.name = "p2p_reason_eager", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(reasons[FM_REASON_EAGER]), .category = "protocol",
     .desc = "Messages that took their protocol because it fits the eager limit."},
    {.name = "p2p_reason_comm", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(reasons[FM_REASON_COMM]), .category = "protocol",
     .desc = "Messages that took their protocol because the limit of its communicator asked "
             "for rendezvous."},
    {.name = "p2p_reason_self", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(reasons[FM_REASON_SELF]), .category = "protocol",
     .desc = "Messages that took their protocol because it goes to the process itself."},
    {.name = "p2p_reason_long", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(reasons[FM_REASON_LONG]), .category = "protocol",
     .desc = "Messages that took their protocol because it is longer than the eager limit."},
    {.name = "p2p_reason_no_credit", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(reasons[FM_REASON_NO_CREDIT]), .category = "protocol",
     .desc = "Messages that took their protocol because the receiver has no unexpected "
             "memory left for this sender."},
    {.name = "p2p_rts_waiting", .unit = "messages", .klass = FATHOM_LEVEL, .at =
     WORD(rts_waiting), .category = "rendezvous", .is_level = true,
     .desc = "Messages whose receiver has not answered yet."},
    {.name = "p2p_rts_waiting_high", .unit = "messages", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(rts_waiting), .category = "rendezvous",
     .desc = "Most messages that waited for an answer at one time."},
    {.name = "p2p_rts_room_low", .unit = "messages", .klass = FATHOM_LOWWATERMARK, .at =
     WORD(rts_room), .whole_at = WORD(rts_window), .category = "rendezvous",
     .verbosity = FATHOM_TUNER_DETAIL,
     .desc = "Fewest further messages that a receiver would have let wait for its answer; raise "
             "p2p_rts_window before there is none, since then messages are held back."},
    {.name = "p2p_rts_sent", .unit = "packets", .klass = FATHOM_COUNTER, .at = WORD(n_rts_sent),
     .category = "rendezvous",
     .desc = "Packets sent: requests to send."},
    {.name = "p2p_rts_recvd", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_rts_recvd), .category = "rendezvous",
     .desc = "Packets received: requests to send."},
    {.name = "p2p_cts_sent", .unit = "packets", .klass = FATHOM_COUNTER, .at = WORD(n_cts_sent),
     .category = "rendezvous",
     .desc = "Packets sent: permissions to send."},
    {.name = "p2p_cts_recvd", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_cts_recvd), .category = "rendezvous",
     .desc = "Packets received: permissions to send."},
    {.name = "p2p_fin_sent", .unit = "packets", .klass = FATHOM_COUNTER, .at = WORD(n_fin_sent),
     .category = "rendezvous",
     .desc = "Packets sent: ends of a fetch or of a synchronous match."},
    {.name = "p2p_fin_recvd", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_fin_recvd), .category = "rendezvous",
     .desc = "Packets received: ends of a fetch or of a synchronous match."},
    {.name = "p2p_data_sent", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_data_sent), .category = "rendezvous",
     .desc = "Packets sent: fragments."},
    {.name = "p2p_data_recvd", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_data_recvd), .category = "rendezvous",
     .desc = "Packets received: fragments."},
    {.name = "p2p_fetches", .unit = "transfers", .klass = FATHOM_COUNTER, .at = WORD(n_rma),
     .category = "rendezvous",
     .desc = "Transfers that this process started to fetch a message from its sender."},
    {.name = "p2p_fetched_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(rma_bytes), .category = "rendezvous",
     .desc = "Bytes that this process asked for by such transfers."},
    {.name = "p2p_pushes", .unit = "messages", .klass = FATHOM_COUNTER, .at = WORD(n_pushes),
     .category = "rendezvous",
     .desc = "Messages that this process could fetch, and asked the sender to push."},
    {.name = "p2p_impatient", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_impatient), .category = "rendezvous",
     .desc = "Of p2p_pushes, messages whose sender did not go on in time, so that the rest was "
             "fetched."},
    {.name = "p2p_data_late", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_data_late), .category = "rendezvous",
     .desc = "Fragments that came when their message had been fetched, and were dropped."},
    {.name = "p2p_piecewise_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_piecewise), .category = "rendezvous",
     .desc = "Messages fetched piece by piece because a buffer is not one run of bytes."},
    {.name = "p2p_fetched_pieces", .unit = "pieces", .klass = FATHOM_COUNTER, .at =
     WORD(n_pieces), .category = "rendezvous",
     .desc = "Pieces of such messages."},
    {.name = "p2p_fetch_fallbacks", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_rma_fallbacks), .category = "rendezvous",
     .desc = "Messages that could not be fetched and came in fragments instead."},
    {.name = "p2p_exposed_bytes", .unit = "bytes", .klass = FATHOM_LEVEL, .at =
     WORD(exposed_bytes), .category = "rendezvous", .is_level = true,
     .desc = "Bytes of send buffers that receivers may fetch now."},
    {.name = "p2p_exposed_bytes_high", .unit = "bytes", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(exposed_bytes), .category = "rendezvous",
     .desc = "Most bytes of send buffers that receivers could fetch at one time."},
    {.name = "p2p_rndv_done", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_rndv_done), .category = "rendezvous",
     .desc = "Rendezvous sends that are complete."},
    {.name = "p2p_rndv_time", .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(rndv_ns), .category
     = "rendezvous",
     .desc = "Time from asking to completion, over all rendezvous sends."},
    {.name = "p2p_unexpected_memory", .unit = "bytes", .klass = FATHOM_LEVEL, .at =
     WORD(unexpected_bytes), .category = "flow", .is_level = true,
     .desc = "Memory that unexpected messages take up now."},
    {.name = "p2p_unexpected_memory_high", .unit = "bytes", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(unexpected_bytes), .category = "flow",
     .desc = "Most memory that unexpected messages took up."},
    {.name = "p2p_unexpected_utilization", .klass = FATHOM_PERCENTAGE, .at =
     WORD(unexpected_bytes), .whole_at = WORD(unexpected_limit), .category = "flow",
     .verbosity = FATHOM_TUNER_BASIC,
     .desc = "Share of p2p_unexpected_limit that unexpected messages take up now; look here when "
             "senders have p2p_credit_stalls, and raise the limit where it is near 1."},
    {.name = "p2p_unexpected_window", .unit = "bytes", .klass = FATHOM_SIZE, .at =
     WORD(window_bytes), .category = "flow",
     .desc = "Unexpected memory that one sender may use here, over libfabric within "
             "p2p_sender_limit."},
    {.name = "p2p_copied_messages", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_copied_recvd), .category = "flow",
     .desc = "Messages that had to lie in unexpected memory before they were received."},
    {.name = "p2p_copied_bytes", .unit = "bytes", .klass = FATHOM_AGGREGATE, .at =
     WORD(copied_recvd_bytes), .category = "flow",
     .desc = "Bytes copied out of unexpected memory."},
    {.name = "p2p_waiting_packets", .unit = "packets", .klass = FATHOM_LEVEL, .at =
     WORD(out_len), .category = "flow", .is_level = true,
     .desc = "Packets that wait for room in the transport or for an answer."},
    {.name = "p2p_waiting_packets_high", .unit = "packets", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(out_len), .category = "flow",
     .desc = "Most packets that waited at one time."},
    {.name = "p2p_streams", .unit = "messages", .klass = FATHOM_LEVEL, .at = WORD(bulk_len),
     .category = "flow", .is_level = true,
     .desc = "Long messages that are on their way in pieces."},
    {.name = "p2p_streams_high", .unit = "messages", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(bulk_len), .category = "flow",
     .desc = "Most long messages that were on their way in pieces at one time."},
    {.name = "p2p_refused", .unit = "packets", .klass = FATHOM_COUNTER, .at = WORD(n_refused),
     .category = "flow",
     .desc = "Times that the transport had no room for a packet or a transfer."},
    {.name = "p2p_queued", .unit = "messages", .klass = FATHOM_COUNTER, .at = WORD(n_queued),
     .category = "flow",
     .desc = "Messages that had to wait for room before their first packet left."},
    {.name = "p2p_credit_stalls", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_stalls), .category = "flow",
     .desc = "Messages that went by rendezvous because the receiver has no unexpected "
             "memory left."},
    {.name = "p2p_rts_stalls", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(n_rts_stalls), .category = "flow",
     .desc = "Messages that were held back because too many before them are unanswered."},
    {.name = "p2p_credits_sent", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_credits_sent), .category = "flow",
     .desc = "Packets sent only to give back unexpected memory to a sender."},
    {.name = "p2p_credits_recvd", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_credits_recvd), .category = "flow",
     .desc = "Packets received that only give back unexpected memory."},
    {.name = "p2p_more_sent", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_more_sent), .category = "flow",
     .desc = "Times that a held-back sender was allowed to go on."},
    {.name = "p2p_more_recvd", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_more_recvd), .category = "flow",
     .desc = "Times that a receiver allowed this process to go on."},
    {.name = "p2p_bsend_bytes", .unit = "bytes", .klass = FATHOM_LEVEL, .at = WORD(bsend_bytes),
     .category = "flow", .is_level = true,
     .desc = "Attached memory that buffered sends use now."},
    {.name = "p2p_bsend_bytes_high", .unit = "bytes", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(bsend_bytes), .category = "flow",
     .desc = "Most attached memory that buffered sends used."},
    {.name = "p2p_bsend_attached", .unit = "bytes", .klass = FATHOM_SIZE, .at =
     WORD(bsend_attached), .category = "flow",
     .desc = "Memory attached for buffered sends, MPI_BUFFER_AUTOMATIC apart."},
    {.name = "p2p_bsend_utilization", .klass = FATHOM_PERCENTAGE, .at = WORD(bsend_taken),
     .whole_at = WORD(bsend_attached), .category = "flow", .verbosity = FATHOM_USER_DETAIL,
     .desc = "Share of p2p_bsend_attached that messages take up now; attach more where it comes "
             "near 1, before MPI_Bsend fails."},
    {.name = "p2p_bsend_waits", .unit = "calls", .klass = FATHOM_COUNTER, .at =
     WORD(n_bsend_waits), .category = "flow",
     .desc = "Times that detaching or flushing a buffer had to wait."},
    {.name = "p2p_peers", .unit = "processes", .klass = FATHOM_COUNTER, .at = WORD(n_peers),
     .category = "peers",
     .desc = "Processes that this one has connected to."},
    {.name = "p2p_peers_failed", .unit = "processes", .klass = FATHOM_COUNTER, .at =
     WORD(n_peers_failed), .category = "peers",
     .desc = "Processes that were lost."},
    {.name = "p2p_bad_messages", .unit = "packets", .klass = FATHOM_COUNTER, .at =
     WORD(n_bad_messages), .category = "peers",
     .desc = "Packets that broke the protocol."},
    {.name = "request_live", .unit = "requests", .klass = FATHOM_LEVEL, .at = WORD(req.live),
     .category = "requests", .is_level = true,
     .desc = "Requests that exist now, those of the library among them."},
    {.name = "request_live_high", .unit = "requests", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(req.live), .category = "requests",
     .desc = "Most requests that existed at one time."},
    {.name = "request_taken", .unit = "requests", .klass = FATHOM_COUNTER, .at =
     WORD(req.n_taken), .category = "requests",
     .desc = "Requests taken from the pool."},
    {.name = "request_completed", .unit = "requests", .klass = FATHOM_COUNTER,
     .terms = completed, .n_terms = FM_ARRAY_LEN(completed), .category = "requests",
     .desc = "Operations that were completed."},
    {.name = "request_failed", .unit = "requests", .klass = FATHOM_COUNTER, .at =
     WORD(req.n_failed), .category = "requests",
     .desc = "Operations that ended with an error."},
    {.name = "request_cancels", .unit = "calls", .klass = FATHOM_COUNTER, .at = WORD(n_cancels),
     .category = "requests",
     .desc = "Calls of MPI_Cancel for a message."},
    {.name = "request_cancelled", .unit = "requests", .klass = FATHOM_COUNTER, .at =
     WORD(req.n_cancelled), .category = "requests",
     .desc = "Cancelled operations that were waited for."},
    /* arrays */
    {.name = "p2p_sizes_sent", .unit = "messages", .klass = FATHOM_COUNTER,
     .terms = sizes_sent, .n_terms = FM_ARRAY_LEN(sizes_sent), .category = "protocol",
     .count = FM_HIST_BINS,
     .desc = "Messages sent by length: bin 0 counts empty ones, bin k those of 2^(k-1) "
             "bytes and more."},
    {.name = "p2p_sizes_recvd", .unit = "messages", .klass = FATHOM_COUNTER,
     .terms = sizes_recvd, .n_terms = FM_ARRAY_LEN(sizes_recvd), .category = "protocol",
     .count = FM_HIST_BINS,
     .desc = "Messages received by length, in the bins of p2p_sizes_sent."},
    {.name = "p2p_rndv_latency", .unit = "messages", .klass = FATHOM_COUNTER, .at =
     WORD(rndv_latency), .category = "rendezvous", .count = FM_HIST_BINS,
     .desc = "Rendezvous sends by time to completion: bin k counts those of 2^(k-1) ns and "
             "more."},
};

static const struct fathom_category categories[] = {
    {.name = "p2p", .desc = "Messages between two processes: how they travel and what holds them "
     "up."},
    {.name = "protocol", .desc = "Which way messages take, and why.", .parent = "p2p"},
    {.name = "rendezvous", .desc = "Long and synchronous messages, whose receiver is asked first.",
     .parent = "p2p"},
    {.name = "flow", .desc = "Memory for early messages, and what waits for room.",
     .parent = "p2p"},
    {.name = "peers", .desc = "The other processes.", .parent = "p2p"},
    {.name = "requests", .desc = "Operations that are under way.", .parent = "p2p"},
};
/* clang-format on */

const struct fathom_table fm_p2p_vars = {
    .room = "p2p",
    .block_len = sizeof(struct fm_p2p_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = fm_p2p_events,
    .n_events = FM_EV_COUNT,
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};
