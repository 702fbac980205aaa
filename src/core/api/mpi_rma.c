/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations (MPI-5.0 12.3). */
#include "core/api/dtype_args.h"
#include "core/api/win_args.h"
#include "core/dtype/op_kernels.h"
#include "core/p2p/send.h"
#include "core/rma/rma_acc.h"
#include "core/rma/rma_op.h"
#include "core/rma/win_vars.h"
#include "util/copy.h"

/* A buffer of the origin as the user gave it. */
struct side {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
    const char *buf_name, *count_name, *type_name;
};

/* The operation as the user gave it. */
struct args {
    const char *call;
    enum fm_rma_kind kind;
    MPI_Win win;
    struct side origin, result; /* what the function has no argument for stays zero */
    int rank;
    MPI_Aint disp;
    MPI_Count target_count;
    MPI_Datatype target_type;
    MPI_Op op;
    const void *compare;
    MPI_Request *request;
    bool is_r_form;
    bool is_single; /* MPI_Fetch_and_op: predefined datatypes only */
};

#define SIDE(b, n, t)                                                                              \
    ((struct side){(b), (n), (t), "origin_addr", "origin_count", "origin_datatype"})
#define RESULT(b, n, t)                                                                            \
    ((struct side){(b), (n), (t), "result_addr", "result_count", "result_datatype"})

/* ---- checks ---- */

static int check_type(const struct args *a, struct fm_win *w, MPI_Datatype type, const char *name,
                      struct fm_dtype **out)
{
    *out = dtype_find(type);
    if (FM_UNLIKELY(!*out)) {
        return fm_raise_handle_on(w, FM_KIND_DTYPE, a->call, type, name);
    }
    if (FM_CHECKS && FM_UNLIKELY(!(*out)->is_committed)) {
        return fm_raise(w, a->call, MPI_ERR_TYPE, "%s is not committed: call MPI_Type_commit first",
                        name);
    }
    return MPI_SUCCESS;
}

FM_COLD static int bad_count(const struct args *a, struct fm_win *w, MPI_Count count,
                             const char *name)
{
    return fm_raise(w, a->call, MPI_ERR_COUNT, "%s is %lld, it must not be negative", name,
                    (long long)count);
}

static int check_side(const struct args *a, struct fm_win *w, const struct side *s,
                      struct fm_rma_side *out)
{
    int rc = check_type(a, w, s->type, s->type_name, &out->dtype);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    out->buf = (void *)(uintptr_t)s->buf;
    out->count = s->count;
    if (!FM_CHECKS) {
        return MPI_SUCCESS;
    }
    if (FM_UNLIKELY(s->count < 0)) {
        return bad_count(a, w, s->count, s->count_name);
    }
    if (FM_UNLIKELY(!s->buf) && s->count > 0 && out->dtype->is_predefined && out->dtype->size > 0) {
        return fm_raise(w, a->call, MPI_ERR_BUFFER,
                        "%s is NULL, but %s is %lld: pass the address of the data", s->buf_name,
                        s->count_name, (long long)s->count);
    }
    return MPI_SUCCESS;
}

/* The bytes of a side must be those of the target (12.3.1): both or neither of them is sent. */
static int check_length(const struct args *a, struct fm_win *w, const struct fm_rma_side *s,
                        const struct side *names, MPI_Count want)
{
    MPI_Count len = fm_dtype_bytes(s->dtype, s->count);

    if (FM_LIKELY(len == want)) {
        return MPI_SUCCESS;
    }
    return fm_raise(w, a->call, MPI_ERR_TYPE,
                    "%s and %s describe %lld bytes, the target's %lld: the signatures must match",
                    names->count_name, names->type_name, (long long)len, (long long)want);
}

/* Both sides of an accumulate are made of one predefined type (12.3.4). */
static int check_elements(const struct args *a, struct fm_win *w, const struct fm_dtype *side,
                          const struct fm_dtype *target, const char *name)
{
    const struct fm_dtype *s = side->elem, *t = target->elem;

    if (s == t || (s && t && !s->pair && !t->pair && s->basic == t->basic && s->size == t->size)) {
        return MPI_SUCCESS;
    }
    return fm_raise(w, a->call, MPI_ERR_TYPE,
                    "%s and target_datatype are not made of the same predefined datatype", name);
}

static bool is_swappable(const struct fm_dtype *t)
{
    return t->is_predefined && !t->pair &&
           (t->basic == FM_BASIC_BYTE ||
            (t->basic >= FM_BASIC_INT8 && t->basic <= FM_BASIC_UINT64) ||
            (t->basic >= FM_BASIC_BOOL && t->basic <= FM_BASIC_LOGICAL8));
}

static int check_swap(const struct args *a, struct fm_win *w, const struct fm_dtype *t)
{
    if (!is_swappable(t)) {
        return fm_raise(w, a->call, MPI_ERR_TYPE,
                        "datatype is %s: integers, logicals and MPI_BYTE can be compared and "
                        "swapped",
                        t->name[0] ? t->name : "a derived one");
    }
    if (!a->compare) {
        return fm_raise(w, a->call, MPI_ERR_BUFFER, "compare_addr is NULL");
    }
    return MPI_SUCCESS;
}

static int check_op(const struct args *a, struct fm_win *w, struct fm_rma_call *c)
{
    c->op = fm_op_get(a->op);
    if (FM_UNLIKELY(!c->op)) {
        return fm_raise_handle_on(w, FM_KIND_OP, a->call, a->op, "op");
    }
    if (FM_UNLIKELY(fm_op_check_rma(c->op, c->target_type) != 0)) {
        return fm_raise(w, a->call, MPI_ERR_OP, "%s", fm_why());
    }
    if (FM_UNLIKELY(c->op->id == FM_OP_NO_OP && c->kind == FM_RMA_CALL_ACC)) {
        return fm_raise(w, a->call, MPI_ERR_OP, "MPI_NO_OP is for operations that fetch");
    }
    return MPI_SUCCESS;
}

static int check_accumulate(const struct args *a, struct fm_win *w, struct fm_rma_call *c)
{
    int rc = MPI_SUCCESS;

    if (c->kind == FM_RMA_CALL_CAS) {
        return check_swap(a, w, c->target_type);
    }
    if (a->is_single && !c->target_type->is_predefined) {
        return fm_raise(w, a->call, MPI_ERR_TYPE, "datatype is not predefined");
    }
    rc = check_op(a, w, c);
    if (rc == MPI_SUCCESS && c->origin.dtype) {
        rc = check_elements(a, w, c->origin.dtype, c->target_type, a->origin.type_name);
    }
    if (rc == MPI_SUCCESS && c->result.dtype) {
        rc = check_elements(a, w, c->result.dtype, c->target_type, a->result.type_name);
    }
    return rc;
}

FM_COLD static int bad_rank(const struct args *a, struct fm_win *w)
{
    return fm_raise(w, a->call, MPI_ERR_RANK,
                    "target_rank is %d: allowed are the ranks 0 to %d of '%s' and MPI_PROC_NULL",
                    a->rank, w->comm->size - 1, w->name);
}

FM_COLD static int bad_epoch(const struct args *a, struct fm_win *w)
{
    return fm_raise(w, a->call, MPI_ERR_RMA_SYNC,
                    a->is_r_form ? "rank %d is not locked: request-based operations are for epochs "
                                   "of MPI_Win_lock and MPI_Win_lock_all"
                                 : "rank %d may not be accessed now: call MPI_Win_fence, "
                                   "MPI_Win_start or MPI_Win_lock first",
                    a->rank);
}

FM_COLD static int bad_range(const struct args *a, struct fm_win *w, const struct fm_win_target *t)
{
    return fm_raise(w, a->call, MPI_ERR_RMA_RANGE,
                    "target_disp is %lld: what the operation covers is not within the %lld bytes "
                    "of rank %d (displacement unit %lld)",
                    (long long)a->disp, (long long)t->size, a->rank, (long long)t->unit);
}

/* The bytes [low, high) from displacement 0 that the target's layout covers. False: overflow. */
static bool span_of(const struct fm_rma_call *c, MPI_Count *out_low, MPI_Count *out_high)
{
    const struct fm_dtype *t = c->target_type;
    MPI_Count last, low = t->true_lb, high = t->true_lb + t->true_extent;

    if (FM_UNLIKELY(__builtin_mul_overflow(c->target_count - 1, t->extent, &last))) {
        return false;
    }
    *out_low = last < 0 ? low + last : low;
    return !__builtin_add_overflow(high, last > 0 ? last : 0, out_high);
}

/* Where the operation begins, and whether all of it is in the window. Memory that is attached is
   known to its owner alone (12.2.4). */
static int check_range(const struct args *a, struct fm_win *w, struct fm_rma_call *c)
{
    const struct fm_win_target *t = &w->targets[a->rank];
    MPI_Count low, high;
    MPI_Aint at;

    if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        c->at = (uint64_t)a->disp;
        if (a->rank == w->comm->rank && span_of(c, &low, &high) &&
            !fm_win_is_attached(w, c->at + (uint64_t)low, (uint64_t)(high - low))) {
            return fm_raise(w, a->call, MPI_ERR_RMA_RANGE, "the memory is not attached");
        }
        return MPI_SUCCESS;
    }
    if (FM_UNLIKELY(a->disp < 0)) {
        return fm_raise(w, a->call, MPI_ERR_DISP, "target_disp is %lld, it must not be negative",
                        (long long)a->disp);
    }
    if (FM_UNLIKELY(__builtin_mul_overflow(a->disp, t->unit, &at) || !span_of(c, &low, &high) ||
                    at > t->size || low + at < 0 || high > t->size - at)) {
        return bad_range(a, w, t);
    }
    c->at = (uint64_t)at;
    return MPI_SUCCESS;
}

/* The origin's buffers, as far as the operation has them. */
static int check_sides(const struct args *a, struct fm_win *w, struct fm_rma_call *c)
{
    bool is_read = a->origin.buf_name && !(a->op == MPI_NO_OP && a->kind == FM_RMA_CALL_GET_ACC);
    MPI_Count want;
    int rc = check_type(a, w, a->target_type, "target_datatype", &c->target_type);

    if (rc == MPI_SUCCESS && FM_CHECKS && FM_UNLIKELY(a->target_count < 0)) {
        rc = bad_count(a, w, a->target_count, "target_count");
    }
    if (rc == MPI_SUCCESS && is_read) {
        rc = check_side(a, w, &a->origin, &c->origin);
    }
    if (rc == MPI_SUCCESS && a->result.buf_name) {
        rc = check_side(a, w, &a->result, &c->result);
    }
    if (rc != MPI_SUCCESS || !FM_CHECKS) {
        return rc;
    }
    want = fm_dtype_bytes(c->target_type, a->target_count);
    if (is_read) {
        rc = check_length(a, w, &c->origin, &a->origin, want);
    }
    if (rc == MPI_SUCCESS && a->result.buf_name) {
        rc = check_length(a, w, &c->result, &a->result, want);
    }
    return rc;
}

static int check(const struct args *a, struct fm_win *w, struct fm_rma_call *c)
{
    uint8_t least = a->is_r_form ? FM_WIN_OPEN_SHARED : FM_WIN_OPEN_FENCE;
    int rc = check_sides(a, w, c);

    if (rc == MPI_SUCCESS && a->kind >= FM_RMA_CALL_ACC) {
        rc = check_accumulate(a, w, c);
    }
    if (rc == MPI_SUCCESS && a->is_r_form) {
        rc = fm_find_out(w, a->call, "request", a->request);
    }
    if (rc != MPI_SUCCESS || a->rank == MPI_PROC_NULL) {
        return rc;
    }
    if (FM_UNLIKELY((unsigned)a->rank >= (unsigned)w->comm->size)) {
        return bad_rank(a, w);
    }
    if (FM_UNLIKELY(w->targets[a->rank].is_open < least)) {
        return bad_epoch(a, w);
    }
    return c->target_count == 0 || c->target_type->size == 0 ? MPI_SUCCESS : check_range(a, w, c);
}

/* ---- the plain case ---- */

/* Elements of one predefined type on both sides, in memory that is mapped here: what most calls of
   programs that count nanoseconds are. */
struct plain {
    struct fm_win *w;
    struct fm_win_target *t;
    struct fm_dtype *type;
    char *at; /* of the target's memory */
    size_t len;
};

/* True and filled, or false and all is still to be looked at, which may find nothing wrong. */
static FM_INLINE bool is_plain(MPI_Win win, const void *buf, MPI_Count count, MPI_Datatype type,
                               int rank, MPI_Aint disp, MPI_Count target_count,
                               MPI_Datatype target_type, struct plain *p)
{
    MPI_Aint at;

    p->w = fm_win_get(win);
    p->type = fm_dtype_get(type);
    if (!p->w || !p->type || !p->type->is_predefined || !p->type->is_contig ||
        type != target_type || count != target_count || count <= 0 || count > INT32_MAX || !buf ||
        (unsigned)rank >= (unsigned)p->w->comm->size) {
        return false;
    }
    p->t = &p->w->targets[rank];
    p->len = (size_t)(count * p->type->size);
    if (!p->t->is_open || p->t->way != FM_WIN_DIRECT || disp < 0 ||
        __builtin_mul_overflow(disp, p->t->unit, &at) || at > p->t->size ||
        (MPI_Aint)p->len > p->t->size - at) {
        return false; /* dynamic windows have size 0 */
    }
    p->at = p->t->base + at;
    return true;
}

static FM_INLINE void count_plain(const struct plain *p, enum fm_rma_kind kind)
{
    p->w->is_used = true;
    FM_STAT(fm_rma_count(p->w, kind, FM_WIN_DIRECT, p->len));
}

/* Done? */
static FM_INLINE bool put_plain(const char *call, const void *buf, MPI_Count count,
                                MPI_Datatype type, int rank, MPI_Aint disp, MPI_Count target_count,
                                MPI_Datatype target_type, MPI_Win win)
{
    struct plain p;
    bool is_done;

    fm_api_enter(call);
    is_done = is_plain(win, buf, count, type, rank, disp, target_count, target_type, &p);
    if (FM_LIKELY(is_done)) {
        fm_copy(p.at, buf, p.len);
        count_plain(&p, FM_RMA_CALL_PUT);
    }
    fm_api_leave();
    return is_done;
}

static FM_INLINE bool get_plain(const char *call, void *buf, MPI_Count count, MPI_Datatype type,
                                int rank, MPI_Aint disp, MPI_Count target_count,
                                MPI_Datatype target_type, MPI_Win win)
{
    struct plain p;
    bool is_done;

    fm_api_enter(call);
    is_done = is_plain(win, buf, count, type, rank, disp, target_count, target_type, &p);
    if (FM_LIKELY(is_done)) {
        fm_copy(buf, p.at, p.len);
        count_plain(&p, FM_RMA_CALL_GET);
    }
    fm_api_leave();
    return is_done;
}

/* `result` NULL: nothing is fetched; `op` NULL: compare and swap. */
static FM_INLINE bool update_plain(const char *call, const void *buf, const void *compare,
                                   void *result, MPI_Count count, MPI_Datatype type, int rank,
                                   MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type,
                                   MPI_Op op, MPI_Win win)
{
    struct plain p;
    struct fm_acc a = {.compare = compare};
    bool is_done;

    fm_api_enter(call);
    is_done = is_plain(win, buf, count, type, rank, disp, target_count, target_type, &p);
    if (FM_LIKELY(is_done)) {
        a.op = compare ? NULL : fm_op_get(op);
        a.elem = p.type;
        is_done = compare ? is_swappable(p.type)
                          : a.op && fm_op_check_rma(a.op, p.type) == 0 &&
                                (result || a.op->id != FM_OP_NO_OP);
    }
    if (FM_LIKELY(is_done)) {
        const struct fm_acc_run run = {(uint64_t)(p.at - p.t->base), (size_t)count, buf, result};

        fm_acc_apply(p.w, p.t, &a, &run); /* memory that is here: it cannot fail */
        count_plain(&p, compare ? FM_RMA_CALL_CAS : result ? FM_RMA_CALL_GET_ACC : FM_RMA_CALL_ACC);
    }
    fm_api_leave();
    return is_done;
}

/* ---- calls ---- */

static int start(const struct args *a, struct fm_win *w, struct fm_rma_call *c)
{
    struct fm_request *r = NULL;
    bool is_empty = a->rank == MPI_PROC_NULL || c->target_count == 0 || c->target_type->size == 0;
    int rc = fm_rma_start(w, is_empty ? NULL : c, a->is_r_form ? &r : NULL);

    if (FM_UNLIKELY(rc != 0)) {
        return fm_raise_status(w, a->call, rc);
    }
    if (a->is_r_form) {
        *a->request = fm_handle_of(r);
    }
    return MPI_SUCCESS;
}

static FM_INLINE int operate(const struct args *a)
{
    struct fm_rma_call c = {
        .kind = a->kind, .rank = a->rank, .target_count = a->target_count, .compare = a->compare};
    struct fm_win *w;
    int rc;

    fm_api_enter(a->call);
    w = fm_win_get(a->win);
    if (FM_LIKELY(w != NULL)) {
        rc = check(a, w, &c);
        rc = FM_LIKELY(rc == MPI_SUCCESS) ? start(a, w, &c) : rc;
    } else {
        rc = fm_raise_handle(FM_KIND_WIN, a->call, a->win, "win");
    }
    fm_api_leave();
    return rc;
}

static int put(const char *call, struct side origin, int rank, MPI_Aint disp, MPI_Count count,
               MPI_Datatype type, MPI_Win win, bool is_r_form, MPI_Request *request)
{
    const struct args a = {.call = call,
                           .kind = FM_RMA_CALL_PUT,
                           .win = win,
                           .origin = origin,
                           .rank = rank,
                           .disp = disp,
                           .target_count = count,
                           .target_type = type,
                           .request = request,
                           .is_r_form = is_r_form};

    return operate(&a);
}

static int get(const char *call, struct side origin, int rank, MPI_Aint disp, MPI_Count count,
               MPI_Datatype type, MPI_Win win, bool is_r_form, MPI_Request *request)
{
    const struct args a = {.call = call,
                           .kind = FM_RMA_CALL_GET,
                           .win = win,
                           .result = origin,
                           .rank = rank,
                           .disp = disp,
                           .target_count = count,
                           .target_type = type,
                           .request = request,
                           .is_r_form = is_r_form};

    return operate(&a);
}

/* result.buf_name NULL: nothing is fetched. */
static int accumulate(const char *call, struct side origin, struct side result, int rank,
                      MPI_Aint disp, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Win win,
                      bool is_r_form, MPI_Request *request)
{
    const struct args a = {.call = call,
                           .kind = result.buf_name ? FM_RMA_CALL_GET_ACC : FM_RMA_CALL_ACC,
                           .win = win,
                           .origin = origin,
                           .result = result,
                           .rank = rank,
                           .disp = disp,
                           .target_count = count,
                           .target_type = type,
                           .op = op,
                           .request = request,
                           .is_r_form = is_r_form};

    return operate(&a);
}

#define NOTHING ((struct side){0})

int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win)
{
    if (FM_LIKELY(put_plain(FM_CALL, origin_addr, origin_count, origin_datatype, target_rank,
                            target_disp, target_count, target_datatype, win))) {
        return MPI_SUCCESS;
    }
    return put(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, false, NULL);
}
FM_ALIAS(Put)

int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    if (FM_LIKELY(put_plain(FM_CALL, origin_addr, origin_count, origin_datatype, target_rank,
                            target_disp, target_count, target_datatype, win))) {
        return MPI_SUCCESS;
    }
    return put(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, false, NULL);
}
FM_ALIAS(Put_c)

int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request *request)
{
    return put(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, true, request);
}
FM_ALIAS(Rput)

int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return put(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, true, request);
}
FM_ALIAS(Rput_c)

int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    if (FM_LIKELY(get_plain(FM_CALL, origin_addr, origin_count, origin_datatype, target_rank,
                            target_disp, target_count, target_datatype, win))) {
        return MPI_SUCCESS;
    }
    return get(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, false, NULL);
}
FM_ALIAS(Get)

int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win)
{
    if (FM_LIKELY(get_plain(FM_CALL, origin_addr, origin_count, origin_datatype, target_rank,
                            target_disp, target_count, target_datatype, win))) {
        return MPI_SUCCESS;
    }
    return get(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, false, NULL);
}
FM_ALIAS(Get_c)

int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return get(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, true, request);
}
FM_ALIAS(Rget)

int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request)
{
    return get(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), target_rank, target_disp,
               target_count, target_datatype, win, true, request);
}
FM_ALIAS(Rget_c)

int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    if (FM_LIKELY(update_plain(FM_CALL, origin_addr, NULL, NULL, origin_count, origin_datatype,
                               target_rank, target_disp, target_count, target_datatype, op, win))) {
        return MPI_SUCCESS;
    }
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), NOTHING,
                      target_rank, target_disp, target_count, target_datatype, op, win, false,
                      NULL);
}
FM_ALIAS(Accumulate)

int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    if (FM_LIKELY(update_plain(FM_CALL, origin_addr, NULL, NULL, origin_count, origin_datatype,
                               target_rank, target_disp, target_count, target_datatype, op, win))) {
        return MPI_SUCCESS;
    }
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), NOTHING,
                      target_rank, target_disp, target_count, target_datatype, op, win, false,
                      NULL);
}
FM_ALIAS(Accumulate_c)

int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), NOTHING,
                      target_rank, target_disp, target_count, target_datatype, op, win, true,
                      request);
}
FM_ALIAS(Raccumulate)

int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                       MPI_Request *request)
{
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype), NOTHING,
                      target_rank, target_disp, target_count, target_datatype, op, win, true,
                      request);
}
FM_ALIAS(Raccumulate_c)

int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype),
                      RESULT(result_addr, result_count, result_datatype), target_rank, target_disp,
                      target_count, target_datatype, op, win, false, NULL);
}
FM_ALIAS(Get_accumulate)

int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win)
{
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype),
                      RESULT(result_addr, result_count, result_datatype), target_rank, target_disp,
                      target_count, target_datatype, op, win, false, NULL);
}
FM_ALIAS(Get_accumulate_c)

int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype),
                      RESULT(result_addr, result_count, result_datatype), target_rank, target_disp,
                      target_count, target_datatype, op, win, true, request);
}
FM_ALIAS(Rget_accumulate)

int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
                           MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                           MPI_Win win, MPI_Request *request)
{
    return accumulate(FM_CALL, SIDE(origin_addr, origin_count, origin_datatype),
                      RESULT(result_addr, result_count, result_datatype), target_rank, target_disp,
                      target_count, target_datatype, op, win, true, request);
}
FM_ALIAS(Rget_accumulate_c)

/* One element; its datatype is that of both sides. */
#define ONE(b, name, t) ((struct side){(b), 1, (t), (name), "the count", "datatype"})

int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    const struct args a = {.call = FM_CALL,
                           .kind = FM_RMA_CALL_GET_ACC,
                           .win = win,
                           .origin = ONE(origin_addr, "origin_addr", datatype),
                           .result = ONE(result_addr, "result_addr", datatype),
                           .rank = target_rank,
                           .disp = target_disp,
                           .target_count = 1,
                           .target_type = datatype,
                           .op = op,
                           .is_single = true};

    if (FM_LIKELY(result_addr && update_plain(FM_CALL, origin_addr, NULL, result_addr, 1, datatype,
                                              target_rank, target_disp, 1, datatype, op, win))) {
        return MPI_SUCCESS;
    }
    return operate(&a);
}
FM_ALIAS(Fetch_and_op)

int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    const struct args a = {.call = FM_CALL,
                           .kind = FM_RMA_CALL_CAS,
                           .win = win,
                           .origin = ONE(origin_addr, "origin_addr", datatype),
                           .result = ONE(result_addr, "result_addr", datatype),
                           .rank = target_rank,
                           .disp = target_disp,
                           .target_count = 1,
                           .target_type = datatype,
                           .compare = compare_addr};

    if (FM_LIKELY(compare_addr && result_addr &&
                  update_plain(FM_CALL, origin_addr, compare_addr, result_addr, 1, datatype,
                               target_rank, target_disp, 1, datatype, MPI_OP_NULL, win))) {
        return MPI_SUCCESS;
    }
    return operate(&a);
}
FM_ALIAS(Compare_and_swap)
