/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the variables of on-node shared-memory collectives. */
#include "core/coll/coll_shm_vars.h"

#include "util/compiler.h"

#define WORD(f) offsetof(struct fm_coll_shm_counters, f)

/* clang-format off */
/* Control variables: name, former name, counter, unit, default, bounds, text. */
#define CVARS(X)                                                                                   \
    X("coll_shm_after", "coll_node_after", after, "calls", 8, 0, INT32_MAX,                        \
      "Collective calls on a communicator after which its ranks set up shared memory for them; "   \
      "raise it in programs that make many communicators and use each of them little.")            \
    X("coll_shm_max", "coll_node_max", max, "bytes", 16 << 10, 48, 256 << 10,                      \
      "Longest contribution of a rank that is passed through the shared memory of a "              \
      "communicator; raise it where more ranks than processors exchange medium vectors.")          \
    X("coll_shm_memory", "coll_node_memory", memory, "bytes", 4 << 20, 4 << 10, 64 << 20,        \
      "Limit of the shared memory of one communicator; with many ranks it lowers coll_shm_max.")   \
    X("coll_shm_comms", "coll_node_comms", max_comms, "comms", 16, 0, INT32_MAX,                   \
      "Limit of communicators of a process that have such memory at a time; raise it when more "   \
      "than that use short collectives often.")                                                    \
    X("coll_shm_spread", "coll_node_spread", spread, "ranks", 8, 0, INT32_MAX,                     \
      "Largest communicator that sets up such memory although each rank has a processor of its "   \
      "own; lower it when cache lines travel slowly between these processors.")                    \
    X("coll_shm_flat", NULL, flat, "ranks", 4, 0, INT32_MAX,                                       \
      "Largest communicator, of ranks with a processor each, whose ranks poll each other and "     \
      "combine reductions themselves; in larger ones the last rank to arrive combines for all.")
#define CVAR_ROW(name_, formerly_, counter, unit_, def_, min_, max_, desc_)                        \
    {.name = name_, .formerly = formerly_, .desc = desc_, .unit = unit_, .type = FATHOM_INT,       \
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_DETAIL, .at = WORD(counter),          \
     .def = def_, .min = min_, .max = max_, .category = "coll_shm"},
static const struct fathom_cvar cvars[] = {CVARS(CVAR_ROW)};

static const struct fathom_pvar pvars[] = {
    {.name = "coll_shm_made", .formerly = "coll_node_made", .klass = FATHOM_COUNTER,
     .desc = "Communicators that have got shared memory for short collectives.", .unit = "comms",
     .at = WORD(n_made), .category = "coll_shm"},
    {.name = "coll_shm_refused", .formerly = "coll_node_refused", .klass = FATHOM_COUNTER,
     .desc = "Communicators that asked for shared memory and go on with messages: not all ranks on "
     "one host, each rank with a processor of its own, too many communicators, or no memory.",
     .unit = "comms", .at = WORD(n_refused), .category = "coll_shm"},
    {.name = "coll_shm_live", .formerly = "coll_node_live", .klass = FATHOM_LEVEL,
     .desc = "Communicators that have such memory now.", .unit = "comms", .at = WORD(n_live),
     .is_level = true, .category = "coll_shm"},
    {.name = "coll_shm_utilization", .formerly = "coll_node_utilization",
     .klass = FATHOM_PERCENTAGE, .desc = "Share of coll_shm_comms that is in use; at 1, further "
     "communicators are counted by coll_shm_refused.", .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(n_live), .whole_at = WORD(max_comms), .category = "coll_shm"},
    {.name = "coll_shm_bytes", .formerly = "coll_node_bytes", .klass = FATHOM_LEVEL,
     .desc = "Such memory that this process shares.", .unit = "bytes", .at = WORD(bytes),
     .is_level = true, .category = "coll_shm"},
    {.name = "coll_shm_sleeps", .formerly = "coll_node_dozes", .klass = FATHOM_COUNTER,
     .desc = "Times that this process announced in such a call that it is going to sleep.",
     .unit = "times", .at = WORD(n_sleeps), .category = "coll_shm"},
    {.name = "coll_shm_wakeups", .formerly = "coll_node_nudges", .klass = FATHOM_COUNTER,
     .desc = "Wake-ups that this process sent to ranks that slept in such a call.",
     .unit = "times", .at = WORD(n_wakeups), .category = "coll_shm"},
};

static const struct fathom_category categories[] = {
    {.name = "coll_shm", .desc = "Collectives through memory that the ranks of one host share.",
     .parent = "coll"},
};
/* clang-format on */

const struct fathom_table fm_coll_shm_vars = {
    .room = "coll_shm",
    .block_len = sizeof(struct fm_coll_shm_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

#define DEFAULT(name, formerly, counter, unit, def, min, max, desc) .counter = def,

/* Private counters, with the defaults, until fm_coll_shm_init() names those in the page. */
static struct fm_coll_shm_counters no_page = {CVARS(DEFAULT)};
struct fm_coll_shm_counters *fm_coll_shm_counters = &no_page;

void fm_coll_shm_init(void *block)
{
    fm_coll_shm_counters = block ? block : &no_page;
}
