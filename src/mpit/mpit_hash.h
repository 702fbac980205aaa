/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Things found by a pointer, in chains of links that the things hold themselves; the number of
 * chains follows that of the things, so that finding one costs the same among ten and a million.
 *
 * Several things may have the same pointer. Not thread-safe: under the registry's lock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FM_T_HASH_FIRST_BITS 6

/* First member of a thing; `key` is set by the owner before it is added. */
struct fm_t_hash_link {
    struct fm_t_hash_link *next;
    const void *key;
};

/* Zeroed before first use. */
struct fm_t_hash {
    struct fm_t_hash_link **chains; /* 1 << bits of them; NULL: `first` */
    size_t n;
    unsigned bits;
    struct fm_t_hash_link *first[1u << FM_T_HASH_FIRST_BITS];
};

void fm_t_hash_add(struct fm_t_hash *h, struct fm_t_hash_link *link);
/* One that is in. */
void fm_t_hash_remove(struct fm_t_hash *h, struct fm_t_hash_link *link);
/* Some thing with this pointer, or NULL. */
struct fm_t_hash_link *fm_t_hash_find(const struct fm_t_hash *h, const void *key);
/* The next thing with the same pointer, or NULL. */
struct fm_t_hash_link *fm_t_hash_next(const struct fm_t_hash_link *link);
