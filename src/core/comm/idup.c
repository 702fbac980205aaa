/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicates without waiting. The steps of a round:
 *
 *     propose -> maximum over the group -> decide --- no: again from the first step
 *                                            | yes
 *                                          settle
 *
 * An intercommunicator agrees on the context of its local communicator first, each side by itself,
 * and then on its own one, over both sides. A rank that fails goes through its steps to the end
 * (coll_sched.h), so that the others fail too.
 */
#include "core/comm/idup.h"

#include "core/coll/coll_sched.h"
#include "core/comm/agree.h"
#include "core/comm/comm_parts.h"
#include "core/object/attr.h"
#include "util/status.h"

struct act {
    struct fm_comm *made;
    struct fm_agree_round whole;
    struct fm_agree_round local; /* intercommunicators only */
    uint64_t theirs[FM_AGREE_N];
};

static int propose(void *arg, int error)
{
    struct fm_agree_round *r = arg;

    if (error == MPI_SUCCESS) {
        fm_agree_propose(r);
    }
    return r->status;
}

static int decide(void *arg, int error)
{
    return error == MPI_SUCCESS ? fm_agree_decide(arg, 0) : 0;
}

static int settle(void *arg, int error)
{
    struct act *act = arg;

    if (error != MPI_SUCCESS) {
        fm_agree_drop(&act->whole);
        fm_agree_drop(&act->local);
        fm_idup_drop(act->made);
        return 0;
    }
    if (act->made->is_inter) {
        fm_comm_parts_settle(act->made->local_comm, act->local.mine * 2);
    }
    fm_comm_parts_settle(act->made, act->whole.mine * 2);
    return 0;
}

static struct fm_buf numbers_of(uint64_t numbers[FM_AGREE_N])
{
    return fm_buf_of(numbers, FM_AGREE_N, fm_dtype_get(MPI_UINT64_T));
}

/* In all ranks of a group, by dissemination: a maximum may be taken of the same number twice. */
static void find_maxima(struct fm_sched *s, const struct fm_comm *group, struct act *act,
                        struct fm_agree_round *r)
{
    struct fm_buf mine = numbers_of(r->numbers), other = numbers_of(act->theirs);
    int size = group->size, rank = group->rank;

    for (int64_t far = 1; far < size; far *= 2) {
        fm_step_exchange(s, mine, (int)((rank + far) % size), other,
                         (int)((rank - far + size) % size));
        fm_step_apply(s, fm_op_get(MPI_MAX), act->theirs, mine);
    }
}

static void write_steps(struct fm_sched *s, struct fm_comm *comm, struct act *act)
{
    int first = s->n_steps;

    fm_step_call(s, propose, &act->whole, first);
    find_maxima(s, comm, act, &act->whole);
    fm_step_call(s, decide, &act->whole, first);
    fm_step_call(s, settle, act, first);
}

/* The ranks 0 exchange the maxima of their sides. */
static void write_inter_steps(struct fm_sched *s, struct fm_comm *comm, struct act *act)
{
    struct fm_buf mine = numbers_of(act->whole.numbers), other = numbers_of(act->theirs);
    int first = s->n_steps, second;

    fm_sched_talk(s, comm->local_comm);
    fm_step_call(s, propose, &act->local, first);
    find_maxima(s, comm, act, &act->local);
    fm_step_call(s, decide, &act->local, first);
    second = s->n_steps;
    fm_step_call(s, propose, &act->whole, second);
    find_maxima(s, comm, act, &act->whole);
    if (comm->rank == 0) {
        fm_sched_talk(s, comm);
        fm_step_exchange(s, mine, 0, other, 0);
        fm_step_apply(s, fm_op_get(MPI_MAX), act->theirs, mine);
        fm_sched_talk(s, comm->local_comm);
    }
    find_maxima(s, comm, act, &act->whole);
    fm_step_call(s, decide, &act->whole, second);
    fm_step_call(s, settle, act, second);
}

int fm_idup_make(struct fm_comm *comm, struct fm_comm **out_made)
{
    struct fm_comm *made;
    int rc = fm_comm_parts_make(comm, comm->group, comm->remote_group, FM_CONTEXT_NONE, &made);

    if (rc == 0 && comm->is_inter) {
        rc = fm_comm_parts_make(comm, comm->group, NULL, FM_CONTEXT_NONE, &made->local_comm);
        if (rc != 0) {
            fm_comm_unref(made);
        }
    }
    rc = rc == 0 ? fm_comm_parts_copy_attrs(comm, made) : rc;
    if (rc == 0) {
        *out_made = made;
    }
    return rc;
}

void fm_idup_drop(struct fm_comm *made)
{
    fm_attr_delete_all(FM_KIND_COMM, made, &made->attrs);
    fm_comm_unref(made);
}

int fm_idup_start(struct fm_comm *comm, struct fm_comm *made, struct fm_request **out_req)
{
    static const struct fm_request_ops ops = {.name = "comm_idup",
                                              .start = fm_sched_start,
                                              .release = fm_sched_release,
                                              .must_complete = true};
    struct fm_sched *s = fm_sched_create(comm);
    struct act *act = s ? fm_step_temp(s, sizeof(*act)) : NULL;
    int rc = -FM_E_NOMEM;

    if (act) {
        *act = (struct act){.made = made};
        if (comm->is_inter) {
            write_inter_steps(s, comm, act);
        } else {
            write_steps(s, comm, act);
        }
        rc = fm_sched_request(s, &ops, false, out_req);
    } else {
        fm_sched_destroy(s);
    }
    if (rc != 0) {
        fm_idup_drop(made);
    }
    return rc;
}
