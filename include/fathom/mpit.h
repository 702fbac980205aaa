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
 *   thread at a time, always counting (unless its row has an `on_at`).
 * - A level with watermarks is a struct fathom_level, moved only with fathom_level_set/add.
 * - An event costs one test of its `on` word until a tool registers for it.
 * - A control variable's value lies in its word too; the host copies it where it steers, from the
 *   row's `changed` function, or reads the word where that is cheap enough.
 *
 * The set of variables is fixed when fathom_mpit_start() returns: tables are added before. Objects
 * (communicators and the like) come and go at any time.
 *
 * Threads: every function may be called on any thread. The registry takes the host's lock first
 * and its own after it, so the host must not call it while holding a lock that is taken inside its
 * own. Words are the host's. fathom_mpit_emit and level marks take no lock.
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
#pragma GCC visibility push(default)

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

/* Values of MPI_T_BIND_*, MPI_T_SCOPE_* and MPI_T_VERBOSITY_*. A row that leaves its binding out
   (0) is bound to nothing. */
enum fathom_bind {
    FATHOM_BIND_NONE = 1,
    FATHOM_BIND_COMM = 2,
    FATHOM_BIND_FILE = 5,
    FATHOM_BIND_WIN = 9,
    FATHOM_BIND_SESSION = 12,
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

/*
 * Where the present value of a control variable came from, weakest first. NAME is the host's name.
 * Files hold lines `variable = value`, # begins a comment. A value that does not parse or is out of
 * bounds is reported once, with the bounds, and left out.
 */
enum fathom_source {
    FATHOM_FROM_DEFAULT = 0,
    FATHOM_FROM_SYSTEM_FILE, /* SYSCONFDIR/NAME.conf, or what NAME_SYSTEM_PARAM_FILE names */
    FATHOM_FROM_USER_FILE,   /* $XDG_CONFIG_HOME (or ~/.config)/NAME/NAME.conf */
    FATHOM_FROM_NAMED_FILE,  /* the file that NAME_PARAM_FILE names */
    FATHOM_FROM_ENVIRONMENT, /* NAME_VARIABLE */
    FATHOM_FROM_LAUNCHER,    /* an option of mpiexec, from NAME_MPIEXEC_SET="variable=value;..." */
    FATHOM_FROM_TOOL,        /* MPI_T_cvar_write */
};

/* What a callback must bear where an event is raised: the values of MPI_T_CB_REQUIRE_*. */
enum fathom_safety {
    FATHOM_SAFE_ANY = 0x00,        /* it may call MPI */
    FATHOM_SAFE_RESTRICTED = 0x03, /* only MPI_T reads: the engine is at work, its lock is held */
    FATHOM_SAFE_THREAD = 0x0f,     /* on a thread that holds no lock, several threads at a time */
    FATHOM_SAFE_SIGNAL = 0x3f,     /* in a signal handler */
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
 * A control variable. Its environment variable is FATHOM_ and the name in capitals (the host's name
 * in the place of FATHOM).
 * Integral kinds use def/min/max; FATHOM_DOUBLE uses def_real/min_real/max_real; FATHOM_CHAR uses
 * def_text and `count` (bytes with the NUL, at most 256; `at` is where the array begins). An
 * enumeration needs no bounds: its items are the legal values.
 *
 * A bound row (integral, min >= 0) makes two variables: `name` is the value of the process, and
 * `name`_comm (_file, _win, _session) the value for one object: its own where it was written, that
 * of the process otherwise.
 */
struct fathom_cvar {
    const char *name; /* room_thing: lower case, digits, underscores */
    const char *desc; /* one full sentence: what it steers and when to change it */
    const char *unit; /* NULL: none */
    enum fathom_type type;
    enum fathom_scope scope;
    enum fathom_verbosity verbosity;
    enum fathom_bind bind;           /* a bound one has a word in each object's block as well */
    const struct fathom_enum *items; /* for FATHOM_INT only */
    size_t at;                       /* byte offset of its word in the table's block */
    size_t object_at; /* bound: byte offset of its word in the object's block; that word is 0
                         while the object follows the process, else the object's value + 1 */
    int count;        /* FATHOM_CHAR: bytes of the array; else 0 or 1 */
    int64_t def, min, max;
    double def_real, min_real, max_real;
    const char *def_text;
    bool fixed_after_init; /* writable until MPI_Init only: later MPI_T_ERR_CVAR_SET_NOT_NOW */
    const char *category;  /* NULL: the table's room */
    /*
     * Called after MPI_T_cvar_write gave the word a new value, with the host's lock held; NULL when
     * the word itself steers. `block` is the table's block, `object` the bound object's host
     * pointer or NULL. May refuse: a non-zero return puts the old value back and the write answers
     * MPI_T_ERR_CVAR_SET_NOT_NOW.
     */
    int (*changed)(void *block, void *object);
    const char *formerly; /* its name before it was renamed, for fathom_mpit_successor(); or NULL */
};

/*
 * A performance variable. `at` is the byte offset of its first word in the table's block, or, for a
 * bound one, in the object's block.
 *
 * What a handle shows (MPI-5.0 15.3.7), each handle for itself:
 * - COUNTER, AGGREGATE, TIMER: what came since its start, kept over stops. Reset makes it 0, write
 *   gives it a value, readreset is atomic. The word itself is never touched.
 * - HIGHWATERMARK, LOWWATERMARK: the extreme of the level since start or reset; `at` must be a
 *   struct fathom_level. Reset, write and readreset as above.
 * - STATE, LEVEL, SIZE, PERCENTAGE: the word as it is; while stopped, as it was. Read-only. What a
 *   PERCENTAGE with `whole_at` shows is the share of one word (or sum) in another.
 * - GENERIC: as a LEVEL, or with is_writable as an AGGREGATE.
 */
struct fathom_term;
struct fathom_pvar {
    const char *name;
    const char *desc;
    const char *unit;
    enum fathom_class klass;
    enum fathom_type type; /* 0: FATHOM_INT for a STATE, FATHOM_DOUBLE for a PERCENTAGE, else
                              FATHOM_UNSIGNED_LONG_LONG */
    enum fathom_verbosity verbosity; /* 0 is FATHOM_USER_DETAIL */
    enum fathom_bind bind;
    const struct fathom_enum *items; /* STATE: needed */
    size_t at;     /* a level or watermark over a struct fathom_level: where that begins;
                      FATHOM_PER_MEMBER: byte offset in the record of a member */
    int count;     /* 0 is 1; FATHOM_PER_MEMBER: one word per member of the bound object */
    bool is_level; /* LEVEL whose storage is a struct fathom_level (its first word is the value) */
    bool is_writable;   /* GENERIC only, see above */
    bool is_continuous; /* always running: MPI_T_pvar_start and _stop are refused */
    const char *category;
    /* Sums only: the value is the sum of these terms, `at` is not used; of an array (count > 1),
       each element is a sum. No level. A fact that the host has written once need not be written
       again for the sake of a total. A sum of counters that only grow only grows, for
       every reader and at any time: hence there are no differences. */
    const struct fathom_term *terms;
    int n_terms;
    size_t on_at; /* bound to nothing: byte offset of a word that counts the started handles of the
                     rows that name it, for what the host counts on demand only; 0:
                     it always counts */
    size_t whole_at; /* Something finite: byte offset, in the same block, of the word that says how
                        much there is; 0: of nothing. PERCENTAGE: `at` or the terms say how much is
                        in use, as a whole number, and fathom_page_share() what that comes to (of
                        nothing: the word is the value, a double). LOWWATERMARK, bound to nothing:
                        the level is what is left, and begins with all when the table is added */
    const char *formerly; /* as in struct fathom_cvar */
};
#define FATHOM_PER_MEMBER (-1)

/* One term of a sum: words of the row's block. */
struct fathom_term {
    size_t at;
    /* Words from there on; 0 is 1, and so it is in an array. FATHOM_PER_MEMBER: one in the record
       of each member, at byte `at` of it. */
    int count;
    /* From a word to the next one, and from an element to the next, in words; 0 is 1. Not used with
       FATHOM_PER_MEMBER. */
    uint32_t step;
};

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
    const char *formerly; /* as in struct fathom_cvar */
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
    size_t member_block_len; /* bytes of the record of a member, a multiple of 8: what is counted
                                for one lies together. The records lie behind the fixed part, one
                                behind the other */
};

/* A level with its marks. The hot path compares with two words; only a new record calls. Zeroed
   memory is a level of 0 with nothing recorded. At most one cache line. */
struct fathom_level {
    uint64_t now;
    uint64_t hi_mark;   /* call when now goes above: the lowest of the highs that are kept */
    uint64_t lo_mark;   /* call when now goes below: the highest of the lows that are kept */
    uint64_t high;      /* highest since the process began, kept by the registry */
    uint64_t low;       /* lowest since the process began */
    uint64_t followers; /* the registry's: handles that keep watermarks of their own */
};

/* A level went beyond a mark: records it for the process and for every started handle (15.3.7.1).
   `level` stays the host's; only the thread that moves it calls this. Lock-free,
   async-signal-safe. Called by the functions below. */
void fathom_mpit_mark(struct fathom_level *level);

/* The level is now `now`, or moves by `by` (it must not go below 0). One thread at a time moves a
   level. Relaxed atomics: tools on other threads read and move the marks meanwhile. */
static inline void fathom_level_set(struct fathom_level *l, uint64_t now)
{
    __atomic_store_n(&l->now, now, __ATOMIC_RELAXED);
    if (__builtin_expect(now > __atomic_load_n(&l->hi_mark, __ATOMIC_RELAXED) ||
                             now < __atomic_load_n(&l->lo_mark, __ATOMIC_RELAXED),
                         0)) {
        fathom_mpit_mark(l);
    }
}

static inline void fathom_level_add(struct fathom_level *l, int64_t by)
{
    fathom_level_set(l, __atomic_load_n(&l->now, __ATOMIC_RELAXED) + (uint64_t)by);
}

/* The same by one, in the fewest steps: up compares with the high mark only, down with the low one
   only. They return the new level. */
static inline uint64_t fathom_level_up(struct fathom_level *l)
{
    uint64_t now = __atomic_load_n(&l->now, __ATOMIC_RELAXED) + 1;

    __atomic_store_n(&l->now, now, __ATOMIC_RELAXED);
    if (__builtin_expect(now > __atomic_load_n(&l->hi_mark, __ATOMIC_RELAXED), 0)) {
        fathom_mpit_mark(l);
    }
    return now;
}

static inline uint64_t fathom_level_down(struct fathom_level *l)
{
    uint64_t now = __atomic_load_n(&l->now, __ATOMIC_RELAXED) - 1;

    __atomic_store_n(&l->now, now, __ATOMIC_RELAXED);
    if (__builtin_expect(now < __atomic_load_n(&l->lo_mark, __ATOMIC_RELAXED), 0)) {
        fathom_mpit_mark(l);
    }
    return now;
}

/* The host has just moved `now` up by itself, in the plain way. */
static inline void fathom_level_raised(struct fathom_level *l)
{
    if (__builtin_expect(l->now > __atomic_load_n(&l->hi_mark, __ATOMIC_RELAXED), 0)) {
        fathom_mpit_mark(l);
    }
}

/* Add to a word of one's own so that other threads may read it: no locked instruction. One thread
   at a time writes a word. */
static inline void fathom_word_add(uint64_t *word, uint64_t by)
{
    __atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
}

/* What the registry asks of its host; every member may be NULL. Kept by pointer: static. */
struct fathom_host {
    /* "fathom": names the files; in capitals, begins the names of environment variables. */
    const char *name;
    void (*start)(void); /* once, at the first MPI_T_init_thread or runtime start: add the tables */
    void (*lock)(void);  /* around everything that is not lock-free; recursive */
    void (*unlock)(void);
    /* An MPI handle (pointed to by obj_handle) to the pointer that fathom_mpit_object_add got. It
       need not be live, nor may it be followed: the registry looks it up among the objects that it
       was told of. NULL: none of that kind. An obj_handle of NULL comes from a tool that names no
       object: the host's usual one of that kind, or NULL. */
    void *(*object)(enum fathom_bind bind, const void *obj_handle);
    /* Info objects, for MPI_T_event_*_set_info/get_info; NULL: hints are ignored. `info` points to
       the MPI_Info handle (never MPI_INFO_NULL). info_get writes at most len bytes and returns
       false if the key is absent; info_create makes a new object and returns 0. */
    bool (*info_is_valid)(const void *info);
    bool (*info_get)(const void *info, const char *key, char *value, int len);
    int (*info_create)(void *info, int n, const char *const *keys, const char *const *values);
    bool (*is_before_init)(void);   /* may fixed_after_init variables still be written? */
    int (*thread_level)(void);      /* MPI_THREAD_* that the host runs at, or -1 before init */
    bool (*is_quiet)(void);         /* true: another process of the job says the warnings */
    void (*warn)(const char *text); /* takes each warning (no newline); NULL: stderr */
    /* Environment variables that begin as those of the registry do and are read by the host, or by
       what comes with it; NULL behind the last, or NULL: none. */
    const char *const *environment;
};

/* Name the host, before any other call: a library from a constructor, a program from main(). The
   struct stays the caller's and must live as long as the process. Returns 0 (also for the same host
   again), or -1: `host` is NULL, or another one is set. */
int fathom_mpit_host(const struct fathom_host *host);

/* Use [page, page + len) as the shared page: zeroed, aligned to 64 bytes, the caller's, and there
   as long as the process (it is made by the launcher). Without this call the registry maps an
   anonymous page of FATHOM_PAGE_LEN. Only before the first fathom_mpit_add(). Returns 0, or -1: too
   small, not aligned, or too late. After fork() the child has a private copy of it at the same
   address, if it is a mapping of whole pages: it sees alone what it counts. */
int fathom_mpit_page(void *page, size_t len);

/* Move the page, a mapping of whole pages that fathom_mpit_page() got, into a file of the same
   length: addresses stay, and no count is lost. For a host that learns late which page is its own.
   Returns 0, or -1 with errno: the page stays where it is. */
int fathom_mpit_page_move(int fd, size_t len);

/* The page in use, mapped if there is none yet. The registry's, to be read; NULL when memory is
   out. */
struct fathom_page *fathom_mpit_page_get(void);

/*
 * Add a table, which stays the caller's and must live as long as the process, with all that it
 * points to. *out_block (may be NULL) is its zeroed, cache-line-aligned block in the page (none if
 * block_len is 0), with the control variables loaded from files and environment; the words are the
 * host's to write, the memory is the registry's. Adding the same table again gives the same
 * block. Returns 0; -1: out of room, a name is taken or malformed, a row breaks the rules of its
 * class (15.3.6.1, 15.3.7.1, 15.3.8.3), or the set is fixed already; which, is said as a warning,
 * and *out_block is not written.
 */
int fathom_mpit_add(const struct fathom_table *table, void **out_block);

/* Start the registry, unless it has started (MPI_T_init_thread does so by itself, 15.3.4): calls
   host->start, after which the set of variables is fixed. It stays until the process ends. Returns
   0, or -1 where there is no memory for the page. */
int fathom_mpit_start(void);

/*
 * An object with words of its own was made (15.3.2): its block (zeroed, in the page) comes back in
 * *out_block, the registry's memory until fathom_mpit_object_remove(). `table` was added before;
 * `object` is the host's pointer to it, which host->object gives for its handle and the registry
 * does not follow; `id` is unique while it lives; `name` (copied; NULL: none) is shown by tools
 * from outside; n_members sizes the per-member rows. An object that has words of that table already
 * keeps them. Returns 0; -1 when the page is full: the block is then ordinary memory, seen by MPI_T
 * only, and *out_block is still valid; it is NULL only when memory is out, the table is unknown or
 * `object` is NULL.
 */
int fathom_mpit_object_add(const struct fathom_table *table, void *object, uint64_t id,
                           const char *name, int n_members, void **out_block);
/* Tools from outside see `name` (copied; NULL: none) from now on. Unknown objects: nothing. */
void fathom_mpit_object_rename(void *object, const char *name);
/* The object ends: handles bound to it become invalid (MPI_T_ERR_INVALID_HANDLE), events bound to
   it are raised no more, its blocks are free for others. Unknown objects: nothing. */
void fathom_mpit_object_remove(void *object);

/*
 * Raise an event (15.3.8): call only when its `on` word is not 0. `event` is the row itself, as it
 * was added; `block` the block of the table that it is in; `object` the bound host object or NULL;
 * values[] one word per data item (doubles by bits), copied. The caller is the engine at work: it
 * holds the host's lock, or there is one thread only, and callbacks get the safety level
 * MPI_T_CB_REQUIRE_MPI_RESTRICTED, or a higher one inside of a callback that has it. Callbacks of
 * lower levels are called later, from fathom_mpit_deliver(); an event that finds the queue full is
 * dropped and reported (15.3.8.5). There is no error; a row that was not added is not raised.
 */
void fathom_mpit_emit(const struct fathom_event *event, const void *block, const void *object,
                      const uint64_t *values);

/* The same from elsewhere: FATHOM_SAFE_THREAD on a thread without the host's lock,
   FATHOM_SAFE_SIGNAL in a signal handler; such events come from the unordered source (15.3.8.1). In
   signal handlers, user callbacks cannot make calls of MPI_T that take locks: these give
   MPI_T_ERR_NOT_ACCESSIBLE (15.3.8.2). */
void fathom_mpit_emit_from(const struct fathom_event *event, const void *block, const void *object,
                           const uint64_t *values, enum fathom_safety safety);

/* Not 0 while queued events, or reports of dropped ones, wait for fathom_mpit_deliver(). The
   registry's, to be read. */
extern uint32_t fathom_mpit_waiting;

/* Call the callbacks of waiting events, and the handlers of dropped ones. The host does so at the
   end of its calls, without its lock, where a user's function may call MPI; fathom_mpit_poll() when
   there is something to do. */
void fathom_mpit_deliver(void);

static inline void fathom_mpit_poll(void)
{
    if (__builtin_expect(__atomic_load_n(&fathom_mpit_waiting, __ATOMIC_RELAXED) != 0, 0)) {
        fathom_mpit_deliver();
    }
}

uint64_t fathom_mpit_clock(void); /* nanoseconds, CLOCK_MONOTONIC: what time stamps use */

/* Warn once about each FATHOM_* environment variable and file entry that nothing declares, with its
   new name if it was renamed, else the nearest name. Call when all tables are in: behind
   fathom_mpit_start() or MPI_T_init_thread(). */
void fathom_mpit_warn_unknown(void);

/* The present name of the variable or event that was called `name` (in any case) before it was
   renamed; NULL: there is none. Static. Complete behind fathom_mpit_start() or
   MPI_T_init_thread(). */
const char *fathom_mpit_successor(const char *name);

/* The sentence of an MPI_T error code (15.3.10), static; NULL if `code` is none. At any time. */
const char *fathom_mpit_error_string(int code);

/* Where the present value of a control variable comes from (enum fathom_source), with its unit and
   environment variable ("": none; NULL: not wanted); -1 for an index that is none. The unit is
   static, the other string lives until the thread's next call. */
int fathom_mpit_cvar_source(int cvar_index, const char **out_unit, const char **out_environment);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
