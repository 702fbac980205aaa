/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host without MPI for the tests of the registry: a table with a variable of every kind, an
 * object kind ("comm") that is a number, info objects that are entries of an array, and the
 * warnings that the registry gave.
 *
 * An MPI_Comm handle of this host is (MPI_Comm)(FAKE_COMM + n); its object is &fake_comms[n].
 * The first two are MPI_COMM_WORLD and MPI_COMM_SELF as well.
 */
#pragma once

#include <fathom/mpit.h>
#include <mpi.h>

#define FAKE_COMM    0x7000
#define FAKE_N_COMMS 8
#define FAKE_SIZE    4 /* members of every fake communicator but the first, which has 1 */

struct fake_words {
    /* cvars */
    uint64_t limit, ratio, mode, fixed, never, seen, weight, bound;
    char text[32];
    /* pvars */
    uint64_t n_done, n_bytes, real_sum, wait_ns, state, size, plain, generic, generic_rw, running;
    uint64_t counts[3], pairs[2][2];
    struct fathom_level depth, other, rest;
    uint64_t on_plain, on_bound, on_empty;
    uint64_t asked[2], n_asking; /* counted while somebody asks */
};

struct fake_comm_words {
    uint64_t bound; /* of the bound cvar */
    struct fathom_level umq;
    uint64_t n_msgs;
    struct fake_member {
        uint64_t n_sent, n_got;
    } members[FAKE_SIZE]; /* the block is as long as it has members */
};

struct fake_comm {
    int number;
    struct fake_comm_words *words;
};

enum { FAKE_RED = 1, FAKE_GREEN = 5, FAKE_BLUE = 9 };

extern struct fake_words *fake;
extern struct fake_comm fake_comms[FAKE_N_COMMS];
extern const struct fathom_table fake_table;
extern const struct fathom_event fake_events[3]; /* plain, bound, empty */
extern char fake_warnings[8192];
extern int fake_n_warnings, fake_n_changed;
extern int fake_refuse;       /* the next `changed` refuses */
extern bool fake_refuse_info; /* no memory for info objects */
extern void *fake_changed_object;
extern bool fake_is_inited; /* what is_before_init answers the opposite of */

/* Name the host; call before anything else. */
void fake_host_open(void);

void fake_comm_make(int n);
void fake_comm_free(int n);
static inline MPI_Comm fake_comm_handle(int n)
{
    return (MPI_Comm)(uintptr_t)(FAKE_COMM + n);
}

void fake_raise(int a, double b, int safety);
void fake_raise_on(int comm, uint64_t n);
/* Key of the k-th entry of an info that the registry made, and its value. */
MPI_Info fake_info_make(const char *key, const char *value);
const char *fake_info_value(MPI_Info info, const char *key);
