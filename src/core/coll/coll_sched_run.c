/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recorded schedules, run by progress.
 *
 * A run goes through its steps up to a fence behind which messages are still under way. The last of
 * these to complete adds the progress hook of the run, which removes itself and goes on: steps are
 * never executed inside the engine, where messages complete.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/coll/coll_sched.h"
#include "core/dtype/pack.h"
#include "core/p2p/hook.h"
#include "core/p2p/recv.h"
#include "core/p2p/send.h"
#include "util/status.h"

struct run {
    struct fm_request head;
    struct fm_sched *sched;
    struct fm_hook hook; /* added while the run can go on */
    int at;              /* next step */
    int round;           /* first step after the last fence passed */
    int n_open;          /* messages under way */
    int error;           /* MPI class of the first failure */
    bool is_advancing;   /* its steps are being executed: a message that completes adds no hook */
    char why[FM_SCHED_WHY];
};

_Static_assert(sizeof(struct run) <= FM_REQUEST_LEN, "a run must fit into a request");

struct fm_sched *fm_sched_create(struct fm_comm *comm)
{
    struct fm_sched *s = malloc(sizeof(*s));

    if (!s) {
        fm_fail(-FM_E_NOMEM, "no memory for a collective");
        return NULL;
    }
    fm_sched_init(s, comm, false);
    s->use = (struct fm_coll_use){.kind = FM_COLL_COUNT};
    return s;
}

void fm_sched_destroy(struct fm_sched *s)
{
    if (s) {
        fm_sched_finish(s);
        free(s);
    }
}

static void fail(struct run *run, int klass)
{
    if (run->error != MPI_SUCCESS) {
        return;
    }
    run->error = klass;
    snprintf(run->why, sizeof(run->why), "%s", fm_why());
}

/* Only core/api maps failures in general; here one of them becomes the result of a request. */
static int class_of(int status)
{
    switch (status) {
    case -FM_E_NOMEM:
        return MPI_ERR_NO_MEM;
    case -FM_E_PEER:
        return MPI_ERR_PROC_ABORTED;
    default:
        return status > 0 ? status : MPI_ERR_OTHER;
    }
}

/* A message is complete; the run owns its handle. */
static void take_result(struct run *run, const struct fm_step *step, struct fm_request *r)
{
    struct fm_status st;
    int error = fm_request_harvest(r, &st);

    error = error ? error : fm_sched_judge(step, st.n_bytes);
    if (error != MPI_SUCCESS) {
        fail(run, error);
    }
}

static void on_message(struct fm_request *r)
{
    struct run *run = r->owner;
    int i = run->round;

    while (run->sched->steps[i].req != r) {
        i++;
    }
    run->sched->steps[i].req = NULL;
    run->n_open--;
    take_result(run, &run->sched->steps[i], r);
    if (run->n_open == 0 && !run->is_advancing) {
        fm_hook_add(run->head.comm->ch, &run->hook);
    }
}

static int start_message(struct run *run, struct fm_step *step)
{
    struct fm_msg m = fm_sched_message(run->sched, step);
    struct fm_request *r = NULL;
    int rc;

    if (run->error != MPI_SUCCESS) {
        m.count = 0; /* see coll_sched.h */
    }
    rc = step->kind == FM_STEP_RECV ? fm_irecv(&m, &r) : fm_isend(&m, FM_SEND_STANDARD, &r);

    if (rc != 0) {
        return rc;
    }
    if (r->is_done) {
        take_result(run, step, r);
        return 0;
    }
    step->req = r;
    r->on_done = on_message;
    r->owner = run;
    run->n_open++;
    return 0;
}

static int make_call(struct run *run, const struct fm_step *step)
{
    int rc = step->call(step->arg, run->error);

    if (rc == FM_AGAIN) {
        run->at = run->round = step->back;
        return 0;
    }
    return rc;
}

static int make_step(struct run *run, struct fm_step *step)
{
    switch (step->kind) {
    case FM_STEP_COPY:
        if (run->error == MPI_SUCCESS) {
            fm_copy_typed(step->to.buf, step->to.count, step->to.dtype, step->from.buf,
                          step->from.count, step->from.dtype);
        }
        return 0;
    case FM_STEP_APPLY:
        if (run->error == MPI_SUCCESS) {
            fm_op_apply(step->op, step->from.buf, step->to.buf, step->to.count, step->to.dtype);
        }
        return 0;
    case FM_STEP_FENCE:
        return 0;
    case FM_STEP_CALL:
        return make_call(run, step);
    default:
        return start_message(run, step);
    }
}

/* Up to the next fence that has to be waited for. True: the end is reached. */
static bool advance(struct run *run)
{
    struct fm_sched *s = run->sched;

    run->is_advancing = true;
    while (run->at < s->n_steps) {
        struct fm_step *step = &s->steps[run->at];
        int rc;

        if (step->kind == FM_STEP_FENCE && run->n_open > 0) {
            break;
        }
        run->at++;
        run->round = step->kind == FM_STEP_FENCE ? run->at : run->round;
        rc = make_step(run, step);
        if (rc != 0) {
            fail(run, class_of(rc));
        }
    }
    run->is_advancing = false;
    return run->n_open == 0;
}

static void complete(struct run *run)
{
    fm_coll_vars_end(&run->sched->use);
    if (run->error == MPI_SUCCESS) {
        fm_request_complete(&run->head);
    } else {
        fm_request_fail(&run->head, run->error, "%s", run->why);
    }
}

static int go_on(struct fm_hook *hook)
{
    struct run *run = fm_container_of(hook, struct run, hook);

    fm_hook_remove(run->head.comm->ch, hook);
    if (advance(run)) {
        complete(run);
    }
    return 1;
}

int fm_sched_start(struct fm_request *r)
{
    struct run *run = (struct run *)r;

    if (run->sched->use.kind != FM_COLL_COUNT) {
        fm_coll_vars_begin(&run->sched->use, r->comm);
    }
    run->at = run->round = 0;
    run->error = MPI_SUCCESS;
    run->hook = (struct fm_hook){.fn = go_on};
    if (advance(run)) {
        complete(run);
    }
    return 0;
}

void fm_sched_release(struct fm_request *r)
{
    fm_sched_destroy(((struct run *)r)->sched);
}

int fm_sched_request(struct fm_sched *s, const struct fm_request_ops *ops, bool is_persistent,
                     struct fm_request **out_req)
{
    struct fm_request *r = s->rc == 0 ? fm_request_new(ops, s->comm) : NULL;
    int rc = s->rc != 0 ? s->rc : -FM_E_NOMEM;

    if (!r) {
        fm_sched_destroy(s);
        return rc;
    }
    ((struct run *)r)->sched = s;
    if (is_persistent) {
        fm_request_persist(r);
    } else {
        fm_object_ref(r); /* the engine's, until it is complete */
        rc = fm_sched_start(r);
        if (rc != 0) {
            fm_request_unref(r);
            fm_request_unref(r);
            return rc;
        }
    }
    *out_req = r;
    return 0;
}
