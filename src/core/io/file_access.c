/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses of one process. */
#include "core/io/file_access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/dtype/external.h"
#include "core/io/file_counters.h"
#include "util/status.h"

/* Bytes of a buffer through which short pieces go: they stay in the second-level cache. */
#define STAGE_LEN (256 << 10)
/* A system call costs about as much as copying some kilobytes: shorter pieces of memory are
   copied. */
#define DIRECT_LEN 8192
#define N_PIECES   64
/* Bytes that one data sieving read covers. */
#define SIEVE_LEN (1 << 20)
/* The kernel moves at most 2 GiB - 4096 in one call. */
#define MAX_CALL (1 << 30)

/* An access on its way. */
struct walk {
    const struct fm_file_access *a;
    struct fm_file_cursor where;
    struct fm_pack mem;
    MPI_Count left; /* bytes */
    MPI_Count done;
    char *stage; /* NULL until needed */
    bool is_end; /* the end of the file was met */
};

/* ---- system calls ---- */

static void count_call(bool is_write, ssize_t n)
{
    if (is_write) {
        FM_STAT(fm_io_counters->n_write_calls++);
        FM_STAT(fm_io_counters->moved_written_bytes += n > 0 ? (uint64_t)n : 0);
    } else {
        FM_STAT(fm_io_counters->n_read_calls++);
        FM_STAT(fm_io_counters->moved_read_bytes += n > 0 ? (uint64_t)n : 0);
    }
}

FM_COLD static int failed(const struct fm_file *f, bool is_write, MPI_Offset off)
{
    char what[64];

    snprintf(what, sizeof(what), "%s at offset %lld of", is_write ? "write" : "read",
             (long long)off);
    return fm_file_errno(errno, what, f->path);
}

int fm_file_access_bytes(struct fm_file *f, bool is_write, void *buf, MPI_Count len, MPI_Offset off,
                         MPI_Count *out_done)
{
    MPI_Count done = 0;

    while (done < len) {
        size_t step = (size_t)(len - done < MAX_CALL ? len - done : MAX_CALL);
        ssize_t n = is_write ? pwrite(f->fd, (char *)buf + done, step, off + done)
                             : pread(f->fd, (char *)buf + done, step, off + done);

        count_call(is_write, n);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            *out_done = done;
            return n < 0 ? failed(f, is_write, off + done) : 0;
        }
        done += n;
    }
    *out_done = done;
    return 0;
}

/* ---- one run of the file ---- */

static int need_stage(struct walk *w)
{
    if (!w->stage) {
        w->stage = malloc(STAGE_LEN);
    }
    return w->stage ? 0 : fm_fail(-FM_E_NOMEM, "no memory for a buffer of a file access");
}

static void advance(struct walk *w, MPI_Count n, MPI_Count wanted)
{
    w->done += n;
    w->left -= n;
    w->is_end = n < wanted;
}

/* Through the buffer: the next pieces of memory are short. */
static int move_staged(struct walk *w, struct fm_file_run run, MPI_Count *out_n)
{
    struct fm_file *f = w->a->file;
    MPI_Count len = run.len < STAGE_LEN ? run.len : STAGE_LEN;
    MPI_Count at = w->mem.at;
    int rc = need_stage(w);

    *out_n = 0;
    if (rc) {
        return rc;
    }
    if (w->a->is_write) {
        fm_pack_out(&w->mem, w->stage, (size_t)len);
    }
    rc = fm_file_access_bytes(f, w->a->is_write, w->stage, len, run.off, out_n);
    if (!w->a->is_write) {
        fm_pack_in(&w->mem, w->stage, (size_t)*out_n);
    }
    fm_pack_seek(&w->mem, at + *out_n);
    advance(w, *out_n, len);
    return rc;
}

/* Up to N_PIECES pieces of memory, as long as they are long enough; their sum. */
static MPI_Count gather_pieces(struct walk *w, MPI_Count len, struct iovec *pieces, int *out_n)
{
    MPI_Count sum = 0;

    *out_n = 0;
    while (*out_n < N_PIECES && sum < len && sum < MAX_CALL) {
        struct fm_pack before = w->mem;
        void *addr;
        size_t n = fm_pack_piece(&w->mem, (size_t)(len - sum), &addr);

        n = n < MAX_CALL ? n : MAX_CALL;
        if (n < DIRECT_LEN && (MPI_Count)n < len - sum) {
            w->mem = before;
            break;
        }
        pieces[(*out_n)++] = (struct iovec){addr, n};
        sum += (MPI_Count)n;
    }
    return sum;
}

/* The vector forms cost a tenth of a microsecond more. */
static ssize_t call_once(int fd, bool is_write, const struct iovec *pieces, int n, MPI_Offset off)
{
    if (n > 1) {
        return is_write ? pwritev(fd, pieces, n, off) : preadv(fd, pieces, n, off);
    }
    return is_write ? pwrite(fd, pieces->iov_base, pieces->iov_len, off)
                    : pread(fd, pieces->iov_base, pieces->iov_len, off);
}

/* Straight between memory and the file, by one call. */
static int move_direct(struct walk *w, struct fm_file_run run, MPI_Count at,
                       const struct iovec *pieces, int n_pieces, MPI_Count sum)
{
    struct fm_file *f = w->a->file;
    ssize_t n;

    do {
        n = call_once(f->fd, w->a->is_write, pieces, n_pieces, run.off);
        count_call(w->a->is_write, n);
    } while (n < 0 && errno == EINTR);
    fm_pack_seek(&w->mem, at + (n > 0 ? n : 0));
    if (n < 0) {
        return failed(f, w->a->is_write, run.off);
    }
    w->done += n;
    w->left -= n;
    w->is_end = n == 0 && sum > 0;
    return 0;
}

/* All of one run of the file, unless the end of the file or an error comes first. */
static int move_run(struct walk *w, struct fm_file_run run)
{
    struct iovec pieces[N_PIECES];
    int rc = 0;

    while (run.len > 0 && !rc && !w->is_end) {
        MPI_Count before = w->done, at = w->mem.at, ignored;
        int n_pieces;
        MPI_Count sum = gather_pieces(w, run.len, pieces, &n_pieces);

        rc = n_pieces ? move_direct(w, run, at, pieces, n_pieces, sum)
                      : move_staged(w, run, &ignored);
        run.off += w->done - before;
        run.len -= w->done - before;
    }
    return rc;
}

/* ---- data sieving ---- */

/* Does a read of these runs go faster with the gaps between them? */
static bool pays_to_sieve(const struct walk *w)
{
    const struct fm_file_view *v = &w->a->file->view;
    const struct fm_dtype *t = v->filetype;
    MPI_Count n_runs = t->prog ? t->prog->n_runs : 1;

    return !w->a->is_write && v->is_ascending && !v->is_contig && n_runs > 0 &&
           (uint64_t)(t->extent / n_runs) <= fm_io_counters->sieve_stride &&
           w->left / (t->size / n_runs ? t->size / n_runs : 1) > 1;
}

/* Copy what the sieve holds: bytes [from, from + len) of the file. */
static void copy_out(struct walk *w, const char *sieve, MPI_Offset from, MPI_Count len)
{
    while (w->left > 0) {
        struct fm_file_cursor before = w->where;
        struct fm_file_run run = fm_file_cursor_next(&w->where, w->left);

        if (run.off >= from + len) {
            w->where = before;
            return;
        }
        if (run.off + run.len > from + len) {
            run.len = from + len - run.off;
            fm_file_cursor_begin(&w->where, before.view, before.at + run.len);
        }
        fm_pack_in(&w->mem, sieve + (run.off - from), (size_t)run.len);
        w->done += run.len;
        w->left -= run.len;
    }
}

static int read_sieved(struct walk *w)
{
    char *sieve = malloc(SIEVE_LEN);
    int rc = sieve ? 0 : fm_fail(-FM_E_NOMEM, "no memory for data sieving");

    while (!rc && w->left > 0 && !w->is_end) {
        MPI_Offset from = fm_file_view_offset(w->where.view, w->where.at);
        MPI_Offset last = fm_file_view_offset(w->where.view, w->where.at + w->left - 1);
        MPI_Count len = last - from + 1 < SIEVE_LEN ? last - from + 1 : SIEVE_LEN, got;

        rc = fm_file_access_bytes(w->a->file, false, sieve, len, from, &got);
        copy_out(w, sieve, from, got);
        w->is_end = got < len;
    }
    free(sieve);
    return rc;
}

/* ---- an access ---- */

static int move_runs(struct walk *w)
{
    int rc = 0;

    while (w->left > 0 && !rc && !w->is_end) {
        rc = move_run(w, fm_file_cursor_next(&w->where, w->left));
    }
    return rc;
}

static int move(const struct fm_file_access *a, MPI_Count len, MPI_Count *out_done)
{
    struct walk w = {.a = a, .left = len};
    int rc;

    fm_file_cursor_begin(&w.where, &a->file->view, a->at);
    fm_pack_begin(&w.mem, a->buf, a->count, a->dtype);
    rc = pays_to_sieve(&w) ? read_sieved(&w) : move_runs(&w);
    free(w.stage);
    *out_done = w.done;
    if (!rc && a->is_write && w.left > 0) {
        rc = fm_fail(MPI_ERR_IO, "'%s' took %lld of %lld bytes", a->file->path, (long long)w.done,
                     (long long)len);
    }
    return rc;
}

/* The whole access in the other representation, then as bytes (14.5.2). */
static int move_converted(const struct fm_file_access *a, MPI_Count len, MPI_Count *out_done)
{
    struct fm_file_access bytes = *a;
    void *image = malloc((size_t)len);
    MPI_Count whole;
    int rc;

    *out_done = 0;
    if (!image) {
        return fm_fail(-FM_E_NOMEM, "no memory to convert %lld bytes", (long long)len);
    }
    rc = a->is_write ? fm_external_pack(image, a->buf, a->count, a->dtype) : 0;
    if (rc) {
        free(image);
        return rc == -FM_E_INVAL
                   ? fm_fail(MPI_ERR_CONVERSION, "a value does not fit into external32")
                   : rc;
    }
    bytes.buf = image;
    bytes.count = len;
    bytes.dtype = fm_dtype_byte();
    rc = move(&bytes, len, out_done);
    whole = a->dtype->size ? *out_done / a->dtype->size : 0;
    if (!a->is_write) {
        int unpacked = fm_external_unpack(a->buf, whole, a->dtype, image);

        rc = rc ? rc : unpacked;
    }
    free(image);
    return rc;
}

/* ---- atomic mode (14.6.1): record locks of the open file description ---- */

static int lock_range(struct fm_file *f, int type, MPI_Offset from, MPI_Count len)
{
    struct flock lock = {
        .l_type = (short)type, .l_whence = SEEK_SET, .l_start = from, .l_len = len};

    if (type != F_UNLCK) {
        FM_STAT(fm_io_counters->n_locks++);
    }
    while (fcntl(f->fd, F_OFD_SETLKW, &lock) != 0) {
        if (errno != EINTR) {
            return fm_file_errno(errno, "lock a range of", f->path);
        }
    }
    return 0;
}

static int run(const struct fm_file_access *a, MPI_Count len, MPI_Count *out_done)
{
    return a->file->view.rep == FM_FILE_EXTERNAL32 ? move_converted(a, len, out_done)
                                                   : move(a, len, out_done);
}

static int run_locked(const struct fm_file_access *a, MPI_Count len, MPI_Count *out_done)
{
    MPI_Offset from = fm_file_view_offset(&a->file->view, a->at);
    MPI_Offset last = fm_file_view_offset(&a->file->view, a->at + len - 1);
    MPI_Offset low = from < last ? from : last;
    MPI_Count n = (from < last ? last : from) - low + 1;
    int rc, unlocked;

    if (!a->file->view.is_ascending) {
        low = n = 0; /* the whole file */
    }
    rc = lock_range(a->file, a->is_write ? F_WRLCK : F_RDLCK, low, n);
    if (rc) {
        return rc;
    }
    rc = run(a, len, out_done);
    unlocked = lock_range(a->file, F_UNLCK, low, n);
    return rc ? rc : unlocked;
}

int fm_file_access_run(const struct fm_file_access *a, MPI_Count *out_done)
{
    MPI_Count len = a->count * a->dtype->size;
    int rc = 0;

    *out_done = 0;
    if (a->is_write) {
        FM_STAT(fm_io_counters->n_writes++);
        a->file->is_dirty |= len > 0;
    } else {
        FM_STAT(fm_io_counters->n_reads++);
    }
    if (len > 0) {
        rc = a->file->is_atomic ? run_locked(a, len, out_done) : run(a, len, out_done);
    }
    if (a->is_write) {
        FM_STAT(fm_io_counters->written_bytes += (uint64_t)*out_done);
    } else {
        FM_STAT(fm_io_counters->read_bytes += (uint64_t)*out_done);
    }
    return rc;
}
