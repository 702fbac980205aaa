/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of the registry, and what every file of the room uses: locks, warnings, names that begin
 * as the host's, arrays that grow, the registry's own counters.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fathom/mpit.h>

#include "mpit/mpit_slots.h"

#define FM_T_NAME_LEN  FATHOM_PAGE_NAME_LEN
#define FM_T_TEXT_MAX  256 /* bytes of a string variable */
#define FM_T_SOURCES   3   /* of events */
#define FM_T_EVENT_MAX 8   /* data items of an event */

struct fm_t_table;
struct fm_t_cvar;
struct fm_t_pvar;
struct fm_t_event;
struct fm_t_category;

/* The one mutable root of the room. Guarded by fm_t_lock() but for the atomics. */
struct fm_t_root {
    const struct fathom_host *host;
    struct fathom_page *page;
    bool is_own_page; /* private memory: no other process sees it */
    bool is_fixed;
    bool is_started_once;
    bool is_short;          /* memory was out while the set was made */
    unsigned default_queue; /* events that can wait unless a hint says so: the cvar at the start */
    _Atomic int n_tools; /* MPI_T_init_thread less MPI_T_finalize; read first by every MPI_T call */
    struct fm_t_table **tables;
    struct fm_t_cvar *cvars;
    struct fm_t_pvar *pvars;
    struct fm_t_event *events;
    struct fm_t_category *categories;
    int n_tables, n_cvars, n_pvars, n_events, n_categories;
    struct fm_t_slots enums;
};
extern struct fm_t_root fm_t_root;

/* The host's lock, then the registry's: both recursive. */
void fm_t_lock(void);
void fm_t_unlock(void);

/* Around fork(): no other thread changes the registry meanwhile, and the lock is free in the child.
 */
void fm_t_lock_before_fork(void);
void fm_t_lock_after_fork(bool is_child);

/* Between the first MPI_T_init_thread and the last MPI_T_finalize. */
static inline bool fm_t_is_ready(void)
{
    /* Pairs with the release stores in fm_t_tool_start and _stop. */
    return atomic_load_explicit(&fm_t_root.n_tools, memory_order_acquire) > 0;
}

/* Say something to the user, unless another process of the job says it. */
void fm_t_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *fm_t_host_name(void);

/* "name" as environment variable of this host: FATHOM_NAME. */
void fm_t_env_name(char *out, size_t len, const char *name);

/* What an allocation for the set of variables gave. After a NULL the registry does not start. */
void *fm_t_got(void *memory);
/* Grow *array so that it holds n + 1 elements of elem_len bytes (the new one zeroed). 0, or -1. */
int fm_t_grow(void *array, int n, size_t elem_len);

/* Counters and control variables of the registry itself (mpit_self.c), written with the registry's
   lock held or atomically. */
struct fm_t_counters {
    struct fathom_level sessions;
    struct fathom_level handles;
    struct fathom_level registrations;
    uint64_t n_raised[FM_T_SOURCES]; /* by one thread at a time, but for the async source */
    uint64_t n_called[FM_T_SOURCES];
    uint64_t n_waited;
    uint64_t n_dropped;
    uint64_t n_cvar_writes;
    uint64_t cvar_last; /* index + 1 */
    struct fathom_level queue_free;
    uint64_t queue_len; /* control variables */
    uint64_t papi;      /* enum fm_t_sde_choice */
    char papi_library[FM_T_TEXT_MAX];
    uint64_t on_cvar_written;
};
/* Never NULL: a private block until fm_t_self_add() has added the table. */
extern struct fm_t_counters *fm_t_counters;
