/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered mode (MPI-5.0 3.6): messages are copied into memory that the user has attached to the
 * process, a communicator or a session, and leave from there. A message that the transport takes at
 * once needs no copy.
 *
 * An attached buffer is divided into segments that lie one behind the other; each begins with a
 * header, so a message takes its packed length and at most MPI_BSEND_OVERHEAD bytes more.
 * Neighbouring free segments are joined. MPI_BUFFER_AUTOMATIC takes memory of the heap instead.
 */
#pragma once

#include "core/object/request.h"
#include "core/p2p/msg.h"

struct fm_buffer;

/* Whose buffer: NULL is the process, else a communicator or a session. */

/* All return 0, a failure, or the positive MPI_ERR_BUFFER: something is attached already, nothing
   is, or there is no room in it. */

/* Attach. */
int fm_bsend_attach(struct fm_channel *ch, const void *owner, void *addr, MPI_Count len);
/* Wait until all its messages have left, and give it back. */
int fm_bsend_detach(struct fm_channel *ch, const void *owner, void **out_addr, MPI_Count *out_len);
/* Wait until all messages that are in it now have left; the same as a request. */
int fm_bsend_flush(struct fm_channel *ch, const void *owner);
int fm_bsend_iflush(struct fm_channel *ch, const void *owner, struct fm_request **out_req);
/* The owner ends: its buffer is given back when the last message has left. */
void fm_bsend_orphan(struct fm_channel *ch, const void *owner);
/* The channel ends. */
void fm_bsend_finish(struct fm_channel *ch);

/* Send in buffered mode: the user's buffer may be reused on return. Besides the above, both forms
   with a request return it complete or inactive, as fm_isend() and fm_send_init() do. */
int fm_bsend(const struct fm_msg *m);
int fm_ibsend(const struct fm_msg *m, struct fm_request **out_req);
int fm_bsend_init(const struct fm_msg *m, struct fm_request **out_req);
