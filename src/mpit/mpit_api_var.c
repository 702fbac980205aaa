/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 15.3.4 to 15.3.6 and 15.3.9: start and end, enumerations, control variables, categories.
 */
#include "mpit/mpit_api_common.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(void *) == sizeof(uint64_t), "handles are 64-bit values");
_Static_assert((int)FM_T_CANNOT_INIT == MPI_T_ERR_CANNOT_INIT &&
                   (int)FM_T_NOT_SUPPORTED == MPI_T_ERR_NOT_SUPPORTED &&
                   (int)FM_T_MEMORY == MPI_T_ERR_MEMORY &&
                   (int)FM_T_INVALID_INDEX == MPI_T_ERR_INVALID_INDEX &&
                   (int)FM_T_INVALID_HANDLE == MPI_T_ERR_INVALID_HANDLE &&
                   (int)FM_T_OUT_OF_SESSIONS == MPI_T_ERR_OUT_OF_SESSIONS &&
                   (int)FM_T_PVAR_NO_ATOMIC == MPI_T_ERR_PVAR_NO_ATOMIC &&
                   (int)FM_T_OK == MPI_SUCCESS,
               "fm_t_code has the numbers of the ABI");
_Static_assert((int)FATHOM_STATE == MPI_T_PVAR_CLASS_STATE &&
                   (int)FATHOM_GENERIC == MPI_T_PVAR_CLASS_GENERIC &&
                   (int)FATHOM_BIND_NONE == MPI_T_BIND_NO_OBJECT &&
                   (int)FATHOM_BIND_SESSION == MPI_T_BIND_MPI_SESSION &&
                   (int)FATHOM_BIND_WIN == MPI_T_BIND_MPI_WIN &&
                   (int)FATHOM_SCOPE_CONSTANT == MPI_T_SCOPE_CONSTANT &&
                   (int)FATHOM_SCOPE_ALL_EQ == MPI_T_SCOPE_ALL_EQ &&
                   (int)FATHOM_USER_BASIC == MPI_T_VERBOSITY_USER_BASIC &&
                   (int)FATHOM_DEV_ALL == MPI_T_VERBOSITY_MPIDEV_ALL &&
                   (int)FATHOM_SAFE_SIGNAL == MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
               "fathom/mpit.h has the numbers of the ABI");

void fm_t_string(const char *text, char *buf, int *len)
{
    int n, room;

    if (!len) {
        return;
    }
    n = (int)strlen(text ? text : "") + 1;
    room = *len;
    if (buf && room > 0) {
        snprintf(buf, (size_t)room, "%s", text ? text : "");
    }
    *len = n;
}

MPI_Datatype fm_t_datatype(enum fathom_type type)
{
    switch (type) {
    case FATHOM_INT:
        return MPI_INT;
    case FATHOM_UNSIGNED:
        return MPI_UNSIGNED;
    case FATHOM_UNSIGNED_LONG:
        return MPI_UNSIGNED_LONG;
    case FATHOM_UNSIGNED_LONG_LONG:
        return MPI_UNSIGNED_LONG_LONG;
    case FATHOM_COUNT:
        return MPI_COUNT;
    case FATHOM_DOUBLE:
        return MPI_DOUBLE;
    default:
        return MPI_CHAR;
    }
}

const char *fathom_mpit_error_string(int code)
{
    static const char *const texts[] = {
        "MPI_T_ERR_CANNOT_INIT: the MPI tool information interface cannot be initialized",
        "MPI_T_ERR_NOT_ACCESSIBLE: the requested functionality is not accessible",
        "MPI_T_ERR_NOT_INITIALIZED: the MPI tool information interface is not initialized",
        "MPI_T_ERR_NOT_SUPPORTED: the requested functionality is not supported",
        "MPI_T_ERR_MEMORY: out of memory",
        "MPI_T_ERR_INVALID: invalid use of the interface or bad parameter value",
        "MPI_T_ERR_INVALID_INDEX: the index is out of range",
        "MPI_T_ERR_INVALID_ITEM: the item index is out of range",
        "MPI_T_ERR_INVALID_SESSION: the session is not valid",
        "MPI_T_ERR_INVALID_HANDLE: the handle is not valid",
        "MPI_T_ERR_INVALID_NAME: no variable, event or category has this name",
        "MPI_T_ERR_OUT_OF_HANDLES: no more handles are available",
        "MPI_T_ERR_OUT_OF_SESSIONS: no more sessions are available",
        "MPI_T_ERR_CVAR_SET_NOT_NOW: the control variable cannot be set now",
        "MPI_T_ERR_CVAR_SET_NEVER: the control variable cannot be set until the end of execution",
        "MPI_T_ERR_PVAR_NO_WRITE: the performance variable cannot be written or reset",
        "MPI_T_ERR_PVAR_NO_STARTSTOP: the performance variable cannot be started or stopped",
        "MPI_T_ERR_PVAR_NO_ATOMIC: the performance variable cannot be read and reset at once",
    };

    if (code < MPI_T_ERR_CANNOT_INIT || code > MPI_T_ERR_PVAR_NO_ATOMIC) {
        return NULL;
    }
    return texts[code - MPI_T_ERR_CANNOT_INIT];
}

int fm_t_info_check(MPI_Info info)
{
    const struct fathom_host *host = fm_t_root.host;

    if (info != MPI_INFO_NULL && host && host->info_is_valid && !host->info_is_valid(&info)) {
        return MPI_T_ERR_INVALID;
    }
    return MPI_SUCCESS;
}

int fm_t_info_create(MPI_Info *out_info, int n, const char *const *keys, const char *const *values)
{
    MPI_Info info = MPI_INFO_NULL;

    if (fm_t_root.host && fm_t_root.host->info_create &&
        fm_t_root.host->info_create(&info, n, keys, values) != 0) {
        return MPI_T_ERR_MEMORY;
    }
    *out_info = info;
    return MPI_SUCCESS;
}

/* ---- 15.3.4 ---- */

int PMPI_T_init_thread(int required, int *provided)
{
    int rc;

    if (!provided || (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED &&
                      required != MPI_THREAD_SERIALIZED && required != MPI_THREAD_MULTIPLE)) {
        return MPI_T_ERR_INVALID;
    }
    if (fm_t_event_context() >= FATHOM_SAFE_SIGNAL) {
        return MPI_T_ERR_NOT_ACCESSIBLE;
    }
    rc = fm_t_tool_start();
    if (rc == MPI_SUCCESS) {
        /* The registry has locks of its own, whatever level MPI runs at. */
        *provided = MPI_THREAD_MULTIPLE;
    }
    return rc;
}
FM_T_WEAK(MPI_T_init_thread);

int PMPI_T_finalize(void)
{
    FM_T_NEED_LOCKS();
    return fm_t_tool_stop();
}
FM_T_WEAK(MPI_T_finalize);

/* ---- 15.3.5 ---- */

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct fm_t_enum *e;

    FM_T_NEED_READY();
    e = fm_t_enum_find((uint64_t)(uintptr_t)enumtype);
    if (!e) {
        return MPI_T_ERR_INVALID_HANDLE;
    }
    FM_T_PUT(num, fm_t_enum_count(e));
    fm_t_string(e->name, name, name_len);
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct fm_t_enum *e;
    const char *text;
    int v;

    FM_T_NEED_READY();
    e = fm_t_enum_find((uint64_t)(uintptr_t)enumtype);
    if (!e) {
        return MPI_T_ERR_INVALID_HANDLE;
    }
    if (indx < 0 || indx >= fm_t_enum_count(e)) {
        return MPI_T_ERR_INVALID_INDEX; /* MPI_T_ERR_INVALID_ITEM is deprecated since MPI-4.0 */
    }
    fm_t_enum_item(e, indx, &v, &text);
    FM_T_PUT(value, v);
    fm_t_string(text, name, name_len);
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_enum_get_item);

/* ---- 15.3.6 ---- */

int PMPI_T_cvar_get_num(int *num_cvar)
{
    FM_T_NEED_READY();
    if (!num_cvar) {
        return MPI_T_ERR_INVALID;
    }
    *num_cvar = fm_t_root.n_cvars;
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_cvar_get_num);

int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *scope)
{
    const struct fm_t_cvar *v;

    FM_T_NEED_READY();
    if (cvar_index < 0 || cvar_index >= fm_t_root.n_cvars) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    v = &fm_t_root.cvars[cvar_index];
    fm_t_string(v->name, name, name_len);
    FM_T_PUT(verbosity, v->row->verbosity ? (int)v->row->verbosity : (int)FATHOM_USER_DETAIL);
    FM_T_PUT(datatype, fm_t_datatype(v->row->type));
    FM_T_PUT(enumtype, (MPI_T_enum)(uintptr_t)v->enum_handle);
    fm_t_string(v->desc, desc, desc_len);
    FM_T_PUT(bind, (int)v->bind);
    FM_T_PUT(scope, (int)v->row->scope);
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_cvar_get_info);

/* The three get_index functions of one shape. */
static int get_index(enum fm_t_name_kind kind, const char *name, int klass, int *out_index)
{
    int i;

    if (!name || !out_index) {
        return MPI_T_ERR_INVALID;
    }
    i = fm_t_name_find(kind, name, klass);
    if (i < 0) {
        return MPI_T_ERR_INVALID_NAME;
    }
    *out_index = i;
    return MPI_SUCCESS;
}

int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
    FM_T_NEED_READY();
    return get_index(FM_T_NAME_CVAR, name, 0, cvar_index);
}
FM_T_WEAK(MPI_T_cvar_get_index);

int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                             int *count)
{
    uint64_t value = 0;
    int n = 0, rc;

    FM_T_NEED_LOCKS();
    if (!handle || !count) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_cvar_alloc(cvar_index, obj_handle, &value, &n);
    if (rc == MPI_SUCCESS) {
        *handle = (MPI_T_cvar_handle)(uintptr_t)value;
        *count = n;
    }
    return rc;
}
FM_T_WEAK(MPI_T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    int rc;

    FM_T_NEED_LOCKS();
    if (!handle) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_cvar_free((uint64_t)(uintptr_t)*handle);
    if (rc == MPI_SUCCESS) {
        *handle = MPI_T_CVAR_HANDLE_NULL;
    }
    return rc;
}
FM_T_WEAK(MPI_T_cvar_handle_free);

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    FM_T_NEED_LOCKS();
    return buf ? fm_t_cvar_read((uint64_t)(uintptr_t)handle, buf) : MPI_T_ERR_INVALID;
}
FM_T_WEAK(MPI_T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    FM_T_NEED_LOCKS();
    return buf ? fm_t_cvar_write((uint64_t)(uintptr_t)handle, buf) : MPI_T_ERR_INVALID;
}
FM_T_WEAK(MPI_T_cvar_write);

/* ---- 15.3.9 ---- */

int PMPI_T_category_get_num(int *num_cat)
{
    FM_T_NEED_READY();
    if (!num_cat) {
        return MPI_T_ERR_INVALID;
    }
    *num_cat = fm_t_root.n_categories;
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_category_get_num);

static const struct fm_t_category *category_at(int index)
{
    return index >= 0 && index < fm_t_root.n_categories ? &fm_t_root.categories[index] : NULL;
}

int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    const struct fm_t_category *c = category_at(cat_index);

    FM_T_NEED_READY();
    if (!c) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    fm_t_string(c->name, name, name_len);
    fm_t_string(c->desc, desc, desc_len);
    FM_T_PUT(num_cvars, c->n_cvars);
    FM_T_PUT(num_pvars, c->n_pvars);
    FM_T_PUT(num_categories, c->n_categories);
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_category_get_info);

int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
    const struct fm_t_category *c = category_at(cat_index);

    FM_T_NEED_READY();
    if (!c) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    if (!num_events) {
        return MPI_T_ERR_INVALID;
    }
    *num_events = c->n_events;
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_category_get_num_events);

int PMPI_T_category_get_index(const char *name, int *cat_index)
{
    FM_T_NEED_READY();
    return get_index(FM_T_NAME_CATEGORY, name, 0, cat_index);
}
FM_T_WEAK(MPI_T_category_get_index);

/* At most len numbers of a category's list. */
static int get_list(const struct fm_t_category *c, const int *list, int n, int len, int indices[])
{
    if (!c) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    if (len < 0 || (len > 0 && !indices)) {
        return MPI_T_ERR_INVALID;
    }
    if (n > 0 && len > 0) {
        memcpy(indices, list, (size_t)(n < len ? n : len) * sizeof(*indices));
    }
    return MPI_SUCCESS;
}

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    const struct fm_t_category *c = category_at(cat_index);

    FM_T_NEED_READY();
    return get_list(c, c ? c->cvars : NULL, c ? c->n_cvars : 0, len, indices);
}
FM_T_WEAK(MPI_T_category_get_cvars);

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    const struct fm_t_category *c = category_at(cat_index);

    FM_T_NEED_READY();
    return get_list(c, c ? c->pvars : NULL, c ? c->n_pvars : 0, len, indices);
}
FM_T_WEAK(MPI_T_category_get_pvars);

int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
    const struct fm_t_category *c = category_at(cat_index);

    FM_T_NEED_READY();
    return get_list(c, c ? c->events : NULL, c ? c->n_events : 0, len, indices);
}
FM_T_WEAK(MPI_T_category_get_events);

int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    const struct fm_t_category *c = category_at(cat_index);

    FM_T_NEED_READY();
    return get_list(c, c ? c->categories : NULL, c ? c->n_categories : 0, len, indices);
}
FM_T_WEAK(MPI_T_category_get_categories);

int PMPI_T_category_changed(int *update_number)
{
    FM_T_NEED_READY();
    if (!update_number) {
        return MPI_T_ERR_INVALID;
    }
    *update_number = fm_t_category_update_number();
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_category_changed);

/* ---- 15.3.7: names and descriptions; the rest is in mpit_api_pvar.c ---- */

int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    FM_T_NEED_READY();
    return get_index(FM_T_NAME_PVAR, name, var_class, pvar_index);
}
FM_T_WEAK(MPI_T_pvar_get_index);

int PMPI_T_event_get_index(const char *name, int *event_index)
{
    FM_T_NEED_READY();
    return get_index(FM_T_NAME_EVENT, name, 0, event_index);
}
FM_T_WEAK(MPI_T_event_get_index);
