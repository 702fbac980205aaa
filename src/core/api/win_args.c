/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments that many functions of chapter 12 have. */
#include "core/api/win_args.h"

int fm_find_win(const char *call, MPI_Win win, struct fm_win **out_win)
{
    struct fm_win *w = fm_win_get(win);

    if (FM_UNLIKELY(!w)) {
        return fm_raise_handle(FM_KIND_WIN, call, win, "win");
    }
    *out_win = w;
    return MPI_SUCCESS;
}

int fm_find_win_for(const char *call, MPI_Win win, const char *name, const void *out,
                    struct fm_win **out_win)
{
    int rc = fm_find_win(call, win, out_win);

    return rc == MPI_SUCCESS ? fm_find_out(*out_win, call, name, out) : rc;
}

int fm_win_args_check_rank(const char *call, struct fm_win *w, int rank)
{
    if (FM_UNLIKELY((unsigned)rank >= (unsigned)w->comm->size)) {
        return fm_raise(w, call, MPI_ERR_RANK, "rank is %d: allowed are the ranks 0 to %d of '%s'",
                        rank, w->comm->size - 1, w->name);
    }
    return MPI_SUCCESS;
}
