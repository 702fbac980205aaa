/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry's own variables and its event. */
#include "mpit/mpit_live.h"

#define WORD(member) offsetof(struct fm_t_counters, member)

static const struct fathom_enum_item papi_items[] = {
    {FM_T_SDE_OFF, "off"},
    {FM_T_SDE_AUTO, "auto"},
    {FM_T_SDE_LOAD, "load"},
};
static const struct fathom_enum papi_enum = {"mpit_papi", papi_items, 3};

static const struct fathom_cvar cvars[] = {
    {.name = "mpit_event_queue_len",
     .formerly = "mpit_event_queue",
     .desc = "Length of the queue of events whose callbacks may not run where they were raised; "
             "raise it when mpit_events_dropped grows. Read when the first event is registered.",
     .unit = "events",
     .type = FATHOM_UNSIGNED,
     .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(queue_len),
     .def = 1024,
     .min = 16,
     .max = 1 << 20},
    {.name = "mpit_papi",
     .desc = "Registration of the performance variables with PAPI as software-defined events: "
             "auto registers them if the program has loaded PAPI's libsde; set load to load libsde "
             "into a program that has not.",
     .type = FATHOM_INT,
     .items = &papi_enum,
     .scope = FATHOM_SCOPE_CONSTANT,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(papi),
     .def = FM_T_SDE_AUTO},
    {.name = "mpit_papi_library",
     .desc = "File name of PAPI's libsde for mpit_papi = load; set it if the library is not found "
             "as libsde.so.1.",
     .type = FATHOM_CHAR,
     .scope = FATHOM_SCOPE_CONSTANT,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(papi_library),
     .def_text = "",
     .count = FM_T_TEXT_MAX},
};

static const struct fathom_term raised = {.at = WORD(n_raised), .count = FM_T_SOURCES};
static const struct fathom_term called = {.at = WORD(n_called), .count = FM_T_SOURCES};

static const struct fathom_pvar pvars[] = {
    {.name = "mpit_sessions",
     .desc = "Sessions of performance variables that exist now.",
     .unit = "sessions",
     .klass = FATHOM_LEVEL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .is_level = true,
     .at = WORD(sessions)},
    {.name = "mpit_handles",
     .desc = "Handles of performance variables that exist now.",
     .unit = "handles",
     .klass = FATHOM_LEVEL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .is_level = true,
     .at = WORD(handles)},
    {.name = "mpit_handles_high",
     .desc = "Most handles of performance variables at one time.",
     .unit = "handles",
     .klass = FATHOM_HIGHWATERMARK,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(handles)},
    {.name = "mpit_registrations",
     .desc = "Event registrations that exist now.",
     .unit = "registrations",
     .klass = FATHOM_LEVEL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .is_level = true,
     .at = WORD(registrations)},
    {.name = "mpit_events_raised",
     .desc = "Events that were raised while a callback was registered for them.",
     .unit = "events",
     .klass = FATHOM_COUNTER,
     .verbosity = FATHOM_TUNER_DETAIL,
     .terms = &raised,
     .n_terms = 1},
    {.name = "mpit_events_called",
     .desc = "Callbacks of events that were called.",
     .unit = "calls",
     .klass = FATHOM_COUNTER,
     .verbosity = FATHOM_TUNER_DETAIL,
     .terms = &called,
     .n_terms = 1},
    {.name = "mpit_events_deferred",
     .formerly = "mpit_events_waited",
     .desc = "Events that were queued, since their callbacks may not run where they were raised.",
     .unit = "events",
     .klass = FATHOM_COUNTER,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(n_waited)},
    {.name = "mpit_events_dropped",
     .desc = "Events that were lost to a callback, because the queue was full.",
     .unit = "events",
     .klass = FATHOM_COUNTER,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(n_dropped)},
    {.name = "mpit_cvar_writes",
     .desc = "Values written by MPI_T_cvar_write.",
     .unit = "writes",
     .klass = FATHOM_COUNTER,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(n_cvar_writes)},
    {.name = "mpit_cvar_last",
     .desc = "Index plus 1 of the control variable that MPI_T_cvar_write wrote last, 0 before the "
             "first; relates a change of other variables to the setting that caused it.",
     .klass = FATHOM_GENERIC,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(cvar_last)},
    {.name = "mpit_event_queue_free_low",
     .formerly = "mpit_queue_free_low",
     .desc = "Fewest free entries of the event queue; raise mpit_event_queue_len before it comes "
             "to 0, when events are dropped.",
     .unit = "events",
     .klass = FATHOM_LOWWATERMARK,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = WORD(queue_free),
     .whole_at = WORD(queue_len)},
};

static const struct fathom_event_item written_data[] = {
    {.name = "cvar_index", .desc = "Number of the variable.", .type = FATHOM_INT},
    {.name = "value",
     .desc = "Its new value, a double by its bits, 0 for a string.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
};

static const struct fathom_event events[] = {
    {.name = "mpit_cvar_written",
     .desc = "MPI_T_cvar_write wrote a control variable.",
     .verbosity = FATHOM_TUNER_BASIC,
     .at = WORD(on_cvar_written),
     .data = written_data,
     .n_data = 2},
};

static const struct fathom_category categories[] = {
    {.name = "mpit", .desc = "The MPI_T registry itself: sessions, handles, events."},
};

const struct fathom_table fm_t_vars = {
    .room = "mpit",
    .block_len = sizeof(struct fm_t_counters),
    .cvars = cvars,
    .n_cvars = sizeof(cvars) / sizeof(cvars[0]),
    .pvars = pvars,
    .n_pvars = sizeof(pvars) / sizeof(pvars[0]),
    .events = events,
    .n_events = sizeof(events) / sizeof(events[0]),
    .categories = categories,
    .n_categories = 1,
};

void fm_t_self_add(void)
{
    void *block;

    if (fathom_mpit_add(&fm_t_vars, &block) == 0) {
        fm_t_counters = block;
    }
}

void fm_t_cvar_written(int index, uint64_t value)
{
    uint64_t values[2] = {(uint64_t)index, value};

    fathom_word_add(&fm_t_counters->n_cvar_writes, 1);
    __atomic_store_n(&fm_t_counters->cvar_last, (uint64_t)index + 1, __ATOMIC_RELAXED);
    fm_t_event_raise(&events[0], fm_t_counters, values);
}
