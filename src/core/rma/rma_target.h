/* SPDX-License-Identifier: BSD-3-Clause */
/* The target's side of active messages (rma_wire.h): it carries out what origins of other hosts
   ask for, in their order, and holds its lock for them. */
#pragma once

#include "core/p2p/hook.h"
#include "core/p2p/packet.h"
#include "core/rma/win.h"

/* The handler of request packets; ctx is the channel. */
int fm_target_handle(void *ctx, struct fm_peer *peer, const struct fm_wire_head *head, size_t len);

/* Our own lock may have become free: give it to those origins whose turn it is. */
void fm_target_grant(struct fm_win *w);
/* A round of progress while origins wait for it: the hook of the window. */
int fm_target_round(struct fm_hook *hook);
/* The window ends. */
void fm_target_drop_queue(struct fm_win *w);
