/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes, hints and names of windows (MPI-5.0 7.7.3, 7.8, 12.2.6, 12.2.7). */
#include <string.h>

#include "core/api/win_args.h"
#include "core/object/attr.h"
#include "core/object/info.h"

/* ---- attributes ---- */

/* Is it a predefined keyval? Then its value: an address, in the window itself for all but the base
   (12.2.6). */
static bool predefined(struct fm_win *w, int keyval, void **out_value)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        *out_value =
            w->flavor == MPI_WIN_FLAVOR_DYNAMIC ? MPI_BOTTOM : w->targets[w->comm->rank].base;
        return true;
    case MPI_WIN_SIZE:
        *out_value = &w->size_attr;
        return true;
    case MPI_WIN_DISP_UNIT:
        *out_value = &w->unit_attr;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *out_value = &w->flavor;
        return true;
    case MPI_WIN_MODEL:
        *out_value = &w->model;
        return true;
    default:
        return false;
    }
}

static int raise_attr(struct fm_win *w, const char *call, int rc)
{
    if (rc == -FM_E_NOENT) {
        return fm_raise(w, call, MPI_ERR_KEYVAL, "%s", fm_why());
    }
    return fm_raise_status(w, call, rc);
}

static bool is_predefined(int keyval)
{
    return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL;
}
_Static_assert(MPI_WIN_MODEL == MPI_WIN_BASE + 4, "one range");

static int refuse_predefined(struct fm_win *w, const char *call, int keyval)
{
    if (!is_predefined(keyval)) {
        return MPI_SUCCESS;
    }
    return fm_raise(w, call, MPI_ERR_KEYVAL, "keyval %d is predefined: it cannot be changed",
                    keyval);
}

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    const struct fm_keyval_fns fns = {(void *)win_copy_attr_fn, (void *)win_delete_attr_fn,
                                      extra_state};
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "win_keyval", win_keyval);
    if (rc == MPI_SUCCESS && fm_root.phase != FM_PHASE_RUNNING) {
        rc = fm_raise_handle(FM_KIND_WIN, FM_CALL, NULL, "win");
    }
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(NULL, FM_CALL, fm_keyval_create(FM_KIND_WIN, &fns, win_keyval));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_create_keyval)

int PMPI_Win_free_keyval(int *win_keyval)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "win_keyval", win_keyval);
    rc = rc == MPI_SUCCESS ? refuse_predefined(NULL, FM_CALL, *win_keyval) : rc;
    if (rc == MPI_SUCCESS) {
        rc = raise_attr(NULL, FM_CALL, fm_keyval_free(FM_KIND_WIN, *win_keyval));
    }
    if (rc == MPI_SUCCESS) {
        *win_keyval = MPI_KEYVAL_INVALID;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_free_keyval)

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? refuse_predefined(w, FM_CALL, win_keyval) : rc;
    if (rc == MPI_SUCCESS) {
        rc = raise_attr(w, FM_CALL,
                        fm_attr_set(FM_KIND_WIN, w, &w->attrs, win_keyval, attribute_val));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_set_attr)

static int get_attr(const char *call, MPI_Win win, int keyval, void *out_value, int *flag)
{
    bool is_found = false;
    struct fm_win *w;
    void *value;
    int rc = fm_find_win_for(call, win, "attribute_val", out_value, &w);

    rc = rc == MPI_SUCCESS ? fm_find_out(w, call, "flag", flag) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (predefined(w, keyval, &value)) {
        *(void **)out_value = value;
        *flag = 1;
        return MPI_SUCCESS;
    }
    rc = fm_attr_get(FM_KIND_WIN, w->attrs, keyval, out_value, &is_found);
    if (rc != 0) {
        return raise_attr(w, call, rc);
    }
    *flag = is_found;
    return MPI_SUCCESS;
}

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = get_attr(FM_CALL, win, win_keyval, attribute_val, flag);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_get_attr)

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? refuse_predefined(w, FM_CALL, win_keyval) : rc;
    if (rc == MPI_SUCCESS) {
        rc = raise_attr(w, FM_CALL, fm_attr_delete(FM_KIND_WIN, w, &w->attrs, win_keyval));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_delete_attr)

/* ---- hints ---- */

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct fm_info *i;
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? fm_find_info(w, FM_CALL, info, false, &i) : rc;
    rc = rc == MPI_SUCCESS ? fm_raise_status(w, FM_CALL, fm_win_set_hints(w, i)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_set_info)

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win_for(FM_CALL, win, "info_used", info_used, &w);
    if (rc == MPI_SUCCESS) {
        struct fm_info *copy = fm_info_dup(w->info);

        rc = copy ? MPI_SUCCESS : fm_raise_status(w, FM_CALL, -FM_E_NOMEM);
        *info_used = copy ? fm_handle_of(copy) : MPI_INFO_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_get_info)

/* ---- names ---- */

int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win_for(FM_CALL, win, "win_name", win_name, &w);
    rc = rc == MPI_SUCCESS ? fm_raise_status(w, FM_CALL, fm_win_set_name(w, win_name)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_set_name)

int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    /* The null handle has a name, too (7.8). */
    const char *name = "MPI_WIN_NULL";
    struct fm_win *w = NULL;
    int rc = MPI_SUCCESS;

    fm_api_enter(FM_CALL);
    if (win != MPI_WIN_NULL || fm_root.phase != FM_PHASE_RUNNING) {
        rc = fm_find_win(FM_CALL, win, &w);
        name = rc == MPI_SUCCESS ? w->name : "";
    }
    rc = rc == MPI_SUCCESS ? fm_find_out(w, FM_CALL, "win_name", win_name) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(w, FM_CALL, "resultlen", resultlen) : rc;
    if (rc == MPI_SUCCESS) {
        *resultlen = (int)strlen(name);
        memcpy(win_name, name, (size_t)*resultlen + 1);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_get_name)
