/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making windows (MPI-5.0 12.2.1 to 12.2.4). Ranks of one host that may share memory form a clique;
 * its lowest rank makes one segment for all of it:
 *
 *     control block of each | gap up to a page | memory of each, for allocated windows
 *
 * Three rounds of allgather: sizes and cliques; where the segments are; who could attach them, and
 * where its memory lies. A failure in one rank is known to all by the last.
 */
#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/comm/comm_make.h"
#include "core/object/info.h"
#include "core/p2p/channel.h"
#include "core/rma/rma_copy.h"
#include "core/rma/rma_target.h"
#include "core/rma/win.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

#define PAGE FM_WIN_MAX_ALIGNMENT
/* In front of what a segment's user sees, see util/segment.c. */
#define SEGMENT_HEAD FM_CACHE_LINE

/* What a rank says of itself. */
struct offer {
    int64_t size, unit;
    int32_t leader;     /* lowest rank of its clique */
    int32_t status;     /* 0, -FM_E_..., or an MPI error class */
    int32_t is_settled; /* its memory is in place */
    int32_t is_contig;
    uint64_t base;      /* of allocated memory */
    uint64_t user_base; /* MPI_Win_create */
    struct fm_segment_address segment;
};

struct making {
    const struct fm_win_args *args;
    struct fm_win *w;
    struct offer mine;
    struct offer *all;
    int n_clique; /* ranks of ours */
};

static bool is_allocated(const struct fm_win_args *a)
{
    return a->flavor == MPI_WIN_FLAVOR_ALLOCATE || a->flavor == MPI_WIN_FLAVOR_SHARED;
}

static int exchange(struct making *m)
{
    const struct fm_buf out = {&m->mine, sizeof(m->mine), fm_dtype_byte()};
    const struct fm_buf in = {m->all, sizeof(m->mine), fm_dtype_byte()};

    return fm_allgather(&out, &in, m->w->comm);
}

static int lowest_near(const struct fm_comm *comm)
{
    const struct fm_channel *ch = comm->ch;
    int r = 0;

    while (r < comm->rank &&
           !(ch->is_near && ch->is_near(ch->resolve_ctx, fm_comm_proc(comm, r)))) {
        r++;
    }
    return r;
}

static bool is_in_clique(const struct making *m, int rank)
{
    return m->all[rank].leader == m->mine.leader;
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- the segment ---- */

static size_t ctl_len(const struct making *m)
{
    return fm_win_ctl_len(m->w->comm->size);
}

/* Where the memory of the clique begins, so that its address is that of a page. */
static size_t memory_at(const struct making *m)
{
    return round_up(SEGMENT_HEAD + (size_t)m->n_clique * ctl_len(m), PAGE) - SEGMENT_HEAD;
}

/* Where the memory of a rank begins in the clique's, or, for comm->size, where all ends: one behind
   the other where that was asked for (12.2.3), else each on a page of its own. */
static size_t part_at(const struct making *m, int rank)
{
    size_t at = 0;

    for (int r = 0; r < rank; r++) {
        if (is_in_clique(m, r)) {
            at += m->all[0].is_contig ? (size_t)m->all[r].size
                                      : round_up((size_t)m->all[r].size, PAGE);
        }
    }
    return at;
}

static size_t segment_len(const struct making *m)
{
    return memory_at(m) + (is_allocated(m->args) ? part_at(m, m->w->comm->size) : 0);
}

static struct fm_win_ctl *ctl_of(const struct making *m, int rank)
{
    size_t n_before = 0;

    for (int r = 0; r < rank; r++) {
        n_before += is_in_clique(m, r);
    }
    return (struct fm_win_ctl *)((char *)m->w->segment.base + n_before * ctl_len(m));
}

static char *part_of(const struct making *m, int rank)
{
    return (char *)m->w->segment.base + memory_at(m) + part_at(m, rank);
}

static int make_private(struct making *m)
{
    size_t len = ctl_len(m), align = (size_t)m->w->alignment;
    size_t at = round_up(len, align);

    if (is_allocated(m->args)) {
        len = at + (size_t)m->mine.size;
    }
    m->w->private_memory = aligned_alloc(align, round_up(len ? len : 1, align));
    if (!m->w->private_memory) {
        return fm_fail(-FM_E_NOMEM, "no memory for a window of %zu bytes", len);
    }
    memset(m->w->private_memory, 0, at < len ? at : len);
    m->w->own = m->w->private_memory;
    m->mine.base = (uintptr_t)m->w->private_memory + at;
    return 0;
}

static void count_clique(struct making *m)
{
    m->n_clique = 0;
    for (int r = 0; r < m->w->comm->size; r++) {
        m->n_clique += is_in_clique(m, r);
    }
}

/* The leader of a clique of several makes their segment. */
static void offer_segment(struct making *m)
{
    if (m->n_clique < 2 || m->mine.leader != m->w->comm->rank) {
        return;
    }
    m->mine.status = fm_segment_create(segment_len(m), &m->w->segment);
    if (m->mine.status == 0) {
        m->mine.segment = fm_segment_address(&m->w->segment);
    }
}

static bool attach(struct making *m)
{
    const struct fm_segment_address *a = &m->all[m->mine.leader].segment;

    return m->w->segment.base ||
           (a->nonce && a->len == segment_len(m) && fm_segment_attach(a, &m->w->segment) == 0);
}

/* Where one of the clique cannot attach it (containers), all of it goes on without. */
static void take_segment(struct making *m)
{
    if (m->n_clique < 2) {
        m->mine.status = make_private(m);
        m->mine.is_settled = 1;
    } else if (attach(m)) {
        m->mine.is_settled = 1;
        m->mine.base = (uintptr_t)part_of(m, m->w->comm->rank);
        m->w->own = ctl_of(m, m->w->comm->rank);
    }
}

/* ---- targets ---- */

static enum fm_win_way way_to(const struct making *m, const struct fm_win_target *t, int rank)
{
    uint64_t limit = fm_rma_counters->way;

    if (rank == m->w->comm->rank || (t->mapped && limit == FM_RMA_WAY_AUTO)) {
        return FM_WIN_DIRECT;
    }
    return t->ctl && limit <= FM_RMA_WAY_COPY && fm_rma_copy_works(m->w->comm->ch, t->proc)
               ? FM_WIN_COPY
               : FM_WIN_MESSAGE;
}

static void fill_target(struct making *m, int rank, bool is_shared)
{
    struct fm_win_target *t = &m->w->targets[rank];
    const struct offer *o = &m->all[rank];
    bool is_own = rank == m->w->comm->rank;
    uint64_t base = is_allocated(m->args) ? o->base : o->user_base;

    *t = (struct fm_win_target){.base = (char *)(uintptr_t)base,
                                .size = (MPI_Aint)o->size,
                                .unit = (MPI_Aint)o->unit,
                                .proc = fm_comm_proc(m->w->comm, rank)};
    if (is_own) {
        t->ctl = m->w->own;
        t->mapped = t->base;
    } else if (is_shared && is_in_clique(m, rank)) {
        t->ctl = ctl_of(m, rank);
        t->mapped = is_allocated(m->args) ? part_of(m, rank) : NULL;
    }
    t->way = (uint8_t)way_to(m, t, rank);
    if (t->way == FM_WIN_DIRECT) {
        t->base = t->mapped;
    }
}

/* Is the memory of all ranks in place, or of all of our clique? */
static bool is_settled(const struct making *m, bool is_clique)
{
    for (int r = 0; r < m->w->comm->size; r++) {
        if (!m->all[r].is_settled && (!is_clique || is_in_clique(m, r))) {
            return false;
        }
    }
    return true;
}

static int first_failure(const struct making *m)
{
    for (int r = 0; r < m->w->comm->size; r++) {
        int status = m->all[r].status;

        if (status != 0 && r != m->w->comm->rank) {
            return fm_fail(status, "rank %d could not make its part of the window", r);
        }
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* Some clique cannot share its segment: its ranks take memory of their own, and say where. */
static int settle(struct making *m)
{
    int rc;

    if (!is_settled(m, true)) {
        fm_segment_finish(&m->w->segment);
        m->mine.status = make_private(m);
    }
    rc = exchange(m);
    return rc ? rc : first_failure(m);
}

static int check_shared(const struct making *m)
{
    if (m->args->flavor != MPI_WIN_FLAVOR_SHARED || m->n_clique == m->w->comm->size) {
        return 0;
    }
    return fm_fail(MPI_ERR_RMA_SHARED,
                   "the ranks of the communicator cannot share memory: split it "
                   "with MPI_COMM_TYPE_SHARED first");
}

/* Offer, take, and settle: see above. */
static int share(struct making *m)
{
    int rc;

    offer_segment(m);
    rc = exchange(m);
    if (rc != 0) {
        return rc;
    }
    if (m->mine.status == 0) {
        take_segment(m);
    }
    rc = exchange(m);
    return rc ? rc : first_failure(m);
}

static int make_parts(struct making *m)
{
    bool is_shared;
    int rc = exchange(m);

    if (rc == 0) {
        count_clique(m);
        rc = check_shared(m);
    }
    rc = rc ? rc : share(m);
    if (rc != 0) {
        return rc;
    }
    is_shared = m->n_clique >= 2 && is_settled(m, true);
    rc = is_settled(m, false) ? 0 : settle(m);
    if (rc == 0 && m->args->flavor == MPI_WIN_FLAVOR_SHARED && m->n_clique > 1 && !is_shared) {
        rc = fm_fail(MPI_ERR_RMA_SHARED, "the ranks cannot open each other's memory");
    }
    fm_segment_hide(&m->w->segment);
    for (int r = 0; rc == 0 && r < m->w->comm->size; r++) {
        fill_target(m, r, is_shared);
    }
    return rc;
}

/* ---- all ---- */

static void set_attributes(struct fm_win *w, const struct fm_win_args *a)
{
    w->flavor = a->flavor;
    w->model = MPI_WIN_UNIFIED;
    w->unit_attr = (int)a->unit;
    w->size_attr = a->size;
    w->alignment = fm_win_alignment(a->info);
}

static int allocate(struct fm_win *w)
{
    size_t n = (size_t)w->comm->size;

    w->targets = aligned_alloc(FM_CACHE_LINE, n * sizeof(*w->targets));
    w->n_started = calloc(n, sizeof(*w->n_started));
    w->n_waited = calloc(n, sizeof(*w->n_waited));
    if (!w->targets || !w->n_started || !w->n_waited) {
        return fm_fail(-FM_E_NOMEM, "no memory for a window of %zu ranks", n);
    }
    memset(w->targets, 0, n * sizeof(*w->targets));
    return 0;
}

static bool is_contig(const struct fm_win_args *a)
{
    const char *value = a->info ? fm_info_find(a->info, "alloc_shared_noncontig") : NULL;

    return a->flavor == MPI_WIN_FLAVOR_SHARED && !(value && strcmp(value, "true") == 0);
}

/* What a rank can fail at alone before the first round; the others hear of it there. */
static int prepare(struct making *m)
{
    int rc = allocate(m->w);

    rc = rc ? rc : fm_rma_counters_add(m->w);
    return rc ? rc : fm_win_set_hints(m->w, m->args->info);
}

int fm_win_make(const struct fm_win_args *args, struct fm_win **out_win)
{
    struct making m = {.args = args, .w = fm_win_new()};
    int rc;

    if (!m.w) {
        return -FM_E_NOMEM;
    }
    rc = fm_comm_make_create(args->comm, args->comm->group, &m.w->comm);
    m.all = calloc((size_t)args->comm->size, sizeof(*m.all));
    if (rc == 0 && !m.all) {
        rc = fm_fail(-FM_E_NOMEM, "no memory to agree on a window");
    }
    if (rc == 0) {
        m.w->lock_hook.fn = fm_target_round;
        set_attributes(m.w, args);
        m.mine = (struct offer){.size = args->size,
                                .unit = args->unit,
                                .leader = lowest_near(args->comm),
                                .is_contig = is_contig(args),
                                .user_base = (uintptr_t)args->base};
        m.mine.status = prepare(&m);
        rc = make_parts(&m);
    }
    free(m.all);
    if (rc != 0) {
        fm_win_drop(m.w);
        return rc;
    }
    *out_win = m.w;
    return 0;
}
