/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerations of variables, and those of the names of an event's elements (MPI-5.0 15.3.5). */
#include "mpit/mpit_internal.h"

/* Called locked. */
static uint64_t enum_handle(const struct fathom_enum *from, const struct fathom_event *event)
{
    struct fm_t_enum *e;
    uint32_t i;

    for (i = 0; (e = fm_t_slots_at(&fm_t_root.enums, i)) != NULL; i++) {
        if (e->from == from && e->event == event) {
            return fm_t_slots_value(&fm_t_root.enums, e);
        }
    }
    e = fm_t_got(fm_t_slots_take(&fm_t_root.enums));
    if (!e) {
        return 0;
    }
    e->name = from ? from->name : event->name;
    e->from = from;
    e->event = event;
    fm_t_slots_publish(&fm_t_root.enums, e);
    return fm_t_slots_value(&fm_t_root.enums, e);
}

uint64_t fm_t_enum_handle(const struct fathom_enum *from)
{
    return from ? enum_handle(from, NULL) : 0;
}

uint64_t fm_t_enum_handle_of_event(const struct fathom_event *event)
{
    return event->n_data > 0 ? enum_handle(NULL, event) : 0;
}

const struct fm_t_enum *fm_t_enum_find(uint64_t handle)
{
    return fm_t_slots_find(&fm_t_root.enums, handle);
}

int fm_t_enum_count(const struct fm_t_enum *e)
{
    return e->from ? e->from->n_items : e->event->n_data;
}

void fm_t_enum_item(const struct fm_t_enum *e, int i, int *out_value, const char **out_name)
{
    *out_value = e->from ? e->from->items[i].value : i;
    *out_name = e->from ? e->from->items[i].name : e->event->data[i].name;
}

bool fm_t_enum_has(const struct fathom_enum *from, int64_t value)
{
    int i;

    for (i = 0; i < from->n_items; i++) {
        if (from->items[i].value == value) {
            return true;
        }
    }
    return false;
}
