/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules: a collective as steps, so that each algorithm is written once for blocking,
 * nonblocking and persistent calls.
 *
 * An algorithm calls fm_step_...() in the order in which things must happen on this rank. Sends and
 * receives between two fences run at the same time; a fence waits for them. Local steps (copy,
 * apply) happen in program order and must not touch what a send or receive since the last fence
 * uses. No step's outcome steers an algorithm, therefore the same calls may be
 *   - immediate: local steps are executed when they are called, messages at the next fence. So do
 *     blocking collectives: nothing is recorded, one exchange between two fences needs no request;
 *   - recorded, to be run by progress, once or many times.
 *
 * The first failure is kept in `rc`. The rank goes on then, so that no other rank waits for it for
 * ever: local steps do nothing any more, messages are received into nothing, and empty ones are
 * sent. A rank that receives less than it should fails too (MPI-5.0 6.1: as much as was sent is
 * received), so that no rank takes for data what another could not make. Where the error is going
 * to end the job, an immediate schedule does not go on: if the ranks were called with counts that
 * made them choose different algorithms, it could wait for messages that are never sent. Temporary
 * memory lives as long as the schedule.
 */
#pragma once

#include <stdbool.h>

#include "core/coll/coll_call.h"
#include "core/coll/coll_vars.h"
#include "core/object/request.h"

struct fm_msg;
struct fm_coll_scratch;

#define FM_SCHED_INLINE_STEPS 8
#define FM_SCHED_INLINE_BYTES 512
#define FM_SCHED_WHY          200

enum fm_step_kind {
    FM_STEP_SEND,
    FM_STEP_RECV,
    FM_STEP_COPY,
    FM_STEP_APPLY,
    FM_STEP_FENCE,
    FM_STEP_CALL
};

/* A decision of the maker. `error` is the class of the first failure of this run, MPI_SUCCESS: none
   so far. 0, a failure, or FM_AGAIN: go back to the step's `back`. */
typedef int (*fm_step_fn)(void *arg, int error);

struct fm_step {
    enum fm_step_kind kind;
    int peer;             /* send, recv: rank in ... */
    struct fm_comm *comm; /* ... this one */
    struct fm_buf to;     /* recv, copy, apply (inout); send: what is sent */
    struct fm_buf from;   /* copy, apply: only buf */
    struct fm_op *op;
    struct fm_request *req; /* under way */
    fm_step_fn call;
    void *arg;
    int back;
};

struct fm_sched {
    struct fm_comm *comm;
    struct fm_comm *talk;   /* messages of further steps travel in: comm, or its local_comm */
    struct fm_coll_use use; /* recorded ones: what each run counts */
    int tag;
    int rc;
    bool is_immediate;
    bool is_users;          /* an error goes to the error handler of comm ... */
    bool is_over;           /* ... which will end the job: there was one */
    bool is_stuck;          /* a message could not be taken back: temporary memory must stay */
    char why[FM_SCHED_WHY]; /* with rc */
    int n_steps, n_room;
    struct fm_step *steps;
    struct fm_coll_scratch *temps;
    size_t small_used;
    struct fm_step small_steps[FM_SCHED_INLINE_STEPS];
    char small[FM_SCHED_INLINE_BYTES] FM_ALIGNED(16);
};

/* A schedule for the next collective call on comm: takes the call's tag. */
void fm_sched_init(struct fm_sched *s, struct fm_comm *comm, bool is_immediate);
/* The same for local steps and temporary memory only: takes no tag. */
void fm_sched_init_local(struct fm_sched *s, struct fm_comm *comm);
/* Does what an immediate one has still to do; frees all that it holds. Returns the first
   failure. */
int fm_sched_finish(struct fm_sched *s);

/* Further messages travel in an intercommunicator's local_comm (or in comm again). */
void fm_sched_talk(struct fm_sched *s, struct fm_comm *comm);

/*
 * `peer` is a rank of comm. If it is the caller's own, the receive and the send lie between the
 * same two fences. Messages between two ranks match in the order of their steps.
 */
void fm_step_send(struct fm_sched *s, struct fm_buf what, int peer);
void fm_step_recv(struct fm_sched *s, struct fm_buf what, int peer);
/* So many steps more are coming, for those who know it. */
void fm_sched_reserve(struct fm_sched *s, int n_steps);
/* From one typed buffer to another of the same signature; must not overlap. */
void fm_step_copy(struct fm_sched *s, struct fm_buf to, struct fm_buf from);
/* inout = in op inout */
void fm_step_apply(struct fm_sched *s, struct fm_op *op, const void *in, struct fm_buf inout);
void fm_step_fence(struct fm_sched *s);

/* A fence, then a call, the only step that steers what follows; in recorded schedules only. `back`
   is the value of n_steps where the steps to be repeated begin. */
void fm_step_call(struct fm_sched *s, fm_step_fn call, void *arg, int back);

/* A send and a receive at the same time, then a fence. */
static FM_INLINE void fm_step_exchange(struct fm_sched *s, struct fm_buf send, int dest,
                                       struct fm_buf recv, int source)
{
    fm_step_recv(s, recv, source);
    fm_step_send(s, send, dest);
    fm_step_fence(s);
}

/* len bytes, aligned to 16; NULL (and rc set) when memory is out: steps are no-ops then. */
void *fm_step_temp(struct fm_sched *s, MPI_Count len);
/* Room for count elements of a type in its own layout; .buf is where displacement 0 is. */
struct fm_buf fm_step_temp_typed(struct fm_sched *s, MPI_Count count, struct fm_dtype *t);

/* The message that a send or receive step stands for. */
struct fm_msg fm_sched_message(const struct fm_sched *s, const struct fm_step *step);

/* A step is complete, n_bytes have come: 0, or MPI_ERR_OTHER and the reason when the sender sent
   less than all. */
int fm_sched_judge(const struct fm_step *step, MPI_Count n_bytes);

/* A recorded schedule for the next collective call on comm; NULL (and fm_why) without memory. Its
   runs count as calls of a collective once `use` has a kind. */
struct fm_sched *fm_sched_create(struct fm_comm *comm);
void fm_sched_destroy(struct fm_sched *s);

/*
 * The request that runs a recorded schedule and owns it from now on, also on failure. Persistent
 * ones are inactive, others are started; *out_req holds the handle's reference. `ops` are the
 * name of the kind with the two functions below. 0 or a failure.
 */
int fm_sched_request(struct fm_sched *s, const struct fm_request_ops *ops, bool is_persistent,
                     struct fm_request **out_req);
int fm_sched_start(struct fm_request *r);
void fm_sched_release(struct fm_request *r);
