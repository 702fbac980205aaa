/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the variables and of the event of the collectives. */
#include "core/coll/coll_vars.h"

#include <string.h>

#define WORD(f) offsetof(struct fm_coll_counters, f)

/* clang-format off */
static const struct fathom_enum_item reason_items[] = {
    {FM_COLL_WHY_NONE, "none"},   {FM_COLL_WHY_FORCED, "forced"}, {FM_COLL_WHY_ONLY, "only_one"},
    {FM_COLL_WHY_SHORT, "short"}, {FM_COLL_WHY_LONG, "long"},
    {FM_COLL_WHY_VARYING, "varying"}, {FM_COLL_WHY_RANKS, "ranks"}, {FM_COLL_WHY_UNFIT, "unfit"},
    {FM_COLL_WHY_ONE_HOST, "one_host"},
};
static const struct fathom_enum reasons = {"coll_reason", reason_items,
                                           FM_ARRAY_LEN(reason_items)};

#define ITEM(KIND, kind, name, item, ...) {FM_COLL_##KIND##_##name, item},
#define ITEMS(KIND, kind)                                                                          \
    static const struct fathom_enum_item kind##_items[] = {{0, "auto"},                            \
                                                           FM_COLL_##KIND##_ALGOS(ITEM)};
FM_COLL_KINDS(ITEMS)

#define ENUM(KIND, kind)                                                                           \
    static const struct fathom_enum kind##_algorithms = {"coll_" #kind "_algorithm", kind##_items, \
                                                         FM_ARRAY_LEN(kind##_items)};
FM_COLL_KINDS(ENUM)

#define FORCE_ROW(KIND, kind)                                                                      \
    {.name = "coll_" #kind "_algorithm",                                                           \
     .desc = "Algorithm of every " #kind " that it fits; set it to compare algorithms.",           \
     .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_BASIC,            \
     .items = &kind##_algorithms, .at = WORD(forced[FM_COLL_##KIND]), .category = "coll_" #kind},
#define CUTOFF_ROW(thing, value, text)                                                             \
    {.name = "coll_" #thing, .desc = text, .unit = "bytes", .type = FATHOM_UNSIGNED_LONG_LONG,     \
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_BASIC, .at = WORD(cut.thing),         \
     .def = value, .min = 0, .max = INT64_MAX},
static const struct fathom_enum_item timing_items[] = {{0, "asked"}, {1, "always"}};
static const struct fathom_enum timings = {"coll_timing", timing_items, FM_ARRAY_LEN(timing_items)};

static const struct fathom_enum_item check_items[] = {{0, "no"}, {1, "yes"}};
static const struct fathom_enum checks = {"coll_check", check_items, FM_ARRAY_LEN(check_items)};

static const struct fathom_cvar cvars[] = {
    FM_COLL_KINDS(FORCE_ROW) FM_COLL_CUTOFFS(CUTOFF_ROW)
    {.name = "coll_scratch_max",
     .desc = "Limit of the temporary memory that a process keeps from one collective call for "
             "later ones; raise it when coll_scratch_misses grows in steady state, lower it when "
             "memory is short.",
     .unit = "bytes", .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL, .at = WORD(scratch_max), .def = FM_COLL_SCRATCH_MAX,
     .min = 0, .max = INT64_MAX, .category = "coll"},
    {.name = "coll_timing",
     .desc = "When the time of collectives is taken: asked is while a tool has started one of the "
             "timers; always makes the times readable from outside the process too, and costs two "
             "reads of the clock per call.",
     .type = FATHOM_INT, .scope = FATHOM_SCOPE_LOCAL, .verbosity = FATHOM_USER_DETAIL,
     .items = &timings, .at = WORD(timing), .category = "coll"},
    {.name = "coll_check",
     .desc = "Whether the ranks of a communicator compare function, root, operation, datatypes and "
             "counts before each collective, and report a mismatch with both sides named. Set it "
             "(or run mpiexec --check) when a program hangs or computes wrong results; each call "
             "then costs an allgather more.",
     .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_USER_BASIC,
     .items = &checks, .at = WORD(check), .category = "coll"},
};

/* One algorithm of a kind: number, name in the variables. */
#define ALGO_ROWS(KIND, kind, number, algo, what)                                                  \
    {"coll_" #kind "_" #algo "_calls", "Calls of " #kind " that used " #algo ": " what ".",        \
     "calls", FATHOM_COUNTER, .at = WORD(n_calls[FM_COLL_##KIND][number]),                         \
     .category = "coll_" #kind},                                                                   \
    {"coll_" #kind "_" #algo "_bytes", "Bytes of the " #kind "s that used " #algo ": of one "      \
     "vector or block per call; of all blocks in gathers to all and where blocks may differ; of "  \
     "all blocks received in neighborhood collectives; of what this rank sends and receives on "   \
     "intercommunicators.", "bytes",                                                               \
     FATHOM_AGGREGATE, .at = WORD(n_bytes[FM_COLL_##KIND][number]),                                \
     .category = "coll_" #kind},                                                                   \
    {"coll_" #kind "_" #algo "_time", "Time of the " #kind "s that used " #algo ", from the call " \
     "or the start to completion, while coll_timing has it taken.", "ns", FATHOM_TIMER,            \
     .at = WORD(ns[FM_COLL_##KIND][number]), .on_at = WORD(n_timers), .category = "coll_" #kind},
#define CALLS_ROW(KIND, kind, algo, item, way, fits, suits, range, what)                           \
    ALGO_ROWS(KIND, kind, FM_COLL_##KIND##_##algo, algo, what)
/* Those that intercommunicators have; scan and exscan have none. */
#define INTER_WHAT           "between the two groups of an intercommunicator"
#define INTER_ROW(KIND, kind) ALGO_ROWS(KIND, kind, FM_COLL_INTER, inter, INTER_WHAT)
#define INTER_ROWS                                                                                 \
    INTER_ROW(BARRIER, barrier) INTER_ROW(BCAST, bcast) INTER_ROW(REDUCE, reduce)                  \
    INTER_ROW(ALLREDUCE, allreduce) INTER_ROW(GATHER, gather) INTER_ROW(SCATTER, scatter)          \
    INTER_ROW(ALLGATHER, allgather) INTER_ROW(ALLTOALL, alltoall)                                  \
    INTER_ROW(REDUCE_SCATTER, reduce_scatter)
#define STATE_ROWS(KIND, kind)                                                                     \
    {"coll_" #kind "_last", "Algorithm of the last " #kind " on an intracommunicator.",            \
     NULL, FATHOM_STATE,                                                                           \
     .items = &kind##_algorithms, .at = WORD(last[FM_COLL_##KIND]), .category = "coll_" #kind},    \
    {"coll_" #kind "_reason", "Why the last " #kind " took its algorithm.", NULL, FATHOM_STATE,    \
     .items = &reasons, .at = WORD(reason[FM_COLL_##KIND]), .category = "coll_" #kind},
#define ARRAY_ROWS(KIND, kind)                                                                     \
    {"coll_" #kind "_calls", "Calls of " #kind " by algorithm: element k counts those that used "  \
     "the item of value k of coll_" #kind "_algorithm, element 0 those on "                     \
     "intercommunicators.", "calls", FATHOM_COUNTER,                                               \
     .at = WORD(n_calls[FM_COLL_##KIND]), .count = FM_COLL_MAX_ALGOS, .category = "coll_" #kind},  \
    {"coll_" #kind "_bytes", "Bytes of the " #kind "s by algorithm, as in coll_" #kind "_calls.",  \
     "bytes", FATHOM_AGGREGATE, .at = WORD(n_bytes[FM_COLL_##KIND]), .count = FM_COLL_MAX_ALGOS,   \
     .category = "coll_" #kind},                                                                   \
    {"coll_" #kind "_time", "Time of the " #kind "s by algorithm, as in coll_" #kind "_calls, "    \
     "while coll_timing has it taken.", "ns", FATHOM_TIMER, .at = WORD(ns[FM_COLL_##KIND]),        \
     .count = FM_COLL_MAX_ALGOS, .on_at = WORD(n_timers), .category = "coll_" #kind},
static const struct fathom_pvar pvars[] = {
    FM_COLL_ALGOS(CALLS_ROW) INTER_ROWS
    FM_COLL_KINDS(STATE_ROWS)
    FM_COLL_KINDS(ARRAY_ROWS)
    {.name = "coll_scratch_bytes", .desc = "Temporary memory that this process keeps for later "
     "collective calls.", .unit = "bytes", .klass = FATHOM_LEVEL, .at = WORD(scratch),
     .is_level = true, .category = "coll"},
    {.name = "coll_scratch_misses", .desc = "Blocks of temporary memory that a collective call had "
     "to allocate, since none was kept.", .unit = "blocks", .klass = FATHOM_COUNTER,
     .at = WORD(n_scratch_misses), .category = "coll"},
};

static const struct fathom_enum_item kind_items[] = {
    {FM_COLL_BARRIER, "barrier"},     {FM_COLL_BCAST, "bcast"},
    {FM_COLL_REDUCE, "reduce"},       {FM_COLL_ALLREDUCE, "allreduce"},
    {FM_COLL_GATHER, "gather"},       {FM_COLL_SCATTER, "scatter"},
    {FM_COLL_ALLGATHER, "allgather"}, {FM_COLL_ALLTOALL, "alltoall"},
    {FM_COLL_REDUCE_SCATTER, "red_scatter"},
    {FM_COLL_SCAN, "scan"},           {FM_COLL_EXSCAN, "exscan"},
    {FM_COLL_NEIGHBOR_ALLGATHER, "n_allgather"}, {FM_COLL_NEIGHBOR_ALLTOALL, "n_alltoall"},
};
static const struct fathom_enum kinds = {"coll_kind", kind_items, FM_ARRAY_LEN(kind_items)};

/* All names that algorithms of any kind have. */
static const struct fathom_enum_item name_items[] = {
    {0, "inter"},   {1, "dissem"}, {2, "binomial"}, {3, "scatterring"}, {4, "halving"},
    {5, "doubling"}, {6, "linear"}, {7, "bruck"},    {8, "ring"},        {9, "window"},
    {10, "pairwise"}, {11, "by_reduce"}, {12, "shm"}, {13, "direct"}, {14, "edges"},
};
static const struct fathom_enum names = {"coll_algorithm", name_items, FM_ARRAY_LEN(name_items)};

static const struct fathom_event_item chosen_data[] = {
    {.name = "comm", .desc = "Number of the communicator, unique within the process.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "collective", .desc = "Kind of the operation.", .type = FATHOM_INT, .items = &kinds},
    {.name = "algorithm", .desc = "Algorithm that serves it.", .type = FATHOM_INT, .items = &names},
    {.name = "bytes", .desc = "What coll_*_bytes count of it.", .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "reason", .desc = "Why that algorithm.", .type = FATHOM_INT, .items = &reasons},
};
static const struct fathom_event events[] = {
    {"coll_chosen_event", "A collective call has chosen its algorithm; a persistent one does so "
     "once.", FATHOM_USER_DETAIL, FATHOM_BIND_NONE, WORD(on_chosen), chosen_data,
     FM_ARRAY_LEN(chosen_data)},
};

#define CATEGORY_ROW(KIND, kind) {"coll_" #kind, "Algorithms of " #kind ".", "coll"},
static const struct fathom_category categories[] = {
    {.name = "coll", .desc = "Collectives: which algorithm serves which call, and why."},
    FM_COLL_KINDS(CATEGORY_ROW)
};
/* clang-format on */

const struct fathom_table fm_coll_vars = {
    .room = "coll",
    .block_len = sizeof(struct fm_coll_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = events,
    .n_events = FM_ARRAY_LEN(events),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

#define DEFAULT(thing, value, text) .thing = value,

/* Private counters, with the defaults, until fm_coll_vars_init() names those in the page. */
static struct fm_coll_counters no_page = {.cut = {FM_COLL_CUTOFFS(DEFAULT)},
                                          .scratch_max = FM_COLL_SCRATCH_MAX};
struct fm_coll_counters *fm_coll_counters = &no_page;

void fm_coll_vars_init(void *block)
{
    fm_coll_counters = block ? block : &no_page;
}

#define ENUM_OF(KIND, kind) [FM_COLL_##KIND] = &kind##_algorithms,
static const struct fathom_enum *const algorithms[FM_COLL_COUNT] = {FM_COLL_KINDS(ENUM_OF)};

static int name_number(const struct fm_coll_use *use)
{
    size_t i = 0;

    if (use->algo == FM_COLL_INTER) {
        return 0;
    }
    while (strcmp(name_items[i].name, algorithms[use->kind]->items[use->algo].name) != 0) {
        i++;
        fm_assert(i < FM_ARRAY_LEN(name_items));
    }
    return name_items[i].value;
}

void fm_coll_vars_emit(const struct fm_coll_use *use, const struct fm_comm *comm)
{
    const uint64_t values[] = {comm->id, use->kind, (uint64_t)name_number(use), use->len, use->why};

    fathom_mpit_emit(&events[0], fm_coll_counters, NULL, values);
}
