/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry of receives and probes. Arguments are checked already. */
#pragma once

#include "core/p2p/send.h"

/* Receive. The status is filled when not NULL. 0, or a failure (-FM_E_TRUNCATE: the status tells
 * the rest). */
int fm_recv(const struct fm_msg *m, struct fm_status *out_status);
int fm_irecv(const struct fm_msg *m, struct fm_request **out_req);

/* A persistent request, inactive; started with fm_request_start(). */
int fm_recv_init(const struct fm_msg *m, struct fm_request **out_req);

/* Send one, receive another, in any order (MPI_Sendrecv and collectives). */
int fm_sendrecv(const struct fm_msg *send, const struct fm_msg *recv, struct fm_status *out_status);

/* Is a matching message there? 0; *out_found tells. peer may be MPI_ANY_SOURCE, tag MPI_ANY_TAG. */
int fm_iprobe(struct fm_comm *comm, int peer, int tag, bool *out_found,
              struct fm_status *out_status);
int fm_probe(struct fm_comm *comm, int peer, int tag, struct fm_status *out_status);

/* For other files of the room. */

struct fm_channel;
struct fm_recv_req;
struct fm_unexp;

/* Make ch->blocking, the request of receives that a thread waits for. 0 or a failure. */
int fm_recv_blocking_create(struct fm_channel *ch);
/* A request for a receive, with one reference, the handle's. NULL when out of memory. */
struct fm_recv_req *fm_recv_new(const struct fm_msg *m);
/* Receive an unexpected message that is in no queue any more; u is freed. 0 or a failure. */
int fm_recv_unexpected(struct fm_channel *ch, struct fm_recv_req *r, struct fm_unexp *u);
/* Wait for a receive and complete it; its error becomes a failure. */
int fm_recv_wait(struct fm_request *r, struct fm_status *out_status);
