/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of the arguments of collectives (MPI-5.0 chapter 6). */
#include "core/api/coll_args.h"

#include <stdlib.h>

#include "core/api/coll_alias.h"
#include "core/api/coll_check.h"
#include "core/api/dtype_args.h"
#include "core/api/find.h"
#include "core/coll/coll_vars.h"

/* One call while it is being prepared. */
struct call {
    const struct fm_coll_args *a;
    struct fm_coll c;
    struct fm_dtype **dtypes; /* w: of both sides */
};

#define RAISE(k, klass, ...) fm_raise((k)->c.comm, (k)->a->form.call, klass, __VA_ARGS__)

static bool has_root(enum fm_coll_kind kind)
{
    return kind == FM_COLL_BCAST || kind == FM_COLL_REDUCE || kind == FM_COLL_GATHER ||
           kind == FM_COLL_SCATTER;
}

static bool is_reduction(enum fm_coll_kind kind)
{
    return kind == FM_COLL_REDUCE || kind == FM_COLL_ALLREDUCE || kind == FM_COLL_REDUCE_SCATTER ||
           kind == FM_COLL_SCAN || kind == FM_COLL_EXSCAN;
}

static int find_type(const struct call *k, MPI_Datatype handle, const char *side,
                     struct fm_dtype **out_type)
{
    struct fm_dtype *t = dtype_find(handle);

    if (!t) {
        return fm_raise_handle_on(k->c.comm, FM_KIND_DTYPE, k->a->form.call, handle, side);
    }
    if (!t->is_committed) {
        return RAISE(k, MPI_ERR_TYPE, "%s is not committed: call MPI_Type_commit first", side);
    }
    *out_type = t;
    return MPI_SUCCESS;
}

/* Blocks of a side with a block per rank or per edge. */
static int n_blocks(const struct call *k, const struct fm_side *s)
{
    if (fm_coll_is_neighborhood(k->a->kind)) {
        const struct fm_neighbors *near = fm_coll_neighbors(k->c.comm);

        return s == &k->c.send ? near->n_dests : near->n_sources;
    }
    return is_reduction(k->a->kind) ? k->c.comm->size : k->c.comm->n_remote;
}

/* Counts of n blocks; *out_has_data tells whether there is any byte. */
static int check_counts(const struct call *k, const struct fm_side *s, int n, const char *side,
                        bool *out_has_data)
{
    *out_has_data = false;
    for (int i = 0; i < n; i++) {
        MPI_Count count = fm_side_count(s, i);

        if (count < 0 && s->counts) {
            return RAISE(k, MPI_ERR_COUNT, "%scounts[%d] is %lld, it must not be negative", side, i,
                         (long long)count);
        }
        if (count < 0) {
            return RAISE(k, MPI_ERR_COUNT, "%scount is %lld, it must not be negative", side,
                         (long long)count);
        }
        *out_has_data =
            *out_has_data || (count > 0 && (s->dtypes ? s->dtypes[i] : s->dtype)->size > 0);
    }
    return MPI_SUCCESS;
}

static int find_types(struct call *k, const struct fm_side_args *in, struct fm_side *s,
                      const char *name)
{
    struct fm_dtype **to = k->dtypes + (s == &k->c.recv ? n_blocks(k, &k->c.send) : 0);
    int n = n_blocks(k, s), rc = MPI_SUCCESS;

    if (!k->dtypes) {
        return find_type(k, in->type, name, &s->dtype);
    }
    if (!in->types) {
        return RAISE(k, MPI_ERR_ARG, "%ss is NULL: pass an array with a type per rank", name);
    }
    for (int i = 0; rc == MPI_SUCCESS && i < n; i++) {
        rc = find_type(k, in->types[i], name, &to[i]);
    }
    s->dtypes = to;
    s->dtype = to[0];
    return rc;
}

/* How messages call the arguments of a side. */
struct names {
    const char *prefix, *type, *buf;
};

static struct names names_of(const struct call *k, bool is_send)
{
    switch (k->a->kind) {
    case FM_COLL_BCAST:
        return (struct names){"", "datatype", "buffer"};
    case FM_COLL_REDUCE_SCATTER:
        return (struct names){"recv", "datatype", "recvbuf"};
    default:
        break;
    }
    if (is_reduction(k->a->kind)) {
        return (struct names){"", "datatype", "recvbuf"};
    }
    return is_send ? (struct names){"send", "sendtype", "sendbuf"}
                   : (struct names){"recv", "recvtype", "recvbuf"};
}

/* A side that counts on this rank; `is_per_rank`: it has a block per rank. */
static int take_side(struct call *k, const struct fm_side_args *in, struct fm_side *s,
                     bool is_per_rank)
{
    struct names names = names_of(k, s == &k->c.send);
    bool has_arrays = in->is_varying && is_per_rank, has_data;
    int rc;

    if (has_arrays && n_blocks(k, s) == 0) { /* no edges: the arrays may be NULL */
        *s = (struct fm_side){.buf = (void *)in->buf, .dtype = fm_dtype_byte()};
        return MPI_SUCCESS;
    }
    if (has_arrays && (!in->counts || (!in->displs && !is_reduction(k->a->kind)))) {
        return RAISE(k, MPI_ERR_ARG, "%s is NULL: pass an array with an element per rank",
                     in->counts ? "displs" : "counts");
    }
    rc = find_types(k, in, s, names.type);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    s->buf = (void *)in->buf;
    s->count = in->count;
    s->counts = in->counts;
    s->displs = in->displs;
    s->is_large = in->is_large;
    s->has_large_displs = in->has_large_displs;
    rc = check_counts(k, s, has_arrays ? n_blocks(k, s) : 1, names.prefix, &has_data);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    /* NULL is MPI_BOTTOM, which only derived types with absolute addresses make sense of. */
    if (!s->buf && has_data && !s->dtypes && s->dtype->is_predefined) {
        return RAISE(k, MPI_ERR_BUFFER, "%s is NULL but there is data to hold", names.buf);
    }
    return MPI_SUCCESS;
}

static int refuse_in_place(const struct call *k, const char *buf)
{
    return RAISE(k, MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which is not allowed here", buf);
}

/* Is there any byte in the first block, or in all of them where they differ? */
static bool has_data(const struct call *k)
{
    const struct fm_side *s = &k->c.recv;
    int n = s->counts ? n_blocks(k, s) : 1;

    for (int i = 0; i < n; i++) {
        if (fm_side_count(s, i) > 0 && (s->dtypes ? s->dtypes[i] : s->dtype)->size > 0) {
            return true;
        }
    }
    return false;
}

static int refuse_alias(const struct call *k, bool is_aliased)
{
    return is_aliased
               ? RAISE(k, MPI_ERR_BUFFER,
                       "sendbuf and recvbuf overlap: pass MPI_IN_PLACE to work in one buffer")
               : MPI_SUCCESS;
}

/* Both sides count here: blocks of all ranks on the sides that have them. */
static int check_alias(const struct call *k)
{
    enum fm_coll_kind kind = k->a->kind;
    bool has_send_blocks =
        kind == FM_COLL_SCATTER || kind == FM_COLL_ALLTOALL || kind == FM_COLL_NEIGHBOR_ALLTOALL;
    int n_send = has_send_blocks ? n_blocks(k, &k->c.send) : 1;
    int n_recv = kind == FM_COLL_SCATTER ? 1 : n_blocks(k, &k->c.recv);

    return refuse_alias(k, fm_coll_alias_check(&k->c.send, n_send, &k->c.recv, n_recv));
}

/* A reduction: the vectors have the counts of the result's side. */
static int check_alias_reduction(const struct call *k)
{
    const struct fm_side *r = &k->c.recv;
    struct fm_side send = {.buf = k->c.send.buf, .dtype = r->dtype};
    struct fm_side recv = {.buf = r->buf, .dtype = r->dtype};

    if (send.buf == MPI_IN_PLACE) {
        return MPI_SUCCESS;
    }
    recv.count = fm_side_count(r, k->c.comm->rank);
    send.count = recv.count;
    if (k->a->kind == FM_COLL_REDUCE_SCATTER) {
        send.count = 0;
        for (int i = 0; i < n_blocks(k, r); i++) {
            send.count += fm_side_count(r, i);
        }
    }
    return refuse_alias(k, fm_coll_alias_check(&send, 1, &recv, 1));
}

/* The buffers of a reduction, before anything is known of the data. */
static int check_in_place(const struct call *k, bool is_result_here)
{
    if (is_result_here && k->a->recv.buf == MPI_IN_PLACE) {
        return refuse_in_place(k, "recvbuf");
    }
    if (!is_result_here && k->a->send.buf == MPI_IN_PLACE) {
        return RAISE(k, MPI_ERR_BUFFER, "sendbuf is MPI_IN_PLACE, which only the root may pass");
    }
    return MPI_SUCCESS;
}

static int take_reduction(struct call *k)
{
    const struct fm_coll_args *a = k->a;
    int own = k->c.comm->is_inter ? MPI_ROOT : k->c.comm->rank;
    bool is_result_here = a->kind != FM_COLL_REDUCE || a->root == own;
    bool is_input_here = !k->c.comm->is_inter || a->kind != FM_COLL_REDUCE || a->root != own;
    struct fm_side_args recv = a->recv;
    int rc = check_in_place(k, is_result_here);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    /* Elsewhere the result's buffer means nothing: check the other one in its place. */
    recv.buf = is_result_here ? recv.buf : a->send.buf;
    rc = take_side(k, &recv, &k->c.recv, true);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    k->c.op = fm_op_get(a->op);
    if (!k->c.op) {
        return fm_raise_handle_on(k->c.comm, FM_KIND_OP, a->form.call, a->op, "op");
    }
    if (fm_op_check(k->c.op, k->c.recv.dtype) != 0) {
        return RAISE(k, MPI_ERR_OP, "%s", fm_why());
    }
    k->c.send.buf = (void *)a->send.buf;
    k->c.send.dtype = k->c.recv.dtype;
    if (is_input_here && !a->send.buf && k->c.recv.dtype->is_predefined && has_data(k)) {
        return RAISE(k, MPI_ERR_BUFFER, "sendbuf is NULL but there is data to reduce");
    }
    return is_result_here && is_input_here ? check_alias_reduction(k) : MPI_SUCCESS;
}

/* Gather and scatter: `all` is the side with a block per rank, at the root only. */
static int take_rooted(struct call *k, const struct fm_side_args *all_in, struct fm_side *all,
                       const struct fm_side_args *one_in, struct fm_side *one)
{
    bool is_root = k->c.comm->rank == k->a->root;
    const char *one_name = one == &k->c.send ? "sendbuf" : "recvbuf";
    int rc;

    if (is_root && all_in->buf == MPI_IN_PLACE) {
        return refuse_in_place(k, one == &k->c.send ? "recvbuf" : "sendbuf");
    }
    if (!is_root && one_in->buf == MPI_IN_PLACE) {
        return RAISE(k, MPI_ERR_BUFFER, "%s is MPI_IN_PLACE, which only the root may pass",
                     one_name);
    }
    if (is_root) {
        rc = take_side(k, all_in, all, true);
        if (rc != MPI_SUCCESS) {
            return rc;
        }
    }
    if (one_in->buf == MPI_IN_PLACE) {
        one->buf = MPI_IN_PLACE;
        return MPI_SUCCESS;
    }
    rc = take_side(k, one_in, one, false);
    return rc == MPI_SUCCESS && is_root ? check_alias(k) : rc;
}

/* 8.6: nothing is in place. */
static int take_neighborhood(struct call *k)
{
    const struct fm_coll_args *a = k->a;
    int rc;

    if (a->recv.buf == MPI_IN_PLACE || a->send.buf == MPI_IN_PLACE) {
        return refuse_in_place(k, a->send.buf == MPI_IN_PLACE ? "sendbuf" : "recvbuf");
    }
    rc = take_side(k, &a->recv, &k->c.recv, true);
    rc = rc == MPI_SUCCESS
             ? take_side(k, &a->send, &k->c.send, a->kind == FM_COLL_NEIGHBOR_ALLTOALL)
             : rc;
    return rc == MPI_SUCCESS ? check_alias(k) : rc;
}

/* Allgather and alltoall. */
static int take_symmetric(struct call *k)
{
    const struct fm_coll_args *a = k->a;
    int rc;

    if (a->recv.buf == MPI_IN_PLACE) {
        return refuse_in_place(k, "recvbuf");
    }
    rc = take_side(k, &a->recv, &k->c.recv, true);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (a->send.buf == MPI_IN_PLACE) {
        k->c.send.buf = MPI_IN_PLACE;
        return MPI_SUCCESS;
    }
    rc = take_side(k, &a->send, &k->c.send, a->kind == FM_COLL_ALLTOALL);
    return rc == MPI_SUCCESS ? check_alias(k) : rc;
}

static int take_all(struct call *k)
{
    switch (k->a->kind) {
    case FM_COLL_BARRIER:
        return MPI_SUCCESS;
    case FM_COLL_BCAST:
        if (k->a->recv.buf == MPI_IN_PLACE) {
            return refuse_in_place(k, "buffer");
        }
        return take_side(k, &k->a->recv, &k->c.recv, false);
    case FM_COLL_GATHER:
        return take_rooted(k, &k->a->recv, &k->c.recv, &k->a->send, &k->c.send);
    case FM_COLL_SCATTER:
        return take_rooted(k, &k->a->send, &k->c.send, &k->a->recv, &k->c.recv);
    case FM_COLL_ALLGATHER:
    case FM_COLL_ALLTOALL:
        return take_symmetric(k);
    case FM_COLL_NEIGHBOR_ALLGATHER:
    case FM_COLL_NEIGHBOR_ALLTOALL:
        return take_neighborhood(k);
    default:
        return take_reduction(k);
    }
}

/* Intercommunicators: a side counts where data of the other group comes in, or own data leaves. */
static int take_inter_rooted(struct call *k)
{
    const struct fm_coll_args *a = k->a;

    if (a->root == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    switch (a->kind) {
    case FM_COLL_BCAST:
        return take_side(k, &a->recv, &k->c.recv, false);
    case FM_COLL_GATHER:
        return a->root == MPI_ROOT ? take_side(k, &a->recv, &k->c.recv, true)
                                   : take_side(k, &a->send, &k->c.send, false);
    case FM_COLL_SCATTER:
        return a->root == MPI_ROOT ? take_side(k, &a->send, &k->c.send, true)
                                   : take_side(k, &a->recv, &k->c.recv, false);
    default:
        return take_reduction(k);
    }
}

static int take_inter(struct call *k)
{
    const struct fm_coll_args *a = k->a;

    if (a->send.buf == MPI_IN_PLACE || a->recv.buf == MPI_IN_PLACE) {
        return refuse_in_place(k, a->send.buf == MPI_IN_PLACE ? "sendbuf" : "recvbuf");
    }
    if (has_root(a->kind)) {
        return take_inter_rooted(k);
    }
    return take_all(k);
}

static bool is_root_valid(const struct fm_comm *comm, int root)
{
    if (comm->is_inter && (root == MPI_ROOT || root == MPI_PROC_NULL)) {
        return true;
    }
    return root >= 0 && root < comm->n_remote;
}

/* What a communicator must be for the call. */
static int check_comm(const struct call *k)
{
    const struct fm_coll_args *a = k->a;
    const struct fm_comm *comm = k->c.comm;

    if (fm_coll_is_neighborhood(a->kind) && !fm_coll_neighbors(comm)) {
        return RAISE(k, MPI_ERR_TOPOLOGY, "communicator '%s' has no topology", comm->name);
    }
    if (comm->is_inter && (a->kind == FM_COLL_SCAN || a->kind == FM_COLL_EXSCAN)) {
        return RAISE(k, MPI_ERR_COMM, "comm is an intercommunicator: scans have no meaning there");
    }
    if (has_root(a->kind) && !is_root_valid(comm, a->root)) {
        return RAISE(k, MPI_ERR_ROOT, "root is %d but communicator '%s' has %sranks 0..%d%s",
                     a->root, comm->name, comm->is_inter ? "remote " : "", comm->n_remote - 1,
                     comm->is_inter ? ", MPI_ROOT and MPI_PROC_NULL" : "");
    }
    return MPI_SUCCESS;
}

static int prepare(struct call *k)
{
    const struct fm_coll_args *a = k->a;
    struct fm_comm *comm = fm_comm_get(a->comm);
    int rc;

    if (!comm) {
        return fm_raise_handle(FM_KIND_COMM, a->form.call, a->comm, "comm");
    }
    k->c.comm = comm;
    k->c.kind = a->kind;
    k->c.root = a->root;
    k->c.is_varying = a->send.is_varying || a->recv.is_varying;
    rc = check_comm(k);
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (a->recv.types || a->send.types) {
        size_t n = (size_t)n_blocks(k, &k->c.send) + (size_t)n_blocks(k, &k->c.recv);

        k->dtypes = calloc(n + 1, sizeof(*k->dtypes));
        if (!k->dtypes) {
            return RAISE(k, MPI_ERR_NO_MEM, "no memory for %zu types", n);
        }
    }
    return comm->is_inter ? take_inter(k) : take_all(k);
}

static int run(struct call *k)
{
    k->c.is_users = true;
    return fm_raise_status(k->c.comm, k->a->form.call, fm_coll_run(&k->c));
}

static int make_request(struct call *k)
{
    const struct fm_coll_form *form = &k->a->form;
    struct fm_request *r;
    int rc = fm_find_out(k->c.comm, form->call, "request", form->request);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = form->kind == FM_PERSISTENT ? fm_coll_persist(&k->c, &r) : fm_coll_start(&k->c, &r);
    if (rc != 0) {
        return fm_raise_status(k->c.comm, form->call, rc);
    }
    *form->request = fm_handle_of(r);
    return MPI_SUCCESS;
}

static int check_hints(const struct fm_coll_args *a)
{
    struct fm_info *hints;

    return a->form.kind == FM_PERSISTENT
               ? fm_find_info(fm_comm_get(a->comm), a->form.call, a->form.info, true, &hints)
               : MPI_SUCCESS;
}

int fm_coll_args_call(const struct fm_coll_args *a)
{
    struct call k = {.a = a};
    int rc;

    fm_api_enter(a->form.call);
    rc = check_hints(a);
    rc = rc == MPI_SUCCESS ? prepare(&k) : rc;
    if (rc == MPI_SUCCESS && FM_UNLIKELY(fm_coll_counters->check)) {
        rc = fm_coll_check(a, &k.c);
    }
    if (rc == MPI_SUCCESS) {
        rc = a->form.kind == FM_BLOCKING ? run(&k) : make_request(&k);
    }
    free(k.dtypes);
    fm_api_leave();
    return rc;
}
