/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress: one round over the transports, what waits for room, and the hooks of other rooms. */
#pragma once

#include <stdbool.h>

struct fm_channel;

/* One round. Returns the number of events, or a failure of the channel as a whole. */
int fm_progress(struct fm_channel *ch);

/* Are there more processes of the job on this host than processors for them? */
bool fm_progress_is_crowded(const struct fm_channel *ch);
