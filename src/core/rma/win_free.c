/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning and the end of the room, and the end of a window (MPI-5.0 12.2.5). */
#include <stdlib.h>

#include "core/coll/coll.h"
#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "core/p2p/channel.h"
#include "core/rma/rma_stream.h"
#include "core/rma/rma_target.h"
#include "core/rma/rma_wire.h"
#include "core/rma/win_sync.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

#define MAX_WINS (1 << 16)

int fm_win_init(void *block)
{
    fm_rma_counters_init(block);
    fm_errhandler_place(FM_KIND_WIN, offsetof(struct fm_win, errhandler));
    return fm_handle_pool(FM_KIND_WIN, sizeof(struct fm_win), MAX_WINS);
}

void fm_win_open(struct fm_channel *ch)
{
    const size_t min_len = sizeof(struct fm_rma_packet);

    fm_packet_install(ch, FM_RMA_PACKET_REQUEST,
                      &(struct fm_packet_handler){fm_target_handle, ch, min_len, 0});
    fm_packet_install(ch, FM_RMA_PACKET_REPLY,
                      &(struct fm_packet_handler){fm_rma_stream_handle, ch, min_len, 0});
}

void fm_win_finish(void)
{
    fm_rma_stream_finish();
    fm_win_forget_all();
}

void fm_win_drop(struct fm_win *w)
{
    fm_list_remove(&w->link);
    for (int r = 0; w->targets && w->comm && r < w->comm->size; r++) {
        fm_rma_stream_destroy(w->targets[r].stream);
    }
    fm_target_drop_queue(w);
    fm_segment_finish(&w->segment);
    free(w->private_memory);
    fm_rma_counters_remove(w);
    fm_attr_drop(&w->attrs);
    fm_group_unref(w->start_group);
    fm_group_unref(w->post_group);
    fm_info_unref(w->info);
    fm_errhandler_unref(w->errhandler);
    fm_comm_unref(w->comm);
    free(w->regions);
    free(w->targets);
    free(w->n_started);
    free(w->n_waited);
    fm_object_free(w);
}

static int check_epochs(const struct fm_win *w)
{
    if (w->is_posted) {
        return fm_fail(MPI_ERR_RMA_SYNC, "the window is exposed: call MPI_Win_wait first");
    }
    switch (w->epoch) {
    case FM_WIN_STARTED:
        return fm_fail(MPI_ERR_RMA_SYNC, "an epoch of MPI_Win_start is open: call "
                                         "MPI_Win_complete first");
    case FM_WIN_LOCKED:
        return fm_fail(MPI_ERR_RMA_SYNC, "a lock is held: call MPI_Win_unlock first");
    case FM_WIN_LOCKED_ALL:
        return fm_fail(MPI_ERR_RMA_SYNC, "all locks are held: call MPI_Win_unlock_all first");
    case FM_WIN_FENCE:
        return w->is_used ? fm_fail(MPI_ERR_RMA_SYNC, "operations were called since the last "
                                                      "fence: call MPI_Win_fence first")
                          : 0;
    default:
        return 0;
    }
}

int fm_win_free(struct fm_win *w, bool *out_gone)
{
    int rc = check_epochs(w), rc_end;

    if (rc == 0) {
        rc = fm_attr_delete_all(FM_KIND_WIN, w, &w->attrs);
    }
    if (rc != 0) {
        return rc;
    }
    /* No operation of another rank may find it gone (12.2.5). */
    rc = fm_win_flush_all(w);
    rc_end = fm_barrier(w->comm);
    fm_win_drop(w);
    *out_gone = true;
    return rc < 0 ? rc : rc_end;
}
