/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The key table of a job: one memory file that mpiexec makes and every rank maps.
 *
 *     struct fm_keytable | slot of rank 0 | slot of rank 1 | ...
 *
 * A slot says how its rank stands and what it has published. Each word has one writer, named beside
 * it, so there are no locks; `change` is bumped after every change and is what waiters sleep on
 * (futex). The launcher trusts nothing in here that a rank may write: lengths and counts are
 * checked at each use, and process ids and exit states are remembered outside.
 *
 * The ranks find the table by the environment variable FATHOM_JOB, which names the launcher, two
 * file descriptors (table and shared page), the rank and the table's token. A child of a rank, or a
 * second program in the same place, is told from the rank by `claim`.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/status.h"

#define FM_KEYTABLE_ENV       "FATHOM_JOB"
#define FM_KEYTABLE_MAGIC     UINT64_C(0x34424f4a4d485446) /* "FTHMJOB4" in memory order */
#define FM_KEYTABLE_KEYS      8
#define FM_KEYTABLE_KEY_LEN   24
#define FM_KEYTABLE_VALUE_MAX 512
#define FM_KEYTABLE_TEXT_LEN  256
#define FM_KEYTABLE_MAX_RANKS 65536

enum fm_place_phase {
    FM_PLACE_STARTED = 0, /* has not called MPI_Init */
    FM_PLACE_INIT,        /* between MPI_Init and MPI_Finalize */
    FM_PLACE_FINALIZED
};

/* Why a rank wants the job to end. */
enum fm_place_abort {
    FM_PLACE_NO_ABORT = 0,
    FM_PLACE_ABORT,         /* MPI_Abort or a fatal error */
    FM_PLACE_ABORT_BY_PEER, /* a fatal error because another rank has gone: that one is the cause */
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
    int32_t pid;              /* of the process that it started */
    uint64_t page_ino;        /* inode of its shared page: tells the right descriptor */
    int32_t appnum;           /* which executable of an MPMD job */
    _Atomic uint32_t is_gone; /* that process has ended */
    /* Written by the rank. */
    _Atomic int32_t claim;    /* the process that called MPI_Init in this place; 0: none yet */
    _Atomic uint32_t phase;   /* enum fm_place_phase */
    _Atomic uint32_t aborted; /* enum fm_place_abort; not NONE: status and text are set */
    int32_t abort_status;
    char abort_text[FM_KEYTABLE_TEXT_LEN];
    _Atomic int32_t lost_output; /* errno of its standard output at exit; 0: all was written */
    _Atomic uint32_t n_entries;  /* published ones; release after, acquire before reading them */
    /* It takes back what it has published when all have come to the fence that it is in, or comes
       to next: the last to come does so for it. */
    _Atomic uint32_t is_leaving;
    struct fm_keytable_entry entries[FM_KEYTABLE_KEYS];
} FM_ALIGNED(FM_CACHE_LINE);

struct fm_keytable {
    uint64_t magic;
    uint64_t len; /* bytes of the whole table */
    uint64_t token;
    uint32_t slot_len;
    int32_t n_ranks;
    int32_t launcher; /* process id of mpiexec */
    int32_t universe_size;
    uint64_t pid_space; /* of mpiexec, in which all process numbers here are told; 0: unknown */
    char name[64];      /* of the job: unique on this host */
    /* What changes while the job runs. */
    _Atomic uint32_t change FM_ALIGNED(FM_CACHE_LINE); /* futex; bumped after any change */
    _Atomic uint32_t n_arrived;                        /* ranks that are in the fence */
    _Atomic uint32_t fence;                            /* fences done */
    _Atomic uint32_t left_early; /* 1 + a rank that ended without MPI_Init; 0: none. By launcher */
};

/* Where a process stands in a job: the content of FATHOM_JOB. */
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

/* The launcher's: a new table in a memory file, close-on-exec. *out_fd stays open. */
int fm_keytable_create(int n_ranks, struct fm_keytable **out_table, int *out_fd);
/*
 * A rank's: map the table of its place, through the inherited descriptor or, when a parent closed
 * it, through the launcher's. -FM_E_NOENT when the launcher is gone, -FM_E_PROTO when it is no
 * table of ours.
 */
int fm_keytable_map(const struct fm_keytable_place *place, struct fm_keytable **out_table);
void fm_keytable_unmap(struct fm_keytable *t);

/*
 * A descriptor of the place's shared page, close-on-exec; found like the table. Or -FM_E_NOENT.
 */
int fm_keytable_page_fd(const struct fm_keytable_place *place, int *out_fd);

/* NULL when there is no such rank. */
struct fm_keytable_slot *fm_keytable_slot(struct fm_keytable *t, int rank);

/*
 * Take this place for a process that calls MPI_Init, also after an earlier program that has called
 * MPI_Finalize. 0; FM_AGAIN: another process that still lives has it; -FM_E_PEER: an earlier
 * program ended, or was replaced by exec, without MPI_Finalize.
 */
int fm_keytable_claim(struct fm_keytable_slot *slot, int pid);

/* -FM_E_INVAL: name or value too long, or too many keys. A key may be published once. */
int fm_keytable_put(struct fm_keytable *t, int rank, const char *key, const void *value,
                    size_t len);
/* 0; FM_AGAIN: not published yet; -FM_E_INVAL: the value is longer than *len. */
int fm_keytable_find(struct fm_keytable *t, int rank, const char *key, void *out_value,
                     size_t *len);

/* Something has changed: wake all who wait. */
void fm_keytable_notify(struct fm_keytable *t);
/* Sleep until `change` is no longer `seen`, at most so long (ms). */
void fm_keytable_sleep(struct fm_keytable *t, uint32_t seen, int at_most_ms);
