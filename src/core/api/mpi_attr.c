/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators (MPI-5.0 7.7.2), the predefined ones (9.1.2), and the old names for
   the same (16.1). */
#include "core/api/find.h"

#include <limits.h>

#include "core/object/attr.h"
#include "core/object/comm.h"
#include "core/runtime/runtime.h"

/* The user gets addresses of these; guarded by the library lock. */
static int tag_ub = INT_MAX;     /* the wire carries all that an int holds */
static int host = MPI_PROC_NULL; /* there is no host process */
static int io = MPI_ANY_SOURCE;  /* every rank can do I/O */
static int wtime_is_global;      /* clocks of nodes are not in step */
/* Filled in when asked for; guarded like the rest. */
static int appnum;
static int last_used_code;
static int universe_size;

/* Is it a predefined keyval? Then its value, NULL if it has none here. */
static bool predefined(int keyval, int **out_value)
{
    switch (keyval) {
    case MPI_TAG_UB:
        *out_value = &tag_ub;
        return true;
    case MPI_HOST:
        *out_value = &host;
        return true;
    case MPI_IO:
        *out_value = &io;
        return true;
    case MPI_WTIME_IS_GLOBAL:
        *out_value = &wtime_is_global;
        return true;
    case MPI_LASTUSEDCODE:
        last_used_code = fm_error_last_used();
        *out_value = &last_used_code;
        return true;
    case MPI_APPNUM:
        appnum = fm_runtime.pm->appnum;
        *out_value = appnum >= 0 ? &appnum : NULL;
        return true;
    case MPI_UNIVERSE_SIZE:
        universe_size = fm_runtime.pm->universe_size;
        *out_value = universe_size >= 0 ? &universe_size : NULL;
        return true;
    default:
        return false;
    }
}

static int raise_attr(struct fm_comm *c, const char *call, int rc)
{
    if (rc == -FM_E_NOENT) {
        return fm_raise(c, call, MPI_ERR_KEYVAL, "%s", fm_why());
    }
    return fm_raise_status(c, call, rc);
}

static int refuse_predefined(struct fm_comm *c, const char *call, int keyval)
{
    int *value;

    if (!predefined(keyval, &value)) {
        return MPI_SUCCESS;
    }
    return fm_raise(c, call, MPI_ERR_KEYVAL, "keyval %d is predefined: it cannot be changed",
                    keyval);
}

static int create(const char *call, const struct fm_keyval_fns *fns, int *keyval)
{
    int rc;

    if (fm_root.phase != FM_PHASE_RUNNING) {
        return fm_raise_handle(FM_KIND_COMM, call, NULL, "comm");
    }
    rc = fm_find_out(NULL, call, "the keyval", keyval);
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(NULL, call, fm_keyval_create(FM_KIND_COMM, fns, keyval));
    }
    return rc;
}

static int let_go(const char *call, int *keyval)
{
    int rc = fm_find_out(NULL, call, "the keyval", keyval);

    rc = rc == MPI_SUCCESS ? refuse_predefined(NULL, call, *keyval) : rc;
    rc = rc == MPI_SUCCESS ? raise_attr(NULL, call, fm_keyval_free(FM_KIND_COMM, *keyval)) : rc;
    if (rc == MPI_SUCCESS) {
        *keyval = MPI_KEYVAL_INVALID;
    }
    return rc;
}

static int set(const char *call, MPI_Comm comm, int keyval, void *value)
{
    struct fm_comm *c;
    int rc = fm_find_comm(call, comm, &c);

    rc = rc == MPI_SUCCESS ? refuse_predefined(c, call, keyval) : rc;
    if (rc == MPI_SUCCESS) {
        rc = raise_attr(c, call, fm_attr_set(FM_KIND_COMM, c, &c->attrs, keyval, value));
    }
    return rc;
}

static int get(const char *call, MPI_Comm comm, int keyval, void *out_value, int *flag)
{
    struct fm_comm *c;
    int *fixed, rc = fm_find_comm_for(call, comm, "attribute_val", out_value, &c);
    bool is_found = false;

    rc = rc == MPI_SUCCESS ? fm_find_out(c, call, "flag", flag) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (predefined(keyval, &fixed)) {
        *flag = fixed != NULL;
        if (fixed) {
            *(void **)out_value = fixed;
        }
        return MPI_SUCCESS;
    }
    rc = fm_attr_get(FM_KIND_COMM, c->attrs, keyval, out_value, &is_found);
    if (rc != 0) {
        return raise_attr(c, call, rc);
    }
    *flag = is_found;
    return MPI_SUCCESS;
}

static int unset(const char *call, MPI_Comm comm, int keyval)
{
    struct fm_comm *c;
    int rc = fm_find_comm(call, comm, &c);

    rc = rc == MPI_SUCCESS ? refuse_predefined(c, call, keyval) : rc;
    if (rc == MPI_SUCCESS) {
        rc = raise_attr(c, call, fm_attr_delete(FM_KIND_COMM, c, &c->attrs, keyval));
    }
    return rc;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                            void *extra_state)
{
    const struct fm_keyval_fns fns = {(void *)comm_copy_attr_fn, (void *)comm_delete_attr_fn,
                                      extra_state};
    int rc;

    fm_api_enter(FM_CALL);
    rc = create(FM_CALL, &fns, comm_keyval);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_create_keyval)

int PMPI_Comm_free_keyval(int *comm_keyval)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = let_go(FM_CALL, comm_keyval);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_free_keyval)

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = set(FM_CALL, comm, comm_keyval, attribute_val);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_set_attr)

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = get(FM_CALL, comm, comm_keyval, attribute_val, flag);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_get_attr)

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = unset(FM_CALL, comm, comm_keyval);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_delete_attr)

int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
                       void *extra_state)
{
    const struct fm_keyval_fns fns = {(void *)copy_fn, (void *)delete_fn, extra_state};
    int rc;

    fm_api_enter(FM_CALL);
    rc = create(FM_CALL, &fns, keyval);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Keyval_create)

int PMPI_Keyval_free(int *keyval)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = let_go(FM_CALL, keyval);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Keyval_free)

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = set(FM_CALL, comm, keyval, attribute_val);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Attr_put)

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = get(FM_CALL, comm, keyval, attribute_val, flag);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Attr_get)

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = unset(FM_CALL, comm, keyval);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Attr_delete)
