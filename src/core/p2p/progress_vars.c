/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables and events of waiting, as rows over struct fm_progress_counters. */
#include <string.h>

#include "core/p2p/channel_open.h"
#include "core/p2p/progress_vars.h"

#define WORD(f) offsetof(struct fm_progress_counters, f)

static const struct fathom_enum_item state_items[] = {
    {FM_PROGRESS_OUTSIDE, "outside"},
    {FM_PROGRESS_SPIN, "spin"},
    {FM_PROGRESS_YIELD, "yield"},
    {FM_PROGRESS_SLEEP, "sleep"},
};
static const struct fathom_enum state_enum = {"progress_state", state_items,
                                              FM_ARRAY_LEN(state_items)};

/* clang-format off */
static const struct fathom_cvar cvars[] = {
    {.name = "progress_spin", .unit = "us",
     .desc = "Shortest time without an event for which a wait polls before it gives the processor "
             "away; 0 gives it away without polling, which saves power.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_BASIC,
     .at = WORD(spin_us), .def = 50, .min = 0, .max = 60000000,
     .category = "progress"},
    {.name = "progress_spin_max", .unit = "us",
     .desc = "Longest time without an event for which a wait polls: between progress_spin and this "
             "waits poll for as long as giving the processor away costs (progress_sleep_cost). "
             "Raise it where every rank has a processor of its own and nothing else runs; beside "
             "other work, polling for milliseconds uses up the time slice that the peer needs.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_BASIC,
     .at = WORD(spin_max_us), .def = 200, .min = 0, .max = 60000000,
     .category = "progress"},
    {.name = "progress_short_sleep", .unit = "us",
     .desc = "Sleeps that an event ends in a shorter time count as pure cost of sleeping, so that "
             "waits poll for longer next time; raise it where waking up is very slow, lower it "
             "where waits poll although events come at long intervals.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(short_sleep_us), .def = 300, .min = 0, .max = 60000000,
     .category = "progress"},
    {.name = "progress_yield", .unit = "yields",
     .desc = "Times that a wait yields the processor before it sleeps, where processes of the job "
             "outnumber processors, and of threads that wait behind another one; raise it where "
             "waking up is slow.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(yield), .def = 20, .min = 0, .max = INT64_C(1) << 40,
     .category = "progress"},
    {.name = "progress_sleep", .unit = "us",
     .desc = "Longest sleep of a wait, although it is woken when something comes; lower it "
             "on providers that wake late.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(sleep_us), .def = 50000, .min = 1, .max = 60000000,
     .category = "progress"},
    {.name = "progress_gone_interval", .unit = "ms",
     .desc = "Time between the questions of a long wait which processes have ended; raise "
             "it in jobs of very many processes.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(gone_ms), .def = 50, .min = 1, .max = 3600000,
     .category = "progress"},
    {.name = "progress_stall_time", .unit = "ms",
     .desc = "Length of a wait from which it counts as a stall, raises progress_stalled_event and, "
             "once per rank, is reported on stderr with what it waits for; lower it to look for "
             "late partners, 0 turns all of this off.",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_USER_DETAIL,
     .at = WORD(stall_ms), .def = 60000, .min = 0, .max = INT64_C(1) << 40,
     .category = "progress"},
};

#define KIND(thing, kind, text)                                                                    \
    {.name = "progress_blocked_" thing, .unit = "ns", .klass = FATHOM_TIMER,                       \
     .at = WORD(kind_ns[kind]), .category = "progress",                                            \
     .desc = "Of progress_time_blocked, the time in " text "."}

_Static_assert(FM_TIMED_ROUNDS == 521, "as progress_time says");

static const struct fathom_pvar pvars[] = {
    {.name = "progress_polls", .unit = "polls", .klass = FATHOM_COUNTER, .at = WORD(n_polls),
     .category = "progress",
     .desc = "Rounds over all transports."},
    {.name = "progress_empty_polls", .unit = "polls", .klass = FATHOM_COUNTER, .at =
     WORD(n_empty_polls), .category = "progress",
     .desc = "Rounds in which nothing happened."},
    {.name = "progress_events", .unit = "events", .klass = FATHOM_COUNTER, .at = WORD(n_events),
     .category = "progress",
     .desc = "Things that happened in these rounds."},
    {.name = "progress_waits", .unit = "waits", .klass = FATHOM_COUNTER, .at = WORD(n_waits),
     .category = "progress",
     .desc = "Times that something was waited for."},
    {.name = "progress_slow_waits", .unit = "waits", .klass = FATHOM_COUNTER, .at =
     WORD(n_slow_waits), .category = "progress",
     .desc = "Waits that polling did not end, or that yielded the processor because there are "
             "more processes than processors."},
    {.name = "progress_yields", .unit = "yields", .klass = FATHOM_COUNTER, .at = WORD(n_yields),
     .category = "progress",
     .desc = "Times that a wait yielded the processor."},
    {.name = "progress_sleeps", .unit = "sleeps", .klass = FATHOM_COUNTER, .at = WORD(n_sleeps),
     .category = "progress",
     .desc = "Times that a wait slept."},
    {.name = "progress_time_slept", .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(slept_ns),
     .category = "progress",
     .desc = "Time asleep in waits."},
    {.name = "progress_time_delayed", .unit = "ns", .klass = FATHOM_TIMER, .at =
     WORD(delayed_ns), .category = "progress",
     .desc = "Of progress_time_slept, the time in which the process could run but another one had "
             "the processor; 0 where the kernel does not report it (/proc/thread-self/schedstat)."},
    {.name = "progress_sleep_cost", .unit = "ns", .klass = FATHOM_LEVEL, .at =
     WORD(sleep_cost_ns), .category = "progress",
     .desc = "Estimated cost of giving the processor away in a wait: the time from an event until "
             "the process runs again. Waits poll for that long first, within progress_spin and "
             "progress_spin_max."},
    {.name = "progress_yield_cost", .unit = "ns", .klass = FATHOM_LEVEL, .at =
     WORD(yield_cost_ns), .category = "progress",
     .desc = "Weighted mean time until a process that yields the processor runs again, of one "
             "yield in 16."},
    {.name = "progress_time_blocked", .unit = "ns", .klass = FATHOM_TIMER, .at =
     WORD(blocked_ns), .category = "progress",
     .desc = "Time in slow waits, sleep included."},
    {.name = "progress_time", .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(round_ns),
     .on_at = WORD(n_timers), .category = "progress",
     .desc = "Time in rounds over all transports, with what they deliver and the hooks, but not "
             "what lies between them (looking, yielding, sleeping): of every "
             "521st round 521 times its length, while a handle of it is started anywhere in the "
             "process."},
    KIND("send", FM_WAIT_SEND, "MPI_Send and its kin"),
    KIND("recv", FM_WAIT_RECV, "MPI_Recv and MPI_Mrecv"),
    KIND("sendrecv", FM_WAIT_SENDRECV, "MPI_Sendrecv and MPI_Sendrecv_replace"),
    KIND("probe", FM_WAIT_PROBE, "MPI_Probe and MPI_Mprobe"),
    KIND("wait", FM_WAIT_WAIT, "MPI_Wait and its kin"),
    KIND("coll", FM_WAIT_COLL, "blocking collectives"),
    KIND("comm", FM_WAIT_COMM, "calls that make or end communicators"),
    KIND("other", FM_WAIT_OTHER, "all other calls, MPI_Init and MPI_Finalize among them"),
    {.name = "progress_hooks", .unit = "hooks", .klass = FATHOM_LEVEL, .at = WORD(hooks),
     .category = "progress", .is_level = true,
     .desc = "Functions that every round calls: collective schedules that can go on and other work "
             "that no message completes."},
    {.name = "progress_hooks_high", .unit = "hooks", .klass = FATHOM_HIGHWATERMARK, .at =
     WORD(hooks), .category = "progress",
     .desc = "Most progress hooks at one time."},
    {.name = "progress_hook_calls", .unit = "calls", .klass = FATHOM_COUNTER, .at =
     WORD(n_hook_calls), .category = "progress",
     .desc = "Calls of hooks."},
    {.name = "progress_hook_events", .unit = "events", .klass = FATHOM_COUNTER, .at =
     WORD(n_hook_events), .category = "progress",
     .desc = "Things that hooks did."},
    {.name = "progress_gone_checks", .unit = "calls", .klass = FATHOM_COUNTER, .at =
     WORD(n_gone_checks), .category = "progress",
     .desc = "Times that a wait asked which processes have ended."},
    {.name = "progress_stalls", .unit = "waits", .klass = FATHOM_COUNTER, .at = WORD(n_stalls),
     .category = "progress",
     .desc = "Waits that lasted for progress_stall_time and more."},
    {.name = "progress_state", .klass = FATHOM_STATE, .at = WORD(state), .category = "progress",
     .type = FATHOM_INT, .items = &state_enum,
     .desc = "What the process does while it waits."},
    /* arrays */
    {.name = "progress_wait_times", .unit = "waits", .klass = FATHOM_COUNTER, .at =
     WORD(wait_times), .category = "progress", .count = FM_HIST_BINS,
     .desc = "Slow waits by length: bin k counts those of 2^(k-1) ns and more."},
};

static const struct fathom_event_item woke_data[] = {
    {.name = "ns", .desc = "How long it slept.", .type = FATHOM_UNSIGNED_LONG_LONG},
};
static const struct fathom_enum_item kind_items[] = {
    {FM_WAIT_SEND, "send"},   {FM_WAIT_RECV, "recv"}, {FM_WAIT_SENDRECV, "sendrecv"},
    {FM_WAIT_PROBE, "probe"}, {FM_WAIT_WAIT, "wait"}, {FM_WAIT_COLL, "coll"},
    {FM_WAIT_COMM, "comm"},   {FM_WAIT_OTHER, "other"},
};
static const struct fathom_enum kind_enum = {"progress_call", kind_items,
                                             FM_ARRAY_LEN(kind_items)};
static const struct fathom_event_item stalled_data[] = {
    {.name = "call", .desc = "Kind of the call that waits.", .type = FATHOM_INT,
     .items = &kind_enum},
    {.name = "peer", .desc = "Rank that is waited for, if it is one, else MPI_ANY_SOURCE.",
     .type = FATHOM_INT},
    {.name = "tag", .desc = "Tag of the message, else MPI_ANY_TAG.", .type = FATHOM_INT},
    {.name = "comm", .desc = "Number of the communicator, 0 if there is none.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "bytes", .desc = "Length of the message.", .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "ns", .desc = "How long the wait has lasted.", .type = FATHOM_UNSIGNED_LONG_LONG},
};
static const struct fathom_event events[] = {
    {.name = "progress_slept_event", .desc = "A wait goes to sleep.",
     .verbosity = FATHOM_USER_DETAIL, .bind = FATHOM_BIND_NONE, .at = WORD(on_slept)},
    {.name = "progress_woke_event", .desc = "A wait has slept.",
     .verbosity = FATHOM_USER_DETAIL, .bind = FATHOM_BIND_NONE, .at = WORD(on_woke),
     .data = woke_data, .n_data = FM_ARRAY_LEN(woke_data)},
    {.name = "progress_stalled_event",
     .desc = "A wait has lasted for progress_stall_time; told once of each, at its end the latest.",
     .verbosity = FATHOM_USER_BASIC, .bind = FATHOM_BIND_NONE, .at = WORD(on_stalled),
     .data = stalled_data, .n_data = FM_ARRAY_LEN(stalled_data)},
};

static const struct fathom_category categories[] = {
    {.name = "progress", .desc = "Polling and waiting: where the time of a blocked process goes."},
};
/* clang-format on */

const struct fathom_table fm_progress_vars = {
    .room = "progress",
    .block_len = sizeof(struct fm_progress_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = events,
    .n_events = FM_ARRAY_LEN(events),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

enum fm_wait_kind fm_progress_kind(const char *call)
{
    /* Beginnings of names; the first that fits counts. */
    static const struct {
        const char *begin;
        enum fm_wait_kind kind;
    } kinds[] = {
        {"Sendrecv", FM_WAIT_SENDRECV}, {"Send", FM_WAIT_SEND},       {"Ssend", FM_WAIT_SEND},
        {"Rsend", FM_WAIT_SEND},        {"Bsend", FM_WAIT_SEND},      {"Recv", FM_WAIT_RECV},
        {"Mrecv", FM_WAIT_RECV},        {"Probe", FM_WAIT_PROBE},     {"Mprobe", FM_WAIT_PROBE},
        {"Wait", FM_WAIT_WAIT},         {"Barrier", FM_WAIT_COLL},    {"Bcast", FM_WAIT_COLL},
        {"Gather", FM_WAIT_COLL},       {"Scatter", FM_WAIT_COLL},    {"Allgather", FM_WAIT_COLL},
        {"Alltoall", FM_WAIT_COLL},     {"Reduce", FM_WAIT_COLL},     {"Allreduce", FM_WAIT_COLL},
        {"Scan", FM_WAIT_COLL},         {"Exscan", FM_WAIT_COLL},     {"Neighbor_", FM_WAIT_COLL},
        {"Comm_", FM_WAIT_COMM},        {"Intercomm_", FM_WAIT_COMM},
    };

    for (size_t k = 0; call && strncmp(call, "MPI_", 4) == 0 && k < FM_ARRAY_LEN(kinds); k++) {
        if (strncmp(call + 4, kinds[k].begin, strlen(kinds[k].begin)) == 0) {
            return kinds[k].kind;
        }
    }
    return FM_WAIT_OTHER;
}

void fm_progress_emit(const struct fm_progress_counters *counters, bool has_woken, uint64_t ns)
{
    fathom_mpit_emit(&events[has_woken], counters, NULL, &ns);
}

void fm_progress_emit_stalled(const struct fm_progress_counters *counters, enum fm_wait_kind kind,
                              const struct fathom_page_blocked *b, uint64_t ns)
{
    const uint64_t values[] = {
        kind, (uint64_t)(int64_t)b->peer, (uint64_t)(int64_t)b->tag, b->comm, b->bytes, ns};

    fathom_mpit_emit(&events[2], counters, NULL, values);
}
