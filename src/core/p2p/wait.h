/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: how long to poll, when to give the processor away, when to sleep (D11).
 *
 * All waiting in the library goes through here: a wait makes rounds of progress until its condition
 * holds, drops the library lock while it yields or sleeps, and publishes in the shared page what
 * the process is blocked in.
 */
#pragma once

#include "core/object/request.h"
#include "core/p2p/progress.h"

struct fm_channel;

typedef bool (*fm_until_fn)(void *ctx);
typedef void (*fm_announce_fn)(void *ctx, bool is_sleeping);

/* The condition of a wait. */
struct fm_wait_cond {
    struct fm_channel *ch;
    fm_until_fn is_done;
    void *ctx;
    const struct fm_request *request; /* that it waits for; NULL: another condition */
    fm_announce_fn announce;          /* see fm_wait_shared(); NULL: messages make it true */
};

/* A round for calls that do not wait (tests, probes). With more processes than processors, calls
   that find nothing time and again yield the processor to the processes that they wait for. */
int fm_wait_test(struct fm_channel *ch);

/* Until the condition holds. 0 or a failure of the channel. */
int fm_wait_until(struct fm_channel *ch, fm_until_fn is_done, void *ctx);

/*
 * The same for a condition that another process makes true in shared memory. announce(ctx, true)
 * writes there that this process is about to sleep, with a full barrier behind; a process that has
 * made the condition true, and after a full barrier reads that this one sleeps, calls
 * fm_peer_wake(). announce(ctx, false) takes it back.
 */
int fm_wait_shared(struct fm_channel *ch, fm_until_fn is_done, fm_announce_fn announce, void *ctx);

/* Until the request is complete; drops the handle's reference of a non-persistent one. Returns 0 or
   a failure; the request's own error is in the status (out_status may be NULL: then it is returned
   as a positive MPI error class). */
int fm_wait(struct fm_request *r, struct fm_status *out_status);
/* Only wait until it is complete; the handle stays. */
int fm_wait_done(struct fm_channel *ch, struct fm_request *r);
/* All n; the array's entries become NULL. First error as fm_wait. */
int fm_wait_all(int n, struct fm_request **reqs);

/* Parts of opening and closing a channel. */
void fm_wait_init(struct fm_channel *ch);
void fm_wait_finish(struct fm_channel *ch);
