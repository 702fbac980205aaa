/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a process to itself, on the side of the receive. */
#pragma once

struct fm_channel;
struct fm_recv_req;
struct fm_send_req;

/* Receive an unexpected message of the process itself whose data is still in the sender's buffer;
   both requests are complete then. */
void fm_self_receive(struct fm_channel *ch, struct fm_recv_req *r, struct fm_send_req *s);
