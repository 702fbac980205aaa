/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate schedules: memory, steps, and messages at the fences. */
#include "core/coll/coll_sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/coll/coll_scratch.h"
#include "core/dtype/pack.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/p2p/wait.h"
#include "core/p2p/recv.h"
#include "core/p2p/send.h"
#include "util/status.h"

static void init(struct fm_sched *s, struct fm_comm *comm, bool is_immediate)
{
    s->comm = comm;
    s->talk = comm;
    s->tag = 0;
    s->rc = 0;
    s->is_immediate = is_immediate;
    s->is_users = false;
    s->is_over = false;
    s->is_stuck = false;
    s->n_steps = 0;
    s->n_room = FM_SCHED_INLINE_STEPS;
    s->steps = s->small_steps;
    s->temps = NULL;
    s->small_used = 0;
}

void fm_sched_init(struct fm_sched *s, struct fm_comm *comm, bool is_immediate)
{
    init(s, comm, is_immediate);
    s->tag = comm->coll_tag ? comm->coll_tag : (int)(comm->coll_seq++ & FM_COLL_TAG_MASK);
}

void fm_sched_init_local(struct fm_sched *s, struct fm_comm *comm)
{
    init(s, comm, true);
}

void fm_sched_talk(struct fm_sched *s, struct fm_comm *comm)
{
    s->talk = comm;
}

static void drop_references(struct fm_sched *s)
{
    for (int i = 0; i < s->n_steps; i++) {
        const struct fm_step *step = &s->steps[i];

        fm_dtype_unref(step->to.dtype);
        fm_dtype_unref(step->from.dtype);
        fm_op_unref(step->op);
    }
}

int fm_sched_finish(struct fm_sched *s)
{
    struct fm_coll_scratch *next;

    if (s->is_immediate) {
        fm_step_fence(s);
    } else {
        drop_references(s);
    }
    for (struct fm_coll_scratch *t = s->is_stuck ? NULL : s->temps; t; t = next) {
        next = t->next;
        fm_coll_scratch_give(t);
    }
    if (s->steps != s->small_steps) {
        free(s->steps);
    }
    if (FM_UNLIKELY(s->rc != 0 && s->is_immediate)) {
        fm_fail(s->rc < 0 ? s->rc : -FM_E_INVAL, "%s", s->why); /* others may have come since */
    }
    return s->rc;
}

static bool ends_job(struct fm_comm *comm)
{
    enum fm_errhandler_type type = fm_errhandler_of(comm)->type;

    return type == FM_ERRHANDLER_FATAL || type == FM_ERRHANDLER_ABORT;
}

static void fail(struct fm_sched *s, int rc)
{
    if (s->rc == 0 && rc != 0) {
        s->rc = rc;
        s->is_over = s->is_users && ends_job(s->comm);
        snprintf(s->why, sizeof(s->why), "%s", fm_why());
    }
}

void *fm_step_temp(struct fm_sched *s, MPI_Count len)
{
    size_t want = ((size_t)len + 15) & ~(size_t)15;
    struct fm_coll_scratch *t;

    if (s->rc != 0) {
        return NULL;
    }
    fm_assert(len >= 0); /* the entry has seen to it */
    if (want <= sizeof(s->small) - s->small_used) {
        s->small_used += want;
        return s->small + s->small_used - want;
    }
    t = fm_coll_scratch_take(want);
    if (!t) {
        fail(s, fm_fail(-FM_E_NOMEM, "no memory for the %lld bytes that a collective needs aside",
                        (long long)len));
        return NULL;
    }
    t->next = s->temps;
    s->temps = t;
    return t->bytes;
}

struct fm_buf fm_step_temp_typed(struct fm_sched *s, MPI_Count count, struct fm_dtype *t)
{
    MPI_Count stretch = t->extent < 0 ? -t->extent : t->extent;
    MPI_Count len = 0, low = t->true_lb;
    char *room;

    if (count > 0) {
        len = t->true_extent + (count - 1) * stretch;
        low += t->extent < 0 ? (count - 1) * t->extent : 0;
    }
    room = fm_step_temp(s, len);
    return fm_buf_of(room ? room - low : NULL, count, t);
}

/* Room for n steps in all. */
static bool grow(struct fm_sched *s, int n)
{
    bool is_small = s->steps == s->small_steps;
    struct fm_step *steps = realloc(is_small ? NULL : s->steps, (size_t)n * sizeof(*steps));

    if (!steps) {
        fail(s, fm_fail(-FM_E_NOMEM, "no memory for the steps of a collective"));
        return false;
    }
    if (is_small) {
        memcpy(steps, s->steps, (size_t)s->n_steps * sizeof(*steps));
    }
    s->steps = steps;
    s->n_room = n;
    return true;
}

void fm_sched_reserve(struct fm_sched *s, int n_steps)
{
    if (s->n_steps + n_steps > s->n_room) {
        grow(s, s->n_steps + n_steps);
    }
}

static struct fm_step *add(struct fm_sched *s, enum fm_step_kind kind)
{
    struct fm_step *step;

    if (s->rc != 0 && !s->is_immediate) {
        return NULL;
    }
    if (s->n_steps == s->n_room && !grow(s, 2 * s->n_room)) {
        return NULL;
    }
    step = &s->steps[s->n_steps++];
    memset(step, 0, sizeof(*step));
    step->kind = kind;
    return step;
}

static struct fm_dtype *hold(const struct fm_sched *s, struct fm_dtype *t)
{
    return s->is_immediate ? t : fm_object_ref(t);
}

static void add_message(struct fm_sched *s, enum fm_step_kind kind, struct fm_buf what, int peer)
{
    struct fm_step *step = add(s, kind);

    if (step) {
        step->peer = peer;
        step->comm = s->talk;
        step->to = what;
        if (FM_UNLIKELY(s->rc != 0)) {
            step->to.count = 0;
        }
        hold(s, what.dtype);
    }
}

void fm_step_send(struct fm_sched *s, struct fm_buf what, int peer)
{
    add_message(s, FM_STEP_SEND, what, peer);
}

void fm_step_recv(struct fm_sched *s, struct fm_buf what, int peer)
{
    add_message(s, FM_STEP_RECV, what, peer);
}

void fm_step_copy(struct fm_sched *s, struct fm_buf to, struct fm_buf from)
{
    struct fm_step *step;

    if (s->is_immediate) {
        if (s->rc == 0) {
            fm_copy_typed(to.buf, to.count, to.dtype, from.buf, from.count, from.dtype);
        }
        return;
    }
    step = add(s, FM_STEP_COPY);
    if (step) {
        step->to = to;
        step->from = from;
        hold(s, to.dtype);
        hold(s, from.dtype);
    }
}

void fm_step_apply(struct fm_sched *s, struct fm_op *op, const void *in, struct fm_buf inout)
{
    struct fm_step *step;

    if (s->is_immediate) {
        if (s->rc == 0) {
            fm_op_apply(op, in, inout.buf, inout.count, inout.dtype);
        }
        return;
    }
    step = add(s, FM_STEP_APPLY);
    if (step) {
        step->to = inout;
        step->from.buf = (void *)in;
        step->op = fm_object_ref(op);
        hold(s, inout.dtype);
    }
}

void fm_step_call(struct fm_sched *s, fm_step_fn call, void *arg, int back)
{
    struct fm_step *step;

    fm_assert(!s->is_immediate);
    fm_step_fence(s);
    step = add(s, FM_STEP_CALL);
    if (step) {
        step->call = call;
        step->arg = arg;
        step->back = back;
    }
}

struct fm_msg fm_sched_message(const struct fm_sched *s, const struct fm_step *step)
{
    struct fm_comm *comm = step->comm, *base = comm->base;
    int peer = step->peer;

    if (base) {
        peer = fm_group_rank_of(base->group, fm_comm_proc(comm, peer));
    }
    return (struct fm_msg){.buf = step->to.buf,
                           .count = step->to.count,
                           .dtype = step->to.dtype,
                           .peer = peer,
                           .tag = comm == s->comm ? s->tag : s->tag | FM_COLL_TAG_INTER,
                           .comm = base ? base : comm,
                           .space = FM_SPACE_COLL};
}

static int start(const struct fm_sched *s, struct fm_step *step)
{
    struct fm_msg m = fm_sched_message(s, step);

    return step->kind == FM_STEP_RECV ? fm_irecv(&m, &step->req)
                                      : fm_isend(&m, FM_SEND_STANDARD, &step->req);
}

/* After a failure: no message may write into the buffers of this call any more. */
static void take_back(struct fm_sched *s, struct fm_step *step)
{
    struct fm_request *r = step->req;

    if (!r->is_done && r->ops->cancel) {
        r->ops->cancel(r);
    }
    s->is_stuck = s->is_stuck || !r->is_done;
    fm_request_unref(r);
}

int fm_sched_judge(const struct fm_step *step, MPI_Count n_bytes)
{
    MPI_Count want = fm_dtype_bytes(step->to.dtype, step->to.count);

    if (FM_LIKELY(step->kind != FM_STEP_RECV || n_bytes == want)) {
        return 0;
    }
    fm_fail(-FM_E_INVAL,
            "rank %d sent %lld bytes where %lld must come: it had an error itself, or was called "
            "with another count",
            step->peer, (long long)n_bytes, (long long)want);
    return MPI_ERR_OTHER;
}

/* A wait that fails, other than the message waited for, is the end of all messages. */
static void await(struct fm_sched *s, struct fm_step *step)
{
    struct fm_status st;
    int rc = fm_wait(step->req, &st);

    if (FM_UNLIKELY(rc != 0)) {
        fail(s, rc);
        s->is_stuck = true;
        return;
    }
    fail(s, st.error ? st.error : fm_sched_judge(step, st.n_bytes));
}

static void exchange_all(struct fm_sched *s)
{
    for (int i = 0; i < s->n_steps; i++) {
        fail(s, start(s, &s->steps[i]));
    }
    for (int i = 0; i < s->n_steps; i++) {
        struct fm_step *step = &s->steps[i];

        if (!step->req) {
            continue;
        }
        if (FM_UNLIKELY(s->is_stuck || s->is_over)) {
            take_back(s, step);
        } else {
            await(s, step);
        }
        step->req = NULL;
    }
}

static void receive(struct fm_sched *s, const struct fm_step *step)
{
    struct fm_msg m = fm_sched_message(s, step);
    struct fm_status st;
    int rc = fm_recv(&m, &st);

    fail(s, rc ? rc : fm_sched_judge(step, st.n_bytes));
}

/* Both, whatever becomes of one. */
static void exchange(struct fm_sched *s, struct fm_step *recv, const struct fm_step *send)
{
    struct fm_msg out = fm_sched_message(s, send), in = fm_sched_message(s, recv);

    fail(s, fm_irecv(&in, &recv->req));
    fail(s, fm_send(&out, FM_SEND_STANDARD));
    if (FM_UNLIKELY(s->is_over && recv->req)) {
        take_back(s, recv);
    } else if (FM_LIKELY(recv->req)) {
        await(s, recv);
    }
    recv->req = NULL;
}

static void run_immediate(struct fm_sched *s)
{
    struct fm_msg m;

    switch (s->n_steps) {
    case 0:
        return;
    case 1:
        if (s->steps[0].kind == FM_STEP_RECV) {
            receive(s, &s->steps[0]);
            return;
        }
        m = fm_sched_message(s, &s->steps[0]);
        fail(s, fm_send(&m, FM_SEND_STANDARD));
        return;
    case 2:
        if (s->steps[0].kind == FM_STEP_RECV && s->steps[1].kind == FM_STEP_SEND) {
            exchange(s, &s->steps[0], &s->steps[1]);
            return;
        }
        break;
    default:
        break;
    }
    exchange_all(s);
}

void fm_step_fence(struct fm_sched *s)
{
    if (!s->is_immediate) {
        if (s->n_steps > 0 && s->steps[s->n_steps - 1].kind != FM_STEP_FENCE) {
            add(s, FM_STEP_FENCE);
        }
        return;
    }
    if (FM_LIKELY(!s->is_stuck && !s->is_over)) {
        run_immediate(s);
    }
    s->n_steps = 0;
}
