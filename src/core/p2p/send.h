/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry of all send modes. Arguments are checked already; dest may be MPI_PROC_NULL. */
#pragma once

#include "core/object/request.h"
#include "core/p2p/msg.h"

struct fm_send_req;

/* Send and return when the buffer may be used again. 0 or a failure. */
int fm_send(const struct fm_msg *m, enum fm_send_mode mode);
/* Start; *out_req holds the handle's reference, to be given to fm_wait() or fm_request_unref(). */
int fm_isend(const struct fm_msg *m, enum fm_send_mode mode, struct fm_request **out_req);
/* A persistent request, inactive; started with fm_request_start(). */
int fm_send_init(const struct fm_msg *m, enum fm_send_mode mode, struct fm_request **out_req);

/* For other files of the room. */

/* Send a short message without a request, where that is possible now. */
bool fm_send_short(const struct fm_msg *m, MPI_Count len);
/* Start a request that is not under way (a new one, or a persistent one); the engine's reference
   has been taken. 0 or a failure; failures of the peer are in the request. */
int fm_send_start(struct fm_send_req *s);
