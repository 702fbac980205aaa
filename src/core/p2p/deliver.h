/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that arrive: the sink of the transports. */
#pragma once

#include <stddef.h>

struct fm_channel;

/* fm_sink.deliver; ctx is the channel. */
void fm_deliver(void *ctx, const void *data, size_t len);
/* Install the handlers of the engine's own kinds (packet.h). */
void fm_deliver_install(struct fm_channel *ch);
