/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider's side of the MPI_T registry (MPI-5.0 chapter 15).
 *
 * A runtime (the host) declares its control variables, performance variables, events and categories
 * as rows of static tables, each at the head of the file that owns the words. fathom_mpit_add()
 * gives the table a block of 64-bit words in the shared page; from then on the host writes these
 * words as plain memory, and tools read them through MPI_T_* or from outside through the page.
 *
 *     static const struct fathom_pvar rows[] = {
 *         {.name = "queue_jobs_done", .klass = FATHOM_COUNTER, .unit = "jobs",
 *          .at = offsetof(struct queue_words, n_done), .desc = "Jobs that ran to their end."},
 *     };
 *     const struct fathom_table queue_vars = {
 *         .room = "queue", .block_len = sizeof(struct queue_words), .pvars = rows, .n_pvars = 1};
 *     ...
 *     struct queue_words *w;
 *     fathom_mpit_add(&queue_vars, (void **)&w);
 *     w->n_done++;
 *
 * Rules of the words
 * - Every word is a uint64_t (a double is stored by its bits), naturally aligned, written by one
 *   thread at a time, always counting.
 * - A level with watermarks is a struct fathom_level, moved only with fathom_level_set/add.
 * - An event costs one test of its `on` word until a tool registers for it.
 * - A control variable's value lies in its word too; the host copies it where it steers, from the
 *   row's `changed` function, or reads the word where that is cheap enough.
 *
 * The set of variables is fixed when fathom_mpit_start() returns: tables are added before. Objects
 * (communicators and the like) come and go at any time.
 *
 * Threads: fathom_mpit_add/start/stop and object calls are serialised by the host (or by the lock
 * that it hands in). Words are the host's. fathom_mpit_emit and level marks may run on any thread.
 */
#ifndef FATHOM_MPIT_H
#define FATHOM_MPIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fathom/page.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Datatypes of variables and of event elements, as tools see them. Storage is one word each;
   FATHOM_CHAR is a string in an array of its own (`count` bytes, NUL-terminated). */
enum fathom_type {
    FATHOM_INT = 1,
    FATHOM_UNSIGNED,
    FATHOM_UNSIGNED_LONG,
    FATHOM_UNSIGNED_LONG_LONG,
    FATHOM_COUNT,
    FATHOM_DOUBLE,
    FATHOM_CHAR,
};

/* Classes of performance variables: the values of MPI_T_PVAR_CLASS_* (MPI-5.0 15.3.7). */
enum fathom_class {
    FATHOM_STATE = 1,
    FATHOM_LEVEL,
    FATHOM_SIZE,
    FATHOM_PERCENTAGE,
    FATHOM_HIGHWATERMARK,
    FATHOM_LOWWATERMARK,
    FATHOM_COUNTER,
    FATHOM_AGGREGATE,
    FATHOM_TIMER,
    FATHOM_GENERIC,
};

/* Values of MPI_T_BIND_*, MPI_T_SCOPE_* and MPI_T_VERBOSITY_*. */
enum fathom_bind {
    FATHOM_BIND_NONE = 1,
    FATHOM_BIND_COMM = 2,
    FATHOM_BIND_FILE = 5,
    FATHOM_BIND_WIN = 9,
    FATHOM_BIND_SESSION = 12
};
enum fathom_scope {
    FATHOM_SCOPE_CONSTANT = 1,
    FATHOM_SCOPE_READONLY,
    FATHOM_SCOPE_LOCAL,
    FATHOM_SCOPE_GROUP,
    FATHOM_SCOPE_GROUP_EQ,
    FATHOM_SCOPE_ALL,
    FATHOM_SCOPE_ALL_EQ,
};
enum fathom_verbosity {
    FATHOM_USER_BASIC = 0x09,
    FATHOM_USER_DETAIL = 0x0a,
    FATHOM_USER_ALL = 0x0c,
    FATHOM_TUNER_BASIC = 0x11,
    FATHOM_TUNER_DETAIL = 0x12,
    FATHOM_TUNER_ALL = 0x14,
    FATHOM_DEV_BASIC = 0x21,
    FATHOM_DEV_DETAIL = 0x22,
    FATHOM_DEV_ALL = 0x24,
};

/* Where the present value of a control variable came from, weakest first. */
enum fathom_source {
    FATHOM_FROM_DEFAULT = 0,
    FATHOM_FROM_SYSTEM_FILE,
    FATHOM_FROM_USER_FILE,
    FATHOM_FROM_NAMED_FILE, /* the file that FATHOM_PARAM_FILE names */
    FATHOM_FROM_ENVIRONMENT,
    FATHOM_FROM_LAUNCHER, /* an option of mpiexec */
    FATHOM_FROM_TOOL,     /* MPI_T_cvar_write */
};

/* One value of an enumeration; names have at most 11 characters. */
struct fathom_enum_item {
    int value;
    const char *name;
};

/* An enumeration; declared once, referred to by rows. */
struct fathom_enum {
    const char *name;
    const struct fathom_enum_item *items;
    int n_items;
};

/*
 * A control variable. Its environment variable is FATHOM_ and the name in capitals.
 * Integral kinds use def/min/max; FATHOM_DOUBLE uses def_real/min_real/max_real; FATHOM_CHAR uses
 * def_text and `count` (bytes with the NUL, at most 256).
 */
struct fathom_cvar {
    const char *name; /* room_thing: lower case, digits, underscores */
    const char *desc; /* one full sentence: what it steers and when to change it */
    const char *unit; /* NULL: none */
    enum fathom_type type;
    enum fathom_scope scope;
    enum fathom_verbosity verbosity;
    enum fathom_bind
        bind; /* 0 is FATHOM_BIND_NONE; a bound one has a word in each object's block as well */
    const struct fathom_enum *items; /* for FATHOM_INT only */
    size_t at;                       /* byte offset of its word in the table's block */
    size_t object_at; /* bound: byte offset of its override in the object's block (0 there = follow
                         the process-wide value; the host stores value + 1, see desc of the row) */
    int count;        /* FATHOM_CHAR: bytes of the array; else 0 or 1 */
    int64_t def, min, max;
    double def_real, min_real, max_real;
    const char *def_text;
    bool fixed_after_init; /* writable until MPI_Init only: later MPI_T_ERR_CVAR_SET_NOT_NOW */
    const char *category;  /* NULL: the table's room */
    /*
     * Called after the word took a new value, with the host's lock held; NULL when the word itself
     * steers. `object` is the bound object's host pointer or NULL. May refuse: a non-zero return
     * puts the old value back and the write answers MPI_T_ERR_CVAR_SET_NOT_NOW.
     */
    int (*changed)(void *block, void *object);
};

/*
 * A performance variable. `at` is the byte offset of its first word in the table's block, or, for a
 * bound one, in the object's block.
 */
struct fathom_pvar {
    const char *name;
    const char *desc;
    const char *unit;
    enum fathom_class klass;
    enum fathom_type type;           /* 0 is FATHOM_UNSIGNED_LONG_LONG */
    enum fathom_verbosity verbosity; /* 0 is FATHOM_USER_DETAIL */
    enum fathom_bind bind;
    const struct fathom_enum *items;
    size_t at;     /* watermarks: offset of the struct fathom_level */
    int count;     /* 0 is 1; FATHOM_PER_MEMBER: one word per member of the bound object */
    bool is_level; /* LEVEL whose storage is a struct fathom_level (its first word is the value) */
    bool is_writable; /* default: not writable (readonly) */
    const char *category;
    /* Computed variables only (percentages, sums): must be async-signal-safe. NULL: the words. */
    uint64_t (*compute)(const void *block, const void *object_block);
};
#define FATHOM_PER_MEMBER (-1)

/* One element of an event's data. */
struct fathom_event_item {
    const char *name;
    const char *desc;
    enum fathom_type type;
    const struct fathom_enum *items;
};

/* An event type. `at` is the byte offset of its `on` word in the table's block. */
struct fathom_event {
    const char *name;
    const char *desc;
    enum fathom_verbosity verbosity;
    enum fathom_bind bind;
    size_t at;
    const struct fathom_event_item *data; /* in the order of the values given to fathom_mpit_emit */
    int n_data;                           /* at most 8 */
    const char *category;
};

/* A category; parents are named, so that tables need no order. */
struct fathom_category {
    const char *name;
    const char *desc;
    const char *parent; /* NULL: top level */
};

/* All that one room declares. Static, never freed. */
struct fathom_table {
    const char *room; /* also the category of rows that name none */
    size_t block_len; /* bytes of its block of words; 0: none */
    const struct fathom_cvar *cvars;
    const struct fathom_pvar *pvars;
    const struct fathom_event *events;
    const struct fathom_category *categories;
    int n_cvars, n_pvars, n_events, n_categories;
    /* Bound rows: the block that each object of kind `object_bind` gets. */
    enum fathom_bind object_bind;
    size_t object_block_len; /* fixed part, bytes */
    size_t member_block_len; /* bytes more per member (for FATHOM_PER_MEMBER rows, which lie behind
                                the fixed part: the k-th such row at object_block_len + k * 8 *
                                n_members) */
};

/* A level with its marks. The hot path compares; only a new record calls. One cache line or less.
 */
struct fathom_level {
    uint64_t now;
    uint64_t hi_mark; /* call when now goes above; always >= the process-wide high */
    uint64_t lo_mark; /* call when now goes below */
    uint64_t high;    /* highest since start, kept by the registry */
    uint64_t low;     /* lowest since start */
};

/* A level went beyond a mark: records it for the process and for every started handle. Thread-safe,
   async-signal-safe, takes no lock. */
void fathom_mpit_mark(struct fathom_level *level);

static inline void fathom_level_set(struct fathom_level *l, uint64_t now)
{
    l->now = now;
    if (__builtin_expect(now > l->hi_mark || now < l->lo_mark, 0)) {
        fathom_mpit_mark(l);
    }
}

static inline void fathom_level_add(struct fathom_level *l, int64_t by)
{
    fathom_level_set(l, l->now + (uint64_t)by);
}

/* What the registry asks of its host; every member may be NULL. Kept by pointer: static. */
struct fathom_host {
    const char *name;    /* "fathom", in messages and as prefix of the environment */
    void (*start)(void); /* first MPI_T_init_thread or runtime start: add the tables */
    void (*lock)(void);  /* around everything that is not lock-free; recursive */
    void (*unlock)(void);
    /* An MPI handle (pointed to by obj_handle, as MPI_T_*_handle_alloc gets it) to the host's
       object pointer, as given to fathom_mpit_object_add; NULL when it is not a live object of that
       kind. */
    void *(*object)(enum fathom_bind bind, const void *obj_handle);
    /* Info objects, for MPI_T_event_*_set_info/get_info: host's own; NULL: hints are ignored.
       `info` points to the MPI_Info handle. get_hint writes at most len bytes, returns false if
       absent. */
    bool (*info_get)(const void *info, const char *key, char *value, int len);
    int (*info_create)(void *info, int n, const char *const *keys, const char *const *values);
    bool (*is_before_init)(void); /* may fixed_after_init variables still be written? */
    int (*thread_level)(void);    /* MPI_THREAD_* that the host runs at, or -1 before init */
};

/*
 * Name the host, before the first call of any other function. A library calls it from a
 * constructor; a program that embeds the registry from main(). NULL members get defaults. Returns
 * 0, or -1 when another host is set.
 */
int fathom_mpit_host(const struct fathom_host *host);

/*
 * Use [page, page + len) as the shared page (page-aligned, zeroed, outlives everything; made by the
 * launcher or anonymous). Without this call the registry maps an anonymous page of FATHOM_PAGE_LEN.
 * Only before the first fathom_mpit_add(). Returns 0 or -1 (too small, too late).
 */
int fathom_mpit_page(void *page, size_t len);

/* The page in use (maps one if there is none yet). */
struct fathom_page *fathom_mpit_page_get(void);

/*
 * Add a table; *out_block is its zeroed, cache-line-aligned block in the page (NULL if block_len is
 * 0), with the control variables loaded from files and environment. Adding the same table again
 * gives the same block. Returns 0; -1: out of room, a name is taken or malformed, or the set is
 * fixed already (said on stderr).
 */
int fathom_mpit_add(const struct fathom_table *table, void **out_block);

/* Count a user of the registry (MPI_Init or an MPI_T_init_thread): the first start calls
   host->start; the set of variables is then fixed. Stops are counted alike. Returns 0 or -1. */
int fathom_mpit_start(void);
void fathom_mpit_stop(void);

/*
 * An object with words of its own was made: its block (zeroed, in the page) comes back in
 * *out_block. `id` is unique while it lives; `name` is shown by tools from outside; n_members sizes
 * the per-member rows. Returns 0; -1 when the page is full: the block is then ordinary memory, seen
 * by MPI_T only, and *out_block is still valid. NULL only when memory is out.
 */
int fathom_mpit_object_add(const struct fathom_table *table, void *object, uint64_t id,
                           const char *name, int n_members, void **out_block);
void fathom_mpit_object_rename(void *object, const char *name);
/* The object ends: handles bound to it become invalid, its block is free for others. */
void fathom_mpit_object_remove(void *object);

/*
 * Raise an event: call only when its `on` word is not 0. `block` is the block of the table that the
 * row is in; `object` the bound host object or NULL; values[] one word per data item (doubles by
 * bits). May be called from a signal handler, or with the host's lock held, and says so in
 * `safety`.
 */
void fathom_mpit_emit(const struct fathom_event *event, const void *block, const void *object,
                      const uint64_t *values);

/* Nanoseconds of the clock that time stamps use (CLOCK_MONOTONIC, constant rate). */
uint64_t fathom_mpit_clock(void);

/* Warn once about each FATHOM_* environment variable that nothing declares, with the nearest name.
   Call when all tables are in. `also` lists further names that the host reads itself,
   NULL-terminated. */
void fathom_mpit_warn_unknown(const char *const *also);

/* The sentence of an MPI_T error code (MPI-5.0 15.3.10), NULL if `code` is none. */
const char *fathom_mpit_error_string(int code);

#ifdef __cplusplus
}
#endif
#endif
