/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probing (MPI-5.0 3.8): what has arrived, without receiving it; and taking a message out of the
 * queues to receive it later, so that no other thread can.
 */
#pragma once

#include "core/p2p/recv.h"

struct fm_unexp;

/* A message that was taken out (MPI_Message). */
struct fm_message {
    struct fm_object head;
    uint64_t pool_link;
    struct fm_unexp *u;   /* NULL: from MPI_PROC_NULL */
    struct fm_comm *comm; /* holds a reference; NULL: MPI_MESSAGE_NO_PROC */
};

/* Make MPI_MESSAGE_NO_PROC known. Twice is fine. */
int fm_message_init(void);

/* Take out a matching message, if there is one: NULL otherwise. 0 or a failure. */
int fm_improbe(struct fm_comm *comm, int peer, int tag, struct fm_message **out_message,
               struct fm_status *out_status);
int fm_mprobe(struct fm_comm *comm, int peer, int tag, struct fm_message **out_message,
              struct fm_status *out_status);

/* Receive it; buf, count and dtype of m tell where to. The message is used up, but by a failure. */
int fm_imrecv(struct fm_message *message, const struct fm_msg *m, struct fm_request **out_req);
int fm_mrecv(struct fm_message *message, const struct fm_msg *m, struct fm_status *out_status);
