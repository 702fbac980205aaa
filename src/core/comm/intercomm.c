/* SPDX-License-Identifier: BSD-3-Clause */
/* Making intercommunicators, and communicators out of them. */
#include "core/comm/intercomm.h"

#include <stdlib.h>

#include "core/coll/coll.h"
#include "core/comm/comm_parts.h"
#include "core/object/group.h"
#include "core/p2p/channel.h"
#include "core/p2p/recv.h"
#include "util/status.h"

/* All messages between the sides of an intercommunicator are between its ranks 0, with the
   number of the call as tag, which is the same on both sides. */
static struct fm_agree sides_of(struct fm_comm *inter)
{
    return (struct fm_agree){.local = inter->local_comm,
                             .peer = inter,
                             .tag = (int)(inter->coll_seq++ & FM_COLL_TAG_MASK)};
}

static int exchange(const struct fm_agree *who, struct fm_buf out, struct fm_buf in)
{
    struct fm_msg send = {.buf = out.buf,
                          .count = out.count,
                          .dtype = out.dtype,
                          .peer = who->remote_leader,
                          .tag = who->tag,
                          .comm = who->peer,
                          .space = FM_SPACE_COLL};
    struct fm_msg recv = send;

    recv.buf = in.buf;
    recv.count = in.count;
    return fm_sendrecv(&send, &recv, NULL);
}

static struct fm_buf bytes(void *buf, size_t len)
{
    return (struct fm_buf){buf, (MPI_Count)len, fm_dtype_byte()};
}

/*
 * The leaders swap arrays of integers, and all learn that of the other side: *out_theirs, to be
 * freed. A leader sends its failure to its side as a negative length.
 */
static int swap_arrays(const struct fm_agree *who, int *mine, int n, int **out_theirs, int *out_n)
{
    bool is_leader = who->local->rank == who->local_leader;
    struct fm_buf length;
    int *theirs = NULL;
    int n_theirs = -1, rc = 0, leader_rc = 0;

    if (is_leader) {
        leader_rc = exchange(who, bytes(&n, sizeof(n)), bytes(&n_theirs, sizeof(n_theirs)));
        n_theirs = leader_rc == 0 ? n_theirs : -1;
    }
    length = bytes(&n_theirs, sizeof(n_theirs));
    rc = fm_bcast(&length, who->local_leader, who->local);
    if (rc != 0 || n_theirs < 0) {
        return leader_rc ? leader_rc
               : rc      ? rc
                         : fm_fail(-FM_E_PEER, "the leader cannot reach the other side");
    }
    theirs = malloc(((size_t)n_theirs + 1) * sizeof(int));
    if (!theirs) {
        return fm_fail(-FM_E_NOMEM, "no memory for a group of %d processes", n_theirs);
    }
    if (is_leader) {
        rc = exchange(who, bytes(mine, (size_t)n * sizeof(int)),
                      bytes(theirs, (size_t)n_theirs * sizeof(int)));
    }
    if (rc == 0) {
        length = bytes(theirs, (size_t)n_theirs * sizeof(int));
        rc = fm_bcast(&length, who->local_leader, who->local);
    }
    if (rc != 0) {
        free(theirs);
        return rc;
    }
    *out_theirs = theirs;
    *out_n = n_theirs;
    return 0;
}

/* The group on the other side, when each side has `mine`. */
static int swap_groups(const struct fm_agree *who, const struct fm_group *mine,
                       struct fm_group **out_theirs)
{
    int *procs = malloc(((size_t)mine->size + 1) * sizeof(int)), *theirs = NULL;
    int n = 0, rc;

    if (!procs) {
        return fm_fail(-FM_E_NOMEM, "no memory for a group of %d processes", mine->size);
    }
    for (int i = 0; i < mine->size; i++) {
        procs[i] = fm_group_proc(mine, i);
    }
    rc = swap_arrays(who, procs, mine->size, &theirs, &n);
    if (rc == 0) {
        rc = fm_group_create(n, theirs, who->local->ch->self, out_theirs);
    }
    free(procs);
    free(theirs);
    return rc;
}

static int no_overlap(const struct fm_group *a, const struct fm_group *b)
{
    struct fm_group *both;
    int n, rc = fm_group_intersection(a, b, &both);

    if (rc != 0) {
        return rc;
    }
    n = both->size;
    fm_group_unref(both);
    return n == 0 ? 0
                  : fm_fail(-FM_E_INVAL,
                            "the two groups have %d processes in common: they must "
                            "have none",
                            n);
}

/* Ids for the local communicator and for the whole, or none: a side that has no room for the first
   says so to the other in the agreement on the second. */
static int agree_both(const struct fm_agree *who, uint32_t *out_local, uint32_t *out_context)
{
    const struct fm_agree local = {.local = who->local};
    struct fm_agree both = *who;
    int rc;

    both.status = fm_agree_context(&local, out_local);
    rc = fm_agree_context(&both, out_context);
    if (rc != 0 && both.status == 0) {
        fm_agree_release(*out_local);
    }
    return rc;
}

/* From the two groups, and a context for the local communicator as well. All of who->local take
   part; those that are not in `mine`, or where a side is empty, get NULL. */
static int join(const struct fm_agree *who, struct fm_group *mine, struct fm_group *theirs,
                struct fm_comm **out_comm)
{
    struct fm_comm *inter = NULL;
    uint32_t context, local_context;
    int rc = agree_both(who, &local_context, &context);

    if (rc != 0) {
        return rc;
    }
    if (mine->rank < 0 || theirs->size == 0) {
        fm_agree_release(context);
        fm_agree_release(local_context);
        *out_comm = NULL;
        return 0;
    }
    rc = fm_comm_parts_make(who->local, mine, theirs, context, &inter);
    if (rc != 0) {
        fm_agree_release(local_context);
        return rc;
    }
    rc = fm_comm_parts_make(who->local, mine, NULL, local_context, &inter->local_comm);
    if (rc != 0) {
        fm_comm_unref(inter);
        return rc;
    }
    *out_comm = inter;
    return 0;
}

int fm_intercomm_create(const struct fm_agree *who, struct fm_comm **out_comm)
{
    struct fm_group *theirs;
    int rc = swap_groups(who, who->local->group, &theirs);

    if (rc != 0) {
        return rc;
    }
    rc = no_overlap(who->local->group, theirs);
    rc = rc == 0 ? join(who, who->local->group, theirs, out_comm) : rc;
    fm_group_unref(theirs);
    return rc;
}

int fm_intercomm_from_groups(struct fm_comm *comm, struct fm_group *local, int local_leader,
                             int remote_leader, int tag, struct fm_comm **out_comm)
{
    struct fm_comm view;
    const struct fm_agree who = {.local = &view,
                                 .peer = comm,
                                 .local_leader = local_leader,
                                 .remote_leader = remote_leader,
                                 .tag = (tag & FM_COLL_TAG_MASK) | FM_COLL_TAG_GROUP |
                                        FM_COLL_TAG_INTER};

    fm_comm_parts_view(&view, comm, local);
    view.coll_tag = FM_COLL_TAG_GROUP | (tag & FM_COLL_TAG_MASK);
    return fm_intercomm_create(&who, out_comm);
}

int fm_intercomm_dup(struct fm_comm *inter, struct fm_comm **out_comm)
{
    const struct fm_agree who = sides_of(inter);
    struct fm_comm *copy = NULL;
    int rc = join(&who, inter->group, inter->remote_group, &copy);

    rc = rc == 0 ? fm_comm_parts_copy_attrs(inter, copy) : rc;
    if (rc == 0) {
        *out_comm = copy;
    }
    return rc;
}

int fm_intercomm_make(struct fm_comm *inter, struct fm_group *group, struct fm_comm **out_comm)
{
    const struct fm_agree who = sides_of(inter);
    struct fm_group *theirs;
    int rc = swap_groups(&who, group, &theirs);

    if (rc != 0) {
        return rc;
    }
    rc = join(&who, group, theirs, out_comm);
    fm_group_unref(theirs);
    return rc;
}

/* Votes of both sides; the same color on both sides makes an intercommunicator. */
int fm_intercomm_split(struct fm_comm *inter, int color, int key, struct fm_comm **out_comm)
{
    const int per_vote = (int)(sizeof(struct fm_vote) / sizeof(int));
    const struct fm_agree who = sides_of(inter);
    struct fm_group *mine = NULL, *theirs = NULL;
    struct fm_vote *votes = NULL;
    int *others = NULL;
    int n, rc = fm_comm_parts_votes(inter->local_comm, color, key, &votes);

    rc = rc == 0 ? swap_arrays(&who, (int *)votes, inter->size * per_vote, &others, &n) : rc;
    if (rc == 0) {
        /* Nobody is in the group of MPI_UNDEFINED: take none of the votes for it. */
        int n_mine = color == MPI_UNDEFINED ? 0 : inter->size;
        int n_theirs = color == MPI_UNDEFINED ? 0 : n / per_vote;

        rc = fm_comm_parts_of_color(inter->group, votes, n_mine, color, &mine);
        rc = rc == 0 ? fm_comm_parts_of_color(inter->remote_group, (struct fm_vote *)others,
                                              n_theirs, color, &theirs)
                     : rc;
    }
    rc = rc == 0 ? join(&who, mine, theirs, out_comm) : rc;
    fm_group_unref(mine);
    fm_group_unref(theirs);
    free(votes);
    free(others);
    return rc;
}

int fm_intercomm_merge(struct fm_comm *inter, bool is_high, struct fm_comm **out_comm)
{
    const struct fm_agree who = sides_of(inter);
    int high = is_high, n, *other_high;
    struct fm_group *all;
    uint32_t context;
    bool is_first;
    int rc = swap_arrays(&who, &high, 1, &other_high, &n);

    if (rc != 0) {
        return rc;
    }
    is_first = high != *other_high
                   ? !high
                   : fm_group_proc(inter->group, 0) < fm_group_proc(inter->remote_group, 0);
    free(other_high);
    rc = is_first ? fm_group_union(inter->group, inter->remote_group, &all)
                  : fm_group_union(inter->remote_group, inter->group, &all);
    if (rc != 0) {
        return rc;
    }
    rc = fm_agree_context(&who, &context);
    rc = rc == 0 ? fm_comm_parts_make(inter, all, NULL, context, out_comm) : rc;
    fm_group_unref(all);
    return rc;
}
