/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables and events of matching, as rows over struct fm_match_counters. */
#include "core/p2p/match_vars.h"

#define AT(member) offsetof(struct fm_match_counters, member)

static const struct fathom_cvar cvars[] = {
    {.name = "match_buckets_first",
     .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_ALL,
     .at = AT(buckets_first),
     .def = FM_MATCH_BUCKETS_FIRST,
     .min = 2,
     .max = FM_MATCH_BUCKETS_MAX,
     .fixed_after_init = true,
     .desc = "Size that the hash tables of the matching engine begin with; raise it for programs "
             "that soon have thousands of different source and tag pairs waiting."},
    {.name = "match_buckets_max",
     .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_ALL,
     .at = AT(buckets_max),
     .def = FM_MATCH_BUCKETS_MAX,
     .min = 2,
     .max = 1 << 26,
     .fixed_after_init = true,
     .desc = "Size beyond which a hash table of the matching engine does not grow; lower it to "
             "bound memory at the price of longer searches."},
};

static const struct fathom_term attempts[] = {
    {.at = AT(n_posted_hits)}, {.at = AT(n_posted)}, {.at = AT(n_other_attempts)}};
static const struct fathom_term steps[] = {
    {.at = AT(n_posted_hits)}, {.at = AT(n_posted)}, {.at = AT(n_other_steps)}};

static const struct fathom_pvar pvars[] = {
    {.name = "match_unexpected_length",
     .klass = FATHOM_LEVEL,
     .unit = "messages",
     .verbosity = FATHOM_USER_BASIC,
     .at = AT(umq_len),
     .is_level = true,
     .desc = "Messages that have arrived and wait for a receive."},
    {.name = "match_unexpected_length_high",
     .klass = FATHOM_HIGHWATERMARK,
     .unit = "messages",
     .verbosity = FATHOM_USER_BASIC,
     .at = AT(umq_len),
     .desc = "Most messages that ever waited for a receive at one time."},
    {.name = "match_unexpected_bytes",
     .klass = FATHOM_LEVEL,
     .unit = "bytes",
     .verbosity = FATHOM_USER_BASIC,
     .at = AT(umq_bytes),
     .is_level = true,
     .desc = "Payload held in memory for messages that wait for a receive."},
    {.name = "match_unexpected_bytes_high",
     .klass = FATHOM_HIGHWATERMARK,
     .unit = "bytes",
     .verbosity = FATHOM_USER_BASIC,
     .at = AT(umq_bytes),
     .desc = "Most payload that was ever held for waiting messages at one time."},
    {.name = "match_posted_length",
     .klass = FATHOM_LEVEL,
     .unit = "receives",
     .verbosity = FATHOM_USER_BASIC,
     .at = AT(prq_len),
     .is_level = true,
     .desc = "Receives that are posted and wait for a message."},
    {.name = "match_posted_length_high",
     .klass = FATHOM_HIGHWATERMARK,
     .unit = "receives",
     .verbosity = FATHOM_USER_BASIC,
     .at = AT(prq_len),
     .desc = "Most receives that ever waited for a message at one time."},
    {.name = "match_attempts",
     .klass = FATHOM_COUNTER,
     .unit = "searches",
     .terms = attempts,
     .n_terms = FM_ARRAY_LEN(attempts),
     .desc = "Searches for a partner, by arriving messages, receives and probes."},
    {.name = "match_steps",
     .klass = FATHOM_COUNTER,
     .unit = "steps",
     .verbosity = FATHOM_TUNER_DETAIL,
     .terms = steps,
     .n_terms = FM_ARRAY_LEN(steps),
     .desc = "Queues looked at in all searches, an empty chain as one; many more than "
             "match_attempts means "
             "that the tables are too small."},
    {.name = "match_posted_hits",
     .klass = FATHOM_COUNTER,
     .unit = "messages",
     .at = AT(n_posted_hits),
     .desc = "Messages that found their receive posted when they arrived."},
    {.name = "match_unexpected_hits",
     .klass = FATHOM_COUNTER,
     .unit = "receives",
     .at = AT(n_unexpected_hits),
     .desc = "Receives that found their message waiting already."},
    {.name = "match_wildcards",
     .klass = FATHOM_COUNTER,
     .unit = "receives",
     .at = AT(n_wildcards),
     .desc = "Receives with MPI_ANY_SOURCE or MPI_ANY_TAG."},
    {.name = "match_probes",
     .klass = FATHOM_COUNTER,
     .unit = "calls",
     .at = AT(n_probes),
     .desc = "Calls of MPI_Probe and its kin."},
    {.name = "match_rehashes",
     .klass = FATHOM_COUNTER,
     .unit = "times",
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = AT(n_rehashes),
     .desc = "Times that a table was swept of empty queues or grown."},
    {.name = "match_indexings",
     .klass = FATHOM_COUNTER,
     .unit = "times",
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = AT(n_indexings),
     .desc = "Times that waiting messages were filed anew because a wildcard of a kind not in use "
             "looked for them."},
    {.name = "match_table_bytes",
     .klass = FATHOM_LEVEL,
     .unit = "bytes",
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = AT(table_bytes),
     .desc = "Memory of the tables and queues of the matching engine."},
};

static const struct fathom_event_item items[] = {
    {.name = "context",
     .desc = "Context id of the communicator's message space.",
     .type = FATHOM_UNSIGNED},
    {.name = "source",
     .desc = "Rank of the sender in the communicator, or MPI_ANY_SOURCE.",
     .type = FATHOM_INT},
    {.name = "tag", .desc = "Tag, or MPI_ANY_TAG.", .type = FATHOM_INT},
    {.name = "length",
     .desc = "Entries that wait in that set now.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
};

static const struct fathom_event events[] = {
    [FM_MATCH_EV_UMQ_IN] = {.name = "match_unexpected_queued",
                            .verbosity = FATHOM_USER_DETAIL,
                            .at = AT(on_umq_in),
                            .data = items,
                            .n_data = FM_ARRAY_LEN(items),
                            .desc = "A message arrived that no posted receive matches."},
    [FM_MATCH_EV_UMQ_OUT] = {.name = "match_unexpected_matched",
                             .verbosity = FATHOM_USER_DETAIL,
                             .at = AT(on_umq_out),
                             .data = items,
                             .n_data = FM_ARRAY_LEN(items),
                             .desc = "A receive took a message that had been waiting."},
    [FM_MATCH_EV_POSTED] = {.name = "match_receive_posted",
                            .verbosity = FATHOM_USER_DETAIL,
                            .at = AT(on_posted),
                            .data = items,
                            .n_data = FM_ARRAY_LEN(items),
                            .desc = "A receive began to wait for its message."},
    [FM_MATCH_EV_MATCHED] = {.name = "match_receive_matched",
                             .verbosity = FATHOM_USER_DETAIL,
                             .at = AT(on_matched),
                             .data = items,
                             .n_data = FM_ARRAY_LEN(items),
                             .desc = "A message arrived and took a receive that had been waiting."},
};

static const struct fathom_category categories[] = {
    {.name = "match", .desc = "Queues and searches of message matching."}};

const struct fathom_table fm_match_vars = {
    .room = "match",
    .block_len = sizeof(struct fm_match_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = events,
    .n_events = FM_ARRAY_LEN(events),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

void fm_match_emit(const struct fm_match_counters *counters, enum fm_match_event event,
                   const struct fm_match_key *key, uint64_t length)
{
    uint64_t values[] = {key->context, (uint64_t)key->source, (uint64_t)key->tag, length};

    fathom_mpit_emit(&events[event], counters, NULL, values);
}
