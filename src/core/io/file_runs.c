/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of strided runs. */
#include "core/io/file_runs.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

static int grow(struct fm_file_runs *l)
{
    MPI_Count room = l->items ? l->room * 2 : 64;
    struct fm_file_strided *items = realloc(l->items, (size_t)room * sizeof(*items));

    if (!items) {
        return fm_fail(-FM_E_NOMEM, "no memory for the runs of a collective file access");
    }
    if (!l->items) {
        memcpy(items, l->head.first, sizeof(l->head.first));
    }
    l->items = items;
    l->room = room;
    return 0;
}

/* Does the run continue the last item? */
static bool extends(struct fm_file_strided *s, struct fm_file_run r)
{
    if (s->n == 1 && r.off == s->off + s->len) {
        s->len += r.len;
        return true;
    }
    if (r.len != s->len) {
        return false;
    }
    if (s->n == 1) {
        s->stride = r.off - s->off;
    } else if (r.off != s->off + s->n * s->stride) {
        return false;
    }
    s->n++;
    return true;
}

int fm_file_runs_add(struct fm_file_runs *l, struct fm_file_run run)
{
    MPI_Count n = l->head.n;

    if (n == 0 || !extends(&fm_file_runs_items(l)[n - 1], run)) {
        if (n == (l->items ? l->room : FM_FILE_RUNS_INLINE) && grow(l)) {
            return -FM_E_NOMEM;
        }
        fm_file_runs_items(l)[n] = (struct fm_file_strided){run.off, run.len, 0, 1};
        l->head.n++;
    }
    l->head.n_bytes += run.len;
    return 0;
}

void fm_file_runs_clear(struct fm_file_runs *l)
{
    free(l->items);
    *l = (struct fm_file_runs){0};
}

/* One item: its bytes, -1 when it leaves the range. */
static MPI_Count item_bytes(const struct fm_file_strided *s, MPI_Offset low, MPI_Offset high)
{
    MPI_Count last, sum;

    if (s->n < 1 || s->len < 1 || s->off < low || s->off > high ||
        (s->n > 1 && s->stride < s->len)) {
        return -1;
    }
    if (__builtin_mul_overflow(s->n - 1, s->stride, &last) ||
        __builtin_add_overflow(last, s->len, &last) || last > high - s->off) {
        return -1;
    }
    return __builtin_mul_overflow(s->n, s->len, &sum) ? -1 : sum;
}

bool fm_file_runs_is_within(struct fm_file_runs *l, MPI_Offset low, MPI_Offset high)
{
    MPI_Count sum = 0;

    if (l->head.n < 0 || (l->head.n > FM_FILE_RUNS_INLINE && !l->items)) {
        return false;
    }
    for (MPI_Count k = 0; k < l->head.n; k++) {
        MPI_Count n = item_bytes(&fm_file_runs_items(l)[k], low, high);

        if (n < 0 || __builtin_add_overflow(sum, n, &sum)) {
            return false;
        }
    }
    return sum == l->head.n_bytes;
}

MPI_Count fm_file_runs_below(struct fm_file_runs *l, MPI_Offset end)
{
    MPI_Count sum = 0;

    for (MPI_Count k = 0; k < l->head.n; k++) {
        const struct fm_file_strided *s = &fm_file_runs_items(l)[k];

        for (MPI_Count i = 0; i < s->n && s->off + i * s->stride < end; i++) {
            MPI_Count len = end - (s->off + i * s->stride);

            sum += len < s->len ? len : s->len;
        }
    }
    return sum;
}

MPI_Count fm_file_runs_expand(struct fm_file_runs *l, struct fm_file_run *out)
{
    MPI_Count n = 0;

    for (MPI_Count k = 0; k < l->head.n; k++) {
        const struct fm_file_strided *s = &fm_file_runs_items(l)[k];

        for (MPI_Count i = 0; out && i < s->n; i++) {
            out[n + i] = (struct fm_file_run){s->off + i * s->stride, s->len};
        }
        n += s->n;
    }
    return n;
}

void fm_file_runs_copy(struct fm_file_runs *l, char *window, MPI_Offset low, char *block,
                       MPI_Count limit, bool is_into_window)
{
    for (MPI_Count k = 0; k < l->head.n; k++) {
        const struct fm_file_strided *s = &fm_file_runs_items(l)[k];

        for (MPI_Count i = 0; i < s->n && limit > 0; i++) {
            char *at = window + (s->off + i * s->stride - low);
            MPI_Count len = s->len < limit ? s->len : limit;

            memcpy(is_into_window ? at : block, is_into_window ? block : at, (size_t)len);
            block += len;
            limit -= len;
        }
    }
}
