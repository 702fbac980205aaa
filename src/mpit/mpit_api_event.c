/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 15.3.8: event sources, event types, registrations and instances. */
#include "mpit/mpit_api_common.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t value_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

/* ---- callbacks, which the registry keeps without their types ---- */

static void call_event(fm_t_any_fn fn, uint64_t instance, uint64_t registration, int safety,
                       void *user_data)
{
    ((MPI_T_event_cb_function *)fn)((MPI_T_event_instance)(uintptr_t)instance,
                                    (MPI_T_event_registration)(uintptr_t)registration,
                                    (MPI_T_cb_safety)safety, user_data);
}

static void call_free(fm_t_any_fn fn, uint64_t registration, int safety, void *user_data)
{
    ((MPI_T_event_free_cb_function *)fn)((MPI_T_event_registration)(uintptr_t)registration,
                                         (MPI_T_cb_safety)safety, user_data);
}

static void call_dropped(fm_t_any_fn fn, uint64_t count, uint64_t registration, int source,
                         int safety, void *user_data)
{
    ((MPI_T_event_dropped_cb_function *)fn)((MPI_Count)count,
                                            (MPI_T_event_registration)(uintptr_t)registration,
                                            source, (MPI_T_cb_safety)safety, user_data);
}

static const struct fm_t_callers callers = {
    .event = call_event, .free = call_free, .dropped = call_dropped};

/* ---- 15.3.8.1 ---- */

static const struct source {
    const char *name, *desc;
    MPI_T_source_order order;
} sources[FM_T_SOURCES] = {
    {"engine",
     "What the engine does, in the order in which it does it; time stamps are CLOCK_MONOTONIC.",
     MPI_T_SOURCE_ORDERED},
    {"async",
     "What helper threads and signal handlers see, in no certain order; time stamps are "
     "CLOCK_MONOTONIC.",
     MPI_T_SOURCE_UNORDERED},
    {"registry",
     "What tools do to the registry, on any thread and beside the engine, one after the other; "
     "time "
     "stamps are CLOCK_MONOTONIC.",
     MPI_T_SOURCE_ORDERED},
};

int PMPI_T_source_get_num(int *num_sources)
{
    FM_T_NEED_READY();
    if (!num_sources) {
        return MPI_T_ERR_INVALID;
    }
    *num_sources = FM_T_SOURCES;
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_source_get_num);

int PMPI_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           MPI_T_source_order *ordering, MPI_Count *ticks_per_second,
                           MPI_Count *max_ticks, MPI_Info *info)
{
    FM_T_NEED_READY();
    if (source_index < 0 || source_index >= FM_T_SOURCES) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    if (info) {
        FM_T_NEED_LOCKS();
    }
    fm_t_string(sources[source_index].name, name, name_len);
    fm_t_string(sources[source_index].desc, desc, desc_len);
    FM_T_PUT(ordering, sources[source_index].order);
    FM_T_PUT(ticks_per_second, 1000000000);
    FM_T_PUT(max_ticks, INT64_MAX);
    return info ? fm_t_info_create(info, 0, NULL, NULL) : MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_source_get_info);

int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    FM_T_NEED_READY();
    if (source_index < 0 || source_index >= FM_T_SOURCES) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    if (!timestamp) {
        return MPI_T_ERR_INVALID;
    }
    fm_t_event_stamp_shown();
    *timestamp = (MPI_Count)fathom_mpit_clock();
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_source_get_timestamp);

/* ---- 15.3.8.3: event types ---- */

/* The one hint that there is. */
#define QUEUE_HINT "fathom_event_queue"

static int queue_info(MPI_Info *out_info, unsigned n)
{
    const char *key = QUEUE_HINT, *value;
    char text[16];

    snprintf(text, sizeof(text), "%u", n);
    value = text;
    return fm_t_info_create(out_info, 1, &key, &value);
}

int PMPI_T_event_get_num(int *num_events)
{
    FM_T_NEED_READY();
    if (!num_events) {
        return MPI_T_ERR_INVALID;
    }
    *num_events = fm_t_root.n_events;
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_event_get_num);

int PMPI_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                          int *desc_len, int *bind)
{
    const struct fm_t_event *e;
    int i;

    FM_T_NEED_READY();
    if (event_index < 0 || event_index >= fm_t_root.n_events) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    if (info) {
        FM_T_NEED_LOCKS();
    }
    e = &fm_t_root.events[event_index];
    fm_t_string(e->row->name, name, name_len);
    FM_T_PUT(verbosity, e->row->verbosity ? (int)e->row->verbosity : (int)FATHOM_USER_DETAIL);
    for (i = 0; num_elements && i < e->row->n_data && i < *num_elements; i++) {
        if (array_of_datatypes) {
            array_of_datatypes[i] = fm_t_datatype(e->row->data[i].type);
        }
        if (array_of_displacements) {
            array_of_displacements[i] = (MPI_Aint)e->displacements[i];
        }
    }
    FM_T_PUT(num_elements, e->row->n_data);
    FM_T_PUT(enumtype, (MPI_T_enum)(uintptr_t)e->enum_handle);
    fm_t_string(e->row->desc, desc, desc_len);
    FM_T_PUT(bind, e->row->bind ? (int)e->row->bind : MPI_T_BIND_NO_OBJECT);
    return info ? queue_info(info, fm_t_root.default_queue) : MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_event_get_info);

/* ---- 15.3.8.4: registrations ---- */

/* How many events the first registration wants to be able to wait; 0: it does not say. */
static unsigned queue_hint(MPI_Info info)
{
    const struct fathom_host *host = fm_t_root.host;
    char text[16];
    long n;

    if (info == MPI_INFO_NULL || !host || !host->info_get ||
        !host->info_get(&info, QUEUE_HINT, text, (int)sizeof(text))) {
        return 0;
    }
    n = strtol(text, NULL, 10);
    return n > 0 && n <= 1 << 20 ? (unsigned)n : 0;
}

int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                              MPI_T_event_registration *event_registration)
{
    uint64_t value = 0;
    int rc;

    FM_T_NEED_LOCKS();
    if (!event_registration) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_info_check(info);
    if (rc == MPI_SUCCESS) {
        rc = fm_t_event_alloc(event_index, obj_handle, queue_hint(info), &callers, &value);
    }
    if (rc == MPI_SUCCESS) {
        *event_registration = (MPI_T_event_registration)(uintptr_t)value;
    }
    return rc;
}
FM_T_WEAK(MPI_T_event_handle_alloc);

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    int rc;

    FM_T_NEED_LOCKS();
    rc = fm_t_event_check(value_of(event_registration), -1);
    return rc == MPI_SUCCESS ? fm_t_info_check(info) : rc;
}
FM_T_WEAK(MPI_T_event_handle_set_info);

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info *info_used)
{
    int rc;

    FM_T_NEED_LOCKS();
    if (!info_used) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_event_check(value_of(event_registration), -1);
    return rc == MPI_SUCCESS ? queue_info(info_used, fm_t_queue_room()) : rc;
}
FM_T_WEAK(MPI_T_event_handle_get_info);

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                   MPI_T_event_cb_function event_cb_function)
{
    int rc;

    FM_T_NEED_LOCKS();
    rc = fm_t_info_check(info);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    return fm_t_event_callback(value_of(event_registration), (int)cb_safety, user_data,
                               (fm_t_any_fn)event_cb_function);
}
FM_T_WEAK(MPI_T_event_register_callback);

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info info)
{
    int rc;

    FM_T_NEED_LOCKS();
    rc = fm_t_event_check(value_of(event_registration), (int)cb_safety);
    return rc == MPI_SUCCESS ? fm_t_info_check(info) : rc;
}
FM_T_WEAK(MPI_T_event_callback_set_info);

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
                                   MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    int rc;

    FM_T_NEED_LOCKS();
    if (!info_used) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_event_check(value_of(event_registration), (int)cb_safety);
    return rc == MPI_SUCCESS ? fm_t_info_create(info_used, 0, NULL, NULL) : rc;
}
FM_T_WEAK(MPI_T_event_callback_get_info);

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                             MPI_T_event_free_cb_function free_cb_function)
{
    FM_T_NEED_LOCKS();
    return fm_t_event_free(value_of(event_registration), user_data, (fm_t_any_fn)free_cb_function);
}
FM_T_WEAK(MPI_T_event_handle_free);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function)
{
    FM_T_NEED_LOCKS();
    return fm_t_event_dropped(value_of(event_registration), (fm_t_any_fn)dropped_cb_function);
}
FM_T_WEAK(MPI_T_event_set_dropped_handler);

/* ---- 15.3.8.6, 15.3.8.7: instances ---- */

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    FM_T_NEED_READY();
    return buffer ? fm_t_event_read(value_of(event_instance), element_index, buffer)
                  : MPI_T_ERR_INVALID;
}
FM_T_WEAK(MPI_T_event_read);

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    FM_T_NEED_READY();
    return buffer ? fm_t_event_copy(value_of(event_instance), buffer) : MPI_T_ERR_INVALID;
}
FM_T_WEAK(MPI_T_event_copy);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    int64_t when;
    int rc;

    FM_T_NEED_READY();
    if (!event_timestamp) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_event_when(value_of(event_instance), &when);
    if (rc == MPI_SUCCESS) {
        *event_timestamp = when;
    }
    return rc;
}
FM_T_WEAK(MPI_T_event_get_timestamp);

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    FM_T_NEED_READY();
    if (!source_index) {
        return MPI_T_ERR_INVALID;
    }
    return fm_t_event_whence(value_of(event_instance), source_index);
}
FM_T_WEAK(MPI_T_event_get_source);
