/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry of all collectives: the algorithm is chosen, counted, and run or recorded. */
#include "core/coll/coll.h"

#include "core/coll/coll_algo.h"
#include "core/coll/coll_direct.h"
#include "core/coll/coll_shm.h"
#include "core/coll/coll_vars.h"
#include "util/status.h"

/* What was chosen for a call. */
struct plan {
    struct fm_coll_choice choice;
    struct fm_coll_shm *shm; /* FM_COLL_WAY_SHM and FM_COLL_WAY_DIRECT */
    MPI_Count len;
    struct fm_coll_use use;
};

/* On an intracommunicator. May set up shared memory, if the call is a blocking one. */
static int choose(const struct fm_coll *c, bool is_blocking, struct plan *p)
{
    struct fm_coll_means means = {.shm_len = -1};
    bool is_forced;
    int rc;

    if (is_blocking && fm_coll_table_wants_shm(c, &is_forced)) {
        rc = fm_coll_shm_find(c->comm, is_forced, &p->shm);
        if (rc != 0) {
            return rc;
        }
        if (p->shm) {
            means.shm_len = fm_coll_shm_max_len(p->shm);
            rc = fm_coll_direct_find(p->shm, &means.has_direct);
            if (rc != 0) {
                return rc;
            }
        }
    }
    p->choice = fm_coll_table_choose(c, p->len, &means);
    return 0;
}

static int make_plan(const struct fm_coll *c, bool is_blocking, struct plan *out_plan)
{
    struct plan p = {.shm = NULL};
    int rc = fm_coll_len(c, &p.len);

    if (rc == 0 && c->comm->is_inter) {
        p.choice = (struct fm_coll_choice){.algo = FM_COLL_INTER,
                                           .why = FM_COLL_WHY_ONLY,
                                           .way = FM_COLL_WAY_MSG,
                                           .write = fm_algo_inter};
    } else if (rc == 0) {
        rc = choose(c, is_blocking, &p);
    }
    if (rc != 0) {
        return rc;
    }
    p.use = (struct fm_coll_use){
        .kind = c->kind, .algo = p.choice.algo, .why = p.choice.why, .len = (uint64_t)p.len};
    FM_STAT(if (FM_UNLIKELY(fm_coll_counters->on_chosen)) fm_coll_vars_emit(&p.use, c->comm));
    *out_plan = p;
    return 0;
}

int fm_coll_run(const struct fm_coll *c)
{
    struct fm_sched s;
    struct plan p;
    int rc = make_plan(c, true, &p);

    if (rc != 0) {
        return rc;
    }
    fm_coll_vars_begin(&p.use, c->comm);
    if (p.choice.way == FM_COLL_WAY_SHM) {
        rc = fm_coll_shm_run(p.shm, c, p.len);
    } else if (p.choice.way == FM_COLL_WAY_DIRECT) {
        rc = fm_coll_direct_run(p.shm, c, p.len);
    } else {
        fm_sched_init(&s, c->comm, true);
        s.is_users = c->is_users;
        p.choice.write(&s, c);
        rc = fm_sched_finish(&s);
    }
    fm_coll_vars_end(&p.use);
    return rc;
}

#define OPS(KIND, kind)                                                                            \
    [FM_COLL_##KIND] = {.name = #kind,                                                             \
                        .start = fm_sched_start,                                                   \
                        .release = fm_sched_release,                                               \
                        .must_complete = true},
static const struct fm_request_ops request_ops[FM_COLL_COUNT] = {FM_COLL_KINDS(OPS)};

static int record(const struct fm_coll *c, bool is_persistent, struct fm_request **out_req)
{
    struct fm_sched *s;
    struct plan p;
    int rc = make_plan(c, false, &p);

    if (rc != 0) {
        return rc;
    }
    s = fm_sched_create(c->comm);
    if (!s) {
        return -FM_E_NOMEM;
    }
    s->use = p.use;
    p.choice.write(s, c);
    return fm_sched_request(s, &request_ops[c->kind], is_persistent, out_req);
}

int fm_coll_start(const struct fm_coll *c, struct fm_request **out_req)
{
    return record(c, false, out_req);
}

int fm_coll_persist(const struct fm_coll *c, struct fm_request **out_req)
{
    return record(c, true, out_req);
}

static struct fm_side side_of(const struct fm_buf *b)
{
    return (struct fm_side){.buf = b->buf, .count = b->count, .dtype = b->dtype};
}

int fm_barrier(struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){.kind = FM_COLL_BARRIER, .comm = comm});
}

int fm_bcast(const struct fm_buf *data, int root, struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){
        .kind = FM_COLL_BCAST, .comm = comm, .recv = side_of(data), .root = root});
}

int fm_allreduce(const void *sendbuf, const struct fm_buf *recv, struct fm_op *op,
                 struct fm_comm *comm)
{
    struct fm_coll c = {.kind = FM_COLL_ALLREDUCE, .comm = comm, .recv = side_of(recv), .op = op};

    c.send.buf = (void *)sendbuf;
    return fm_coll_run(&c);
}

int fm_gather(const struct fm_buf *send, const struct fm_buf *recv, int root, struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){.kind = FM_COLL_GATHER,
                                         .comm = comm,
                                         .send = side_of(send),
                                         .recv = side_of(recv),
                                         .root = root});
}

int fm_allgather(const struct fm_buf *send, const struct fm_buf *recv, struct fm_comm *comm)
{
    return fm_coll_run(&(struct fm_coll){
        .kind = FM_COLL_ALLGATHER, .comm = comm, .send = side_of(send), .recv = side_of(recv)});
}
