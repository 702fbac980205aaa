/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective accesses: the choice of the way, and the plan of two-phase. */
#include "core/io/file_coll.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/coll/coll.h"
#include "core/io/file_counters.h"
#include "core/io/file_phase.h"
#include "util/status.h"

/* Runs at least this long go straight to the file: copying them to an aggregator costs what the
   system call does. Shorter ones contend for the lock of the inode (4 KiB runs of two processes on
   ext4: 0.6 GB/s straight, 2.3 GB/s through aggregators). */
#define DIRECT_RUN (32 << 10)
/* Reads that use less than one byte in so many of what they cover go through aggregators. */
#define SPARSE 4
/* Domains begin at multiples of this, so that no two aggregators write one page or stripe. */
#define ALIGN (1 << 16)

/* What a process tells the others of its part. */
struct part {
    MPI_Count low, high; /* of the file; equal: nothing */
    MPI_Count len;       /* bytes of data */
    MPI_Count run_len;   /* mean length of a run of the file */
    MPI_Count is_direct; /* it cannot take part in two phases */
    MPI_Count error;     /* class of what is wrong with its arguments */
};

static struct part part_of(const struct fm_file_access *a, int error)
{
    const struct fm_file_view *v = &a->file->view;
    struct part p = {.error = error};
    const struct fm_dtype *t = v->filetype;

    if (error) {
        return p;
    }
    p.len = a->count * a->dtype->size;
    p.is_direct = !v->is_ascending || v->rep == FM_FILE_EXTERNAL32 || a->file->is_atomic;
    if (p.len > 0) {
        p.low = fm_file_view_offset(v, a->at);
        p.high = fm_file_view_offset(v, a->at + p.len - 1) + 1;
        p.run_len = v->is_contig ? p.len : t->size / (t->prog ? t->prog->n_runs : 1);
    }
    return p;
}

/* What follows from all parts. */
struct shape {
    MPI_Offset low, high;
    MPI_Count len, span, run_len; /* sums over the processes; the shortest mean */
    bool is_interleaved, is_direct;
    int error; /* the worst one */
};

static int by_low(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    return (x->low > y->low) - (x->low < y->low);
}

static struct shape shape_of(struct part *parts, int n)
{
    struct shape s = {.low = INT64_MAX, .run_len = INT64_MAX};
    MPI_Offset end = -1;

    qsort(parts, (size_t)n, sizeof(*parts), by_low);
    for (int k = 0; k < n; k++) {
        const struct part *p = &parts[k];

        s.is_direct |= p->is_direct != 0;
        s.error = p->error > s.error ? (int)p->error : s.error;
        if (p->len == 0) {
            continue;
        }
        s.low = p->low < s.low ? p->low : s.low;
        s.high = p->high > s.high ? p->high : s.high;
        s.run_len = p->run_len < s.run_len ? p->run_len : s.run_len;
        s.len += p->len;
        s.span += p->high - p->low;
        s.is_interleaved |= p->low < end;
        end = p->high > end ? p->high : end;
    }
    return s;
}

static bool wants_two_phase(const struct fm_file_access *a, const struct shape *s)
{
    enum fm_file_cb hint = a->is_write ? a->file->hints.cb_write : a->file->hints.cb_read;

    if (s->is_direct || s->len == 0 || hint == FM_FILE_CB_DISABLE) {
        return false;
    }
    if (hint == FM_FILE_CB_ENABLE) {
        return true;
    }
    if (!s->is_interleaved || s->run_len >= DIRECT_RUN || a->file->comm->size == 1) {
        return false;
    }
    return a->is_write || s->span / s->len >= SPARSE;
}

static int n_aggregators(const struct fm_file *f, const struct shape *s)
{
    MPI_Count n = f->hints.cb_nodes ? f->hints.cb_nodes : sysconf(_SC_NPROCESSORS_ONLN);
    MPI_Count most = (s->high - s->low) / ALIGN + 1; /* a domain of less would be a waste */

    n = n < f->comm->size ? n : f->comm->size;
    return (int)(n < most ? n : most);
}

static struct fm_file_phase plan(const struct fm_file_access *a, const struct shape *s)
{
    struct fm_file_phase p = {.a = a, .low = s->low - s->low % ALIGN};
    MPI_Count all = s->high - p.low;

    p.n_aggregators = n_aggregators(a->file, s);
    p.domain_len = (all + p.n_aggregators - 1) / p.n_aggregators;
    p.domain_len += (ALIGN - p.domain_len % ALIGN) % ALIGN;
    p.window_len =
        p.domain_len < a->file->hints.cb_buffer_size ? p.domain_len : a->file->hints.cb_buffer_size;
    p.n_rounds = (p.domain_len + p.window_len - 1) / p.window_len;
    return p;
}

/* What all processes have to do: the same in all. */
static int survey(const struct fm_file_access *a, int error, struct shape *out_shape)
{
    struct fm_comm *comm = a->file->comm;
    struct part mine = part_of(a, error), *parts = malloc((size_t)comm->size * sizeof(*parts));
    struct fm_dtype *count = fm_dtype_get(MPI_COUNT);
    const MPI_Count n = sizeof(mine) / sizeof(MPI_Count);
    int rc;

    if (!parts) {
        return fm_fail(-FM_E_NOMEM, "no memory for the parts of %d processes", comm->size);
    }
    rc = fm_allgather(&(struct fm_buf){&mine, n, count}, &(struct fm_buf){parts, n, count}, comm);
    if (!rc) {
        *out_shape = shape_of(parts, comm->size);
    }
    free(parts);
    return rc;
}

int fm_file_coll_run(const struct fm_file_access *a, int error, MPI_Count *out_done)
{
    struct fm_file_phase p;
    struct shape s = {0};
    int rc = survey(a, error, &s);

    *out_done = 0;
    if (rc || error) {
        return rc ? rc : error;
    }
    if (s.error) {
        return fm_fail(s.error, "the arguments of another process of '%s' are wrong",
                       a->file->path);
    }
    if (!wants_two_phase(a, &s)) {
        FM_STAT(fm_io_counters->n_direct++);
        return fm_file_agree(a->file, fm_file_access_run(a, out_done));
    }
    FM_STAT(fm_io_counters->n_two_phase++);
    p = plan(a, &s);
    return fm_file_agree(a->file, fm_file_phase_run(&p, out_done));
}
