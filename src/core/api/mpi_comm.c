/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators (MPI-5.0 7.4, 7.6, 7.8). */
#include "core/api/find.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "core/coll/coll.h"
#include "core/comm/comm_make.h"
#include "core/comm/idup.h"
#include "core/comm/intercomm.h"
#include "core/object/attr.h"
#include "core/object/comm.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/object/request.h"
#include "core/p2p/wait.h"
#include "core/runtime/locality.h"
#include "core/topo/topo.h"

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "size", size, &c);
    if (rc == MPI_SUCCESS) {
        *size = c->size;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_size)

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "rank", rank, &c);
    if (rc == MPI_SUCCESS) {
        *rank = c->rank;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_rank)

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "flag", flag, &c);
    if (rc == MPI_SUCCESS) {
        *flag = c->is_inter;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_test_inter)

static int find_intercomm(const char *call, MPI_Comm comm, const char *name, const void *out,
                          struct fm_comm **out_comm)
{
    int rc = fm_find_comm_for(call, comm, name, out, out_comm);

    if (rc == MPI_SUCCESS && !(*out_comm)->is_inter) {
        return fm_raise(*out_comm, call, MPI_ERR_COMM,
                        "comm is an intracommunicator, which has no remote group");
    }
    return rc;
}

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_intercomm(FM_CALL, comm, "size", size, &c);
    if (rc == MPI_SUCCESS) {
        *size = c->n_remote;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_remote_size)

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_intercomm(FM_CALL, comm, "group", group, &c);
    if (rc == MPI_SUCCESS) {
        *group = fm_handle_of(fm_object_ref(c->remote_group));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_remote_group)

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    struct fm_comm *a, *b;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm1, "result", result, &a);
    rc = rc == MPI_SUCCESS ? fm_find_comm(FM_CALL, comm2, &b) : rc;
    if (rc == MPI_SUCCESS) {
        rc = fm_raise_status(a, FM_CALL, fm_comm_make_compare(a, b, result));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_compare)

/* Hand out a new communicator, MPI_COMM_NULL where this process has none, or raise the failure. */
static int finish(struct fm_comm *origin, const char *call, int rc, struct fm_comm *made,
                  MPI_Comm *newcomm)
{
    *newcomm = rc == 0 && made ? fm_handle_of(made) : MPI_COMM_NULL;
    return rc != 0 ? fm_raise_status(origin, call, rc) : MPI_SUCCESS;
}

/* The hints that the standard defines for communicators (MPI-5.0 7.4.4), all false by default. The
   library obeys the order of messages in any case; it keeps the values of the user. */
static const char *const hints[] = {
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
};

static int keep_hints(struct fm_comm *c, const struct fm_info *from)
{
    int rc = 0;

    for (size_t i = 0; from && rc == 0 && i < FM_ARRAY_LEN(hints); i++) {
        const char *value = fm_info_find(from, hints[i]);

        if (!value || (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)) {
            continue;
        }
        c->info = c->info ? c->info : fm_info_create();
        rc = c->info ? fm_info_set(c->info, hints[i], value) : -FM_E_NOMEM;
    }
    return rc;
}

static int dup_with(const char *call, struct fm_comm *c, const struct fm_info *info,
                    MPI_Comm *newcomm)
{
    struct fm_comm *made = NULL;
    int rc = c->is_inter ? fm_intercomm_dup(c, &made) : fm_comm_make_dup(c, &made);

    if (rc == 0) {
        fm_topo_share(c, made);
        rc = keep_hints(made, info);
    }
    return finish(c, call, rc, made, newcomm);
}

/* Hints are not handed on (MPI-5.0 7.4.2). */
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    if (rc == MPI_SUCCESS) {
        rc = dup_with(FM_CALL, c, NULL, newcomm);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_dup)

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    struct fm_comm *c;
    struct fm_info *i;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_info(c, FM_CALL, info, true, &i) : rc;
    if (rc == MPI_SUCCESS) {
        rc = dup_with(FM_CALL, c, i, newcomm);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_dup_with_info)

/* The user's copy callbacks, the hints and the topology count as they are now (7.4.2). */
static int idup_with(const char *call, struct fm_comm *c, const struct fm_info *info,
                     MPI_Comm *newcomm, MPI_Request *request)
{
    struct fm_comm *made = NULL;
    struct fm_request *r = NULL;
    int rc = fm_idup_make(c, &made);

    if (rc == 0) {
        fm_topo_share(c, made);
        rc = keep_hints(made, info);
        if (rc != 0) {
            fm_idup_drop(made);
        }
    }
    rc = rc == 0 ? fm_idup_start(c, made, &r) : rc;
    *newcomm = rc == 0 ? fm_handle_of(made) : MPI_COMM_NULL;
    *request = rc == 0 ? fm_handle_of(r) : MPI_REQUEST_NULL;
    return rc != 0 ? fm_raise_status(c, call, rc) : MPI_SUCCESS;
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "request", request) : rc;
    rc = rc == MPI_SUCCESS ? idup_with(FM_CALL, c, NULL, newcomm, request) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_idup)

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    struct fm_comm *c;
    struct fm_info *i;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "request", request) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_info(c, FM_CALL, info, true, &i) : rc;
    rc = rc == MPI_SUCCESS ? idup_with(FM_CALL, c, i, newcomm, request) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_idup_with_info)

static int check_members(const char *call, const struct fm_comm *c, const struct fm_group *g)
{
    for (int i = 0; i < g->size; i++) {
        if (fm_group_rank_of(c->group, fm_group_proc(g, i)) == MPI_UNDEFINED) {
            return fm_raise((void *)c, call, MPI_ERR_GROUP,
                            "rank %d of the group is not a member of communicator '%s'", i,
                            c->name);
        }
    }
    return MPI_SUCCESS;
}

int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct fm_comm *c, *made = NULL;
    struct fm_group *g;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_group_on(c, FM_CALL, group, "group", &g) : rc;
    rc = rc == MPI_SUCCESS ? check_members(FM_CALL, c, g) : rc;
    if (rc == MPI_SUCCESS) {
        rc = c->is_inter ? fm_intercomm_make(c, g, &made) : fm_comm_make_create(c, g, &made);
        rc = finish(c, FM_CALL, rc, made, newcomm);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_create)

static int create_group(const char *call, struct fm_comm *c, struct fm_group *g, int tag,
                        MPI_Comm *newcomm)
{
    struct fm_comm *made = NULL;
    int rc;

    if (tag < 0) {
        return fm_raise(c, call, MPI_ERR_TAG, "tag is %d, it must not be negative", tag);
    }
    if (g->size > 0 && g->rank < 0) {
        return fm_raise(c, call, MPI_ERR_GROUP, "the caller is not a member of the group");
    }
    rc = g->size > 0 ? fm_comm_make_create_group(c, g, tag, &made) : 0;
    return finish(c, call, rc, made, newcomm);
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct fm_comm *c;
    struct fm_group *g;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_intracomm(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_group_on(c, FM_CALL, group, "group", &g) : rc;
    rc = rc == MPI_SUCCESS ? check_members(FM_CALL, c, g) : rc;
    rc = rc == MPI_SUCCESS ? create_group(FM_CALL, c, g, tag, newcomm) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_create_group)

static int split(const char *call, struct fm_comm *c, int color, int key, MPI_Comm *newcomm)
{
    struct fm_comm *made = NULL;
    int rc;

    if (color < 0 && color != MPI_UNDEFINED) {
        return fm_raise(c, call, MPI_ERR_ARG,
                        "color is %d: it must be MPI_UNDEFINED or not negative", color);
    }
    rc = c->is_inter ? fm_intercomm_split(c, color, key, &made)
                     : fm_comm_make_split(c, color, key, &made);
    return finish(c, call, rc, made, newcomm);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? split(FM_CALL, c, color, key, newcomm) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_split)

/* A resource by name (7.4.2): of the standard, or of hwloc. */
static int color_of_resource(const struct fm_comm *c, const char *resource)
{
    if (strcmp(resource, "mpi_shared_memory") == 0) {
        return fm_root.node_of ? fm_root.node_of[fm_group_proc(c->group, c->rank)] : 0;
    }
    return fm_locality_color(resource);
}

/* A set of processes by name: the world, or each process by itself. */
static int color_of_pset(const struct fm_comm *c, const char *name)
{
    static const char *const names[] = {"mpi://WORLD", "mpi://SELF"};

    if (strcasecmp(name, names[0]) == 0) {
        return 0;
    }
    return strcasecmp(name, names[1]) == 0 ? 1 + c->rank : MPI_UNDEFINED;
}

/* Who is guided by nothing, or by what is not known, gets MPI_COMM_NULL. */
static int color_of_type(const struct fm_comm *c, int type, const struct fm_info *info)
{
    const char *resource = info ? fm_info_find(info, "mpi_hw_resource_type") : NULL;
    const char *pset = info ? fm_info_find(info, "mpi_pset_name") : NULL;

    if (type == MPI_COMM_TYPE_SHARED) {
        return color_of_resource(c, "mpi_shared_memory");
    }
    if (type == MPI_UNDEFINED) {
        return MPI_UNDEFINED;
    }
    if (resource) {
        return color_of_resource(c, resource);
    }
    return pset && type == MPI_COMM_TYPE_RESOURCE_GUIDED ? color_of_pset(c, pset) : MPI_UNDEFINED;
}

/*
 * The one type that ranks pass, MPI_UNDEFINED if all of them do (7.4.2). A rank that does not take
 * part cannot know which collective steps a type asks for, so all ranks agree on it first; a
 * mistake is an error on all of them then.
 */
static int agree_on_type(const char *call, struct fm_comm *c, int type, int *out_type)
{
    /* The largest of both is the largest and, negated, the smallest type. */
    int mine[2] = {type == MPI_UNDEFINED ? INT_MIN : type, type == MPI_UNDEFINED ? INT_MIN : -type};
    int here[2], there[2] = {INT_MIN, INT_MIN};
    const struct fm_buf to_here = {here, 2, fm_dtype_get(MPI_INT)};
    const struct fm_buf to_there = {there, 2, fm_dtype_get(MPI_INT)};
    struct fm_op *op = fm_op_get(MPI_MAX);
    int rc = fm_allreduce(mine, &to_here, op, c->is_inter ? c->local_comm : c);

    if (rc == 0 && c->is_inter) {
        rc = fm_allreduce(mine, &to_there, op, c);
    }
    if (rc != 0) {
        return fm_raise_status(c, call, rc);
    }
    for (int i = 0; i < 2; i++) {
        here[i] = here[i] > there[i] ? here[i] : there[i];
    }
    if (here[0] == INT_MIN) {
        *out_type = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (here[0] != -here[1]) {
        return fm_raise(c, call, MPI_ERR_ARG,
                        "split_type is not the same on all ranks, there are %d and %d: a rank that "
                        "does not take part passes MPI_UNDEFINED",
                        -here[1], here[0]);
    }
    *out_type = here[0];
    return MPI_SUCCESS;
}

/* By the outermost hardware that divides comm, whose type is written to the info. */
static int split_unguided(const char *call, struct fm_comm *c, bool takes_part, int key,
                          struct fm_info *info, MPI_Comm *newcomm)
{
    const char *type_name;
    int color;
    int rc = fm_locality_divide(c, takes_part, &color, &type_name);

    if (rc != 0) {
        return fm_raise_status(c, call, rc);
    }
    rc = split(call, c, color, key, newcomm);
    if (rc == MPI_SUCCESS && info && color != MPI_UNDEFINED &&
        fm_info_set(info, "mpi_hw_resource_type", type_name) != 0) {
        return fm_raise_status(c, call, -FM_E_NOMEM);
    }
    return rc;
}

static int split_type(const char *call, struct fm_comm *c, int type, int key, struct fm_info *info,
                      MPI_Comm *newcomm)
{
    int common = MPI_UNDEFINED, rc;

    if (type != MPI_UNDEFINED &&
        (type < MPI_COMM_TYPE_SHARED || type > MPI_COMM_TYPE_RESOURCE_GUIDED)) {
        return fm_raise(c, call, MPI_ERR_ARG, "split_type is %d, which is no MPI_COMM_TYPE_", type);
    }
    rc = agree_on_type(call, c, type, &common);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (common == MPI_COMM_TYPE_HW_UNGUIDED) {
        return split_unguided(call, c, type != MPI_UNDEFINED, key, info, newcomm);
    }
    return split(call, c, color_of_type(c, type, info), key, newcomm);
}

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct fm_comm *c;
    struct fm_info *i;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "newcomm", newcomm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_info(c, FM_CALL, info, true, &i) : rc;
    rc = rc == MPI_SUCCESS ? split_type(FM_CALL, c, type, key, i, newcomm) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_split_type)

static int check_freeable(const char *call, struct fm_comm *c)
{
    if (c->head.handle) {
        return fm_raise(c, call, MPI_ERR_COMM,
                        "comm is '%s', which lives until MPI_Finalize: do not free it", c->name);
    }
    return MPI_SUCCESS;
}

static int let_go(const char *call, struct fm_comm *c)
{
    int rc = check_freeable(call, c);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fm_attr_delete_all(FM_KIND_COMM, c, &c->attrs);
    if (rc != 0) {
        return fm_raise_status(c, call, rc);
    }
    c->is_freed = true;
    fm_comm_unref(c);
    return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "comm", comm);
    rc = rc == MPI_SUCCESS ? fm_find_comm(FM_CALL, *comm, &c) : rc;
    rc = rc == MPI_SUCCESS ? let_go(FM_CALL, c) : rc;
    if (rc == MPI_SUCCESS) {
        *comm = MPI_COMM_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_free)

/* Is no operation under way on it? Of what is complete a handle may be left. */
static bool is_quiet(void *comm)
{
    struct fm_object *o = NULL;

    if (((struct fm_object *)comm)->refs == 1) {
        return true;
    }
    while ((o = fm_handle_next(FM_KIND_REQUEST, o)) != NULL) {
        const struct fm_request *r = (const struct fm_request *)o;

        if (r->comm == comm && !r->is_done && r->is_active) {
            return false;
        }
    }
    return true;
}

/*
 * 11.10.4: as MPI_Comm_free, after what is pending is complete inside. The user sees to it that all
 * messages are matched. Behind the barrier no rank needs this one any more.
 */
static int disconnect(const char *call, struct fm_comm *c)
{
    int rc = check_freeable(call, c);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fm_wait_until(c->ch, is_quiet, c);
    rc = rc == 0 ? fm_barrier(c) : rc;
    return rc != 0 ? fm_raise_status(c, call, rc) : let_go(call, c);
}

int PMPI_Comm_disconnect(MPI_Comm *comm)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "comm", comm);
    rc = rc == MPI_SUCCESS ? fm_find_comm(FM_CALL, *comm, &c) : rc;
    rc = rc == MPI_SUCCESS ? disconnect(FM_CALL, c) : rc;
    if (rc == MPI_SUCCESS) {
        *comm = MPI_COMM_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_disconnect)

int PMPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm(FM_CALL, comm, &c);
    if (rc == MPI_SUCCESS && !comm_name) {
        rc = fm_raise(c, FM_CALL, MPI_ERR_ARG, "comm_name is NULL: pass a string");
    } else if (rc == MPI_SUCCESS) {
        fm_comm_set_name(c, comm_name);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_set_name)

int PMPI_Comm_get_name(MPI_Comm comm, char *comm_name, int *resultlen)
{
    /* The null handle has a name too (MPI-5.0 7.8). */
    static const char null_name[] = "MPI_COMM_NULL";
    struct fm_comm *c = NULL;
    const char *name = null_name;
    int rc = MPI_SUCCESS;

    fm_api_enter(FM_CALL);
    if (comm != MPI_COMM_NULL || fm_root.phase != FM_PHASE_RUNNING) {
        rc = fm_find_comm(FM_CALL, comm, &c);
        name = rc == MPI_SUCCESS ? c->name : "";
    }
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "comm_name", comm_name) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(c, FM_CALL, "resultlen", resultlen) : rc;
    if (rc == MPI_SUCCESS) {
        *resultlen = (int)strlen(name);
        memcpy(comm_name, name, (size_t)*resultlen + 1);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_get_name)

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    struct fm_comm *c;
    struct fm_info *i;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm(FM_CALL, comm, &c);
    rc = rc == MPI_SUCCESS ? fm_find_info(c, FM_CALL, info, false, &i) : rc;
    rc = rc == MPI_SUCCESS ? fm_raise_status(c, FM_CALL, keep_hints(c, i)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_set_info)

static int used_hints(const struct fm_comm *c, struct fm_info **out_info)
{
    struct fm_info *info = fm_info_create();
    int rc = info ? 0 : -FM_E_NOMEM;

    for (size_t i = 0; rc == 0 && i < FM_ARRAY_LEN(hints); i++) {
        const char *value = c->info ? fm_info_find(c->info, hints[i]) : NULL;

        rc = fm_info_set(info, hints[i], value ? value : "false");
    }
    if (rc != 0) {
        fm_info_unref(info);
        return rc;
    }
    *out_info = info;
    return 0;
}

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
    struct fm_comm *c;
    struct fm_info *info = NULL;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "info_used", info_used, &c);
    rc = rc == MPI_SUCCESS ? fm_raise_status(c, FM_CALL, used_hints(c, &info)) : rc;
    if (rc == MPI_SUCCESS) {
        *info_used = fm_handle_of(info);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_get_info)
