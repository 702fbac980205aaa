/* SPDX-License-Identifier: BSD-3-Clause */
/* A send and a receive as one operation (MPI-5.0 3.10). fm_sendrecv() is in recv.h. */
#pragma once

#include "core/p2p/recv.h"

/* Both under one request, whose result is that of the receive. */
int fm_isendrecv(const struct fm_msg *send, const struct fm_msg *recv, struct fm_request **out_req);

/* The same buffer for both: what is sent is copied first. peer and tag of `send` are where it goes,
   the rest is that of `recv`. */
int fm_sendrecv_replace(const struct fm_msg *send, const struct fm_msg *recv,
                        struct fm_status *out_status);
int fm_isendrecv_replace(const struct fm_msg *send, const struct fm_msg *recv,
                         struct fm_request **out_req);
