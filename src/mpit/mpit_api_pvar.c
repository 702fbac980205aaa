/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 15.3.7: performance variables. */
#include "mpit/mpit_api_common.h"

static uint64_t value_of(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

int PMPI_T_pvar_get_num(int *num_pvar)
{
    FM_T_NEED_READY();
    if (!num_pvar) {
        return MPI_T_ERR_INVALID;
    }
    *num_pvar = fm_t_root.n_pvars;
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_pvar_get_num);

int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    const struct fm_t_pvar *v;

    FM_T_NEED_READY();
    if (pvar_index < 0 || pvar_index >= fm_t_root.n_pvars) {
        return MPI_T_ERR_INVALID_INDEX;
    }
    v = &fm_t_root.pvars[pvar_index];
    fm_t_string(v->row->name, name, name_len);
    FM_T_PUT(verbosity, v->row->verbosity ? (int)v->row->verbosity : (int)FATHOM_USER_DETAIL);
    FM_T_PUT(var_class, (int)v->klass);
    FM_T_PUT(datatype, fm_t_datatype(v->type));
    FM_T_PUT(enumtype, (MPI_T_enum)(uintptr_t)v->enum_handle);
    fm_t_string(v->desc, desc, desc_len);
    FM_T_PUT(bind, (int)v->bind);
    FM_T_PUT(readonly, v->is_readonly);
    FM_T_PUT(continuous, v->row->is_continuous);
    FM_T_PUT(atomic, v->is_atomic);
    return MPI_SUCCESS;
}
FM_T_WEAK(MPI_T_pvar_get_info);

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    uint64_t value = 0;
    int rc;

    FM_T_NEED_LOCKS();
    if (!session) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_session_create(&value);
    if (rc == MPI_SUCCESS) {
        *session = (MPI_T_pvar_session)(uintptr_t)value;
    }
    return rc;
}
FM_T_WEAK(MPI_T_pvar_session_create);

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    int rc;

    FM_T_NEED_LOCKS();
    if (!session) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_session_free(value_of(*session));
    if (rc == MPI_SUCCESS) {
        *session = MPI_T_PVAR_SESSION_NULL;
    }
    return rc;
}
FM_T_WEAK(MPI_T_pvar_session_free);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    uint64_t value = 0;
    int n = 0, rc;

    FM_T_NEED_LOCKS();
    if (!handle || !count) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_pvar_alloc(value_of(session), pvar_index, obj_handle, &value, &n);
    if (rc == MPI_SUCCESS) {
        *handle = (MPI_T_pvar_handle)(uintptr_t)value;
        *count = n;
    }
    return rc;
}
FM_T_WEAK(MPI_T_pvar_handle_alloc);

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    int rc;

    FM_T_NEED_LOCKS();
    if (!handle) {
        return MPI_T_ERR_INVALID;
    }
    rc = fm_t_pvar_free(value_of(session), value_of(*handle));
    if (rc == MPI_SUCCESS) {
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    return rc;
}
FM_T_WEAK(MPI_T_pvar_handle_free);

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    FM_T_NEED_READY();
    return fm_t_pvar_start(value_of(session), value_of(handle));
}
FM_T_WEAK(MPI_T_pvar_start);

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    FM_T_NEED_READY();
    return fm_t_pvar_stop(value_of(session), value_of(handle));
}
FM_T_WEAK(MPI_T_pvar_stop);

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    FM_T_NEED_READY();
    if (__builtin_expect(!buf, 0)) {
        return MPI_T_ERR_INVALID;
    }
    return fm_t_pvar_read(value_of(session), value_of(handle), buf);
}
FM_T_WEAK(MPI_T_pvar_read);

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    FM_T_NEED_READY();
    if (!buf) {
        return MPI_T_ERR_INVALID;
    }
    return fm_t_pvar_write(value_of(session), value_of(handle), buf);
}
FM_T_WEAK(MPI_T_pvar_write);

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    FM_T_NEED_READY();
    return fm_t_pvar_reset(value_of(session), value_of(handle));
}
FM_T_WEAK(MPI_T_pvar_reset);

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    FM_T_NEED_READY();
    if (__builtin_expect(!buf, 0)) {
        return MPI_T_ERR_INVALID;
    }
    return fm_t_pvar_readreset(value_of(session), value_of(handle), buf);
}
FM_T_WEAK(MPI_T_pvar_readreset);
