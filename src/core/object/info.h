/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key/value sets (MPI-5.0 10). Usable at any time, before MPI_Init too. Order of insertion is kept.
 * By any thread: each function takes the lock of what lasts (handle.h); who looks into an object or
 * holds what fm_info_find() returned keeps it, if another thread may change that object.
 */
#pragma once

#include "core/object/handle.h"

struct fm_info_item {
    char *key;
    char *value;
};

struct fm_info {
    struct fm_object head;
    uint64_t pool_link;
    struct fm_info_item *items;
    int n_items;
    int n_room;
};

/* Make the pool and MPI_INFO_ENV known; a constructor of the library has done it, twice is fine. */
int fm_info_init(void);
/* An empty one with one reference; NULL when out of memory. */
struct fm_info *fm_info_create(void);
struct fm_info *fm_info_dup(const struct fm_info *info);
void fm_info_unref(struct fm_info *info);
/* The value of a key, NULL if it has none. Owned by the info, valid until it is changed. */
const char *fm_info_find(const struct fm_info *info, const char *key);
int fm_info_set(struct fm_info *info, const char *key, const char *value);
/* 0, or -FM_E_NOENT. */
int fm_info_delete(struct fm_info *info, const char *key);
