/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables and events of one-sided communication. */
#include "core/rma/win_vars.h"

#include <stdlib.h>

#include "util/status.h"

#define WORD(f) offsetof(struct fm_rma_counters, f)
#define OF(f)   offsetof(struct fm_win_counters, f)
/* Words from one traffic counter to the next, and from one kind to the next. */
#define STEP (sizeof(struct fm_traffic) / sizeof(uint64_t))

/* Sums over the ways of a kind, over the kinds of a way, and over the kinds in a window. */
#define OF_KIND(name, kind)                                                                        \
    static const struct fathom_term name##_n = {WORD(traffic[kind][0].n), FM_WIN_WAYS, STEP};      \
    static const struct fathom_term name##_len = {WORD(traffic[kind][0].len), FM_WIN_WAYS, STEP};
#define OF_WAY(name, way)                                                                          \
    static const struct fathom_term name##_n = {WORD(traffic[0][way].n), FM_RMA_CALL_KINDS,        \
                                                FM_WIN_WAYS * STEP};                               \
    static const struct fathom_term name##_len = {WORD(traffic[0][way].len), FM_RMA_CALL_KINDS,    \
                                                  FM_WIN_WAYS * STEP};
OF_KIND(puts, FM_RMA_CALL_PUT)
OF_KIND(gets, FM_RMA_CALL_GET)
OF_KIND(accs, FM_RMA_CALL_ACC)
OF_KIND(get_accs, FM_RMA_CALL_GET_ACC)
OF_KIND(swaps, FM_RMA_CALL_CAS)
OF_WAY(direct, FM_WIN_DIRECT)
OF_WAY(copied, FM_WIN_COPY)
OF_WAY(sent, FM_WIN_MESSAGE)
static const struct fathom_term in_window_n = {OF(traffic[0].n), FM_RMA_CALL_KINDS, STEP};
static const struct fathom_term in_window_len = {OF(traffic[0].len), FM_RMA_CALL_KINDS, STEP};

static const struct fathom_enum_item way_items[] = {
    {FM_RMA_WAY_AUTO, "auto"}, {FM_RMA_WAY_COPY, "copy"}, {FM_RMA_WAY_MESSAGE, "message"}};
static const struct fathom_enum ways = {"rma_way", way_items, FM_ARRAY_LEN(way_items)};

/* clang-format off */
#define CVARS(X)                                                                                   \
    X("rma_packet", packet_len, 16 << 10, 1 << 10, 1 << 20,                                        \
      "Longest active message of one-sided operations, in bytes, which the transport may limit "   \
      "further; raise it for long operations between hosts, lower it where targets should answer " \
      "others in between.")                                                                        \
    X("rma_reply_limit", reply_limit, 256 << 10, 16 << 10, 1 << 30,                                \
      "Bytes of answers that an origin may have outstanding at one target of active messages; "    \
      "raise it for long gets over a network of high latency.")
#define CVAR_ROW(name_, word_, def_, min_, max_, desc_)                                            \
    {.name = name_, .desc = desc_, .unit = "bytes", .type = FATHOM_INT,                            \
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_DETAIL, .at = WORD(word_),            \
     .def = def_, .min = min_, .max = max_},
static const struct fathom_cvar cvars[] = {
    {.name = "rma_way", .desc = "Best way by which one-sided operations may reach another process: "
     "auto uses shared memory, then single copy, then active messages; set it to compare them. "
     "Takes effect for windows that are made afterwards.", .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_DETAIL, .items = &ways,
     .at = WORD(way)},
    CVARS(CVAR_ROW)
};

#define CALLS(name_, text, term_)                                                                  \
    {.name = name_, .desc = text, .unit = "calls", .klass = FATHOM_COUNTER, .terms = &(term_),     \
     .n_terms = 1}
#define BYTES(name_, text, term_)                                                                  \
    {.name = name_, .desc = text, .unit = "bytes", .klass = FATHOM_AGGREGATE, .terms = &(term_),   \
     .n_terms = 1}
#define COUNT(name_, text, unit_, word_)                                                           \
    {.name = name_, .desc = text, .unit = unit_, .klass = FATHOM_COUNTER, .at = WORD(word_)}
#define TIME(name_, text, wait_)                                                                   \
    {.name = name_, .desc = text, .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(wait_ns[wait_])}
static const struct fathom_pvar pvars[] = {
    {.name = "rma_windows", .desc = "Windows that exist now.", .unit = "windows",
     .klass = FATHOM_LEVEL, .at = WORD(live), .is_level = true},
    {.name = "rma_windows_high", .desc = "Most windows that existed at one time.",
     .unit = "windows", .klass = FATHOM_HIGHWATERMARK, .at = WORD(live)},
    COUNT("rma_windows_made", "Windows made since MPI_Init.", "windows", n_windows),
    CALLS("rma_puts", "Calls of MPI_Put and MPI_Rput that moved data.", puts_n),
    BYTES("rma_put_bytes", "Bytes of these.", puts_len),
    CALLS("rma_gets", "Calls of MPI_Get and MPI_Rget that moved data.", gets_n),
    BYTES("rma_get_bytes", "Bytes of these.", gets_len),
    CALLS("rma_accumulates", "Calls of MPI_Accumulate and MPI_Raccumulate.", accs_n),
    BYTES("rma_accumulate_bytes", "Bytes of these.", accs_len),
    CALLS("rma_fetches", "Calls of MPI_Get_accumulate, MPI_Rget_accumulate and MPI_Fetch_and_op.",
          get_accs_n),
    BYTES("rma_fetch_bytes", "Bytes of these.", get_accs_len),
    CALLS("rma_swaps", "Calls of MPI_Compare_and_swap.", swaps_n),
    BYTES("rma_swap_bytes", "Bytes of these.", swaps_len),
    CALLS("rma_direct_calls", "Operations by load and store in shared memory.", direct_n),
    BYTES("rma_direct_bytes", "Bytes of these.", direct_len),
    CALLS("rma_copy_calls", "Operations by single copy between processes.", copied_n),
    BYTES("rma_copy_bytes", "Bytes of these.", copied_len),
    CALLS("rma_message_calls", "Operations by active messages, for which the target must make "
          "progress.", sent_n),
    BYTES("rma_message_bytes", "Bytes of these.", sent_len),
    COUNT("rma_fences", "Calls of MPI_Win_fence.", "calls", n_epochs[FM_RMA_EPOCH_FENCE]),
    COUNT("rma_starts", "Access epochs begun by MPI_Win_start.", "epochs",
          n_epochs[FM_RMA_EPOCH_START]),
    COUNT("rma_posts", "Exposure epochs begun by MPI_Win_post.", "epochs",
          n_epochs[FM_RMA_EPOCH_POST]),
    COUNT("rma_locks", "Access epochs begun by MPI_Win_lock.", "epochs",
          n_epochs[FM_RMA_EPOCH_LOCK]),
    COUNT("rma_lock_alls", "Access epochs begun by MPI_Win_lock_all.", "epochs",
          n_epochs[FM_RMA_EPOCH_LOCK_ALL]),
    {.name = "rma_fence_time", .desc = "Time in the barriers of MPI_Win_fence; counted while a "
     "handle of it is started.", .unit = "ns", .klass = FATHOM_TIMER,
     .at = WORD(wait_ns[FM_RMA_WAIT_FENCE]), .on_at = WORD(n_fence_timers)},
    TIME("rma_start_time", "Time that MPI_Win_start waited for MPI_Win_post of targets.",
         FM_RMA_WAIT_START),
    TIME("rma_wait_time", "Time that MPI_Win_wait waited for MPI_Win_complete of origins.",
         FM_RMA_WAIT_POST),
    TIME("rma_lock_time", "Time that MPI_Win_lock and MPI_Win_lock_all waited for locks that "
         "others held.", FM_RMA_WAIT_LOCK),
    TIME("rma_flush_time", "Time that synchronization calls waited for operations that had been "
         "sent as active messages, or were long copies.", FM_RMA_WAIT_FLUSH),
    COUNT("rma_lock_conflicts", "Locks that were not free when asked for.", "locks",
          n_lock_conflicts),
    COUNT("rma_accumulate_conflicts", "Accumulates that met another one at the same 4 KiB.",
          "times", n_stripe_conflicts),
    COUNT("rma_wakes", "Processes of this host that this process has woken in a window.", "times",
          n_wakes),
    COUNT("rma_packets_sent", "Active messages sent, each with one operation or more.", "messages",
          n_packets_sent),
    COUNT("rma_packets_served", "Active messages of others carried out.", "messages",
          n_packets_served),
    COUNT("rma_operations_served", "Operations in these; a long one counts once per message.",
          "operations", n_ops_served),
    COUNT("rma_replies_sent", "Active messages that were answered.", "messages", n_replies_sent),
    COUNT("rma_queued", "Operations that waited for room on the way to their target.",
          "operations", n_queued),
    {.name = "rma_window_id", .desc = "Number of this window, unique within the process; look here "
     "to find it in events that have its number.", .klass = FATHOM_GENERIC,
     .bind = FATHOM_BIND_WIN, .at = OF(id)},
    {.name = "rma_window_calls", .desc = "Operations of this process on this window.",
     .unit = "calls", .klass = FATHOM_COUNTER, .bind = FATHOM_BIND_WIN, .terms = &in_window_n,
     .n_terms = 1},
    {.name = "rma_window_bytes", .desc = "Bytes of these.", .unit = "bytes",
     .klass = FATHOM_AGGREGATE, .bind = FATHOM_BIND_WIN, .terms = &in_window_len, .n_terms = 1},
    {.name = "rma_window_epochs", .desc = "Epochs of this process on this window.",
     .unit = "epochs", .klass = FATHOM_COUNTER, .bind = FATHOM_BIND_WIN, .at = OF(n_epochs)},
    {.name = "rma_window_wait_time", .desc = "Time that this process waited in synchronization "
     "calls on this window, fences only while rma_fence_time is counted.", .unit = "ns",
     .klass = FATHOM_TIMER, .bind = FATHOM_BIND_WIN, .at = OF(wait_ns)},
    {.name = "rma_window_lock_conflicts", .desc = "Locks of this window that were not free when "
     "this process asked for them.", .unit = "locks", .klass = FATHOM_COUNTER,
     .bind = FATHOM_BIND_WIN, .at = OF(n_lock_conflicts)},
    {.name = "rma_window_served", .desc = "Operations of others on this window that came as active "
     "messages.", .unit = "operations", .klass = FATHOM_COUNTER, .bind = FATHOM_BIND_WIN,
     .at = OF(n_ops_served)},
};

static const struct fathom_enum_item epoch_items[] = {
    {FM_RMA_EPOCH_FENCE, "fence"}, {FM_RMA_EPOCH_START, "start"}, {FM_RMA_EPOCH_POST, "post"},
    {FM_RMA_EPOCH_LOCK, "lock"}, {FM_RMA_EPOCH_LOCK_ALL, "lock_all"}};
static const struct fathom_enum epochs = {"rma_epoch", epoch_items, FM_ARRAY_LEN(epoch_items)};
static const struct fathom_event_item epoch_data[] = {
    {.name = "window", .desc = "Number of the window (rma_window_id).",
     .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "epoch", .desc = "The call that began it.", .type = FATHOM_INT, .items = &epochs},
};
static const struct fathom_event_item lock_data[] = {
    {.name = "window", .desc = "Number of the window (rma_window_id).",
     .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "rank", .desc = "Rank whose lock is wanted.", .type = FATHOM_INT},
    {.name = "exclusive", .desc = "1: MPI_LOCK_EXCLUSIVE is wanted, 0: MPI_LOCK_SHARED.",
     .type = FATHOM_INT},
};
enum { EV_EPOCH, EV_LOCK_WAIT };
static const struct fathom_event events[] = {
    [EV_EPOCH] = {"rma_epoch_event", "An epoch of a window has begun.", FATHOM_USER_DETAIL,
                  FATHOM_BIND_NONE, WORD(on_epoch), epoch_data, FM_ARRAY_LEN(epoch_data)},
    [EV_LOCK_WAIT] = {"rma_lock_wait_event", "A lock of a window is not free, and this process "
                      "waits for it.", FATHOM_USER_DETAIL, FATHOM_BIND_NONE, WORD(on_lock_wait),
                      lock_data, FM_ARRAY_LEN(lock_data)},
};
static const struct fathom_category categories[] = {
    {.name = "rma", .desc = "One-sided communication: operations by kind and by way, epochs, "
     "waits."},
};

const struct fathom_table fm_rma_vars = {
    .room = "rma",
    .block_len = sizeof(struct fm_rma_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = events,
    .n_events = FM_ARRAY_LEN(events),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
    .object_bind = FATHOM_BIND_WIN,
    .object_block_len = sizeof(struct fm_win_counters),
};

#define DEFAULT(name, word_, def_, min, max, desc) .word_ = (def_),
/* Private counters with the defaults, until fm_rma_counters_init() names those in the page. Guarded
   by the library lock. */
static struct fm_rma_counters no_page = {CVARS(DEFAULT)};
struct fm_rma_counters *fm_rma_counters = &no_page;
/* clang-format on */

void fm_rma_counters_init(void *block)
{
    fm_rma_counters = block ? block : &no_page;
}

int fm_rma_counters_add(struct fm_win *w)
{
    void *block = NULL;

    if (fm_rma_counters == &no_page) {
        block = aligned_alloc(FM_CACHE_LINE, 4 * FM_CACHE_LINE);
        w->has_own_counters = true;
    } else {
        fathom_mpit_object_add(&fm_rma_vars, w, w->id, w->name, 0, &block);
    }
    if (!block) {
        return fm_fail(-FM_E_NOMEM, "no memory for the counters of a window");
    }
    w->counters = block;
    *w->counters = (struct fm_win_counters){.id = w->id};
    fathom_level_add(&fm_rma_counters->live, 1);
    FM_STAT(fm_rma_counters->n_windows++);
    return 0;
}
_Static_assert(sizeof(struct fm_win_counters) <= 4 * FM_CACHE_LINE, "fits its private memory");

void fm_rma_counters_remove(struct fm_win *w)
{
    if (!w->counters) {
        return;
    }
    fathom_level_add(&fm_rma_counters->live, -1);
    if (w->has_own_counters) {
        free(w->counters);
    } else {
        fathom_mpit_object_remove(w);
    }
}

void fm_rma_count_epoch(struct fm_win *w, enum fm_rma_epoch epoch)
{
    FM_STAT(fm_rma_counters->n_epochs[epoch]++);
    FM_STAT(w->counters->n_epochs++);
    if (FM_UNLIKELY(fm_rma_counters->on_epoch)) {
        const uint64_t values[] = {w->id, epoch};

        fathom_mpit_emit(&events[EV_EPOCH], fm_rma_counters, w, values);
    }
}

void fm_rma_count_wait(struct fm_win *w, enum fm_rma_wait wait, uint64_t since_ns)
{
    uint64_t ns = fm_now_ns() - since_ns;

    FM_STAT(fm_rma_counters->wait_ns[wait] += ns);
    FM_STAT(w->counters->wait_ns += ns);
}

void fm_rma_count_conflict(struct fm_win *w, int rank, bool is_exclusive)
{
    FM_STAT(fm_rma_counters->n_lock_conflicts++);
    FM_STAT(w->counters->n_lock_conflicts++);
    if (FM_UNLIKELY(fm_rma_counters->on_lock_wait)) {
        const uint64_t values[] = {w->id, (uint64_t)rank, is_exclusive};

        fathom_mpit_emit(&events[EV_LOCK_WAIT], fm_rma_counters, w, values);
    }
}
