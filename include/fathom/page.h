/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared page: how the live words of one process look from outside.
 *
 * Each process of a job owns one memory file. The launcher makes it and keeps it open, the process
 * writes it, and any other process may map it read-only: while the process runs, and after it died.
 * Everything in it is plain memory; there is no protocol and no lock.
 *
 *     0                rows_at            objects_at          words_at                     len
 *     +----------------+------------------+-------------------+----------------------------+
 *     | struct         | struct           | struct            | blocks of 64-bit words,    |
 *     | fathom_page    | fathom_page_row  | fathom_page_object| one per room and object    |
 *     +----------------+------------------+-------------------+----------------------------+
 *
 * * A row describes one variable. The value of a row that is bound to no object lies at byte
 * `row.at` of the page (`row.count` values; for a string `row.count` bytes). The value of a row
 * bound to a kind of object lies, for each object entry with the same `block`, at `object.at +
 * row.at`. A row with count 0 has one value per member there. Value k of a row is the word at
 * byte `8 * k * row.step` from there on. Doubles are stored by their bits.
 *
 * The value of a row with terms is not a word but a sum: its terms are entries of the table of rows
 * themselves, of kind FATHOM_PAGE_TERM and without a name, at byte `row.at` of the page, one behind
 * the other. Value k adds, of each term, the words at byte `8 * (k + j) * term.step` from the
 * term's own `at` (as above) on, for j from 0 to `term.count` - 1; count 0 is the number of
 * members.
 *
 * A row with `whole_at` is a percentage: what the above gives is a part of the word at byte
 * `whole_at` (of the page, or of the object's block), and the value is fathom_page_share() of both.
 *
 * A watermark's row points at the kept extreme since the process began. The row of a bound control
 * variable (its name ends in _comm or the like) holds 0 where the object follows the process, else
 * its own value + 1.
 *
 * Publication: a writer fills a row or an object first and then stores the new count or state with
 * release order; a reader loads it with acquire order. Each 64-bit word is read and written whole.
 */
#ifndef FATHOM_PAGE_H
#define FATHOM_PAGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_PAGE_MAGIC    UINT64_C(0x31454741504d5446) /* "FTMPAGE1" in memory order */
#define FATHOM_PAGE_VERSION  4
#define FATHOM_PAGE_LEN      (UINT64_C(4) << 20) /* default; costs what is touched */
#define FATHOM_PAGE_NAME_LEN 64
#define FATHOM_PAGE_UNIT_LEN 12

/* What a process is doing with MPI. */
enum fathom_page_state {
    FATHOM_PAGE_EMPTY = 0,   /* made by the launcher, not written yet */
    FATHOM_PAGE_STARTED = 1, /* the registry is up */
    FATHOM_PAGE_RUNNING = 2, /* between MPI_Init and MPI_Finalize */
    FATHOM_PAGE_DONE = 3     /* after MPI_Finalize */
};

/* The call that a process is blocked in; `since_ns` is 0 while it is not blocked. Single writer. */
struct fathom_page_blocked {
    uint64_t since_ns; /* CLOCK_MONOTONIC; written last, with release order */
    char call[24];     /* "MPI_Recv" */
    int32_t peer;      /* rank in the communicator, or an MPI wildcard */
    int32_t tag;
    uint64_t comm; /* id of the communicator (an object entry has the same) */
    uint64_t bytes;
};

/* First bytes of the page. All offsets are bytes from its beginning. */
struct fathom_page {
    uint64_t magic;
    uint32_t version;
    uint32_t state;    /* enum fathom_page_state */
    uint64_t len;      /* bytes of the whole page */
    uint64_t used_len; /* bytes handed out, for the curious */
    uint32_t row_len;  /* sizeof(struct fathom_page_row) of the writer */
    uint32_t n_rows;   /* published rows */
    uint64_t rows_at;
    uint32_t object_len; /* sizeof(struct fathom_page_object) of the writer */
    uint32_t n_objects;  /* published object entries, free ones among them */
    uint64_t objects_at;
    uint64_t words_at;
    int32_t pid;
    int32_t rank; /* in MPI_COMM_WORLD, -1 when unknown */
    int32_t size;
    int32_t reserved;
    uint64_t start_ns; /* CLOCK_MONOTONIC when the registry came up */
    char host[64];
    char program[128];
    struct fathom_page_blocked blocked;
};

enum fathom_page_kind { FATHOM_PAGE_CVAR = 1, FATHOM_PAGE_PVAR = 2, FATHOM_PAGE_TERM = 3 };

/* One variable. */
struct fathom_page_row {
    char name[FATHOM_PAGE_NAME_LEN];
    char unit[FATHOM_PAGE_UNIT_LEN]; /* "bytes", "ns", "messages"; "" when it has none */
    uint32_t kind;                   /* enum fathom_page_kind */
    uint32_t klass;                  /* MPI_T_PVAR_CLASS_*, 0 for a cvar */
    uint32_t type;                   /* enum fathom_type */
    uint32_t bind;                   /* MPI_T_BIND_* as a number, 1 = no object */
    uint32_t block;                  /* which kind of object block, 0 for unbound rows */
    uint32_t count;                  /* values; 0: one per member of the bound object */
    uint32_t source;                 /* cvar: enum fathom_source of the present value */
    uint32_t step;                   /* from a value to the next one, in words */
    uint64_t at;                     /* byte offset, see above */
    uint32_t terms;                  /* pvar: entries whose sum is the value, 0: it has words */
    uint32_t reserved;
    uint64_t whole_at; /* pvar: byte offset of what the value is a share of; 0: of nothing */
};

/* What is used of something finite, from 0 to 1; nothing of nothing is 0. The two words are not
   read at one time, so that the part may seem to be more than the whole: that is 1. */
static inline double fathom_page_share(uint64_t part, uint64_t whole)
{
    return part < whole ? (double)part / (double)whole : whole ? 1.0 : 0.0;
}

/* One live object (communicator, window, file) with words of its own. */
struct fathom_page_object {
    uint32_t block; /* which kind of object block; 0: the entry is free */
    uint32_t bind;  /* MPI_T_BIND_* */
    uint64_t id;    /* unique within the process while the object lives */
    uint64_t at;    /* byte offset of its block */
    uint32_t n_members;
    uint32_t reserved;
    char name[FATHOM_PAGE_NAME_LEN];
};

#ifdef __cplusplus
}
#endif
#endif
