/* SPDX-License-Identifier: BSD-3-Clause */
/* The eager protocol: when it may be used. */
#pragma once

#include "core/p2p/send_req.h"

/* Is the message within the limits, and is there credit for it? */
bool fm_eager_fits(const struct fm_peer *peer, const struct fm_send_req *s);
