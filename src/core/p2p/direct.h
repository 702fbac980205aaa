/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single copy between the memory of this process and that of another one on this host, by plain
 * address, outside of any message: for collectives, whose ranks tell each other where their buffers
 * are. The rooms above see that the memory is there for as long as it is copied.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm_channel;

/* Can the memory of that process be reached? May make its endpoint. */
bool fm_direct_is_possible(struct fm_channel *ch, int proc);

/* Copy len bytes from, or to, an address in that process. Returns when it is done: 0 or a failure,
   after which part of the bytes may have been copied. */
int fm_direct_get(struct fm_channel *ch, int proc, void *to, uint64_t from, size_t len);
int fm_direct_put(struct fm_channel *ch, int proc, uint64_t to, const void *from, size_t len);
