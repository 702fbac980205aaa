/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups (MPI-5.0 7.3). All are local. */
#include "core/api/find.h"

#include <stdlib.h>

#include "core/object/comm.h"
#include "core/object/group.h"
#include "util/status.h"

/* MPI-5.0 7.3.2: the empty group is returned as MPI_GROUP_EMPTY. */
static MPI_Group handle_of(struct fm_group *group)
{
    if (group->size == 0) {
        fm_group_unref(group);
        return MPI_GROUP_EMPTY;
    }
    return fm_handle_of(group);
}

/* Whose handler has the errors of calls on a group: that of the session which it comes from while
   that lives, else NULL (MPI-5.0 9.3). */
static struct fm_session *owner(const struct fm_group *group)
{
    return group->session ? fm_session_get(group->session) : NULL;
}

/* A group was made of `group`. */
static int finish(const char *call, int rc, const struct fm_group *group, struct fm_group *made,
                  MPI_Group *newgroup)
{
    if (rc != 0) {
        return fm_raise_status(owner(group), call, rc);
    }
    *newgroup = handle_of(made);
    return MPI_SUCCESS;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
    struct fm_group *g;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_group(FM_CALL, group, "group", &g);
    rc = rc == MPI_SUCCESS ? fm_find_out(owner(g), FM_CALL, "size", size) : rc;
    if (rc == MPI_SUCCESS) {
        *size = g->size;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_size)

int PMPI_Group_rank(MPI_Group group, int *rank)
{
    struct fm_group *g;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_group(FM_CALL, group, "group", &g);
    rc = rc == MPI_SUCCESS ? fm_find_out(owner(g), FM_CALL, "rank", rank) : rc;
    if (rc == MPI_SUCCESS) {
        *rank = g->rank;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_rank)

static int translate(const char *call, MPI_Group group1, int n, const int *ranks1, MPI_Group group2,
                     int *ranks2)
{
    struct fm_group *from, *to;
    int rc = fm_find_group(call, group1, "group1", &from);

    rc = rc == MPI_SUCCESS ? fm_find_group(call, group2, "group2", &to) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (n < 0 || (n > 0 && (!ranks1 || !ranks2))) {
        return fm_raise(owner(from), call, MPI_ERR_ARG,
                        n < 0 ? "n is %d, it must not be negative" : "ranks is NULL but n is %d",
                        n);
    }
    for (int i = 0; i < n; i++) {
        if (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= from->size)) {
            return fm_raise(owner(from), call, MPI_ERR_RANK,
                            "ranks1[%d] is %d but group1 has ranks 0..%d", i, ranks1[i],
                            from->size - 1);
        }
    }
    rc = fm_group_translate(from, n, ranks1, to, ranks2);
    return rc == 0 ? MPI_SUCCESS : fm_raise_status(owner(from), call, rc);
}

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                               int ranks2[])
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = translate(FM_CALL, group1, n, ranks1, group2, ranks2);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_translate_ranks)

/* Both groups of an operation, and its output. */
static int find_two(const char *call, const MPI_Group handles[2], const void *out,
                    struct fm_group *groups[2])
{
    int rc = fm_find_group(call, handles[0], "group1", &groups[0]);

    rc = rc == MPI_SUCCESS ? fm_find_group(call, handles[1], "group2", &groups[1]) : rc;
    return rc == MPI_SUCCESS ? fm_find_out(owner(groups[0]), call, "the last argument", out) : rc;
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    const MPI_Group handles[2] = {group1, group2};
    struct fm_group *g[2];
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_two(FM_CALL, handles, result, g);
    if (rc == MPI_SUCCESS) {
        rc = fm_group_compare(g[0], g[1], result);
        rc = fm_raise_status(owner(g[0]), FM_CALL, rc);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_compare)

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    struct fm_comm *c;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_comm_for(FM_CALL, comm, "group", group, &c);
    if (rc == MPI_SUCCESS) {
        *group = fm_handle_of(fm_object_ref(c->group));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Comm_group)

typedef int (*set_fn)(const struct fm_group *a, const struct fm_group *b, struct fm_group **out);

static int combine(const char *call, set_fn fn, const MPI_Group handles[2], MPI_Group *newgroup)
{
    struct fm_group *g[2], *made = NULL;
    int rc = find_two(call, handles, newgroup, g);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fn(g[0], g[1], &made);
    return finish(call, rc, g[0], made, newgroup);
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    const MPI_Group handles[2] = {group1, group2};
    int rc;

    fm_api_enter(FM_CALL);
    rc = combine(FM_CALL, fm_group_union, handles, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_union)

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    const MPI_Group handles[2] = {group1, group2};
    int rc;

    fm_api_enter(FM_CALL);
    rc = combine(FM_CALL, fm_group_intersection, handles, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_intersection)

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    const MPI_Group handles[2] = {group1, group2};
    int rc;

    fm_api_enter(FM_CALL);
    rc = combine(FM_CALL, fm_group_difference, handles, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_difference)

/* All ranks in range and none twice. */
static int check_ranks(const char *call, const struct fm_group *g, int n, const int *ranks)
{
    char *seen = calloc((size_t)g->size + 1, 1);
    int rc = MPI_SUCCESS;

    if (!seen) {
        return fm_raise(owner(g), call, MPI_ERR_NO_MEM, "no memory to check %d ranks", n);
    }
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        if (ranks[i] < 0 || ranks[i] >= g->size) {
            rc =
                fm_raise(owner(g), call, MPI_ERR_RANK,
                         "ranks[%d] is %d but the group has ranks 0..%d", i, ranks[i], g->size - 1);
        } else if (seen[ranks[i]]++) {
            rc = fm_raise(owner(g), call, MPI_ERR_RANK, "ranks[%d] is %d, which was named before",
                          i, ranks[i]);
        }
    }
    free(seen);
    return rc;
}

typedef int (*pick_fn)(const struct fm_group *group, int n, const int *ranks,
                       struct fm_group **out_group);

static int pick(const char *call, pick_fn fn, struct fm_group *g, int n, const int *ranks,
                MPI_Group *newgroup)
{
    struct fm_group *made = NULL;
    int rc = check_ranks(call, g, n, ranks);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fn(g, n, ranks, &made);
    return finish(call, rc, g, made, newgroup);
}

static int check_list(const char *call, const struct fm_group *g, int n, const void *ranks,
                      const void *newgroup)
{
    if (n < 0 || (n > 0 && !ranks)) {
        return fm_raise(owner(g), call, MPI_ERR_ARG,
                        n < 0 ? "n is %d, it must not be negative" : "ranks is NULL but n is %d",
                        n);
    }
    return fm_find_out(owner(g), call, "newgroup", newgroup);
}

static int by_list(const char *call, pick_fn fn, MPI_Group group, int n, const int *ranks,
                   MPI_Group *newgroup)
{
    struct fm_group *g;
    int rc = fm_find_group(call, group, "group", &g);

    rc = rc == MPI_SUCCESS ? check_list(call, g, n, ranks, newgroup) : rc;
    return rc == MPI_SUCCESS ? pick(call, fn, g, n, ranks, newgroup) : rc;
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = by_list(FM_CALL, fm_group_incl, group, n, ranks, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_incl)

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = by_list(FM_CALL, fm_group_excl, group, n, ranks, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_excl)

/* Ranks of the triplets (first, last, stride); all must be in range, so no more than the group has
   can come out without one being there twice: there is room for one more. Returns how many, or
   minus the MPI error class. */
static int unroll(const struct fm_group *g, int n, int ranges[][3], int *ranks)
{
    int out = 0;

    for (int i = 0; i < n; i++) {
        int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];

        if (stride == 0) {
            return -MPI_ERR_ARG;
        }
        for (long r = first; stride > 0 ? r <= last : r >= last; r += stride) {
            if (r < 0 || r >= g->size) {
                return -MPI_ERR_RANK;
            }
            ranks[out++] = (int)r;
            if (out > g->size) {
                return out;
            }
        }
    }
    return out;
}

static int by_ranges(const char *call, pick_fn fn, MPI_Group group, int n, int ranges[][3],
                     MPI_Group *newgroup)
{
    struct fm_group *g;
    int rc = fm_find_group(call, group, "group", &g);
    int *ranks, n_ranks;

    rc = rc == MPI_SUCCESS ? check_list(call, g, n, ranges, newgroup) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    ranks = malloc(((size_t)g->size + 1) * sizeof(int));
    if (!ranks) {
        return fm_raise(owner(g), call, MPI_ERR_NO_MEM, "no memory for %d ranks", g->size);
    }
    n_ranks = unroll(g, n, ranges, ranks);
    rc = n_ranks < 0
             ? fm_raise(owner(g), call, -n_ranks,
                        "a range has stride 0 or leaves the ranks 0..%d of the group", g->size - 1)
             : pick(call, fn, g, n_ranks, ranks, newgroup);
    free(ranks);
    return rc;
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = by_ranges(FM_CALL, fm_group_incl, group, n, ranges, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_range_incl)

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = by_ranges(FM_CALL, fm_group_excl, group, n, ranges, newgroup);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_range_excl)

int PMPI_Group_free(MPI_Group *group)
{
    struct fm_group *g;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "group", group);
    rc = rc == MPI_SUCCESS ? fm_find_group(FM_CALL, *group, "group", &g) : rc;
    if (rc == MPI_SUCCESS) {
        if (*group != MPI_GROUP_EMPTY) { /* which operations return without a reference */
            fm_group_unref(g);
        }
        *group = MPI_GROUP_NULL;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Group_free)
