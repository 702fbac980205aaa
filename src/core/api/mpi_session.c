/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions (MPI-5.0 11.3), their error handlers (9.3.5), and what is made of their groups. */
#include "core/api/find.h"

#include <stdio.h>
#include <string.h>

#include "core/object/comm.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/runtime/runtime.h"
#include "core/runtime/session.h"

static int find(const char *call, MPI_Session session, const char *name, const void *out,
                struct fm_session **out_session)
{
    int rc = fm_find_session(call, session, out_session);

    return rc == MPI_SUCCESS ? fm_find_out(*out_session, call, name, out) : rc;
}

/* An error before there is a session goes to the handler that it would have had. */
static int raise_by(struct fm_errhandler *eh, const char *call, int status)
{
    MPI_Session none = MPI_SESSION_NULL;
    int code = fm_error_class_of(status);

    if (eh->type == FM_ERRHANDLER_RETURN) {
        return code;
    }
    if (eh->type == FM_ERRHANDLER_USER) {
        eh->fn.session(&none, &code);
        return code;
    }
    return fm_raise_status(NULL, call, status);
}

static int init(const char *call, MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    struct fm_errhandler *eh = fm_errhandler_get(errhandler);
    struct fm_info *i;
    struct fm_session *s;
    int rc;

    if (!eh || (eh->type == FM_ERRHANDLER_USER && eh->of != FM_KIND_SESSION)) {
        return fm_raise(NULL, call, MPI_ERR_ERRHANDLER,
                        "errhandler is no error handler for a session");
    }
    rc = fm_find_info(NULL, call, info, true, &i);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fm_session_open(i, eh, &s);
    if (rc) {
        return raise_by(eh, call, rc);
    }
    *session = fm_handle_of(s);
    return MPI_SUCCESS;
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    int rc = fm_find_out(NULL, FM_CALL, "session", session);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    fm_runtime_lock_init();
    fm_api_enter(FM_CALL);
    rc = init(FM_CALL, info, errhandler, session);
    fm_runtime_unlock_init(); /* before the callbacks of events, which may call it again */
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_init)

int PMPI_Session_finalize(MPI_Session *session)
{
    struct fm_session *s;
    int rc = fm_find_out(NULL, FM_CALL, "session", session);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    fm_runtime_lock_init();
    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, *session, "session", session, &s);
    if (rc == MPI_SUCCESS) {
        rc = fm_session_close(s);
        rc = rc ? fm_raise_status(s, FM_CALL, rc) : MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS) {
        *session = MPI_SESSION_NULL;
    }
    fm_runtime_unlock_init(); /* before the callbacks of events, which may call it again */
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_finalize)

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    struct fm_session *s;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, session, "npset_names", npset_names, &s);
    if (rc == MPI_SUCCESS) {
        *npset_names = FM_SESSION_N_PSETS;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_get_num_psets)

/* 11.3.3: *pset_len 0 asks for the length alone; a shorter buffer gets a part of the name. */
static void give_name(const char *name, int *pset_len, char *pset_name)
{
    if (*pset_len > 0) {
        snprintf(pset_name, (size_t)*pset_len, "%s", name);
    }
    *pset_len = (int)strlen(name) + 1;
}

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len,
                              char *pset_name)
{
    const char *name = fm_session_pset_name(n);
    struct fm_session *s;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, session, "pset_len", pset_len, &s);
    if (rc == MPI_SUCCESS && !name) {
        rc = fm_raise(s, FM_CALL, MPI_ERR_ARG, "n is %d: there are the process sets 0 to %d", n,
                      FM_SESSION_N_PSETS - 1);
    } else if (rc == MPI_SUCCESS && (*pset_len < 0 || (*pset_len > 0 && !pset_name))) {
        rc = fm_raise(s, FM_CALL, MPI_ERR_ARG, "pset_len is %d and pset_name is %s", *pset_len,
                      pset_name ? "given" : "NULL");
    } else if (rc == MPI_SUCCESS) {
        give_name(name, pset_len, pset_name);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_get_nth_pset)

static int give_info(struct fm_session *s, const char *call, struct fm_info *made, MPI_Info *info)
{
    if (!made) {
        return fm_raise_status(s, call, -FM_E_NOMEM);
    }
    *info = fm_handle_of(made);
    return MPI_SUCCESS;
}

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    struct fm_session *s;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, session, "info_used", info_used, &s);
    if (rc == MPI_SUCCESS) {
        rc = give_info(s, FM_CALL, fm_info_dup(s->info), info_used);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_get_info)

/* The key mpi_size is always there (11.3.3). */
static struct fm_info *pset_info(int n)
{
    struct fm_info *info = fm_info_create();
    char text[16];

    snprintf(text, sizeof(text), "%d", n == 0 ? fm_runtime.pm->size : 1);
    if (info && fm_info_set(info, "mpi_size", text) != 0) {
        fm_info_unref(info);
        info = NULL;
    }
    return info;
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    struct fm_session *s;
    int n = pset_name ? fm_session_pset_find(pset_name) : -1;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, session, "info", info, &s);
    if (rc == MPI_SUCCESS && n < 0) {
        rc = fm_raise(s, FM_CALL, MPI_ERR_ARG,
                      "pset_name is %.80s: MPI_Session_get_nth_pset "
                      "returns their names",
                      pset_name ? pset_name : "NULL");
    } else if (rc == MPI_SUCCESS) {
        rc = give_info(s, FM_CALL, pset_info(n), info);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Session_get_pset_info)

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    int n = pset_name ? fm_session_pset_find(pset_name) : -1;
    struct fm_session *s;
    struct fm_group *group;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find(FM_CALL, session, "newgroup", newgroup, &s);
    if (rc == MPI_SUCCESS && n < 0) {
        *newgroup = MPI_GROUP_NULL; /* no error (7.3.2) */
    } else if (rc == MPI_SUCCESS) {
        rc = fm_session_pset_group(n, &group);
        if (rc) {
            rc = fm_raise_status(s, FM_CALL, rc);
        } else {
            group->session = s;
            *newgroup = fm_handle_of(group);
        }
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_from_session_pset)

/* MPI_Comm_create_from_group for a group that is not empty. */
static int create_comm(const char *call, struct fm_group *group, const char *stringtag,
                       struct fm_errhandler *eh, MPI_Comm *newcomm)
{
    struct fm_comm *made;
    int rc;

    if (group->rank == MPI_UNDEFINED) {
        return fm_raise(fm_session_get(group->session), call, MPI_ERR_GROUP,
                        "the calling process is not in the group: all members call, and no other");
    }
    rc = fm_session_make_comm(group, stringtag, &made);
    if (!rc) {
        rc = fm_errhandler_set(made, eh);
    }
    *newcomm = rc == 0 ? fm_handle_of(made) : MPI_COMM_NULL;
    return rc != 0 ? fm_raise_status(fm_session_get(group->session), call, rc) : MPI_SUCCESS;
}

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                                MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    struct fm_errhandler *eh = fm_errhandler_get(errhandler);
    struct fm_info *i;
    struct fm_session *owner = NULL; /* its handler has the errors (7.4.2) */
    struct fm_group *g;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_group(FM_CALL, group, "group", &g);
    if (rc == MPI_SUCCESS) {
        owner = fm_session_get(g->session);
    }
    rc = rc == MPI_SUCCESS ? fm_find_out(owner, FM_CALL, "newcomm", newcomm) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_info(owner, FM_CALL, info, true, &i) : rc;
    if (rc == MPI_SUCCESS && (!eh || (eh->type == FM_ERRHANDLER_USER && eh->of != FM_KIND_COMM))) {
        rc = fm_raise(owner, FM_CALL, MPI_ERR_ERRHANDLER,
                      "errhandler is no error handler for a communicator");
    } else if (rc == MPI_SUCCESS && (!stringtag || strlen(stringtag) >= MPI_MAX_STRINGTAG_LEN)) {
        rc = fm_raise(owner, FM_CALL, MPI_ERR_ARG,
                      "stringtag is NULL or longer than MPI_MAX_STRINGTAG_LEN - 1 (%d)",
                      MPI_MAX_STRINGTAG_LEN - 1);
    } else if (rc == MPI_SUCCESS && g->size == 0) {
        *newcomm = MPI_COMM_NULL; /* MPI_GROUP_EMPTY (7.4.2) */
    } else if (rc == MPI_SUCCESS) {
        rc = create_comm(FM_CALL, g, stringtag, eh, newcomm);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_create_from_group)

/* The other side, which counts in the leader only (7.6.2); *out_process: its leader. */
static int find_remote_leader(struct fm_session *owner, const char *call, MPI_Group remote_group,
                              int remote_leader, int *out_process)
{
    struct fm_group *remote;
    int rc = fm_find_group_on(owner, call, remote_group, "remote_group", &remote);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (remote_leader < 0 || remote_leader >= remote->size) {
        return fm_raise(owner, call, MPI_ERR_RANK,
                        "remote_leader is %d but remote_group has ranks 0..%d", remote_leader,
                        remote->size - 1);
    }
    *out_process = fm_group_proc(remote, remote_leader);
    return MPI_SUCCESS;
}

static int check_inter(struct fm_session *owner, const char *call, const struct fm_group *local,
                       int local_leader, const char *stringtag, const struct fm_errhandler *eh)
{
    if (!eh || (eh->type == FM_ERRHANDLER_USER && eh->of != FM_KIND_COMM)) {
        return fm_raise(owner, call, MPI_ERR_ERRHANDLER,
                        "errhandler is no error handler for a communicator");
    }
    if (!stringtag || strlen(stringtag) >= MPI_MAX_STRINGTAG_LEN) {
        return fm_raise(owner, call, MPI_ERR_ARG,
                        "stringtag is NULL or longer than MPI_MAX_STRINGTAG_LEN - 1 (%d)",
                        MPI_MAX_STRINGTAG_LEN - 1);
    }
    if (local->rank == MPI_UNDEFINED) {
        return fm_raise(
            owner, call, MPI_ERR_GROUP,
            "the calling process is not in local_group: all members call, and no other");
    }
    if (local_leader < 0 || local_leader >= local->size) {
        return fm_raise(owner, call, MPI_ERR_RANK,
                        "local_leader is %d but local_group has ranks 0..%d", local_leader,
                        local->size - 1);
    }
    return MPI_SUCCESS;
}

static int create_inter(struct fm_session *owner, const char *call, struct fm_group *local,
                        int local_leader, int remote_leader, const char *stringtag,
                        struct fm_errhandler *eh, MPI_Comm *newintercomm)
{
    struct fm_comm *made = NULL;
    int rc = fm_session_make_intercomm(local, local_leader, remote_leader, stringtag, &made);

    if (rc == 0) {
        rc = fm_errhandler_set(made, eh);
    }
    *newintercomm = rc == 0 ? fm_handle_of(made) : MPI_COMM_NULL;
    if (rc == -FM_E_INVAL) {
        return fm_raise(owner, call, MPI_ERR_GROUP, "%s", fm_why());
    }
    return rc != 0 ? fm_raise_status(owner, call, rc) : MPI_SUCCESS;
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                      MPI_Group remote_group, int remote_leader,
                                      const char *stringtag, MPI_Info info,
                                      MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    struct fm_errhandler *eh = fm_errhandler_get(errhandler);
    struct fm_session *owner = NULL;
    struct fm_group *local;
    struct fm_info *i;
    int rc, leader = 0;

    fm_api_enter(FM_CALL);
    rc = fm_find_group(FM_CALL, local_group, "local_group", &local);
    if (rc == MPI_SUCCESS) {
        owner = fm_session_get(local->session);
    }
    rc = rc == MPI_SUCCESS ? fm_find_out(owner, FM_CALL, "newintercomm", newintercomm) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_info(owner, FM_CALL, info, true, &i) : rc;
    rc = rc == MPI_SUCCESS ? check_inter(owner, FM_CALL, local, local_leader, stringtag, eh) : rc;
    if (rc == MPI_SUCCESS && local->rank == local_leader) {
        rc = find_remote_leader(owner, FM_CALL, remote_group, remote_leader, &leader);
    }
    rc = rc == MPI_SUCCESS ? create_inter(owner, FM_CALL, local, local_leader, leader, stringtag,
                                          eh, newintercomm)
                           : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Intercomm_create_from_groups)
