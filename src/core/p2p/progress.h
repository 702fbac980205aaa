/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress: polling the transports, hooks of other rooms, waiting.
 *
 * All waiting in the library goes through fm_wait_until(): it polls, gives the processor away when
 * that pays, sleeps when nothing comes (D11), drops the library lock while it does, and notes in
 * the shared page what the process is blocked in.
 */
#pragma once

#include "core/object/request.h"

struct fm_channel;

/* One round over transports and hooks. How many things happened, or a failure of the whole. */
int fm_progress(struct fm_channel *ch);

/* The same for calls that do not wait (tests, probes). Who calls them again and again in vain, with
   more processes than processors, gives the processor to those that he is waiting for. */
int fm_progress_test(struct fm_channel *ch);

/* Until the condition holds. 0 or a failure of the channel. */
typedef bool (*fm_until_fn)(void *ctx);
int fm_wait_until(struct fm_channel *ch, fm_until_fn is_done, void *ctx);

/*
 * The same for a condition that another process makes true in memory that both share. doze(ctx,
 * true) says there that this process is about to sleep, with a full barrier behind; who has made
 * the condition true, and after a full barrier finds somebody dozing, sends him fm_peer_wake().
 * doze(ctx, false) takes it back.
 */
typedef void (*fm_announce_fn)(void *ctx, bool is_sleeping);
int fm_wait_shared(struct fm_channel *ch, fm_until_fn is_done, fm_announce_fn doze, void *ctx);

/* Are there more processes of the job on this host than processors for them? */
bool fm_progress_is_crowded(const struct fm_channel *ch);

/* Until the request is complete; drops the handle's reference of a non-persistent one. Returns 0 or
   a failure; the request's own error is in the status (out_status may be NULL: then it is returned
   as a positive MPI error class). */
int fm_wait(struct fm_request *r, struct fm_status *out_status);
/* Only wait until it is complete; the handle stays. */
int fm_wait_done(struct fm_channel *ch, struct fm_request *r);
/* All n; the array's entries become NULL. First error as fm_wait. */
int fm_wait_all(int n, struct fm_request **reqs);
