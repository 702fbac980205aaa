/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry's own structs, shared by the files of this folder only.
 *
 * A row of a provider's table becomes one entry here when it is added, and gets its number when
 * fathom_mpit_start() fixes the set; entries never move or go away after that. Everything that
 * changes is guarded by fm_t_lock(), save what is said to be atomic.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fathom/mpit.h>

#include "mpit/mpit_hash.h"
#include "mpit/mpit_root.h"
#include "mpit/mpit_slots.h"

/* MPI_SUCCESS and the MPI_T error codes (MPI-5.0 15.3.10); mpit_api_var.c holds them against
   mpi.h. */
enum fm_t_code {
    FM_T_OK = 0,
    FM_T_CANNOT_INIT = 1001,
    FM_T_NOT_ACCESSIBLE,
    FM_T_NOT_INITIALIZED,
    FM_T_NOT_SUPPORTED,
    FM_T_MEMORY,
    FM_T_INVALID,
    FM_T_INVALID_INDEX,
    FM_T_INVALID_ITEM,
    FM_T_INVALID_SESSION,
    FM_T_INVALID_HANDLE,
    FM_T_INVALID_NAME,
    FM_T_OUT_OF_HANDLES,
    FM_T_OUT_OF_SESSIONS,
    FM_T_CVAR_SET_NOT_NOW,
    FM_T_CVAR_SET_NEVER,
    FM_T_PVAR_NO_WRITE,
    FM_T_PVAR_NO_STARTSTOP,
    FM_T_PVAR_NO_ATOMIC,
};

/* A table that was added. */
struct fm_t_table {
    const struct fathom_table *from;
    char *block;
    uint32_t number;          /* from 1; the `block` of its rows and objects in the page */
    struct fm_t_object *none; /* of tools that name no object: nothing is counted there */
};

struct fm_t_enum {
    struct fm_t_slot slot; /* handles never go stale; the value is checked all the same */
    const char *name;
    const struct fathom_enum *from; /* NULL: the names of an event's elements */
    const struct fathom_event *event;
};

/* A control variable as tools see it; a bound row makes two. */
struct fm_t_cvar {
    const struct fathom_cvar *row;
    const struct fm_t_table *table;
    const char *name;
    char *desc;
    enum fathom_bind bind; /* NONE for the value of the process */
    uint64_t enum_handle;
    uint32_t source;
    struct fathom_page_row *page_row; /* NULL: the page had no room for it */
};

/* How a handle turns the words into what it shows. */
enum fm_t_pvar_mode {
    FM_T_PVAR_AS_IS, /* the word; while stopped, as it was */
    FM_T_PVAR_SINCE, /* what came since start */
    FM_T_PVAR_HIGH,  /* extremes of a struct fathom_level */
    FM_T_PVAR_LOW,
};

struct fm_t_pvar {
    const struct fathom_pvar *row;
    const struct fm_t_table *table;
    char *desc;
    enum fathom_class klass;
    enum fathom_type type;
    enum fathom_bind bind;
    enum fm_t_pvar_mode mode;
    bool is_readonly, is_atomic;
    bool is_derived;           /* a sum or a share: no word of its own */
    _Atomic(bool) is_demanded; /* by fm_t_pvar_peek() */
    int count;                 /* 0: one per member */
    uint32_t step;             /* words from an element to the next */
    size_t word_at;            /* of the word in the block */
    uint32_t *flat; /* of a sum: how many words, then where each lies; NULL: go by the terms */
    uint64_t enum_handle;
};

struct fm_t_category {
    char name[FM_T_NAME_LEN];
    const char *desc;
    const char *parent_name;
    int parent; /* -1: top level */
    int *cvars, *pvars, *events, *categories;
    int n_cvars, n_pvars, n_events, n_categories;
};

struct fm_t_registration;

struct fm_t_event {
    const struct fathom_event *row;
    const struct fm_t_table *table;
    uint64_t *on; /* 1 + own number while a callback is registered; read by the host */
    uint64_t enum_handle;
    size_t displacements[FM_T_EVENT_MAX];
    size_t len; /* bytes of what MPI_T_event_copy writes */
    /* Registrations, dead ones among them; grows only. Stored with release order by
       fm_t_event_alloc, loaded with acquire order by emitters, which take no lock. */
    _Atomic(struct fm_t_registration *) registrations;
    _Atomic uint32_t n_dead; /* of these; counted by the thread that ends one */
    int n_callbacks;         /* of all registrations */
};

/* Words that belong to a live object of the host. */
struct fm_t_object {
    struct fm_t_hash_link link; /* its key is the host's pointer */
    const struct fm_t_table *table;
    char *block;
    size_t block_len;
    int n_members;
    bool is_in_page;
    struct fathom_page_object *entry; /* NULL: not shown outside */
};

/* ---- mpit_enum.c ---- */

/* Handle of an enumeration (made at its first use), 0 for NULL or when memory is out. */
uint64_t fm_t_enum_handle(const struct fathom_enum *from);
uint64_t fm_t_enum_handle_of_event(const struct fathom_event *event);
const struct fm_t_enum *fm_t_enum_find(uint64_t handle);
int fm_t_enum_count(const struct fm_t_enum *e);
/* Item at `i`; the names of an event's elements have their numbers as values. */
void fm_t_enum_item(const struct fm_t_enum *e, int i, int *out_value, const char **out_name);
bool fm_t_enum_has(const struct fathom_enum *from, int64_t value);

/* ---- mpit_name.c ---- */

enum fm_t_name_kind {
    FM_T_NAME_CVAR,
    FM_T_NAME_PVAR,
    FM_T_NAME_EVENT,
    FM_T_NAME_CATEGORY,
    FM_T_NAME_KINDS
};

/* Number of the thing of that kind with this name (and class, for pvars; else 0), or -1. */
int fm_t_name_find(enum fm_t_name_kind kind, const char *name, int klass);
/* 0; 1 when taken already; -1 when memory is out. */
int fm_t_name_add(enum fm_t_name_kind kind, const char *name, int klass, int number);
void fm_t_name_clear(enum fm_t_name_kind kind);
/* How many edits lead from a to b; case is ignored. */
int fm_t_name_distance(const char *a, const char *b);

/* ---- mpit_add.c: from rows to entries ---- */
/* Number the set, build the tree of categories and the name tables. */
void fm_t_fix(void);
int fm_t_category_update_number(void);
/* Words of one value of this type, as laid out for tools. */
size_t fm_t_type_len(enum fathom_type type);

/* ---- mpit_page.c ---- */

int fm_t_page_open(void);
/* len bytes, zeroed, cache-line-aligned; NULL when the page is full. */
void *fm_t_page_take(size_t len);
void fm_t_page_give(void *block, size_t len);
/* A new row, to be filled and then published; NULL when there is no room. */
struct fathom_page_row *fm_t_page_row_new(const char *name, const char *unit);
void fm_t_page_row_publish(void);
uint64_t fm_t_page_offset(const void *at);
struct fathom_page_object *fm_t_page_object_new(void);
/* mpit_remap.c: in a child after fork(), a private copy takes the place of the shared page. */
void fm_t_remap_private(void);
/* An entry is free again; NULL is fine. */
void fm_t_page_object_give(struct fathom_page_object *entry);

/* ---- mpit_object.c ---- */

/* Words of the object that obj_handle points to, for a bound row of this table. NULL: none such. */
struct fm_t_object *fm_t_object_of_handle(const struct fm_t_table *table, enum fathom_bind bind,
                                          const void *obj_handle);
struct fm_t_object *fm_t_object_find(const struct fm_t_table *table, const void *object);
/* Its first entry: an object has one for each table with rows bound to it. NULL: none. */
struct fm_t_object *fm_t_object_first(const void *object);
/* Free an entry and its counters, which no handle uses any more. */
void fm_t_object_end(struct fm_t_object *o);
/* The host's pointer of a live object that obj_handle points to, whatever table it has words of. */
const void *fm_t_object_host(enum fathom_bind bind, const void *obj_handle);

/* ---- mpit_param.c: values from outside ---- */

/* Load the process-wide value of a variable: default, files, environment, launcher. */
void fm_t_param_load(struct fm_t_cvar *var);
/* Put a parsed value into the word or array of the row. 0, or -1 with the reason in out_why. */
int fm_t_param_parse(const struct fathom_cvar *row, const char *text, void *word, char *out_why,
                     size_t why_len);
/* May the variable have this value? */
bool fm_t_param_in_bounds(const struct fathom_cvar *row, int64_t value);
/* "0..65536 bytes" or the names of the items. */
void fm_t_param_bounds(const struct fathom_cvar *row, char *out, size_t len);
