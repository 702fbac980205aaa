/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators out of communicators. */
#include "core/comm/comm_make.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/comm/agree.h"
#include "core/comm/comm_parts.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "util/status.h"

static void drop_context(void *context)
{
    fm_agree_release((uint32_t)(uintptr_t)context);
}

static void own_context(struct fm_comm *comm, uint32_t context)
{
    comm->parts[FM_COMM_CONTEXT] =
        (struct fm_comm_part){.state = (void *)(uintptr_t)context, .drop = drop_context};
}

void fm_comm_parts_settle(struct fm_comm *comm, uint32_t context)
{
    own_context(comm, context);
    fm_comm_settle(comm, context);
}

int fm_comm_parts_make(struct fm_comm *origin, struct fm_group *group,
                       struct fm_group *remote_group, uint32_t context, struct fm_comm **out_comm)
{
    struct fm_comm *comm;
    int rc = fm_comm_create(origin->ch, group, remote_group, group->rank, context, &comm);

    if (rc != 0) {
        if (context != FM_CONTEXT_NONE) {
            fm_agree_release(context);
        }
        return rc;
    }
    if (context != FM_CONTEXT_NONE) {
        own_context(comm, context);
    }
    if (origin->errhandler) {
        comm->errhandler = fm_errhandler_ref(origin->errhandler);
    }
    *out_comm = comm;
    return 0;
}

/* Among all members of comm. */
static int agree(struct fm_comm *comm, uint32_t *out_context)
{
    const struct fm_agree who = {.local = comm};

    return fm_agree_context(&who, out_context);
}

int fm_comm_parts_copy_attrs(struct fm_comm *from, struct fm_comm *copy)
{
    int rc = fm_attr_copy_all(FM_KIND_COMM, from, from->attrs, &copy->attrs);

    if (rc != 0) {
        fm_attr_delete_all(FM_KIND_COMM, copy, &copy->attrs);
        fm_comm_unref(copy);
    }
    return rc;
}

int fm_comm_make_dup(struct fm_comm *comm, struct fm_comm **out_comm)
{
    struct fm_comm *copy;
    uint32_t context;
    int rc = agree(comm, &context);

    if (rc == 0) {
        rc = fm_comm_parts_make(comm, comm->group, NULL, context, &copy);
    }
    if (rc != 0) {
        return rc;
    }
    rc = fm_comm_parts_copy_attrs(comm, copy);
    if (rc == 0) {
        *out_comm = copy;
    }
    return rc;
}

/* By key, then by rank in the old communicator (MPI-5.0 7.4.2). */
static int compare_votes(const void *a, const void *b)
{
    const struct fm_vote *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

int fm_comm_parts_of_color(const struct fm_group *from, struct fm_vote *votes, int n, int color,
                           struct fm_group **out_group)
{
    int *ranks = malloc(((size_t)n + 1) * sizeof(int));
    int n_in = 0, rc;

    if (!ranks) {
        return fm_fail(-FM_E_NOMEM, "no memory for a group of %d ranks", n);
    }
    for (int i = 0; i < n; i++) {
        if (votes[i].color == color) {
            votes[n_in++] = votes[i];
        }
    }
    qsort(votes, (size_t)n_in, sizeof(*votes), compare_votes);
    for (int i = 0; i < n_in; i++) {
        ranks[i] = votes[i].rank;
    }
    rc = fm_group_incl(from, n_in, ranks, out_group);
    free(ranks);
    return rc;
}

int fm_comm_parts_votes(struct fm_comm *comm, int color, int key, struct fm_vote **out_votes)
{
    struct fm_vote mine = {color, key, comm->rank};
    struct fm_vote *votes = malloc((size_t)comm->size * sizeof(*votes));
    const struct fm_buf out = {&mine, sizeof(mine), fm_dtype_byte()};
    const struct fm_buf in = {votes, sizeof(mine), fm_dtype_byte()};
    int rc;

    if (!votes) {
        return fm_fail(-FM_E_NOMEM, "no memory for the colors of %d ranks", comm->size);
    }
    rc = fm_allgather(&out, &in, comm);
    if (rc != 0) {
        free(votes);
        return rc;
    }
    *out_votes = votes;
    return 0;
}

/* One id serves all colors: their groups have no process in common. */
int fm_comm_make_split(struct fm_comm *comm, int color, int key, struct fm_comm **out_comm)
{
    struct fm_group *group;
    struct fm_vote *votes = NULL;
    uint32_t context;
    int rc = fm_comm_parts_votes(comm, color, key, &votes);

    if (rc != 0) {
        return rc;
    }
    rc = agree(comm, &context);
    if (rc != 0) {
        goto out;
    }
    if (color == MPI_UNDEFINED) {
        fm_agree_release(context);
        *out_comm = NULL;
        goto out;
    }
    rc = fm_comm_parts_of_color(comm->group, votes, comm->size, color, &group);
    if (rc != 0) {
        fm_agree_release(context);
        goto out;
    }
    rc = fm_comm_parts_make(comm, group, NULL, context, out_comm);
    fm_group_unref(group);
out:
    free(votes);
    return rc;
}

int fm_comm_make_create(struct fm_comm *comm, struct fm_group *group, struct fm_comm **out_comm)
{
    uint32_t context;
    int rc = agree(comm, &context);

    if (rc != 0) {
        return rc;
    }
    if (group->rank < 0) {
        fm_agree_release(context);
        *out_comm = NULL;
        return 0;
    }
    return fm_comm_parts_make(comm, group, NULL, context, out_comm);
}

/*
 * Members of a group communicate before they have a communicator: by a view, which has their ranks
 * but the context and the counters of an existing communicator. Its collectives all have one tag,
 * which no other act on that communicator has at the same time; messages between two members keep
 * their order, being sent under the ranks of that communicator: under those of the group, the
 * first message of the next act would be taken for one of this act's, of another process. It lives
 * on the stack while its maker waits for all that was started on it.
 */
void fm_comm_parts_view(struct fm_comm *view, struct fm_comm *comm, struct fm_group *group)
{
    *view = *comm;
    view->head =
        (struct fm_object){.kind = FM_KIND_COMM, .refs = 2}; /* never released by a request */
    view->group = group;
    view->remote_group = NULL;
    view->is_inter = false;
    view->rank = group->rank;
    view->size = group->size;
    view->n_remote = group->size;
    view->procs = group->procs;
    view->base = comm;
    memset(view->parts, 0, sizeof(view->parts));
}

int fm_comm_make_create_group(struct fm_comm *comm, struct fm_group *group, int tag,
                              struct fm_comm **out_comm)
{
    struct fm_comm view;
    struct fm_agree who = {.local = &view};
    uint32_t context;
    int rc;

    fm_comm_parts_view(&view, comm, group);
    view.coll_tag = FM_COLL_TAG_GROUP | (tag & FM_COLL_TAG_MASK);
    rc = fm_agree_context(&who, &context);
    return rc == 0 ? fm_comm_parts_make(comm, group, NULL, context, out_comm) : rc;
}

int fm_comm_make_compare(const struct fm_comm *a, const struct fm_comm *b, int *out_result)
{
    int local, remote = MPI_IDENT, rc;

    if (a == b) {
        *out_result = MPI_IDENT;
        return 0;
    }
    if (a->is_inter != b->is_inter) {
        *out_result = MPI_UNEQUAL;
        return 0;
    }
    rc = fm_group_compare(a->group, b->group, &local);
    if (rc == 0 && a->is_inter) {
        rc = fm_group_compare(a->remote_group, b->remote_group, &remote);
    }
    if (rc != 0) {
        return rc;
    }
    if (local == MPI_UNEQUAL || remote == MPI_UNEQUAL) {
        *out_result = MPI_UNEQUAL;
    } else {
        *out_result = local == MPI_IDENT && remote == MPI_IDENT ? MPI_CONGRUENT : MPI_SIMILAR;
    }
    return 0;
}
