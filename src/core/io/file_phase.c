/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-phase: exchange with aggregators, and their windows. */
#include "core/io/file_phase.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/io/file_counters.h"
#include "core/io/file_runs.h"
#include "core/p2p/wait.h"
#include "core/p2p/recv.h"
#include "core/p2p/send.h"
#include "util/status.h"

/* Messages travel in the collective space of the file's communicator, above its own collectives. */
#define TAG_RUNS (FM_COLL_TAG_GROUP | 1)
#define TAG_MORE (FM_COLL_TAG_GROUP | 2)
#define TAG_DATA (FM_COLL_TAG_GROUP | 3)

/* Memory that is kept over the rounds: fresh pages cost as much as the copy into them. */
struct block {
    char *at;
    MPI_Count room;
};

/* One process, seen by an aggregator in a round. */
struct source {
    struct fm_file_runs list;
    struct block data;
};

struct window {
    MPI_Offset low, high;
    char *buf;
    struct source *sources; /* one per process */
};

struct work {
    const struct fm_file_phase *p;
    struct fm_comm *comm;
    int me;                    /* which aggregator this process is; -1: none */
    struct fm_file_runs *mine; /* by aggregator: what this process has in the window */
    struct block *data;        /* by aggregator, but for this process itself */
    struct fm_request **reqs;
    int n_reqs;
    struct window w; /* aggregators only */
    MPI_Count done;
    int rc;
};

static void note(struct work *k, int rc)
{
    k->rc = k->rc ? k->rc : rc;
}

static int rank_of(const struct fm_file_phase *p, int aggregator)
{
    return (int)((long long)aggregator * p->a->file->comm->size / p->n_aggregators);
}

/* ---- memory ---- */

/* At least len bytes; NULL (and a note) without memory. */
static char *room_in(struct block *b, MPI_Count len)
{
    if (b->room < len) {
        free(b->at);
        b->at = malloc((size_t)len);
        b->room = b->at ? len : 0;
    }
    return b->at;
}

/* ---- messages ---- */

static struct fm_msg message(const struct work *k, const void *buf, MPI_Count len, int peer,
                             int tag)
{
    return (struct fm_msg){.buf = (void *)buf,
                           .count = len,
                           .dtype = fm_dtype_byte(),
                           .peer = peer,
                           .tag = tag,
                           .comm = k->comm,
                           .space = FM_SPACE_COLL};
}

static void start_send(struct work *k, const void *buf, MPI_Count len, int peer, int tag)
{
    struct fm_msg m = message(k, buf, len, peer, tag);
    int rc = fm_isend(&m, FM_SEND_STANDARD, &k->reqs[k->n_reqs]);

    if (rc) {
        note(k, rc);
        return;
    }
    k->n_reqs++;
}

/* Without a buffer the message is received as truncated, so that the sender is not left waiting. */
static MPI_Count receive(struct work *k, void *buf, MPI_Count len, int peer, int tag)
{
    struct fm_msg m = message(k, buf, buf ? len : 0, peer, tag);
    struct fm_status st = {0};

    note(k, fm_recv(&m, &st));
    return st.n_bytes;
}

static void wait_sent(struct work *k)
{
    note(k, fm_wait_all(k->n_reqs, k->reqs));
    k->n_reqs = 0;
}

/* ---- a process's side of a round ---- */

static struct window window_of(const struct work *k, int aggregator, MPI_Count round)
{
    const struct fm_file_phase *p = k->p;
    MPI_Offset low = p->low + aggregator * p->domain_len + round * p->window_len;
    MPI_Offset end = p->low + (aggregator + 1) * p->domain_len;
    struct window w = {.low = low < end ? low : end};

    w.high = w.low + p->window_len < end ? w.low + p->window_len : end;
    return w;
}

/* The part of the access that lies in a window, as bytes of the view. */
static void range_in(const struct work *k, const struct window *w, MPI_Count *out_from,
                     MPI_Count *out_to)
{
    const struct fm_file_access *a = k->p->a;
    const struct fm_file_view *v = &a->file->view;
    MPI_Count end = a->at + a->count * a->dtype->size;
    MPI_Count from = fm_file_view_below(v, w->low), to = fm_file_view_below(v, w->high);

    *out_from = from < a->at ? a->at : from < end ? from : end;
    *out_to = to < a->at ? a->at : to < end ? to : end;
}

/* What this process has in an aggregator's window; writes to another one: and the bytes of it. */
static void collect(struct work *k, int aggregator, MPI_Count round)
{
    const struct fm_file_access *a = k->p->a;
    struct window w = window_of(k, aggregator, round);
    struct fm_file_cursor c;
    struct fm_pack mem;
    MPI_Count from, to;

    range_in(k, &w, &from, &to);
    fm_file_cursor_begin(&c, &a->file->view, from);
    while (c.at < to && k->rc == 0) {
        note(k, fm_file_runs_add(&k->mine[aggregator], fm_file_cursor_next(&c, to - c.at)));
    }
    if (from == to || k->rc || aggregator == k->me) {
        return;
    }
    if (!room_in(&k->data[aggregator], to - from)) {
        note(k, fm_fail(-FM_E_NOMEM, "no memory for a window of a collective file access"));
        fm_file_runs_clear(&k->mine[aggregator]);
        return;
    }
    if (a->is_write) {
        fm_pack_begin(&mem, a->buf, a->count, a->dtype);
        fm_pack_seek(&mem, from - a->at);
        fm_pack_out(&mem, k->data[aggregator].at, (size_t)(to - from));
    }
}

static void send_part(struct work *k, int aggregator)
{
    struct fm_file_runs *l = &k->mine[aggregator];
    int to = rank_of(k->p, aggregator);

    if (aggregator == k->me) {
        return;
    }
    start_send(k, &l->head, sizeof(l->head), to, TAG_RUNS);
    if (l->head.n > FM_FILE_RUNS_INLINE) {
        start_send(k, l->items, l->head.n * (MPI_Count)sizeof(*l->items), to, TAG_MORE);
    }
    if (k->p->a->is_write && l->head.n_bytes > 0) {
        start_send(k, k->data[aggregator].at, l->head.n_bytes, to, TAG_DATA);
        FM_STAT(fm_io_counters->exchanged_bytes += (uint64_t)l->head.n_bytes);
    }
}

/* Reads: what came back from another process goes to its place in memory. */
static void take_part(struct work *k, int aggregator, MPI_Count round)
{
    const struct fm_file_access *a = k->p->a;
    struct window w = window_of(k, aggregator, round);
    MPI_Count from, to, n = k->mine[aggregator].head.n_bytes;
    struct fm_pack mem;

    if (n == 0 || aggregator == k->me) {
        return;
    }
    n = receive(k, k->data[aggregator].at, n, rank_of(k->p, aggregator), TAG_DATA);
    range_in(k, &w, &from, &to);
    fm_pack_begin(&mem, a->buf, a->count, a->dtype);
    fm_pack_seek(&mem, from - a->at);
    fm_pack_in(&mem, k->data[aggregator].at, (size_t)n);
    k->done += n;
}

/* An aggregator's own part goes straight between its memory and its window; `limit`: bytes. */
static void copy_own(struct work *k, MPI_Count round, MPI_Count limit)
{
    const struct fm_file_access *a = k->p->a;
    struct window w = window_of(k, k->me, round);
    struct fm_file_cursor c;
    struct fm_pack mem;
    MPI_Count from, to;

    range_in(k, &w, &from, &to);
    to = to - from < limit ? to : from + limit;
    fm_file_cursor_begin(&c, &a->file->view, from);
    fm_pack_begin(&mem, a->buf, a->count, a->dtype);
    fm_pack_seek(&mem, from - a->at);
    while (c.at < to) {
        struct fm_file_run run = fm_file_cursor_next(&c, to - c.at);
        char *at = k->w.buf + (run.off - w.low);

        if (a->is_write) {
            fm_pack_out(&mem, at, (size_t)run.len);
        } else {
            fm_pack_in(&mem, at, (size_t)run.len);
        }
    }
}

/* ---- an aggregator's side ---- */

static void learn(struct work *k, int rank)
{
    struct source *s = &k->w.sources[rank];
    MPI_Count wanted;

    if (rank == k->comm->rank) {
        s->list = k->mine[k->me]; /* lent */
        return;
    }
    receive(k, &s->list.head, sizeof(s->list.head), rank, TAG_RUNS);
    if (s->list.head.n > FM_FILE_RUNS_INLINE) {
        s->list.items = malloc((size_t)s->list.head.n * sizeof(*s->list.items));
        receive(k, s->list.items, s->list.head.n * (MPI_Count)sizeof(*s->list.items), rank,
                TAG_MORE);
    }
    wanted = s->list.head.n_bytes;
    if (!fm_file_runs_is_within(&s->list, k->w.low, k->w.high)) {
        note(k, fm_fail(-FM_E_PROTO, "rank %d described bytes outside of a window", rank));
        s->list.head.n = s->list.head.n_bytes = 0;
    }
    if (s->list.head.n_bytes > 0 && !room_in(&s->data, s->list.head.n_bytes)) {
        note(k, fm_fail(-FM_E_NOMEM, "no memory for the data of rank %d", rank));
        s->list.head.n = 0;
    }
    if (k->p->a->is_write && wanted > 0) {
        receive(k, s->list.head.n ? s->data.at : NULL, wanted, rank, TAG_DATA);
    }
}

static int by_offset(const void *a, const void *b)
{
    const struct fm_file_run *x = a, *y = b;

    return (x->off > y->off) - (x->off < y->off);
}

/* The runs of all processes in the order of the file; *out_n: how many. NULL without memory. */
static struct fm_file_run *all_runs(struct work *k, MPI_Count *out_n)
{
    struct fm_file_run *runs;
    MPI_Count n = 0;

    for (int r = 0; r < k->comm->size; r++) {
        n += fm_file_runs_expand(&k->w.sources[r].list, NULL);
    }
    runs = malloc((size_t)(n ? n : 1) * sizeof(*runs));
    *out_n = n;
    n = 0;
    for (int r = 0; runs && r < k->comm->size; r++) {
        n += fm_file_runs_expand(&k->w.sources[r].list, runs + n);
    }
    if (runs) {
        qsort(runs, (size_t)n, sizeof(*runs), by_offset);
    }
    return runs;
}

/* Write what was given, and nothing between. */
static void write_runs(struct work *k)
{
    MPI_Count n, done;
    struct fm_file_run *runs = all_runs(k, &n);

    if (!runs) {
        note(k, fm_fail(-FM_E_NOMEM, "no memory to sort the runs of a window"));
        return;
    }
    for (MPI_Count i = 0; i < n && k->rc == 0;) {
        struct fm_file_run run = runs[i++];

        while (i < n && runs[i].off <= run.off + run.len) {
            MPI_Offset end = runs[i].off + runs[i].len;

            run.len = end > run.off + run.len ? end - run.off : run.len;
            i++;
        }
        note(k, fm_file_access_bytes(k->p->a->file, true, k->w.buf + (run.off - k->w.low), run.len,
                                     run.off, &done));
    }
    free(runs);
}

/* From the first to the last byte that anybody has in the window; the sum of all bytes. */
static MPI_Count span_of(struct work *k, MPI_Offset *out_low, MPI_Offset *out_high)
{
    MPI_Count sum = 0;

    *out_low = k->w.high;
    *out_high = k->w.low;
    for (int r = 0; r < k->comm->size; r++) {
        struct fm_file_runs *l = &k->w.sources[r].list;

        sum += l->head.n_bytes;
        for (MPI_Count i = 0; i < l->head.n; i++) {
            const struct fm_file_strided *s = &fm_file_runs_items(l)[i];
            MPI_Offset end = s->off + (s->n - 1) * s->stride + s->len;

            *out_low = s->off < *out_low ? s->off : *out_low;
            *out_high = end > *out_high ? end : *out_high;
        }
    }
    return sum;
}

static void write_window(struct work *k, MPI_Count round)
{
    MPI_Offset low, high;
    MPI_Count done;

    for (int r = 0; r < k->comm->size; r++) {
        struct source *s = &k->w.sources[r];

        if (r == k->comm->rank) {
            copy_own(k, round, s->list.head.n_bytes);
        } else {
            fm_file_runs_copy(&s->list, k->w.buf, k->w.low, s->data.at, s->list.head.n_bytes, true);
        }
    }
    if (span_of(k, &low, &high) < high - low || k->rc) {
        write_runs(k);
        return;
    }
    if (high > low) {
        note(k, fm_file_access_bytes(k->p->a->file, true, k->w.buf + (low - k->w.low), high - low,
                                     low, &done));
    }
}

/* A process gets what lies before the end of the file. */
static void answer(struct work *k, int rank, MPI_Count round, MPI_Offset end)
{
    struct source *s = &k->w.sources[rank];
    MPI_Count n = fm_file_runs_below(&s->list, end);

    if (s->list.head.n_bytes == 0) {
        return;
    }
    if (rank == k->comm->rank) {
        copy_own(k, round, n);
        k->done += n;
        return;
    }
    fm_file_runs_copy(&s->list, k->w.buf, k->w.low, s->data.at, n, false);
    start_send(k, s->data.at, n, rank, TAG_DATA);
    FM_STAT(fm_io_counters->exchanged_bytes += (uint64_t)n);
}

static void read_window(struct work *k, MPI_Count round)
{
    MPI_Offset low, high;
    MPI_Count got = 0;

    span_of(k, &low, &high);
    if (high > low) {
        note(k, fm_file_access_bytes(k->p->a->file, false, k->w.buf + (low - k->w.low), high - low,
                                     low, &got));
    }
    for (int r = 0; r < k->comm->size; r++) {
        answer(k, r, round, low + got);
    }
}

static void aggregate(struct work *k, MPI_Count round)
{
    struct window w = window_of(k, k->me, round);

    k->w.low = w.low;
    k->w.high = w.high;
    for (int r = 0; r < k->comm->size; r++) {
        learn(k, r);
    }
    if (k->p->a->is_write) {
        write_window(k, round);
    } else {
        read_window(k, round);
    }
}

/* ---- all rounds ---- */

static void clear_round(struct work *k)
{
    for (int r = 0; k->me >= 0 && r < k->comm->size; r++) {
        struct source *s = &k->w.sources[r];

        if (r == k->comm->rank) {
            s->list = (struct fm_file_runs){0};
        } else {
            fm_file_runs_clear(&s->list);
        }
    }
    for (int g = 0; g < k->p->n_aggregators; g++) {
        fm_file_runs_clear(&k->mine[g]);
    }
}

static void free_blocks(struct work *k)
{
    for (int g = 0; k->data && g < k->p->n_aggregators; g++) {
        free(k->data[g].at);
    }
    for (int r = 0; k->w.sources && r < k->comm->size; r++) {
        free(k->w.sources[r].data.at);
    }
}

static void one_round(struct work *k, MPI_Count round)
{
    for (int g = 0; g < k->p->n_aggregators; g++) {
        collect(k, g, round);
        send_part(k, g);
    }
    if (k->me >= 0) {
        aggregate(k, round);
    }
    for (int g = 0; g < k->p->n_aggregators; g++) {
        if (k->p->a->is_write) {
            k->done += k->mine[g].head.n_bytes;
        } else {
            take_part(k, g, round);
        }
    }
    wait_sent(k);
    clear_round(k);
}

static int prepare(struct work *k)
{
    size_t n = (size_t)k->p->n_aggregators, size = (size_t)k->comm->size;

    k->me = -1;
    for (int g = 0; g < k->p->n_aggregators; g++) {
        if (rank_of(k->p, g) == k->comm->rank) {
            k->me = g;
        }
    }
    k->mine = calloc(n, sizeof(*k->mine));
    k->data = calloc(n, sizeof(*k->data));
    k->reqs = calloc(3 * n + size, sizeof(struct fm_request *));
    if (k->me >= 0) {
        k->w.buf = malloc((size_t)k->p->window_len);
        k->w.sources = calloc(size, sizeof(*k->w.sources));
    }
    return k->mine && k->data && k->reqs && (k->me < 0 || (k->w.buf && k->w.sources))
               ? 0
               : fm_fail(-FM_E_NOMEM, "no memory for a collective file access");
}

int fm_file_phase_run(const struct fm_file_phase *p, MPI_Count *out_done)
{
    struct work k = {.p = p, .comm = p->a->file->comm};
    int rc = fm_file_agree(p->a->file, prepare(&k));

    for (MPI_Count round = 0; !rc && round < p->n_rounds; round++) {
        one_round(&k, round);
    }
    if (p->a->is_write) {
        FM_STAT(fm_io_counters->n_writes++);
        FM_STAT(fm_io_counters->written_bytes += (uint64_t)k.done);
        p->a->file->is_dirty = true;
    } else {
        FM_STAT(fm_io_counters->n_reads++);
        FM_STAT(fm_io_counters->read_bytes += (uint64_t)k.done);
    }
    free_blocks(&k);
    free(k.mine);
    free(k.data);
    free(k.reqs);
    free(k.w.buf);
    free(k.w.sources);
    *out_done = rc ? 0 : k.done;
    return rc ? rc : k.rc;
}
