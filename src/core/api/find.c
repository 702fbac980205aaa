/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups of arguments. */
#include "core/api/find.h"

#include "core/object/comm.h"
#include "core/object/group.h"
#include "core/object/info.h"

int fm_find_out(void *object, const char *call, const char *name, const void *out)
{
    if (FM_LIKELY(out)) {
        return MPI_SUCCESS;
    }
    return fm_raise(object, call, MPI_ERR_ARG, "%s is NULL: pass the address of the output", name);
}

int fm_find_comm(const char *call, MPI_Comm comm, struct fm_comm **out_comm)
{
    struct fm_comm *c = fm_comm_get(comm);

    if (!c || c->is_freed) {
        return fm_raise_handle(FM_KIND_COMM, call, comm, "comm");
    }
    *out_comm = c;
    return MPI_SUCCESS;
}

int fm_find_comm_for(const char *call, MPI_Comm comm, const char *name, const void *out,
                     struct fm_comm **out_comm)
{
    int rc = fm_find_comm(call, comm, out_comm);

    return rc == MPI_SUCCESS ? fm_find_out(*out_comm, call, name, out) : rc;
}

int fm_find_intracomm(const char *call, MPI_Comm comm, const char *name, const void *out,
                      struct fm_comm **out_comm)
{
    int rc = fm_find_comm_for(call, comm, name, out, out_comm);

    if (rc == MPI_SUCCESS && (*out_comm)->is_inter) {
        return fm_raise(*out_comm, call, MPI_ERR_COMM,
                        "comm is an intercommunicator, which this function does not take");
    }
    return rc;
}

int fm_find_session(const char *call, MPI_Session session, struct fm_session **out_session)
{
    struct fm_session *s = fm_session_get(session);

    if (!s) {
        return fm_raise_handle(FM_KIND_SESSION, call, session, "session");
    }
    *out_session = s;
    return MPI_SUCCESS;
}

int fm_find_group_on(void *object, const char *call, MPI_Group group, const char *argument,
                     struct fm_group **out_group)
{
    struct fm_group *g = fm_group_get(group);

    if (!g) {
        return fm_raise_handle_on(object, FM_KIND_GROUP, call, group, argument);
    }
    *out_group = g;
    return MPI_SUCCESS;
}

int fm_find_group(const char *call, MPI_Group group, const char *argument,
                  struct fm_group **out_group)
{
    return fm_find_group_on(NULL, call, group, argument, out_group);
}

int fm_find_info(void *object, const char *call, MPI_Info info, bool may_be_null,
                 struct fm_info **out_info)
{
    struct fm_info *i = fm_info_get(info);

    if (!i && !(may_be_null && info == MPI_INFO_NULL)) {
        return object ? fm_raise(object, call, MPI_ERR_INFO,
                                 "info is no info object: never made, or freed already")
                      : fm_raise_handle(FM_KIND_INFO, call, info, "info");
    }
    *out_info = i;
    return MPI_SUCCESS;
}
