/* SPDX-License-Identifier: BSD-3-Clause */
/* The line on stderr about a wait that lasts. */
#pragma once

#include <stdint.h>

struct fm_channel;
struct fm_request;

/*
 * A wait in the MPI function `call` has lasted `ns` nanoseconds: write what it waits for, once in
 * the life of the channel. `r` is the request that is waited for; NULL: a wait for several, of
 * which the first that is pending is described.
 */
void fm_stall_report(struct fm_channel *ch, const struct fm_request *r, const char *call,
                     uint64_t ns);
