/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The origin's side of active messages: a stream of records per target (rma_wire.h).
 *
 * Short operations are packed, with their data, one behind the other into a packet, which is sent
 * when it is full, when something waits for it, or by progress. What finds no room on the way to
 * the target becomes a job and keeps its place; its data stays in the user's buffers, which belong
 * to the library until the operation is complete at the origin (MPI-5.0 12.3). So no operation
 * waits for another process, and none copies more than a packet.
 *
 * Operations that fetch are limited by rma_reply_limit, so that a target never has to keep more
 * than that for an origin which takes nothing.
 */
#pragma once

#include "core/p2p/packet.h"
#include "core/rma/rma_op.h"

struct fm_rma_stream;

/* The handler of reply packets. */
int fm_rma_stream_handle(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head,
                         size_t len);
/* The process needs none of this any more. */
void fm_rma_stream_finish(void);

/* Begin an operation. `req` (NULL: none) gets a part. 0 or a failure. */
int fm_rma_stream_call(struct fm_win *w, struct fm_win_target *t, const struct fm_rma_call *call,
                       struct fm_rma_req *req);
/* Wait until all is complete at the target, or only at the origin. 0 or a failure. */
int fm_rma_stream_flush(struct fm_rma_stream *s, bool is_local);
/* The lock of a target on another host; unlocking flushes, too. */
int fm_rma_stream_lock(struct fm_win *w, struct fm_win_target *t, bool is_exclusive);
int fm_rma_stream_unlock(struct fm_win *w, struct fm_win_target *t);
/* We have posted to it (else: completed). Does not wait. */
int fm_rma_stream_notify(struct fm_win *w, struct fm_win_target *t, bool is_post);
/* NULL is fine. */
void fm_rma_stream_destroy(struct fm_rma_stream *s);
