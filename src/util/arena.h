/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arena of a job: the part of one memory file, which every process of a host has inherited from
 * the launcher, of which each takes what it wants to share.
 *
 *     at                                                                          at + len
 *     +------------------+-----------+---------------+-----------+-- --+-----------------+
 *     | next (one page)  | segment   | segment       | segment   | ... | not yet taken   |
 *     +------------------+-----------+---------------+-----------+-- --+-----------------+
 *
 * So processes share memory although none may open the descriptors of another: in user namespaces
 * of their own (rootless containers), as programs that can be executed but not read, without /proc.
 * The file is sparse. A piece that is given back frees its memory; its range is not used again,
 * which a range of 1 TiB can afford.
 *
 * Atomics: `next` is a relaxed fetch-and-add: it takes a range and publishes no data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_ARENA_LEN (UINT64_C(1) << 40)

/* From now on this process takes pieces of the bytes [at, at + len) of this file. Takes fd. 0 or a
   failure; once per process, under the library lock. */
int fm_arena_use(int fd, uint64_t at, uint64_t len);

/* The file; -1: this process has no arena. */
int fm_arena_fd(void);

/* Take len bytes, the first n_reserved of which are backed by memory: their place in the file. They
   are zero. False: there is no arena, or no memory. */
bool fm_arena_take(size_t len, size_t n_reserved, uint64_t *out_at);

/* May a piece lie there? For places that peers name. */
bool fm_arena_has(uint64_t at, uint64_t len);

/* Free the memory of a piece, or of a part of it. */
void fm_arena_give_back(uint64_t at, size_t len);
