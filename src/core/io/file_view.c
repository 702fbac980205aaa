/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of files, and walking them. */
#include "core/io/file_view.h"

#include <string.h>

#include "util/status.h"

/* An address for offset 0: pointer arithmetic on NULL is undefined. */
#define BASE ((char *)4096)
/* Runs of one filetype that are looked at for their order. */
#define MAX_CHECKED_RUNS (1 << 22)

static const char *const rep_names[] = {[FM_FILE_NATIVE] = "native",
                                        [FM_FILE_INTERNAL] = "internal",
                                        [FM_FILE_EXTERNAL32] = "external32"};

const char *fm_file_rep_name(enum fm_file_rep rep)
{
    return rep_names[rep];
}

int fm_file_rep_find(const char *name)
{
    for (size_t k = 0; k < FM_ARRAY_LEN(rep_names); k++) {
        if (strcmp(name, rep_names[k]) == 0) {
            return (int)k;
        }
    }
    return -1;
}

void fm_file_view_default(struct fm_file_view *v)
{
    struct fm_dtype *byte = fm_dtype_byte();

    *v = (struct fm_file_view){.etype = fm_object_ref(byte),
                               .filetype = fm_object_ref(byte),
                               .is_contig = true,
                               .is_ascending = true};
}

void fm_file_view_finish(struct fm_file_view *v)
{
    fm_dtype_unref(v->etype);
    fm_dtype_unref(v->filetype);
    v->etype = v->filetype = NULL;
}

/* As many filetypes as offsets of a file can number. */
static MPI_Count n_filetypes(const struct fm_dtype *t)
{
    MPI_Count step = t->extent > t->size ? t->extent : t->size;

    return INT64_MAX / 2 / (step > 0 ? step : 1);
}

void fm_file_cursor_begin(struct fm_file_cursor *c, const struct fm_file_view *v, MPI_Count at)
{
    c->view = v;
    c->at = at;
    if (!v->is_contig) {
        fm_pack_begin(&c->pack, BASE + v->disp, n_filetypes(v->filetype), v->filetype);
        fm_pack_seek(&c->pack, at);
    }
}

struct fm_file_run fm_file_cursor_next(struct fm_file_cursor *c, MPI_Count max)
{
    struct fm_file_run run = {c->view->disp + c->view->filetype->true_lb + c->at, max};
    void *addr;

    if (!c->view->is_contig) {
        run.len = (MPI_Count)fm_pack_piece(&c->pack, (size_t)max, &addr);
        run.off = (char *)addr - BASE;
    }
    c->at += run.len;
    return run;
}

MPI_Offset fm_file_view_offset(const struct fm_file_view *v, MPI_Count at)
{
    struct fm_file_cursor c;

    fm_file_cursor_begin(&c, v, at);
    return fm_file_cursor_next(&c, 1).off;
}

/* Bytes of the first filetype of the view that lie below an offset, counted from its own disp. */
static MPI_Count below_in_one(const struct fm_file_view *v, MPI_Offset off)
{
    MPI_Count low = 0, high = v->filetype->size;

    while (low < high) {
        MPI_Count mid = low + (high - low) / 2;

        if (fm_file_view_offset(v, mid) < off) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

MPI_Count fm_file_view_below(const struct fm_file_view *v, MPI_Offset off)
{
    const struct fm_dtype *t = v->filetype;
    MPI_Offset from = off - v->disp - t->true_lb;
    MPI_Count tile;

    if (from <= 0) {
        return 0;
    }
    if (v->is_contig) {
        return from;
    }
    /* The byte just below `off` lies in this filetype or before it. */
    tile = (from - 1) / t->extent;
    return tile * t->size + below_in_one(v, off - tile * t->extent);
}

/* ---- what may be a view (14.3) ---- */

static bool is_of(const struct fm_dtype *filetype, const struct fm_dtype *etype)
{
    return etype->size > 0 && filetype->size % etype->size == 0 && filetype->size > 0;
}

/* The runs of one filetype: 0, or the class of what is wrong; *out_is_sorted: they ascend. */
static int check_runs(struct fm_dtype *t, bool may_write, bool *out_is_sorted)
{
    struct fm_pack p;
    void *addr;
    char *end = NULL;
    size_t len;

    *out_is_sorted = true;
    fm_pack_begin(&p, BASE, 1, t);
    for (int k = 0; k < MAX_CHECKED_RUNS; k++) {
        len = fm_pack_piece(&p, SIZE_MAX / 2, &addr);
        if (len == 0) {
            break;
        }
        if ((char *)addr < BASE) {
            return fm_fail(MPI_ERR_TYPE, "filetype has the negative displacement %lld",
                           (long long)((char *)addr - BASE));
        }
        if (end && (char *)addr < end) {
            *out_is_sorted = false;
            if (may_write) {
                return fm_fail(MPI_ERR_TYPE,
                               "filetype goes back to displacement %lld: displacements "
                               "must not decrease, nor overlap in a file that is open for writing",
                               (long long)((char *)addr - BASE));
            }
        }
        end = (char *)addr + len;
    }
    return 0;
}

static int check_types(struct fm_dtype *etype, struct fm_dtype *filetype)
{
    if (!is_of(filetype, etype)) {
        return fm_fail(MPI_ERR_TYPE,
                       "filetype has %lld bytes of data: it must be made of etype, "
                       "which has %lld, at least once",
                       (long long)filetype->size, (long long)etype->size);
    }
    if (filetype->extent < 0 || etype->extent < 0) {
        return fm_fail(MPI_ERR_TYPE, "the extent of etype and of filetype must not be negative");
    }
    return 0;
}

/* In external32 the sizes of elements differ from those in memory for a few types only; views over
   these are not supported. */
static int check_rep(int rep, const char *datarep, const struct fm_dtype *filetype)
{
    if (rep < 0) {
        return fm_fail(MPI_ERR_UNSUPPORTED_DATAREP,
                       "datarep is \"%.64s\": known are native, internal and external32", datarep);
    }
    if (rep == FM_FILE_EXTERNAL32 && filetype->ext_size != filetype->size) {
        return fm_fail(MPI_ERR_UNSUPPORTED_DATAREP,
                       "filetype has %lld bytes in external32 and %lld in memory: such types are "
                       "supported as etype and filetype in native files only",
                       (long long)filetype->ext_size, (long long)filetype->size);
    }
    return 0;
}

int fm_file_view_make(MPI_Offset disp, struct fm_dtype *etype, struct fm_dtype *filetype,
                      const char *datarep, bool may_write, struct fm_file_view *out_view)
{
    int rep = fm_file_rep_find(datarep);
    bool is_sorted = true;
    int rc = check_types(etype, filetype);

    rc = rc ? rc : check_rep(rep, datarep, filetype);
    rc = rc ? rc : check_runs(filetype, may_write, &is_sorted);
    if (rc) {
        return rc;
    }
    *out_view = (struct fm_file_view){
        .disp = disp,
        .etype = fm_object_ref(etype),
        .filetype = fm_object_ref(filetype),
        .rep = (enum fm_file_rep)rep,
        .is_contig = filetype->is_contig,
        .is_ascending =
            is_sorted && filetype->extent >= filetype->true_extent && filetype->extent > 0,
    };
    return 0;
}
