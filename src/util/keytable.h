/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key table of a job: a memory file of mpiexec that every rank maps.
 *
 *     struct fm_keytable_head | struct fm_keytable_live | slot of rank 0 | ... | arena (arena.h)
 *     read-only after it is made              one writer per word
 *
 * A slot holds the state of a rank and the values that it has published. Each word has one writer,
 * named beside it, so there are no locks; `change` is incremented after every change and is the
 * futex of waiters.
 *
 * A rank may write anywhere in the file by mistake. Nobody trusts what another process can write:
 * constants are copied into struct fm_keytable when the table is mapped, the head is mapped
 * read-only, a word is read once and checked, and a waiting rank writes its own words again.
 *
 * Ranks find the table by the environment variable FATHOM_JOB: the launcher, two file descriptors
 * (table and shared page), the rank and the token of the table. `claim` distinguishes a rank from
 * its children, which inherit the variable.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/status.h"

#define FM_KEYTABLE_ENV       "FATHOM_JOB"
#define FM_KEYTABLE_MAGIC     UINT64_C(0x36424f4a4d485446) /* "FTHMJOB6" in memory order */
#define FM_KEYTABLE_HEAD_LEN  65536                        /* whole pages of any page size */
#define FM_KEYTABLE_KEYS      8
#define FM_KEYTABLE_KEY_LEN   24
#define FM_KEYTABLE_VALUE_MAX 512
#define FM_KEYTABLE_MAX_RANKS 65536

enum fm_place_phase {
    FM_PLACE_STARTED = 0, /* has not called MPI_Init */
    FM_PLACE_INIT,        /* between MPI_Init and MPI_Finalize */
    FM_PLACE_FINALIZED
};

/* Why a rank requests the end of the job. */
enum fm_place_abort {
    FM_PLACE_NO_ABORT = 0,
    FM_PLACE_ABORT,         /* MPI_Abort or a fatal error */
    FM_PLACE_ABORT_BY_PEER, /* a fatal error because another rank has ended, which is the cause */
};

/* One published value. */
struct fm_keytable_entry {
    char key[FM_KEYTABLE_KEY_LEN];
    uint32_t len;
    uint32_t reserved;
    uint8_t value[FM_KEYTABLE_VALUE_MAX];
};

struct fm_keytable_slot {
    /* Written by the launcher. */
    int32_t pid;           /* of the process that it started */
    int32_t appnum;        /* which executable of an MPMD job */
    uint64_t page_ino;     /* inode of the shared page: identifies the descriptor */
    _Atomic uint32_t gone; /* gone_mark of the table: the process has ended */
    /* Written by the rank. */
    _Atomic int32_t claim;    /* the process that called MPI_Init as this rank; 0: none yet */
    _Atomic uint32_t phase;   /* enum fm_place_phase */
    _Atomic uint32_t aborted; /* enum fm_place_abort; written after abort_status */
    int32_t abort_status;
    _Atomic int32_t lost_output; /* errno of its standard output at exit; 0: all was written */
    _Atomic uint32_t fence;      /* fences that it has entered */
    _Atomic uint32_t leaving;    /* its values are withdrawn after this fence; 0: they are not */
    _Atomic uint32_t generation; /* incremented before withdrawn values are overwritten */
    _Atomic uint32_t n_entries;  /* published values; release after, acquire before reading them */
    struct fm_keytable_entry entries[FM_KEYTABLE_KEYS];
} FM_ALIGNED(FM_CACHE_LINE);

/* Constants of the job. */
struct fm_keytable_head {
    uint64_t magic;
    uint64_t len;                 /* bytes of the table, without the arena */
    uint64_t arena_at, arena_len; /* in the file; length 0: there is none */
    uint64_t token;
    uint32_t slot_len;
    int32_t n_ranks;
    int32_t launcher; /* process id of mpiexec */
    int32_t universe_size;
    uint64_t pid_space; /* PID namespace of mpiexec and of all process ids here; 0: unknown */
    char name[64];      /* of the job: unique on this host */
};

/* What changes while the job runs. */
struct fm_keytable_live {
    _Atomic uint32_t change;     /* futex; incremented after any change */
    _Atomic uint32_t left_early; /* 1 + a rank that ended without MPI_Init; 0: none. By launcher */
} FM_ALIGNED(FM_CACHE_LINE);

/* The table as one process sees it. */
struct fm_keytable {
    struct fm_keytable_head head; /* a copy */
    void *base;                   /* the mapping, head.len bytes */
    struct fm_keytable_live *live;
    struct fm_keytable_slot *slots;
    uint32_t gone_mark;  /* any other value in slot.gone is not the launcher's */
    uint32_t n_entered;  /* fences that this process has entered as a rank ... */
    uint32_t n_complete; /* ... and has left */
};

/* The position of a process in a job: the content of FATHOM_JOB. */
struct fm_keytable_place {
    int launcher;
    int table_fd;
    int page_fd;
    int rank;
    uint64_t token;
};

/* "4711:5:6:0:89abcdef" and back; parse returns 0 or -FM_E_INVAL. */
void fm_keytable_place_print(const struct fm_keytable_place *place, char *out_text, size_t len);
int fm_keytable_place_parse(const char *text, struct fm_keytable_place *out_place);

/* The launcher: make a table in a memory file, close-on-exec. *out_fd stays open. */
int fm_keytable_create(int n_ranks, struct fm_keytable **out_table, int *out_fd);
/*
 * A rank: map the table of its place, through the inherited descriptor or, where a parent closed
 * it, through that of the launcher. -FM_E_NOENT: the launcher has ended. -FM_E_PROTO: no table of
 * this version.
 */
int fm_keytable_map(const struct fm_keytable_place *place, struct fm_keytable **out_table);
/* NULL is allowed. */
void fm_keytable_unmap(struct fm_keytable *t);
/* A descriptor of the file in which the table of this place lies; the caller closes it. Or -1. */
int fm_keytable_file(const struct fm_keytable_place *place);

/* A descriptor of the shared page of the place, close-on-exec; found as the table is. 0 or
   -FM_E_NOENT. */
int fm_keytable_page_fd(const struct fm_keytable_place *place, int *out_fd);

/* NULL: there is no such rank. */
struct fm_keytable_slot *fm_keytable_slot(struct fm_keytable *t, int rank);

/*
 * Become the rank in a process that calls MPI_Init, also after an earlier program that has called
 * MPI_Finalize. 0; FM_AGAIN: another process that still lives is the rank; -FM_E_PEER: an earlier
 * program ended, or was replaced by exec, without MPI_Finalize.
 */
int fm_keytable_claim(struct fm_keytable *t, int rank, int pid);

/* The launcher marks a rank whose process has ended; ranks ask. */
void fm_keytable_mark_gone(struct fm_keytable *t, int rank);
bool fm_keytable_is_gone(struct fm_keytable *t, int rank);

/* A rank publishes a value; a key once. -FM_E_INVAL: name or value too long, or too many keys. */
int fm_keytable_put(struct fm_keytable *t, int rank, const char *key, const void *value,
                    size_t len);
/* 0; FM_AGAIN: not published, or withdrawn; -FM_E_INVAL: the value is longer than *len. */
int fm_keytable_find(struct fm_keytable *t, int rank, const char *key, void *out_value,
                     size_t *len);
/* Has the rank published values that are not withdrawn? */
bool fm_keytable_has_entries(struct fm_keytable *t, int rank);

/*
 * A fence of all ranks. Each enters it and waits, in its own way, until no rank is missing. Values
 * of a rank that has called withdraw before it entered are withdrawn for each rank that has left
 * the fence: until then another rank may still need them.
 */
void fm_keytable_withdraw(struct fm_keytable *t, int rank);
void fm_keytable_enter(struct fm_keytable *t, int rank);
/* The first rank that has not entered; -1: none, and the caller has left the fence. Writes the word
   of the caller again where it was overwritten. */
int fm_keytable_missing(struct fm_keytable *t, int rank);

/* Something has changed: wake all waiters. */
void fm_keytable_notify(struct fm_keytable *t);
/* The value to sleep on; to be read before the condition is checked. */
uint32_t fm_keytable_seen(const struct fm_keytable *t);
/* Sleep until the value is no longer `seen`, at most so long (ms). */
void fm_keytable_sleep(struct fm_keytable *t, uint32_t seen, int at_most_ms);
