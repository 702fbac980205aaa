/* SPDX-License-Identifier: BSD-3-Clause */
/* The rendezvous protocol, on the side of the receiver. */
#pragma once

#include "core/p2p/fetch.h"
#include "core/p2p/wire.h"

/* Get the data that an RTS offers, or ask for it. 0 or a failure of the peer, which has ended the
   request. */
int fm_rndv_receive(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_rts *rts);
/* A DATA packet has arrived. 0 or -FM_E_PROTO. */
int fm_rndv_data(struct fm_channel *ch, struct fm_recv_req *r, const struct fm_wire_reply *h,
                 const void *data, size_t len);
